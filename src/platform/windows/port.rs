//! A completion port: the one place where everything that happens to a job is waited for.

use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr;
use std::time::Duration;

use windows_sys::Win32::Foundation::{GetLastError, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::IO::{
    CreateIoCompletionPort, GetQueuedCompletionStatus, OVERLAPPED, PostQueuedCompletionStatus,
};

/// A completion port.
#[derive(Debug)]
pub struct Port(OwnedHandle);

/// What came out of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// The key of what it is about.
    pub key: usize,
    /// The number of a job's message, or how many bytes were moved.
    pub number: u32,
    /// The process that a job's message is about. Meaningless for other packets.
    pub pid: u32,
    /// The error with which bytes were not moved.
    pub error: Option<u32>,
}

impl Port {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn new() -> io::Result<Self> {
        // SAFETY: no file is associated yet; the call only makes a new object.
        let port = unsafe { CreateIoCompletionPort(INVALID_HANDLE_VALUE, ptr::null_mut(), 0, 1) };
        if port.is_null() {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the handle is new, and nobody else's.
        Ok(Self(unsafe { OwnedHandle::from_raw_handle(port) }))
    }

    /// The handle, for a job that is to send its messages here.
    #[must_use]
    pub fn raw(&self) -> windows_sys::Win32::Foundation::HANDLE {
        self.0.as_raw_handle()
    }

    /// Has what happens to an overlapped pipe told here, under that key.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn watch(&self, pipe: &OwnedHandle, key: usize) -> io::Result<()> {
        // SAFETY: both handles are open.
        let port = unsafe { CreateIoCompletionPort(pipe.as_raw_handle(), self.raw(), key, 0) };
        if port.is_null() { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Puts in a packet that has nothing but a key.
    pub fn post(&self, key: usize) {
        // SAFETY: the port is open; nothing is pointed to.
        unsafe { PostQueuedCompletionStatus(self.raw(), 0, key, ptr::null()) };
    }

    /// The next packet, waited for at most so long.
    #[must_use]
    pub fn next(&self, limit: Duration) -> Option<Packet> {
        let (mut number, mut key, mut overlapped) = (0, 0, ptr::null_mut::<OVERLAPPED>());
        // Rounded up, so that nobody turns in circles for the last part of a millisecond. The longest is not "for ever".
        let ms = u32::try_from(limit.as_micros().div_ceil(1000)).unwrap_or(u32::MAX - 1).min(u32::MAX - 1);
        // SAFETY: the values that are written outlive the call.
        let taken = unsafe {
            GetQueuedCompletionStatus(self.raw(), &raw mut number, &raw mut key, &raw mut overlapped, ms) != 0
        };
        // SAFETY: the call takes nothing.
        let error = (!taken).then(|| unsafe { GetLastError() });
        if error.is_some() && overlapped.is_null() {
            return None;
        }
        // A job's message has the process's number in the place of a pointer.
        let pid = u32::try_from(overlapped.addr()).unwrap_or_default();
        Some(Packet { key, number, pid, error })
    }
}
