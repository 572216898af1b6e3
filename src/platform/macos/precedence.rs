//! Before whom the calling thread runs. This system ties no thread to a processor.

use std::io;

use crate::model::Precedence;

/// Keeps the calling thread on one of the processors that it may use: the `nth`, from 0.
///
/// # Errors
///
/// Always: macOS takes affinities for hints between threads, and Apple's processors take none.
pub fn stay_on(_nth: usize) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "macOS ties no thread to a processor"))
}

/// Gives the calling thread as much precedence as the system allows, and tells how much that is, and why it is not more.
pub fn go_first() -> (Precedence, Option<io::Error>) {
    // SAFETY: a plain call about the calling thread.
    match unsafe { libc::pthread_set_qos_class_self_np(libc::qos_class_t::QOS_CLASS_USER_INTERACTIVE, 0) } {
        0 => (Precedence::Raised, None),
        error => (Precedence::Ordinary, Some(io::Error::from_raw_os_error(error))),
    }
}
