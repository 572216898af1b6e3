//! Verdicts, from what was expected and what was seen.

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
        unstarted: None,
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
    assert_eq!((kinds(&short), short.counts.planned, short.counts.unknown), (vec![Kind::ShortCount], Some(5), Some(2)));
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
    let case = Case { reason: Some("no gh".into()), ..Case::new("a", CaseOutcome::Skipped) };
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
        ends_within: None,
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
    assert_eq!(judge(&check(Expect::default()), &Facts { found: blind(), ..facts(&seen, 0) }).verdict, Verdict::Passed);
    let strict = Facts { found: blind(), strict: true, ..facts(&seen, 0) };
    assert_eq!(judge(&check(Expect::default()), &strict).verdict, Verdict::Broken);
}
