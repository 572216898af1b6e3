//! The supervisor's signals: all blocked; the children's deaths, and what else processes do, are read from a queue.

use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::sys;
use crate::model::Exit;

pub use super::sys::close_all_but;

/// Makes this process one that nothing but SIGKILL ends. The queue is readable when a child has ended, or when a process
/// that is watched has done something.
///
/// # Errors
///
/// What the system says.
pub fn take_over() -> io::Result<OwnedFd> {
    sys::block_signals()?;
    let queue = sys::queue()?;
    sys::watch_children(&queue)?;
    Ok(queue)
}

/// Ends a child and takes it, without letting it do anything first.
pub fn end(child: u32) {
    if let Some(pid) = Pid::from_raw(child.cast_signed()) {
        let _ = kill_process(pid, Signal::KILL);
        let _ = waitpid(Some(pid), WaitOptions::empty());
    }
}

/// Takes a child if it has ended, without waiting.
pub fn reap(child: u32) -> Option<Exit> {
    let pid = Pid::from_raw(child.cast_signed())?;
    let (_, status) = waitpid(Some(pid), WaitOptions::NOHANG).ok()??;
    status.terminating_signal().map(Exit::Signal).or_else(|| status.exit_status().map(Exit::Code))
}
