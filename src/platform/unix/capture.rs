//! A job's stdout or stderr: taken from its pipe, or its terminal, as it comes.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::io::Errno;

use super::super::Captured;
use super::super::store::Store;

/// What is read from a pipe that nobody of the job can write to any more: more than a pipe holds.
const REST: u64 = 4 * 1024 * 1024;

/// A pipe's reading end, or a terminal's outer one, and what came out of it.
pub struct Capture {
    pipe: Option<OwnedFd>,
    number: u64,
    store: Store,
    /// The error that tells of the end where zero bytes don't.
    end: Option<Errno>,
}

impl Capture {
    /// Makes a pipe; the writing end is the caller's to give away and close. `number` reads, at the reading end, by what
    /// this system knows a pipe again in other processes.
    pub fn new(spill: PathBuf, number: impl FnOnce(BorrowedFd<'_>) -> io::Result<u64>) -> io::Result<(Self, OwnedFd)> {
        let (read, write) = pipe()?;
        // Only this end: the flag belongs to each end's own file description.
        rustix::fs::fcntl_setfl(&read, rustix::fs::OFlags::NONBLOCK)?;
        let number = number(read.as_fd())?;
        Ok((Self { pipe: Some(read), number, store: Store::new(spill), end: None }, write))
    }

    /// Takes from a terminal's outer end, which fails once nobody has the inner one.
    #[cfg(target_os = "linux")]
    pub fn of_terminal(spill: PathBuf, outer: OwnedFd, number: u64) -> io::Result<Self> {
        rustix::fs::fcntl_setfl(&outer, rustix::fs::OFlags::RDWR | rustix::fs::OFlags::NONBLOCK)?;
        Ok(Self { pipe: Some(outer), number, store: Store::new(spill), end: Some(Errno::IO) })
    }

    /// What is to be polled; `None` once the stream has ended.
    pub fn pipe(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// By what this system knows the pipe again.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Takes what is there, at most one buffer full. `false` if nothing was.
    pub fn take(&mut self, buffer: &mut [u8], now_us: u64) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        match rustix::io::read(pipe, &mut *buffer) {
            Ok(0) => {
                self.pipe = None;
                self.store.end(now_us);
                false
            }
            Ok(read) => {
                self.store.take(&buffer[..read], now_us);
                true
            }
            Err(Errno::AGAIN | Errno::INTR) => false,
            Err(error) if self.end == Some(error) => {
                self.pipe = None;
                self.store.end(now_us);
                false
            }
            Err(error) => {
                self.pipe = None;
                self.store.lose(&error.into());
                false
            }
        }
    }

    /// Takes what the pipe still holds once the job is over. Somebody outside may go on writing: that is not waited for.
    pub fn drain(&mut self, buffer: &mut [u8], now_us: u64) {
        let limit = self.store.bytes() + REST;
        while self.store.bytes() < limit && self.take(buffer, now_us) {}
    }

    /// All that was taken.
    pub fn into_captured(self) -> Captured {
        self.store.into_captured()
    }
}

/// A pipe that no program inherits.
#[cfg(not(target_os = "macos"))]
fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
}

/// A pipe that no program inherits: made with the flag off, since this system has no other way, in a process that starts
/// nothing meanwhile.
#[cfg(target_os = "macos")]
fn pipe() -> Result<(OwnedFd, OwnedFd), Errno> {
    let (read, write) = rustix::pipe::pipe()?;
    for end in [&read, &write] {
        rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
    }
    Ok((read, write))
}
