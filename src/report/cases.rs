//! The cases of a check that somebody has to know by name.

use std::collections::HashSet;

use crate::model::{Case, CaseOutcome, CheckReport, Kind};

/// How many names are shown before `…`.
const NAMES: usize = 3;

/// The cases that failed, as far as no place of a failure names them.
pub(super) fn failed(check: &CheckReport, verbose: bool) -> Option<String> {
    // One that names no case may be that of any.
    if check.frames.iter().any(|frame| frame.case.is_none()) {
        return None;
    }
    let placed: HashSet<&str> = check.frames.iter().filter_map(|frame| frame.case.as_deref()).collect();
    let all = check.cases.list.iter();
    let names: Vec<&Case> =
        all.filter(|case| case.outcome == CaseOutcome::Failed && !placed.contains(case.name.as_str())).collect();
    (!names.is_empty()).then(|| format!("failed: {}", of_cases(&names, verbose)))
}

/// The cases that never ran or never ended, or how many.
pub(super) fn never_ran(check: &CheckReport, verbose: bool) -> Option<String> {
    let unknown = check.cases.unknown.filter(|unknown| *unknown > 0)?;
    let names: Vec<&Case> = check.cases.list.iter().filter(|case| case.outcome == CaseOutcome::Unknown).collect();
    if names.is_empty() {
        // The finding says how many.
        let told = check.findings.iter().any(|finding| finding.kind == Kind::ShortCount);
        let planned = check.cases.planned.map(|planned| format!(" of {planned}")).unwrap_or_default();
        return (!told).then(|| format!("{unknown}{planned} cases never ran, or never ended"));
    }
    Some(format!("never ran, or never ended: {}", of_cases(&names, verbose)))
}

/// The names of cases, as many as are shown.
fn of_cases(names: &[&Case], verbose: bool) -> String {
    let most = if verbose { names.len() } else { NAMES };
    let shown: Vec<&str> = names.iter().take(most).map(|case| case.name.as_str()).collect();
    let rest = if names.len() > most { " … (all: --verbose)" } else { "" };
    format!("{}{rest}", shown.join(", "))
}
