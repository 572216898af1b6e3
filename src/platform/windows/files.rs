//! Files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Makes a folder.
///
/// # Errors
///
/// What the system says.
pub fn make_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

/// Copies what a link leads to: making a link needs a right that most users do not have.
///
/// # Errors
///
/// What the system says.
pub fn copy_link(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to).map(|_| ())
}

/// The path that a program printed as bytes.
#[must_use]
pub fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Whether other users can get to a path: not known here, so it is assumed.
#[must_use]
pub fn is_open_to_others(_path: &Path) -> bool {
    true
}

/// A temporary file in a folder, to be renamed when it is whole: it has the permissions of any new file.
///
/// # Errors
///
/// What the system says.
pub fn new_file(folder: &Path, prefix: &str) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new().prefix(prefix).tempfile_in(folder)
}

/// Whether a folder is as [`make_folder`] makes it: not known here, so it is not assumed.
#[must_use]
pub fn is_plain_folder(_path: &Path) -> bool {
    false
}

/// Opens a regular file, and nothing else.
///
/// # Errors
///
/// What the system says, or that it is no regular file.
pub fn open_regular(path: &Path) -> io::Result<fs::File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    fs::File::open(path)
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
