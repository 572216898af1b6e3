//! Combinations of a matrix that were red while others of their check ran: each runs again alone, before anything is said of
//! its settings.
//!
//! # Invariant
//!
//! - **Nothing is guessed**: one that passes alone is not told to depend on its settings, and not taken for green either.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::{CheckReport, Finding, Kind, Severity, Verdict};

/// Those that are to run again.
#[derive(Default)]
pub struct Beside {
    red: Mutex<BTreeMap<usize, CheckReport>>,
}

impl Beside {
    /// Takes in the report of a run. `None` if it is to run again alone; else what there is to tell.
    pub fn take(&self, index: usize, report: CheckReport, was_accompanied: bool) -> Option<CheckReport> {
        let mut red = self.lock();
        match red.remove(&index) {
            Some(first) => Some(told(first, report)),
            None if was_accompanied && failed(&report) => {
                red.insert(index, report);
                None
            }
            None => Some(report),
        }
    }

    /// Those that did not get that far.
    pub fn rest(&self) -> Vec<(usize, CheckReport)> {
        std::mem::take(&mut *self.lock()).into_iter().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, CheckReport>> {
        self.red.lock().unwrap_or_else(PoisonError::into_inner)
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
    let message = "red beside other combinations of it, and passes when it runs again alone: they meet in something that is there \
                   once, or it is flaky"
        .to_owned();
    let before = first.reason.take().map(|reason| format!(": {reason}")).unwrap_or_default();
    first.reason = Some(format!("{message}{before}"));
    let mut finding = Finding::new(Kind::Collision, Severity::Error, message);
    finding.frame = first.frames.first().cloned();
    finding.remedy = Some(
        "find out with `copies: 2` what that is; where it is meant, a `lock` of its own keeps its combinations apart"
            .to_owned(),
    );
    first.findings.insert(0, finding);
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

    /// What is told of a red one after that run alone.
    fn after(verdict: Verdict) -> (Verdict, Option<Kind>) {
        let beside = Beside::default();
        assert_eq!(beside.take(0, report(Verdict::Failed), true), None);
        let told = beside.take(0, report(verdict), false).expect("a report");
        assert!(beside.rest().is_empty());
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
            assert_eq!(beside.take(0, report(verdict), was_accompanied).map(|told| told.verdict), Some(verdict));
        }
        assert_eq!(beside.take(1, report(Verdict::Failed), true), None);
        assert_eq!(beside.rest().len(), 1);
    }
}
