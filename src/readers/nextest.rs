//! cargo-nextest, at every status level, with and without captured output.
//!
//! # What is counted
//!
//! - The summary counts. Without one the run was ended: what was seen is counted, the rest of `Starting N tests` is
//!   unknown.
//! - One case is one outcome: what passes at a later try (flaky) passed, and so did what left a handle open (leaky) or
//!   was slow. Timed out, aborted, and what could not be started failed.
//! - nextest calls skipped what is ignored and what a filter leaves out, and does not say which is which. Both count as
//!   skipped cases that were planned: an ignored case must not vanish.
//! - A case's name is its binary's and its own, as they are printed.
//!
//! # Frames
//!
//! The first panic in what a case printed, if the case failed in the end.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use regex::Regex;

use super::cases::{CaseList, MOST_FRAMES, Outcomes, clip, note, number};
use super::frames::{Finder, Panics};
use super::{Context, Line, Reader, Recognised, Span, Strength};
use crate::model::{CaseOutcome, Frame, ReaderName, Reading, Stream};

/// `[   0.005s] ( 1/12) alpha tests::adds`, as it stands behind the status.
static RESULT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^ \[[> ]*(?:\d+\.\d+s)? *\] (?:\( *(\d+/\d+|[─-]+)\) )?(\S+ \S.*)$").expect("a constant")
});
static STARTING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^ (\d+) tests? across \d+ binar(?:y|ies)(?: \((.*)\))?$").expect("a constant"));
static SKIPPED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(\d+)(?: tests?)?(?: and \d+ binar(?:y|ies))? skipped").expect("a constant"));
static SUMMARY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^ \[ *\d+\.\d+s\] (?:(\d+)/)?(\d+) tests? run: (.*)$").expect("a constant"));
static PART: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(\d+) (passed|failed|timed out|exec failed|skipped)(?: \(.*\))?$").expect("a constant")
});
/// The column at which the status of a case ends.
const STATUS: usize = 12;

pub struct Nextest<'a> {
    cases: CaseList,
    notes: Vec<String>,
    stream: Option<Stream>,
    span: Option<Span>,
    run: Option<Run>,
    sums: Outcomes,
    planned: Option<u64>,
    unknown: Option<u64>,
    strength: Option<Strength>,
    current: Current,
    panics: Panics<'a>,
    /// The first frame of a case that failed, or whose try did.
    frames: Vec<Frame>,
    with_frame: HashSet<u64>,
    /// Which frames are relative to the folder of the case's package, and the folders that panics told.
    relative: HashSet<usize>,
    folders: HashMap<String, String>,
    context: Context<'a>,
    hasher: RandomState,
    /// Nothing is captured: what stands on stdout is what the cases printed.
    uncaptured: bool,
}

/// From `Starting …` to the summary and what it repeats.
#[derive(Default)]
struct Run {
    starting: Option<u64>,
    skipped: u64,
    summary: Option<Summary>,
}

#[derive(Debug, Clone, Copy)]
struct Summary {
    outcomes: Outcomes,
    /// How many were to run, without the skipped.
    of: u64,
}

/// Whose output is being read.
#[derive(Default)]
struct Current {
    name: Option<String>,
    failed: bool,
    frame: Option<Frame>,
    /// Whether the frame is relative to the package's folder.
    relative: bool,
    /// How far nextest indents what it captured.
    indented: bool,
}

impl Reader for Nextest<'_> {
    fn line(&mut self, line: &Line<'_>) {
        if self.stream != Some(line.stream) {
            self.end_run();
            self.stream = Some(line.stream);
        }
        if self.text(line) {
            self.span = Some(Span::with(self.span, Span::of(line)));
        } else if self.run.is_some() {
            self.output(&line.text);
        }
    }

    fn finish(mut self: Box<Self>) -> Option<Recognised> {
        self.end_run();
        let strength = self.strength?;
        let counts = self.sums.counts(self.planned, self.unknown);
        let cases = self.cases.finish(&mut self.notes);
        let failed: HashSet<&str> =
            cases.iter().filter(|case| case.outcome == CaseOutcome::Failed).map(|case| case.name.as_str()).collect();
        let placed = self.frames.into_iter().enumerate().map(|(at, frame)| {
            let folder = frame.case.as_deref().and_then(|case| self.folders.get(package(case)));
            let file = folder.filter(|_| self.relative.contains(&at));
            let file = file.and_then(|folder| Panics::own(&format!("{folder}/{}", frame.file), &self.context));
            Frame { file: file.unwrap_or(frame.file), ..frame }
        });
        let frames = placed.filter(|frame| frame.case.as_deref().is_none_or(|case| failed.contains(case)));
        let frames = frames.collect();
        // Without capture the tallies on stdout are those of the cases.
        let span =
            if self.uncaptured { Some(Span { stream: Stream::Stdout, first: 0, last: u64::MAX }) } else { self.span };
        let reader = ReaderName::Nextest;
        let reading = Reading { reader: Some(reader.name().to_owned()), counts, cases, frames, notes: self.notes };
        Some(Recognised { reader, strength, span, reading })
    }
}

