//! Every process of the machine at one moment, as the kernel lists them: no right is needed for that.

use std::collections::HashMap;
use std::io;
use std::mem::{offset_of, size_of};

use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SYSTEM_INFORMATION_CLASS};
use windows_sys::Win32::Foundation::{
    RtlNtStatusToDosError, STATUS_BUFFER_TOO_SMALL, STATUS_INFO_LENGTH_MISMATCH, UNICODE_STRING,
};

/// `SystemProcessInformation`.
const PROCESSES: SYSTEM_INFORMATION_CLASS = 5;

/// One process of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub pid: u32,
    /// The number of the process that started it, which may be gone, and whose number another may have by now.
    pub parent: u32,
    /// In 100 ns since 1601, as all of the system's times.
    pub created: u64,
    /// The file name of its program.
    pub name: String,
    /// The system's services are in session 0, and what users start is in another; unless a service started it.
    pub session: u32,
    /// Each thread's state and what it waits on.
    pub threads: Vec<(u32, u32)>,
}

/// Every process that there was.
#[derive(Debug, Default)]
pub struct Machine {
    processes: HashMap<u32, Listed>,
}

/// `SYSTEM_PROCESS_INFORMATION`, whose documented form hides most names. Stable since Windows Vista.
#[repr(C)]
struct RawProcess {
    next: u32,
    threads: u32,
    private_working_set: i64,
    hard_faults: u32,
    most_threads: u32,
    cycles: u64,
    created: u64,
    user_time: i64,
    kernel_time: i64,
    name: UNICODE_STRING,
    priority: i32,
    pid: usize,
    parent: usize,
    handles: u32,
    session: u32,
    unique: usize,
    memory: [usize; 12],
    transfers: [i64; 6],
}

/// `SYSTEM_THREAD_INFORMATION`.
#[repr(C)]
#[derive(Clone, Copy)]
struct RawThread {
    times: [i64; 3],
    waited: u32,
    address: usize,
    pid: usize,
    thread: usize,
    priority: i32,
    base_priority: i32,
    switches: u32,
    state: u32,
    waiting_on: u32,
}

/// What the kernel tells of a class that grows with the machine, aligned for any of its structures.
///
/// # Errors
///
/// What the system says.
pub fn query(class: SYSTEM_INFORMATION_CLASS, guess: usize) -> io::Result<Vec<u64>> {
    const MOST: usize = 1 << 30;
    let mut size = guess;
    loop {
        let mut buffer = vec![0u64; size / size_of::<u64>()];
        let length = u32::try_from(buffer.len() * size_of::<u64>()).unwrap_or(u32::MAX);
        let mut told = 0;
        // SAFETY: the buffer has as many bytes as is said, and the length is written to a variable of ours.
        let status = unsafe { NtQuerySystemInformation(class, buffer.as_mut_ptr().cast(), length, &raw mut told) };
        match status {
            0.. => return Ok(buffer),
            STATUS_INFO_LENGTH_MISMATCH | STATUS_BUFFER_TOO_SMALL if size < MOST => {
                // More may come while it is asked for again.
                size = (size * 2).max(told as usize + told as usize / 4);
            }
            status => return Err(of_status(status)),
        }
    }
}

/// An error of the kernel's own functions.
#[must_use]
pub fn of_status(status: i32) -> io::Error {
    // SAFETY: the function takes any number.
    io::Error::from_raw_os_error(unsafe { RtlNtStatusToDosError(status) }.cast_signed())
}

