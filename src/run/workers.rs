//! A run: lanes that take checks from one schedule until none is left or the user stops it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Builder;

use serde::{Deserialize, Serialize};

use super::beside::{self, Beside};
use super::groups::Groups;
use super::life::{Half, Life};
use super::names::Tracked;
use super::needs::{Fit, Programs, Unfit};
use super::records;
use super::reports::Reports;
use super::residue::Project;
use super::rounds::{Next, Rounds};
use super::schedule::{Schedule, SetupResult, Work};
use super::settle::Settler;
use super::slot::Slot;
use crate::error::{Error, Result};
use crate::model::{CheckReport, Finding, Severity, Stop, Totals, Verdict};
use crate::plan::{Plan, Planned};
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

/// How far a run goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Until {
    /// Every check has run.
    #[default]
    AllRan,
    /// The first red check is the last that is started.
    FirstRed,
    /// Every check runs again and again, until one is red.
    OneFails,
}

/// How a run is done.
#[derive(Debug, Clone)]
pub struct Options {
    /// How many checks run at once; at least one.
    pub jobs: usize,
    pub keep: Keep,
    /// Whether warnings count as errors.
    pub strict: bool,
    pub until: Until,
    /// Whether what a check surely left in a watched place is removed.
    pub remove_residue: bool,
    /// Whether the reports of all checks are wanted in the end; else only of those that there is something to say of.
    pub whole: bool,
    /// How long checks took when they were last run, in milliseconds, by id: with several lanes, the longest start first.
    pub took: BTreeMap<String, u64>,
}

/// What is told while a run goes on, from several threads.
pub trait Observer: Sync {
    /// A check begins.
    fn check_started(&self, id: &str);
    /// A check is judged.
    fn check_ended(&self, report: &CheckReport);
}

