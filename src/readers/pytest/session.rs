//! One run of pytest, and what it comes to when it ends.

use crate::readers::Arrival;
use std::collections::HashMap;

use super::block::Block;
use super::ids::{starts_with_cut, title_of};
use super::positions::{self, Positions};
use super::tally::{self, Entry, Kind, Seen, Tally};
use super::{Pytest, WORDS};
use crate::model::{CaseOutcome, Frame};
use crate::readers::Span;
use crate::readers::cases::{MOST_CASES, MOST_FRAMES, Outcomes, note};

/// What unittest prints between its dots, its failures and its tally.
const DOUBLE: &str = "======================================================================";
const SINGLE: &str = "----------------------------------------------------------------------";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Section {
    #[default]
    Progress,
    Errors,
    Failures,
    Summary,
    Other,
}

/// One run of pytest; an output may have several, one after another.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one fact about the output, and any may hold")]
pub struct Session<'a> {
    pub section: Section,
    /// It announced itself, so that its last line stands between `=`.
    pub header: bool,
    pub planned: Option<u64>,
    /// From progress characters.
    pub dots: Tally,
    pub doubtful: u64,
    /// The same in their order, where the collected cases are known.
    pub positions: Positions,
    /// xdist runs the cases: what stands side by side need not be of one case.
    pub scattered: bool,
    /// The last of them was followed by `[100%]`.
    pub all: bool,
    pub last_dot: Option<u8>,
    pub passed_before_rerun: u64,
    /// From lines that name a case and its outcome.
    pub words: Tally,
    pub verbose: bool,
    pub begun: Option<Begun>,
    pub listed: Vec<Entry>,
    pub headers: Vec<Entry>,
    pub skips: Vec<(u64, String, String)>,
    pub block: Option<Block<'a>>,
    pub frames: Vec<Located>,
    /// What a case printed is being shown.
    pub captured: bool,
    /// Sessions that a case ran itself and printed.
    pub nested: u64,
    pub stopped: bool,
    /// A last line; unless the session goes on, it was the last.
    pub ended: Option<Tally>,
    pub seen: bool,
    /// Some progress characters were surely pytest's.
    pub sure: bool,
    /// No line end followed the last progress characters.
    pub broke_off: bool,
    /// Another program seems to print since the line behind these.
    pub foreign: bool,
    pub before_foreign: Option<Span>,
    /// What was counted before the last progress characters, and where pytest's lines were then.
    pub before_dots: Option<(Tally, Option<Span>)>,
}

impl Session<'_> {
    /// Whether a last line can be this session's own: among what a case printed, only one that fits what was seen.
    pub fn believes(&self, tally: Tally) -> bool {
        !self.captured || tally.agrees(self.dots) || tally.agrees(self.words)
    }
}

/// A frame whose case is still to be named.
pub struct Located {
    pub frame: Option<Frame>,
    pub kind: Kind,
    /// The failure's title; with `--tb=line` there is none, but the message.
    pub title: Result<String, String>,
}

/// A case whose outcome follows what it prints.
pub struct Begun {
    pub name: String,
    pub candidate: Option<(&'static str, Option<String>, Arrival)>,
}

impl Pytest<'_> {
    pub(super) fn outcome(&mut self, id: &str, word: &str, reason: Option<&str>, at: Arrival) {
        let words = &mut self.session.words;
        *match word {
            "PASSED" => &mut words.passed,
            "FAILED" => &mut words.failed,
            "ERROR" => &mut words.errors,
            "SKIPPED" => &mut words.skipped,
            "XFAIL" => &mut words.xfailed,
            _ => &mut words.xpassed,
        } += 1;
        let outcome =
            WORDS.iter().find(|(known, _)| *known == word).map_or(CaseOutcome::Unknown, |(_, outcome)| *outcome);
        let reason = reason.filter(|_| outcome == CaseOutcome::Skipped);
        self.cases.record(id, outcome, reason, at);
    }

    pub(super) fn end_block(&mut self) {
        if let Some(block) = self.session.block.take() {
            let (kind, title) = (block.kind, block.title.clone());
            if let Some(frame) = block.finish().filter(|_| self.session.frames.len() < 2 * MOST_FRAMES) {
                self.session.frames.push(Located { frame: Some(frame), kind, title: Ok(title) });
            }
        }
    }

    /// Whether it is unittest that prints, behind a session that died: its dots are no cases of pytest's.
    pub(super) fn another(&mut self, end: &str) {
        if end == DOUBLE || end == SINGLE {
            if !std::mem::replace(&mut self.session.foreign, true) {
                self.session.before_foreign = self.span;
            }
        } else if self.session.foreign && end.starts_with("Ran ") && end.ends_with('s') && end.contains(" in ") {
            self.span = self.session.before_foreign;
            if let Some((dots, span)) = self.session.before_dots.take() {
                self.session.dots = dots;
                self.session.last_dot = None;
                self.session.positions.lose();
                self.span = span;
            }
        }
    }

