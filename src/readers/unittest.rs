//! Python's unittest, at every verbosity, on either stream.
//!
//! # What is counted
//!
//! - `ran` is the tally's `Ran N tests`, summed over several suites in one output, plus one for each class or module
//!   fixture (`setUpClass`, `tearDownModule`, …) that failed: unittest does not count those, and yet they are red. The
//!   cases behind a failed `setUp…` never ran and nothing tells how many they are, so `unknown` is unknown then.
//! - A case with several failures (subtests, a clean-up after a failure) is one failed case.
//! - An expected failure counts as passed, an unexpected success as failed.
//! - A module that cannot be imported is one failed case, as unittest itself counts it.
//! - A skipped subtest makes its case a skipped one, unless it failed.
//! - Without a tally the process died: what was seen is counted, and `unknown` is at least 1. `planned` is never known.

mod suite;

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;

use regex::Regex;

use self::suite::{Suite, Sums, status};
use super::cases::{CaseList, Frames, MOST_CASES, Outcomes, clip, note, number};
use super::frames::{Finder, Tracebacks};
use super::{Arrival, Context, Line, Reader, Recognised, Span, Strength};
use crate::model::{CaseOutcome, Frame, ReaderName, Reading, Stream};

/// `test_x (mod.Class.test_x)`, with what a subtest adds.
static CASE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^ {0,2}([^\s(]+) \(([\w.<>-]*)\)(?: \[.*\])?(?: \(.*\))?$").expect("a constant"));
static RAN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^Ran (\d+) tests? in \d+\.\d+s$").expect("a constant"));
/// How many lines a failure's header may have before its traceback.
const HEADER: usize = 100;

pub struct Unittest<'a> {
    context: Context<'a>,
    cases: CaseList,
    frames: Frames,
    notes: Vec<String>,
    hasher: RandomState,
    stream: Option<Stream>,
    span: Option<Span>,
    /// The line that is being read, and whether a line end followed it.
    here: Option<Span>,
    ended: bool,
    place: Place,
    suite: Suite,
    /// Ended suites, and their sums.
    tallies: u64,
    sums: Sums,
    /// A name that stands alone on its line: the case's own first line of documentation may follow.
    named: Option<String>,
    begun: Option<Begun>,
    block: Block<'a>,
}

/// Where in the output of a suite the next line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Progress,
    /// Below a double line.
    Double,
    /// In a failure's header, so many lines down.
    Header(usize),
    /// In its traceback.
    Failure,
    /// Below `Ran N tests`.
    Ran(u64),
}

/// A case that began, while what it prints and then its outcome are awaited.
struct Begun {
    name: String,
    at: Arrival,
    /// What the last line looked like, and whether the line was nothing else.
    candidate: Option<(CaseOutcome, Option<String>, Arrival, bool)>,
}

struct Block<'a> {
    case: String,
    tracebacks: Tracebacks<'a>,
    frame: Option<Frame>,
    /// What was captured while the case ran is no longer its traceback.
    captured: bool,
}

impl Reader for Unittest<'_> {
    fn line(&mut self, line: &Line<'_>) {
        if self.stream != Some(line.stream) {
            self.stream = Some(line.stream);
            self.settle(false);
            self.end_block();
            self.place = Place::Progress;
        }
        self.here = Some(Span::of(line));
        self.ended = line.ended;
        self.text(line.text.as_ref(), line.at);
    }

    fn finish(mut self: Box<Self>) -> Option<Recognised> {
        self.settle(false);
        self.end_block();
        let lines = self.suite.verbose || self.suite.blocks > 0;
        let announced = match self.place {
            Place::Ran(ran) => Some(ran),
            _ => None,
        };
        let strength = if self.tallies > 0 || announced.is_some() {
            Strength::Tally
        } else if lines {
            Strength::Lines
        } else if self.suite.dots.look_like_progress() {
            Strength::Loose
        } else {
            return None;
        };
        // After a tally, dots are a suite of their own only if it broke off.
        if lines || announced.is_some() || self.tallies == 0 || self.suite.broke_off {
            self.died(announced);
        }
        if self.sums.hidden {
            note(&mut self.notes, "a fixture failed before its cases: they never ran, and nothing tells how many");
        }
        if self.sums.excess > 0 {
            note(&mut self.notes, "unittest shows more cases than its tally: a suite died before it, without an end");
            self.sums.unknown += 1;
        }
        let Sums { passed, failed, skipped, unknown, .. } = self.sums;
        let unknown = (!self.sums.hidden).then_some(unknown);
        let counts = Outcomes { passed, failed, skipped, unknown: 0 }.counts(None, unknown);
        let cases = self.cases.finish(&mut self.notes);
        let frames = self.frames.finish(&mut self.notes);
        let reader = ReaderName::Unittest;
        let reading = Reading { reader: Some(reader.name().to_owned()), counts, cases, frames, notes: self.notes };
        Some(Recognised { reader, strength, span: self.span, reading })
    }
}

