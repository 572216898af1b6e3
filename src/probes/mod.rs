//! From what the platform saw to findings: pure decisions, one file per question.
//!
//! Nothing here looks at the system. What could not be looked at arrives as text and leaves as `probe-blind`.

mod blame;
mod holds;
mod leaks;
mod pipes;
mod places;

pub use blame::Blame;
pub use places::Places;

use crate::model::{Finding, Kind, Severity};
use crate::platform::{Ended, Outcome};

/// How many findings of one kind are told one by one; the rest is counted.
const TOLD: usize = 20;

/// Everything that the job's end showed, in no particular order.
#[must_use]
pub fn findings(outcome: &Outcome, places: &Places, blame: &Blame<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    if outcome.ended == Ended::ByItself {
        findings.extend(few(leaks::leaked(outcome, blame)));
        findings.extend(few(holds::held(&outcome.alive, places, blame)));
        findings.extend(few(pipes::held(outcome, blame)));
        findings.extend(few(leaks::late(outcome, places)));
    }
    findings.extend(few(leaks::survivors(outcome)));
    findings.extend(blind(outcome));
    findings
}

fn blind(outcome: &Outcome) -> Vec<Finding> {
    let mut told: Vec<String> = outcome.blind.clone();
    for process in &outcome.alive {
        let who = process.short();
        told.extend(process.unread.iter().map(|what| format!("{who}: {what}")));
    }
    for captured in [&outcome.stdout, &outcome.stderr] {
        told.extend(captured.lost.iter().map(|why| format!("output was lost: {why}")));
    }
    few(told.into_iter().map(|why| Finding::new(Kind::ProbeBlind, Severity::Warning, format!("could not look: {why}"))).collect())
}

/// The first findings of a kind, and a count of the rest.
fn few(mut findings: Vec<Finding>) -> Vec<Finding> {
    if findings.len() > TOLD {
        let rest = findings.len() - TOLD;
        findings.truncate(TOLD);
        let last = &findings[TOLD - 1];
        findings.push(Finding::new(last.kind, last.severity, format!("and {rest} more like these")));
    }
    findings
}
