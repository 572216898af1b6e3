//! pytest, at every verbosity and with every `--tb`, with or without xdist.
//!
//! # What is counted
//!
//! - One case is one outcome, though pytest's summary counts reports: a case that passed and then failed in its
//!   teardown is one failed case, and so is one with several failed subtests. See [`tally`].
//! - An error in setup is a failed case. A file that cannot be collected is one failed case, too, named like the file:
//!   pytest would rather not count it, but nothing may look green for want of it.
//! - `xfailed` and `xpassed` count as passed (a strict unexpected pass is reported as failed), reruns not at all.
//! - `planned` is what was collected and selected; `unknown` what of it never had an outcome. Where nothing was
//!   announced (`-q`) and the run did not end by itself, `unknown` is at least 1; where it was stopped, unknown.
//! - Where the collected cases are known, progress characters get their names ([`positions`]).
//! - Without a summary (`-qq`, or the process died) the progress characters count.

mod block;
mod ids;
mod positions;
mod session;
mod summary;
mod tally;

use std::sync::LazyLock;

use regex::Regex;

use self::block::{Block, line_form};
pub use self::ids::is_python;
use self::ids::{between, complete, id_at, planned};
use self::session::{Begun, Located, Section, Session};
use self::tally::{Entry, Kind, Tally};
use super::cases::{CaseList, Frames, MOST_CASES, MOST_FRAMES, Outcomes, clip, note, number as number_of};
use super::frames::{Finder, Tracebacks};
use super::{Arrival, Context, Line, Reader, Recognised, Span, Strength};
use crate::model::{CaseOutcome, Counts, ReaderName, Reading, Stream};

static COLLECTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:collecting \.\.\. )?collected (\d+) items?((?: / \d+ \w+)*)$").expect("a constant")
});
/// What xdist announces: `2 workers [20 items]`, `gw0 [20] / gw1 [20]`.
static WORKERS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:\d+ workers? \[(\d+) items?\]|gw0 \[(\d+)\](?: / gw\d+ \[\d+\])*)$").expect("a constant")
});
static PROGRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:(\S.*\.\w+) )?([.FEsxXRu,-]+)(?: *(\[ *\d+%\]|\[ *\d+/\d+\]))?$").expect("a constant")
});
static OF_WORKER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\[gw\d+\](?: \[ *\d+%\])? ([A-Z]+) (\S.*)$").expect("a constant"));
static PERCENT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\s*\[ *(?:\d+%|\d+/\d+)\]$").expect("a constant"));
/// A session's first line, without what it is filled up with.
const TITLE: &str = " test session starts ";
static SKIPPED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^SKIPPED \[(\d+)\] (.+?:\d+|\S+): (.*)$").expect("a constant"));

const WORDS: [(&str, CaseOutcome); 6] = [
    ("PASSED", CaseOutcome::Passed),
    ("FAILED", CaseOutcome::Failed),
    ("ERROR", CaseOutcome::Failed),
    ("SKIPPED", CaseOutcome::Skipped),
    ("XFAIL", CaseOutcome::Passed),
    ("XPASS", CaseOutcome::Passed),
];

pub struct Pytest<'a> {
    context: Context<'a>,
    cases: CaseList,
    frames: Frames,
    notes: Vec<String>,
    stream: Option<Stream>,
    strength: Option<Strength>,
    span: Option<Span>,
    /// The line that is being read, and whether a line end followed it.
    here: Option<Span>,
    ended: bool,
    session: Session<'a>,
    sums: Outcomes,
    planned: Option<u64>,
    unknown: Option<u64>,
    sessions: u64,
    internal: Option<Tracebacks<'a>>,
}

impl Reader for Pytest<'_> {
    fn line(&mut self, line: &Line<'_>) {
        if self.stream != Some(line.stream) {
            if self.stream.is_some() {
                self.end_session();
            }
            self.stream = Some(line.stream);
        }
        self.here = Some(Span::of(line));
        self.ended = line.ended;
        self.text(&line.text, line.at);
        if self.session.seen && !self.session.foreign {
            self.is_own();
        }
    }

    fn finish(mut self: Box<Self>) -> Option<Recognised> {
        self.end_session();
        let strength = self.strength?;
        if let Some(mut internal) = self.internal.take() {
            self.frames.extend(internal.finish());
        }
        let counts = if self.sessions > 0 { self.sums.counts(self.planned, self.unknown) } else { Counts::default() };
        let cases = self.cases.finish(&mut self.notes);
        let frames = self.frames.finish(&mut self.notes);
        let reader = ReaderName::Pytest;
        let reading = Reading { reader: Some(reader.name().to_owned()), counts, cases, frames, notes: self.notes };
        Some(Recognised { reader, strength, span: self.span, reading })
    }
}

