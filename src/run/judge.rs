//! The verdict on one check: pure, from what was expected and what was seen.

use std::time::Duration;

use regex::Regex;

use super::records::exit_words;
use super::skips;
use super::text::Unsatisfied;
use crate::model::{
    Allow, CaseCount, Check, Counts, Exit, Finding, Kind, ReaderChoice, Reading, Severity, Stream, TextRule, Verdict,
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
    let mut findings = Vec::new();
    match facts.ended {
        Ended::Timeout => findings.push(timeout(check.timeout, facts.at_limit.as_deref())),
        Ended::Cancelled => {}
        Ended::ByItself => {
            findings.extend(exit(check.expect.exit, facts.exit, &facts.reading.counts, &counts));
            findings.extend(facts.unsatisfied.iter().map(|rule| text(rule, &facts.lost)));
            findings.extend(cases(check, expected.as_ref(), &counts, facts));
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
        | Kind::ShortCount
        | Kind::LongCount
        | Kind::SkippedCases
        | Kind::NoProof => Verdict::Failed,
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
    if let Some(Allowed { allow, .. }) = allowed.iter().find(|allowed| allowed.fits(finding)) {
        finding.severity = Severity::Note;
        finding.allowed = Some(allow.because.clone());
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
        Kind::HeldPipe => "its output is still held open".to_owned(),
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
mod tests {
    use super::*;
    use crate::model::{Case, CaseOutcome, CheckCommand, Expect, Skips};

    fn check(expect: Expect) -> Check {
        Check { expect, ..Check::new("c", CheckCommand::Argv(vec!["x".into()])) }
    }

    fn reading(passed: u64, failed: u64, skipped: u64) -> Reading {
        Reading {
            reader: Some("unittest".to_owned()),
            counts: Counts {
                planned: None,
                ran: Some(passed + failed + skipped),
                passed: Some(passed),
                failed: Some(failed),
                skipped: Some(skipped),
                unknown: None,
            },
            ..Reading::default()
        }
    }

    fn facts(reading: &Reading, code: i32) -> Facts<'_> {
        Facts {
            ended: Ended::ByItself,
            exit: Some(Exit::Code(code)),
            reading,
            listed: None,
            unsatisfied: Vec::new(),
            lost: Vec::new(),
            found: Vec::new(),
            at_limit: None,
            strict: false,
            needs_proof: true,
        }
    }

    fn kinds(judgement: &Judgement) -> Vec<Kind> {
        judgement.findings.iter().map(|finding| finding.kind).collect()
    }

    fn error(kind: Kind) -> Finding {
        Finding::new(kind, Severity::Error, "x")
    }

    #[test]
    fn all_that_was_expected_was_seen() {
        let seen = reading(57, 0, 0);
        let judgement =
            judge(&check(Expect { cases: Some(CaseCount::Exactly(57)), ..Expect::default() }), &facts(&seen, 0));
        assert_eq!((judgement.verdict, judgement.findings), (Verdict::Passed, vec![]));
        assert_eq!((judgement.counts.planned, judgement.counts.unknown), (Some(57), Some(0)));
    }

    #[test]
    fn cases_that_never_ran_make_a_green_exit_red() {
        let seen = reading(14, 1, 0);
        let judgement =
            judge(&check(Expect { cases: Some(CaseCount::Exactly(57)), ..Expect::default() }), &facts(&seen, 1));
        assert_eq!(judgement.verdict, Verdict::Failed);
        assert_eq!(kinds(&judgement), [Kind::Unmet, Kind::ShortCount]);
        assert_eq!(judgement.counts.unknown, Some(42));
        assert!(judgement.findings[1].message.contains("15 of 57"), "{:?}", judgement.findings[1].message);
    }

    #[test]
    fn a_bound_is_met_by_more_and_an_exact_number_is_not() {
        let seen = reading(60, 0, 0);
        let with = |cases| judge(&check(Expect { cases: Some(cases), ..Expect::default() }), &facts(&seen, 0));
        assert_eq!(with(CaseCount::AtLeast(57)).verdict, Verdict::Passed);
        assert_eq!(kinds(&with(CaseCount::Exactly(57))), [Kind::LongCount]);
        assert_eq!(kinds(&with(CaseCount::AtLeast(61))), [Kind::ShortCount]);
    }

    #[test]
    fn exit_0_needs_proof_unless_no_reader_is_wanted() {
        let nothing = Reading::default();
        assert_eq!(kinds(&judge(&check(Expect::default()), &facts(&nothing, 0))), [Kind::NoProof]);
        let waived = Check { reader: ReaderChoice::None, ..check(Expect::default()) };
        assert_eq!(judge(&waived, &facts(&nothing, 0)).verdict, Verdict::Passed);
        assert_eq!(kinds(&judge(&check(Expect::default()), &facts(&reading(0, 0, 0), 0))), [Kind::NoProof]);
        let counted = check(Expect { cases: Some(CaseCount::Exactly(3)), ..Expect::default() });
        assert_eq!(kinds(&judge(&counted, &facts(&nothing, 0))), [Kind::NoProof]);
    }

    #[test]
    fn a_death_after_the_last_case_is_told_as_that() {
        let message = |[passed, failed, skipped]: [u64; 3], unknown, exit| {
            let mut seen = reading(passed, failed, skipped);
            seen.counts.unknown = unknown;
            let exit = Some(exit);
            let judgement = judge(&check(Expect::default()), &Facts { exit, ..facts(&seen, 0) });
            assert_eq!(judgement.verdict, Verdict::Failed);
            judgement.findings[0].message.clone()
        };
        let segv = Exit::Signal(11);
        assert_eq!(
            message([57, 0, 0], Some(0), segv),
            "all 57 cases passed, then it was ended by signal 11 (SIGSEGV), expected exit status 0"
        );
        assert_eq!(message([1, 0, 0], Some(0), Exit::Code(3)), "the only case passed, then exit status 3, expected 0");
        assert_eq!(
            message([5, 0, 2], Some(0), Exit::Code(3)),
            "5 cases passed and 2 were skipped, then exit status 3, expected 0"
        );
        // Whether all of them had run is not known, or one had failed, or none had passed.
        let plain = "ended by signal 11 (SIGSEGV), expected exit status 0";
        assert_eq!(message([57, 0, 0], None, segv), plain);
        assert_eq!(message([14, 0, 0], Some(1), segv), plain);
        assert_eq!(message([56, 1, 0], Some(0), segv), plain);
        assert_eq!(message([0, 0, 2], Some(0), segv), plain);
    }

    #[test]
    fn a_listing_is_a_plan_that_is_met_to_the_case() {
        let listing = crate::model::Listing { argv: vec!["x".into()], form: crate::model::ListingForm::Auto };
        let check = check(Expect { cases: Some(CaseCount::Listed(listing)), ..Expect::default() });
        let judged = |seen: &Reading, listed| judge(&check, &Facts { listed: Some(listed), ..facts(seen, 0) });
        assert_eq!(judged(&reading(3, 0, 0), 3).verdict, Verdict::Passed);
        let short = judged(&reading(3, 0, 0), 5);
        assert_eq!(
            (kinds(&short), short.counts.planned, short.counts.unknown),
            (vec![Kind::ShortCount], Some(5), Some(2))
        );
        assert_eq!(short.findings[0].message, "3 of 5 listed cases ran, 2 never did");
        assert_eq!(kinds(&judged(&reading(6, 0, 0), 5)), [Kind::LongCount]);
        // A listing may leave out what is skipped.
        assert_eq!(judged(&reading(5, 0, 1), 5).verdict, Verdict::Passed);
        // A runner that died leaves one open for want of a plan; here is one, and all of it ran.
        let mut died = reading(3, 0, 0);
        died.counts.unknown = Some(1);
        assert_eq!(judged(&died, 3).counts.unknown, Some(0));
        assert_eq!(kinds(&judged(&Reading::default(), 3)), [Kind::NoProof]);
    }

    #[test]
    fn a_frame_that_tripped_over_something_held_is_the_reason() {
        let seen = reading(14, 1, 0);
        let held = Finding { frame: Some(crate::model::Frame::new("t.py", 1)), ..error(Kind::HeldDirectory) };
        let judgement = judge(&check(Expect::default()), &Facts { found: vec![held], ..facts(&seen, 1) });
        assert_eq!(judgement.reason.as_deref(), Some("stopped by a held directory"));
    }

    #[test]
    fn output_and_exit_that_disagree_are_found() {
        let judgement = judge(&check(Expect::default()), &facts(&reading(1, 2, 0), 0));
        assert_eq!(kinds(&judgement), [Kind::Unmet]);
        assert_eq!(judgement.verdict, Verdict::Failed);
        let said = &judgement.findings[0].message;
        assert_eq!(said, "the output says that 2 cases failed, and the exit status says 0");
        // Nothing but the failures is known, as of two runners whose tallies are not told apart.
        let seen = Reading {
            reader: Some("pytest + jest".into()),
            counts: Counts { failed: Some(1), ..Counts::default() },
            ..Reading::default()
        };
        let judgement = judge(&check(Expect::default()), &facts(&seen, 0));
        assert_eq!(kinds(&judgement), [Kind::Unmet]);
        assert_eq!(judgement.findings[0].message, "the output says that 1 case failed, and the exit status says 0");
    }

    #[test]
    fn lost_output_leaves_no_count_and_no_text_for_sure() {
        let seen = reading(3, 0, 0);
        let lost = || vec![(Stream::Stdout, "the disk is full".to_owned())];
        let facts = || Facts { lost: lost(), ..facts(&seen, 0) };
        let judgement = judge(&check(Expect::default()), &facts());
        assert_eq!((judgement.verdict, judgement.counts), (Verdict::Broken, Counts::default()));
        assert!(judgement.reason.is_some_and(|reason| reason.starts_with("the output was lost: stdout: the disk")));
        let counted = check(Expect { cases: Some(CaseCount::Exactly(3)), ..Expect::default() });
        assert_eq!(kinds(&judge(&counted, &facts())), [Kind::NoProof, Kind::ProbeBlind]);
        // Nothing rests on it.
        let unread = Check { reader: ReaderChoice::None, ..check(Expect::default()) };
        assert_eq!(judge(&unread, &facts()).verdict, Verdict::Passed);
        let rule = TextRule::NotContains("x".into());
        let unsatisfied = vec![Unsatisfied { stream: Stream::Stdout, rule: &rule, seen: false }];
        assert_eq!(judge(&unread, &Facts { unsatisfied, ..facts() }).verdict, Verdict::Failed);
    }

    #[test]
    fn all_skipped_is_not_a_pass() {
        let mut seen = reading(0, 0, 2);
        let case = Case {
            name: "a".into(),
            outcome: CaseOutcome::Skipped,
            reason: Some("no gh".into()),
            from_ms: None,
            at_ms: None,
        };
        seen.cases.push(case);
        let judgement = judge(&check(Expect::default()), &facts(&seen, 0));
        assert_eq!(judgement.verdict, Verdict::Skipped);
        assert!(judgement.reason.is_some_and(|reason| reason.contains("no gh")));
        let most = check(Expect { skipped: Some(Skips::AtMost(1)), ..Expect::default() });
        assert_eq!(kinds(&judge(&most, &facts(&seen, 0))), [Kind::SkippedCases]);
    }

    #[test]
    fn the_first_in_the_order_of_verdicts_counts_and_all_findings_are_shown() {
        let seen = reading(1, 1, 0);
        let found = vec![error(Kind::LeakedProcess), error(Kind::HeldDirectory)];
        let judgement = judge(&check(Expect::default()), &Facts { found, ..facts(&seen, 1) });
        assert_eq!(judgement.verdict, Verdict::Failed);
        assert_eq!(kinds(&judgement), [Kind::Unmet, Kind::HeldDirectory, Kind::LeakedProcess]);
        let timed = Facts { ended: Ended::Timeout, exit: None, ..facts(&seen, 1) };
        assert_eq!(judge(&check(Expect::default()), &timed).verdict, Verdict::TimedOut);
    }

    #[test]
    fn an_allowed_finding_is_a_note_with_its_reason_and_only_it() {
        let mut allowed = check(Expect::default());
        allowed.allow.push(Allow {
            kind: Kind::LeakedProcess,
            matches: Some("ssh-agent".into()),
            because: "started once per login".into(),
        });
        let seen = reading(1, 0, 0);
        let agent = Finding::new(Kind::LeakedProcess, Severity::Error, "pid 7 (ssh-agent -s) was alive");
        let judgement = judge(&allowed, &Facts { found: vec![agent.clone()], ..facts(&seen, 0) });
        assert_eq!(judgement.verdict, Verdict::Passed);
        assert_eq!(judgement.findings[0].allowed.as_deref(), Some("started once per login"));
        let both = vec![agent, error(Kind::LeakedProcess)];
        assert_eq!(judge(&allowed, &Facts { found: both, ..facts(&seen, 0) }).verdict, Verdict::Leaked);
    }

    #[test]
    fn a_blind_probe_is_red_only_when_strict() {
        let seen = reading(1, 0, 0);
        let blind = || vec![Finding::new(Kind::ProbeBlind, Severity::Warning, "x")];
        assert_eq!(
            judge(&check(Expect::default()), &Facts { found: blind(), ..facts(&seen, 0) }).verdict,
            Verdict::Passed
        );
        let strict = Facts { found: blind(), strict: true, ..facts(&seen, 0) };
        assert_eq!(judge(&check(Expect::default()), &strict).verdict, Verdict::Broken);
    }
}
