//! Directories and files that a process keeps from being removed.

use std::collections::HashSet;

use super::lasting::Lasting;
use super::{Blame, Places, windows_rules};
use crate::model::{
    Act, Answer, Came, Finding, Hold, Holder, How, Kind, Process, RefusedCall, Rules, Severity, Target, WindowsRules,
};
use crate::platform::{Ended, Outcome, Stranger};

/// The holds of processes that outlived the grace.
pub fn held(alive: &[Process], places: &Places, blame: &Blame<'_>) -> Vec<Finding> {
    alive.iter().flat_map(|process| process.holds.iter().map(|hold| finding(process, hold, places, blame))).collect()
}

/// The directories, and what was removed already, that those held beyond the grace which ended by themselves. Files that are
/// still there they may have: they are gone before the files are.
pub fn held_meanwhile(lasting: &Lasting<'_>, places: &Places, blame: &Blame<'_>) -> Vec<Finding> {
    let holds =
        lasting.processes.iter().flat_map(|(process, _)| process.holds.iter().map(move |hold| (*process, hold)));
    let kept = holds.filter(|(_, hold)| (hold.directory || hold.deleted) && !is_project_itself(hold, places));
    kept.map(|(process, hold)| finding(process, hold, places, blame)).collect()
}

/// What was removed during the run while a process held it, of the check or not. Windows would have refused that. A note:
/// here it went well, and what outlived the check is told apart from this.
///
/// A process that the time limit ended outlived nothing, and held by right what was still there; so what was removed
/// under it is told here.
///
/// Where Windows' rules are asked for, such a removal of a directory is an error: it was not refused, since the rules
/// can't be kept here, or since whoever did it or sat there is no process of the check. Of a file it can't be told
/// afterwards who opened it how, so that nothing is sure.
pub fn removed(
    outcome: &Outcome,
    strangers: &[Stranger],
    places: &Places,
    blame: &Blame<'_>,
    rules: Rules,
) -> Vec<Finding> {
    let by_itself = outcome.ended == Ended::ByItself;
    let told = |process: &Process, hold: &Hold| {
        let is_it = |other: &&Process| other.pid == process.pid;
        let outlived = outcome.alive.iter().find(is_it).filter(|_| by_itself);
        let outlived = outlived.or_else(|| strangers.iter().map(|stranger| &stranger.process).find(is_it));
        outlived.is_some_and(|process| process.holds.iter().any(|other| other.path == hold.path))
    };
    let seen = outcome.removed.iter().flat_map(|process| process.holds.iter().map(move |hold| (process, hold)));
    let at_limit = outcome.alive.iter().filter(|_| !by_itself);
    let at_limit = at_limit.flat_map(|process| process.holds.iter().map(move |hold| (process, hold)));
    let mut known: HashSet<(u32, &str)> = HashSet::new();
    let mut findings = Vec::new();
    for (process, hold) in seen.chain(at_limit.filter(|(_, hold)| hold.deleted)) {
        let answered = |refused: &RefusedCall| {
            refused.path == hold.path && refused.holder.as_ref().is_some_and(|(holder, _)| holder.pid == process.pid)
        };
        if told(process, hold) || outcome.refused.iter().any(answered) || !known.insert((process.pid, &hold.path)) {
            continue;
        }
        let answer = windows(process, hold);
        let says = match answer {
            Answer::Allow => continue,
            Answer::Refuse(_) if hold.how != How::Descriptor => "Windows refuses that",
            Answer::Refuse(_) | Answer::Predict(_) => UNLESS_SHARED,
        };
        let mut finding = finding(process, hold, places, blame);
        finding.kind = Kind::RefusedByWindows;
        let is_sure = hold.directory && matches!(answer, Answer::Refuse(_));
        finding.severity = if is_sure && rules == Rules::Windows { Severity::Error } else { Severity::Note };
        if let Answer::Refuse(refusal) = answer {
            finding.winerror = Some(refusal.winerror);
        }
        let name = places.name(&hold.path);
        let gone = if hold.directory { "removed" } else { "removed or replaced" };
        finding.message = format!("{name} was {gone} while it was {} {}: {says}", hold.how.phrase(), process.short());
        findings.push(finding);
    }
    findings
}

/// What is said where it is not known who opened something.
pub const UNLESS_SHARED: &str = "Windows would refuse that unless it was opened with delete sharing";

/// What Windows makes of the removal.
fn windows(process: &Process, hold: &Hold) -> Answer {
    let program = process.argv.first().map(|word| word.rsplit('/').next().unwrap_or(word)).unwrap_or_default();
    let holder = Holder { how: hold.how, program, below: false, directory: hold.directory, came: Came::Opened };
    let target = if hold.directory { Target::Directory } else { Target::File { read_only: false, temporary: false } };
    windows_rules::judge(Act::Remove, "", target, &[holder], &WindowsRules::default())
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
    // The process itself is told with all that it holds; here that would be as much again for every hold.
    finding.process = Some(Process { holds: vec![hold.clone()], ..process.clone() });
    finding.remedy = Some(remedy(hold.how).to_owned());
    finding
}

fn is_project_itself(hold: &Hold, places: &Places) -> bool {
    !hold.deleted && !places.in_sandbox(&hold.path) && matches!(hold.how, How::Cwd | How::Root)
}

pub fn remedy(how: How) -> &'static str {
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
