//! What open files are called.

use std::fs::{File, OpenOptions};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle};
use std::path::{Path, PathBuf};

use windows_sys::Wdk::Foundation::NtQueryObject;
use windows_sys::Win32::Foundation::UNICODE_STRING;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_READ_ATTRIBUTES, GetFinalPathNameByHandleW, VOLUME_NAME_DOS, VOLUME_NAME_NT,
};

use super::paths::Roots;
use super::wide;

/// Folders whose holders are of interest, by the kernel's names, too: mapped files have no others.
#[must_use]
pub fn sought(folders: &[PathBuf]) -> Roots {
    Roots::new(folders).also(|folder| path_in(open(folder).ok()?.as_handle(), VOLUME_NAME_NT))
}

/// Opens a file or a folder so that nobody is kept from anything by it.
fn open(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().access_mode(FILE_READ_ATTRIBUTES).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// The path of an open file, long and without links; the kernel's own where its disk has no letter.
#[must_use]
pub fn final_path(handle: BorrowedHandle<'_>) -> Option<String> {
    [VOLUME_NAME_DOS, VOLUME_NAME_NT].into_iter().find_map(|form| path_in(handle, form))
}

fn path_in(handle: BorrowedHandle<'_>, form: u32) -> Option<String> {
    let mut units = vec![0u16; 1024];
    loop {
        let room = u32::try_from(units.len()).ok()?;
        // SAFETY: the handle is open, and the buffer has as many units as is said.
        let length =
            unsafe { GetFinalPathNameByHandleW(handle.as_raw_handle(), units.as_mut_ptr(), room, form) } as usize;
        match length {
            0 => return None,
            // With the zero at its end if it did not fit.
            length if length > units.len() => units = vec![0u16; length],
            length => return Some(String::from_utf16_lossy(&units[..length])),
        }
    }
}

/// The kernel's name of an object.
#[must_use]
pub fn object_name(handle: BorrowedHandle<'_>) -> Option<String> {
    /// `ObjectNameInformation`.
    const NAME: i32 = 1;
    let mut buffer = vec![0u64; 1024];
    let length = u32::try_from(size_of_val(&buffer[..])).unwrap_or(0);
    // SAFETY: the handle is open, and the buffer has as many bytes as is said.
    let status = unsafe {
        NtQueryObject(handle.as_raw_handle(), NAME, buffer.as_mut_ptr().cast(), length, std::ptr::null_mut())
    };
    if status < 0 {
        return None;
    }
    // SAFETY: the system wrote this structure at the start of the buffer, which is aligned for it and larger.
    let name = unsafe { buffer.as_ptr().cast::<UNICODE_STRING>().read() };
    wide::told_in(&buffer, &name)
}
