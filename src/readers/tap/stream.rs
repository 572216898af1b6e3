//! One stream of TAP: from its version or plan to the next one's.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::item::{Directive, Point};
use crate::model::CaseOutcome;
use crate::readers::Arrival;
use crate::readers::cases::{CaseList, MOST_CASES, Outcomes, clip, note};

/// The most points that are kept back until it is clear whether they are prose.
const EARLY: usize = 1_000;

/// Where a stream is.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a thing that the stream has or has not")]
pub struct Stream {
    /// A version, a plan or a point was seen.
    pub open: bool,
    pub version: bool,
    pub plan: Option<u64>,
    /// The plan came behind the points.
    trailing: bool,
    pub skip: Option<(String, Arrival)>,
    /// Points have numbers or dashes: a line without is prose, unless it says that something failed.
    pub marked: bool,
    /// Lines of points, whatever they count for.
    pub lines: u64,
    outcomes: Outcomes,
    /// Points whose number the plan does not have.
    beyond: u64,
    numbers: HashMap<u64, (u64, CaseOutcome)>,
    hasher: RandomState,
    early: Vec<Early>,
    pub bailed: bool,
    /// A subtest that began, and whose own point is awaited.
    pub begun: Option<(String, Arrival)>,
}

#[derive(Debug)]
struct Early {
    name: String,
    outcome: CaseOutcome,
    reason: Option<String>,
    at: Arrival,
}

/// The sums of ended streams.
#[derive(Debug, Default, Clone, Copy)]
pub struct Sums {
    pub outcomes: Outcomes,
    /// What was planned, where it was; what ran elsewhere.
    pub planned: u64,
    /// Whether anything was planned at all.
    pub any_plan: bool,
    /// Some stream does not tell how many cases it had.
    pub open_end: bool,
    pub unknown: u64,
    pub lines: u64,
    /// Streams whose points have numbers or dashes.
    pub marked: u64,
    /// The numbers are those of a tally that does not tell what was skipped.
    pub hidden: bool,
}

impl Sums {
    pub fn add(&mut self, other: Self) {
        self.outcomes.passed += other.outcomes.passed;
        self.outcomes.failed += other.outcomes.failed;
        self.outcomes.skipped += other.outcomes.skipped;
        self.planned += other.planned;
        self.any_plan |= other.any_plan;
        self.open_end |= other.open_end;
        self.unknown += other.unknown;
        self.lines += other.lines;
        self.marked += other.marked;
        self.hidden |= other.hidden;
    }
}

/// How a point counts: a failed one that is awaited has passed, one that was left out is skipped whatever it says.
pub fn outcome(point: &Point) -> (CaseOutcome, Option<&str>) {
    match &point.directive {
        Some(Directive::Skip(why)) => (CaseOutcome::Skipped, Some(why.as_str()).filter(|why| !why.is_empty())),
        Some(Directive::Todo) => (CaseOutcome::Passed, None),
        None if point.ok => (CaseOutcome::Passed, None),
        None => (CaseOutcome::Failed, None),
    }
}

impl Stream {
    /// Whether everything that was planned has an outcome.
    pub fn is_complete(&self) -> bool {
        self.skip.is_some() || self.plan.is_some_and(|plan| self.outcomes.ran() + self.early.len() as u64 >= plan)
    }

    /// Whether that point can't be one of this stream any more.
    pub fn is_over_before(&self, point: &Point) -> bool {
        let again = point.number.is_some_and(|number| number == 1 || self.numbers.contains_key(&number));
        self.skip.is_some()
            || (self.is_complete() && (again || (self.trailing && point.number.is_none() && point.marked)))
    }

    /// Whether a plan here is that of another stream.
    pub fn is_over_before_plan(&self) -> bool {
        self.plan.is_some() || self.skip.is_some()
    }

    pub fn plan(&mut self, count: u64) {
        self.open = true;
        self.trailing = self.lines > 0;
        self.plan = Some(count);
    }

