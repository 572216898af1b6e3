//! Removing a tree whatever was done to it, without ever leaving it.
//!
//! Everything below the top is opened by its name in a folder that is open already, never by a path: no length matters,
//! no name means anything else, and no link that takes a folder's place leads elsewhere.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::mem::offset_of;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::time::Duration;

use windows_sys::Wdk::Foundation::OBJECT_ATTRIBUTES;
use windows_sys::Wdk::Storage::FileSystem::{
    FILE_OPEN_FOR_BACKUP_INTENT, FILE_OPEN_REPARSE_POINT, FILE_SYNCHRONOUS_IO_NONALERT, NtOpenFile,
};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_DIR_NOT_EMPTY, ERROR_FILE_NOT_FOUND, ERROR_INVALID_FUNCTION, ERROR_INVALID_PARAMETER,
    ERROR_NO_MORE_FILES, ERROR_NOT_SUPPORTED, ERROR_PATH_NOT_FOUND, ERROR_SHARING_VIOLATION, GetLastError,
    RtlNtStatusToDosError, UNICODE_STRING,
};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_NORMAL, FILE_ATTRIBUTE_READONLY, FILE_ATTRIBUTE_REPARSE_POINT,
    FILE_BASIC_INFO, FILE_DISPOSITION_FLAG_DELETE, FILE_DISPOSITION_FLAG_IGNORE_READONLY_ATTRIBUTE,
    FILE_DISPOSITION_FLAG_POSIX_SEMANTICS, FILE_DISPOSITION_INFO, FILE_DISPOSITION_INFO_EX, FILE_FLAG_BACKUP_SEMANTICS,
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_ID_BOTH_DIR_INFO, FILE_INFO_BY_HANDLE_CLASS, FILE_LIST_DIRECTORY,
    FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, FILE_WRITE_ATTRIBUTES, FileBasicInfo,
    FileDispositionInfo, FileDispositionInfoEx, FileIdBothDirectoryInfo, GetFileInformationByHandleEx, SYNCHRONIZE,
    SetFileInformationByHandle, WRITE_DAC,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;

use super::super::{Removal, Unremovable};
use super::{files, security};

/// Removes a folder and all that is in it. Of what could not be removed, the first few are told.
///
/// Symbolic links and junctions are removed, never followed. Neither read-only attributes nor access lists matter, as long
/// as this user owns the file. What somebody else has open, a virus scanner for instance, is tried again for
/// about a second in all; how long that took, and for what, is told.
///
/// A missing folder is removed already.
#[must_use]
pub fn remove_tree(top: &Path) -> Removal {
    let mut work = Work { removal: Removal::default(), waits: WAITS.iter() };
    match work.patiently(top, || open_top(top)) {
        Ok(entry) => work.remove(entry, top.to_owned()),
        Err(ERROR_FILE_NOT_FOUND | ERROR_PATH_NOT_FOUND) => {}
        Err(error) => work.leave(top.to_owned(), error),
    }
    work.removal
}

/// How many are told.
const TOLD: usize = 10;

/// The waits of one tree, in milliseconds: long enough for a scanner that looks at a new file.
const WAITS: [u64; 9] = [2, 5, 10, 20, 40, 80, 160, 320, 640];

const SHARE: u32 = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

/// The system's number for an error.
type Code = u32;

struct Work<'a> {
    removal: Removal,
    waits: std::slice::Iter<'a, u64>,
}

/// What a folder has, open to be removed.
struct Entry {
    handle: OwnedHandle,
    /// A folder, and no link to one.
    is_folder: bool,
}

/// A folder whose content is being removed.
struct Level {
    handle: OwnedHandle,
    path: PathBuf,
    names: std::vec::IntoIter<Vec<u16>>,
    /// Whether something in it stays, so that it stays, too.
    stays: bool,
}

