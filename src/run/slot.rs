//! A lane's place in a run.

use std::sync::Arc;

use super::encoding::as_utf8;
use super::sandbox::{Sandbox, Spare};
use crate::error::{Error, Result};
use crate::platform::{self, Job, Lane, LaneError, LaneHandle, Outcome};

/// Makes a new lane one that is ended when the run is.
pub type Register<'a> = &'a (dyn Fn(usize, LaneHandle) + Sync);

/// A supervisor, replaced when it was lost.
pub struct Slot<'a> {
    number: usize,
    register: Register<'a>,
    lane: Option<Box<dyn Lane>>,
    /// Whether the supervisor was lost, or strangers stayed in its tree: the next job needs another one.
    spent: bool,
    spare: Arc<Spare>,
    /// For jobs that run beside the slot's own.
    beside: Vec<Slot<'a>>,
}

/// Numbers of lanes from here on are those of lanes beside others.
const BESIDE: usize = 1 << 16;

impl<'a> Slot<'a> {
    /// Starts a supervisor.
    ///
    /// # Errors
    ///
    /// If it can't be started.
    pub fn start(number: usize, register: Register<'a>) -> Result<Self> {
        let mut slot = Self { number, register, lane: None, spent: false, spare: Arc::default(), beside: Vec::new() };
        slot.renew()?;
        Ok(slot)
    }

    fn renew(&mut self) -> Result<()> {
        // The old one's folder goes when the last check in it is settled.
        self.lane = None;
        let lane = platform::start_lane()?;
        (self.register)(self.number, lane.handle());
        self.lane = Some(lane);
        self.spent = false;
        self.spare = Arc::default();
        Ok(())
    }

    /// Makes a sandbox in the lane's folder; a lane that was spent is replaced first.
    ///
    /// # Errors
    ///
    /// A sentence that says what is in the way.
    pub fn sandbox(&mut self) -> std::result::Result<Sandbox, String> {
        if self.lane.is_none() || self.spent {
            self.renew().map_err(|error| error.to_string())?;
        }
        let in_words = |error: std::io::Error| format!("no sandbox can be made: {error}");
        self.new_sandbox().or_else(|error| {
            // A check can have taken the lane's folder away from those that come after it.
            self.renew().map_err(|_| in_words(error))?;
            self.new_sandbox().map_err(in_words)
        })
    }

    fn new_sandbox(&self) -> std::io::Result<Sandbox> {
        let folder = self.lane.as_ref().map(|lane| lane.folder().to_owned()).unwrap_or_default();
        self.spare.take(&folder)
    }

    /// Runs a job in the lane. What it wrote comes as UTF-8, as far as it tells what it is.
    ///
    /// # Errors
    ///
    /// If the lane was lost.
    pub fn run(&mut self, job: &Job) -> std::result::Result<Outcome, LaneError> {
        let Some(lane) = &mut self.lane else {
            return Err(LaneError::Died { how: "it could not be started".to_owned(), alive: Vec::new() });
        };
        let result = lane.run(job).map(|outcome| Outcome {
            stdout: as_utf8(outcome.stdout, &job.spill),
            stderr: as_utf8(outcome.stderr, &job.spill),
            ..outcome
        });
        if result.as_ref().map_or(true, |outcome| !outcome.survivors.is_empty()) {
            self.spent = true;
        }
        result
    }

    /// Runs jobs at once, the first in the slot's own lane and each of the others in one beside it. All of them may be about
    /// a sandbox of this slot's.
    pub fn run_all(&mut self, jobs: &[Job]) -> Vec<std::result::Result<Outcome, LaneError>> {
        match self.at_once(jobs, Slot::run) {
            Ok(outcomes) => outcomes.into_iter().map(Result::flatten).collect(),
            Err(error) => vec![Err(error)],
        }
    }

    /// Does the same with several things at once: with the first in the slot's own lane, and with each of the others in one
    /// beside it. An error stands for one whose lane was lost.
    ///
    /// # Errors
    ///
    /// If there are too few lanes; then nothing was done.
    pub fn at_once<T: Sync, R: Send>(
        &mut self,
        things: &[T],
        act: impl Fn(&mut Slot<'a>, &T) -> R + Sync,
    ) -> std::result::Result<Vec<std::result::Result<R, LaneError>>, LaneError> {
        let Some((first, others)) = things.split_first() else { return Ok(Vec::new()) };
        while self.beside.len() < others.len() {
            let number = BESIDE * (self.beside.len() + 1) + self.number;
            self.beside.push(Slot::start(number, self.register).map_err(|error| no_lane(&error))?);
        }
        let mut beside = std::mem::take(&mut self.beside);
        let act = &act;
        let done = std::thread::scope(|scope| {
            let one = |(slot, thing): (&'_ mut Slot<'a>, &'_ T)| slot.renewed().map(|slot| act(slot, thing));
            let threads: Vec<_> = beside.iter_mut().zip(others).map(|pair| scope.spawn(move || one(pair))).collect();
            let lost = || Err(LaneError::Died { how: "its thread ended".to_owned(), alive: Vec::new() });
            let mut done = vec![Ok(act(self, first))];
            done.extend(threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())));
            done
        });
        self.beside = beside;
        Ok(done)
    }

    /// This slot with a lane that can run something.
    fn renewed(&mut self) -> std::result::Result<&mut Self, LaneError> {
        if self.lane.is_none() || self.spent {
            self.renew().map_err(|error| no_lane(&error))?;
        }
        Ok(self)
    }

    /// Where untouched sandboxes of the current lane go.
    pub fn spare(&self) -> Arc<Spare> {
        Arc::clone(&self.spare)
    }

    /// What keeps the lane's folder in place; `None` without a lane.
    pub fn handle(&self) -> Option<LaneHandle> {
        self.lane.as_ref().map(|lane| lane.handle())
    }
}

fn no_lane(error: &Error) -> LaneError {
    LaneError::Died { how: error.to_string(), alive: Vec::new() }
}
