//! Published files that did not appear whole.

use super::{Blame, Places};
use crate::model::{Finding, Kind, Severity};
use crate::platform::{Ended, Outcome, Published, Torn};

/// A finding for each: an error where a reader could find less than the whole file, unless it lies outside the sandbox and
/// it is not known that a process of the check did it. What the end of the check cut short
/// from outside is no way of publishing.
pub fn torn(outcome: &Outcome, places: &Places, blame: &Blame<'_>) -> Vec<Finding> {
    let cut = outcome.ended == Ended::Cancelled;
    outcome.published.iter().filter(|_| !cut).map(|published| finding(published, places, blame)).collect()
}

fn finding(published: &Published, places: &Places, blame: &Blame<'_>) -> Finding {
    let name = places.name(&published.path);
    let by = match (&published.writer, published.sure) {
        (Some(writer), true) => format!("by {}", writer.short()),
        (Some(writer), false) => format!("by {}, as far as could be seen", writer.short()),
        (None, _) => "by a process that could not be named".to_owned(),
    };
    let (kind, severity, message) = match published.torn {
        Torn::MadeInPlace => (
            Kind::TornPublish,
            Severity::Error,
            format!("{name} was made in place {by}: a reader can find it empty or half-written"),
        ),
        Torn::ChangedInPlace => (
            Kind::TornPublish,
            Severity::Error,
            format!("{name} was changed in place {by}: a reader can find it half-written"),
        ),
        Torn::RenamedTooEarly => (
            Kind::TornPublish,
            Severity::Error,
            format!("{name} was renamed into place and then written to {by}: a reader can find it half-written"),
        ),
        Torn::Gap => (
            Kind::TornPublish,
            Severity::Note,
            format!("{name} was removed before its successor was renamed into place: a reader can find none"),
        ),
        Torn::Unseen => (
            Kind::ProbeBlind,
            Severity::Warning,
            format!("could not see how {name} appeared: its folder had been made a moment before"),
        ),
    };
    // What other checks and people do in the project is not this check's doing.
    let may_be_strangers = published.writer.is_none() && !places.in_sandbox(&published.path);
    let severity = if may_be_strangers && severity == Severity::Error { Severity::Warning } else { severity };
    let mut finding = Finding::new(kind, severity, message);
    let remedy = match published.torn {
        Torn::MadeInPlace | Torn::ChangedInPlace => {
            "write to a draft beside it that no glob of `publishes` matches, then rename the draft (os.replace, mv)"
        }
        Torn::RenamedTooEarly => "close the draft, or flush it, before it is renamed",
        Torn::Gap => "rename over the old file; nothing need be removed before (os.replace, mv)",
        Torn::Unseen => "let the folder be there before the check begins",
    };
    finding.remedy = Some(remedy.to_owned());
    finding.path = Some(name);
    finding.case = blame.case_at(published.writer.as_ref(), &published.path, published.at_ms);
    finding.process.clone_from(&published.writer);
    finding
}