impl Work<'_> {
    fn leave(&mut self, path: PathBuf, error: Code) {
        if self.removal.left.len() < TOLD {
            self.removal.left.push(Unremovable { path, reason: reason(error) });
        }
    }

    /// Does something that others may be in the way of for a moment.
    fn patiently<T>(&mut self, path: &Path, mut act: impl FnMut() -> Result<T, Code>) -> Result<T, Code> {
        let mut waited = Duration::ZERO;
        loop {
            let error = match act() {
                Ok(done) => {
                    if !waited.is_zero() {
                        let told = self.removal.waited.get_or_insert_with(|| (path.to_owned(), Duration::ZERO));
                        told.1 += waited;
                    }
                    return Ok(done);
                }
                Err(error) => error,
            };
            let passes = matches!(error, ERROR_SHARING_VIOLATION | ERROR_ACCESS_DENIED | ERROR_DIR_NOT_EMPTY);
            let Some(wait) = self.waits.next().filter(|_| passes) else { return Err(error) };
            let wait = Duration::from_millis(*wait);
            std::thread::sleep(wait);
            waited += wait;
        }
    }

    /// Removes the top. Folders are worked off from a list, so that no depth of a tree is too much.
    fn remove(&mut self, top: Entry, path: PathBuf) {
        let mut levels: Vec<Level> = Vec::new();
        let mut stays = self.take(top, path, &mut levels);
        while let Some(level) = levels.last_mut() {
            level.stays |= std::mem::take(&mut stays);
            let Some(name) = level.names.next() else {
                let level = levels.pop().expect("it is the last");
                stays = level.stays || self.finish(&level);
                continue;
            };
            let path = level.path.join(OsString::from_wide(&name));
            let handle = level.handle.as_handle().try_clone_to_owned();
            stays = match handle.map_err(code).and_then(|at| self.patiently(&path, || open_in(&at, &name))) {
                Ok(entry) => self.take(entry, path, &mut levels),
                Err(ERROR_FILE_NOT_FOUND | ERROR_PATH_NOT_FOUND) => false,
                Err(error) => {
                    self.leave(path, error);
                    true
                }
            };
        }
    }

    /// Removes what is no folder, and puts a folder on the list. Returns whether it stays.
    fn take(&mut self, entry: Entry, path: PathBuf, levels: &mut Vec<Level>) -> bool {
        let done = if entry.is_folder {
            names(&entry.handle).map(|names| {
                let names = names.into_iter();
                levels.push(Level { handle: entry.handle, path: path.clone(), names, stays: false });
            })
        } else {
            self.patiently(&path, || delete(&entry.handle))
        };
        done.map_err(|error| self.leave(path, error)).is_err()
    }

    /// Removes an emptied folder. Returns whether it stays.
    fn finish(&mut self, level: &Level) -> bool {
        let removed = self.patiently(&level.path, || delete(&level.handle));
        removed.map_err(|error| self.leave(level.path.clone(), error)).is_err()
    }
}

/// Opens the top of a tree, by its path.
fn open_top(path: &Path) -> Result<Entry, Code> {
    let path = files::verbatim(path).map_err(code)?;
    open_with_rights(|access| {
        let flags = FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT;
        let opened = File::options().access_mode(access).share_mode(SHARE).custom_flags(flags).open(&path);
        opened.map(OwnedHandle::from).map_err(code)
    })
}

