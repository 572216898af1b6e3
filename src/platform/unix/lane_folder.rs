//! A lane's folder: made by its supervisor, removed by it, and by a later run if even that could not be.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::super::{LANE, planting, remove_tree};

/// A file that the owner holds a lock on: a folder whose lock is free has no owner any more.
const LOCK: &str = "lock";

/// A folder with a short path and mode 0700.
#[derive(Debug)]
pub struct LaneFolder {
    path: PathBuf,
    /// Held until the folder is removed or left.
    _lock: File,
    left: bool,
}

impl LaneFolder {
    /// Makes one where [`super::super::sandbox_base`] says.
    ///
    /// # Errors
    ///
    /// What the system says to making a folder there.
    pub fn create() -> io::Result<Self> {
        let base = super::super::sandbox_base();
        let base = fs::canonicalize(&base)
            .map_err(|error| io::Error::new(error.kind(), format!("sandboxes go to {}: {error}", base.display())))?;
        if base.to_str().is_none() {
            // What checks are told of their sandbox, and what is told of it, is text.
            return Err(io::Error::other(format!("sandboxes can't go to {}: it is not UTF-8", base.display())));
        }
        sweep(&base);
        let failed = |error: &io::Error| {
            io::Error::new(error.kind(), format!("no sandbox can be made in {}: {error}", base.display()))
        };
        for _ in 0..100 {
            let made =
                tempfile::Builder::new().prefix(LANE).permissions(Permissions::from_mode(0o700)).tempdir_in(&base);
            let path = made.map_err(|error| failed(&error))?.keep();
            let lock = File::create(path.join(LOCK)).map_err(|error| failed(&error))?;
            // Another run's sweep may have come between.
            if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() && path.join(LOCK).exists() {
                return Ok(Self { path, _lock: lock, left: false });
            }
        }
        Err(failed(&io::Error::other("no free name")))
    }

    /// Absolute, without symbolic links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it where it is, for somebody to look at.
    pub fn leave(mut self) {
        let _ = fs::remove_file(self.path.join(LOCK));
        self.left = true;
    }
}

impl Drop for LaneFolder {
    /// Removes it, whatever is in it.
    fn drop(&mut self) {
        if !self.left {
            remove(&self.path);
        }
    }
}

/// Removes a lane's folder, the lock last: while something in it resists, the folder stays one that a later run sweeps.
pub fn remove(folder: &Path) {
    planting::clear_all(folder);
    // What resists was told with the check that left it.
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut resists = false;
    for entry in entries.filter(|entry| entry.file_name() != LOCK) {
        resists |= !remove_tree(&entry.path()).left.is_empty();
    }
    if !resists {
        let _ = remove_tree(folder);
    }
}

/// Removes the folders of this user whose owners are gone.
fn sweep(base: &Path) {
    let me = rustix::process::geteuid().as_raw();
    let Ok(entries) = fs::read_dir(base) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(LANE)) {
        let path = entry.path();
        let ours = fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == me);
        // A kept folder has no lock; one that is just being made gets it within moments, and is spared as well.
        if ours
            && let Ok(lock) = File::open(path.join(LOCK))
            && flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok()
        {
            remove(&path);
        }
    }
}
