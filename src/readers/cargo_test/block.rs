//! What one test binary says, from `running N tests` to its tally.

use std::mem;

use super::line::{Outcome, Tally, name_of};
use crate::model::{Case, CaseOutcome, Frame};
use crate::readers::cases::{CaseList, MOST_CASES, MOST_FRAMES, Outcomes, clip, note};
use crate::readers::frames::{Finder, Panics};
use crate::readers::{Arrival, Context};

/// What ended blocks add up to.
#[derive(Debug)]
pub struct Sum {
    pub blocks: u64,
    pub outcomes: Outcomes,
    /// `None` once a block announced nothing.
    pub planned: Option<u64>,
    pub unknown: Option<u64>,
    pub cases: Vec<Case>,
    pub frames: Vec<Frame>,
    pub notes: Vec<String>,
    pub cut: bool,
}

impl Default for Sum {
    fn default() -> Self {
        Self {
            blocks: 0,
            outcomes: Outcomes::default(),
            planned: Some(0),
            unknown: Some(0),
            cases: Vec::new(),
            frames: Vec::new(),
            notes: Vec::new(),
            cut: false,
        }
    }
}

impl Sum {
    pub fn add(&mut self, other: Self) {
        let plus = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
        self.blocks += other.blocks;
        self.outcomes.passed += other.outcomes.passed;
        self.outcomes.failed += other.outcomes.failed;
        self.outcomes.skipped += other.outcomes.skipped;
        self.planned = plus(self.planned, other.planned);
        self.unknown = plus(self.unknown, other.unknown);
        self.cut |= other.cut || self.cases.len() + other.cases.len() > MOST_CASES;
        self.cases.extend(other.cases.into_iter().take(MOST_CASES - self.cases.len()));
        self.cut |= self.frames.len() + other.frames.len() > MOST_FRAMES;
        self.frames.extend(other.frames.into_iter().take(MOST_FRAMES - self.frames.len()));
        for text in other.notes {
            note(&mut self.notes, text);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// Below `failures:` or `successes:`, where captured output stands.
    Output,
}

pub struct Block<'a> {
    context: Context<'a>,
    pub planned: Option<u64>,
    /// It stands in what a case of another block printed, and was captured.
    pub captured: bool,
    /// Blocks that were seen within this one.
    pub inner: Sum,
    list: CaseList,
    /// Of `-q`: a character per case, a line per failed one.
    dots: Outcomes,
    phase: Phase,
    begun: Option<Begun>,
    output: Option<Output<'a>>,
    frames: Vec<Frame>,
    /// Which of the frames are relative to the package's folder, and what that is, if a panic told.
    relative: Vec<usize>,
    package: Option<String>,
    /// The names below the last `failures:`.
    failures: Option<Vec<String>>,
    tally: Option<Outcomes>,
    notes: Vec<String>,
}

/// A case that began, while what it prints and then its outcome are awaited.
struct Begun {
    name: String,
    /// The outcome that the last line ended with.
    last: Option<(CaseOutcome, Arrival)>,
    frame: Option<Frame>,
}

/// What a failed case printed.
struct Output<'a> {
    case: String,
    panics: Panics<'a>,
    frame: Option<Frame>,
    /// What it said if it did not panic.
    said: Option<String>,
}

impl<'a> Block<'a> {
    pub fn new(context: Context<'a>, planned: Option<u64>) -> Self {
        Self {
            context,
            planned,
            captured: false,
            inner: Sum::default(),
            list: CaseList::default(),
            dots: Outcomes::default(),
            phase: Phase::Running,
            begun: None,
            output: None,
            frames: Vec::new(),
            relative: Vec::new(),
            package: None,
            failures: None,
            tally: None,
            notes: Vec::new(),
        }
    }

    /// `test NAME ... OUTCOME`; whether it is a case of this block.
    pub fn case(&mut self, name: &str, outcome: &Outcome<'_>, at: Arrival) -> bool {
        // libtest names no case twice, so this is what another one printed.
        let known = self.list.outcome(name);
        if self.phase == Phase::Output || known.is_some_and(|known| known != CaseOutcome::Unknown) {
            return false;
        }
        self.settle();
        match *outcome {
            Outcome::Ended(outcome, reason) => self.list.record(name, outcome, reason, at),
            Outcome::Begun => {
                self.list.record(name, CaseOutcome::Unknown, None, at);
                self.begun = Some(Begun { name: name.to_owned(), last: None, frame: None });
            }
        }
        true
    }

