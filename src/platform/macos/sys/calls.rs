//! Single calls.

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::proc;

/// Blocks every signal, and has each do what it does by default.
///
/// # Errors
///
/// What the system says.
pub fn block_signals() -> io::Result<()> {
    let mut all = MaybeUninit::uninit();
    // SAFETY: the set is initialised by the first call, and outlives the second. A default runs no code.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        if libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        // `NSIG` of bsd/sys/signal.h is 32.
        for signal in 1..32 {
            // Two can't be changed, and need not be.
            libc::signal(signal, libc::SIG_DFL);
        }
    }
    Ok(())
}

/// Closes every descriptor from 3 on, except one: what the harness's caller left open must reach no check.
pub fn close_all_but(keep: &OwnedFd) {
    for (descriptor, _) in proc::descriptors(std::process::id()).unwrap_or_default() {
        if descriptor > 2 && descriptor != keep.as_raw_fd() {
            // SAFETY: nothing in this process owns it: this runs before anything is opened.
            unsafe { libc::close(descriptor) };
        }
    }
}

/// Whether the file system of a folder tells `a` from `A`. `None` if it does not say.
pub fn case_sensitive(folder: &Path) -> Option<bool> {
    let folder = CString::new(folder.as_os_str().as_bytes()).ok()?;
    // SAFETY: the string outlives the call.
    match unsafe { libc::pathconf(folder.as_ptr(), libc::_PC_CASE_SENSITIVE) } {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}
