//! Ctrl-C.

use std::io;

/// Leaves interrupts to the system: no run can be under way.
///
/// # Errors
///
/// Never.
pub fn on_interrupt(_each: impl FnMut() + Send + 'static) -> io::Result<()> {
    Ok(())
}

/// Ends this process at once, with the exit code of an interrupted run.
#[expect(clippy::exit, reason = "the second interrupt asks for an end at once, whatever the main thread is doing")]
pub fn exit_at_once() -> ! {
    std::process::exit(i32::from(crate::error::ExitCode::Interrupted as u8))
}

/// Nothing has to be expected of child processes here.
pub fn expect_children() {}