impl<'a> Unittest<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            cases: CaseList::default(),
            frames: Frames::default(),
            notes: Vec::new(),
            hasher: RandomState::new(),
            stream: None,
            span: None,
            here: None,
            ended: true,
            place: Place::Progress,
            suite: Suite::default(),
            tallies: 0,
            sums: Sums::default(),
            named: None,
            begun: None,
            block: Block { case: String::new(), tracebacks: Tracebacks::new(context), frame: None, captured: false },
        }
    }

    /// The line that is being read belongs to unittest's output.
    fn is_own(&mut self) {
        self.span = self.here.map(|here| Span::with(self.span, here));
    }

    fn text(&mut self, text: &str, at: Arrival) {
        if let Some(ran) = text.strip_prefix("Ran ").and_then(|_| RAN.captures(text)) {
            self.is_own();
            self.settle(true);
            self.end_block();
            if let Place::Ran(before) = self.place {
                self.died(Some(before));
            }
            self.place = number(&ran[1]).map_or(Place::Progress, Place::Ran);
            return;
        }
        // What a case printed last may stand before the line, without an end of its own.
        if let Some(before) = text.strip_suffix(DOUBLE) {
            if !before.is_empty() {
                self.progress(before, at);
            }
            self.settle(true);
            self.end_block();
            self.place = Place::Double;
            return;
        }
        match self.place {
            Place::Progress => self.progress(text, at),
            Place::Double => self.header(text, at),
            Place::Header(_) if text == SINGLE => self.place = Place::Failure,
            Place::Header(lines) if lines < HEADER => self.place = Place::Header(lines + 1),
            Place::Header(_) => self.place = Place::Progress,
            Place::Failure => {
                if text == "Stdout:" || text == "Stderr:" {
                    self.block.captured = true;
                }
                if !self.block.captured && self.block.frame.is_none() {
                    self.block.frame = self.block.tracebacks.line(text);
                }
            }
            Place::Ran(ran) => {
                if let Some(status) = status(text) {
                    self.is_own();
                    // A tally inside the message of a failure is another program's: this suite cannot be all right.
                    if !(status.ok && self.suite.blocks > 0) {
                        self.tally(ran, &status);
                    }
                    self.place = Place::Progress;
                }
            }
        }
    }

    /// Below a double line, where a failure's header stands.
    fn header(&mut self, text: &str, at: Arrival) {
        self.place = Place::Header(0);
        let Some((kind @ ("FAIL" | "ERROR" | "UNEXPECTED SUCCESS"), name)) = text.split_once(": ") else {
            self.place = Place::Progress;
            return self.progress(text, at);
        };
        self.is_own();
        let found = CASE.captures(name);
        let case = found.as_ref().map_or_else(|| clip(name), |found| case_name(&found[1], &found[2]));
        if kind == "UNEXPECTED SUCCESS" {
            self.suite.unexpected += 1;
        } else {
            self.suite.blocks += 1;
        }
        if let Some(fixture) = found.as_ref().and_then(|found| fixture(&found[1])) {
            self.suite.fixtures += 1;
            self.suite.hidden |= fixture == "setUp";
            self.suite.name_fixture(&case);
        } else if self.suite.failing.len() < MOST_CASES {
            self.suite.failing.insert(self.hasher.hash_one(&case));
        } else {
            self.suite.beyond += 1;
        }
        self.cases.record(&case, CaseOutcome::Failed, None, at);
        self.block.case = case;
    }

    /// A failure's block ends: its frame is what the first traceback in it says.
    fn end_block(&mut self) {
        let block = &mut self.block;
        let frame = block.frame.take().or_else(|| block.tracebacks.finish());
        if let Some(mut frame) = frame {
            frame.case = Some(std::mem::take(&mut block.case));
            self.frames.extend(Some(frame));
        }
        *block = Block { case: String::new(), tracebacks: Tracebacks::new(self.context), frame: None, captured: false };
    }

    /// A line while cases run.
    fn progress(&mut self, text: &str, at: Arrival) {
        // The dots of a suite that died stand before the first name of the next.
        let letters = text.len() - text.trim_start_matches(is_progress).len();
        if let Some(dot) = text[..letters].rfind('.')
            && text.len() > letters
            && CASE.is_match(text.split(" ... ").next().unwrap_or_default())
        {
            self.dots(&text[..=dot]);
            return self.progress(&text[dot + 1..], at);
        }
        if let Some((head, tail)) = text.split_once(" ... ").or_else(|| Some((text.strip_suffix(" ...")?, ""))) {
            let named = self.named.take();
            let found =
                CASE.captures(head).map(|found| (case_name(&found[1], &found[2]), fixture(&found[1]).is_some()));
            if let Some((name, is_fixture)) = found {
                return self.begin(name, is_fixture, tail, at);
            }
            // The first line of its documentation stands in the name's place.
            if let Some(name) = named {
                return self.begin(name, false, tail, at);
            }
        }
        self.named = CASE.captures(text).map(|found| case_name(&found[1], &found[2]));
        if let Some(begun) = &mut self.begun {
            let candidate = outcome(text);
            if let Some((outcome, reason, alone)) = candidate {
                begun.candidate = Some((outcome, reason, at, alone));
            } else if !text.is_empty() && self.named.is_none() {
                // It went on: only a line that is nothing but an outcome can still be one.
                begun.candidate = begun.candidate.take().filter(|candidate| candidate.3);
            }
            return;
        }
        if !text.is_empty() && text.chars().all(is_progress) {
            self.dots(text);
        }
    }

    /// Progress characters of one line.
    fn dots(&mut self, text: &str) {
        let passed = text.bytes().filter(|&byte| byte == b'.').count() as u64;
        self.suite.in_a_row = self.suite.in_a_row.max(passed);
        self.suite.broke_off = !self.ended;
        let dots = &mut self.suite.dots;
        for byte in text.bytes() {
            match byte {
                b'.' => dots.passed += 1,
                b'F' => dots.failed += 1,
                b'E' => dots.errors += 1,
                b's' => dots.skipped += 1,
                b'x' => dots.expected += 1,
                _ => dots.unexpected += 1,
            }
        }
    }

    fn begin(&mut self, name: String, is_fixture: bool, tail: &str, at: Arrival) {
        self.settle(true);
        self.is_own();
        self.suite.verbose = true;
        if is_fixture {
            self.suite.name_fixture(&name);
        }
        if let Some((outcome, reason, true)) = outcome(tail) {
            self.cases.record(&name, outcome, reason.as_deref(), at);
            // What fails after the outcome (a clean-up) is told on lines of its own before Python 3.11.
            return;
        }
        self.cases.record(&name, CaseOutcome::Unknown, None, at);
        // Before Python 3.11 a case whose subtests failed has no outcome, nor a line of its own: the next begins here.
        if tail.contains(" ... ") {
            return self.progress(tail, at);
        }
        let candidate = outcome(tail).map(|(outcome, reason, alone)| (outcome, reason, at, alone));
        self.begun = Some(Begun { name, at, candidate });
    }

    /// The case that began is over, or (if nothing follows) what it printed last may be cut off.
    fn settle(&mut self, followed: bool) {
        self.named = None;
        let Some(begun) = self.begun.take() else { return };
        match begun.candidate {
            Some((outcome, reason, at, alone)) if alone || followed => {
                self.cases.record(&begun.name, outcome, reason.as_deref(), at);
            }
            _ => self.cases.record(&begun.name, CaseOutcome::Unknown, None, begun.at),
        }
    }
}

