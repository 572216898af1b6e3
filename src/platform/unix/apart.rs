//! A process that the terminal's Ctrl-C does not reach.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Lets a command start in a process group of its own: the terminal interrupts this process alone, which then ends the
/// other one as that wants to be ended.
pub fn set_apart(command: &mut Command) {
    command.process_group(0);
}
