//! Finding a program.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

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
