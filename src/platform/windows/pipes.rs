//! A check's standard streams: pipes whose one end is the check's, and whose other end a completion port watches.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::ptr::{self, NonNull};

use windows_sys::Win32::Foundation::{
    ERROR_IO_PENDING, ERROR_NOT_FOUND, GENERIC_WRITE, GetLastError, HANDLE, INVALID_HANDLE_VALUE,
};
use windows_sys::Win32::Storage::FileSystem::{
    CreateFileW, FILE_FLAG_FIRST_PIPE_INSTANCE, FILE_FLAG_OVERLAPPED, FILE_READ_ATTRIBUTES, OPEN_EXISTING,
    PIPE_ACCESS_INBOUND, ReadFile, WriteFile,
};
use windows_sys::Win32::System::IO::{CancelIoEx, GetOverlappedResult, OVERLAPPED};
use windows_sys::Win32::System::Pipes::{CreateNamedPipeW, PIPE_REJECT_REMOTE_CLIENTS, PIPE_TYPE_BYTE};
use windows_sys::Win32::System::Threading::CreateEventW;

use super::private::Private;
use super::wide::wide;

/// How many bytes are moved at once, and how many a pipe holds.
pub const CHUNK: usize = 64 * 1024;

/// Which end of a pipe is watched; the other one is the check's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ours {
    Reading,
    Writing,
}

/// Both ends of a new pipe.
#[derive(Debug)]
pub struct Pair {
    /// For overlapped reads or writes.
    pub ours: OwnedHandle,
    /// As every program expects a standard stream. It is not inherited unless somebody says so.
    pub theirs: OwnedHandle,
    /// What the pipe's handles are called in every process that has one: `hostproof-` and what nobody can foresee.
    pub name: String,
}

/// Makes a pipe that only this user may open, and that nobody can have opened before.
///
/// Pipes without a name can't be read without waiting; this is what the system itself makes them of.
///
/// # Errors
///
/// What the system says.
pub fn pair(ours: Ours) -> io::Result<Pair> {
    let name = format!("hostproof-{}", unforeseeable());
    let path = wide(format!(r"\\.\pipe\{name}"));
    let private = Private::get()?;
    let (reading, writing) = match ours {
        Ours::Reading => (FILE_FLAG_OVERLAPPED, 0),
        Ours::Writing => (0, FILE_FLAG_OVERLAPPED),
    };
    let mode = PIPE_ACCESS_INBOUND | FILE_FLAG_FIRST_PIPE_INSTANCE | reading;
    let size = units(CHUNK);
    let attributes = private.attributes();
    // SAFETY: the name ends with a NUL, and the attributes outlive the call.
    let read = owned(unsafe {
        let kind = PIPE_TYPE_BYTE | PIPE_REJECT_REMOTE_CLIENTS;
        CreateNamedPipeW(path.as_ptr(), mode, kind, 1, size, size, 0, &raw const attributes)
    })?;
    // SAFETY: as above; whoever connects first is the only one, and that is this.
    let write = owned(unsafe {
        let access = GENERIC_WRITE | FILE_READ_ATTRIBUTES;
        CreateFileW(path.as_ptr(), access, 0, ptr::null(), OPEN_EXISTING, writing, ptr::null_mut())
    })?;
    Ok(match ours {
        Ours::Reading => Pair { ours: read, theirs: write, name },
        Ours::Writing => Pair { ours: write, theirs: read, name },
    })
}

/// 128 bits that nobody can foresee, as text.
#[must_use]
pub fn unforeseeable() -> String {
    let half = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", half(), half())
}

