//! What can be planted on Windows, and the process that plants.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::windows::fs::{OpenOptionsExt, symlink_file};
use std::os::windows::io::AsRawHandle;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_ATTRIBUTES,
    GetFileInformationByHandle,
};

use super::super::NO_PROCESS;
use super::apart::set_apart;
use crate::model::{LockKind, Plant};

/// Why something can't be planted here; `None` if nothing is known to be in the way. A symbolic link wants a right that
/// most users have in developer mode alone: that shows when it is made.
#[must_use]
pub fn cannot_plant(plant: &Plant) -> Option<String> {
    let why = match plant {
        Plant::Fifo => "Windows has no named pipes among its files",
        Plant::Unreadable => "on Windows it is an access list that says who may read a file",
        Plant::HeldLock(LockKind::Fcntl) => "Windows has no fcntl",
        _ => return None,
    };
    Some(why.to_owned())
}

/// Puts something where nothing is. What is returned keeps its lock.
///
/// # Errors
///
/// What the system says; `AlreadyExists` if something is there.
pub fn put(path: &Path, plant: &Plant) -> io::Result<Option<File>> {
    let file = || OpenOptions::new().read(true).write(true).create_new(true).open(path);
    match plant {
        Plant::Symlink(target) => symlink_file(target.as_deref().unwrap_or_default(), path).map(|()| None),
        Plant::Directory => fs::create_dir(path).map(|()| None),
        Plant::DeadPid => file()?.write_all(NO_PROCESS.as_bytes()).map(|()| None),
        Plant::File(content) => file()?.write_all(content.as_bytes()).map(|()| None),
        Plant::HeldLock(LockKind::Flock) => {
            let file = file()?;
            file.try_lock().map_err(io::Error::from)?;
            Ok(Some(file))
        }
        Plant::Fifo | Plant::Unreadable | Plant::HeldLock(LockKind::Fcntl) => {
            Err(io::Error::new(io::ErrorKind::Unsupported, cannot_plant(plant).unwrap_or_default()))
        }
    }
}

/// What tells a file, or a link itself, from any other on its volume at the same time. Its time of creation does not: what is
/// made where something of that name was a moment ago gets that one's.
///
/// # Errors
///
/// What the system says; `NotFound` if nothing is there.
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    let flags = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
    let file = OpenOptions::new().access_mode(FILE_READ_ATTRIBUTES).custom_flags(flags).open(path)?;
    let mut told = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and what is filled in outlives the call.
    if unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut told) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let index = u64::from(told.nFileIndexHigh) << 32 | u64::from(told.nFileIndexLow);
    Ok((u64::from(told.dwVolumeSerialNumber), index))
}

/// Starts this program as another process, which the console's Ctrl-C does not reach, with pipes to and from it.
///
/// # Errors
///
/// What the system says.
pub fn start_helper(word: &str) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    set_apart(&mut command);
    command.arg(word).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

/// Nothing is remembered of helpers here.
pub fn forget_helper(_pid: u32) {}
