//! bats, for a terminal (`--formatter pretty`) and as the TAP that it writes elsewhere.
//!
//! # What is counted
//!
//! - TAP is read as [`Tap`] reads it. It is bats' if it has a comment that only bats writes, or if the command speaks of
//!   bats; else it is called TAP, and reads the same.
//! - A `setup_file` that fails is one failed case, as bats counts it, and the cases behind it have no outcome. A
//!   `teardown_file` that fails is one more than there were to be.
//! - The pretty form is known by its tally (`3 tests, 1 failure`), or, where bats died before it, by the counter that
//!   stands before each mark.

use std::sync::LazyLock;

use regex::Regex;

use super::cases::{CaseList, Frames, Outcomes, clip, note, number};
use super::tap::{Diagnosis, Tap};
use super::{Arrival, Context, Line, Reader, Recognised, Span, Strength};
use crate::model::{CaseOutcome, Frame, ReaderName, Reading};

/// ` ✓ name`. Before it stands what the mark overwrites on a terminal, which ends in a counter: `   name2/3 ✓ name`.
static CASE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:   .*?\d+/(\d+)( in \d+ sec)?)? ([✓✗-]) (\S.*)$").expect("a constant"));
/// A case that began: `   name2/3`.
static BEGUN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^   (\S.*?)(\d+)/(\d+)").expect("a constant"));
static TALLY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(\d+) tests?, (\d+) failures?(?:, \d+ skipped)?(?:, (\d+) not run)?(?: in \d+ seconds?)?$")
        .expect("a constant")
});
static SKIPPED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(.*) \(skipped(?:: (.*))?\)$").expect("a constant"));
static TIME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" in \d+(?:ms|sec)$| \[\d*\]$").expect("a constant"));

pub struct Bats<'a> {
    context: Context<'a>,
    tap: Box<Tap<'a>>,
    pretty: Pretty,
}

#[derive(Default)]
struct Pretty {
    cases: CaseList,
    frames: Frames,
    notes: Vec<String>,
    outcomes: Outcomes,
    span: Option<Span>,
    /// How many there were to be, as the counter and as the tally say.
    of: Option<u64>,
    tally: Option<Tally>,
    last: Option<String>,
    begun: Option<(String, Arrival)>,
    diagnosis: Diagnosis,
}

#[derive(Clone, Copy)]
struct Tally {
    total: u64,
    failed: u64,
    not_run: Option<u64>,
}

impl Reader for Bats<'_> {
    fn line(&mut self, line: &Line<'_>) {
        self.tap.line(line);
        self.pretty.line(line, &self.context);
    }

    fn finish(self: Box<Self>) -> Option<Recognised> {
        let Self { context, tap, pretty } = *self;
        if let Some(found) = pretty.finish() {
            return Some(found);
        }
        let sure = tap.bats || context.speaks_of(ReaderName::Bats);
        let mut found = tap.finish()?;
        if !sure {
            // Believed only if a manifest says that it is bats.
            found.strength = Strength::Loose;
        }
        without_times(&mut found.reading);
        Some(found)
    }
}

impl<'a> Bats<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self { context, tap: Box::new(Tap::of(ReaderName::Bats, context)), pretty: Pretty::default() }
    }
}

impl Pretty {
    fn line(&mut self, line: &Line<'_>, context: &Context<'_>) {
        let text = line.text.trim_end();
        if let Some(found) = text.starts_with(' ').then(|| CASE.captures(text)).flatten() {
            self.is_own(line);
            self.of = found.get(1).and_then(|of| number(of.as_str())).or(self.of);
            self.case(&found[3], &found[4], found.get(2).is_some(), line.at);
        } else if let Some(rest) = text.strip_prefix("   ") {
            if let Some(warning) = rest.strip_prefix("bats warning: ") {
                note(&mut self.notes, clip(warning));
                return;
            }
            if let Some(last) = &self.last {
                let failure = self.diagnosis.comment(0, rest, context);
                self.frames.extend(failure.map(|failure| Frame { case: Some(last.clone()), ..failure.frame }));
            }
            if let Some(found) = BEGUN.captures(text) {
                let (at, of) = (number(&found[2]), number(&found[3]));
                if at == Some(self.outcomes.ran() + 1) && of.is_some() && self.of.is_none_or(|known| Some(known) == of)
                {
                    self.begun = Some((clip(&found[1]), line.at));
                }
            }
        } else if let Some(found) =
            text.starts_with(|first: char| first.is_ascii_digit()).then(|| TALLY.captures(text)).flatten()
            && let (Some(total), Some(failed)) = (number(&found[1]), number(&found[2]))
        {
            self.is_own(line);
            self.tally = Some(Tally { total, failed, not_run: found.get(3).and_then(|it| number(it.as_str())) });
        }
    }

