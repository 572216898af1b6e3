//! Ctrl-C and its relatives.

use std::io;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use super::super::interrupts;
use crate::error::ExitCode;

/// Calls `each`, in the place of what was to be called until now, on a thread of its own whenever the user or the system
/// asks this process to end.
///
/// A signal that was ignored when the process started (under `nohup`, or in the background of a script) stays ignored.
///
/// # Errors
///
/// If the system refuses a handler.
pub fn on_interrupt(each: impl FnMut() + Send + 'static) -> io::Result<()> {
    if interrupts::replace(each) {
        return Ok(());
    }
    let wanted: Vec<i32> =
        [SIGINT, SIGTERM, SIGHUP, SIGQUIT].into_iter().filter(|&signal| !is_ignored(signal)).collect();
    let mut signals = Signals::new(wanted)?;
    std::thread::Builder::new().name("interrupt".to_owned()).spawn(move || {
        for _ in signals.forever() {
            interrupts::happen();
        }
    })?;
    Ok(())
}

/// Asks this process to end, as the user would.
pub fn interrupt() {
    // Without a handler yet, that ends it.
    let _ = signal_hook::low_level::raise(SIGTERM);
}

/// Takes the end of child processes as every program expects it. Whoever started this one may have left SIGCHLD ignored,
/// and then no child could be waited for.
pub fn expect_children() {
    // SAFETY: the default disposition runs no code.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: with no new action the call only writes the current one, which outlives it.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Ends this process at once, with the exit code of an interrupted run, and without cleaning up: the supervisors see
/// its end and clean up in its place.
#[expect(clippy::exit, reason = "the second interrupt asks for an end at once, whatever the main thread is doing")]
pub fn exit_at_once() -> ! {
    std::process::exit(i32::from(ExitCode::Interrupted as u8))
}
