//! A lane: it needs no process of its own here, since a job object ends with its last handle, and so with the harness.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use super::super::{Ended, Job, Lane, LaneError, Outcome};
use super::janitor;
use super::lane_folder::LaneFolder;
use super::port::Port;
use super::running::{Run, WAKE};
use crate::error::{Error, Result};

/// Makes this process one that lanes can be started from: whatever ends it, their folders go.
///
/// # Errors
///
/// If the process that sees to that can't be started.
pub fn prepare() -> Result<()> {
    janitor::start().map_err(|error| Error::Unmeasured(format!("cannot start the process that cleans up: {error}")))
}

/// Starts a lane.
///
/// # Errors
///
/// If it can't work here; with the system's reason.
pub fn start_lane() -> Result<Box<dyn Lane>> {
    let failed = |error: io::Error| Error::Unmeasured(format!("cannot supervise here: {error}"));
    let port = Arc::new(Port::new().map_err(failed)?);
    let folder = LaneFolder::create().map_err(failed)?;
    janitor::remember(folder.path());
    let shared = Shared { port, folder: Some(folder), cancelled: AtomicBool::new(false), keep: AtomicBool::new(false) };
    Ok(Box::new(WindowsLane { shared: Arc::new(shared), generation: 0 }))
}

/// A lane's folder, and a way to end its job. The last handle's end is the folder's.
#[derive(Clone)]
pub struct LaneHandle(Arc<Shared>);

impl LaneHandle {
    /// Ends the lane's current job, and any later one at its start. A lane that is gone needs no end.
    pub fn cancel(&self) {
        self.0.cancelled.store(true, Ordering::SeqCst);
        self.0.port.post(WAKE);
    }

    /// Leaves the lane's folder, with what is in it then, in place when the lane ends.
    pub fn keep_folder(&self) {
        self.0.keep.store(true, Ordering::SeqCst);
        if let Some(folder) = &self.0.folder {
            janitor::forget(folder.path());
        }
    }
}

struct Shared {
    port: Arc<Port>,
    /// There until the end.
    folder: Option<LaneFolder>,
    cancelled: AtomicBool,
    keep: AtomicBool,
}

impl Drop for Shared {
    fn drop(&mut self) {
        let Some(folder) = self.folder.take() else { return };
        if self.keep.load(Ordering::SeqCst) {
            return folder.leave();
        }
        let path = folder.path().to_owned();
        // What resists now may not a little later: the janitor has more patience.
        if folder.remove() {
            janitor::forget(&path);
        }
    }
}

struct WindowsLane {
    shared: Arc<Shared>,
    /// How many jobs it has run.
    generation: usize,
}

impl Lane for WindowsLane {
    fn folder(&self) -> &Path {
        self.shared.folder.as_ref().map_or(Path::new(""), LaneFolder::path)
    }

    fn run(&mut self, job: &Job) -> std::result::Result<Outcome, LaneError> {
        self.generation += 1;
        let mut run = match Run::start(job, &self.shared.port, self.generation) {
            Ok(run) => run,
            Err(error) => return Ok(Outcome::of_nothing(error)),
        };
        let ended = loop {
            let now = Instant::now();
            let (limit, overdue) = run.limit(job);
            if run.is_over() {
                break Ended::ByItself;
            }
            if self.shared.cancelled.load(Ordering::SeqCst) {
                break Ended::Cancelled;
            }
            if now >= limit {
                break overdue;
            }
            let next = run.look_at_lasting(job).map_or(limit, |at| limit.min(at));
            run.wait(next.saturating_duration_since(now));
        };
        Ok(run.finish(ended))
    }

    fn handle(&self) -> LaneHandle {
        LaneHandle(Arc::clone(&self.shared))
    }
}