impl<'a> Pytest<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            cases: CaseList::default(),
            frames: Frames::default(),
            notes: Vec::new(),
            stream: None,
            strength: None,
            span: None,
            here: None,
            ended: false,
            session: Session::default(),
            sums: Outcomes::default(),
            planned: Some(0),
            unknown: Some(0),
            sessions: 0,
            internal: None,
        }
    }

    /// The line that is being read belongs to pytest's output.
    fn is_own(&mut self) {
        self.span = self.here.map(|here| Span::with(self.span, here));
    }

    fn recognise(&mut self, strength: Strength) {
        self.is_own();
        self.session.foreign = false;
        self.session.seen = true;
        self.strength = self.strength.max(Some(strength));
    }

    fn text(&mut self, text: &str, at: Arrival) {
        let end = text.trim_end();
        if let Some(said) = end.strip_prefix("INTERNALERROR>") {
            return self.internal_error(said);
        }
        if let Some(title) = between(end, '=') {
            return self.title(title);
        }
        // What a session that died printed last has no line end: the next one's title stands behind it.
        if end.ends_with("==")
            && !self.session.captured
            && let Some(before) = end.trim_end_matches('=').strip_suffix(TITLE)
        {
            self.text(before.trim_end_matches('='), at);
            return self.title("test session starts");
        }
        if self.session.section == Section::Progress && self.session.ended.is_none() {
            self.another(end);
        }
        if !self.session.header
            && let Some(tally) = Tally::read(end).filter(|tally| self.session.believes(*tally))
        {
            self.recognise(Strength::Tally);
            self.session.ended = Some(tally);
            return self.end_session();
        }
        if self.session.seen
            && let Some(said) = between(end, '!').filter(|said| !said.is_empty())
        {
            self.session.stopped = true;
            note(&mut self.notes, format!("pytest stopped: {}", clip(said)));
            return;
        }
        match self.session.section {
            Section::Progress => self.progress(text, end, at),
            Section::Errors | Section::Failures => self.failure(end),
            Section::Summary => self.summary(end, at),
            Section::Other => {
                self.session.captured |= between(end, '-').is_some_and(|said| said.starts_with("Captured "));
            }
        }
    }

    fn internal_error(&mut self, said: &str) {
        self.recognise(Strength::Lines);
        self.session.stopped = true;
        note(&mut self.notes, "pytest had an internal error");
        let internal = self.internal.get_or_insert_with(|| Tracebacks::new(self.context));
        let frame = internal.line(said.strip_prefix(' ').unwrap_or(said));
        self.frames.extend(frame);
    }

    /// A line between `=`.
    fn title(&mut self, title: &str) {
        let session = &mut self.session;
        if title == "test session starts" {
            if session.captured {
                session.nested += 1;
                return;
            }
            self.end_session();
            self.session.header = true;
            return self.recognise(Strength::Lines);
        }
        let section = match title {
            "ERRORS" => Section::Errors,
            "FAILURES" => Section::Failures,
            "short test summary info" => Section::Summary,
            "PASSES" | "XFAILURES" | "XPASSES" | "warnings summary" | "rerun test summary info" => Section::Other,
            _ => {
                if let Some(tally) = Tally::read(title) {
                    if session.nested > 0 {
                        session.nested -= 1;
                    } else if session.believes(tally) {
                        // What a case prints can look like it; the session shows by going on.
                        session.ended = Some(tally);
                        self.recognise(Strength::Tally);
                    }
                } else if title.starts_with("slowest ") && session.nested == 0 {
                    self.go_on(Section::Other);
                }
                return;
            }
        };
        if session.nested == 0 && (session.seen || session.section != Section::Progress) {
            self.go_on(section);
        }
    }

    fn go_on(&mut self, section: Section) {
        self.settle();
        self.end_block();
        self.session.captured = false;
        self.session.ended = None;
        self.session.section = section;
    }

    /// A line while cases are collected and run.
    fn progress(&mut self, text: &str, end: &str, at: Arrival) {
        if end.starts_with("ImportError while loading conftest '") {
            self.recognise(Strength::Lines);
            note(&mut self.notes, "pytest could not load a conftest");
            self.session.stopped = true;
            self.session.block = Some(Block::new(self.context, Kind::Collect, ""));
        }
        if let Some(block) = &mut self.session.block {
            return block.line(end);
        }
        self.session.scattered |= end.starts_with("bringing up nodes...");
        if self.session.header && self.announced(end, at) {
            return;
        }
        if self.named(text, end, at) || self.dotted(end) {
            return;
        }
        self.session.positions.other(end);
        // The outcome of a case that prints stands at the end of what it printed.
        if let Some(begun) = &mut self.session.begun {
            let line = PERCENT.replace(end, "");
            let found = WORDS.iter().find_map(|(word, _)| match line.split_once(word)? {
                (_, "") => Some((*word, None)),
                ("", reason) => reason.strip_prefix(" (")?.strip_suffix(')').map(|reason| (*word, Some(clip(reason)))),
                _ => None,
            });
            if let Some((word, reason)) = found {
                begun.candidate = Some((word, reason, at));
            }
        }
    }

    /// What only a session with a header prints: what it collected, and what xdist's workers did.
    fn announced(&mut self, end: &str, at: Arrival) -> bool {
        if end.starts_with("Using --random") {
            self.session.positions.lose();
            return true;
        }
        if let Some(found) = COLLECTED.captures(end) {
            self.session.planned = planned(&found[1], &found[2]);
        } else if let Some(found) = WORKERS.captures(end) {
            let number = found.get(1).or(found.get(2)).and_then(|number| number_of(number.as_str()));
            self.session.planned = number;
            self.session.scattered = true;
        } else if let Some(found) = OF_WORKER.captures(end) {
            if WORDS.iter().any(|(word, _)| *word == &found[1]) {
                self.session.verbose = true;
                self.session.ended = None;
                self.outcome(&found[2], &found[1], None, at);
            }
        } else {
            return false;
        }
        true
    }

    /// `tests/test_x.py::test_y PASSED [ 50%]`, or its beginning. Ids may hold blanks, `::` and whole outcomes.
    fn named(&mut self, text: &str, end: &str, at: Arrival) -> bool {
        let Some((file, rest)) = text.split_once("::") else { return false };
        if text.starts_with(' ') || !(is_python(file) || self.session.header) {
            return false;
        }
        let line = PERCENT.replace(end, "");
        let found = WORDS.iter().chain(&[("RERUN", CaseOutcome::Unknown)]).find_map(|(word, _)| {
            line.match_indices(word).find_map(|(at, _)| {
                let id = line[..at].strip_suffix(' ')?;
                let after = &line[at + word.len()..];
                let reason = after.strip_prefix(" (").and_then(|reason| reason.strip_suffix(')'));
                (after.is_empty() || reason.is_some()).then_some((id, *word, reason))
            })
        });
        if let Some((id, word, reason)) = found.filter(|(id, ..)| id.contains("::")) {
            self.settle();
            self.recognise(Strength::Lines);
            self.session.verbose = true;
            self.session.ended = None;
            if word != "RERUN" {
                self.outcome(id, word, reason, at);
            }
            return true;
        }
        // A case begins: its id, a blank, and whatever it prints. Only a `.py` file is surely an id.
        let id = id_at(text, file.len() + 2);
        if !is_python(file) || !self.session.header || id.len() == text.len() || rest.is_empty() {
            return false;
        }
        let after = text[id.len()..].trim_start();
        if after.starts_with("SUB") {
            return true;
        }
        self.settle();
        self.session.verbose = true;
        self.cases.record(id, CaseOutcome::Unknown, None, at);
        self.session.begun = Some(Begun { name: id.to_owned(), candidate: None });
        true
    }

    fn dotted(&mut self, end: &str) -> bool {
        let Some(found) = PROGRESS.captures(end) else { return false };
        let (file, all) = (found.get(1), found.get(3));
        let sure = all.is_some() || (file.is_some_and(|file| is_python(file.as_str())) && self.session.header);
        // Dots alone are pytest's only where a session was seen, or on the stream that it writes to.
        // A letter alone is a word like any other.
        let likely = self.stream == Some(Stream::Stdout) && (found[2].len() > 1 || &found[2] == ".");
        let alone = file.is_none() && (self.session.seen || likely);
        if !(sure || (alone && found[2].bytes().all(|byte| b".FEsxX".contains(&byte)))) {
            return false;
        }
        if sure && self.session.ended.is_some() {
            // A second, quiet session follows the first.
            self.end_session();
        }
        // Lines of dots that belong together, unittest's with what its cases print between them.
        let start = if sure { None } else { self.session.before_dots.take() };
        self.session.before_dots = Some(start.unwrap_or((self.session.dots, self.span)));
        self.session.sure |= all.is_some();
        self.session.broke_off = !self.ended;
        self.recognise(if sure { Strength::Lines } else { Strength::Loose });
        if file.is_some() {
            self.session.last_dot = None;
        }
        if !self.context.planned.is_empty() {
            self.session.positions.push(file.map(|file| file.as_str()), &found[2]);
        }
        let session = &mut self.session;
        for dot in found[2].bytes() {
            let count = match dot {
                b'.' => &mut session.dots.passed,
                // `u` is a failed subtest.
                b'F' | b'u' => &mut session.dots.failed,
                b'E' => &mut session.dots.errors,
                b's' => &mut session.dots.skipped,
                b'x' => &mut session.dots.xfailed,
                b'X' => &mut session.dots.xpassed,
                b'R' => &mut session.dots.rerun,
                _ => continue,
            };
            *count += 1;
            // `.R.E`: its teardown failed, it ran again, and its teardown failed again. It passed twice, and not once.
            match (session.last_dot, dot) {
                (Some(b'.'), b'R') => session.passed_before_rerun += 1,
                (Some(b'R'), b'.') => {}
                (Some(b'.'), b'E') => {
                    session.dots.passed -= session.passed_before_rerun.min(session.dots.passed);
                    session.passed_before_rerun = 0;
                }
                _ => session.passed_before_rerun = 0,
            }
            if dot == b'E' && (session.scattered || matches!(session.last_dot, Some(b'.' | b's' | b'x' | b'X'))) {
                session.doubtful += 1;
            }
            session.last_dot = Some(dot);
        }
        session.all = all.is_some_and(|all| complete(all.as_str()));
        true
    }

    /// A line among errors and failures.
    fn failure(&mut self, end: &str) {
        let session = &mut self.session;
        if session.nested > 0 {
            return;
        }
        let title = between(end, '_').filter(|title| !title.is_empty() && !title.starts_with("_ "));
        if let Some(title) = title {
            self.end_block();
            let session = &mut self.session;
            session.captured = false;
            let (kind, title) = match title.split_once(' ') {
                Some(("ERROR", rest)) => {
                    [("at setup of ", Kind::Setup), ("at teardown of ", Kind::Teardown), ("collecting ", Kind::Collect)]
                        .into_iter()
                        .find_map(|(what, kind)| Some((kind, rest.strip_prefix(what)?)))
                        .unwrap_or((Kind::Error, rest))
                }
                _ => (Kind::Failed, title),
            };
            if session.headers.len() < MOST_CASES {
                session.headers.push(Entry { kind, name: clip(title), message: None });
            }
            session.block = Some(Block::new(self.context, kind, title));
            return;
        }
        if between(end, '-').is_some_and(|said| said.starts_with("Captured ")) {
            session.captured = true;
        } else if let Some(block) = &mut session.block {
            if !session.captured {
                block.line(end);
            }
        } else if session.section == Section::Failures && session.frames.len() < 2 * MOST_FRAMES {
            // `--tb=line` has no headers, and its places stand below what was captured.
            if let Some((frame, said)) = line_form(end, &self.context) {
                session.frames.push(Located { frame, kind: Kind::Failed, title: Err(said) });
            }
        }
    }
}
