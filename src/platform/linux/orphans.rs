//! What the harness knows of its supervisors, and what it does if one of them dies: the orphans come to it.

use std::collections::HashSet;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::super::Job;
use super::procfs::{self, Wanted};
use super::sockets::Bound;
use super::{signals, tree};
use crate::error::{Error, Result};
use crate::model::Process;

/// How long killed orphans may take to go.
const PATIENCE: Duration = Duration::from_secs(5);

/// Makes this process one that orphans of a supervisor that died come to. Gives the children that it has already.
///
/// # Errors
///
/// If the system refuses.
pub fn prepare() -> Result<Vec<u32>> {
    let children = own_children();
    signals::become_subreaper().map_err(|error| Error::Unmeasured(format!("cannot adopt orphans: {error}")))?;
    Ok(children)
}

/// The children of this process.
fn own_children() -> Vec<u32> {
    tree::children(std::process::id())
}

/// The file to start a supervisor from: a link that stays right when the program was replaced by an update meanwhile.
///
/// # Errors
///
/// Never.
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub fn own_program() -> io::Result<PathBuf> {
    Ok(PathBuf::from("/proc/self/exe"))
}

/// Lets a child of this process go on if somebody has stopped it.
pub fn wake_if_stopped(pid: u32) {
    if procfs::stat(pid).is_ok_and(|stat| stat.state == 'T') {
        let _ = signals::wake(pid);
    }
}

/// By what the processes of a supervisor are known when it is gone: they are children of this process then.
pub struct Origin;

impl Origin {
    /// Of a supervisor.
    pub fn of(_supervisor: u32) -> Self {
        Self
    }

    /// After the supervisor's end: ends the orphans that came to this process, and tells what they were. `others` are the
    /// children that are no orphans: supervisors, whose lock the caller holds, and what was a child before there were any.
    #[expect(clippy::unused_self, reason = "elsewhere it has to know the supervisor")]
    pub fn end_rest(&self, job: &Job, others: &HashSet<u32>) -> Vec<Process> {
        // Two supervisors may have been lost at once: what carries another check's mark is another lane's to end.
        let is_ours = |pid: u32| procfs::mark(pid).is_none_or(|mark| job.roots.contains(&mark));
        let mut left_out = others.clone();
        left_out.extend(own_children().into_iter().filter(|pid| !is_ours(*pid)));
        let alive = tree::read(std::process::id(), &Wanted::in_roots(&job.roots, &Bound::new()), &left_out);
        end_all_but(&left_out);
        alive
    }
}

/// Ends every child of this process but those that are left out.
///
/// While lanes are at work, this process starts nothing but supervisors: every other child is an orphan.
fn end_all_but(left_out: &HashSet<u32>) {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let orphans: Vec<u32> = own_children().into_iter().filter(|pid| !left_out.contains(pid)).collect();
        if orphans.is_empty() {
            return;
        }
        for &pid in &orphans {
            let _ = signals::kill(pid);
        }
        if !orphans.into_iter().any(signals::reap_one) {
            // None is dead yet, and a process with threads of its own has no safe way to wait for any of many.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
