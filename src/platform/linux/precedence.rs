//! The calling thread's processor, and before whom it runs.

use std::io;

use rustix::process::setpriority_process;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use crate::model::Precedence;

/// Keeps the calling thread on one of the processors that it may use: the `nth`, from 0.
///
/// # Errors
///
/// If there is none, or the system refuses it.
pub fn stay_on(nth: usize) -> io::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let mut allowed = (0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor));
    let processor = allowed.nth(nth).ok_or(io::ErrorKind::NotFound)?;
    let mut one = CpuSet::new();
    one.set(processor);
    Ok(sched_setaffinity(None, &one)?)
}

/// Gives the calling thread as much precedence as the system allows, and tells how much that is, and why it is not more.
pub fn go_first() -> (Precedence, Option<io::Error>) {
    let lowest = libc::sched_param { sched_priority: 1 };
    // SAFETY: the structure outlives the call; 0 is the calling thread.
    if unsafe { libc::sched_setscheduler(0, libc::SCHED_RR, &raw const lowest) } == 0 {
        return (Precedence::RealTime, None);
    }
    let refused = io::Error::last_os_error();
    // On Linux this is the calling thread alone: setpriority(2), "C library/kernel differences".
    let precedence = setpriority_process(None, -10).map_or(Precedence::Ordinary, |()| Precedence::Raised);
    (precedence, Some(refused))
}
