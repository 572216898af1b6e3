//! A run: lanes that take checks from one schedule until none is left or the user stops it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use super::life::{Half, Life};
use super::needs::{Fit, Programs, Unfit};
use super::records;
use super::schedule::{Schedule, Work};
use super::settle::Settler;
use super::slot::Slot;
use super::totals;
use crate::error::{Error, Result};
use crate::model::{CheckReport, Finding, Severity, Totals, Verdict};
use crate::plan::Plan;
use crate::platform::{self, LaneHandle};
use crate::probes;

/// Which sandboxes are left for somebody to look at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Keep {
    #[default]
    Never,
    /// Those of red checks.
    Failed,
    Always,
}

/// How a run is done.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many checks run at once; at least one.
    pub jobs: usize,
    pub keep: Keep,
    /// Whether warnings count as errors.
    pub strict: bool,
    /// Whether the reports of all checks are wanted in the end; else only of those that there is something to say of.
    pub whole: bool,
}

/// What is told while a run goes on, from several threads.
pub trait Observer: Sync {
    /// A check begins.
    fn check_started(&self, id: &str);
    /// A check is judged.
    fn check_ended(&self, report: &CheckReport);
}

/// What came of a run.
#[derive(Debug)]
pub struct Ran {
    /// In the order of the plan; those that were not reached are missing, and without [`Options::whole`] those that
    /// passed without a word.
    pub checks: Vec<CheckReport>,
    pub totals: Totals,
    pub interrupted: bool,
    /// The version of every program that a check needs; `None` for one that is missing or does not tell.
    pub programs: BTreeMap<String, Option<String>>,
    /// What setups left alive, and what the probes could not see, once for the whole run.
    pub findings: Vec<Finding>,
}

/// What the interrupt handler needs to reach.
#[derive(Default)]
struct Interrupt {
    stop: Arc<AtomicBool>,
    handles: Mutex<BTreeMap<usize, LaneHandle>>,
}

impl Interrupt {
    /// The first time: no more checks, and an end to those that run. The second time: this process ends at once, and
    /// the supervisors, who see that, end what is left.
    fn happen(&self) {
        if self.stop.swap(true, Ordering::SeqCst) {
            platform::exit_at_once();
        }
        for handle in self.handles.lock().unwrap_or_else(PoisonError::into_inner).values() {
            handle.cancel();
        }
    }

    /// Makes a lane one that is cancelled with the rest, also if that happened just now.
    fn register(&self, lane: usize, handle: LaneHandle) {
        let mut handles = self.handles.lock().unwrap_or_else(PoisonError::into_inner);
        if self.stop.load(Ordering::SeqCst) {
            handle.cancel();
        }
        handles.insert(lane, handle);
    }
}

