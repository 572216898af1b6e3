//! Directories and files that a process keeps from being removed.

use super::{Blame, Places};
use crate::model::{Finding, Hold, How, Kind, Process, Severity};
use crate::platform::Outcome;

/// The holds of processes that outlived the grace.
pub fn held(alive: &[Process], places: &Places, blame: &Blame<'_>) -> Vec<Finding> {
    alive.iter().flat_map(|process| process.holds.iter().map(|hold| finding(process, hold, places, blame))).collect()
}

/// What was removed during the run while a process of the check held it. Windows would have refused that. A note: here
/// it went well, and what outlived the check is told apart from this.
pub fn removed(outcome: &Outcome, places: &Places, blame: &Blame<'_>) -> Vec<Finding> {
    let told = |process: &Process, hold: &Hold| {
        let outlived = outcome.alive.iter().find(|alive| alive.pid == process.pid);
        outlived.is_some_and(|alive| alive.holds.iter().any(|other| other.path == hold.path))
    };
    let mut findings = Vec::new();
    for process in &outcome.removed {
        for hold in process.holds.iter().filter(|hold| !told(process, hold)) {
            let mut finding = finding(process, hold, places, blame);
            finding.severity = Severity::Note;
            let name = places.name(&hold.path);
            finding.message = format!(
                "{name} was removed while it was {} {}: Windows refuses that",
                hold.how.phrase(),
                process.short()
            );
            findings.push(finding);
        }
    }
    findings
}

fn finding(process: &Process, hold: &Hold, places: &Places, blame: &Blame<'_>) -> Finding {
    let kind = if hold.directory { Kind::HeldDirectory } else { Kind::HeldFile };
    // A process that merely stands in the project keeps nothing of the sandbox.
    let severity = if is_project_itself(hold, places) { Severity::Note } else { Severity::Error };
    let name = places.name(&hold.path);
    let gone = if hold.deleted { ", though it was already removed" } else { "" };
    let mut finding =
        Finding::new(kind, severity, format!("{name} is {} {}{gone}", hold.how.phrase(), process.short()));
    finding.path = Some(name);
    finding.how = Some(hold.how);
    finding.deleted = Some(hold.deleted);
    finding.case = blame.case(process, Some(&hold.path));
    finding.process = Some(process.clone());
    finding.remedy = Some(remedy(hold.how).to_owned());
    finding
}

fn is_project_itself(hold: &Hold, places: &Places) -> bool {
    !hold.deleted && !places.in_sandbox(&hold.path) && matches!(hold.how, How::Cwd | How::Root)
}

fn remedy(how: How) -> &'static str {
    match how {
        How::Cwd => "give the detached child a cwd that outlives the test (cwd=… where it is started)",
        How::Root => "leave the chroot, or end the process, before the directory is removed",
        How::Descriptor => "close it, or end the process and wait for it, before the path is removed",
        How::Executable => "end the program, and wait for it, before its file is removed",
        How::ThreadCwd => "let the thread leave it, or end the process, before the directory is removed",
        How::Socket => "close the socket and remove its file, or end the process and wait for it",
        How::Mount => "unmount it, or end the process and wait for it, before the directory is removed",
        How::Mapping => "unmap it, or end the process and wait for it, before the file is removed",
    }
}
