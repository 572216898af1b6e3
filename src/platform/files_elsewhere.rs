//! Files and programs where std has to do.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Unremovable;

/// The file that a program's name stands for; the endings that `PATHEXT` names are tried, too.
#[must_use]
pub fn find_program(name: &OsStr, path: Option<&OsStr>, cwd: &Path) -> Option<PathBuf> {
    let endings = crate::env::text("PATHEXT").unwrap_or_else(|| ".COM;.EXE;.BAT;.CMD".to_owned());
    let candidates = |base: PathBuf| {
        let plain = base.clone();
        std::iter::once(plain).chain(endings.split(';').map(move |ending| {
            let mut file = base.clone().into_os_string();
            file.push(ending);
            PathBuf::from(file)
        }))
    };
    if Path::new(name).components().count() > 1 {
        return candidates(cwd.join(name)).find(|file| file.is_file());
    }
    std::env::split_paths(path?).flat_map(|folder| candidates(folder.join(name))).find(|file| is_executable(file))
}

/// Whether the file can be run.
#[must_use]
pub fn is_executable(file: &Path) -> bool {
    file.is_file() && file.extension().is_some()
}

/// Removes a folder and all that is in it.
#[must_use]
pub fn remove_tree(top: &Path) -> Vec<Unremovable> {
    match fs::remove_dir_all(top) {
        Ok(()) => Vec::new(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => vec![Unremovable { path: top.to_owned(), reason: error.to_string() }],
    }
}

/// Leaves interrupts to the system: no run can be under way.
///
/// # Errors
///
/// Never.
pub fn on_interrupt(_each: impl FnMut() + Send + 'static) -> io::Result<()> {
    Ok(())
}

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

/// Ends this process at once, with the exit code of an interrupted run.
#[expect(clippy::exit, reason = "the second interrupt asks for an end at once, whatever the main thread is doing")]
pub fn exit_at_once() -> ! {
    std::process::exit(i32::from(crate::error::ExitCode::Interrupted as u8))
}

/// Users have no numbers here.
#[must_use]
pub fn user() -> Option<u32> {
    None
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

/// Nothing has to be expected of child processes here.
pub fn expect_children() {}

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
