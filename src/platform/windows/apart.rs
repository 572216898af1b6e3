//! A process that the console's Ctrl-C does not reach.

use std::os::windows::process::CommandExt;
use std::process::Command;

use windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP;

/// Lets a command start in a process group of its own, in which Ctrl-C is ignored: this process alone is interrupted, which
/// then ends the other one as that wants to be ended.
pub fn set_apart(command: &mut Command) {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}
