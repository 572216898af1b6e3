//! The contract between hostproof and the system it runs on.
//!
//! The parts above ask for five things and know no `cfg`: a [`Lane`] that runs a job and owns its whole process tree,
//! [`remove_tree`], [`host_facts`], [`on_interrupt`], and a few words about files and programs. All `unsafe` and all
//! system-dependent code stands below this module.
//!
//! | | Linux | Windows, macOS |
//! | --- | --- | --- |
//! | tree | a single-threaded supervisor per lane, child subreaper | not built yet: [`start_lane`] says so |
//! | ends with the harness | the supervisor sees its socket close | |

#![expect(unsafe_code, reason = "this is the one part that may talk to the system directly")]

mod job;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod system;

#[cfg(not(target_os = "linux"))]
#[path = "unsupported.rs"]
mod system;

#[cfg(unix)]
mod unix;

#[cfg(unix)]
use unix as files;

#[cfg(not(unix))]
#[path = "files_elsewhere.rs"]
mod files;

use std::path::Path;

pub use files::{copy_link, exit_at_once, find_program, is_executable, make_folder, on_interrupt, path_of, remove_tree};
pub use job::{Captured, Ended, Job, LaneError, LateProcess, Outcome, StartError};
pub use system::{Canceller, Watcher, host_facts, prepare, start_lane, supervise};

use crate::model::Platform;

/// The word that makes this program a supervisor, in the place of a subcommand.
pub const SUPERVISE: &str = "__supervise";

/// One supervisor and the folder that it answers for. Runs one job at a time.
///
/// Dropping a lane ends its supervisor, which first removes the lane's folder unless it was told to keep it.
pub trait Lane: Send {
    /// The lane's own folder, mode 0700, with a short path. It is removed with the lane, whatever ends the lane.
    fn folder(&self) -> &Path;

    /// Runs a job to its end: its first process ended, its grace over or its tree empty, and nothing of it alive.
    ///
    /// # Errors
    ///
    /// [`LaneError`] if the supervisor died or did not answer. Everything of the job was ended all the same; the lane
    /// can't be used again.
    fn run(&mut self, job: &Job) -> Result<Outcome, LaneError>;

    /// Ends the current job, and any later one at its start, from another thread.
    fn canceller(&self) -> Canceller;

    /// Leaves the lane's folder in place when the lane ends.
    fn keep_folder(&mut self);
}

/// What cannot be removed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unremovable {
    pub path: std::path::PathBuf,
    /// The system's reason, in words.
    pub reason: String,
}

/// A process that may not be looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    pub pid: u32,
    /// Its effective user.
    pub uid: u32,
    pub argv: Vec<String>,
}

/// What a look at every process of the machine showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    /// Those that hold something, with what. Their start times are in milliseconds after boot.
    pub processes: Vec<crate::model::Process>,
    pub unread: Vec<Unread>,
    /// What could not be looked at at all, and why.
    pub blind: Vec<String>,
}

/// The system this program was built for.
#[must_use]
pub fn current() -> Platform {
    if cfg!(windows) {
        Platform::Windows
    } else if cfg!(target_os = "macos") {
        Platform::Macos
    } else {
        Platform::Linux
    }
}
