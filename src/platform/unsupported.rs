//! A system that cannot supervise yet, and says so.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::Lane;
use crate::env;
use crate::error::{Error, Result};
use crate::model::HostFacts;

/// Cancels nothing: no lane exists.
#[derive(Clone)]
pub struct Canceller;

impl Canceller {
    /// Does nothing.
    pub fn cancel(&self) {}
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
pub fn supervise() -> io::Result<()> {
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