    /// The case that began is over.
    pub(super) fn settle(&mut self) {
        if let Some(Begun { name, candidate: Some((word, reason, at)) }) = self.session.begun.take() {
            self.outcome(&name, word, reason.as_deref(), at);
        }
    }

    pub(super) fn end_session(&mut self) {
        self.settle();
        self.end_block();
        let session = std::mem::take(&mut self.session);
        let mut listed_cases = self.cases.outcomes();
        let died = session.ended.is_none() && !session.all;
        let tally = session.ended.unwrap_or(session.dots);
        let anything =
            session.ended.is_some() || session.verbose || session.planned.is_some() || session.dots != Tally::default();
        // Behind a session that ended by itself, dots are another only if it broke off; else anything may print them.
        let strayed = self.sessions > 0
            && session.ended.is_none()
            && !(session.header || session.sure || session.verbose || session.broke_off);
        if strayed {
            self.span = session.before_dots.map_or(self.span, |(_, span)| span);
        }
        if !anything || strayed {
            self.locate(&session);
            self.cases.end_suite();
            return;
        }
        self.sessions += 1;
        let seen = Seen {
            tally,
            planned: session.planned,
            complete: !died && !session.stopped,
            listed: &session.listed,
            headers: &session.headers,
            doubtful: session.doubtful,
        };
        let (mut sums, guessed) = tally::cases(&seen);
        let placed = self.place(&session, &mut sums, died);
        if placed {
            listed_cases = self.cases.outcomes();
        }
        self.locate(&session);
        if session.verbose && (died || session.words.agrees(tally)) {
            sums = listed_cases;
        } else if session.verbose
            && (sums.passed, sums.failed, sums.skipped)
                != (listed_cases.passed, listed_cases.failed, listed_cases.skipped)
        {
            note(
                &mut self.notes,
                format!(
                    "pytest's summary makes {} cases, its lines tell of {}: the summary counts",
                    sums.ran(),
                    listed_cases.ran()
                ),
            );
        }
        if guessed && !session.verbose && !placed {
            note(
                &mut self.notes,
                "the output does not tell errors in setup from those in teardown: an error after a case that passed is \
                 taken for its teardown",
            );
        }
        for entry in session.listed.iter().filter(|entry| entry.kind == Kind::Error && !entry.name.contains("::")) {
            note(&mut self.notes, format!("{} could not be collected: counted as one failed case", entry.name));
        }
        self.add_skips(&session, sums.skipped.saturating_sub(listed_cases.skipped));

        let ran = sums.ran();
        let unknown = match session.planned {
            Some(planned) => Some(planned.saturating_sub(ran)),
            None if died => Some(listed_cases.unknown.max(1)),
            None if session.stopped => None,
            None => Some(0),
        };
        let mut unknown = unknown;
        if died {
            note(&mut self.notes, "pytest ended without its summary");
        } else if session.ended.is_some() && session.all && session.dots.reports() > tally.reports() {
            let why = "pytest's progress has more cases than its summary: a run of it died before, without an end";
            note(&mut self.notes, why);
            unknown = unknown.map(|unknown| unknown.max(1));
        }
        self.sums.passed += sums.passed;
        self.sums.failed += sums.failed;
        self.sums.skipped += sums.skipped;
        // More may run than was announced (a plug-in that adds cases); the announcement is then what ran.
        let planned = session.planned.map(|planned| planned.max(ran));
        self.planned = self.planned.zip(planned).map(|(a, b)| a + b);
        self.unknown = self.unknown.zip(unknown).map(|(a, b)| a + b);
        self.cases.end_suite();
    }

