//! Faults: which were made, and which were not.

use super::Places;
use crate::model::{Check, Effect, FAULTS, Fault, FaultSeen, Finding, Kind, Severity, remedy};
use crate::platform::{Ended, Outcome};
use crate::words::{counted, duration};

/// A finding for each fault that was never made, and for why none could be: what did not fail proves nothing.
#[must_use]
pub fn idle(outcome: &Outcome, check: &Check) -> Vec<Finding> {
    if check.faults.is_empty() || outcome.ended == Ended::Cancelled {
        return Vec::new();
    }
    if let Some(why) = &outcome.faultless {
        let message = format!("{FAULTS}: none could be made: {why}");
        let mut finding = Finding::new(Kind::ProbeBlind, Severity::Error, message);
        finding.remedy = remedy(FAULTS, why).map(str::to_owned);
        return vec![finding];
    }
    let none = FaultSeen::default();
    let seen = outcome.faults.iter().chain(std::iter::repeat(&none));
    check.faults.iter().zip(seen).filter(|(_, seen)| seen.made == 0).map(|(fault, seen)| finding(fault, seen)).collect()
}

fn finding(fault: &Fault, seen: &FaultSeen) -> Finding {
    let was = match fault.effect {
        Effect::Errno(errno) => format!("never failed with {}", errno.name()),
        Effect::Delay(time) => format!("was never delayed by {}", duration(time)),
    };
    let of = fault.path.as_ref().map(|path| format!(" of {path}")).unwrap_or_default();
    let there = match seen.matched {
        0 => format!("no {}{of} was seen", fault.call.name()),
        number => format!("only {} of it {} seen", counted(number, "call"), if number == 1 { "was" } else { "were" }),
    };
    let message = format!("{} {was}: {there}", fault.subject());
    let mut finding = Finding::new(Kind::IdleFault, Severity::Error, message);
    finding.remedy = Some("let the test come to that call, or look at what it calls it on (`path`, `nth`)".to_owned());
    finding
}

/// What is to be said of those that were made, in sentences.
#[must_use]
pub fn made(outcome: &Outcome, check: &Check, places: &Places) -> Vec<String> {
    let told = |(fault, seen): (&Fault, &FaultSeen)| {
        let first = seen.first.as_ref()?;
        let was = match fault.effect {
            Effect::Errno(errno) => format!("failed with {}, as asked for", errno.name()),
            Effect::Delay(time) => format!("was delayed by {}, as asked for", duration(time)),
        };
        let by = first.caller.as_ref().map(|caller| format!(" by {}", caller.short())).unwrap_or_default();
        let when = format!("{}.{} s after the start", first.at_ms / 1000, first.at_ms % 1000 / 100);
        let times = if seen.made > 1 { format!(", the first of {}", seen.made) } else { String::new() };
        Some(format!("{} {was}: {}{by}, {when}{times}", fault.subject(), places.name(&first.what)))
    };
    check.faults.iter().zip(&outcome.faults).filter_map(told).collect()
}