    /// Any other line; whether it tells of cases.
    pub fn text(&mut self, text: &str, at: Arrival) -> bool {
        if self.phase == Phase::Output {
            self.captured_line(text);
            return false;
        }
        if matches!(text, "failures:" | "successes:") {
            self.settle();
            self.phase = Phase::Output;
            self.failures = Some(Vec::new());
            return false;
        }
        if let Some(begun) = &mut self.begun {
            if let Some(outcome) = Outcome::at_end(text) {
                begun.last = Some((outcome, at));
            } else if !text.is_empty() {
                begun.last = None;
            }
            return false;
        }
        self.quiet(text, at)
    }

    /// Progress as `-q` prints it.
    fn quiet(&mut self, text: &str, at: Arrival) -> bool {
        if let Some(name) = text.strip_suffix(" --- FAILED").and_then(name_of) {
            self.list.record(name, CaseOutcome::Failed, None, at);
            return true;
        }
        let seen = self.list.outcomes();
        if seen.passed + seen.skipped + seen.unknown > 0 {
            return false;
        }
        let (dots, rest) = text.split_once(' ').unwrap_or((text, ""));
        let numbers = rest.split_once('/');
        let is_progress = rest.is_empty()
            || numbers.is_some_and(|(a, b)| a.trim_start().bytes().chain(b.bytes()).all(|byte| byte.is_ascii_digit()));
        if !is_progress || dots.is_empty() || !dots.bytes().all(|dot| b".Fia".contains(&dot)) {
            return false;
        }
        for dot in dots.bytes() {
            match dot {
                b'F' => self.dots.failed += 1,
                b'i' => self.dots.skipped += 1,
                _ => self.dots.passed += 1,
            }
        }
        true
    }

    /// Whether what follows is what cases printed.
    pub fn is_output(&self) -> bool {
        self.phase == Phase::Output
    }

    /// Whether the case of that name can have failed in this block.
    pub fn may_have_failed(&self, name: &str) -> bool {
        match self.list.outcome(name) {
            Some(outcome) => outcome == CaseOutcome::Failed,
            // Before Rust 1.70 `-q` named no failed case.
            None => self.dots.failed > 0,
        }
    }

    /// `---- NAME stdout ----`.
    pub fn begin_output(&mut self, name: &str) {
        self.settle();
        self.end_output();
        self.phase = Phase::Output;
        self.failures = None;
        let panics = Panics::new(self.context);
        self.output = Some(Output { case: clip(name), panics, frame: None, said: None });
    }

    fn captured_line(&mut self, text: &str) {
        if text == "failures:" {
            self.failures = Some(Vec::new());
        } else if let Some(failures) = &mut self.failures {
            match text.strip_prefix("    ").and_then(name_of) {
                Some(name) if failures.len() < MOST_CASES => failures.push(clip(name)),
                Some(_) => {}
                None if text.is_empty() => {}
                None => self.failures = None,
            }
        }
        let Some(output) = &mut self.output else { return };
        if output.frame.is_some() {
            return;
        }
        output.frame = output.panics.line(text);
        if output.said.is_none() && !text.is_empty() {
            output.said = Some(clip(text));
        }
    }

    fn end_output(&mut self) {
        let Some(mut output) = self.output.take() else { return };
        let frame = output.frame.or_else(|| output.panics.finish());
        self.package = self.package.take().or_else(|| output.panics.take_package());
        if output.panics.is_relative() && frame.is_some() {
            self.relative.push(self.frames.len());
        }
        let frame = match doc_test(&output.case) {
            Some((file, line)) => {
                let error = frame.and_then(|frame| frame.error).or(output.said);
                Panics::own(file, &self.context).map(|file| Frame { error, ..Frame::new(file, line) })
            }
            None => frame,
        };
        if let Some(frame) = frame
            && self.frames.len() < MOST_FRAMES
        {
            self.frames.push(Frame { case: Some(output.case), ..frame });
        }
    }

