//! What stands against a check, each thing once: its cases tell some of it, its findings the rest.

use crate::model::{CaseOutcome, CheckReport, Exit, Finding, Kind, Severity};

/// The errors of a check that none of its named cases tells. A runner that ends with status 1 since a case failed is no
/// second failure, nor is a number of cases that never ran where each of them is named.
pub fn findings(check: &CheckReport) -> Vec<&Finding> {
    check
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error && !is_told_by_cases(check, finding))
        .collect()
}

fn is_told_by_cases(check: &CheckReport, finding: &Finding) -> bool {
    let named = |outcome| check.cases.list.iter().filter(|case| case.outcome == outcome).count() as u64;
    match finding.kind {
        Kind::Unmet => is_of_exit(check, finding) && named(CaseOutcome::Failed) > 0,
        Kind::ShortCount => {
            let unknown = named(CaseOutcome::Unknown);
            unknown > 0 && check.cases.unknown == Some(unknown)
        }
        _ => false,
    }
}

/// Whether a finding says that the exit status is another one than expected, and not 0: the way in which runners tell
/// that a case failed.
pub fn is_of_exit(check: &CheckReport, finding: &Finding) -> bool {
    let Some(Exit::Code(code)) = check.exit else { return false };
    let said = format!("exit status {code}, expected ");
    finding.kind == Kind::Unmet && code != 0 && finding.message.starts_with(&said)
}

/// All that is to be said of a finding: who, since when, what to do.
pub fn evidence(finding: &Finding) -> String {
    let mut lines = vec![finding.message.clone()];
    if let Some(path) = &finding.path {
        let deleted = if finding.deleted == Some(true) { " (removed)" } else { "" };
        lines.push(format!("path: {path}{deleted}"));
    }
    if let Some(process) = &finding.process {
        lines.push(format!("process: pid {}: {}", process.pid, crate::words::command_line(&process.argv)));
        for parent in &process.parents {
            lines.push(format!("started by: pid {}: {}", parent.pid, crate::words::command_line(&parent.argv)));
        }
        for hold in &process.holds {
            let deleted = if hold.deleted { " (removed)" } else { "" };
            lines.push(format!("holds: {}{deleted}, {} it", hold.path, hold.how.phrase()));
        }
    }
    if let Some(case) = &finding.case {
        lines.push(format!("during: {case}"));
    }
    if let Some(remedy) = &finding.remedy {
        lines.push(format!("mend: {remedy}"));
    }
    lines.push(format!("more: hostproof explain {}", finding.kind.slug()));
    lines.join("\n")
}
