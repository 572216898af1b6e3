//! A job's stdout or stderr, taken as it comes; and its stdin, given as it is read.

use std::fs::File;
use std::io::{self, Read};
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::path::PathBuf;
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_BROKEN_PIPE, ERROR_OPERATION_ABORTED, GetLastError};
use windows_sys::Win32::System::Pipes::PeekNamedPipe;

use super::super::Captured;
use super::super::store::Store;
use super::pipes::{self, Moved, Ours, Transfer};
use super::port::{Packet, Port};

/// What is read from a pipe that nobody of the job can write to any more: more than a pipe holds.
const REST: u64 = 4 * 1024 * 1024;

/// A pipe's reading end and what came out of it.
pub struct Capture {
    /// `None` once the stream has ended.
    pipe: Option<Transfer>,
    name: String,
    store: Store,
}

impl Capture {
    /// Makes a pipe whose news come to the port under that key; the writing end is the caller's to give away and close.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn new(spill: PathBuf, port: &Port, key: usize) -> io::Result<(Self, OwnedHandle)> {
        let pair = pipes::pair(Ours::Reading)?;
        let pipe = Transfer::new(pair.ours)?;
        port.watch(pipe.pipe(), key)?;
        let mut capture = Self { pipe: Some(pipe), name: pair.name, store: Store::new(spill) };
        capture.read_on(0);
        Ok((capture, pair.theirs))
    }

    /// Whether it may still be written to.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    /// What the pipe's handles are called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Takes in a packet about the pipe.
    pub fn take(&mut self, packet: Packet, now_us: u64) {
        let Some(pipe) = &mut self.pipe else { return };
        if pipe.is_under_way() {
            pipe.ended();
            self.arrived(packet.error.map_or(Ok(packet.number as usize), Err), now_us);
            self.read_on(now_us);
        }
    }

    /// What a read brought. Nothing at all is no end: somebody wrote nothing.
    fn arrived(&mut self, moved: Moved, now_us: u64) {
        let Some(pipe) = &self.pipe else { return };
        match moved {
            Ok(length) if length > 0 => self.store.take(pipe.bytes(length), now_us),
            Ok(_) | Err(ERROR_OPERATION_ABORTED) => {}
            Err(error) => self.failed(error, now_us),
        }
    }

    fn failed(&mut self, error: u32, now_us: u64) {
        self.pipe = None;
        if error == ERROR_BROKEN_PIPE {
            self.store.end(now_us);
        } else {
            self.store.lose(&io::Error::from_raw_os_error(error.cast_signed()));
        }
    }

    fn read_on(&mut self, now_us: u64) {
        if let Some(pipe) = &mut self.pipe
            && let Err(error) = pipe.read()
        {
            self.failed(error, now_us);
        }
    }

    /// Takes what the pipe still holds, and does not wait for more: somebody outside may go on writing. From here on no
    /// packet says anything about it.
    pub fn drain(&mut self, now_us: u64) {
        let limit = self.store.bytes() + REST;
        if let Some(moved) = self.pipe.as_mut().and_then(Transfer::settle) {
            self.arrived(moved, now_us);
        }
        while self.store.bytes() < limit
            && let Some(pipe) = &mut self.pipe
        {
            match waiting(pipe) {
                Ok(0) => return,
                // What is there is read at once.
                Ok(_) => match pipe.read() {
                    Ok(()) => {
                        let moved = pipe.settle().unwrap_or(Ok(0));
                        self.arrived(moved, now_us);
                    }
                    Err(error) => self.failed(error, now_us),
                },
                Err(error) => self.failed(error, now_us),
            }
        }
    }

    /// All that was taken.
    #[must_use]
    pub fn into_captured(self) -> Captured {
        self.store.into_captured()
    }
}

/// How many bytes a pipe holds.
fn waiting(pipe: &Transfer) -> Result<u32, u32> {
    let mut waiting = 0;
    // SAFETY: the pipe is open, and the count outlives the call.
    let told = unsafe {
        PeekNamedPipe(
            pipe.pipe().as_raw_handle(),
            ptr::null_mut(),
            0,
            ptr::null_mut(),
            &raw mut waiting,
            ptr::null_mut(),
        )
    };
    // SAFETY: the call takes nothing.
    if told == 0 { Err(unsafe { GetLastError() }) } else { Ok(waiting) }
}

/// A job's standard input: a file, written to a pipe as the job reads it. A pipe is what hosts give their hooks.
pub struct Feed {
    /// `None` once all is written, or nobody reads on.
    pipe: Option<Transfer>,
    file: Option<File>,
}

impl Feed {
    /// Makes a pipe whose news come to the port under that key; the reading end is the caller's to give away and close.
    /// Without a file it has ended already.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn new(file: Option<File>, port: &Port, key: usize) -> io::Result<(Self, OwnedHandle)> {
        let pair = pipes::pair(Ours::Writing)?;
        let pipe = Transfer::new(pair.ours)?;
        port.watch(pipe.pipe(), key)?;
        let mut feed = Self { pipe: Some(pipe), file };
        feed.write_on();
        Ok((feed, pair.theirs))
    }

    /// Takes in a packet about the pipe.
    pub fn take(&mut self, packet: Packet) {
        let Some(pipe) = &mut self.pipe else { return };
        if pipe.is_under_way() {
            pipe.ended();
            if packet.error.is_some() {
                self.pipe = None;
            } else {
                self.write_on();
            }
        }
    }

    fn write_on(&mut self) {
        let (Some(pipe), file) = (&mut self.pipe, &mut self.file) else { return };
        // What can't be read any more has ended for the job, too.
        let written = pipe.write(|bytes| file.as_mut().map_or(0, |file| read(file, bytes)));
        if !matches!(written, Ok(Some(()))) {
            self.pipe = None;
        }
    }
}

fn read(file: &mut File, bytes: &mut [u8]) -> usize {
    loop {
        match file.read(bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read.unwrap_or(0),
        }
    }
}
