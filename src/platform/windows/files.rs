//! Files.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::windows::ffi::OsStringExt;
use std::os::windows::fs::{OpenOptionsExt, symlink_dir, symlink_file};
use std::os::windows::io::AsRawHandle;
use std::path::{Component, Path, PathBuf, Prefix};

use windows_sys::Win32::Foundation::ERROR_PRIVILEGE_NOT_HELD;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_OPEN_REPARSE_POINT, FILE_TYPE_DISK, GetFileType, SECURITY_IDENTIFICATION,
};

use super::security;

/// Makes a folder for this user alone, the system and the administrators.
///
/// # Errors
///
/// What the system says.
pub fn make_folder(path: &Path) -> io::Result<()> {
    security::make_private_folder(path)
}

/// Makes a symbolic link that leads where another one does. Where the user has no right to make one, a copy of the file
/// that it leads to takes its place.
///
/// # Errors
///
/// What the system says.
pub fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    let target = fs::read_link(from)?;
    let is_folder = fs::metadata(from).is_ok_and(|metadata| metadata.is_dir());
    match if is_folder { symlink_dir(target, to) } else { symlink_file(target, to) } {
        Err(error) if error.raw_os_error() == Some(ERROR_PRIVILEGE_NOT_HELD.cast_signed()) && !is_folder => {
            fs::copy(from, to).map(drop)
        }
        linked => linked,
    }
}

/// Makes a symbolic link to a folder.
///
/// # Errors
///
/// What the system says: mostly that this user has not the right.
pub fn link_folder(target: &Path, link: &Path) -> io::Result<()> {
    symlink_dir(target, link)
}

/// The path that a program printed as bytes.
#[must_use]
pub fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Whether other users can get to a path: whether its access list lets anybody in but its owner, the system and the
/// administrators. What can't be read is taken to be open.
#[must_use]
pub fn is_open_to_others(path: &Path) -> bool {
    security::is_open_to_others(path)
}

/// Whether what has this name is this user's; `None`, since it is not looked up here.
#[must_use]
pub fn is_own(_path: &Path) -> Option<bool> {
    None
}

/// A temporary file in a folder, to be renamed when it is whole: it has the permissions of any new file.
///
/// # Errors
///
/// What the system says.
pub fn new_file(folder: &Path, prefix: &str) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(prefix).tempfile_in(folder)
}

/// Nothing: what may be executed is told by a name here.
///
/// # Errors
///
/// None.
#[expect(clippy::unnecessary_wraps, reason = "the contract is that of every system")]
pub fn make_executable(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether a folder is as [`make_folder`] makes it: a folder, no link, with that access list and nothing hidden or
/// read-only about it.
#[must_use]
pub fn is_plain_folder(path: &Path) -> bool {
    let is_folder = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir());
    is_folder && security::is_private(path)
}

/// Opens a regular file, and nothing else: neither what the last part of the path links to, nor a device or pipe, whose
/// names may stand in any folder.
///
/// # Errors
///
/// What the system says, or that it is no regular file.
pub fn open_regular(path: &Path) -> io::Result<fs::File> {
    // A pipe's server learns who this is, and can't act in its name.
    let mut options = fs::File::options();
    options.read(true).custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).security_qos_flags(SECURITY_IDENTIFICATION);
    let file = options.open(path)?;
    // SAFETY: the handle is the file's, which is open.
    let kind = unsafe { GetFileType(file.as_raw_handle()) };
    if kind == FILE_TYPE_DISK && file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("not a regular file"))
    }
}

/// The path in the form that the system takes as it is: of any length, and with names that otherwise mean something
/// else, such as `con` or `a.`. Links in it are not followed.
///
/// # Errors
///
/// If a relative path has no folder to begin from.
pub(super) fn verbatim(path: &Path) -> io::Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let Some(Component::Prefix(prefix)) = path.components().next() else { return Ok(path) };
    let (start, skipped) = match prefix.kind() {
        Prefix::Disk(_) => (r"\\?\", 0),
        Prefix::UNC(..) => (r"\\?\UNC\", 2),
        _ => return Ok(path),
    };
    let units: Vec<u16> = std::os::windows::ffi::OsStrExt::encode_wide(path.as_os_str()).skip(skipped).collect();
    let mut verbatim = OsString::from(start);
    verbatim.push(OsString::from_wide(&units));
    Ok(PathBuf::from(verbatim))
}

/// A folder that is known wherever it is moved: not here.
#[derive(Debug, Clone)]
pub struct Place;

impl Place {
    /// Of no folder.
    #[must_use]
    pub fn of(_path: &Path) -> Option<Self> {
        None
    }

    /// Nowhere.
    #[must_use]
    pub fn now(&self) -> Option<PathBuf> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verbatim_path_keeps_every_name() {
        for (path, wanted) in [
            (r"C:\a\b", r"\\?\C:\a\b"),
            (r"C:/a/../b", r"\\?\C:\b"),
            (r"\\server\share\a", r"\\?\UNC\server\share\a"),
            (r"\\?\C:\a.\con", r"\\?\C:\a.\con"),
        ] {
            assert_eq!(verbatim(Path::new(path)).expect("absolute"), Path::new(wanted));
        }
    }

    #[test]
    fn a_folder_of_ours_is_made_once_and_used() {
        let outer = tempfile::tempdir().expect("a tempdir");
        let folder = outer.path().join("f");
        make_folder(&folder).expect("made");
        assert_eq!(make_folder(&folder).expect_err("there").kind(), io::ErrorKind::AlreadyExists);
        fs::write(folder.join("file"), "x").expect("a file in it");
        assert_eq!(fs::read(folder.join("file")).expect("read"), b"x");
    }

    #[test]
    fn only_regular_files_are_opened() {
        let outer = tempfile::tempdir().expect("a tempdir");
        let file = outer.path().join("f");
        fs::write(&file, "x").expect("a file");
        assert!(open_regular(&file).is_ok());
        assert!(open_regular(outer.path()).is_err());
        assert!(open_regular(Path::new("NUL")).is_err());
    }
}
