//! Plain scripts: one line per case (`ok NAME`), a tally as a line of its own (`all green (57 checks)`), or both.
//!
//! # What is counted
//!
//! - A tally is a whole line in one of the forms of [`tally`]; prose with numbers in it is no tally. Of several the last
//!   counts, unless the lines of the cases say that they add up, or an earlier one tells of failures that the last
//!   leaves out.
//! - If the tally and the lines of the cases disagree on how many there are, the tally wins, and a note tells the gap. If
//!   they are as many and more of the lines failed, the lines do.
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

use self::tally::{Parts, Tally, parts, reason};
use super::cases::{CaseList, Outcomes, clip, note, number as number_of};
use super::{Arrival, Context, Line, Reader, Recognised, Span, Strength};
use crate::model::{CaseOutcome, Counts, Exit, ReaderName, Reading};

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
    Regex::new(r"^(?:[✓✔✅🎉=*#-]+ *)?(?i:(?:success|ok|result|done): *)?(?i:(?:all|everything) (?:ok|green|good|passed|pass|passes)|all (?:of the )?(?:self-?)?(?:checks|tests|cases|specs|assertions) (?:have |are )?(?:passed|passing|pass|ok|okay|green|succeeded)(?: successfully)?)[.!]*(?: *[✓✔✅🎉=*#-]+)?$")
        .expect("a constant")
});
/// What takes a proof back.
static REFUTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:[✗✘❌✖=*#-]+ *)?(?i:(?:some|not all|one or more) (?:checks|tests|cases|specs) (?:have )?(?:failed|passed)|(?:checks|tests) failed)[.!]*(?: *[✗✘❌✖=*#-]+)?$")
        .expect("a constant")
});
static MARKED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^ *(✓|✔|✅|✗|✘|❌|✖)\u{fe0f}? +(\S.*)$").expect("a constant"));
/// `[PASS] name`.
static BRACKETED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^ *\[ *(ok|OK|PASS|PASSED|FAIL|FAILED|SKIP|SKIPPED) *\]:? +(?:- +)?(\S.*)$").expect("a constant")
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
    /// The script says that not all is well.
    refuted: bool,
    /// Lines with a mark before a name: `✓ name`.
    marked: CaseList,
    /// Lines that each tell one number, one below the other; where they end, and what was known before them.
    block: Option<Block>,
}

/// `Passed: 5`, and `Failed: 0` below it.
#[derive(Clone, Copy)]
struct Block {
    parts: Parts,
    end: u64,
    tallies: u64,
    sum: Tally,
    last: Option<Tally>,
}

impl Reader for OkLines<'_> {
    fn line(&mut self, line: &Line<'_>) {
        let text = line.text.trim_end();
        if text.is_empty() {
            return;
        }
        self.said += 1;
        if let Some(parts) = parts(text) {
            self.parts(parts);
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
        } else if REFUTED.is_match(text) {
            self.refuted = true;
        } else if let Some(found) = MARKED.captures(text) {
            let outcome = if matches!(&found[1], "✗" | "✘" | "❌" | "✖") {
                CaseOutcome::Failed
            } else {
                CaseOutcome::Passed
            };
            self.marked.record(&found[2], outcome, None, line.at);
        } else if let Some(found) = BRACKETED.captures(text) {
            // `[ OK ] Started the service`: a log says that, too.
            self.case(&found[1], !found[1].eq_ignore_ascii_case("ok"), None, &found[2], line.at);
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
        self.proof &= !self.refuted;
        // Tools mark what they did, too. A mark makes a case where something sums up just as many of them, or where nothing
        // else is there and the command speaks of tests.
        let marked = self.marked.outcomes();
        let sums_up = self.last.and_then(|tally| tally.passed.map(|passed| (passed, tally.failed.unwrap_or(0))))
            == Some((marked.passed, marked.failed))
            || self.last.is_some_and(|tally| {
                tally.passed.is_none()
                    && tally.total == Some(marked.ran())
                    && tally.failed.unwrap_or(0) == marked.failed
            });
        let mut loose = false;
        if self.lines == 0 && marked.ran() >= 2 {
            loose = self.last.is_none() && !self.proof && self.planned.is_none();
            if sums_up || self.last.is_none() {
                self.lines = marked.ran();
                self.cases = std::mem::take(&mut self.marked);
            }
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
        let strength = if loose {
            Strength::Loose
        } else if tally.is_some() || (self.planned.is_some() && self.lines > 0) {
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
        } else if counts.ran.is_some() && (tally.is_some() || self.proof) {
            counts.unknown = Some(0);
        }
        if let (Some(missing @ 1..), Some(ran), None) = (tally.map(|tally| tally.missing), counts.ran, self.planned) {
            // The total has more than the parts.
            counts.planned = Some(ran + missing);
            counts.unknown = Some(missing);
        }
        let cases = self.cases.finish(&mut self.notes);
        Some(recognised(strength, Reading { counts, cases, notes: self.notes, ..Reading::default() }))
    }
}

impl<'a> OkLines<'a> {
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
            refuted: false,
            marked: CaseList::default(),
            block: None,
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

    /// Takes what a line says of all cases. Lines one below the other, each of which tells another number, are one tally.
    fn parts(&mut self, parts: Parts) {
        let joined = self
            .block
            .filter(|block| parts.is_single() && block.end + 1 == self.said)
            .and_then(|block| Some(Block { parts: block.parts.and(parts)?, ..block }));
        if let Some(block) = joined {
            (self.tallies, self.sum, self.last) = (block.tallies, block.sum, block.last);
            self.take(block.parts);
            self.block = Some(Block { end: self.said, ..block });
            return;
        }
        let (tallies, sum, last) = (self.tallies, self.sum, self.last);
        self.block = parts.is_single().then_some(Block { parts, end: self.said, tallies, sum, last });
        self.take(parts);
    }

    fn take(&mut self, parts: Parts) {
        if let Some(tally) = parts.tally() {
            self.tallies += 1;
            self.sum = if self.tallies == 1 { tally } else { self.sum.and(tally) };
            self.last = Some(tally);
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
        } else if let Some(left_out @ 1..) = lines.failed.checked_sub(counts.failed.unwrap_or(0)).filter(|_| told) {
            // As many cases, and more of them failed: the worse of the two counts.
            if ran.is_some() {
                counts.passed = Some(lines.passed);
                counts.failed = Some(lines.failed);
                counts.skipped = Some(lines.skipped);
            }
            let failures = if left_out == 1 { "a failure".to_owned() } else { format!("{left_out} failures") };
            note(&mut self.notes, format!("the tally leaves out {failures} that the lines tell of: the lines count"));
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
        let counts = cases.outcomes().counts(None, Some(0));
        let cases = cases.finish(&mut notes);
        Some(recognised(Strength::Tally, Reading { counts, cases, notes, ..Reading::default() }))
    }
}

/// Its lines are scattered among those of others, so that where they begin and end says nothing.
fn recognised(strength: Strength, reading: Reading) -> Recognised {
    let reader = ReaderName::OkLines;
    let reading = Reading { reader: Some(reader.name().to_owned()), ..reading };
    Recognised { reader, strength, span: None::<Span>, reading }
}

fn outcome(word: &str) -> CaseOutcome {
    match word {
        "ok" | "OK" | "PASS" | "PASSED" => CaseOutcome::Passed,
        "SKIP" | "SKIPPED" => CaseOutcome::Skipped,
        _ => CaseOutcome::Failed,
    }
}
