//! The harness's side of a lane.

use super::super::Lane;
use crate::error::{Error, Result};

/// Handles nothing: no lane exists.
#[derive(Clone)]
pub struct LaneHandle;

impl LaneHandle {
    /// Does nothing.
    pub fn cancel(&self) {}

    /// Does nothing.
    pub fn keep_folder(&self) {}
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
