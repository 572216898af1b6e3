//! libtest, as `cargo test` runs it: unit tests, integration tests, doc tests and benches, at every verbosity.
//!
//! # What is counted
//!
//! - Each binary says `running N tests` and ends with `test result: …`; what lies between is a block, and blocks add up.
//!   The tally counts, whatever the lines say; a gap between them is a note. The same name in two blocks is two cases.
//! - A block within another is what a case of the other printed, if the other comes to its own end; else the other died,
//!   and a binary ran after it, if cargo's
//!   words show that; where nothing does, what passed in the second is unknown. Which tally ends which block is told by the announced number. What stands in captured
//!   output counts in neither case.
//! - A block without a tally died. What was seen is counted, the rest of its N is unknown.
//! - An ignored case is a skipped one; what a filter leaves out is no case. A bench that was measured passed.
//! - If cargo stopped at the first target that failed, others may never have run: `planned` and `unknown` are unknown.
//! - Errors of compilation have frames and no counts.
//!
//! # Frames
//!
//! The first panic of a case's own block of output; a later one is often no more than the join. In output that is not
//! captured, a panic's thread has the name of its case. What a doc test says of itself counts lines in a file that
//! rustdoc made, so the frame is the place in the test's name.

mod block;
mod line;

use std::mem;

use self::block::{Block, Sum};
use self::line::{Outcome, Said, Tally};
use super::cases::{MOST_FRAMES, Outcomes, clip, note};
use super::frames::{Finder, Panics};
use super::{Context, Line, Reader, Recognised, Span, Strength};
use crate::model::{CaseOutcome, Counts, Frame, ReaderName, Reading, Stream};

/// How many blocks may be open at once. Of more the outermost died.
const DEPTH: usize = 3;

pub struct CargoTest<'a> {
    context: Context<'a>,
    /// The open blocks, the innermost last.
    open: Vec<Block<'a>>,
    sum: Sum,
    /// Blocks that began within one that never came to its end: other binaries, or what a case of it printed.
    doubtful: Sum,
    /// A block of this stream never came to its end: nobody knows what is outside of it.
    broken: bool,
    /// How many binaries cargo says that it ran, and how many of them died.
    binaries: u64,
    deaths: u64,
    notes: Vec<String>,
    stream: Option<Stream>,
    span: Option<Span>,
    /// The panics outside of any case's own output, with the thread of each.
    panics: Panics<'a>,
    loose: Vec<(String, Frame)>,
    tallies: u64,
    /// How sure the lines are, tallies apart.
    lines: Option<Strength>,
    /// What cargo said of targets that failed.
    failed: Option<Targets>,
}

/// Which targets that failed cargo named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Targets {
    /// One, and perhaps it stopped there.
    First,
    /// All, in a list at the end.
    All,
}

impl Reader for CargoTest<'_> {
    fn line(&mut self, line: &Line<'_>) {
        if self.stream != Some(line.stream) {
            self.stream = Some(line.stream);
            self.end_all();
        }
        if self.text(line) {
            let here = Span::of(line);
            // Cargo's own words stand on stderr; the results are what matters.
            if self.span.is_none_or(|span| span.stream == line.stream || self.tallies == 0) {
                self.span = Some(Span::with(self.span, here));
            }
        }
    }

    fn finish(mut self: Box<Self>) -> Option<Recognised> {
        self.end_all();
        let strength = if self.tallies > 0 { Strength::Tally } else { self.lines? };
        self.settle_doubtful();
        let mut counts = Counts::default();
        if self.sum.blocks > 0 {
            counts = self.sum.outcomes.counts(self.sum.planned, self.sum.unknown);
        }
        if self.failed == Some(Targets::First) && !self.one_target() {
            note(
                &mut self.notes,
                "cargo stopped at the first target that failed: whether others were to run is unknown",
            );
            counts.planned = None;
            // Those that are known to have no outcome are at least so many.
            counts.unknown = counts.unknown.filter(|&unknown| unknown > 0);
        }
        let mut notes = self.notes;
        for text in mem::take(&mut self.sum.notes) {
            note(&mut notes, text);
        }
        let frames = frames(&mut self.sum, self.loose);
        let cases = mem::take(&mut self.sum.cases);
        if self.sum.cut {
            note(&mut notes, "the lists of cases and frames are cut, the numbers are not");
        }
        let reader = ReaderName::CargoTest;
        let reading = Reading { reader: Some(reader.name().to_owned()), counts, cases, frames, notes };
        Some(Recognised { reader, strength, span: self.span, reading })
    }
}

