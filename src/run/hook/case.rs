//! One event, and what came of its calls.

use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use super::call::Call;
use super::find::is_manager;
use super::proof::{Evidence, last_line, proof};
use super::protocol::{Answer, answer, has, json};
use crate::model::{
    CaseOutcome, Check, Decision, EventInput, Exit, Expected, Finding, HookCall, HookEvent, Kind, ProcessTimes,
    Severity,
};
use crate::platform::{Captured, Ended, Outcome};
use crate::probes::{self, Blame, Places};
use crate::run::output;
use crate::run::records::{processes, start_error};
use crate::run::settle::at_limit;
use crate::words::duration;

/// How much of a hook's output is read; hosts read less.
const MOST: u64 = 1 << 20;

/// One call that came to an end.
pub struct Seen<'s> {
    pub call: &'s Call<'s>,
    pub argv: Vec<String>,
    pub outcome: Outcome,
    /// The files that were read meanwhile; `None` where the system does not tell.
    pub read: Option<&'s [PathBuf]>,
    pub places: &'s Places,
    pub check: &'s Check,
}

/// What one call came to.
pub struct Answered {
    pub told: HookCall,
    /// What its stdout is, where that is JSON, and its host reads it.
    json: Option<serde_json::Value>,
    /// Why it is no answer at all.
    without: Option<String>,
    /// It was ended at a limit, or kept its host waiting beyond it.
    pub late: Option<String>,
}

/// One event, and what came of it.
pub struct Case {
    pub name: String,
    expect: Expected,
    pub cold: bool,
    pub calls: Vec<Answered>,
    /// Why nothing was called.
    without: Option<String>,
    pub findings: Vec<Finding>,
    pub processes: Vec<ProcessTimes>,
    pub outcomes: Vec<(Outcome, Vec<String>)>,
    /// How long its calls took, of those at once the longest.
    pub duration_us: u64,
}

impl Case {
    /// Of an event by its place among all, before it is called for. `cold`: nothing was called before.
    pub fn new(event: &HookEvent, at: usize, cold: bool) -> Self {
        let expected = match &event.expect {
            Expected::Decision(decision) => decision.name().to_owned(),
            Expected::Json(_) => "json".to_owned(),
        };
        let input = match &event.input {
            EventInput::File(file) => file,
            EventInput::Sample(_) => "sample",
        };
        Self {
            name: event.name.clone().unwrap_or_else(|| format!("{} {input}: {expected}", at + 1)),
            expect: event.expect.clone(),
            cold,
            calls: Vec::new(),
            without: None,
            findings: Vec::new(),
            processes: Vec::new(),
            outcomes: Vec::new(),
            duration_us: 0,
        }
    }

    /// One that was not called for at all.
    pub fn never(event: &HookEvent, at: usize, why: &str) -> Self {
        Self::new(event, at, false).without(why.to_owned())
    }

    /// One that nothing was called for.
    #[must_use]
    pub fn without(self, why: String) -> Self {
        Self { without: Some(why), ..self }
    }

    /// A command that could not even be looked up.
    pub fn not_started(&mut self, call: &Call<'_>, why: &str) {
        let why = format!("did not start: {why}");
        let told = HookCall {
            case: self.name.clone(),
            command: call.command.command.clone(),
            cold: self.cold,
            took_ms: 0,
            duration_ms: 0,
            stdout_end_ms: None,
            exit: None,
            proof: None,
            decision: None,
            why: why.clone(),
        };
        self.calls.push(Answered { told, json: None, without: Some(why), late: None });
    }

