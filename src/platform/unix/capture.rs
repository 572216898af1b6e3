//! A job's stdout or stderr: taken as it comes, in bounded memory, the whole kept.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::Arc;

use rustix::io::Errno;

use super::super::Captured;
use crate::model::Mark;

/// What is kept in memory; more goes to a file.
const IN_MEMORY: usize = 64 * 1024;
/// How many arrivals are remembered; then every second one is forgotten.
const MARKS: usize = 16 * 1024;
/// What is read from a pipe that nobody of the job can write to any more: more than a pipe holds.
const REST: u64 = 4 * 1024 * 1024;

/// A pipe's reading end and what came out of it.
pub struct Capture {
    pipe: Option<OwnedFd>,
    number: u64,
    /// A folder for what is too much for memory.
    spill: PathBuf,
    file: Option<File>,
    captured: Captured,
}

impl Capture {
    /// Makes a pipe; the writing end is the caller's to give away and close. `number` reads, at the reading end, by what
    /// this system knows a pipe again in other processes.
    pub fn new(spill: PathBuf, number: impl FnOnce(BorrowedFd<'_>) -> io::Result<u64>) -> io::Result<(Self, OwnedFd)> {
        let (read, write) = pipe()?;
        // Only this end: the flag belongs to each end's own file description.
        rustix::fs::fcntl_setfl(&read, rustix::fs::OFlags::NONBLOCK)?;
        let number = number(read.as_fd())?;
        Ok((Self { pipe: Some(read), number, spill, file: None, captured: Captured::default() }, write))
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
                self.captured.end_us = Some(now_us);
                false
            }
            Ok(read) => {
                self.store(&buffer[..read], now_us);
                true
            }
            Err(Errno::AGAIN | Errno::INTR) => false,
            Err(error) => {
                self.pipe = None;
                self.captured.lost = Some(error.to_string());
                false
            }
        }
    }

    fn store(&mut self, bytes: &[u8], now_us: u64) {
        self.captured.bytes += bytes.len() as u64;
        self.mark(now_us);
        if self.captured.lost.is_some() {
            return;
        }
        if self.file.is_none() {
            if self.captured.memory.len() + bytes.len() <= IN_MEMORY {
                self.captured.memory.extend_from_slice(bytes);
                return;
            }
            // Without a name: the check could put something else in its place.
            let opened = tempfile::tempfile_in(&self.spill).and_then(|mut file| {
                file.write_all(&self.captured.memory)?;
                Ok(file)
            });
            match opened {
                Ok(file) => self.file = Some(file),
                // What is in memory stays; the stream is drained all the same, else the job would stop.
                Err(error) => return self.captured.lost = Some(format!("{}: {error}", self.spill.display())),
            }
            self.captured.memory = Vec::new();
        }
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(bytes)
        {
            self.captured.lost = Some(format!("{}: {error}", self.spill.display()));
        }
    }

    fn mark(&mut self, at_us: u64) {
        let marks = &mut self.captured.marks;
        let offset = self.captured.bytes;
        match marks.last_mut() {
            // Arrivals within a tenth of a millisecond are one.
            Some(last) if at_us - last.at_us < 100 => last.offset = offset,
            _ => marks.push(Mark { offset, at_us }),
        }
        // The count is odd here, so that the first and the last mark stay.
        if marks.len() > MARKS {
            let mut index = 0;
            marks.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
    }

    /// Takes what the pipe still holds once the job is over. Somebody outside may go on writing: that is not waited for.
    pub fn drain(&mut self, buffer: &mut [u8], now_us: u64) {
        let limit = self.captured.bytes + REST;
        while self.captured.bytes < limit && self.take(buffer, now_us) {}
    }

    /// All that was taken.
    pub fn into_captured(mut self) -> Captured {
        self.captured.spilled = self.file.is_some();
        self.captured.file = self.file.map(Arc::new);
        self.captured
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
