//! The verdict on one check: pure, from what was expected and what was seen.

use std::fmt::Write;
use std::time::Duration;

use regex::Regex;

use super::records::exit_words;
use super::skips;
use super::text::Unsatisfied;
use crate::model::{
    Allow, CaseCount, Check, CheckCommand, Counts, Exit, Finding, Kind, ReaderChoice, Reading, Severity, Stream,
    TextRule, Verdict,
};
use crate::platform::Ended;
use crate::words::duration;

/// What was seen of a check.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    pub ended: Ended,
    pub exit: Option<Exit>,
    pub reading: &'a Reading,
    /// How many cases the check's listing has; `None` if it has no listing.
    pub listed: Option<u64>,
    /// Rules of `expect` that the output does not satisfy.
    pub unsatisfied: Vec<Unsatisfied<'a>>,
    /// The streams that are not known whole, each with why.
    pub lost: Vec<(Stream, String)>,
    /// What the probes found.
    pub found: Vec<Finding>,
    /// What the processes were doing at the time limit.
    pub at_limit: Option<String>,
    /// Why what the check calls did not run at all, if that was seen.
    pub unstarted: Option<String>,
    /// Whether warnings count as errors.
    pub strict: bool,
    /// Whether exit status 0 without a sign of a test is an error. A command that nobody called a check needs no proof.
    pub needs_proof: bool,
}

/// What is said of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    pub verdict: Verdict,
    /// The verdict in a few words, unless it is passed.
    pub reason: Option<String>,
    /// The counts, with what the manifest adds to them.
    pub counts: Counts,
    pub findings: Vec<Finding>,
}

/// Judges one check that was started.
#[must_use]
pub fn judge(check: &Check, facts: &Facts<'_>) -> Judgement {
    // What was counted in a part is no count of the whole.
    let uncounted = !facts.lost.is_empty() && check.reader != ReaderChoice::None;
    let seen = if uncounted { Counts::default() } else { facts.reading.counts };
    let expected = Expected::of(check, facts.listed);
    let counts = completed(seen, expected.as_ref());
    // Its answers are cases, whatever its status.
    let is_hook = matches!(check.command, CheckCommand::Hook(_));
    let mut findings = Vec::new();
    match facts.ended {
        Ended::Timeout => findings.push(timeout(check.timeout, facts.at_limit.as_deref())),
        Ended::Cancelled => {}
        Ended::ByItself => {
            if !is_hook {
                findings.extend(exit(check.expect.exit, facts.exit, &facts.reading.counts, &counts));
            }
            findings.extend(facts.unsatisfied.iter().map(|rule| text(rule, &facts.lost)));
            let untold = |finding: &Finding| {
                // Each case that never ran is told by itself.
                !is_hook || finding.kind != Kind::ShortCount || facts.found.iter().all(|one| one.kind != Kind::NoProof)
            };
            findings.extend(cases(check, expected.as_ref(), &counts, facts).into_iter().filter(untold));
        }
    }
    let matters = uncounted && facts.ended == Ended::ByItself;
    findings.extend(facts.lost.iter().map(|(stream, why)| lost(*stream, why, matters)));
    findings.extend(facts.found.iter().cloned());
    // Once each: there may be very many findings.
    let allowed: Vec<Allowed<'_>> = check.allow.iter().filter_map(Allowed::new).collect();
    for finding in &mut findings {
        if facts.strict && finding.severity == Severity::Warning {
            finding.severity = Severity::Error;
        }
        allow(finding, &allowed);
    }
    findings.sort_by_key(|finding| (finding.severity, Kind::ALL.iter().position(|kind| *kind == finding.kind)));

    let (verdict, reason) = if facts.ended == Ended::Cancelled {
        (Verdict::Broken, Some("interrupted".to_owned()))
    } else if let Some(why) = &facts.unstarted {
        (Verdict::Broken, Some(why.clone()))
    } else if let Some(decisive) =
        findings.iter().filter(|finding| finding.severity == Severity::Error).min_by_key(|finding| verdict_of(finding))
    {
        let verdict = verdict_of(decisive);
        let held = findings.iter().find(|finding| finding.frame.is_some() && finding.allowed.is_none());
        let reason = match held.filter(|_| verdict == Verdict::Failed) {
            Some(held) if held.kind == Kind::HeldFile => "stopped by a held file".to_owned(),
            Some(_) => "stopped by a held directory".to_owned(),
            None => in_short(decisive, &counts),
        };
        (verdict, Some(reason))
    } else if counts.ran.is_some_and(|ran| ran > 0) && counts.skipped == counts.ran {
        let why = facts.reading.cases.iter().find_map(|case| case.reason.as_deref());
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        (Verdict::Skipped, Some(format!("every case was skipped{why}")))
    } else {
        (Verdict::Passed, None)
    };
    Judgement { verdict, reason, counts, findings }
}