    /// A panic while cases run; whether it is one of the case that began.
    pub fn takes(&mut self, thread: &str, frame: &Frame) -> bool {
        let Some(begun) = &mut self.begun else { return false };
        if begun.frame.is_none() && (thread == begun.name || matches!(thread, "main" | "<unnamed>")) {
            begun.frame = Some(frame.clone());
            return true;
        }
        thread == begun.name
    }

    /// The case that began is over.
    fn settle(&mut self) {
        let Some(begun) = self.begun.take() else { return };
        let Some((outcome, at)) = begun.last else { return };
        self.list.record(&begun.name, outcome, None, at);
        if let Some(frame) = begun.frame.filter(|_| outcome == CaseOutcome::Failed && self.frames.len() < MOST_FRAMES) {
            self.frames.push(Frame { case: Some(begun.name), ..frame });
        }
    }

    /// Its tally was seen.
    pub fn end(&mut self, tally: &Tally) {
        self.settle();
        self.end_output();
        let tally = tally.outcomes;
        let seen = self.list.outcomes();
        if let Some(failures) = self.failures.take().filter(|failures| failures.len() as u64 == tally.failed) {
            for name in failures {
                // Without names nothing else tells which one it was.
                if self.list.outcome(&name) != Some(CaseOutcome::Failed) {
                    self.list.record(&name, CaseOutcome::Failed, None, Arrival::default());
                }
            }
        }
        // All that the tally tells beside what the lines do is that the rest passed.
        let after = self.list.outcomes();
        let rest = Outcomes { passed: after.passed + after.unknown, unknown: 0, ..after };
        if after.unknown > 0 && rest == tally {
            self.list.settle_unknown(CaseOutcome::Passed);
        }
        let lines = Outcomes { unknown: 0, ..seen };
        if lines.passed + lines.skipped > 0 && lines != tally {
            note(
                &mut self.notes,
                format!(
                    "a tally says {} passed, {} failed and {} ignored, the lines tell of {}, {} and {}: the tally counts",
                    tally.passed, tally.failed, tally.skipped, lines.passed, lines.failed, lines.skipped
                ),
            );
        }
        self.tally = Some(tally);
    }

    /// It never came to its tally.
    pub fn die(&mut self) {
        if let Some(begun) = &self.begun
            && let Some((CaseOutcome::Failed, _)) = begun.last
        {
            self.settle();
        }
        self.begun = None;
        self.end_output();
        let seen = self.list.outcomes();
        let seen = Outcomes {
            passed: seen.passed + self.dots.passed,
            failed: seen.failed.max(self.dots.failed),
            skipped: seen.skipped + self.dots.skipped,
            unknown: 0,
        };
        let all = self.planned.is_some_and(|planned| seen.ran() == planned);
        let what = if all { "after its last case, without a tally" } else { "before all of its cases had an outcome" };
        note(&mut self.notes, format!("a test binary ended {what}"));
        self.dots = seen;
    }

    /// Hands over what it counted.
    pub fn close(mut self, into: &mut Sum) {
        let outcomes = self.tally.unwrap_or(self.dots);
        let ran = outcomes.ran();
        let (planned, unknown) = match (self.planned, self.tally) {
            (Some(planned), _) if ran <= planned => (Some(planned), Some(planned - ran)),
            (Some(planned), _) => {
                note(&mut self.notes, format!("{planned} cases were announced, {ran} ran"));
                (Some(ran), Some(0))
            }
            (None, Some(_)) => (Some(ran), Some(0)),
            (None, None) => (None, None),
        };
        if let Some(package) = &self.package {
            for &at in &self.relative {
                if let Some(frame) = self.frames.get_mut(at)
                    && let Some(file) = Panics::own(&format!("{package}/{}", frame.file), &self.context)
                {
                    frame.file = file;
                }
            }
        }
        let mut notes = mem::take(&mut self.notes);
        let cases = self.list.finish(&mut notes);
        into.add(Sum { blocks: 1, outcomes, planned, unknown, cases, frames: self.frames, notes, cut: false });
    }
}

/// File and line in a doc test's name: `src/lib.rs - f (line 3)`.
fn doc_test(name: &str) -> Option<(&str, u64)> {
    let (file, rest) = name.split_once(" - ")?;
    let line = rest.strip_suffix(')')?.rsplit_once("(line ")?.1.parse().ok()?;
    Some((file, line))
}