/// Runs a plan to its end, or until the user stops it.
///
/// # Errors
///
/// If nothing can be supervised on this system.
pub fn run(plan: &Plan, options: &Options, observer: &dyn Observer) -> Result<Ran> {
    platform::prepare()?;
    let interrupt = Arc::<Interrupt>::default();
    {
        let interrupt = Arc::clone(&interrupt);
        platform::on_interrupt(move || interrupt.happen())
            .map_err(|error| Error::Unmeasured(format!("cannot watch for Ctrl-C: {error}")))?;
    }
    let register = |lane: usize, handle: LaneHandle| interrupt.register(lane, handle);

    let first = Slot::start(0, &register)?;

    let reports: Mutex<BTreeMap<usize, CheckReport>> = Mutex::default();
    let totals = Mutex::new(totals::of(plan.checks.len()));
    let tell = |index: usize, report: CheckReport| {
        observer.check_ended(&report);
        totals::add(&mut totals.lock().unwrap_or_else(PoisonError::into_inner), &report);
        if options.whole || report.verdict != Verdict::Passed || !report.findings.is_empty() {
            reports.lock().unwrap_or_else(PoisonError::into_inner).insert(index, report);
        }
    };
    let mut runnable = Vec::new();
    for (index, planned) in plan.checks.iter().enumerate() {
        match planned.skip.clone() {
            Some(why) => tell(index, records::not_run(&planned.check, Verdict::Skipped, why)),
            None => runnable.push(index),
        }
    }

    let lanes = options.jobs.clamp(1, runnable.len().max(1));
    let schedule = Schedule::new(plan, runnable, Arc::clone(&interrupt.stop));
    let life = Life::new(plan);
    let settler = Settler::new(options, Arc::clone(&interrupt.stop));
    let programs = Programs::default();
    // What setups left alive.
    let left: Mutex<Vec<Finding>> = Mutex::default();
    let work = |mut slot: Slot<'_>| {
        while let Some(work) = schedule.next() {
            match work {
                Work::Setup(setup) => {
                    let mut more = Vec::new();
                    let result = life.set_up(&plan.setups[setup], &mut slot, &mut more);
                    left.lock().unwrap_or_else(PoisonError::into_inner).extend(more);
                    schedule.setup_done(setup, result);
                }
                Work::Check(index, setup) => {
                    let planned = &plan.checks[index];
                    observer.check_started(&planned.check.id);
                    settler.lane_begins();
                    let check = &planned.check;
                    let fit = match setup {
                        Ok(()) => life.fit(check, &mut slot, &programs, &interrupt.stop),
                        Err(why) => Fit::Unfit(Unfit::Broken(why)),
                    };
                    let told = |report| Some(Half::Told(Box::new(report)));
                    let half = match fit {
                        Fit::Fits => Some(life.begin(index, &mut slot)),
                        Fit::Unfit(Unfit::Broken(why)) => told(records::not_run(check, Verdict::Broken, why)),
                        Fit::Unfit(Unfit::Skipped(why)) => told(records::not_run(check, Verdict::Skipped, why)),
                        Fit::Lost(error) => told(records::lost(check, Vec::new(), &error)),
                        Fit::NotReached => None,
                    };
                    if let Some(Half::Pending(pending)) = half {
                        settler.lane_ends(Some(*pending));
                        continue;
                    }
                    if let Some(Half::Told(report)) = half {
                        tell(index, *report);
                    }
                    schedule.check_done(index);
                    settler.lane_ends(None);
                }
            }
        }
    };
    // What a check left with strangers may live until it is settled: so long its locks are its own.
    let settled = |index: usize, report: CheckReport| {
        tell(index, report);
        schedule.check_done(index);
    };
    let unseen = std::thread::scope(|scope| {
        let settling = Builder::new()
            .spawn_scoped(scope, || settler.settle_all(settled))
            .map_err(|error| Error::Unmeasured(format!("cannot start a thread: {error}")))?;
        std::thread::scope(|scope| {
            for lane in 1..lanes {
                let register = &register;
                let work = &work;
                let lane = move || {
                    if let Ok(slot) = Slot::start(lane, register) {
                        work(slot);
                    }
                };
                // A lane that cannot be started leaves its work to the others; the first one stands.
                let _ = Builder::new().spawn_scoped(scope, lane);
            }
            work(first);
        });
        settler.close();
        settling.join().map_err(|_| Error::Unmeasured("the checks could not be settled".to_owned()))
    })?;
    // The last handles: with them the supervisors end.
    interrupt.handles.lock().unwrap_or_else(PoisonError::into_inner).clear();

    let checks = reports.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect();
    let mut findings = left.into_inner().unwrap_or_else(PoisonError::into_inner);
    if options.strict {
        for finding in &mut findings {
            finding.severity = Severity::Error;
        }
    }
    findings.extend(probes::unseen(&unseen.blind, &unseen.unread, options.strict));
    let totals = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Ran { checks, totals, interrupted: interrupt.stop.load(Ordering::SeqCst), programs: programs.told(), findings })
}
