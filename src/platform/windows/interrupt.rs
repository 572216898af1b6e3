//! Ctrl-C and its relatives.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, TerminateProcess};

use crate::error::ExitCode;

type Each = Box<dyn FnMut() + Send>;

/// What is done at each interrupt. The system gives a handler nothing but what happened.
static EACH: Mutex<Option<Each>> = Mutex::new(None);

/// How often this process was asked to end, since [`on_interrupt`] was first called.
static TIMES: AtomicUsize = AtomicUsize::new(0);

/// Calls `each`, in the place of what was to be called until now, on a thread of its own whenever the user or the system
/// asks this process to end: by Ctrl-C, Ctrl-Break, the console's close, the end of the user's session, or the machine's.
///
/// Where Ctrl-C was ignored when the process started, it stays ignored.
///
/// # Errors
///
/// If the system refuses a handler.
pub fn on_interrupt(each: impl FnMut() + Send + 'static) -> io::Result<()> {
    let before = EACH.lock().unwrap_or_else(PoisonError::into_inner).replace(Box::new(each));
    // SAFETY: the handler is there as long as the process.
    if before.is_none() && unsafe { SetConsoleCtrlHandler(Some(happen), 1) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Runs on a thread that the system starts for it.
unsafe extern "system" fn happen(event: u32) -> i32 {
    TIMES.fetch_add(1, Ordering::SeqCst);
    if let Some(each) = EACH.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        each();
    }
    if event != CTRL_C_EVENT && event != CTRL_BREAK_EVENT {
        // The system ends this process when the handler returns, or after some seconds: those are for the run's end.
        loop {
            std::thread::sleep(Duration::from_secs(60));
        }
    }
    1
}

/// How often this process was asked to end, since [`on_interrupt`] was first called.
pub fn interrupts() -> usize {
    TIMES.load(Ordering::SeqCst)
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
