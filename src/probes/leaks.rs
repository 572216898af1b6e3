//! Processes that outlived their check.

use super::lasting::Lasting;
use super::{Blame, Places};
use crate::model::{Finding, Kind, Process, Severity};
use crate::platform::{Outcome, Stranger};

/// Those that were alive after the grace.
pub fn leaked(outcome: &Outcome, blame: &Blame<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = outcome
        .alive
        .iter()
        .map(|process| {
            let path = process.holds.iter().find(|hold| hold.deleted).map(|hold| hold.path.as_str());
            let mut finding = Finding::new(
                Kind::LeakedProcess,
                Severity::Error,
                format!("{} was alive after the grace{}", process.short(), manner(process)),
            );
            finding.case = blame.case(process, path);
            finding.process = Some(process.clone());
            finding.remedy = Some("end it in the test that starts it, and wait for it".to_owned());
            finding
        })
        .collect();
    if outcome.unnamed > 0 {
        let what = if outcome.unnamed == 1 { "a process".to_owned() } else { format!("{} processes", outcome.unnamed) };
        let more = if outcome.alive.is_empty() { "" } else { " more" };
        findings.push(Finding::new(
            Kind::LeakedProcess,
            Severity::Error,
            format!("{what}{more} had to be ended that started too late, or came and went too fast, to be named"),
        ));
    }
    findings
}

/// Those that were alive after the grace, and ended by themselves while it was waited for those that are declared.
pub fn lasting(lasting: &Lasting<'_>, blame: &Blame<'_>) -> Vec<Finding> {
    let finding = |&(process, ended_us): &(&Process, u64)| {
        let message = format!(
            "{} was alive after the grace{}, and ended {} after the check",
            process.short(),
            manner(process),
            seconds(ended_us)
        );
        let mut finding = Finding::new(Kind::LeakedProcess, Severity::Error, message);
        finding.case = blame.case(process, None);
        finding.ended_ms = Some(ended_us.div_ceil(1000));
        finding.process = Some(process.clone());
        finding.remedy =
            Some("declare it (`allow` with `ends_within`), or end it in the test that starts it".to_owned());
        finding
    };
    lasting.processes.iter().map(finding).collect()
}

/// Those that were started for the check outside its tree (by a server that ran before), and carry its mark.
pub fn outside(strangers: &[Stranger]) -> Vec<Finding> {
    strangers
        .iter()
        .filter(|stranger| stranger.marked.is_some())
        .map(|stranger| {
            let process = &stranger.process;
            let mut finding = Finding::new(
                Kind::LeakedProcess,
                Severity::Error,
                format!("{} was started for the check outside its process tree, and outlived it", process.short()),
            );
            finding.process = Some(process.clone());
            finding.remedy = Some("end it in the test that has it started, and wait for it".to_owned());
            finding
        })
        .collect()
}

/// Those that ended by themselves within the grace.
pub fn late(outcome: &Outcome, lasting: &Lasting<'_>, places: &Places) -> Vec<Finding> {
    let ended = outcome.late.iter().filter(|late| !lasting.has(&late.process));
    let ended = ended.filter_map(|late| Some((&late.process, late.ended_us?)));
    ended
        .map(|(process, ended_us)| {
            let mut holds: Vec<String> = process
                .holds
                .iter()
                .filter(|hold| places.in_sandbox(&hold.path) || hold.deleted)
                .map(|hold| format!("{} was {} it", places.name(&hold.path), hold.how.phrase()))
                .collect();
            holds.extend(process.pipes.iter().map(|stream| format!("{} was held open by it", stream.name())));
            let meanwhile = if holds.is_empty() { String::new() } else { format!("; meanwhile {}", holds.join(", ")) };
            let mut finding = Finding::new(
                Kind::LateExit,
                Severity::Note,
                format!("{} ended {} after the check{meanwhile}", process.short(), seconds(ended_us)),
            );
            finding.process = Some(process.clone());
            finding
        })
        .collect()
}

/// Those that could not be ended.
pub fn survivors(outcome: &Outcome) -> Vec<Finding> {
    outcome
        .survivors
        .iter()
        .map(|process| {
            let state = process.state.as_deref().unwrap_or("in an unknown state");
            let mut finding = Finding::new(
                Kind::Survivor,
                Severity::Error,
                format!("{} could not be ended; it is {state}", process.short()),
            );
            finding.process = Some(process.clone());
            finding.remedy = Some(format!("end it by hand: kill -9 {}", process.pid));
            finding
        })
        .collect()
}

/// Whole and tenths of a second.
fn seconds(us: u64) -> String {
    let tenths = us.div_ceil(100_000);
    format!("{}.{} s", tenths / 10, tenths % 10)
}

/// How it got away, in a few words.
fn manner(process: &Process) -> String {
    let mut words = Vec::new();
    if process.own_session {
        words.push("own session");
    }
    if process.pipes.is_empty() {
        words.push("no pipe held");
    }
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}
