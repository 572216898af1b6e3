//! Plain scripts: one line per case (`ok NAME`), a tally as a line of its own (`all green (57 checks)`), or both.
//!
//! # What is counted
//!
//! - A tally is a whole line in one of the forms of [`tally`]; prose with numbers in it is no tally. Of several the last
//!   counts, unless the lines of the cases say that they add up, or an earlier one tells of failures that the last
//!   leaves out.
//! - If the tally and the lines of the cases disagree, the tally wins, and a note tells the gap.
//! - `n/m passed` counts the rest of the `m` as failed, as far as it was not skipped.
//! - `3 failed: reason` tells of the failed alone; the other numbers stay unknown unless lines of cases give them.
//! - A plan (`1..5`, `5 planned`) gives `planned`; what of it has no outcome is `unknown`. A failed or passed `# TODO` of
//!   TAP counts as passed, `# SKIP` as skipped.
//! - `SKIP: reason` as the only thing said, with exit status 0, is one case, skipped: everything was.
//! - `all ok` and its like show that something ran, not how much: every count stays unknown, unless lines of cases were
//!   there, of which `case 1 ok` is a further form then.
//!
//! Without a tally or a plan, lines of cases count if there are two of them, or if their form leaves no doubt.

mod tally;

use std::sync::LazyLock;

use regex::Regex;

use self::tally::{Tally, reason, tally};
use super::cases::{CaseList, Outcomes, clip, note, number as number_of};
use super::{Arrival, Context, Line, Reader, Recognised, Strength};
use crate::model::{CaseOutcome, Counts, Exit, Reading};

static CASE: LazyLock<Regex> = LazyLock::new(|| {
    // A tab is how Go separates a package's columns.
    Regex::new(r"^(not ok|ok|OK|PASS|PASSED|FAIL|FAILED|SKIP|SKIPPED)(:?) +(?:(\d+)(?: +|$))?(- +)?(|\S.*)$")
        .expect("a constant")
});
/// `case 1 ok`, `case 1: ok`, `case 1 ... ok`.
static LAST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(\S.*?)(?: \.\.\.|:)? (ok|OK|PASS|PASSED|FAIL|FAILED|SKIP|SKIPPED)$").expect("a constant")
});
static DIRECTIVE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(.*?) *# *(?i:(skip|todo))\S*:? *(.*)$").expect("a constant"));
static PLAN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?:1\.\.(\d+)(?: *# *(?i:skip\S*):? *(.*))?|(\d+)(?: checks| tests| cases)? planned|[Pp]lanned:? (\d+))$",
    )
    .expect("a constant")
});
static PROOF: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?i:all (?:ok|green|good|passed)|all (?:checks|tests|cases) (?:have )?(?:passed|ok|green))[.!]*$")
        .expect("a constant")
});
static SKIP_ALL: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^SKIP(?:PED)?: *(\S.*)$").expect("a constant"));

pub struct OkLines<'a> {
    context: Context<'a>,
    cases: CaseList,
    /// Lines that end in an outcome: `case 1 ok`.
    last_words: CaseList,
    notes: Vec<String>,
    /// Lines of cases whose form leaves no doubt.
    strict: u64,
    lines: u64,
    /// Cases without a name.
    nameless: Outcomes,
    planned: Option<u64>,
    tallies: u64,
    last: Option<Tally>,
    /// The sum of all tallies, and the most failures that one of them told of.
    sum: Tally,
    proof: bool,
    /// Lines that are not empty, and the last `SKIP: reason`.
    said: u64,
    skip: Option<(String, Arrival)>,
    /// A TAP producer gave up.
    bailed: bool,
}