fn is_progress(letter: char) -> bool {
    matches!(letter, '.' | 'F' | 'E' | 's' | 'x' | 'u')
}

const DOUBLE: &str = "======================================================================";
const SINGLE: &str = "----------------------------------------------------------------------";

/// `mod.Class.test_x`, from what stands before and in the brackets. Python before 3.11 leaves the method out there.
fn case_name(method: &str, id: &str) -> String {
    let complete = id == method || id.strip_suffix(method).is_some_and(|class| class.ends_with('.'));
    clip(&match id {
        "" => method.to_owned(),
        _ if complete => id.to_owned(),
        _ => format!("{id}.{method}"),
    })
}

/// Whether a "case" is a fixture of a class or a module: `setUp` or `tearDown`.
fn fixture(method: &str) -> Option<&'static str> {
    match method {
        "setUpClass" | "setUpModule" => Some("setUp"),
        "tearDownClass" | "tearDownModule" => Some("tearDown"),
        _ => None,
    }
}

/// An outcome at the end of a text, why it was skipped, and whether the text is nothing else.
fn outcome(text: &str) -> Option<(CaseOutcome, Option<String>, bool)> {
    const WORDS: [(&str, CaseOutcome); 5] = [
        ("unexpected success", CaseOutcome::Failed),
        ("expected failure", CaseOutcome::Passed),
        ("FAIL", CaseOutcome::Failed),
        ("ERROR", CaseOutcome::Failed),
        ("ok", CaseOutcome::Passed),
    ];
    for (word, outcome) in WORDS {
        if let Some(before) = text.strip_suffix(word) {
            return Some((outcome, None, before.is_empty()));
        }
    }
    let (before, reason) = text.split_at(text.find("skipped ")?);
    let reason = reason.strip_prefix("skipped ")?;
    let quoted = ['\'', '"'].iter().find_map(|&quote| reason.strip_prefix(quote)?.strip_suffix(quote))?;
    Some((CaseOutcome::Skipped, Some(quoted.replace("\\n", " ")), before.is_empty()))
}