/// Opens what a folder has under a name.
fn open_in(folder: &OwnedHandle, name: &[u16]) -> Result<Entry, Code> {
    open_with_rights(|access| {
        let length = u16::try_from(size_of_val(name)).map_err(|_| ERROR_INVALID_PARAMETER)?;
        let name = UNICODE_STRING { Length: length, MaximumLength: length, Buffer: name.as_ptr().cast_mut() };
        let attributes = OBJECT_ATTRIBUTES {
            Length: size_as_u32::<OBJECT_ATTRIBUTES>(),
            RootDirectory: folder.as_raw_handle(),
            ObjectName: &raw const name,
            Attributes: 0,
            SecurityDescriptor: null(),
            SecurityQualityOfService: null(),
        };
        let options = FILE_OPEN_REPARSE_POINT | FILE_OPEN_FOR_BACKUP_INTENT | FILE_SYNCHRONOUS_IO_NONALERT;
        let mut handle = null_mut();
        let mut status = IO_STATUS_BLOCK::default();
        // SAFETY: all that the attributes point to outlives the call; a handle that comes back is new and nobody else's.
        unsafe {
            match NtOpenFile(&raw mut handle, access, &raw const attributes, &raw mut status, SHARE, options) {
                0.. => Ok(OwnedHandle::from_raw_handle(handle)),
                error => Err(RtlNtStatusToDosError(error)),
            }
        }
    })
}

/// Opens something to be removed, and gives itself the right to it if it was taken away from its owner.
fn open_with_rights(open: impl Fn(u32) -> Result<OwnedHandle, Code>) -> Result<Entry, Code> {
    const WANTED: u32 = DELETE | FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES | FILE_LIST_DIRECTORY | SYNCHRONIZE;
    let handle = match open(WANTED) {
        Err(ERROR_ACCESS_DENIED) => {
            // A running program's file refuses the right to be written, and has a right to its own answer.
            let owned = open(WRITE_DAC | SYNCHRONIZE).map_err(|_| ERROR_ACCESS_DENIED)?;
            security::make_accessible(owned.as_handle()).map_err(code)?;
            drop(owned);
            open(WANTED)?
        }
        opened => opened?,
    };
    let attributes = basic(&handle)?.FileAttributes;
    let is_link = attributes & FILE_ATTRIBUTE_REPARSE_POINT != 0;
    Ok(Entry { handle, is_folder: attributes & FILE_ATTRIBUTE_DIRECTORY != 0 && !is_link })
}

/// Removes the name of what is open. Under POSIX semantics, which NTFS has since Windows 10, it is gone at once, though
/// others may have it open; elsewhere when the last of them closes it.
fn delete(handle: &OwnedHandle) -> Result<(), Code> {
    let flags = FILE_DISPOSITION_FLAG_DELETE
        | FILE_DISPOSITION_FLAG_POSIX_SEMANTICS
        | FILE_DISPOSITION_FLAG_IGNORE_READONLY_ATTRIBUTE;
    match set(handle, FileDispositionInfoEx, &FILE_DISPOSITION_INFO_EX { Flags: flags }) {
        // Older systems and other file systems know no such thing.
        Err(ERROR_INVALID_PARAMETER | ERROR_INVALID_FUNCTION | ERROR_NOT_SUPPORTED) => {}
        done => return done,
    }
    let basic = basic(handle)?;
    if basic.FileAttributes & FILE_ATTRIBUTE_READONLY != 0 {
        // Zeros leave the times as they are; no attribute at all would leave the attributes so.
        let attributes = basic.FileAttributes & !FILE_ATTRIBUTE_READONLY;
        let attributes = if attributes == 0 { FILE_ATTRIBUTE_NORMAL } else { attributes };
        set(handle, FileBasicInfo, &FILE_BASIC_INFO { FileAttributes: attributes, ..FILE_BASIC_INFO::default() })?;
    }
    set(handle, FileDispositionInfo, &FILE_DISPOSITION_INFO { DeleteFile: true })
}

fn basic(handle: &OwnedHandle) -> Result<FILE_BASIC_INFO, Code> {
    let mut info = FILE_BASIC_INFO::default();
    // SAFETY: the class is that of the type that is written to, of which the size is given.
    checked(unsafe {
        GetFileInformationByHandleEx(
            handle.as_raw_handle(),
            FileBasicInfo,
            (&raw mut info).cast(),
            size_as_u32::<FILE_BASIC_INFO>(),
        )
    })?;
    Ok(info)
}