/// How many cases the manifest wants.
struct Expected {
    number: u64,
    /// The number's place in a sentence.
    word: &'static str,
    /// Whether more are too many.
    exact: bool,
}

impl Expected {
    fn of(check: &Check, listed: Option<u64>) -> Option<Self> {
        let (number, word, exact) = match check.expect.cases.as_ref()? {
            CaseCount::Exactly(number) => (*number, "expected", true),
            CaseCount::AtLeast(number) => (*number, "expected", false),
            CaseCount::Listed(_) => (listed?, "listed", true),
        };
        Some(Self { number, word, exact })
    }
}

/// The counts with the manifest's number as the plan, where the output announced none; what was listed always is one.
fn completed(mut counts: Counts, expected: Option<&Expected>) -> Counts {
    if let Some(Expected { number, word, exact: true }) = expected {
        let least = (*number).max(counts.ran.unwrap_or(0));
        if *word == "listed" {
            // A runner that dies leaves at least one case open, unless it is known which there are.
            if counts.planned.is_none() {
                counts.unknown = None;
            }
            counts.planned = Some(counts.planned.unwrap_or(0).max(least));
        } else if counts.planned.is_none() {
            counts.planned = Some(least);
        }
    }
    if let (Some(planned), Some(ran)) = (counts.planned, counts.ran) {
        counts.unknown = Some(planned.saturating_sub(ran).max(counts.unknown.unwrap_or(0)));
    }
    counts
}

fn verdict_of(finding: &Finding) -> Verdict {
    match finding.kind {
        Kind::Timeout => Verdict::TimedOut,
        Kind::ProbeBlind => Verdict::Broken,
        Kind::RefusedByWindows
        | Kind::Unmet
        | Kind::Toothless
        | Kind::ShortCount
        | Kind::LongCount
        | Kind::SkippedCases
        | Kind::NoProof
        | Kind::TornPublish
        | Kind::ForbiddenCommand
        | Kind::IdleFault
        | Kind::IllegalName
        | Kind::DependsOn
        | Kind::Collision => Verdict::Failed,
        Kind::Flaky => Verdict::Flaky,
        Kind::LeakedProcess
        | Kind::LateExit
        | Kind::HeldDirectory
        | Kind::HeldFile
        | Kind::HeldPipe
        | Kind::Residue
        | Kind::Survivor => Verdict::Leaked,
    }
}

/// An `allow` whose expression is ready. One that does not compile allows nothing.
struct Allowed<'a> {
    allow: &'a Allow,
    matches: Option<Regex>,
}

impl<'a> Allowed<'a> {
    fn new(allow: &'a Allow) -> Option<Self> {
        Some(Self { allow, matches: allow.matches.as_deref().map(Regex::new).transpose().ok()? })
    }

    fn fits(&self, finding: &Finding) -> bool {
        self.allow.kind == finding.kind
            && self.matches.as_ref().is_none_or(|regex| {
                let command = finding.process.as_ref().map(crate::model::Process::command_line);
                let texts = [command.as_deref(), finding.path.as_deref(), Some(finding.message.as_str())];
                texts.into_iter().flatten().any(|text| regex.is_match(text))
            })
    }
}