    fn is_own(&mut self, line: &Line<'_>) {
        self.span = Some(Span::with(self.span, Span::of(line)));
    }

    fn case(&mut self, mark: &str, name: &str, timed: bool, at: Arrival) {
        self.begun = None;
        let name = if timed { TIME.replace(name, "") } else { name.into() };
        let (mut name, mut reason) = (name.as_ref(), None);
        let outcome = match mark {
            "✓" => CaseOutcome::Passed,
            "✗" => CaseOutcome::Failed,
            _ => CaseOutcome::Skipped,
        };
        if outcome == CaseOutcome::Skipped {
            // A list in what a case printed is no case.
            let Some(found) = SKIPPED.captures(name) else { return };
            name = found.get(1).map_or("", |it| it.as_str());
            reason = found.get(2).map(|it| it.as_str());
        }
        *match outcome {
            CaseOutcome::Passed => &mut self.outcomes.passed,
            CaseOutcome::Skipped => &mut self.outcomes.skipped,
            _ => &mut self.outcomes.failed,
        } += 1;
        let ended = self.diagnosis.end();
        let last = self.last.take();
        self.frames.extend(ended.map(|failure| Frame { case: last, ..failure.frame }));
        self.last = (outcome == CaseOutcome::Failed).then(|| clip(name));
        self.cases.record(name, outcome, reason, at);
        // Two files may have cases of the same name.
        self.cases.end_suite();
    }

    fn finish(mut self) -> Option<Recognised> {
        let mut outcomes = self.outcomes;
        if outcomes.ran() == 0 && self.begun.is_none() {
            return None;
        }
        let strength = match (self.tally, self.of) {
            (Some(_), _) => Strength::Tally,
            (None, Some(_)) => Strength::Lines,
            _ => return None,
        };
        if let Some(tally) = self.tally
            && tally.failed > outcomes.failed
        {
            note(
                &mut self.notes,
                format!("the tally tells of {} failures, the lines of {}", tally.failed, outcomes.failed),
            );
            let missed = tally.failed - outcomes.failed;
            outcomes.failed = tally.failed;
            outcomes.passed -= missed.min(outcomes.passed);
        }
        let ran = outcomes.ran();
        let total = self.tally.map(|tally| tally.total).or(self.of).unwrap_or(ran);
        let missing = total.saturating_sub(ran);
        let unknown = self.tally.and_then(|tally| tally.not_run).map_or(missing, |not_run| not_run.max(missing));
        if let Some((name, at)) = self.begun.filter(|_| unknown > 0) {
            self.cases.record(&name, CaseOutcome::Unknown, None, at);
        }
        let counts = outcomes.counts(Some(ran + unknown), Some(unknown));
        let cases = self.cases.finish(&mut self.notes);
        let frames = self.frames.finish(&mut self.notes);
        let reader = ReaderName::Bats;
        let reading = Reading { reader: Some(reader.name().to_owned()), counts, cases, frames, notes: self.notes };
        Some(Recognised { reader, strength, span: self.span, reading })
    }
}

/// `--timing` puts how long a case took behind its name. It is no part of it if every case has it.
fn without_times(reading: &mut Reading) {
    let timed = |text: &str| TIME.is_match(text);
    let all = !reading.cases.is_empty()
        && reading.cases.iter().all(|case| {
            case.outcome == CaseOutcome::Unknown
                || timed(&case.name)
                // A reason that a name gave by accident.
                || case.reason.as_deref().is_some_and(timed)
        });
    if !all {
        return;
    }
    let cut = |text: &mut String| {
        if let Some(found) = TIME.find(text) {
            text.truncate(found.start());
        }
    };
    for case in &mut reading.cases {
        cut(&mut case.name);
        case.reason.iter_mut().for_each(cut);
    }
    reading.frames.iter_mut().filter_map(|frame| frame.case.as_mut()).for_each(cut);
}