/// Sets one piece of information, of which the class must be that of the type.
fn set<T>(handle: &OwnedHandle, class: FILE_INFO_BY_HANDLE_CLASS, info: &T) -> Result<(), Code> {
    let info = std::ptr::from_ref(info);
    // SAFETY: the system reads so many bytes, which are there.
    checked(unsafe { SetFileInformationByHandle(handle.as_raw_handle(), class, info.cast(), size_as_u32::<T>()) })
}

/// The names in a folder.
fn names(folder: &OwnedHandle) -> Result<Vec<Vec<u16>>, Code> {
    // The system's records are aligned to eight bytes.
    let mut buffer = vec![0_u64; 8 * 1024];
    let size = u32::try_from(size_of_val(&*buffer)).expect("it is small");
    let mut names = Vec::new();
    loop {
        // SAFETY: the buffer is as large as is said.
        let read = checked(unsafe {
            let room = buffer.as_mut_ptr().cast();
            GetFileInformationByHandleEx(folder.as_raw_handle(), FileIdBothDirectoryInfo, room, size)
        });
        match read {
            Ok(()) => {}
            Err(ERROR_NO_MORE_FILES | ERROR_FILE_NOT_FOUND) => return Ok(names),
            Err(error) => return Err(error),
        }
        let mut offset = 0;
        loop {
            // SAFETY: the system wrote whole records, each of which says where the next one begins and how many bytes
            // its name has; the buffer is aligned for them.
            let (next, name) = unsafe {
                let record = buffer.as_ptr().cast::<u8>().add(offset);
                let info = record.cast::<FILE_ID_BOTH_DIR_INFO>();
                let units = record.add(offset_of!(FILE_ID_BOTH_DIR_INFO, FileName)).cast::<u16>();
                let length = (*info).FileNameLength as usize / size_of::<u16>();
                ((*info).NextEntryOffset as usize, std::slice::from_raw_parts(units, length))
            };
            if !matches!(name, [DOT] | [DOT, DOT]) {
                names.push(name.to_vec());
            }
            if next == 0 {
                break;
            }
            offset += next;
        }
    }
}

const DOT: u16 = b'.' as u16;

fn checked(done: i32) -> Result<(), Code> {
    // SAFETY: it reads a number of this thread.
    if done == 0 { Err(unsafe { GetLastError() }) } else { Ok(()) }
}

fn code(error: io::Error) -> Code {
    error.raw_os_error().map_or(ERROR_INVALID_FUNCTION, i32::cast_unsigned)
}

fn size_as_u32<T>() -> u32 {
    u32::try_from(size_of::<T>()).expect("the system's types are small")
}

