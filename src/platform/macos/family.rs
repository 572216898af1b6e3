//! The processes of a job: known by descent, watched, read and ended.
//!
//! No system call answers "is anything left of this job". So each process that belongs is watched, and whatever one of
//! them does is answered with a look at the machine; what a look finds anew is watched, and then there is another look,
//! until one finds nothing new. What none of this sees is told in [`super`].

use std::collections::{HashMap, HashSet};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::super::unix::lineage::{Lineage, Seen};
use super::process::{self, Wanted};
use super::sys::{self, ProcArgsBuffer, Status};
use crate::model::{Process, ProcessRef};

/// How long a killed process may take to go before it counts as one that cannot be ended.
const PATIENCE: Duration = Duration::from_secs(5);
/// How soon who was killed is looked at again if nothing is told of its end.
const AGAIN: Duration = Duration::from_millis(20);
/// How many looks in a row may find something new: what multiplies faster is ended, not listed.
const LOOKS: usize = 16;
/// The most processes that are read at one moment: enough to name the culprits of a fork bomb.
const MOST: usize = 1000;

/// The processes of one job, or of a supervisor.
pub struct Family {
    lineage: Lineage,
    /// Who does not belong although all descend from it.
    above: Option<u64>,
    /// Those that lived at the last look, by their unique numbers.
    living: HashMap<u64, Seen>,
    /// When the others were first seen to be gone.
    ends: HashMap<u64, Instant>,
    /// Whose environment was read, by number and version: it only changes with a program.
    asked: HashSet<(u64, u32)>,
    /// Why the machine could not be looked at.
    pub blind: Option<String>,
}

impl Family {
    /// Of a job by its first process.
    pub fn of(first: &Seen) -> Self {
        Self::new(Lineage::of(first), None)
    }

    /// Of everything that a process has started, without itself.
    pub fn below(parent: &Seen) -> Self {
        Self::new(Lineage::below(parent), Some(parent.id))
    }

    fn new(lineage: Lineage, above: Option<u64>) -> Self {
        Self { lineage, above, living: HashMap::new(), ends: HashMap::new(), asked: HashSet::new(), blind: None }
    }

    /// Whether the last look has found nobody.
    pub fn is_empty(&self) -> bool {
        self.living.is_empty()
    }

    /// When a process was first seen to be gone.
    pub fn end_of(&self, id: u64) -> Option<Instant> {
        self.ends.get(&id).copied()
    }

    /// Looks at the machine until nobody new is found.
    pub fn look(&mut self, queue: &OwnedFd) {
        for _ in 0..LOOKS {
            let Some(look) = self.all() else { return };
            let members = self.lineage.take(&look);
            let living: HashMap<u64, Seen> = members
                .into_iter()
                .filter(|seen| self.above != Some(seen.id) && is_living(seen.pid))
                .map(|seen| (seen.id, seen))
                .collect();
            let new: Vec<u32> =
                living.values().filter(|seen| !self.living.contains_key(&seen.id)).map(|seen| seen.pid).collect();
            let now = Instant::now();
            for id in self.living.keys().filter(|id| !living.contains_key(id)) {
                self.ends.entry(*id).or_insert(now);
            }
            self.living = living;
            for &pid in &new {
                // Who can't be watched has ended; the next look finds what it has started.
                let _ = sys::watch(queue, pid);
            }
            if new.is_empty() {
                return;
            }
        }
    }

    /// The same, and takes in whoever carries the mark of one of the folders: it was started for the job by whatever way.
    pub fn look_for_marked(&mut self, queue: &OwnedFd, roots: &[PathBuf], room: &mut ProcArgsBuffer) {
        self.look(queue);
        let strangers = self.all().unwrap_or_default().into_iter().filter(|seen| self.lineage.may_have(seen));
        let strangers: Vec<Seen> = strangers.collect();
        let mut adopted = false;
        for seen in strangers {
            let asked = !self.asked.insert((seen.id, seen.version));
            if !asked && process::mark(seen.pid, room).is_some_and(|mark| roots.contains(&mark)) {
                self.lineage.adopt(&seen);
                adopted = true;
            }
        }
        if adopted {
            self.look(queue);
        }
    }

    fn all(&mut self) -> Option<Vec<Seen>> {
        match sys::pids() {
            Ok(pids) => {
                self.blind = None;
                Some(pids.into_iter().filter_map(|pid| sys::seen(pid).ok()).collect())
            }
            Err(error) => {
                self.blind = Some(format!("the check's processes: {error}"));
                None
            }
        }
    }

