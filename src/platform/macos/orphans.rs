//! What the harness knows of its supervisors, and what it does if one of them dies.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use rustix::process::Signal;

use super::super::Job;
use super::super::unix::lineage::Seen;
use super::family::{self, Family};
use super::process::Wanted;
use super::sys::{self, ProcArgsBuffer, Status};
use crate::error::Result;
use crate::model::Process;

/// This program's file.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Remembers where this program is, while it surely is what runs. No child is ever taken for an orphan here, so none has
/// to be remembered.
///
/// # Errors
///
/// Never.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub fn prepare() -> Result<Vec<u32>> {
    // What keeps it from being known is told when it is needed.
    let _ = own_program();
    Ok(Vec::new())
}

/// The file to start a supervisor from. This system has no name for a running program but its path: if an update has
/// replaced the file meanwhile, the supervisor is of the new version.
///
/// # Errors
///
/// If the path can't be told.
pub fn own_program() -> io::Result<PathBuf> {
    if let Some(program) = PROGRAM.get() {
        return Ok(program.clone());
    }
    let program = std::env::current_exe()?;
    Ok(PROGRAM.get_or_init(|| program).clone())
}

/// Lets a child of this process go on if somebody has stopped it.
pub fn wake_if_stopped(pid: u32) {
    if Status::of(pid).is_ok_and(|status| status.stopped) {
        family::send(pid, Signal::CONT);
    }
}

/// By what the processes of a supervisor are known when it is gone: they descend from it. `None` if it was gone at once.
pub struct Origin(Option<Seen>);

impl Origin {
    /// Of a supervisor that was just started.
    pub fn of(supervisor: u32) -> Self {
        Self(sys::seen(supervisor).ok())
    }

    /// After the supervisor's end: ends what it has left, and tells what that was.
    ///
    /// What descends from it by processes that are gone is found by the mark in its environment only, since the supervisor
    /// alone knew them.
    pub fn end_rest(&self, job: &Job, _others: &HashSet<u32>) -> Vec<Process> {
        let (Some(supervisor), Ok(queue)) = (&self.0, sys::queue()) else { return Vec::new() };
        let mut room = ProcArgsBuffer::new();
        let mut family = Family::below(supervisor);
        family.look_for_marked(&queue, &job.roots, &mut room);
        let alive = family.read(&Wanted::in_roots(&job.roots, true), &mut room);
        family.end(&queue, &job.roots, &mut room, |_| {});
        alive.into_iter().map(|(_, process)| process).collect()
    }
}
