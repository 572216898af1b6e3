//! Calls that were refused, as Windows would have refused them.

use super::{Blame, Places, holds};
use crate::model::{Act, Finding, Frame, Kind, Process, RefusedCall, Rule, Severity};
use crate::platform::Outcome;

/// A finding for each, with the frame of the output that it shows at.
pub fn found(outcome: &Outcome, places: &Places, blame: &Blame<'_>, frames: &[Frame]) -> Vec<Finding> {
    outcome.refused.iter().map(|refused| finding(refused, places, blame, frames)).collect()
}

fn finding(refused: &RefusedCall, places: &Places, blame: &Blame<'_>, frames: &[Frame]) -> Finding {
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
        None if refused.refusal.rule == Rule::ReadOnly => "it is read-only".to_owned(),
        None => "it is in use by a process that is gone".to_owned(),
    };
    let times = if refused.times > 1 { format!(", {} times", refused.times) } else { String::new() };
    let message = format!(
        "{name} could not be {done}, as on Windows ({}, WinError {}{times}): {why}",
        refused.call, refused.refusal.winerror
    );
    let mut finding = Finding::new(Kind::RefusedByWindows, Severity::Error, message);
    finding.path = Some(name);
    finding.call = Some(refused.call.clone());
    finding.winerror = Some(refused.refusal.winerror);
    let frame = frame(refused, frames);
    finding.case = frame.and_then(|frame| frame.case.clone());
    finding.frame = frame.cloned();
    if let Some((process, hold)) = &refused.holder {
        finding.how = Some(hold.how);
        finding.deleted = Some(false);
        finding.case = finding.case.or_else(|| blame.case(process, Some(&hold.path)));
        finding.remedy = Some(holds::remedy(hold.how).to_owned());
        finding.process = Some(Process { holds: vec![hold.clone()], ..process.clone() });
    }
    finding
}

/// The frame whose error names the path, or else the only one that says what the call said.
fn frame<'a>(refused: &RefusedCall, frames: &'a [Frame]) -> Option<&'a Frame> {
    const SAID: [&str; 6] = ["Errno 16", "EBUSY", "resource busy", "Errno 13", "EACCES", "Permission denied"];
    let error = |frame: &&Frame| frame.error.clone().unwrap_or_default();
    let name = refused.path.rsplit('/').next().unwrap_or_default();
    let says = |frame: &&Frame| SAID.iter().any(|word| error(frame).contains(word));
    let names = |frame: &&Frame| !name.is_empty() && error(frame).contains(name);
    let mut saying = frames.iter().filter(says);
    frames.iter().find(|frame| names(frame) && says(frame)).or_else(|| {
        let only = saying.next()?;
        saying.next().is_none().then_some(only)
    })
}
