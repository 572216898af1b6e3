//! What the kernel asks, and what it is told.

use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use super::claims::{Claim, claim};
use super::faults::{Doing, doing};
use super::gains::{self, Execution};
use super::program::{Call, call};
use super::writes::{Opening, opened};

/// Wake the one that waits on the processor of the one that answers (Linux 6.6): five times as fast.
const SYNC_WAKE_UP: u64 = 1;

/// `SECCOMP_USER_NOTIF_FLAG_CONTINUE`.
const LET_THROUGH: u32 = 1;

/// One call that waits for an answer.
pub struct Question {
    id: u64,
    /// The thread that called.
    pub thread: u32,
    /// `None` if it is none that was to be asked about.
    pub call: Option<Call>,
    /// The program that is about to be executed, if that is what it does.
    pub execution: Option<Execution>,
    /// What is about to be opened, if that is what it does.
    pub opens: Option<Opening>,
    /// What else it takes that is there once for everybody.
    pub claims: Option<Claim>,
    /// What else it does that may be made to fail.
    pub doing: Option<Doing>,
}

/// The kernel's end of the filter.
pub struct Listener {
    fd: OwnedFd,
    quick: bool,
}

impl Listener {
    /// Of a descriptor that a filter's installation gave.
    pub fn new(fd: OwnedFd) -> Self {
        // SAFETY: the flags go by value. A kernel that does not know them is slower.
        let set = unsafe { libc::ioctl(fd.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS, SYNC_WAKE_UP) };
        Self { fd, quick: set == 0 }
    }

    /// Whether the kernel wakes the one that waits at once.
    pub fn is_quick(&self) -> bool {
        self.quick
    }

    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// Takes a question; to be called only when there is one. `None` if who asked is gone.
    pub fn next(&self) -> Option<Question> {
        // SAFETY: all zero is what the kernel wants to be given; it fills it in, and all of it is integers.
        let asked = unsafe {
            let mut asked = MaybeUninit::<libc::seccomp_notif>::zeroed();
            if libc::ioctl(self.fd.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, asked.as_mut_ptr()) != 0 {
                return None;
            }
            asked.assume_init()
        };
        let (arch, number, args) = (asked.data.arch, asked.data.nr, &asked.data.args);
        Some(Question {
            id: asked.id,
            thread: asked.pid,
            call: call(arch, number, args),
            execution: gains::execution(arch, number, args),
            opens: opened(arch, number, args),
            claims: claim(arch, number, args),
            doing: doing(arch, number, args),
        })
    }

    /// Whether who asked still waits. What was read of it under its number before is then its own.
    pub fn waits(&self, question: &Question) -> bool {
        // SAFETY: the id outlives the call.
        unsafe { libc::ioctl(self.fd.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const question.id) == 0 }
    }

    /// Lets the call through, or lets it fail. Who asked may be gone.
    pub fn answer(&self, question: &Question, errno: Option<i32>) {
        let flags = if errno.is_some() { 0 } else { LET_THROUGH };
        let mut answer = libc::seccomp_notif_resp { id: question.id, val: 0, error: -errno.unwrap_or(0), flags };
        // SAFETY: the answer outlives the call.
        unsafe { libc::ioctl(self.fd.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &raw mut answer) };
    }
}