    /// Takes in a call.
    pub fn seen(&mut self, seen: Seen<'_>) {
        let Seen { call, argv, outcome, read, places, check } = seen;
        if let Some(error) = &outcome.not_started {
            return self.not_started(call, &start_error(error));
        }
        let wiring = call.wiring;
        let (stdout, stderr) = (text(&outcome.stdout), text(&outcome.stderr));
        let answered = json(&stdout).and_then(Result::ok);
        let read: Option<Vec<PathBuf>> =
            read.map(|read| read.iter().filter(|file| call.watched.contains(file)).cloned().collect());
        let evidence = Evidence {
            command: call.command,
            project: &places.project,
            exit: outcome.exit,
            stderr: &stderr,
            answered: answered.is_some(),
            read: read.as_deref(),
        };
        let (proof, mut without) = match proof(&evidence) {
            Ok(proof) => (Some(proof), None),
            Err(why) => (None, Some(why)),
        };
        if let Some(why) = outcome.stdout.lost.as_ref().filter(|_| without.is_none()) {
            without = Some(format!("its answer was lost: {why}"));
        }
        let event = wiring.event.as_deref().unwrap_or_default();
        let event = if is_manager(wiring.host) { event.split(", ").next().unwrap_or_default() } else { event };
        let answer = if wiring.flow.goes_on {
            Answer::of_nobody(wiring.host)
        } else {
            answer(wiring.host, event, outcome.exit, &stdout)
        };
        let took_us = took_us(&outcome, check);
        let late = self.late(call, &outcome, took_us, check);
        let failed = answer.decision.is_none().then(|| format!("{}{}", answer.why, last_line(&stderr)));
        let why = without.clone().or(failed).unwrap_or(answer.why);
        let told = HookCall {
            case: self.name.clone(),
            command: call.command.command.clone(),
            cold: self.cold,
            took_ms: took_us / 1000,
            duration_ms: outcome.duration_us / 1000,
            stdout_end_ms: outcome.stdout.end_us.map(|us| us / 1000),
            exit: outcome.exit,
            proof,
            decision: answer.decision.filter(|_| without.is_none()),
            why,
        };
        let json = answered.filter(|_| outcome.exit == Some(Exit::Code(0)));
        self.calls.push(Answered { told, json, without: without.filter(|_| late.is_none()), late });
        let blame = Blame { cases: &[], complete: false };
        let found = probes::findings(&outcome, &[], places, &blame, &[], check);
        let of_case = |finding: Finding| Finding { case: finding.case.or_else(|| Some(self.name.clone())), ..finding };
        self.findings.extend(found.into_iter().map(of_case));
        self.processes.extend(processes(&outcome));
        self.outcomes.push((outcome, argv));
    }

    /// Says what is to be said of the time that it took. Returns why it is too late, if it is.
    fn late(&mut self, call: &Call<'_>, outcome: &Outcome, took_us: u64, check: &Check) -> Option<String> {
        let limit = call.wiring.limit.as_ref().map(|limit| limit.ms);
        let end = match outcome.ended {
            Ended::Timeout => End::AtLimit,
            // Nobody waits for it.
            _ if call.wiring.flow.goes_on => return None,
            _ if outcome.stdout.end_us.is_none() => End::Held,
            _ => End::ByItself,
        };
        let (severity, said) = of_time(call.wiring.host.name(), limit, took_us / 1000, end, check.timeout)?;
        let doing = at_limit(outcome).map(|doing| format!(": {doing}")).unwrap_or_default();
        let which = if self.cold { "the first time" } else { "not the first time" };
        let mut finding = Finding::new(Kind::Timeout, severity, format!("{}: {said}{doing} ({which})", self.name));
        finding.case = Some(self.name.clone());
        finding.remedy = Some("make it faster, hand its work to a detached worker, or give it more".to_owned());
        self.findings.push(finding);
        (severity == Severity::Error).then_some(said)
    }

    /// The outcome, and what is wrong with it.
    pub fn judged(&self) -> (CaseOutcome, Option<String>) {
        if let Some(why) = &self.without {
            return (CaseOutcome::Unknown, Some(why.clone()));
        }
        if let Some(why) = self.calls.iter().find_map(|call| call.late.clone()) {
            return (CaseOutcome::Failed, Some(why));
        }
        if let Some(why) = self.calls.iter().find_map(|call| call.without.clone()) {
            return (CaseOutcome::Unknown, Some(why));
        }
        let wrong = match &self.expect {
            Expected::Decision(wanted) => match self.decision() {
                Err(why) => Some(why),
                Ok((decision, _)) if decision == *wanted => None,
                Ok((decision, why)) => {
                    Some(format!("expected {}, and it is {}: {why}", wanted.name(), decision.name()))
                }
            },
            Expected::Json(wanted) => self.lacks(wanted),
        };
        if wrong.is_none() { (CaseOutcome::Passed, None) } else { (CaseOutcome::Failed, wrong) }
    }

    /// Why no answer has that JSON in it; `None` if one has.
    fn lacks(&self, wanted: &str) -> Option<String> {
        let wanted: serde_json::Value = serde_json::from_str(wanted).unwrap_or_default();
        let mut said = self.calls.iter().filter_map(|call| call.json.as_ref());
        if said.clone().any(|json| has(json, &wanted)) {
            return None;
        }
        let said = said.next().map_or_else(|| "without JSON and status 0".to_owned(), ToString::to_string);
        Some(format!("expected {wanted} in its JSON, and it answered {said}"))
    }

