//! Checks that run more than once, one run after the other: what comes after each run, and one report for all of them.
//!
//! Of the runs of a check two reports are kept, that of its first green and that of its first red one, and a few words on
//! each way in which it failed, however often it runs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::carried;
use super::ways::{Way, failed_case};
use crate::model::{Check, CheckReport, Finding, FlakyIs, Kind, RedRuns, Runs, Severity, Verdict};
use crate::plan::{Plan, Tooth};
use crate::words::quoted;

/// How many ways to fail are told of.
const OUTCOMES: usize = 8;

/// What follows a run of a check.
pub enum Next {
    /// Another one.
    Again,
    /// Nothing: this is its report.
    Done(Box<CheckReport>),
}

/// The checks of a run that are between two of their runs.
pub struct Rounds<'a> {
    plan: &'a Plan,
    /// Whether every check runs until it is red.
    until_fail: bool,
    /// Set once the run was stopped.
    stop: Arc<AtomicBool>,
    tallies: Mutex<BTreeMap<usize, Tally>>,
}

impl<'a> Rounds<'a> {
    /// Nothing has run yet.
    #[must_use]
    pub fn new(plan: &'a Plan, until_fail: bool, stop: Arc<AtomicBool>) -> Self {
        Self { plan, until_fail, stop, tallies: Mutex::default() }
    }

    /// Whether a check may run again once it ran.
    #[must_use]
    pub fn may_return(&self, index: usize) -> bool {
        let check = &self.plan.checks[index].check();
        self.until_fail || check.repeat > 1 || check.retries.is_some()
    }

    /// Takes in the report of a run.
    pub fn take(&self, index: usize, report: CheckReport) -> Next {
        let is_first = || !self.lock().contains_key(&index);
        let unrun = matches!(report.verdict, Verdict::Skipped | Verdict::Broken);
        if !self.may_return(index) || (unrun && is_first()) {
            return Next::Done(Box::new(report));
        }
        if self.stop.load(Ordering::SeqCst) && report.verdict == Verdict::Broken {
            // It was ended, and says nothing of the check: the runs before it are told in the end.
            return Next::Again;
        }
        let mut tallies = self.lock();
        let tally = tallies.entry(index).or_default();
        tally.add(report);
        let check = &self.plan.checks[index].check();
        if tally.is_enough(check, self.until_fail) {
            let tally = tallies.remove(&index).unwrap_or_default();
            return self.told(index, tally).map_or(Next::Again, |report| Next::Done(Box::new(report)));
        }
        if tally.count == 1 {
            tally.left = tally.green_one.as_ref().map(carried::left).unwrap_or_default();
        }
        Next::Again
    }

    /// The checks that were to run again when the run was stopped, as far as they ran.
    pub fn rest(&self) -> Vec<(usize, CheckReport)> {
        let tallies = std::mem::take(&mut *self.lock());
        tallies.into_iter().filter_map(|(index, tally)| Some((index, self.told(index, tally)?))).collect()
    }

