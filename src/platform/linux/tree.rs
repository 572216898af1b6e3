//! The processes of a job: all descendants of the supervisor, read and ended.

use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use super::super::unix::waiting;
use super::procfs::{self, Wanted};
use super::signals::{self, Reaped};
use crate::model::{Exit, Process, ProcessRef};

/// How long a killed process may take to go before it counts as one that cannot be ended.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most processes that are read at one moment: enough to name the culprits of a fork bomb.
const MOST: usize = 1000;
/// The most dead children that are taken before the living are looked at.
const MOST_DEAD: usize = 10_000;
/// How long a walk may take: one that follows a chain of processes, each of which starts the next, would never end.
const WALK: Duration = Duration::from_millis(250);

/// Reads every living descendant of `root`, parents before their children. `left_out` and what is below them are not
/// descended into.
///
/// A walk is no snapshot: a process that moves while it is walked can be missed, so an empty answer proves nothing.
pub fn read(root: u32, wanted: &Wanted<'_>, left_out: &HashSet<u32>) -> Vec<Process> {
    let mut found: Vec<Process> = Vec::new();
    let mut seen = HashSet::new();
    let mut open: Vec<(u32, Vec<ProcessRef>)> = vec![(root, Vec::new())];
    let deadline = Instant::now() + WALK;
    while let Some((parent, line)) = open.pop() {
        for pid in children(parent) {
            if found.len() >= MOST || Instant::now() >= deadline || left_out.contains(&pid) || !seen.insert(pid) {
                continue;
            }
            let Some(mut process) = procfs::read(pid, wanted) else { continue };
            // What is dead has no children.
            if process.state.as_deref() == Some("zombie") {
                continue;
            }
            process.parents.clone_from(&line);
            let mut below = vec![process.to_ref()];
            below.extend(line.iter().cloned());
            open.push((pid, below));
            found.push(process);
        }
    }
    found
}

/// The direct children of a process. Empty if it is gone.
pub fn children(pid: u32) -> Vec<u32> {
    match procfs::children(pid) {
        Ok(children) => children,
        // A system without that file (gVisor): look at every process there is.
        Err(error) if error.kind() == io::ErrorKind::NotFound => procfs::all()
            .unwrap_or_default()
            .into_iter()
            .filter(|&other| procfs::stat(other).is_ok_and(|stat| stat.parent == pid))
            .collect(),
        Err(_) => Vec::new(),
    }
}

/// Ends and reaps all children of this process until the system says that there are none. Returns the pids that could
/// not be ended.
///
/// Only direct children are killed: a child's pid can't be used again before it is reaped, so no stranger is hit, and a
/// dead child's own children arrive as new ones.
pub fn end_all(signals: &OwnedFd, mut reaped: impl FnMut(u32, Exit)) -> Vec<u32> {
    let me = std::process::id();
    let deadline = Instant::now() + PATIENCE;
    loop {
        // The dead first: the list then has hardly more than the living, and is still true when they are killed. They
        // can come faster than they are taken.
        let mut took = 0;
        while took < MOST_DEAD {
            match signals::reap() {
                Reaped::Child(pid, exit) => reaped(pid, exit),
                Reaped::Empty => return Vec::new(),
                Reaped::NoneYet => break,
            }
            took += 1;
        }
        let children = children(me);
        // The youngest first: of a chain whose links end when they have started the next, only the last is alive.
        for &pid in children.iter().rev() {
            // A refusal shows in what is left at the deadline.
            let _ = signals::kill(pid);
        }
        if Instant::now() >= deadline {
            return children;
        }
        if took == 0 {
            // A death announces itself; the limit is for a child that was started without an announcement.
            waiting::wait_readable(signals, Duration::from_millis(20));
            signals::drain(signals);
        }
    }
}

/// The processes outside this one's tree that have one of the wanted pipes open.
pub fn outsiders(wanted: &Wanted<'_>, blind: &mut Vec<String>) -> Vec<Process> {
    let me = std::process::id();
    let all = match procfs::all() {
        Ok(all) => all,
        Err(error) => {
            blind.push(format!("who holds the check's output: /proc: {error}"));
            return Vec::new();
        }
    };
    all.into_iter()
        .filter(|&pid| pid != me && procfs::holds_pipe(pid, &wanted.pipes.map(|(inode, _)| inode)))
        .filter_map(|pid| procfs::read(pid, wanted))
        .collect()
}
