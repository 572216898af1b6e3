//! The supervisor's signals: all blocked, the children's deaths read from a descriptor, which is polled with others.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

use crate::model::Exit;

/// Has a descriptor polled, too, if there is one. Returns its place.
pub fn also<'f>(fds: &mut Vec<PollFd<'f>>, fd: Option<BorrowedFd<'f>>) -> Option<usize> {
    fds.push(PollFd::from_borrowed_fd(fd?, PollFlags::IN));
    Some(fds.len() - 1)
}

/// Makes this process one that owns what its jobs start, and that nothing but SIGKILL ends. The descriptor is readable
/// when a child has ended.
pub fn take_over() -> io::Result<OwnedFd> {
    become_subreaper()?;
    block_all()
}

/// Becomes a child subreaper: orphans of this process's descendants become its children.
pub fn become_subreaper() -> io::Result<()> {
    // SAFETY: this option takes integers only.
    let done = unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Blocks every signal, and returns a descriptor that is readable when a child has ended.
///
/// A blocked SIGCHLD is not discarded, so none is missed between two looks. No signal stays ignored, whatever this
/// process inherited or its runtime set: what is ignored here would be ignored in every job.
fn block_all() -> io::Result<OwnedFd> {
    let mut all = MaybeUninit::uninit();
    let mut child = MaybeUninit::uninit();
    // SAFETY: both sets are initialised by the first call on each, and outlive the calls that read them.
    let fd = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::sigemptyset(child.as_mut_ptr());
        libc::sigaddset(child.as_mut_ptr(), libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_SETMASK, all.as_ptr(), std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        // The kernel's form of an action, all zero: the default. The C library would refuse its own two signals, which
        // its posix_spawn leaves ignored; the kernel refuses SIGKILL and SIGSTOP alone.
        let default = [0u64; 4];
        for signal in 1..=64 {
            let none = std::ptr::null::<u64>();
            libc::syscall(libc::SYS_rt_sigaction, signal, default.as_ptr(), none, size_of::<u64>());
        }
        libc::signalfd(-1, child.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor was just opened and belongs to nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Forgets the deaths that were announced so far.
pub fn drain(signals: &OwnedFd) {
    let mut buffer = [0u8; 1024];
    while rustix::io::read(signals, &mut buffer).is_ok_and(|read| read > 0) {}
}

/// What [`reap`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaped {
    /// A child ended.
    Child(u32, Exit),
    /// There are children, and none has ended.
    NoneYet,
    /// There are no children.
    Empty,
}

/// Takes one ended child of any kind, without waiting.
pub fn reap() -> Reaped {
    let mut status = 0;
    // SAFETY: the status outlives the call.
    let pid = unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG | libc::__WALL) };
    if pid == 0 {
        return Reaped::NoneYet;
    }
    let Ok(pid) = u32::try_from(pid) else {
        return if io::Error::last_os_error().raw_os_error() == Some(libc::ECHILD) {
            Reaped::Empty
        } else {
            Reaped::NoneYet
        };
    };
    let exit = if libc::WIFSIGNALED(status) {
        Exit::Signal(libc::WTERMSIG(status))
    } else {
        Exit::Code(libc::WEXITSTATUS(status))
    };
    Reaped::Child(pid, exit)
}

/// Takes one particular child if it has ended.
pub fn reap_one(pid: u32) -> bool {
    // SAFETY: no status is asked for.
    unsafe { libc::waitpid(pid.cast_signed(), std::ptr::null_mut(), libc::WNOHANG | libc::__WALL) > 0 }
}

/// Ends a process.
pub fn kill(pid: u32) -> Result<(), Errno> {
    send(pid, rustix::process::Signal::KILL)
}

/// Lets a stopped process go on.
pub fn wake(pid: u32) -> Result<(), Errno> {
    send(pid, rustix::process::Signal::CONT)
}

fn send(pid: u32, signal: rustix::process::Signal) -> Result<(), Errno> {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw).ok_or(Errno::SRCH)?;
    rustix::process::kill_process(pid, signal)
}

/// Closes every descriptor from 3 on, except one.
///
/// What the harness's caller left open must reach no check.
pub fn close_all_but(keep: &OwnedFd) {
    let keep = keep.as_raw_fd();
    let range = |from: i32, to: i32| {
        if from <= to {
            // SAFETY: nothing in this process owns a descriptor of the range: it runs before anything is opened.
            unsafe { libc::syscall(libc::SYS_close_range, from.cast_unsigned(), to.cast_unsigned(), 0) }
        } else {
            0
        }
    };
    if range(3, keep - 1) == 0 && range(keep + 1, i32::MAX) == 0 {
        return;
    }
    // Before Linux 5.9.
    let Ok(open) = std::fs::read_dir("/proc/self/fd") else { return };
    let open: Vec<i32> = open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for fd in open.into_iter().filter(|&fd| fd > 2 && fd != keep) {
        // SAFETY: as above; the descriptor of the listing itself is closed already, which close() tells by EBADF.
        unsafe { libc::close(fd) };
    }
}
