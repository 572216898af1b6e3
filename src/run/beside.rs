//! Combinations of a matrix that were red while others of their check ran: they run again alone, before anything is said of
//! their settings; of very many as many as it takes ([`super::samples`]).
//!
//! # Invariants
//!
//! - **Nothing is guessed**: one that passes alone is not told to depend on its settings, and not taken for green either.
//! - One that does not run again says so.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::groups;
use super::reports::Reports;
use super::samples::{Samples, Turn};
use super::ways::Way;
use crate::model::{CheckReport, Finding, Kind, Severity, Verdict};
use crate::plan::Variant;

/// Those that are to run again.
#[derive(Default)]
pub struct Beside {
    red: Reports,
    samples: Mutex<Samples>,
}

/// What is next for a check that is about to run.
pub enum Next {
    /// It runs.
    Run,
    /// It waits for others of its check.
    Wait,
    /// It ran, and need not do so again.
    Told(io::Result<Box<CheckReport>>),
}

impl Beside {
    /// Takes in the report of a run. `None` if it is to run again alone; else what there is to tell, unless the report of its
    /// first run can't be read back.
    pub fn take(
        &self,
        index: usize,
        of: &Variant,
        report: CheckReport,
        was_accompanied: bool,
    ) -> Option<io::Result<CheckReport>> {
        let alone = |report: &CheckReport| failed(report).then(|| Way::of(report));
        match self.red.take(index) {
            Ok(Some(first)) => {
                self.samples().told(index, alone(&report).as_ref());
                Some(Ok(told(first, report)))
            }
            Ok(None) if was_accompanied && failed(&report) => {
                self.samples().add(index, &of.of, Way::of(&report));
                self.red.put(index, report);
                None
            }
            Ok(None) => Some(Ok(report)),
            Err(error) => {
                self.samples().told(index, alone(&report).as_ref());
                Some(Err(error))
            }
        }
    }

    /// What is next for a check; `variant` tells what each is a variant of.
    pub fn next<'a>(&self, index: usize, variant: impl Fn(usize) -> &'a Variant) -> Next {
        let mut samples = self.samples();
        let alike = match samples.turn(index, variant) {
            Turn::Run => return Next::Run,
            Turn::Later => return Next::Wait,
            Turn::Spared(alike) => alike,
        };
        samples.told(index, None);
        match self.red.take(index).transpose() {
            Some(first) => Next::Told(first.map(|first| Box::new(spared(first, alike)))),
            None => Next::Run,
        }
    }

    fn samples(&self) -> MutexGuard<'_, Samples> {
        self.samples.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that did not get that far.
    pub fn rest(&self) -> impl Iterator<Item = (usize, io::Result<CheckReport>)> + '_ {
        std::iter::from_fn(|| self.red.take_first())
    }
}

/// Whether it ran, and not as it should.
fn failed(report: &CheckReport) -> bool {
    report.verdict.is_red() && report.verdict != Verdict::Broken
}

/// What is told of one that was red beside others, and did not run again.
fn spared(mut first: CheckReport, alike: usize) -> CheckReport {
    first.notes.push(format!(
        "it did not run again without other combinations beside it: {alike} that failed in the same way did, two or more with \
         each of its settings, and all are red by themselves, too"
    ));
    first
}

/// What is told of one that was red beside others, and then ran alone.
fn told(mut first: CheckReport, alone: CheckReport) -> CheckReport {
    if failed(&alone) {
        return alone;
    }
    if alone.verdict != Verdict::Passed {
        // It was ended, and says nothing.
        return first;
    }
    let message = "red beside other combinations of it, and passes when it runs again alone: they meet in something that \
                   is there once, or it is flaky";
    let mut finding = Finding::new(Kind::Collision, Severity::Error, message);
    finding.frame = first.frames.first().cloned();
    finding.remedy = Some(
        "find out with `copies: 2` what that is; where it is meant, a `lock` of its own keeps its combinations apart"
            .to_owned(),
    );
    groups::add(&mut first, finding);
    first
}

#[cfg(test)]
mod tests {
    use super::super::records;
    use super::*;
    use crate::model::{Check, CheckCommand};

    fn report(verdict: Verdict) -> CheckReport {
        records::empty(&Check::new("a", CheckCommand::Argv(vec!["x".into()])), verdict, Some("x".to_owned()))
    }

    fn take(beside: &Beside, index: usize, verdict: Verdict, was_accompanied: bool) -> Option<CheckReport> {
        beside
            .take(index, &Variant::plain("a"), report(verdict), was_accompanied)
            .map(|told| told.expect("it can be read back"))
    }

    /// What is told of a red one after that run alone.
    fn after(verdict: Verdict) -> (Verdict, Option<Kind>) {
        let beside = Beside::default();
        assert_eq!(take(&beside, 0, Verdict::Failed, true), None);
        let told = take(&beside, 0, verdict, false).expect("a report");
        assert_eq!(beside.rest().count(), 0);
        (told.verdict, told.findings.first().map(|finding| finding.kind))
    }

    #[test]
    fn what_is_red_in_company_is_tried_alone() {
        assert_eq!(after(Verdict::TimedOut), (Verdict::TimedOut, None));
        assert_eq!(after(Verdict::Passed), (Verdict::Failed, Some(Kind::Collision)));
        assert_eq!(after(Verdict::Broken), (Verdict::Failed, None), "it was interrupted");
    }

    #[test]
    fn what_does_not_run_again_says_so() {
        let beside = Beside::default();
        let variant = Variant::plain("a").with(crate::plan::Change::setting("A", None));
        let next = |index| beside.next(index, |_| &variant);
        (0..4).for_each(|index| assert_eq!(take(&beside, index, Verdict::Failed, true), None));
        assert!(matches!(next(3), Next::Wait), "the first two are to run");
        for index in 0..2 {
            assert!(matches!(next(index), Next::Run));
            assert!(take(&beside, index, Verdict::Failed, false).is_some());
        }
        let Next::Told(Ok(told)) = next(3) else { panic!("it is told") };
        assert!(told.notes[0].contains("2 that failed in the same way"), "{:?}", told.notes);
        assert_eq!(take(&beside, 3, Verdict::Failed, false).map(|told| told.verdict), Some(Verdict::Failed));
        assert_eq!(beside.rest().count(), 1);
    }

    #[test]
    fn what_ran_alone_or_passed_is_told_at_once() {
        let beside = Beside::default();
        for (verdict, was_accompanied) in
            [(Verdict::Failed, false), (Verdict::Passed, true), (Verdict::Broken, true), (Verdict::Skipped, true)]
        {
            assert_eq!(take(&beside, 0, verdict, was_accompanied).map(|told| told.verdict), Some(verdict));
        }
        assert_eq!(take(&beside, 1, Verdict::Failed, true), None);
        assert_eq!(beside.rest().count(), 1);
    }
}