impl<'a> Nextest<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            cases: CaseList::default(),
            notes: Vec::new(),
            stream: None,
            span: None,
            run: None,
            sums: Outcomes::default(),
            planned: Some(0),
            unknown: Some(0),
            strength: None,
            current: Current::default(),
            panics: Panics::new(context),
            frames: Vec::new(),
            with_frame: HashSet::new(),
            relative: HashSet::new(),
            folders: HashMap::new(),
            context,
            hasher: RandomState::new(),
            uncaptured: false,
        }
    }

    /// Takes a line; whether it is one of nextest's own.
    fn text(&mut self, line: &Line<'_>) -> bool {
        let text = line.text.trim_end();
        let Some((status, rest)) = status(text) else {
            let known = self.run.is_some()
                && (text == "error: test run failed"
                    || text.starts_with("warning: ")
                    || text.starts_with("────────────"));
            if known {
                self.end_output();
            }
            return known;
        };
        match status {
            "Starting" => {
                let Some(found) = STARTING.captures(rest) else { return false };
                self.end_run();
                let skipped = found.get(2).and_then(|inner| SKIPPED.captures(inner.as_str())?.get(1));
                let skipped = skipped.and_then(|count| number(count.as_str())).unwrap_or(0);
                self.run = Some(Run { starting: number(&found[1]), skipped, summary: None });
                self.recognise(Strength::Lines);
                true
            }
            "Summary" => {
                let Some(summary) = summary(rest) else { return false };
                self.end_output();
                self.recognise(Strength::Tally);
                self.run.get_or_insert_default().summary = Some(summary);
                true
            }
            "Cancelling" | "Canceling" => self.run.is_some(),
            _ => self.case(status, rest, line),
        }
    }

    fn recognise(&mut self, strength: Strength) {
        self.strength = self.strength.max(Some(strength));
    }

    fn case(&mut self, status: &str, rest: &str, line: &Line<'_>) -> bool {
        let Some(found) = RESULT.captures(rest) else { return false };
        let name = &found[2];
        let last = found.get(1).is_some_and(|place| place.as_str().contains('/'));
        let (tried, word) = match status.strip_prefix("TRY ").and_then(|rest| rest.split_once(' ')) {
            Some((number, word)) if number.bytes().all(|byte| byte.is_ascii_digit()) => (true, word),
            _ => (false, status),
        };
        let summed = self.run.as_ref().is_some_and(|run| run.summary.is_some());
        let outcome = match word {
            "PASS" | "LEAK" | "PASS + LEAK" => CaseOutcome::Passed,
            word if word.starts_with("FLAKY ") => CaseOutcome::Passed,
            "SKIP" => CaseOutcome::Skipped,
            "START" | "SLOW" | "TERMINATING" | "TRMNTG" | "RETRY" | "DELAY" | "STARTING" => CaseOutcome::Unknown,
            word if word.starts_with("FAIL")
                || word.starts_with("SIG")
                || word.starts_with("ABORT")
                || matches!(word, "TIMEOUT" | "TMT" | "XFAIL" | "LEAK-FAIL" | "LKFAIL" | "FL-LEAK" | "FL+LK") =>
            {
                // Another try may follow.
                if tried && !last && !summed { CaseOutcome::Unknown } else { CaseOutcome::Failed }
            }
            _ => return false,
        };
        if word == "START" {
            self.uncaptured = true;
        }
        self.run.get_or_insert_default();
        self.recognise(Strength::Lines);
        self.cases.record(name, outcome, None, line.at);
        // What a case printed stands before its line if nothing is captured, else below it.
        if self.uncaptured && self.current.name.as_deref() == Some(name) {
            self.current.failed = outcome == CaseOutcome::Failed;
        }
        self.end_output();
        let failed = tried || outcome == CaseOutcome::Failed;
        self.current = Current { name: Some(clip(name)), failed, ..Current::default() };
        true
    }

    /// What a case printed.
    fn output(&mut self, text: &str) {
        let head = text.trim();
        if matches!(head, "stdout ───" | "stderr ───" | "output ───") {
            if self.current.indented && head != "stderr ───" {
                // Statuses are not shown: another case's.
                self.end_output();
            }
            if self.current.name.is_none() {
                self.current.failed = true;
            }
            self.current.indented = true;
            let frame = self.panics.finish();
            self.take(frame);
            return;
        }
        let text = if self.current.indented { text.strip_prefix("    ").unwrap_or(text) } else { text };
        let frame = self.panics.line(text);
        self.take(frame);
    }

    fn take(&mut self, frame: Option<Frame>) {
        if self.current.frame.is_none() && frame.is_some() {
            self.current.relative = self.panics.is_relative();
            self.current.frame = frame;
        }
    }

    fn end_output(&mut self) {
        let frame = self.panics.finish();
        let current = std::mem::take(&mut self.current);
        let told = current.name.as_deref().map(package).zip(self.panics.take_package());
        if let Some((package, folder)) = told.filter(|_| self.folders.len() < MOST_FRAMES) {
            self.folders.insert(package.to_owned(), folder);
        }
        let relative = current.relative || (current.frame.is_none() && self.panics.is_relative());
        let Some(frame) = current.frame.or(frame).filter(|_| current.failed) else { return };
        if self.frames.len() < MOST_FRAMES {
            let new = current.name.as_ref().is_none_or(|name| self.with_frame.insert(self.hasher.hash_one(name)));
            if new {
                if relative {
                    self.relative.insert(self.frames.len());
                }
                self.frames.push(Frame { case: current.name, ..frame });
            }
        }
    }

    fn end_run(&mut self) {
        self.end_output();
        let Some(run) = self.run.take() else { return };
        let seen = self.cases.end_suite();
        let mut outcomes = Outcomes { unknown: 0, ..seen };
        // Skipped ones have lines only at the highest level.
        outcomes.skipped = outcomes.skipped.max(run.skipped);
        let mut planned = run.starting;
        if let Some(summary) = run.summary {
            let lines = outcomes.passed + outcomes.failed;
            if lines > 0 && (outcomes.passed > summary.outcomes.passed || outcomes.failed > summary.outcomes.failed) {
                note(
                    &mut self.notes,
                    format!("the lines tell of {lines} cases, the summary of fewer: the summary counts"),
                );
            }
            outcomes = summary.outcomes;
            planned = Some(planned.unwrap_or(summary.of).max(summary.of));
        } else {
            note(&mut self.notes, "nextest ended without its summary");
        }
        let ran = outcomes.ran();
        let planned = planned.map(|planned| (planned + outcomes.skipped).max(ran));
        self.sums.passed += outcomes.passed;
        self.sums.failed += outcomes.failed;
        self.sums.skipped += outcomes.skipped;
        self.planned = self.planned.zip(planned).map(|(a, b)| a + b);
        self.unknown = self.unknown.zip(planned).map(|(a, b)| a + b - ran);
    }
}