    fn told(&self, index: usize, tally: Tally) -> Option<CheckReport> {
        let planned = &self.plan.checks[index];
        match planned.tooth.as_deref() {
            // It was tried until a run noticed the edit, and none of them tells of the project.
            Some(Tooth::Edited { .. }) => tally.green_one.or(tally.red_one),
            _ => tally.report(&planned.check()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<usize, Tally>> {
        self.tallies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The runs of one check so far.
#[derive(Debug, Default)]
struct Tally {
    count: u64,
    red: u64,
    /// The first of each kind.
    green_one: Option<CheckReport>,
    /// What the first run may have left, if it is green.
    left: Vec<String>,
    red_one: Option<CheckReport>,
    outcomes: Vec<RedRuns>,
}

impl Tally {
    fn add(&mut self, report: CheckReport) {
        self.count += 1;
        if !report.verdict.is_red() {
            self.green_one.get_or_insert(report);
            return;
        }
        self.red += 1;
        let frame = report.frames.first();
        let known = self.outcomes.iter_mut().find(|outcome| Way::of_runs(outcome) == Way::of(&report));
        if let Some(known) = known {
            known.times += 1;
        } else if self.outcomes.len() < OUTCOMES {
            self.outcomes.push(RedRuns {
                verdict: report.verdict,
                times: 1,
                first: self.count,
                reason: report.reason.clone(),
                frame: frame.cloned(),
                case: failed_case(&report).map(str::to_owned),
            });
        }
        self.red_one.get_or_insert(report);
    }

    fn is_enough(&self, check: &Check, until_fail: bool) -> bool {
        match check.retries {
            _ if until_fail => self.red > 0,
            Some(retries) => self.red < self.count || self.count > u64::from(retries.count),
            None => self.count >= u64::from(check.repeat),
        }
    }

    /// One report for all; `None` if nothing ran.
    fn report(self, check: &Check) -> Option<CheckReport> {
        let (least_percent, most_percent) = Runs::interval(self.red, self.count);
        let is_flaky = self.red > 0 && self.red < self.count;
        let passes = check.retries.is_some_and(|retries| retries.flaky == FlakyIs::Pass);
        let (red_one, green_one) = (self.red_one, self.green_one);
        let mut report = if is_flaky && passes { green_one.or(red_one) } else { red_one.or(green_one) }?;
        let runs = Runs { count: self.count, red: self.red, least_percent, most_percent, outcomes: self.outcomes };
        if is_flaky {
            let severity = if passes { Severity::Note } else { Severity::Error };
            // Of one that was tried again the last run is the green one.
            let is_first_alone = runs.red + 1 == runs.count && runs.outcomes.first().is_some_and(|one| one.first == 2);
            let carried = if is_first_alone { carried::told(&self.left) } else { String::new() };
            report.findings.insert(0, flaky(&runs, severity, &report.id, &carried));
            if !passes {
                report.verdict = Verdict::Flaky;
                report.reason = Some(format!("{} of {} runs are red", runs.red, runs.count));
                // Those of the first way to fail are there.
                let others = runs.outcomes.iter().skip(1).filter_map(|outcome| outcome.frame.clone());
                report.frames.extend(others);
            }
        } else if runs.red > 0 && runs.count > 1 {
            let reason = report.reason.take().map(|reason| format!(": {reason}")).unwrap_or_default();
            report.reason = Some(format!("each of {} runs is red{reason}", runs.count));
        }
        // One try that passes is no more than any other check has.
        report.runs = (runs.count > 1).then_some(runs);
        Some(report)
    }
}

fn flaky(runs: &Runs, severity: Severity, id: &str, carried: &str) -> Finding {
    let Runs { count, red, least_percent, most_percent, outcomes } = runs;
    let mut message =
        format!("{red} of {count} runs are red, so of all {least_percent} to {most_percent} % (Wilson's score, 95 %)");
    for outcome in outcomes {
        let place = outcome.frame.as_ref().map(|frame| format!("{}:{}", frame.file, frame.line));
        let reason = || match (&outcome.reason, &outcome.case) {
            (Some(reason), Some(case)) => format!("{reason} (\"{case}\")"),
            (Some(reason), None) => reason.clone(),
            (None, _) => outcome.verdict.name().to_owned(),
        };
        let how = place.unwrap_or_else(reason);
        // Writing to a string cannot fail.
        let _ = match outcome.times {
            1 => write!(message, "; once {how}, in run {}", outcome.first),
            times => write!(message, "; {times} times {how}, first in run {}", outcome.first),
        };
    }
    let mut finding = Finding::new(Kind::Flaky, severity, message + carried);
    finding.frame = outcomes.first().and_then(|outcome| outcome.frame.clone());
    let again = format!("hostproof run {} --until-fail --keep failed", quoted(id));
    finding.remedy = Some(if carried.is_empty() {
        format!("find what differs from run to run: {again}")
    } else {
        "let it write below TMPDIR or HOME, which each run has for itself, and `watch` what it may leave".to_owned()
    });
    finding
}

#[cfg(test)]
mod tests {
    use super::super::records;
    use super::*;
    use crate::model::{CheckCommand, Retries};

    fn check(repeat: u32, retries: Option<(u32, FlakyIs)>) -> Check {
        let retries = retries.map(|(count, flaky)| Retries { count, flaky });
        Check { repeat, retries, ..Check::new("a", CheckCommand::Argv(vec!["x".into()])) }
    }

    /// The verdict after runs that are red with these words, or green; `None` if that is not enough of them.
    fn told(check: &Check, runs: &[Option<&str>]) -> Option<CheckReport> {
        let mut tally = Tally::default();
        for red in runs {
            assert!(!tally.is_enough(check, false) || tally.count == 0, "a run too many");
            let verdict = if red.is_some() { Verdict::Failed } else { Verdict::Passed };
            tally.add(records::empty(check, verdict, red.map(str::to_owned)));
        }
        if tally.is_enough(check, false) { tally.report(check) } else { None }
    }

    #[test]
    fn runs_that_differ_are_flaky_and_each_way_to_fail_is_counted() {
        let check = check(4, None);
        assert_eq!(told(&check, &[None, Some("x"), None]), None);
        let report = told(&check, &[Some("x"), None, Some("y"), Some("x")]).expect("a report");
        assert_eq!((report.verdict, report.reason.as_deref()), (Verdict::Flaky, Some("3 of 4 runs are red")));
        let runs = report.runs.expect("runs");
        let outcomes: Vec<_> = runs.outcomes.iter().map(|one| (one.reason.as_deref(), one.times, one.first)).collect();
        assert_eq!(outcomes, [(Some("x"), 2, 1), (Some("y"), 1, 3)]);
    }

    #[test]
    fn runs_that_agree_have_their_verdict() {
        let green = told(&check(3, None), &[None, None, None]).expect("a report");
        assert_eq!((green.verdict, green.runs.map(|runs| runs.most_percent)), (Verdict::Passed, Some(57)));
        let red = told(&check(2, None), &[Some("x"), Some("x")]).expect("a report");
        assert_eq!((red.verdict, red.reason.as_deref()), (Verdict::Failed, Some("each of 2 runs is red: x")));
    }

    #[test]
    fn a_red_check_is_tried_again_until_it_passes_or_the_tries_are_over() {
        let fails = check(1, Some((2, FlakyIs::Fail)));
        assert_eq!(told(&fails, &[None]).map(|report| (report.verdict, report.runs)), Some((Verdict::Passed, None)));
        assert_eq!(told(&fails, &[Some("x"), Some("x")]), None);
        let verdict = |check: &Check, runs: &[_]| told(check, runs).map(|report| report.verdict);
        assert_eq!(verdict(&fails, &[Some("x"), None]), Some(Verdict::Flaky));
        assert_eq!(verdict(&fails, &[Some("x"), Some("x"), Some("x")]), Some(Verdict::Failed));
        let passes = check(1, Some((2, FlakyIs::Pass)));
        let report = told(&passes, &[Some("x"), None]).expect("a report");
        assert_eq!((report.verdict, report.findings[0].severity), (Verdict::Passed, Severity::Note));
    }
}
