//! Calls that were refused, as Windows would have refused them.

use super::{Blame, Places, holds};
use crate::model::{Act, Exit, Finding, Kind, Process, RefusedCall, Rule, Severity};
use crate::platform::Outcome;

/// A finding for each. What was let through, since it is not sure that Windows refuses it, is a note; so is what a check
/// got over that ended well: on Windows it would, too. A file that it made writable first, as it must there, is told only if
/// it failed: that may be why.
pub fn found(outcome: &Outcome, places: &Places, blame: &Blame<'_>) -> Vec<Finding> {
    let told = |refused: &&RefusedCall| !(refused.is_mended() && ended_well(outcome));
    outcome.refused.iter().filter(told).map(|refused| finding(refused, outcome, places, blame)).collect()
}

fn ended_well(outcome: &Outcome) -> bool {
    outcome.exit == Some(Exit::Code(0))
}

fn finding(refused: &RefusedCall, outcome: &Outcome, places: &Places, blame: &Blame<'_>) -> Finding {
    let name = places.name(&refused.path);
    let done = match refused.act {
        Act::Remove => "removed",
        Act::Rename => "renamed",
        Act::Replace => "replaced",
    };
    let why = match &refused.holder {
        Some((process, hold)) => {
            let what = if hold.path == refused.path { "it".to_owned() } else { places.name(&hold.path) };
            format!("{what} is {} {}", hold.how.phrase(), process.short())
        }
        None if refused.is_mended() => "it was read-only".to_owned(),
        None if refused.refusal.rule == Rule::ReadOnly => "it is read-only".to_owned(),
        None if refused.refusal.rule == Rule::TargetDirectory => "it is a directory".to_owned(),
        None => "it is in use by a process that is gone".to_owned(),
    };
    let times = if refused.times > 1 { format!(", {} times", refused.times) } else { String::new() };
    let call = format!("{}, WinError {}{times}", refused.call, refused.refusal.winerror);
    let (severity, message) = if refused.predicted {
        let unless = match refused.refusal.rule {
            Rule::OpenFile => holds::UNLESS_SHARED,
            Rule::OpenTarget | Rule::TargetDirectory => "some versions of Windows refuse that",
            _ => "Windows may refuse that",
        };
        (Severity::Note, format!("{name} was {done} ({call}) though {why}: {unless}"))
    } else if refused.overcome {
        let message = format!("{name} could not be {done} at first, as on Windows ({call}), and then it could: {why}");
        let note = refused.is_mended() || ended_well(outcome);
        (if note { Severity::Note } else { Severity::Error }, message)
    } else {
        (Severity::Error, format!("{name} could not be {done}, as on Windows ({call}): {why}"))
    };
    let mut finding = Finding::new(Kind::RefusedByWindows, severity, message);
    finding.path = Some(name);
    finding.call = Some(refused.call.clone());
    finding.winerror = Some(refused.refusal.winerror);
    if let Some((process, hold)) = &refused.holder {
        finding.how = Some(hold.how);
        finding.deleted = Some(false);
        finding.case = blame.case(process, Some(&hold.path));
        finding.remedy = Some(holds::remedy(hold.how).to_owned());
        finding.process = Some(Process { holds: vec![hold.clone()], ..process.clone() });
    }
    finding
}