impl Machine {
    /// As it is now.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn now() -> io::Result<Self> {
        let buffer = query(PROCESSES, 1 << 18)?;
        // SAFETY: the buffer lives on, and a slice of bytes may look at any number.
        let bytes =
            unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), buffer.len() * size_of::<u64>()) };
        let mut processes = HashMap::new();
        let mut at = 0;
        while let Some(raw) = structure::<RawProcess>(bytes, at) {
            let name = units(bytes, raw.name.Buffer as usize, usize::from(raw.name.Length));
            let first = at + size_of::<RawProcess>();
            let threads = (0..raw.threads as usize).map_while(|index| {
                let thread = structure::<RawThread>(bytes, first + index * size_of::<RawThread>())?;
                Some((thread.state, thread.waiting_on))
            });
            let pid = number(raw.pid);
            let listed = Listed {
                pid,
                parent: number(raw.parent),
                created: raw.created,
                name: String::from_utf16_lossy(&name),
                session: raw.session,
                threads: threads.collect(),
            };
            processes.insert(pid, listed);
            if raw.next == 0 {
                break;
            }
            at += raw.next as usize;
        }
        Ok(Self { processes })
    }

    #[cfg(test)]
    pub fn insert(&mut self, listed: Listed) {
        self.processes.insert(listed.pid, listed);
    }

    /// All of them, but the one that stands for an idle processor.
    pub fn all(&self) -> impl Iterator<Item = &Listed> {
        self.processes.values().filter(|listed| listed.pid != 0)
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, pid: u32) -> Option<&Listed> {
        self.processes.get(&pid)
    }

    /// The process that started another, if it is still there. An orphan keeps the number of its dead parent, and numbers
    /// are used again: whoever has it by now was created later.
    #[must_use]
    pub fn parent(&self, child: &Listed) -> Option<&Listed> {
        self.get(child.parent)
            .filter(|parent| parent.pid != 0 && parent.pid != child.pid && parent.created <= child.created)
    }

    /// The line of those that started it, from the nearest upwards.
    pub fn ancestors(&self, pid: u32) -> impl Iterator<Item = &Listed> {
        const MOST: usize = 16;
        let first = self.get(pid).and_then(|child| self.parent(child));
        std::iter::successors(first, |child| self.parent(child)).take(MOST)
    }
}

impl Listed {
    /// Its state and what it waits on, in words: of the thread that is the furthest from an end.
    #[must_use]
    pub fn doing(&self) -> (Option<String>, Option<String>) {
        const WAITING: u32 = 5;
        const SUSPENDED: u32 = 5;
        // Wine has one and the same for all.
        if self.threads.is_empty() || super::facts::wine().is_some() {
            return (None, None);
        }
        if self.threads.iter().any(|&(state, _)| state != WAITING) {
            return (Some("running".to_owned()), None);
        }
        if self.threads.iter().all(|&(_, reason)| reason == SUSPENDED) {
            return (Some("suspended".to_owned()), None);
        }
        // The first thread is the one that a program's main function runs in.
        let word = self.threads.first().map(|&(_, reason)| match reason {
            0 | 7 => "the kernel",
            1 | 8 | 2 | 9 => "memory",
            4 | 11 => "a time to pass",
            5 | 12 => "being resumed",
            6 | 13 => "an object or input",
            14 | 15 => "work in a queue",
            16 => "a reply from another process",
            _ => "something else",
        });
        (Some("waiting".to_owned()), word.map(str::to_owned))
    }
}

/// A structure that the kernel wrote at a place in a buffer.
fn structure<T>(bytes: &[u8], at: usize) -> Option<T> {
    let place = bytes.get(at..at.checked_add(size_of::<T>())?)?;
    // SAFETY: so many bytes are there, and the types that are read here are numbers and pointers alone.
    Some(unsafe { place.as_ptr().cast::<T>().read_unaligned() })
}

/// UTF-16 at an address that lies in the buffer.
fn units(bytes: &[u8], address: usize, length: usize) -> Vec<u16> {
    let place = address.checked_sub(bytes.as_ptr() as usize);
    let found = place.and_then(|at| bytes.get(at..at.checked_add(length)?));
    found
        .map(|bytes| bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect())
        .unwrap_or_default()
}

/// Numbers of processes have 32 bits in all functions but these.
fn number(pid: usize) -> u32 {
    u32::try_from(pid).unwrap_or(u32::MAX)
}

const _: () = assert!(offset_of!(RawProcess, created) == 32, "as the kernel has it");
