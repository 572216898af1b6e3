//! The calling thread's processor, and before whom it runs.

use std::io;

use windows_sys::Win32::System::Threading::{
    GetCurrentProcess, GetCurrentThread, GetProcessAffinityMask, SetThreadAffinityMask, SetThreadPriority,
    THREAD_PRIORITY_TIME_CRITICAL,
};

use crate::model::Precedence;

/// Keeps the calling thread on one of the processors that it may use: the `nth`, from 0; of a machine with more than one
/// group of 64 processors, those of the process's own group.
///
/// # Errors
///
/// If there is none, or the system refuses it.
pub fn stay_on(nth: usize) -> io::Result<()> {
    let (mut own, mut all) = (0_usize, 0_usize);
    // SAFETY: both places outlive the call; the process is this one.
    if unsafe { GetProcessAffinityMask(GetCurrentProcess(), &raw mut own, &raw mut all) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let mut allowed = (0..usize::BITS).map(|processor| 1_usize << processor).filter(|one| own & one != 0);
    let one = allowed.nth(nth).ok_or(io::ErrorKind::NotFound)?;
    // SAFETY: the thread is this one, and the mask is a part of the process's.
    if unsafe { SetThreadAffinityMask(GetCurrentThread(), one) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Gives the calling thread as much precedence as the system allows, and tells how much that is, and why it is not more.
pub fn go_first() -> (Precedence, Option<io::Error>) {
    // SAFETY: the thread is this one. In a process of the normal class this is priority 15, above every ordinary thread.
    if unsafe { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL) } == 0 {
        return (Precedence::Ordinary, Some(io::Error::last_os_error()));
    }
    (Precedence::Raised, None)
}
