//! Findings as lines for a person: those that concern one process stand together, so that it is introduced once.

use super::terminal::one_line;
use crate::model::{Finding, Kind, Process, Severity};
use crate::words::counted;

/// How many groups, and paths of one process, are shown before `…`.
const GROUPS: usize = 4;
const PATHS: usize = 3;

/// The lines for a check's findings; all of them if `verbose`.
pub fn lines(findings: &[&Finding], verbose: bool) -> Vec<String> {
    let groups = groups(findings);
    let most = if verbose { usize::MAX } else { GROUPS };
    let mut lines: Vec<String> = groups.iter().take(most).flat_map(|group| group_lines(group, verbose)).collect();
    let hidden: usize = groups.iter().skip(most).map(Vec::len).sum();
    if hidden > 0 {
        lines.push(format!("… and {} (all: --verbose)", counted(hidden, "more finding")));
    }
    lines
}

/// Findings of one process together, in the order of the first of each.
fn groups<'a>(findings: &[&'a Finding]) -> Vec<Vec<&'a Finding>> {
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    for &finding in findings {
        let pid = |finding: &Finding| finding.process.as_ref().map(|process| process.pid);
        let known = groups.iter_mut().find(|group| pid(finding).is_some() && pid(group[0]) == pid(finding));
        match known {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups
}

fn group_lines(group: &[&Finding], verbose: bool) -> Vec<String> {
    let first = group[0];
    let process = first.process.as_ref();
    let introduced = process.map(Process::short).filter(|name| first.message.contains(name.as_str()));
    let same_case = group.iter().all(|finding| finding.case == first.case);
    let mut lines = Vec::new();
    let mut remarks = Vec::new();
    let mut paths = 0;
    let mut more = 0;
    for (index, finding) in group.iter().enumerate() {
        let message = format!("{}{}", one_line(&finding.message), mark(finding));
        let told = index > 0 && introduced.is_some();
        if finding.kind == Kind::LeakedProcess && told {
            // The process is known by now: what is left to say is how it lives on.
            let name = introduced.as_deref().unwrap_or_default();
            remarks.push(message.strip_prefix(name).map_or(message.clone(), |rest| format!("it{rest}")));
            continue;
        }
        // What was refused names the holder, and how it holds the path.
        let refused = |other: &&&Finding| other.kind == Kind::RefusedByWindows && other.path == finding.path;
        if finding.kind == Kind::HeldDirectory && group.iter().any(|other| refused(&other)) && !verbose {
            continue;
        }
        paths += 1;
        if paths > PATHS && !verbose {
            more += 1;
            continue;
        }
        lines.push(message);
        if let Some(case) = finding.case.as_ref().filter(|_| !same_case) {
            lines.push(format!("    during {}", one_line(case)));
        }
    }
    if more > 0 {
        lines.push(format!("… and {} of the same process", counted(more, "more path")));
    }
    if group.iter().any(|finding| finding.kind == Kind::LeakedProcess) {
        remarks.extend(process.into_iter().flat_map(origin));
    }
    remarks.extend(first.case.iter().filter(|_| same_case).map(|case| format!("during {case}")));
    if !remarks.is_empty() {
        lines.push(format!("    {}", one_line(&remarks.join("; "))));
    }
    lines
}

fn mark(finding: &Finding) -> String {
    match (finding.severity, &finding.allowed) {
        (_, Some(because)) => format!(" (allowed: {because})"),
        (Severity::Error, None) => String::new(),
        (Severity::Warning, None) => " (warning)".to_owned(),
        (Severity::Note, None) => " (note)".to_owned(),
    }
}

/// Where a process comes from, and since when it is there.
fn origin(process: &Process) -> Vec<String> {
    let parent = process.parents.first().map(|parent| format!("started by {}", parent.short()));
    let started = process.started_ms.map(|started| {
        let (seconds, tenths) = (started.abs() / 1000, started.abs() % 1000 / 100);
        let when = if started < 0 { "before" } else { "after" };
        format!("started {seconds}.{tenths} s {when} the check began")
    });
    parent.into_iter().chain(started).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(kind: Kind, pid: u32, message: &str) -> Finding {
        let mut finding = Finding::new(kind, Severity::Error, message);
        let process = serde_json::json!({
            "pid": pid, "argv": ["sleep", "120"], "parents": [{"pid": 7, "argv": ["sh"]}], "started_ms": 1_250,
        });
        finding.process = Some(serde_json::from_value(process).expect("a process"));
        finding.case = Some("test_a".into());
        finding
    }

    #[test]
    fn a_process_is_introduced_once_with_all_that_it_holds() {
        let holds: Vec<_> =
            (0..5).map(|n| of(Kind::HeldFile, 9, &format!("tmp/{n} is held open by pid 9 (sleep 120)"))).collect();
        let leak = of(Kind::LeakedProcess, 9, "pid 9 (sleep 120) was alive after the grace (no pipe held)");
        let other = Finding::new(Kind::Unmet, Severity::Error, "exit status 1, expected 0");
        let all: Vec<&Finding> = holds.iter().chain([&other, &leak]).collect();
        let expected = [
            "tmp/0 is held open by pid 9 (sleep 120)",
            "tmp/1 is held open by pid 9 (sleep 120)",
            "tmp/2 is held open by pid 9 (sleep 120)",
            "… and 2 more paths of the same process",
            "    it was alive after the grace (no pipe held); started by pid 7 (sh); started 1.2 s after the check began; \
             during test_a",
            "exit status 1, expected 0",
        ];
        assert_eq!(lines(&all, false), expected);
        assert_eq!(lines(&all, true).len(), 7);
    }

    #[test]
    fn many_processes_are_counted() {
        let leaks: Vec<_> = (0..9)
            .map(|pid| of(Kind::LeakedProcess, pid, &format!("pid {pid} (sleep 120) was alive after the grace")))
            .collect();
        let shown = lines(&leaks.iter().collect::<Vec<_>>(), false);
        assert_eq!(shown.len(), 2 * GROUPS + 1);
        assert_eq!(shown.last().map(String::as_str), Some("… and 5 more findings (all: --verbose)"));
    }
}
