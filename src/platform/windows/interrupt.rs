//! Ctrl-C and its relatives.

use std::io;
use std::time::Duration;

use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, TerminateProcess};

use super::super::interrupts;
use crate::error::ExitCode;

/// Calls `each`, in the place of what was to be called until now, on a thread of its own whenever the user or the system
/// asks this process to end: by Ctrl-C, Ctrl-Break, the console's close, the end of the user's session, or the machine's.
///
/// Where Ctrl-C was ignored when the process started, it stays ignored.
///
/// # Errors
///
/// If the system refuses a handler.
pub fn on_interrupt(each: impl FnMut() + Send + 'static) -> io::Result<()> {
    // SAFETY: the handler is there as long as the process.
    if !interrupts::replace(each) && unsafe { SetConsoleCtrlHandler(Some(happen), 1) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Runs on a thread that the system starts for it.
unsafe extern "system" fn happen(event: u32) -> i32 {
    interrupts::happen();
    if event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT {
        // The system ends this process when the handler returns, or after some seconds: those are for the run's end.
        loop {
            std::thread::sleep(Duration::from_secs(60));
        }
    }
    1
}

/// Asks this process to end, as the user would.
pub fn interrupt() {
    // SAFETY: the handler may be called on any thread.
    unsafe { happen(CTRL_C_EVENT) };
}

/// Ends this process at once, with the exit code of an interrupted run, and without cleaning up: the job objects end with
/// it, and the janitor sees its end and cleans up in its place.
pub fn exit_at_once() -> ! {
    // SAFETY: ending this process is what was asked for. An exit in good order would wait for what other threads hold.
    unsafe { TerminateProcess(GetCurrentProcess(), u32::from(ExitCode::Interrupted as u8)) };
    loop {
        // The end may take a moment to come.
        std::thread::yield_now();
    }
}

/// Nothing has to be expected of child processes here.
pub fn expect_children() {}