impl Reader for OkLines<'_> {
    fn line(&mut self, line: &Line<'_>) {
        let text = line.text.trim_end();
        if text.is_empty() {
            return;
        }
        self.said += 1;
        if let Some(tally) = tally(text) {
            self.tallies += 1;
            self.sum = if self.tallies == 1 { tally } else { self.sum.and(tally) };
            self.last = Some(tally);
            if let Some(reason) = reason(text) {
                note(&mut self.notes, format!("failed: {}", clip(reason)));
            }
        } else if let Some(found) = PLAN.captures(text) {
            let number = found.get(1).or(found.get(3)).or(found.get(4)).and_then(|number| number_of(number.as_str()));
            if let (Some(0), Some(reason)) = (number, found.get(2)) {
                self.skip = Some((clip(reason.as_str()), line.at));
            }
            self.planned = match (self.planned, number) {
                // Two plans: two programs, one after the other.
                (Some(before), Some(number)) => Some(before + number),
                (before, number) => number.or(before),
            };
        } else if PROOF.is_match(text) {
            self.proof = true;
        } else if let Some(why) = text.strip_prefix("Bail out!") {
            self.bailed = true;
            note(&mut self.notes, format!("gave up: {}", clip(why.trim())));
        } else if let Some(found) = SKIP_ALL.captures(text) {
            self.skip = Some((clip(&found[1]), line.at));
            self.case("SKIP", true, None, &found[1], line.at);
        } else if let Some(found) = CASE.captures(text) {
            let strict = !found[2].is_empty() || found.get(3).is_some() || found.get(4).is_some();
            self.case(&found[1], strict, found.get(3).map(|number| number.as_str()), &found[5], line.at);
        } else if self.planned.is_some() && matches!(text, "ok" | "not ok") {
            self.case(text, true, None, "", line.at);
        } else if let Some(found) = LAST.captures(text) {
            self.last_words.record(&found[1], outcome(&found[2]), None, line.at);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<Recognised> {
        if let Some((reason, at)) = self.skip.take_if(|_| self.said == 1) {
            return self.skipped_all(&reason, at);
        }
        // Prose may end in "ok", too. Two such lines, and a last word that all is well, are no prose.
        if self.proof && self.last.is_none() && self.lines == 0 && self.last_words.outcomes().ran() >= 2 {
            self.lines = self.last_words.outcomes().ran();
            self.cases = std::mem::take(&mut self.last_words);
        }
        let mut lines = self.cases.end_suite();
        lines.passed += self.nameless.passed;
        lines.failed += self.nameless.failed;
        lines.skipped += self.nameless.skipped;
        let tally = self.tally(lines);
        let surely = self.strict > 0 || self.lines >= 2;
        let strength = if tally.is_some() || (self.planned.is_some() && self.lines > 0) {
            Strength::Tally
        } else if self.proof || surely {
            Strength::Lines
        } else {
            return None;
        };
        let mut counts = Counts { planned: self.planned, ..Counts::default() };
        if let Some(tally) = tally {
            self.weigh(tally, lines, &mut counts);
        } else if self.lines > 0 {
            counts.passed = Some(lines.passed);
            counts.failed = Some(lines.failed);
            counts.skipped = Some(lines.skipped);
        }
        if self.lines == 0 && tally.is_none() {
            note(&mut self.notes, "the output says that all is well, but not how many cases ran");
        } else if tally.is_none() && self.planned.is_none() && !self.proof {
            note(&mut self.notes, "no line sums up the cases: whether all of them ran is unknown");
        }
        counts.ran = counts.passed.zip(counts.failed).zip(counts.skipped).map(|((a, b), c)| a + b + c);
        if let (Some(planned), Some(ran)) = (counts.planned, counts.ran) {
            if ran > planned {
                note(&mut self.notes, format!("{planned} cases were planned, {ran} ran"));
                counts.planned = Some(ran);
            }
            counts.unknown = Some(planned.saturating_sub(ran));
        } else if counts.ran.is_some() && (tally.is_some() || self.proof) && !self.bailed {
            counts.unknown = Some(0);
        }
        let cases = self.cases.finish(&mut self.notes);
        Some(Recognised {
            strength,
            reading: Reading { reader: Some(Self::NAME), counts, cases, frames: Vec::new(), notes: self.notes },
        })
    }
}

impl<'a> OkLines<'a> {
    pub const NAME: &'static str = "ok-lines";

    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            cases: CaseList::default(),
            last_words: CaseList::default(),
            notes: Vec::new(),
            strict: 0,
            lines: 0,
            nameless: Outcomes::default(),
            planned: None,
            tallies: 0,
            last: None,
            sum: Tally::default(),
            proof: false,
            said: 0,
            skip: None,
            bailed: false,
        }
    }

    fn case(&mut self, word: &str, strict: bool, number: Option<&str>, rest: &str, at: Arrival) {
        let mut outcome = outcome(word);
        let mut name = rest;
        let mut reason = None;
        if let Some(found) = DIRECTIVE.captures(rest) {
            name = found.get(1).map_or("", |name| name.as_str());
            if found[2].eq_ignore_ascii_case("skip") {
                outcome = CaseOutcome::Skipped;
                reason = found.get(3).map(|reason| reason.as_str()).filter(|reason| !reason.is_empty());
            } else {
                outcome = CaseOutcome::Passed;
            }
        }
        let name = if name.is_empty() { number.unwrap_or_default() } else { name };
        let word_alone = !name.is_empty() && !name.contains(' ');
        // `FAILED to connect` is a log line. Only a name of one word, or a mark before it, makes it a case.
        if matches!(word, "PASSED" | "FAILED" | "SKIPPED") && !strict && !word_alone {
            return;
        }
        self.lines += 1;
        self.strict += u64::from(strict || word_alone);
        if name.is_empty() {
            match outcome {
                CaseOutcome::Passed => self.nameless.passed += 1,
                CaseOutcome::Skipped => self.nameless.skipped += 1,
                _ => self.nameless.failed += 1,
            }
        } else {
            self.cases.record(name, outcome, reason, at);
        }
    }

    /// The tally that counts, if there is one.
    fn tally(&mut self, lines: Outcomes) -> Option<Tally> {
        let last = self.last?;
        if self.tallies == 1 {
            return Some(last);
        }
        let adds_up = self.lines > 0 && self.sum.passed == Some(lines.passed);
        let hides = self.sum.failed.unwrap_or(0) > 0 && last.failed.unwrap_or(0) == 0;
        let (chosen, which) = if adds_up || hides { (self.sum, "their sum") } else { (last, "the last") };
        if last != self.sum {
            note(&mut self.notes, format!("{} tallies: {which} counts", self.tallies));
        }
        Some(chosen)
    }

    /// The tally against the lines of single cases: the tally wins where it says something.
    fn weigh(&mut self, tally: Tally, lines: Outcomes, counts: &mut Counts) {
        let told = self.lines > 0;
        let from_lines = |count: u64| told.then_some(count);
        counts.failed = tally.failed.or(from_lines(lines.failed));
        counts.skipped = tally.skipped.or(from_lines(lines.skipped));
        counts.passed = tally.passed.or(from_lines(lines.passed));
        if let Some(total) = tally.total {
            // `all green (57 checks)` leaves out what was skipped, and says of the rest that it passed.
            let skipped = counts.skipped.unwrap_or(0).min(total);
            let failed = counts.failed.unwrap_or(0).min(total - skipped);
            if let Some(passed) = tally.passed {
                let passed = passed.min(total);
                let skipped = skipped.min(total - passed);
                counts.passed = Some(passed);
                counts.skipped = Some(skipped);
                counts.failed = Some(total - passed - skipped);
            } else {
                counts.passed = Some(total - skipped - failed);
                counts.skipped = Some(skipped);
                counts.failed = Some(failed);
            }
        } else if counts.passed.is_some() {
            // A tally that names no failures has none, unless a line tells of one.
            counts.failed = counts.failed.or(Some(0));
            counts.skipped = counts.skipped.or(Some(0));
        }
        let ran = counts.passed.zip(counts.failed).zip(counts.skipped).map(|((a, b), c)| a + b + c);
        if let Some(ran) = ran.filter(|&ran| told && ran != lines.ran()) {
            note(
                &mut self.notes,
                format!("the tally says {ran} cases, the lines tell of {}: the tally counts", lines.ran()),
            );
        } else if told && lines.failed > counts.failed.unwrap_or(0) {
            note(&mut self.notes, format!("the tally leaves out {} failures that the lines tell of", lines.failed));
        }
    }

    fn skipped_all(self, reason: &str, at: Arrival) -> Option<Recognised> {
        if self.context.exit != Some(Exit::Code(0)) {
            return None;
        }
        let mut cases = CaseList::default();
        cases.record("SKIP", CaseOutcome::Skipped, Some(reason), at);
        let mut notes = self.notes;
        note(&mut notes, "everything was skipped");
        let counts = Counts {
            planned: None,
            ran: Some(1),
            passed: Some(0),
            failed: Some(0),
            skipped: Some(1),
            unknown: Some(0),
        };
        let cases = cases.finish(&mut notes);
        let reading = Reading { reader: Some(Self::NAME), counts, cases, frames: Vec::new(), notes };
        Some(Recognised { strength: Strength::Tally, reading })
    }
}