impl<'a> CargoTest<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            open: Vec::new(),
            sum: Sum::default(),
            doubtful: Sum::default(),
            broken: false,
            binaries: 0,
            deaths: 0,
            notes: Vec::new(),
            stream: None,
            span: None,
            panics: Panics::new(context),
            loose: Vec::new(),
            tallies: 0,
            lines: None,
            failed: None,
        }
    }

    /// Takes a line; whether it is one of libtest's or cargo's own.
    fn text(&mut self, line: &Line<'_>) -> bool {
        let text = line.text.as_ref();
        match Said::of(text) {
            Said::Running(number) => {
                self.lines = self.lines.max(Some(Strength::Loose));
                if self.open.len() == DEPTH {
                    self.outermost_died();
                }
                let captured = self.open.last().is_some_and(|block| block.captured || block.is_output());
                let mut block = Block::new(self.context, Some(number));
                block.captured = captured;
                self.open.push(block);
            }
            Said::Result(tally) => self.end_block(&tally),
            Said::Case(name, outcome) => return self.case(name, &outcome, text, line),
            Said::Output(name) => {
                let Some(at) = self.open.iter().rposition(|block| block.may_have_failed(name)) else {
                    self.inside(text, line);
                    return false;
                };
                self.open.truncate(at + 1);
                self.open[at].begin_output(name);
            }
            // That it was started does not show that it ran a case: it may have listed them.
            Said::Binary => self.binaries += 1,
            Said::TargetFailed => {
                self.lines = Some(Strength::Lines);
                self.failed = self.failed.max(Some(Targets::First));
            }
            Said::AllThatFailed => self.failed = Some(Targets::All),
            Said::Died(how) => {
                self.lines = Some(Strength::Lines);
                self.deaths += 1;
                note(&mut self.notes, format!("a test binary died ({})", clip(how)));
            }
            Said::NotCompiled => {
                self.lines = Some(Strength::Lines);
                note(&mut self.notes, "it could not be compiled");
            }
            Said::Other => {
                self.inside(text, line);
                return false;
            }
        }
        true
    }

    fn case(&mut self, name: &str, outcome: &Outcome<'_>, text: &str, line: &Line<'_>) -> bool {
        self.flush();
        if self.open.is_empty() {
            // The beginning of the output is lost. Only a path is surely a case.
            if name.contains(' ') || *outcome == Outcome::Begun {
                return false;
            }
            self.open.push(Block::new(self.context, None));
        }
        let block = self.open.last_mut().expect("it is open");
        if !block.case(name, outcome, line.at) {
            block.text(text, line.at);
            return false;
        }
        self.lines = Some(Strength::Lines);
        true
    }

    /// A line that is no statement of libtest's.
    fn inside(&mut self, text: &str, line: &Line<'_>) {
        let Some(block) = self.open.last_mut() else { return self.outside(text) };
        if block.is_output() {
            block.text(text, line.at);
            return;
        }
        if block.text(text, line.at) {
            self.lines = Some(Strength::Lines);
            self.flush();
            return;
        }
        self.outside(text);
    }

    /// A line that may be a part of a panic that was not captured.
    fn outside(&mut self, text: &str) {
        let frame = self.panics.line(text);
        self.loosely(frame);
    }

    fn flush(&mut self) {
        let frame = self.panics.finish();
        self.loosely(frame);
    }

    fn loosely(&mut self, frame: Option<Frame>) {
        let Some(frame) = frame else { return };
        let thread = self.panics.thread().unwrap_or_default();
        // With one thread the case that began is the one that panics, whatever the thread's name.
        if let Some(block) = self.open.last_mut()
            && block.takes(thread, &frame)
        {
            return;
        }
        if self.loose.len() < MOST_FRAMES {
            self.loose.push((thread.to_owned(), frame));
        }
    }

    /// The tally of a block: of the innermost that announced so many cases.
    fn end_block(&mut self, tally: &Tally) {
        self.flush();
        let sum = tally.outcomes.ran();
        let own = |block: &Block<'_>| block.planned.is_none_or(|planned| planned == sum);
        let Some(at) = self.open.iter().rposition(own) else {
            // libtest's own tally accounts for all that it announced: one that does not was printed by a case.
            if !self.open.is_empty() {
                return;
            }
            self.tallies += 1;
            let mut block = Block::new(self.context, None);
            block.end(tally);
            return block.close(self.outside_of_all());
        };
        // What is within died there, and was no more than output.
        self.open.truncate(at + 1);
        let mut block = self.open.pop().expect("it is open");
        block.end(tally);
        if block.captured {
            return;
        }
        self.tallies += 1;
        match self.open.last_mut() {
            Some(outer) => block.close(&mut outer.inner),
            None => block.close(self.outside_of_all()),
        }
    }

    /// The outermost block never came to an end: what followed may be no part of it.
    fn outermost_died(&mut self) {
        let mut block = self.open.remove(0);
        if block.captured {
            return;
        }
        let inner = mem::take(&mut block.inner);
        block.die();
        block.close(self.outside_of_all());
        self.doubtful.add(inner);
        self.broken = true;
    }

    /// What a block adds to that lies within no other.
    fn outside_of_all(&mut self) -> &mut Sum {
        if self.broken { &mut self.doubtful } else { &mut self.sum }
    }

    /// Whether the doubtful blocks were binaries of their own. Where nothing shows that, what passed in them is unknown.
    fn settle_doubtful(&mut self) {
        let mut doubtful = mem::take(&mut self.doubtful);
        if doubtful.blocks == 0 {
            return;
        }
        if self.deaths == 0 && self.binaries != self.sum.blocks + doubtful.blocks {
            note(
                &mut self.notes,
                "a binary without a tally was followed by others, or a case of it ran them: what passed there is unknown",
            );
            doubtful.cases.retain(|case| case.outcome == CaseOutcome::Failed);
            let Outcomes { passed, skipped, .. } = doubtful.outcomes;
            doubtful.unknown = doubtful.unknown.map(|unknown| unknown + passed + skipped);
            doubtful.outcomes = Outcomes { failed: doubtful.outcomes.failed, ..Outcomes::default() };
        }
        self.sum.add(doubtful);
    }

    fn end_all(&mut self) {
        self.flush();
        while !self.open.is_empty() {
            self.outermost_died();
        }
        self.broken = false;
    }

    /// Whether the command names the only target that runs.
    fn one_target(&self) -> bool {
        let argv = self.context.argv.split(|word| word == "--").next().unwrap_or_default();
        let of = |words: &[&str]| {
            argv.iter().filter(|arg| words.iter().any(|word| arg.split('=').next() == Some(word))).count()
        };
        let whole = of(&["--workspace", "--all", "--all-targets", "--bins", "--tests", "--examples", "--benches"]);
        let one = of(&["--lib", "--doc", "--test", "--bin", "--example", "--bench"]);
        whole == 0 && one == 1 && of(&["-p", "--package"]) <= 1
    }
}