    /// What the host makes of all answers together: the sternest counts.
    ///
    /// # Errors
    ///
    /// Why one of them is none.
    fn decision(&self) -> Result<(Decision, &str), String> {
        if let Some(call) = self.calls.iter().find(|call| call.told.decision.is_none()) {
            return Err(call.told.why.clone());
        }
        let decided = self.calls.iter().filter_map(|call| Some((call.told.decision?, call.told.why.as_str())));
        let sternest = decided.max_by_key(|(decision, _)| match decision {
            Decision::Allow => 0,
            Decision::Ask => 1,
            Decision::Block => 2,
        });
        sternest.ok_or_else(|| "nothing was called".to_owned())
    }
}

/// How a host's waiting ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    ByItself,
    /// The call was ended.
    AtLimit,
    /// It does not: somebody still had stdout open when no one looked any more.
    Held,
}

/// What is to be said of a time that a host waited, and how much that weighs: beyond its limit an error, from four fifths of
/// it on a note. Whoever was ended before was ended by the check's own limit.
fn of_time(host: &str, limit_ms: Option<u64>, took_ms: u64, end: End, own: Duration) -> Option<(Severity, String)> {
    let ms = |ms: u64| duration(Duration::from_millis(ms));
    let error = |message| Some((Severity::Error, message));
    match limit_ms {
        Some(limit) if end == End::AtLimit && took_ms >= limit => {
            error(format!("{host} ends it at its limit of {}", ms(limit)))
        }
        _ if end == End::AtLimit => error(format!("ended at the check's own time limit of {}", duration(own))),
        Some(limit) if took_ms > limit => {
            let least = if end == End::Held { "at least " } else { "" };
            let took = ms(took_ms);
            error(format!("{host} would wait {least}{took} for its output to end, beyond its limit of {}", ms(limit)))
        }
        Some(limit) if took_ms.saturating_mul(5) >= limit.saturating_mul(4) => {
            Some((Severity::Note, format!("took {} of its limit of {}", ms(took_ms), ms(limit))))
        }
        _ => None,
    }
}

/// How long a host waits: until the exit, or until stdout ends. Who still had it open was ended after the grace.
fn took_us(outcome: &Outcome, check: &Check) -> u64 {
    let held = || {
        let waited = check.grace + check.afterlife();
        let waited = if outcome.ended == Ended::ByItself { waited } else { Duration::ZERO };
        outcome.duration_us.saturating_add(u64::try_from(waited.as_micros()).unwrap_or(u64::MAX))
    };
    outcome.stdout.end_us.map_or_else(held, |end| end.max(outcome.duration_us))
}

fn text(captured: &Captured) -> String {
    let mut bytes = Vec::new();
    if let Ok(stream) = output::open(captured) {
        // What can't be read is said of the stream.
        let _ = stream.take(MOST).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_from_four_fifths_of_the_limit_on() {
        use End::{AtLimit, ByItself, Held};
        let told = |limit, took, end| {
            let told = of_time("X", limit, took, end, Duration::from_secs(60));
            told.map(|(severity, message)| (severity == Severity::Error, message))
        };
        assert_eq!(told(Some(10_000), 7_999, ByItself), None);
        assert_eq!(told(Some(10_000), 8_000, ByItself), Some((false, "took 8s of its limit of 10s".to_owned())));
        assert_eq!(told(Some(10_000), 10_000, ByItself).map(|(error, _)| error), Some(false));
        let beyond = "X would wait 10.5s for its output to end, beyond its limit of 10s";
        assert_eq!(told(Some(10_000), 10_500, ByItself), Some((true, beyond.to_owned())));
        let held = "X would wait at least 10.5s for its output to end, beyond its limit of 10s";
        assert_eq!(told(Some(10_000), 10_500, Held), Some((true, held.to_owned())));
        assert_eq!(told(Some(10_000), 10_001, AtLimit), Some((true, "X ends it at its limit of 10s".to_owned())));
        let own = "ended at the check's own time limit of 1m";
        assert_eq!(told(Some(90_000), 60_000, AtLimit), Some((true, own.to_owned())));
        assert_eq!(told(None, 60_000, AtLimit), Some((true, own.to_owned())));
        assert_eq!(told(None, 60_000, ByItself), None);
    }
}