fn outcome(word: &str) -> CaseOutcome {
    match word {
        "ok" | "OK" | "PASS" | "PASSED" => CaseOutcome::Passed,
        "SKIP" | "SKIPPED" => CaseOutcome::Skipped,
        _ => CaseOutcome::Failed,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::model::{ReaderChoice, Stream};
    use crate::readers::{Source, read};

    fn reading(exit: i32, output: &str) -> Reading {
        let context =
            Context { argv: &[], project: Path::new("/p"), cwd: Path::new("/p"), exit: Some(Exit::Code(exit)) };
        let source = Source { stream: Stream::Stdout, bytes: Box::new(output.as_bytes()), marks: &[] };
        read(ReaderChoice::Auto, vec![source], &context).expect("a slice can be read")
    }

    /// Planned, ran, passed, failed, skipped, unknown.
    fn counts(exit: i32, output: &str) -> [Option<u64>; 6] {
        let reading = reading(exit, output);
        assert_eq!(reading.reader, Some("ok-lines"), "{output}");
        let Counts { planned, ran, passed, failed, skipped, unknown } = reading.counts;
        [planned, ran, passed, failed, skipped, unknown]
    }

    const fn full(ran: u64, passed: u64, failed: u64, skipped: u64) -> [Option<u64>; 6] {
        [None, Some(ran), Some(passed), Some(failed), Some(skipped), Some(0)]
    }

    #[test]
    fn tallies() {
        for (output, expected) in [
            ("all green (57 checks)", full(57, 57, 0, 0)),
            ("all green (1 check)", full(1, 1, 0, 0)),
            ("All green (3 tests).", full(3, 3, 0, 0)),
            ("All 57 tests passed!", full(57, 57, 0, 0)),
            ("57 checks passed", full(57, 57, 0, 0)),
            ("21 passed", full(21, 21, 0, 0)),
            ("3 passed, 2 failed", full(5, 3, 2, 0)),
            ("3 passed, 2 failed, 4 skipped", full(9, 3, 2, 4)),
            ("2 failed, 3 passed", full(5, 3, 2, 0)),
            ("3 passed, 1 failed, 1 error", full(5, 3, 2, 0)),
            ("Results: 3 passed, 0 failed", full(3, 3, 0, 0)),
            ("PASS: 3 FAIL: 1", full(4, 3, 1, 0)),
            ("PASS=3 FAIL=0 SKIP=2", full(5, 3, 0, 2)),
            ("passed: 3, failed: 0, total: 3", full(3, 3, 0, 0)),
            ("3/3 passed", full(3, 3, 0, 0)),
            ("3/5 checks passed", full(5, 3, 2, 0)),
            ("Ran 5 tests: ok", full(5, 5, 0, 0)),
            ("Ran 5 checks, all ok", full(5, 5, 0, 0)),
            ("1 failed: no such file", [None, None, None, Some(1), None, None]),
            ("0 passed", full(0, 0, 0, 0)),
        ] {
            assert_eq!(counts(0, output), expected, "{output}");
        }
    }

    #[test]
    fn prose_is_no_tally() {
        for output in [
            "5 passed away",
            "we have 5 passed",
            "5 passed: see the log",
            "the 3 tests passed quickly",
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s",
            "[INFO] 3 passed",
            "ok then, let us begin",
            "ok",
            "OK",
            "FAILED to connect, trying again",
            "ok  \tpkg\t0.003s",
            "FAILED to connect, trying again\nFAILED to connect, trying again",
            "a looks ok\nb looks ok",
            "6/5 passed",
            "99999999999999999999999 passed",
            "PASS",
            "",
        ] {
            let reading = reading(0, output);
            assert_eq!((reading.reader, reading.counts), (None, Counts::default()), "{output}");
        }
    }

    #[test]
    fn lines_of_cases() {
        let output =
            "ok one\nok - two, with words\nnot ok three\nPASS four\nFAIL: five\nSKIP six\nok 7 - seven # SKIP no net\n";
        assert_eq!(counts(1, output), [None, Some(7), Some(3), Some(2), Some(2), None]);
        let reading = reading(1, output);
        let names: Vec<_> = reading.cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, ["one", "two, with words", "three", "four", "five", "six", "seven"]);
        assert_eq!(reading.cases[6].reason.as_deref(), Some("no net"));
        assert_eq!(reading.notes.len(), 1);
    }

    #[test]
    fn a_short_plan_leaves_cases_without_an_outcome() {
        let output = "TAP version 13\n1..5\nok 1 - one\nok 2 - two # SKIP no network\nok 3 - three\n";
        assert_eq!(counts(0, output), [Some(5), Some(3), Some(2), Some(0), Some(1), Some(2)]);
        assert_eq!(counts(0, "ok 1\nok 2\n1..2\n"), [Some(2), Some(2), Some(2), Some(0), Some(0), Some(0)]);
        assert_eq!(counts(0, "4 planned\nok a\nok b\n"), [Some(4), Some(2), Some(2), Some(0), Some(0), Some(2)]);
        assert_eq!(counts(0, "1..2\nok\nnot ok\n"), [Some(2), Some(2), Some(1), Some(1), Some(0), Some(0)]);
        assert_eq!(
            counts(0, "1..2\nnot ok 1 - a # TODO later\nok 2\n"),
            [Some(2), Some(2), Some(2), Some(0), Some(0), Some(0)]
        );
        assert_eq!(counts(0, "1..1\nok 1\nok 2\n")[..2], [Some(2), Some(2)]);
    }

    #[test]
    fn the_tally_wins_over_the_lines_and_the_gap_is_noted() {
        let output = format!("{}all green (57 checks)\n", "ok some case\n".repeat(15));
        assert_eq!(counts(0, &output), full(57, 57, 0, 0));
        assert_eq!(reading(0, &output).notes.len(), 1);
        let output = "ok a\nnot ok b\nall green (2 checks)\n";
        assert_eq!(counts(0, output), full(2, 1, 1, 0));
        let output = "ok a\nok b\nall green (2 checks)\n";
        assert_eq!(counts(0, output), full(2, 2, 0, 0));
        assert_eq!(reading(0, output).notes, [""; 0]);
    }

    #[test]
    fn several_tallies() {
        assert_eq!(counts(0, "3 passed\n4 passed\n7 passed\n"), full(7, 7, 0, 0));
        assert_eq!(counts(0, "ok a\nok b\n2 passed\nok c\n1 passed\n"), full(3, 3, 0, 0));
        assert_eq!(counts(0, "3 passed, 1 failed\n4 passed, 0 failed\n"), full(8, 7, 1, 0));
    }

    #[test]
    fn all_skipped_is_told_and_is_no_pass() {
        assert_eq!(counts(0, "SKIP: no such-tool here\n"), full(1, 0, 0, 1));
        let skipped = reading(0, "SKIP: no such-tool here\n");
        assert_eq!(skipped.cases[0].reason.as_deref(), Some("no such-tool here"));
        assert_eq!(counts(0, "1..0 # SKIP no database\n"), full(1, 0, 0, 1));
        // It says so, and yet it failed: nothing is known.
        assert_eq!(reading(1, "SKIP: no such-tool here\n").reader, None);
        assert_eq!(counts(0, "ok a\nSKIP: b needs a network\n1 passed\n"), full(2, 1, 0, 1));
    }

    #[test]
    fn a_proof_without_a_number_leaves_the_counts_unknown() {
        for output in ["all ok", "All tests passed!", "All green."] {
            assert_eq!(counts(0, output), [None; 6], "{output}");
            assert_eq!(reading(0, output).notes.len(), 1);
        }
        assert_eq!(counts(0, "ok a\nok b\nall ok\n"), full(2, 2, 0, 0));
        assert_eq!(counts(0, "case 1 ok\ncase 3: ok\ncase 4 ... FAIL\nall ok\n"), full(3, 2, 1, 0));
        assert_eq!(counts(0, "the disk looks ok\nall ok\n"), [None; 6]);
    }

    #[test]
    fn who_gives_up_left_cases_behind() {
        assert_eq!(counts(1, "ok 1 - a\nBail out! no disk\n")[5], None);
        assert_eq!(counts(1, "1..3\nok 1 - a\nBail out! no disk\n")[5], Some(2));
    }

    #[test]
    fn a_script_that_dies_shows_where() {
        let output = "ok a\nok b\nTraceback (most recent call last):\n  File \"/p/hooks/t.py\", line 7, in test_c\n    x()\nOSError: [Errno 16] busy\n";
        let reading = reading(1, output);
        assert_eq!(reading.counts.ran, Some(2));
        let frame = &reading.frames[0];
        assert_eq!(
            (frame.file.as_str(), frame.line, frame.error.as_deref()),
            ("hooks/t.py", 7, Some("OSError: [Errno 16] busy"))
        );
    }
}