/// A length as the system takes it.
fn units(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn owned(handle: HANDLE) -> io::Result<OwnedHandle> {
    if handle == INVALID_HANDLE_VALUE || handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new, and nobody else's.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// What the system reads or writes while nobody waits for it. It must stay where it is meanwhile.
struct Moving {
    overlapped: OVERLAPPED,
    bytes: [u8; CHUNK],
}

/// A pipe's watched end: at most one read or write is under way, and nobody waits for it.
pub struct Transfer {
    pipe: OwnedHandle,
    /// Set when nothing is under way.
    _event: OwnedHandle,
    moving: NonNull<Moving>,
    under_way: bool,
}

// SAFETY: nothing of it belongs to one thread; the memory is its own.
unsafe impl Send for Transfer {}

/// How a read or a write ended: the bytes that were moved, or the system's error number.
pub type Moved = Result<usize, u32>;

impl Transfer {
    /// Of that end.
    ///
    /// # Errors
    ///
    /// If the system has no more events to give.
    pub fn new(pipe: OwnedHandle) -> io::Result<Self> {
        // SAFETY: an event without a name, reset by hand, needs no arguments.
        let event = owned(unsafe { CreateEventW(ptr::null(), 1, 1, ptr::null()) })?;
        // SAFETY: zero is a valid value of both.
        let mut moving: Box<Moving> = unsafe { Box::new_zeroed().assume_init() };
        moving.overlapped.hEvent = event.as_raw_handle();
        Ok(Self { pipe, _event: event, moving: NonNull::from(Box::leak(moving)), under_way: false })
    }

    /// The pipe.
    #[must_use]
    pub fn pipe(&self) -> &OwnedHandle {
        &self.pipe
    }

    /// Whether a read or a write is under way: its end comes as a packet, or by [`Self::settle`].
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.under_way
    }

    /// Begins to read.
    ///
    /// # Errors
    ///
    /// The system's error number, if it does not even begin.
    pub fn read(&mut self) -> Result<(), u32> {
        let moving = self.idle();
        // SAFETY: nothing is under way, so the memory is ours; it stays in place until the read has ended.
        let begun = unsafe {
            let bytes = (&raw mut (*moving).bytes).cast();
            ReadFile(self.pipe.as_raw_handle(), bytes, units(CHUNK), ptr::null_mut(), &raw mut (*moving).overlapped)
        };
        self.begun(begun)
    }

    /// Begins to write what `fill` puts into the memory that it is given; `None` if it puts nothing there.
    ///
    /// # Errors
    ///
    /// The system's error number, if it does not even begin.
    pub fn write(&mut self, fill: impl FnOnce(&mut [u8]) -> usize) -> Result<Option<()>, u32> {
        let moving = self.idle();
        // SAFETY: nothing is under way, so the memory is ours.
        let length = fill(unsafe { &mut (*moving).bytes });
        if length == 0 {
            return Ok(None);
        }
        // SAFETY: as above; it stays in place until the write has ended.
        let begun = unsafe {
            let bytes = (&raw const (*moving).bytes).cast();
            let length = units(length.min(CHUNK));
            WriteFile(self.pipe.as_raw_handle(), bytes, length, ptr::null_mut(), &raw mut (*moving).overlapped)
        };
        self.begun(begun).map(Some)
    }

    /// The memory, when nothing is under way.
    fn idle(&mut self) -> *mut Moving {
        let _ = self.settle();
        self.moving.as_ptr()
    }

    fn begun(&mut self, begun: i32) -> Result<(), u32> {
        // SAFETY: the call takes nothing.
        let error = unsafe { GetLastError() };
        // What is done at once comes as a packet all the same.
        self.under_way = begun != 0 || error == ERROR_IO_PENDING;
        if self.under_way { Ok(()) } else { Err(error) }
    }

    /// Takes in a packet about the transfer: what it says holds if something was under way.
    pub fn ended(&mut self) {
        self.under_way = false;
    }

    /// The bytes that the last read has brought.
    #[must_use]
    pub fn bytes(&self, length: usize) -> &[u8] {
        if self.under_way {
            return &[];
        }
        // SAFETY: nothing is under way, so the memory is ours.
        let moving = unsafe { self.moving.as_ref() };
        &moving.bytes[..length.min(CHUNK)]
    }

    /// Ends what is under way: it is done by now, or it is not done at all. `None` if nothing was. The packet about it
    /// says nothing any more.
    pub fn settle(&mut self) -> Option<Moved> {
        if !self.under_way {
            return None;
        }
        let moving = self.moving.as_ptr();
        let mut length = 0;
        // SAFETY: the memory stays in place; the wait ends as soon as the system is done with it.
        let moved = unsafe {
            let overlapped = &raw mut (*moving).overlapped;
            let cancelled = CancelIoEx(self.pipe.as_raw_handle(), overlapped) != 0;
            debug_assert!(cancelled || GetLastError() == ERROR_NOT_FOUND, "a transfer that can't be cancelled");
            GetOverlappedResult(self.pipe.as_raw_handle(), overlapped, &raw mut length, 1) != 0
        };
        // SAFETY: the call takes nothing.
        let error = unsafe { GetLastError() };
        self.under_way = false;
        Some(if moved { Ok(length as usize) } else { Err(error) })
    }
}

impl Drop for Transfer {
    fn drop(&mut self) {
        let _ = self.settle();
        // SAFETY: it was leaked from a box, nobody else has it, and the system is done with it.
        drop(unsafe { Box::from_raw(self.moving.as_ptr()) });
    }
}