fn is_join(frame: &Frame) -> bool {
    frame.error.as_ref().is_some_and(|error| error.ends_with("`Err` value: Any { .. }"))
}

/// All frames: those of the cases' own output, and of the others those whose thread has the name of a failed case. Where
/// such a name says nothing, a frame without a case is better than none.
fn frames(sum: &mut Sum, loose: Vec<(String, Frame)>) -> Vec<Frame> {
    let mut frames = mem::take(&mut sum.frames);
    let failed = |name: &str| {
        sum.cases
            .iter()
            .any(|case| case.name == name && matches!(case.outcome, CaseOutcome::Failed | CaseOutcome::Unknown))
    };
    let mut nameless: Vec<Frame> = Vec::new();
    let mut before: Option<(String, Frame)> = None;
    for (thread, frame) in loose {
        // A panic that is no more than the join of the thread that panicked before.
        let joined = before.take().filter(|(before, _)| before == "<unnamed>" && is_join(&frame) && thread != *before);
        before = Some((thread.clone(), frame.clone()));
        let frame = joined.map_or(frame, |(_, frame)| frame);
        if frames.len() == MOST_FRAMES {
            sum.cut = true;
            break;
        }
        let known = frames.iter().any(|known: &Frame| known.case.as_deref() == Some(thread.as_str()));
        if thread == "main" || thread == "<unnamed>" || thread.is_empty() {
            nameless.push(frame);
        } else if !known && failed(&thread) {
            frames.push(Frame { case: Some(thread), ..frame });
        }
    }
    if frames.is_empty() {
        frames = nameless;
    }
    frames
}
