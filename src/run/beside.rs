//! Combinations of a matrix that were red while others of their check ran: each runs again alone, before anything is said of
//! its settings.
//!
//! # Invariant
//!
//! - **Nothing is guessed**: one that passes alone is not told to depend on its settings, and not taken for green either.

use std::io;

use super::groups;
use super::reports::Reports;
use crate::model::{CheckReport, Finding, Kind, Severity, Verdict};

/// Those that are to run again.
#[derive(Default)]
pub struct Beside {
    red: Reports,
}

impl Beside {
    /// Takes in the report of a run. `None` if it is to run again alone; else what there is to tell, unless the report of its
    /// first run can't be read back.
    pub fn take(&self, index: usize, report: CheckReport, was_accompanied: bool) -> Option<io::Result<CheckReport>> {
        match self.red.take(index) {
            Ok(Some(first)) => Some(Ok(told(first, report))),
            Ok(None) if was_accompanied && failed(&report) => {
                self.red.put(index, report);
                None
            }
            Ok(None) => Some(Ok(report)),
            Err(error) => Some(Err(error)),
        }
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
        beside.take(index, report(verdict), was_accompanied).map(|told| told.expect("it can be read back"))
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
