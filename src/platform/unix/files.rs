//! Files, as Unix has them.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Mode, OFlags};

/// A path with all links resolved.
///
/// # Errors
///
/// What the system says.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(path)
}

/// Makes a folder for this user alone.
///
/// # Errors
///
/// What the system says.
pub fn make_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(0o700).create(path)
}

/// Makes a symbolic link that leads where another one does.
///
/// # Errors
///
/// What the system says.
pub fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    symlink(fs::read_link(from)?, to)
}

/// Makes a symbolic link to a folder.
///
/// # Errors
///
/// What the system says.
pub fn link_folder(target: &Path, link: &Path) -> io::Result<()> {
    symlink(target, link)
}

/// The path that a program printed as bytes.
#[must_use]
pub fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// No stream is in a code page here: what is not UTF-8 stays as it is.
pub const HAS_CODE_PAGES: bool = false;

/// Nothing.
#[must_use]
pub fn of_code_page(_bytes: &[u8]) -> Option<String> {
    None
}

/// The effective user of this process.
#[must_use]
pub fn user() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

/// The effective user and group of this process, where files belong to such.
#[must_use]
pub fn user_and_group() -> Option<(u32, u32)> {
    Some((rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()))
}

/// Whether what has this name is this user's; of a symbolic link, the link itself. `None` if that can't be looked up.
#[must_use]
pub fn is_own(path: &Path) -> Option<bool> {
    Some(fs::symlink_metadata(path).ok()?.uid() == user()?)
}

/// Whether other users can get to a path: whether every folder on the way lets them through. Access lists and groups are
/// not looked at.
#[must_use]
pub fn is_open_to_others(path: &Path) -> bool {
    const OTHERS_MAY_ENTER: u32 = 0o001;
    path.ancestors()
        .skip(1)
        .all(|folder| fs::metadata(folder).is_ok_and(|metadata| metadata.permissions().mode() & OTHERS_MAY_ENTER != 0))
}

/// A temporary file in a folder, to be renamed when it is whole: it has the permissions of any new file.
///
/// # Errors
///
/// What the system says.
pub fn new_file(folder: &Path, prefix: &str) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(prefix).permissions(fs::Permissions::from_mode(0o666)).tempfile_in(folder)
}

/// Lets whoever may read a file execute it.
///
/// # Errors
///
/// What the system says.
pub fn make_executable(path: &Path) -> io::Result<()> {
    let mode = fs::metadata(path)?.permissions().mode();
    fs::set_permissions(path, fs::Permissions::from_mode(mode | (mode & 0o444) >> 2))
}

/// Whether a folder is as [`make_folder`] makes it: this user's, mode 0700, and, where the system tells, neither
/// immutable nor append-only.
#[cfg(target_os = "linux")]
#[must_use]
pub fn is_plain_folder(path: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};
    const FOLDER: u16 = 0o040_700;
    let frozen = StatxAttributes::IMMUTABLE | StatxAttributes::APPEND;
    let wanted = StatxFlags::TYPE | StatxFlags::MODE | StatxFlags::UID;
    statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted).is_ok_and(|statx| {
        statx.stx_mode == FOLDER && Some(statx.stx_uid) == user() && !statx.stx_attributes.intersects(frozen)
    })
}

/// Whether a folder is as [`make_folder`] makes it: not known here, so it is not assumed.
#[cfg(not(target_os = "linux"))]
#[must_use]
pub fn is_plain_folder(_path: &Path) -> bool {
    false
}

/// Opens a regular file, and nothing else: neither what the last part of the path links to, nor a pipe, which could keep
/// whoever opens it waiting for ever.
///
/// # Errors
///
/// What the system says, or that it is no regular file.
pub fn open_regular(path: &Path) -> io::Result<fs::File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = fs::File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("not a regular file")) }
}

/// A folder that is known wherever it is moved.
#[derive(Debug, Clone)]
pub struct Place(Arc<OwnedFd>);

impl Place {
    /// Of a folder; `None` if it can't be opened.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::open(path, flags, Mode::empty()).ok().map(|fd| Self(Arc::new(fd)))
    }

    /// Where it is now; `None` if it was removed, or if the system does not tell.
    #[must_use]
    pub fn now(&self) -> Option<PathBuf> {
        let links = rustix::fs::fstat(&*self.0).ok()?.st_nlink;
        (links > 0).then(|| path_of_descriptor(self.0.as_fd())).flatten()
    }
}

#[cfg(target_os = "linux")]
fn path_of_descriptor(fd: BorrowedFd<'_>) -> Option<PathBuf> {
    let fd = std::os::fd::AsRawFd::as_raw_fd(&fd);
    fs::read_link(format!("/proc/self/fd/{fd}")).ok()
}

#[cfg(target_os = "macos")]
fn path_of_descriptor(fd: BorrowedFd<'_>) -> Option<PathBuf> {
    rustix::fs::getpath(fd).ok().map(|path| path_of(path.to_bytes()))
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn path_of_descriptor(_fd: BorrowedFd<'_>) -> Option<PathBuf> {
    None
}
