//! A check's own folder.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::platform;

/// `work/` (where files are put, and the cwd if the check asks for it), `tmp/` and `home/`, side by side: `HOME` is not
/// below `TMPDIR`.
#[derive(Debug)]
pub struct Sandbox {
    root: PathBuf,
}

impl Sandbox {
    /// Makes one.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(root: PathBuf) -> io::Result<Self> {
        let sandbox = Self { root };
        platform::make_folder(&sandbox.root)?;
        for folder in sandbox.folders() {
            platform::make_folder(&folder)?;
        }
        Ok(sandbox)
    }

    fn folders(&self) -> [PathBuf; 3] {
        [self.work(), self.tmp(), self.home()]
    }

    /// The folder that has all of it, and the output that is too large for memory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Where `files` go.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    /// `TMPDIR`.
    #[must_use]
    pub fn tmp(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// `HOME`.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root.join("home")
    }
}

/// The sandboxes of a lane that their checks never touched and nobody holds. The next check gets one of them under a new
/// name: on some file systems, making and removing a folder costs as much as starting a process.
#[derive(Debug, Default)]
pub struct Spare(Mutex<Vec<Sandbox>>);

impl Spare {
    /// A sandbox of that name: an untouched one, or a new one.
    ///
    /// # Errors
    ///
    /// What the system says to making a new one.
    pub fn take(&self, root: PathBuf) -> io::Result<Sandbox> {
        let spare = self.0.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match spare {
            Some(spare) if std::fs::rename(&spare.root, &root).is_ok() => Ok(Sandbox { root }),
            _ => Sandbox::create(root),
        }
    }

    /// Takes back a sandbox that was not touched. `false` if it is not as it was made after all.
    pub fn give_back(&self, sandbox: &Sandbox) -> bool {
        let folders = sandbox.folders();
        if !folders.iter().chain([&sandbox.root]).all(|folder| platform::is_plain_folder(folder)) {
            return false;
        }
        let sandbox = Sandbox { root: sandbox.root.clone() };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(sandbox);
        true
    }
}