    /// Takes a point at the top.
    pub fn point(
        &mut self,
        point: &Point,
        (outcome, reason): (CaseOutcome, Option<&str>),
        at: Arrival,
        cases: &mut CaseList,
        notes: &mut Vec<String>,
    ) {
        self.open = true;
        if !point.marked && self.marked && point.ok {
            return;
        }
        self.lines += 1;
        if point.marked && !self.marked {
            self.marked = true;
            // What looked like a point before was prose, but for what says that it failed.
            let early = std::mem::take(&mut self.early);
            self.lines -= early.iter().filter(|early| early.outcome != CaseOutcome::Failed).count() as u64;
            early
                .into_iter()
                .filter(|early| early.outcome == CaseOutcome::Failed)
                .for_each(|early| self.record(&early, cases));
        }
        let early = |name: &str| Early { name: clip(name), outcome, reason: reason.map(clip), at };
        if !point.marked && !self.marked && self.early.len() < EARLY {
            self.early.push(early(&point.name));
            return;
        }
        if !self.marked {
            self.flush(cases);
        }
        if let Some(number) = point.number {
            let name = self.hasher.hash_one(&point.name);
            if let Some((told, before)) = self.numbers.get(&number).copied() {
                note(notes, "a number of a test point comes twice");
                if told == name || point.name.is_empty() {
                    // The same case, told of twice: the worse outcome counts.
                    if outcome == CaseOutcome::Failed && before != CaseOutcome::Failed {
                        self.numbers.insert(number, (name, outcome));
                        *of(&mut self.outcomes, before) -= 1;
                        self.record(&early(&point.name), cases);
                    }
                    return;
                }
            } else if self.numbers.len() < MOST_CASES {
                self.numbers.insert(number, (name, outcome));
            }
            self.beyond += u64::from(self.plan.is_some_and(|plan| number > plan));
        }
        let unnamed = point.name.is_empty();
        match point.number.filter(|_| unnamed) {
            Some(number) => self.record(&early(&number.to_string()), cases),
            None => self.record(&early(&point.name), cases),
        }
    }

    fn record(&mut self, case: &Early, cases: &mut CaseList) {
        *of(&mut self.outcomes, case.outcome) += 1;
        if !case.name.is_empty() {
            cases.record(&case.name, case.outcome, case.reason.as_deref(), case.at);
            // Names need not be unique: it is the number that makes a case.
            cases.end_suite();
        }
    }

    fn flush(&mut self, cases: &mut CaseList) {
        for early in std::mem::take(&mut self.early) {
            self.record(&early, cases);
        }
    }

    /// Ends it: its sums. `name` is what a stream is called of which everything was skipped.
    pub fn end(&mut self, name: &str, cases: &mut CaseList, notes: &mut Vec<String>) -> Sums {
        self.flush(cases);
        let Self { plan, skip, bailed, begun, lines, beyond, mut outcomes, open, marked, .. } = std::mem::take(self);
        if !open {
            return Sums::default();
        }
        if let Some((reason, at)) = skip.filter(|_| lines == 0) {
            cases.record(
                name,
                CaseOutcome::Skipped,
                Some(&reason).filter(|reason| !reason.is_empty()).map(String::as_str),
                at,
            );
            cases.end_suite();
            outcomes.skipped += 1;
            return Sums { outcomes, planned: 1, lines, ..Sums::default() };
        }
        let ran = outcomes.ran();
        let within = ran - beyond.min(ran);
        let mut unknown = plan.map(|plan| plan.saturating_sub(within));
        let mut any_plan = plan.is_some();
        if let Some(plan) = plan
            && ran + unknown.unwrap_or(0) > plan
        {
            note(notes, format!("{plan} cases were planned, {ran} ran"));
        }
        if let Some((name, at)) = begun.filter(|_| unknown != Some(0)) {
            cases.record(&name, CaseOutcome::Unknown, None, at);
            cases.end_suite();
            unknown = unknown.or(Some(1));
        }
        if plan.is_none() && ran > 0 {
            note(notes, "no plan says how many cases there were to be: whether all of them ran is unknown");
        }
        if bailed && unknown == Some(0) {
            // It gave up after the last one: what else there was to come is unknown.
            unknown = None;
            any_plan = false;
        }
        Sums {
            outcomes,
            planned: ran + unknown.unwrap_or(0),
            any_plan,
            open_end: unknown.is_none(),
            unknown: unknown.unwrap_or(0),
            lines,
            marked: u64::from(marked),
            hidden: false,
        }
    }
}

fn of(outcomes: &mut Outcomes, outcome: CaseOutcome) -> &mut u64 {
    match outcome {
        CaseOutcome::Passed => &mut outcomes.passed,
        CaseOutcome::Skipped => &mut outcomes.skipped,
        _ => &mut outcomes.failed,
    }
}
