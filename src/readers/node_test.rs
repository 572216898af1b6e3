//! Node's own test runner, with its reporters `spec` and `tap`.
//!
//! # What is counted
//!
//! - What the tally at the end says: tests, not suites. A test that has subtests is one beside them, as node counts it.
//! - Cancelled cases failed. What is to do (`todo`) is skipped: with or without a body, nobody claims that it holds.
//! - A file that was loaded and tells of no case is a test to node. Here it is none: nothing shows that a case ran in it,
//!   nor that none was lost in it, so `unknown` is unknown. One that fails is a failed case, named like the file.
//! - A suite whose hook failed, though none of its cases did, is one more failed case.
//! - Without a tally the run died: what was seen counts, and at least one case is unknown. `planned` is never known.
//! - The `dot` reporter prints signs for suites and cases alike: no count can be told.

mod entry;
mod session;
mod spec;
mod tally;
mod tap;

use self::session::Session;
use self::spec::Spec;
use self::tally::TallyLines;
use self::tap::Tap;
use super::cases::{CaseList, Frames, MOST_CASES, Outcomes, note};
use super::{Context, Line, Reader, Recognised, Span, Strength};
use crate::model::{Case, Counts, ReaderName, Reading, Stream};

pub struct NodeTest<'a> {
    context: Context<'a>,
    stream: Option<Stream>,
    span: Option<Span>,
    /// Where `TAP version` stands.
    head: Option<Span>,
    tap: Tap<'a>,
    spec: Spec<'a>,
    tally: TallyLines,
    session: Session,
    sums: Sums,
}

/// What the ended sessions come to.
#[derive(Default)]
struct Sums {
    cases: Vec<Case>,
    frames: Frames,
    notes: Vec<String>,
    outcomes: Outcomes,
    unknown: Option<u64>,
    sessions: u64,
    tallies: u64,
    /// Counts that cannot be told.
    unclear: bool,
}

impl Reader for NodeTest<'_> {
    fn line(&mut self, line: &Line<'_>) {
        if self.stream != Some(line.stream) {
            if self.stream.is_some() {
                self.end();
            }
            self.stream = Some(line.stream);
        }
        let here = Span::of(line);
        let text: &str = &line.text;
        if text.starts_with("TAP version 1") {
            // Of a run within a run nothing is told by a header of its own.
            if self.session.is_settled() {
                self.end();
            }
            self.head = Some(here);
            return;
        }
        let mut own = false;
        let (is_tally, whole) = self.tally.line(text);
        if is_tally {
            if let Some(tally) = whole {
                self.tap.settle(&mut self.session);
                self.spec.settle(&mut self.session);
                self.session.tally(tally, &mut self.sums);
                own = true;
            }
        } else {
            own |= self.tap.line(text, line.at, &mut self.session);
            own |= self.spec.line(text, line.at, &mut self.session);
        }
        if own || (self.span.is_some() && text.get(1..).is_some_and(|rest| rest.starts_with(" duration_ms "))) {
            let first = self.span.or(self.head.filter(|head| head.stream == here.stream)).unwrap_or(here);
            self.span = Some(Span::with(Some(first), here));
        }
    }

    fn finish(mut self: Box<Self>) -> Option<Recognised> {
        self.end();
        let Sums { cases, frames, mut notes, outcomes, unknown, sessions, tallies, unclear } = self.sums;
        if sessions == 0 {
            return None;
        }
        let strength = if tallies > 0 { Strength::Tally } else { Strength::Lines };
        let mut counts = outcomes.counts(None, unknown);
        if unclear {
            counts = Counts { failed: counts.failed.filter(|&failed| failed > 0), ..Counts::default() };
        }
        let frames = frames.finish(&mut notes);
        let reader = ReaderName::NodeTest;
        let reading = Reading { reader: Some(reader.name().to_owned()), counts, cases, frames, notes };
        Some(Recognised { reader, strength, span: self.span, reading })
    }
}

impl<'a> NodeTest<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            stream: None,
            span: None,
            head: None,
            tap: Tap::new(context),
            spec: Spec::new(context),
            tally: TallyLines::default(),
            session: Session::default(),
            sums: Sums { unknown: Some(0), ..Sums::default() },
        }
    }

    /// The run is over, and what follows is another one.
    fn end(&mut self) {
        self.tap.end(&mut self.session);
        self.spec.end(&mut self.session);
        self.tally = TallyLines::default();
        let session = std::mem::take(&mut self.session);
        self.tap = Tap::new(self.context);
        self.spec = Spec::new(self.context);
        session.end(&mut self.sums);
    }
}

impl Sums {
    fn add(&mut self, outcomes: Outcomes, unknown: Option<u64>) {
        self.sessions += 1;
        self.outcomes.passed += outcomes.passed;
        self.outcomes.failed += outcomes.failed;
        self.outcomes.skipped += outcomes.skipped;
        self.unknown = self.unknown.zip(unknown).map(|(a, b)| a + b);
    }

    fn take(&mut self, cases: CaseList) {
        let room = MOST_CASES - self.cases.len();
        let cases = cases.finish(&mut self.notes);
        if cases.len() > room {
            self.say(format!("more than {MOST_CASES} cases: the list is cut, the numbers are not"));
        }
        self.cases.extend(cases.into_iter().take(room));
    }

    fn say(&mut self, text: impl Into<String>) {
        note(&mut self.notes, text);
    }
}
