//! A system that cannot supervise yet, and says so.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Lane, Look, Stranger};
use crate::env;
use crate::error::{Error, Result};
use crate::model::{HostFacts, Judge};

/// Handles nothing: no lane exists.
#[derive(Clone)]
pub struct LaneHandle;

impl LaneHandle {
    /// Does nothing.
    pub fn cancel(&self) {}

    /// Does nothing.
    pub fn keep_folder(&self) {}
}

/// Sees nothing, and says so.
pub struct Watcher;

impl Watcher {
    /// A watcher.
    #[must_use]
    pub fn of_sandboxes() -> Self {
        Self
    }

    /// A watcher.
    #[must_use]
    pub fn of_folders(_mappings: bool) -> Self {
        Self
    }

    /// Says that this system can't be looked at yet.
    pub fn look(&self, _roots: &[PathBuf]) -> Look {
        Look { blind: vec!["holders on this system: not built yet".to_owned()], ..Look::default() }
    }

    /// Nobody.
    pub fn look_again(&self, _pid: u32, _roots: &[PathBuf]) -> Option<Stranger> {
        None
    }
}

/// Ends nothing.
pub fn end_stranger(_stranger: &Stranger) -> bool {
    false
}

/// Nothing has to be prepared.
///
/// # Errors
///
/// Never.
pub fn prepare() -> Result<()> {
    Ok(())
}

/// Says that this system is not supported yet.
///
/// # Errors
///
/// Always.
pub fn start_lane() -> Result<Box<dyn Lane>> {
    Err(Error::Unmeasured(format!(
        "this version runs checks on Linux only: on {} it cannot yet see what a check leaves behind",
        std::env::consts::OS
    )))
}

/// Says that this system is not supported yet.
///
/// # Errors
///
/// Always.
pub fn supervise(_: Judge) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// What std and the environment tell.
#[must_use]
pub fn host_facts(temp: &Path) -> HostFacts {
    HostFacts {
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        locale: env::locale(),
        time_zone: env::text("TZ"),
        temp: temp.display().to_string(),
        processors: std::thread::available_parallelism().ok().map(|count| count.get() as u64),
        limits: BTreeMap::new(),
        ..HostFacts::default()
    }
}

/// The time since the machine started: not known here.
#[must_use]
pub fn since_start() -> Option<Duration> {
    None
}

/// Waits for nothing but the time.
pub fn wait_for_an_end(_pids: &[u32], limit: Duration) {
    std::thread::sleep(limit);
}
