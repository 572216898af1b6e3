//! What stands at a path before a check starts.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Check, Cwd};

/// A path, and what is planted there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Planting {
    /// With `/`: relative to where the check starts, below `$project` or `$sandbox`, or absolute.
    pub path: String,
    pub plant: Plant,
}

/// What is planted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Plant {
    /// A named pipe that nobody reads.
    Fifo,
    /// A symbolic link: to this path, or to a file of the sandbox that stands for somebody else's, and must stay as it is.
    Symlink(Option<String>),
    /// An empty folder.
    Directory,
    /// An empty file, on which somebody has such a lock as long as the check lasts.
    HeldLock(LockKind),
    /// A file that its owner may not read.
    Unreadable,
    /// A file with the number of no process.
    DeadPid,
    /// A file with this content.
    File(String),
}

impl Check {
    /// The paths outside of its own sandbox at which something is planted for it.
    pub fn plants_outside(&self) -> impl Iterator<Item = &str> {
        self.plant.iter().map(|planting| planting.path.as_str()).filter(|path| is_outside(path, self.cwd))
    }
}

/// Whether a path of `plant` lies outside of the sandbox of a check that starts there.
#[must_use]
pub fn is_outside(path: &str, cwd: Cwd) -> bool {
    match cwd {
        _ if path.starts_with("$sandbox/") => false,
        Cwd::Project => true,
        // The copy is in the sandbox.
        Cwd::Copy => Path::new(path).has_root(),
        Cwd::Sandbox => Path::new(path).has_root() || path.starts_with("$project/"),
    }
}

impl Plant {
    /// In a sentence: `a named pipe`.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self {
            Self::Fifo => "a named pipe",
            Self::Symlink(_) => "a symbolic link",
            Self::Directory => "a folder",
            Self::HeldLock(LockKind::Flock) => "a file with a lock on it",
            Self::HeldLock(LockKind::Fcntl) => "a file with a lock of fcntl's on it",
            Self::Unreadable => "an unreadable file",
            Self::DeadPid => "a pid file of a dead process",
            Self::File(_) => "a file",
        }
    }
}

/// How a file is locked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockKind {
    /// The whole file: `flock` on Unix, `LockFileEx` on Windows.
    #[default]
    Flock,
    /// A record lock of POSIX over the whole file, which `flock` does not see: `fcntl`, `lockf`.
    Fcntl,
}
