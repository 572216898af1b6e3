//! A check's own folder.

use std::io;
use std::path::{Path, PathBuf};

use crate::platform;

/// `work/` (where files are put, and the cwd if the check asks for it), `tmp/` and `home/`, side by side: `HOME` is not
/// below `TMPDIR`.
#[derive(Debug)]
pub struct Sandbox {
    root: PathBuf,
}

impl Sandbox {
    /// Makes one in a lane's folder.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn create(root: PathBuf) -> io::Result<Self> {
        let sandbox = Self { root };
        platform::make_folder(&sandbox.root)?;
        platform::make_folder(&sandbox.work())?;
        platform::make_folder(&sandbox.tmp())?;
        platform::make_folder(&sandbox.home())?;
        Ok(sandbox)
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
