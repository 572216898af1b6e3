//! From what the platform saw to findings: pure decisions, one file per question.
//!
//! Nothing here looks at the system. What could not be looked at arrives as text and leaves as `probe-blind`.

mod blame;
mod faults;
mod forbidden;
mod holds;
mod lasting;
mod leaks;
mod names;
mod pipes;
mod places;
mod publish;
mod refused;
mod residue;
mod tripped;
pub mod windows_rules;

pub use blame::Blame;
pub use faults::{idle as idle_faults, made as made_faults};
pub use names::{
    Illegal, findings as name_findings, illegal, of_the_run as names_of_the_run, project_room, temp_room,
    unlisted as unlisted_names,
};
pub use places::Places;
pub use residue::{Change, Moved, OfGit, What, Where, is_lock, moved, residue, unknown};

use lasting::Lasting;

use crate::model::{
    Check, FAULTS, FORBIDDEN_COMMANDS, Finding, Frame, Kind, PUBLISHED_FILES, ProcessRef, Severity, WINDOWS_RULES,
    remedy, to_see_all,
};
use crate::platform::{self, Ended, Outcome, Stranger, Unread};

/// Everything that the job's end showed, in no particular order. All of it, however much: what is allowed is judged one
/// by one, and the platform reads a bounded number of processes.
#[must_use]
pub fn findings(
    outcome: &Outcome,
    strangers: &[Stranger],
    places: &Places,
    blame: &Blame<'_>,
    frames: &[Frame],
    check: &Check,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    if outcome.ended == Ended::ByItself {
        let lasting = Lasting::of(outcome, check);
        findings.extend(leaks::leaked(outcome, blame));
        findings.extend(leaks::lasting(&lasting, blame));
        findings.extend(holds::held(&outcome.alive, places, blame));
        findings.extend(holds::held_meanwhile(&lasting, places, blame));
        findings.extend(pipes::held(outcome, &lasting, blame));
        findings.extend(leaks::late(outcome, &lasting, places));
    }
    if outcome.ended != Ended::Cancelled {
        let known: Vec<u32> = outcome.alive.iter().map(|process| process.pid).collect();
        findings.extend(refused::found(outcome, places, blame));
        findings.extend(publish::torn(outcome, places, blame));
        findings.extend(forbidden::called(outcome, places, blame));
        findings.extend(leaks::outside(strangers));
        for stranger in strangers.iter().filter(|stranger| !known.contains(&stranger.process.pid)) {
            findings.extend(holds::held(std::slice::from_ref(&stranger.process), places, blame));
        }
        findings.extend(holds::removed(outcome, strangers, places, blame, check.rules));
    }
    findings.extend(leaks::survivors(outcome));
    findings.extend(blind(outcome));
    tripped::tripped(&mut findings, frames, places);
    findings
}

/// What the looks could not see, said once for the whole run.
#[must_use]
pub fn unseen(blind: &[String], unread: &[Unread], strict: bool) -> Vec<Finding> {
    let severity = if strict { Severity::Error } else { Severity::Warning };
    let warning = |message| Finding::new(Kind::ProbeBlind, severity, message);
    let mut findings: Vec<Finding> = blind
        .iter()
        .map(|why| {
            let (probe, reason) = why.split_once(": ").unwrap_or((why, ""));
            let told = match probe {
                WINDOWS_RULES | FAULTS => why.clone(),
                FORBIDDEN_COMMANDS => format!("could not see every call of a forbidden command: {reason}"),
                PUBLISHED_FILES => format!("could not see how all published files appeared: {reason}"),
                _ => format!("could not look for holders: {why}"),
            };
            Finding { remedy: remedy(probe, reason).map(str::to_owned), ..warning(told) }
        })
        .collect();
    if let Some(first) = unread.first() {
        let who = ProcessRef { pid: first.pid, argv: first.argv.clone() }.short();
        let more = if unread.len() > 1 { format!(" and {} more", unread.len() - 1) } else { String::new() };
        let mut finding = warning(format!("could not look into {who}{more}: what they hold of a sandbox is unknown"));
        finding.remedy = Some(to_see_all(platform::current()).to_owned());
        findings.push(finding);
    }
    findings
}

fn blind(outcome: &Outcome) -> Vec<Finding> {
    let mut told = Vec::new();
    for process in &outcome.alive {
        let who = process.short();
        told.extend(process.unread.iter().map(|what| format!("{who}: {what}")));
    }
    told.into_iter()
        .map(|why| Finding::new(Kind::ProbeBlind, Severity::Warning, format!("could not look: {why}")))
        .collect()
}
