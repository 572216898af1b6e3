//! The ways in which a check fails, as far as two runs can be said to have failed in one.

use crate::model::{CaseOutcome, CheckReport, Frame, RedRuns, Verdict};

/// The way in which a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Way {
    verdict: Verdict,
    how: How,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum How {
    /// At this line of this file.
    Place(String, u64),
    /// In these words, and with this case; where no place is known.
    Words { reason: Option<String>, case: Option<String> },
}

impl Way {
    /// Of a report.
    pub fn of(report: &CheckReport) -> Self {
        let reason = report.reason.as_deref();
        Self::new(report.verdict, report.frames.first(), reason, failed_case(report))
    }

    /// Of runs that failed in one way.
    pub fn of_runs(runs: &RedRuns) -> Self {
        Self::new(runs.verdict, runs.frame.as_ref(), runs.reason.as_deref(), runs.case.as_deref())
    }

    fn new(verdict: Verdict, frame: Option<&Frame>, reason: Option<&str>, case: Option<&str>) -> Self {
        let how = match frame {
            Some(frame) => How::Place(frame.file.clone(), frame.line),
            None => How::Words { reason: reason.map(str::to_owned), case: case.map(str::to_owned) },
        };
        Self { verdict, how }
    }
}

/// The first case that failed.
pub fn failed_case(report: &CheckReport) -> Option<&str> {
    let failed = report.cases.list.iter().find(|case| case.outcome == CaseOutcome::Failed);
    failed.map(|case| case.name.as_str())
}
