//! After a removal, the look at the rest of the machine: who outside the job's tree held what was removed?
//!
//! It costs time that the job could use, and the supervisor has one thread and a job to serve. So a look is done in
//! slices, and looks take a tenth of a supervisor's time at most, over all of its jobs.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use super::super::Unread;
use super::holders;
use super::procfs::{self, Credentials, Wanted};
use super::scan::{Concern, Scan, Scope};
use super::sockets::Bound;
use crate::model::Process;

/// How many times a look's duration is left to the job after it.
const PAUSE: u32 = 9;
/// Where every removal is asked about first, the job waits for the look, and the answer has seen most of what there is.
const LONG_PAUSE: u32 = 49;
/// How long a slice takes.
const SLICE: Duration = Duration::from_millis(1);
/// How long the end of a job may be kept by the look that is due then.
const LAST: Duration = Duration::from_millis(250);

/// When there may be another look.
pub struct Budget {
    not_before: Instant,
}

impl Budget {
    /// Nothing was spent yet.
    pub fn new() -> Self {
        Self { not_before: Instant::now() }
    }
}

/// The processes outside the job's tree.
pub struct Bystanders<'a> {
    budget: &'a mut Budget,
    root: [PathBuf; 1],
    /// After a look, so many times its duration is left to the job.
    pause: u32,
    /// Something was removed since the last look began.
    pub due: bool,
    look: Option<Look>,
    /// Those that could not be looked into.
    pub unread: Vec<Unread>,
    /// Why there was no look.
    pub blind: Option<String>,
}

/// A look that is under way.
struct Look {
    scan: Scan,
    /// Who is still to be looked at, the youngest last.
    pids: Vec<u32>,
    mine: Option<Credentials>,
    cost: Duration,
}

impl<'a> Bystanders<'a> {
    /// Of a job whose sandbox is in this folder.
    pub fn of(budget: &'a mut Budget, root: &Path) -> Self {
        Self { budget, root: [root.to_owned()], pause: PAUSE, due: false, look: None, unread: Vec::new(), blind: None }
    }

    /// Looks less often, since each removal is asked about.
    pub fn look_rarely(&mut self) {
        self.pause = LONG_PAUSE;
    }

    /// When to go on with a look, or to begin one.
    pub fn look_at(&self) -> Option<Instant> {
        if self.look.is_some() { Some(Instant::now()) } else { self.due.then_some(self.budget.not_before) }
    }

    /// Looks for the time of a slice. Gives those that hold something in the folder; start times are after the job's.
    pub fn look(&mut self, started_ms: u64) -> Vec<Process> {
        let began = spent();
        let Some(mut look) = self.look.take().or_else(|| self.begin()) else { return Vec::new() };
        let sockets = Bound::new();
        let wanted = Wanted { started_ms, ..Wanted::in_roots(&self.root, &sockets) };
        let supervisor = std::process::id();
        let mut found = Vec::new();
        // What is youngest was most likely started for the job, and is soonest gone.
        while let Some(pid) = look.pids.pop() {
            let concern = look.scan.concerns(pid);
            // The tree is looked at by itself.
            if concern != Concern::None && !procfs::descends(pid, supervisor) {
                if concern == Concern::Some {
                    found.extend(procfs::read(pid, &wanted).map(|process| {
                        let parents = procfs::ancestors(pid);
                        Process { parents, ..process }
                    }));
                } else {
                    let known = self.unread.iter().any(|known| known.pid == pid);
                    let unread = (!known).then(|| holders::unread(pid, look.mine.as_ref())).flatten();
                    self.unread.extend(unread.filter(|unread| !unread.privileged));
                }
            }
            if spent().saturating_sub(began) >= SLICE {
                break;
            }
        }
        look.cost += spent().saturating_sub(began);
        if look.pids.is_empty() {
            self.budget.not_before = Instant::now() + look.cost * self.pause;
        } else {
            self.look = Some(look);
        }
        found
    }

    /// Looks to the end where a look is under way, or is due and may be: the job is over. What may not be now is left to
    /// the look that every job gets after its end.
    pub fn look_last(&mut self, started_ms: u64) -> Vec<Process> {
        let began = Instant::now();
        let mut found = Vec::new();
        if self.look_at().is_none_or(|at| at > began) {
            return found;
        }
        loop {
            found.extend(self.look(started_ms));
            if self.look.is_none() || began.elapsed() >= LAST {
                return found;
            }
        }
    }

    fn begin(&mut self) -> Option<Look> {
        self.due = false;
        let (supervisor, harness) =
            (std::process::id(), rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get()));
        let scope = Scope { sandboxes: false, mappings: true };
        let new = || {
            // Sockets are left out: to ask for them costs more than all the rest.
            let mut scan = Scan::new(&self.root, HashSet::new(), scope)?;
            let pids = scan.pids()?;
            Ok((scan, pids))
        };
        match new() {
            Ok((scan, mut pids)) => {
                pids.retain(|&pid| pid != supervisor && Some(pid.cast_signed()) != harness);
                Some(Look { scan, pids, mine: Credentials::of(supervisor), cost: Duration::ZERO })
            }
            Err::<_, rustix::io::Errno>(error) => {
                self.blind.get_or_insert_with(|| format!("strangers at removals: /proc: {}", io::Error::from(error)));
                None
            }
        }
    }
}

/// How much of the processor this process has used: what a look costs, however long others keep it waiting.
fn spent() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ProcessCPUTime)).unwrap_or_default()
}