fn allow(finding: &mut Finding, allowed: &[Allowed<'_>]) {
    let fitting: Vec<&Allow> = allowed.iter().filter(|one| one.fits(finding)).map(|one| one.allow).collect();
    let in_time = |allow: &&&Allow| {
        let ended = finding.ended_ms.map(Duration::from_millis);
        allow.ends_within.is_none_or(|within| ended.is_some_and(|ended| ended <= within))
    };
    if let Some(allow) = fitting.iter().find(in_time) {
        finding.severity = Severity::Note;
        finding.allowed = Some(allow.because.clone());
    } else if let Some(within) = fitting.iter().filter_map(|allow| allow.ends_within).max() {
        let _ = write!(finding.message, "; it is to end within {}", duration(within));
    }
}

/// The reason in the line of a check: short, since the finding itself follows.
fn in_short(finding: &Finding, counts: &Counts) -> String {
    let pid = finding.process.as_ref().map(|process| process.argv.join(" "));
    match finding.kind {
        Kind::LeakedProcess => "left a process behind".to_owned(),
        Kind::HeldDirectory => "left a held directory behind".to_owned(),
        Kind::HeldFile => "left a held file behind".to_owned(),
        Kind::RefusedByWindows if finding.frame.is_some() => "stopped by a held directory".to_owned(),
        Kind::RefusedByWindows => "did what Windows refuses".to_owned(),
        Kind::TornPublish => "published a file in place".to_owned(),
        Kind::ForbiddenCommand => "called a forbidden command".to_owned(),
        Kind::IdleFault => "a fault was never made".to_owned(),
        Kind::IllegalName => "has a name that another system cannot have".to_owned(),
        Kind::HeldPipe => "its output is still held open".to_owned(),
        // One call of many, which a host would have waited for, may have ended by itself.
        Kind::Timeout if finding.case.is_some() => "a call went beyond its time limit".to_owned(),
        Kind::Timeout => "ended at its time limit".to_owned(),
        Kind::Survivor => format!("{} could not be ended", pid.unwrap_or_default()),
        Kind::Unmet if counts.failed.is_some_and(|failed| failed > 0) => {
            format!("{} failed", counts.failed.unwrap_or_default())
        }
        _ => finding.message.clone(),
    }
}

fn timeout(limit: Duration, at_limit: Option<&str>) -> Finding {
    let doing = at_limit.map(|doing| format!(": {doing}")).unwrap_or_default();
    let mut finding =
        Finding::new(Kind::Timeout, Severity::Error, format!("ended at the time limit of {}{doing}", duration(limit)));
    finding.remedy = Some("find what it waits for, or give it more: timeout".to_owned());
    finding
}

fn exit(expected: i32, exit: Option<Exit>, seen: &Counts, counts: &Counts) -> Option<Finding> {
    let failed = seen.failed.unwrap_or(0);
    let message = match exit {
        // A shell and a runner that call the same thing by two names.
        Some(Exit::Code(code)) if code == expected => {
            if code != 0 || failed == 0 {
                return None;
            }
            let cases = if failed == 1 { "1 case" } else { &format!("{failed} cases") };
            format!("the output says that {cases} failed, and the exit status says 0")
        }
        // A status of its own is what a failed case gives; after none it needs a word.
        Some(Exit::Code(_)) => format!("{}{}, expected {expected}", after(counts, ""), exit_words(exit)),
        Some(Exit::Signal(_)) => {
            format!("{}{}, expected exit status {expected}", after(counts, "it was "), exit_words(exit))
        }
        None => exit_words(exit),
    };
    Some(Finding::new(Kind::Unmet, Severity::Error, message))
}

/// What goes before the end of a check whose every case passed or was skipped, by its runner's own tally.
fn after(counts: &Counts, it_was: &str) -> String {
    let Counts { ran: Some(ran), passed: Some(passed), failed: Some(0), unknown: Some(0), .. } = *counts else {
        return String::new();
    };
    let cases = |number: u64| if number == 1 { "1 case".to_owned() } else { format!("{number} cases") };
    match (passed, ran - passed.min(ran)) {
        (0, _) => String::new(),
        (1, 0) => format!("the only case passed, then {it_was}"),
        (passed, 0) => format!("all {} passed, then {it_was}", cases(passed)),
        (passed, skipped) => format!("{} passed and {skipped} were skipped, then {it_was}", cases(passed)),
    }
}

fn text(unsatisfied: &Unsatisfied<'_>, lost: &[(Stream, String)]) -> Finding {
    let name = unsatisfied.stream.name();
    let lost = lost.iter().find(|(stream, _)| *stream == unsatisfied.stream);
    let message = match (lost, unsatisfied.rule) {
        (Some((_, why)), rule) if !unsatisfied.seen => {
            let whether = match rule {
                TextRule::Contains(text) | TextRule::NotContains(text) => format!("it contains {text:?}"),
                TextRule::Matches(expression) => format!("something in it matches {expression:?}"),
            };
            format!("{name} could not be read whole ({why}): whether {whether} is not known")
        }
        (_, TextRule::Contains(text)) => format!("{name} does not contain {text:?}"),
        (_, TextRule::NotContains(text)) => format!("{name} contains {text:?}"),
        (_, TextRule::Matches(expression)) => format!("nothing in {name} matches {expression:?}"),
    };
    Finding::new(Kind::Unmet, Severity::Error, message)
}

/// That a stream is not known whole. An error where what is said of the check rests on it.
fn lost(stream: Stream, why: &str, matters: bool) -> Finding {
    let name = stream.name();
    if !matters {
        return Finding::new(Kind::ProbeBlind, Severity::Warning, format!("could not look: output was lost: {why}"));
    }
    let message = format!("the output was lost: {name}: {why}; what it counts is not known");
    let mut finding = Finding::new(Kind::ProbeBlind, Severity::Error, message);
    finding.remedy =
        Some("see to it that the folder of sandboxes has room, and that the check leaves it alone".to_owned());
    finding
}

fn cases(check: &Check, expected: Option<&Expected>, counts: &Counts, facts: &Facts<'_>) -> Vec<Finding> {
    let Facts { reading, exit, needs_proof, .. } = *facts;
    let mut findings = Vec::new();
    let mut push = |kind, severity, message: String| findings.push(Finding::new(kind, severity, message));
    let Some(ran) = counts.ran else {
        if let Some(Expected { number, word, .. }) = expected {
            push(Kind::NoProof, Severity::Error, format!("{number} cases were {word}, and the output has no count"));
        } else if check.reader != ReaderChoice::None && reading.reader.is_none() && exit == Some(Exit::Code(0)) {
            let severity = if needs_proof { Severity::Error } else { Severity::Note };
            push(Kind::NoProof, severity, "exit status 0, and nothing in the output shows that a test ran".to_owned());
        }
        return findings;
    };
    let short = match expected {
        // What ran without being listed makes the plan larger than the listing.
        Some(Expected { number, word, .. }) if ran < *number && counts.planned.is_none_or(|all| all <= *number) => {
            Some((*number, *word))
        }
        _ => counts.planned.filter(|planned| ran < *planned).map(|planned| (planned, "planned")),
    };
    if let Some((n, word)) = short {
        let skipped = counts.skipped.filter(|skipped| *skipped > 0);
        let skipped = skipped.map(|skipped| format!(" ({skipped} of them skipped)")).unwrap_or_default();
        let never = n - ran;
        push(Kind::ShortCount, Severity::Error, format!("{ran} of {n} {word} cases ran{skipped}, {never} never did"));
    } else if counts.unknown.is_some_and(|unknown| unknown > 0) {
        let unknown = counts.unknown.unwrap_or_default();
        push(
            Kind::ShortCount,
            Severity::Error,
            format!("{ran} cases ran, and {unknown} began or were planned without an outcome"),
        );
    }
    if let Some(Expected { number, word, exact: true }) = expected
        && ran > *number
    {
        // A listing may leave out what is skipped anyway.
        if *word == "expected" {
            push(Kind::LongCount, Severity::Error, format!("{ran} cases ran, expected {number}"));
        } else if ran - counts.skipped.unwrap_or(0).min(ran) > *number {
            push(Kind::LongCount, Severity::Error, format!("{ran} cases ran, listed were {number}"));
        }
    }
    if let (Some(skips), Some(skipped)) = (&check.expect.skipped, counts.skipped)
        && let Some(message) = skips::excess(skips, skipped, &reading.cases)
    {
        push(Kind::SkippedCases, Severity::Error, message);
    }
    if ran == 0 && exit == Some(Exit::Code(0)) && expected.is_none() && short.is_none() {
        let severity = if needs_proof { Severity::Error } else { Severity::Note };
        push(Kind::NoProof, severity, "exit status 0, and no case ran".to_owned());
    }
    findings
}

#[cfg(test)]
mod tests;