/// The package in `alpha::whole tests::adds`.
fn package(name: &str) -> &str {
    let binary = name.split(' ').next().unwrap_or(name);
    binary.split("::").next().unwrap_or(binary)
}

/// The word that is aligned to the status column, and what follows it.
fn status(text: &str) -> Option<(&str, &str)> {
    let (head, rest) = text.split_at_checked(STATUS)?;
    let word = head.trim_start();
    let aligned = rest.starts_with(' ') && !word.is_empty() && !word.ends_with(' ');
    if aligned && word.starts_with(|first: char| first.is_ascii_uppercase()) {
        return Some((word, rest));
    }
    // A longer status begins at the margin.
    let end = text.find(" [")?;
    (end > STATUS && text.starts_with(|first: char| first.is_ascii_uppercase())).then(|| text.split_at(end))
}

fn summary(rest: &str) -> Option<Summary> {
    let found = SUMMARY.captures(rest)?;
    let of = number(&found[2])?;
    let ran = found.get(1).map_or(Some(of), |ran| number(ran.as_str()))?;
    let mut outcomes = Outcomes::default();
    let mut rest = &found[3];
    // What stands in brackets has commas, too.
    while !rest.is_empty() {
        let mut depth = 0;
        let end = rest.find(|c: char| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        });
        let part = PART.captures(rest[..end.unwrap_or(rest.len())].trim())?;
        let count = number(&part[1])?;
        match &part[2] {
            "passed" => outcomes.passed += count,
            "skipped" => outcomes.skipped += count,
            _ => outcomes.failed += count,
        }
        rest = end.map_or("", |end| &rest[end + 1..]);
    }
    (outcomes.passed + outcomes.failed == ran && ran <= of).then_some(Summary { outcomes, of })
}
