//! What a supervisor uses for one job after the other.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;

use rustix::io::Errno;

use super::bystanders::Budget;
use super::{removals, tree};
use crate::model::Judge;

/// How much output is read at once: what a pipe holds by default.
const BUFFER: usize = 64 * 1024;

/// How often what a job has left is tried to be ended once the harness is gone.
const LAST_TRIES: usize = 12;

/// What one job uses after the other.
pub struct Tools {
    /// Empty input.
    pub(super) null: File,
    /// What output is read into.
    pub(super) buffer: Vec<u8>,
    pub(super) inotify: Result<OwnedFd, Errno>,
    /// The watcher of what is published; made for the first job that publishes something.
    pub(super) publishing: Option<OwnedFd>,
    pub(super) budget: Budget,
    pub(super) judge: Judge,
}

impl Tools {
    /// Opens them.
    ///
    /// # Errors
    ///
    /// If there is no `/dev/null`.
    pub fn open(judge: Judge) -> io::Result<Self> {
        Ok(Self {
            null: File::open("/dev/null")?,
            buffer: vec![0; BUFFER],
            inotify: removals::watcher(),
            publishing: None,
            budget: Budget::new(),
            judge,
        })
    }

    /// Ends what is left of the last job.
    #[expect(clippy::unused_self, reason = "elsewhere they know the job")]
    pub fn end_rest(&mut self, signals: &OwnedFd) {
        // Nobody is left to end what this does not.
        let _ = (0..LAST_TRIES).find(|_| tree::end_all(signals, |_, _| {}).is_empty());
    }
}
