//! Kernel queues: what happens to processes (`bsd/sys/event.h`, `bsd/kern/kern_event.c`).

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::ptr;
use std::time::Duration;

use rustix::event::kqueue::{Event, EventFilter, EventFlags, ProcessEvents, kevent, kqueue};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};

/// A new queue.
///
/// # Errors
///
/// What the system says.
pub fn queue() -> io::Result<OwnedFd> {
    Ok(kqueue()?)
}

fn add(queue: &OwnedFd, filter: EventFilter) -> Result<(), Errno> {
    let change = [Event::new(filter, EventFlags::ADD | EventFlags::CLEAR, ptr::null_mut())];
    let mut none: [Event; 0] = [];
    // SAFETY: the filters of this module name processes and signals, no descriptors. With no room for events, a change
    // that fails is the call's error.
    unsafe { kevent(queue, &change, &mut none[..], Some(Duration::ZERO)) }.map(drop)
}

/// Has the queue tell when a child of this process has ended and can be reaped. The event of the child's own end comes
/// too early for that. It is told although the signal is blocked; it must not be ignored.
///
/// # Errors
///
/// What the system says.
pub fn watch_children(queue: &OwnedFd) -> io::Result<()> {
    Ok(add(queue, EventFilter::Signal { signal: Signal::CHILD, times: 0 })?)
}

/// Has the queue tell when a process starts another one, executes a program, or ends. A process that it starts is there
/// already when that is told (`fork1` of bsd/kern/kern_fork.c).
///
/// # Errors
///
/// `SRCH` if it has ended.
pub fn watch(queue: &OwnedFd, pid: u32) -> Result<(), Errno> {
    watch_for(queue, pid, ProcessEvents::FORK | ProcessEvents::EXEC | ProcessEvents::EXIT)
}

/// Has the queue tell when a process ends.
///
/// # Errors
///
/// `SRCH` if it has ended.
pub fn watch_end(queue: &OwnedFd, pid: u32) -> Result<(), Errno> {
    watch_for(queue, pid, ProcessEvents::EXIT)
}

fn watch_for(queue: &OwnedFd, pid: u32, flags: ProcessEvents) -> Result<(), Errno> {
    let pid = Pid::from_raw(pid.cast_signed()).ok_or(Errno::SRCH)?;
    add(queue, EventFilter::Proc { pid, flags })
}

/// Takes what has happened, as far as it does not happen faster than it is taken.
pub fn drain(queue: &OwnedFd) {
    const ROUNDS: usize = 64;
    let _ = (0..ROUNDS).find(|_| !wait(queue, Duration::ZERO));
}

/// Waits until something has happened, at most so long, and takes it. `false` if nothing has.
pub fn wait(queue: &OwnedFd, limit: Duration) -> bool {
    let mut room = [MaybeUninit::<Event>::uninit(); 64];
    // SAFETY: nothing is changed.
    let taken = unsafe { kevent(queue, &[], &mut room, Some(limit)) };
    taken.is_ok_and(|(events, _)| !events.is_empty())
}
