//! Programs that may not be run, and were called.

use super::{Blame, Places};
use crate::model::{Finding, ForbiddenCall, Kind, Severity};
use crate::platform::Outcome;
use crate::words::command_line;

/// A finding for each call.
pub fn called(outcome: &Outcome, places: &Places, blame: &Blame<'_>) -> Vec<Finding> {
    outcome.forbidden.iter().map(|call| finding(call, places, blame)).collect()
}

fn finding(call: &ForbiddenCall, places: &Places, blame: &Blame<'_>) -> Finding {
    let ForbiddenCall { program, process, at_ms, ran } = call;
    let by = process.parents.first().map(|parent| format!(" by {}", parent.short())).unwrap_or_default();
    let mut words = process.argv.clone();
    if let Some(first) = words.first_mut() {
        *first = places.name(first);
    }
    let done = if *ran { "it was run" } else { "it was not run" };
    let when = format!("{}.{} s after the start", at_ms / 1000, at_ms % 1000 / 100);
    let message = format!("{program} was called{by}, {when}: {}; {done}", command_line(&words));
    let mut finding = Finding::new(Kind::ForbiddenCommand, Severity::Error, message);
    finding.case = blame.case_at(Some(process), "", *at_ms);
    finding.process = Some(process.clone());
    finding.remedy = Some(format!("put a {program} of the test's own first in PATH, or leave the call out"));
    finding
}