    /// Gives the progress characters the names of the collected cases, if it is sure whose each is.
    fn place(&mut self, session: &Session<'_>, sums: &mut Outcomes, died: bool) -> bool {
        let planned = self.context.planned;
        // Only the first session began with the first of them.
        if planned.is_empty() || session.verbose || session.scattered || self.sessions > 1 || sums.ran() == 0 {
            return false;
        }
        let shuffled = self.context.argv.iter().any(|word| word.contains("random") && !word.contains("no:"));
        let complete = !died && !session.stopped;
        let seen = positions::Seen { planned, complete, listed: &session.listed, headers: &session.headers };
        let outcomes = session.positions.outcomes(&seen).filter(|_| !shuffled).filter(|outcomes| {
            let number = |outcome| outcomes.iter().filter(|other| **other == outcome).count() as u64;
            let files = session.listed.iter().filter(|entry| !entry.name.contains("::")).count() as u64;
            let (passed, failed) = (number(CaseOutcome::Passed), number(CaseOutcome::Failed) + files);
            // A file that is skipped as a whole has no character.
            let skipped = number(CaseOutcome::Skipped);
            if died {
                *sums = Outcomes { passed, failed, skipped, unknown: 0 };
            }
            (passed, failed) == (sums.passed, sums.failed) && skipped <= sums.skipped
        });
        let Some(outcomes) = outcomes else {
            let why = "the progress characters do not fit the listed cases: which of them is whose is not known";
            note(&mut self.notes, why);
            return false;
        };
        let skipped = outcomes.iter().filter(|outcome| **outcome == CaseOutcome::Skipped).count();
        let mut reasons = self.reasons(session, skipped).into_iter();
        for (name, outcome) in planned.iter().zip(outcomes) {
            let reason = if outcome == CaseOutcome::Skipped { reasons.next() } else { None };
            self.cases.record(name, outcome, reason, Arrival::default());
        }
        true
    }

    /// The reasons of so many skipped cases in the order of the cases; none unless there are as many.
    fn reasons<'s>(&mut self, session: &'s Session<'_>, skipped: usize) -> Vec<&'s str> {
        let mut reasons: Vec<&str> = Vec::new();
        for (number, _, reason) in &session.skips {
            let number = usize::try_from(*number).unwrap_or(usize::MAX).min(skipped + 1 - reasons.len().min(skipped));
            reasons.extend(std::iter::repeat_n(reason.as_str(), number));
        }
        if reasons.len() != skipped {
            return Vec::new();
        }
        // The summary folds those of one place into the line of the first.
        let folded = session.skips.iter().any(|(number, ..)| *number > 1);
        if folded && reasons.iter().any(|reason| *reason != reasons[0]) {
            let why =
                "pytest folds skipped cases of one place: their reasons are given out in the order of the summary";
            note(&mut self.notes, why);
        }
        reasons
    }

    /// Skipped cases that have no name but a place, with their reasons.
    fn add_skips(&mut self, session: &Session<'_>, mut missing: u64) {
        for (number, place, reason) in &session.skips {
            // The same place may have skipped several.
            for at in 0..(*number).min(missing).min(MOST_CASES as u64) {
                let name = if at == 0 { place.clone() } else { format!("{place} ({})", at + 1) };
                self.cases.record(&name, CaseOutcome::Skipped, Some(reason), Arrival::default());
            }
            missing -= missing.min(*number);
        }
    }

    /// Gives the session's frames the names of their cases.
    fn locate(&mut self, session: &Session<'_>) {
        let mut ids: HashMap<String, Vec<&str>> = HashMap::new();
        let names = self.cases.names(CaseOutcome::Failed);
        for id in session.listed.iter().map(|entry| entry.name.as_str()).chain(names) {
            let ids = ids.entry(title_of(id)).or_default();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let mut line = session.listed.iter().filter(|entry| entry.kind == Kind::Failed);
        for Located { frame, kind, title } in &session.frames {
            let case = match title {
                Ok(title) => find_id(title, *kind, frame.as_ref(), &ids),
                // In the order of the summary, which cuts its messages.
                Err(said) => line
                    .clone()
                    .position(|entry| entry.message.as_deref().is_some_and(|message| starts_with_cut(said, message)))
                    .and_then(|at| line.nth(at))
                    .map(|entry| entry.name.clone()),
            };
            self.frames.extend(frame.clone().map(|frame| Frame { case, ..frame }));
        }
    }
}

fn find_id(title: &str, kind: Kind, frame: Option<&Frame>, ids: &HashMap<String, Vec<&str>>) -> Option<String> {
    if title.is_empty() {
        return None;
    }
    // A subtest's title is its case's, and what tells it apart.
    let bare = title.split_once(" (").or_else(|| title.split_once(" [")).map_or(title, |(bare, _)| bare);
    let found = ids.get(title).or_else(|| ids.get(bare));
    let in_file = |id: &&&str| frame.is_some_and(|frame| id.split("::").next() == Some(frame.file.as_str()));
    match found.map(Vec::as_slice) {
        Some([id]) => Some((*id).to_owned()),
        // The same title in several files: the one whose file the frame is in, or none.
        Some(several) => several.iter().find(in_file).map(|id| (*id).to_owned()),
        None if kind == Kind::Failed || kind == Kind::Collect => Some(title.to_owned()),
        None => Some(bare.to_owned()),
    }
}