/// What came of a run.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ran {
    /// In the order of the plan; those that were not reached are missing, and without [`Options::whole`] those that
    /// passed without a word. They are not written with the rest: the observer was told each of them.
    #[serde(skip)]
    pub checks: Reports,
    pub totals: Totals,
    /// Why not every check was started.
    pub stopped: Option<Stop>,
    /// The ids of those, in the order of the plan.
    pub not_run: Vec<String>,
    /// The version of every program that a check needs; `None` for one that is missing or does not tell.
    pub programs: BTreeMap<String, Option<String>>,
    /// What setups left alive, and what the probes could not see, once for the whole run.
    pub findings: Vec<Finding>,
    /// How long each check took that was started, in milliseconds, by id.
    pub took: BTreeMap<String, u64>,
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

    let checks = Reports::default();
    let totals = Mutex::new(Totals::planned(plan.checks.len()));
    let told: Mutex<BTreeSet<usize>> = Mutex::default();
    let took: Mutex<BTreeMap<String, u64>> = Mutex::default();
    let note = |index: usize, report: CheckReport| {
        observer.check_ended(&report);
        told.lock().unwrap_or_else(PoisonError::into_inner).insert(index);
        totals.lock().unwrap_or_else(PoisonError::into_inner).add(&report);
        if report.started.is_some() {
            let mut took = took.lock().unwrap_or_else(PoisonError::into_inner);
            let runs = report.runs.as_ref().map_or(1, |runs| runs.count);
            took.insert(report.id.clone(), report.duration_ms.saturating_mul(runs));
        }
        if options.whole || report.is_worth_a_word() {
            checks.put(index, report);
        }
    };
    let groups = Groups::of(plan);
    let judged = |index: usize, report: CheckReport| groups.take(index, report, note);
    let mut runnable = Vec::new();
    for (index, planned) in plan.checks.iter().enumerate() {
        match planned.skip.clone() {
            Some(why) => judged(index, records::not_run(&planned.check(), Verdict::Skipped, why.to_string())),
            None => runnable.push(index),
        }
    }

    let lanes = options.jobs.clamp(1, runnable.len().max(1));
    if lanes > 1 {
        // What takes longest is not to be what the others wait for in the end. Of what is not known, anything can be true.
        let took = |index: &usize| options.took.get(plan.checks[*index].id()).copied().unwrap_or(u64::MAX);
        runnable.sort_by_key(|index| Reverse(took(index)));
    }
    let rounds = Rounds::new(plan, options.until == Until::OneFails, Arc::clone(&interrupt.stop));
    let beside = Beside::default();
    let may_meet = |index: usize| lanes > 1 && plan.checks[index].beside;
    let returning = runnable.iter().copied().filter(|&index| rounds.may_return(index) || may_meet(index)).collect();
    let ends_early = options.until != Until::AllRan;
    let schedule = Schedule::new(plan, runnable, Arc::clone(&interrupt.stop), ends_early).returning(returning);
    let read_back = |index: usize, report: io::Result<CheckReport>| {
        report.unwrap_or_else(|error| records::lost_again(&plan.checks[index].check(), &error))
    };
    // What a check left with strangers may live until it is settled: so long its locks are its own.
    let settled = |index: usize, report: CheckReport| {
        let variant = &plan.checks[index].variant;
        let Some(report) = beside.take(index, variant, report, schedule.was_accompanied(index)) else {
            return schedule.again(index, true);
        };
        let report = read_back(index, report);
        let report = match rounds.take(index, report) {
            Next::Again => return schedule.again(index, false),
            Next::Done(report) => *report,
        };
        let verdict = if report.verdict.is_red() { Err(as_it_is(&report)) } else { Ok(()) };
        judged(index, report);
        schedule.judged(index, verdict);
        schedule.check_done(index);
    };
    let project = Project::of(plan);
    let life = Life::new(plan, &project, options, Arc::clone(&interrupt.stop));
    let tracked = Tracked::of(plan);
    let settler = Settler::new(options, &tracked, &project, Arc::clone(&interrupt.stop));
    let programs = Programs::default();
    // What setups left alive.
    let left: Mutex<Vec<Finding>> = Mutex::default();
    // Begins a check as far as it need not be started; `Err` is where that ends.
    let fit = |index: usize, setup: SetupResult, slot: &mut Slot<'_>| {
        let check = &plan.checks[index].check();
        observer.check_started(&check.id);
        settler.lane_begins();
        let fit = match setup {
            Ok(()) => life.fit(check, slot, &programs, &interrupt.stop),
            Err(why) => Fit::Unfit(Unfit::Broken(why)),
        };
        let told = |report| Err(Some(Half::Told(Box::new(report))));
        match fit {
            Fit::Fits => Ok(()),
            Fit::Unfit(Unfit::Broken(why)) => told(records::not_run(check, Verdict::Broken, why)),
            Fit::Unfit(Unfit::Skipped(why)) => told(records::not_run(check, Verdict::Skipped, why)),
            Fit::Lost(error) => told(records::lost(check, Vec::new(), &error)),
            Fit::NotReached => Err(None),
        }
    };
    // Hands over what there is of a check; says whether its verdict is yet to come.
    let conclude = |index: usize, half| match half {
        Some(Half::Pending(pending)) => {
            schedule.ended(index);
            settler.lane_ends(Some(*pending));
            true
        }
        Some(Half::Told(report)) => {
            settled(index, *report);
            settler.lane_ends(None);
            false
        }
        None => {
            schedule.check_done(index);
            settler.lane_ends(None);
            false
        }
    };
    let work = |mut slot: Slot<'_>| {
        while let Some(work) = schedule.next() {
            match work {
                Work::Setup(setup) => {
                    let mut more = Vec::new();
                    project.begins(None);
                    let result = life.set_up(&plan.setups[setup], &mut slot, &mut more);
                    project.ends(None);
                    left.lock().unwrap_or_else(PoisonError::into_inner).extend(more);
                    schedule.setup_done(setup, result);
                }
                Work::Check(index, setup) => {
                    match beside.next(index, |index| &plan.checks[index].variant) {
                        beside::Next::Run => {}
                        beside::Next::Wait => {
                            schedule.again(index, true);
                            continue;
                        }
                        beside::Next::Told(report) => {
                            settled(index, read_back(index, report.map(|report| *report)));
                            continue;
                        }
                    }
                    let half = match fit(index, setup, &mut slot) {
                        Ok(()) => Some(life.begin(index, &mut slot, None)),
                        Err(half) => half,
                    };
                    if conclude(index, half) {
                        schedule.wait_for_verdict(index);
                    }
                }
                Work::Together(copies, setup) => {
                    let (mut halves, mut ready) = (Vec::new(), Vec::new());
                    for index in copies {
                        match fit(index, setup.clone(), &mut slot) {
                            Ok(()) => ready.push(index),
                            Err(half) => halves.push((index, half)),
                        }
                    }
                    halves.extend(
                        life.begin_together(&ready, &mut slot).into_iter().map(|(index, half)| (index, Some(half))),
                    );
                    let pending: Vec<usize> =
                        halves.into_iter().filter_map(|(index, half)| conclude(index, half).then_some(index)).collect();
                    for index in pending {
                        schedule.wait_for_verdict(index);
                    }
                }
            }
        }
    };
    let unseen = std::thread::scope(|scope| {
        let settling = Builder::new()
            .spawn_scoped(scope, || {
                // Whatever ends it, nobody waits for a verdict of it any longer.
                let _closed = Closed(&schedule);
                settler.settle_all(settled)
            })
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

    beside.rest().for_each(|(index, report)| judged(index, read_back(index, report)));
    rounds.rest().into_iter().for_each(|(index, report)| judged(index, report));
    groups.rest(note);

    let mut findings = left.into_inner().unwrap_or_else(PoisonError::into_inner);
    if options.strict {
        for finding in &mut findings {
            finding.severity = Severity::Error;
        }
    }
    findings.extend(probes::unseen(&unseen.blind, &unseen.unread, options.strict));
    findings.extend(tracked.of_the_run(options.strict));
    findings.extend(project.of_the_run(options.strict));
    let totals = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
    let took = took.into_inner().unwrap_or_else(PoisonError::into_inner);
    let told = told.into_inner().unwrap_or_else(PoisonError::into_inner);
    let ids = plan.checks.iter().map(Planned::id).enumerate();
    let not_run: Vec<String> = ids.filter(|(index, _)| !told.contains(index)).map(|(_, id)| id.to_owned()).collect();
    let stopped = if interrupt.stop.load(Ordering::SeqCst) {
        Some(Stop::Interrupted)
    } else {
        let why = if options.until == Until::OneFails { Stop::UntilFail } else { Stop::FailFast };
        (ends_early && !not_run.is_empty()).then_some(why)
    };
    Ok(Ran { checks, totals, stopped, not_run, programs: programs.told(), findings, took })
}

/// Why nothing is shown by an edit of a check that is red without it.
fn as_it_is(report: &CheckReport) -> String {
    let why = report.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    format!("without an edit, in a copy of the project, it is {} already ({}){why}", report.verdict.name(), report.id)
}

struct Closed<'a, 'b>(&'a Schedule<'b>);

impl Drop for Closed<'_, '_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