    /// Reads who lived at the last look, parents before their children, each with its unique number.
    pub fn read(&self, wanted: &Wanted<'_>, room: &mut ProcArgsBuffer) -> Vec<(u64, Process)> {
        let mut members: Vec<&Seen> = self.living.values().collect();
        members.sort_by_key(|seen| seen.id);
        let mut read: Vec<(u64, Process)> = Vec::new();
        for seen in members.into_iter().take(MOST) {
            let Some(mut process) = process::read(seen.pid, wanted, room) else { continue };
            let zombie = process.state.as_deref() == Some("zombie");
            // Another process may have the pid by now.
            if zombie || !is_still(seen) {
                continue;
            }
            process.parents = line(&read, seen);
            read.push((seen.id, process));
        }
        read
    }

    /// Ends all of it, again and again, until a look finds nobody or nothing helps. Tells each that is killed, and gives
    /// the pids of those that could not be ended.
    ///
    /// A pid is looked at directly before it is killed: of the same number another process may be by now.
    pub fn end(
        &mut self,
        queue: &OwnedFd,
        roots: &[PathBuf],
        room: &mut ProcArgsBuffer,
        mut each: impl FnMut(&Seen),
    ) -> Vec<u32> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            self.look_for_marked(queue, roots, room);
            if self.living.is_empty() {
                return Vec::new();
            }
            let mut members: Vec<Seen> = self.living.values().copied().collect();
            // The youngest first: of a chain whose links end when they have started the next, only the last is alive.
            members.sort_by_key(|seen| std::cmp::Reverse(seen.id));
            for seen in &members {
                if is_still(seen) && send(seen.pid, Signal::KILL) {
                    each(seen);
                }
            }
            if Instant::now() >= deadline {
                return members.into_iter().map(|seen| seen.pid).collect();
            }
            sys::wait(queue, AGAIN);
        }
    }
}

/// Those of what was read that a process descends from, from the nearest upwards.
fn line(read: &[(u64, Process)], seen: &Seen) -> Vec<ProcessRef> {
    let parent = read.iter().find(|(id, _)| *id == seen.parent_id);
    parent.map_or_else(Vec::new, |(_, parent)| {
        [parent.to_ref()].into_iter().chain(parent.parents.iter().cloned()).collect()
    })
}

fn is_living(pid: u32) -> bool {
    Status::of(pid).is_ok_and(|status| !status.dead)
}

/// Whether a pid is still that of the process that was seen.
pub fn is_still(seen: &Seen) -> bool {
    sys::seen(seen.pid).is_ok_and(|now| now.id == seen.id)
}

/// Sends a signal. `false` if that may not be done, or nobody is there.
pub fn send(pid: u32, signal: Signal) -> bool {
    Pid::from_raw(pid.cast_signed()).is_some_and(|pid| kill_process(pid, signal).is_ok())
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn an_orphan_in_a_session_of_its_own_is_found_and_ended() {
        let queue = sys::queue().expect("a queue");
        let me = sys::seen(std::process::id()).expect("this process");
        // A child that starts one in a session of its own, tells its pid, and ends.
        let script = "import os, sys\nif os.fork() == 0:\n os.setsid()\n print(os.getpid(), flush=True)\n \
                      os.execv('/bin/sleep', ['sleep', '50'])\nsys.stdin.read()";
        let mut child = Command::new("python3")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("python3");
        let first = sys::seen(child.id()).expect("the child");
        assert_eq!(first.parent_id, me.id);
        let mut family = Family::of(&first);
        let mut told = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().expect("piped"));
        std::io::BufRead::read_line(&mut output, &mut told).expect("a pid");
        let orphan: u32 = told.trim().parse().expect("a pid");
        family.look(&queue);
        drop(child.stdin.take());
        child.wait().expect("reaped");
        family.look(&queue);
        assert_eq!(family.living.values().map(|seen| seen.pid).collect::<Vec<_>>(), [orphan]);
        assert!(family.end_of(first.id).is_some());
        let mut killed = Vec::new();
        let left = family.end(&queue, &[], &mut ProcArgsBuffer::new(), |seen| killed.push(seen.pid));
        assert_eq!((left, killed.contains(&orphan)), (Vec::new(), true));
        assert!(family.is_empty());
    }
}
