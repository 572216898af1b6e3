//! Finding a program as `execvp` would.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::super::Through;
use rustix::fs::{Access, AtFlags, CWD};

/// The file that a program's name stands for: as it is if it has a slash (relative to `cwd`), else looked up in `path`.
/// `None` if there is none that may be executed; a name with a slash is returned as long as it exists.
#[must_use]
pub fn find_program(name: &OsStr, path: Option<&OsStr>, cwd: &Path) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if Path::new(name).components().count() > 1 || Path::new(name).is_absolute() {
        let file = cwd.join(name);
        return file.is_file().then_some(file);
    }
    std::env::split_paths(path?).map(|folder| cwd.join(folder).join(name)).find(|file| is_executable(file))
}

/// Whether this process may execute the file.
#[must_use]
pub fn is_executable(file: &Path) -> bool {
    file.is_file() && rustix::fs::accessat(CWD, file, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

/// Whether a plain file has the mark of a program for its owner, as git looks at it; `None` if there is no plain file.
#[must_use]
pub fn is_marked_executable(file: &Path) -> Option<bool> {
    let metadata = std::fs::symlink_metadata(file).ok().filter(std::fs::Metadata::is_file)?;
    Some(metadata.permissions().mode() & 0o100 != 0)
}

/// What has a program's name on the path and was passed over: nothing is.
#[must_use]
pub fn passed_over(_name: &OsStr, _path: Option<&OsStr>, _cwd: &Path) -> Option<String> {
    None
}

/// What has to run a file that the system can't start by itself: the system reads a script's first line on its own.
///
/// # Errors
///
/// Never.
pub fn run_through(_file: &Path, _find: &dyn Fn(&str) -> Option<Through>) -> Result<Option<Through>, String> {
    Ok(None)
}