fn reason(error: Code) -> String {
    let words = match error {
        ERROR_SHARING_VIOLATION => "a process has it open, or is in it",
        ERROR_ACCESS_DENIED => "a process runs or maps it, or it is another user's",
        ERROR_DIR_NOT_EMPTY => "something was put into it meanwhile",
        other => return io::Error::from_raw_os_error(other.cast_signed()).to_string(),
    };
    format!("{words} (error {error})")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::super::wine::{is_wine, skip_under_wine};
    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let outer = tempfile::tempdir().expect("a tempdir");
        let top = outer.path().join("top");
        fs::create_dir(&top).expect("a folder");
        (outer, top)
    }

    /// A file that is open and shares nothing but what is said.
    fn open_sharing(path: &Path, share: u32) -> File {
        File::options().write(true).create(true).share_mode(share).open(path).expect("an open file")
    }

    #[test]
    fn read_only_files_and_folders_are_removed() {
        let (_outer, top) = folder();
        fs::create_dir_all(top.join("a/b")).expect("folders");
        for path in ["f", "a/f", "a/b/f", "a/b"] {
            let path = top.join(path);
            if !path.exists() {
                fs::write(&path, "x").expect("a file");
            }
            let mut permissions = fs::metadata(&path).expect("there").permissions();
            permissions.set_readonly(true);
            fs::set_permissions(&path, permissions).expect("read-only");
        }
        assert_eq!(remove_tree(&top), Removal::default());
        assert!(!top.exists());
    }

    #[test]
    fn a_tree_longer_than_any_usual_path_is_removed() {
        let (_outer, top) = folder();
        let deep = files::verbatim(&top.join("a-name-of-some-length\\".repeat(100))).expect("absolute");
        fs::create_dir_all(&deep).expect("folders");
        fs::write(deep.join("file"), "x").expect("a file");
        assert_eq!(remove_tree(&top), Removal::default());
        assert!(!top.exists());
    }

    #[test]
    fn odd_names_and_many_files_are_removed() {
        let (_outer, top) = folder();
        let plain = files::verbatim(&top).expect("absolute");
        for name in ["con.txt", "größe", "\u{1F98A}", "a b", ".hidden"] {
            fs::write(plain.join(name), "x").expect("a file");
        }
        for number in 0..2_000 {
            fs::write(plain.join(format!("file-{number}")), "").expect("a file");
        }
        assert_eq!(remove_tree(&top), Removal::default());
        assert!(!top.exists());
    }

    #[test]
    fn what_is_missing_is_removed_already() {
        let (_outer, top) = folder();
        assert_eq!(remove_tree(&top.join("no/such")), Removal::default());
    }

    #[test]
    fn a_junction_is_removed_and_its_target_stays() {
        let (outer, top) = folder();
        let precious = outer.path().join("precious");
        fs::create_dir(&precious).expect("a folder");
        fs::write(precious.join("file"), "x").expect("a file");
        let made = Command::new("cmd").args(["/d", "/c", "mklink", "/J"]).arg(top.join("link")).arg(&precious).output();
        if !made.is_ok_and(|made| made.status.success()) {
            return skip_under_wine("a junction", "its mklink makes none");
        }
        assert_eq!(remove_tree(&top), Removal::default());
        assert!(!top.exists() && precious.join("file").exists());
    }

    #[test]
    fn what_stays_is_told_with_all_that_is_around_it_gone() {
        let (_outer, top) = folder();
        fs::create_dir(top.join("d")).expect("a folder");
        fs::write(top.join("d/other"), "x").expect("a file");
        let held = open_sharing(&top.join("d/held"), FILE_SHARE_READ | FILE_SHARE_WRITE);
        let removal = remove_tree(&top);
        let told: Vec<_> = removal.left.iter().map(|left| left.path.clone()).collect();
        assert_eq!(told, [top.join("d").join("held")]);
        assert!(removal.left[0].reason.contains("(error 32)"), "{}", removal.left[0].reason);
        assert!(!top.join("d/other").exists());
        drop(held);
        assert_eq!(remove_tree(&top), Removal::default());
    }

    #[test]
    fn what_is_open_for_a_moment_is_waited_for_and_told() {
        let (_outer, top) = folder();
        let held = open_sharing(&top.join("held"), 0);
        let (attempted, is_attempted) = std::sync::mpsc::channel();
        let waits = [1_u64; 10_000];
        let mut work = Work { removal: Removal::default(), waits: waits.iter() };
        let scanner = std::thread::spawn(move || {
            is_attempted.recv().expect("an attempt");
            drop(held);
        });
        let path = top.join("held");
        let opened = work.patiently(&path, || {
            let opened = open_top(&path);
            let _ = attempted.send(());
            opened
        });
        assert!(opened.is_ok());
        scanner.join().expect("the scanner");
        assert!(work.removal.waited.is_some_and(|(told, waited)| told == path && !waited.is_zero()));
    }

    #[test]
    fn what_others_have_open_for_deletion_does_not_keep_its_folder() {
        let (_outer, top) = folder();
        let _held = open_sharing(&top.join("held"), SHARE);
        if is_wine() {
            return skip_under_wine("POSIX removal", "a file that is removed while it is open stays");
        }
        assert_eq!(remove_tree(&top), Removal::default());
        assert!(!top.exists());
    }
}
