//! TAP 12, 13 and 14, of any producer, alone or around it Perl's `prove`.
//!
//! # What is counted
//!
//! - Test points at the top, which are what a plan announces. A subtest (lines indented by four, announced or not, named
//!   before or after) is a part of the point that sums it up; if an announced one's own plan and points are there, and
//!   one of them failed, the point has failed even if it says `ok`. Frames name the point and the part: `outer > inner`.
//! - `unknown` is what of the plan, wherever it stands, has no point; without a plan it is unknown, but for a subtest that
//!   began and has no point.
//! - A number that comes twice with the same name is one case, and the worse outcome counts. Points beyond the plan are
//!   cases, and fill none of its places.
//! - `# TODO` counts as passed whatever it says, `# SKIP` as skipped. `1..0 # SKIP` is one case, skipped.
//! - Several streams in a row add up. `Bail out!` ends one.
//! - Where points have numbers or dashes, `ok` and words is prose; `not ok` never is.
//! - Of prove without `-v`: what its summary tells. It does not tell what was skipped, so that `passed` and `skipped` are
//!   unknown.
//!
//! Without a plan, a version or prove's tally, lines of points count if they have numbers and nothing beside them looks
//! like another form of cases; else they are left to `ok-lines`.

mod diagnosis;
mod failures;
mod item;
mod place;
mod prove;
mod proved;
mod stream;
mod yaml;

pub use self::diagnosis::Diagnosis;
use self::diagnosis::is_bats;
use self::item::{Item, Point, item};
use self::proved::Proved;
use self::stream::{Stream, Sums, outcome};
use self::yaml::Block;
use super::cases::{CaseList, Frames, clip, note};
use super::{Context, Line, Reader, Recognised, Span, Strength};
use crate::model::{CaseOutcome, Counts, Frame, ReaderName, Reading, Stream as Pipe};

/// How deep subtests are told apart.
const DEEPEST: usize = 16;

#[expect(clippy::struct_excessive_bools, reason = "each is a thing that the output has or has not")]
pub struct Tap<'a> {
    context: Context<'a>,
    name: ReaderName,
    cases: CaseList,
    frames: Frames,
    notes: Vec<String>,
    pipe: Option<Pipe>,
    span: Option<Span>,
    stream: Stream,
    /// Ended streams, alone and under the prove that is being read.
    sums: Sums,
    under_prove: Sums,
    prove: Option<Proved>,
    proved: u64,
    any_version: bool,
    any_plan: bool,
    gave_up: bool,
    /// Lines that tell of cases in another form.
    foreign: bool,
    block: Option<Below>,
    /// The last point, at whatever depth, that may have a block or comments below it.
    last: Option<Last>,
    /// Frames of parts, with their depth, before the point of the whole.
    held: Vec<(usize, Frame)>,
    /// The point whose parts told where it failed.
    explained: Option<String>,
    /// What the subtest at the top that is being read has: a plan, and a part that failed.
    parts: Parts,
    diagnosis: Diagnosis,
    /// A comment that only bats writes.
    pub bats: bool,
}

#[derive(Debug, Default)]
struct Parts {
    plan: bool,
    failed: Option<String>,
}

struct Last {
    depth: usize,
    name: String,
    failed: bool,
}

struct Below {
    block: Block,
    depth: usize,
}

impl Reader for Tap<'_> {
    fn line(&mut self, line: &Line<'_>) {
        if self.pipe != Some(line.stream) {
            self.pipe = Some(line.stream);
            self.end_block();
            let ended = self.diagnosis.end();
            self.failure(ended);
        }
        let text = line.text.trim_end();
        if self.in_block(text) || text.is_empty() {
            return;
        }
        let trimmed = text.trim_start_matches(' ');
        let indent = text.len() - trimmed.len();
        if trimmed == "---" && self.last.as_ref().is_some_and(|last| indent == 4 * last.depth + 2) {
            self.block = self.last.as_ref().map(|last| Below { block: Block::new(indent), depth: last.depth });
            return;
        }
        if trimmed == "}" && indent.is_multiple_of(4) {
            return;
        }
        let item = if indent.is_multiple_of(4) && indent / 4 <= DEEPEST { item(trimmed) } else { None };
        match item {
            // A verdict of prove's, which looks like a point without anything.
            Some(Item::Point(point)) if trimmed == "ok" && self.ends_file(&point) => self.end_file(line),
            Some(Item::Comment(comment)) => self.comment(indent / 4, comment, line),
            Some(item) if indent == 0 => self.top(item, line),
            Some(item) => self.part(indent / 4, &item, line),
            None => self.other(text, line),
        }
    }

    fn finish(mut self: Box<Self>) -> Option<Recognised> {
        self.end_all();
        self.recognised()
    }
}

impl<'a> Tap<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self::of(ReaderName::Tap, context)
    }

    /// For another reader of a form that is made of TAP.
    pub fn of(name: ReaderName, context: Context<'a>) -> Self {
        Self {
            context,
            name,
            cases: CaseList::default(),
            frames: Frames::default(),
            notes: Vec::new(),
            pipe: None,
            span: None,
            stream: Stream::default(),
            sums: Sums::default(),
            under_prove: Sums::default(),
            prove: None,
            proved: 0,
            any_version: false,
            any_plan: false,
            gave_up: false,
            foreign: false,
            block: None,
            last: None,
            held: Vec::new(),
            explained: None,
            parts: Parts::default(),
            diagnosis: Diagnosis::default(),
            bats: false,
        }
    }

    fn is_own(&mut self, line: &Line<'_>) {
        self.span = Some(Span::with(self.span, Span::of(line)));
    }

    /// Takes a line of the block below a point. A line that is less indented ends it, too.
    fn in_block(&mut self, text: &str) -> bool {
        let Some(below) = &mut self.block else { return false };
        let trimmed = text.trim_start_matches(' ');
        let indent = text.len() - trimmed.len();
        if trimmed.is_empty() {
            return true;
        }
        if indent < below.block.indent {
            self.end_block();
            return false;
        }
        if indent == below.block.indent && trimmed == "..." {
            self.end_block();
        } else {
            below.block.line(text, &self.context);
        }
        true
    }

    fn comment(&mut self, depth: usize, text: &str, line: &Line<'_>) {
        if let Some(name) = text.strip_prefix("Subtest: ") {
            // Named at the indentation of the point or at that of its parts.
            if depth == 0 || (depth == 1 && self.stream.begun.is_none()) {
                self.stream.open = true;
                self.stream.begun = Some((clip(name.trim()), line.at));
                self.parts = Parts::default();
            }
            return;
        }
        self.bats |= is_bats(text);
        let failure = self.diagnosis.comment(depth, text, &self.context);
        self.failure(failure);
    }

    /// An item at the top.
    fn top(&mut self, item: Item<'_>, line: &Line<'_>) {
        self.is_own(line);
        match item {
            Item::Version => {
                self.end_stream();
                self.any_version = true;
                self.stream.version = true;
                self.stream.open = true;
            }
            Item::Plan(count, reason) => {
                if self.stream.is_over_before_plan() {
                    self.end_stream();
                }
                self.any_plan = true;
                match reason.filter(|_| count == 0 && self.stream.lines == 0) {
                    Some(reason) => {
                        self.stream.open = true;
                        self.stream.skip = Some((clip(reason), line.at));
                    }
                    None => self.stream.plan(count),
                }
            }
            Item::Point(point) => {
                if self.stream.is_over_before(&point) {
                    self.end_stream();
                }
                self.point(&point, line);
            }
            Item::BailOut(why) => {
                self.stream.bailed = true;
                self.gave_up = true;
                self.stream.open = true;
                note(&mut self.notes, format!("gave up: {}", clip(why)));
            }
            Item::Pragma | Item::Comment(_) => {}
        }
    }

    fn point(&mut self, point: &Point, line: &Line<'_>) {
        let ended = self.diagnosis.end();
        self.failure(ended);
        let (mut ended, mut reason) = outcome(point);
        let begun = self.stream.begun.take();
        let parts = std::mem::take(&mut self.parts);
        if begun.is_some_and(|(name, _)| name == point.name)
            && parts.plan
            && ended == CaseOutcome::Passed
            && point.directive.is_none()
            && let Some(part) = parts.failed
        {
            note(&mut self.notes, format!("{} says ok, and its part {part} failed", clip(&point.name)));
            (ended, reason) = (CaseOutcome::Failed, None);
        }
        self.stream.point(point, (ended, reason), line.at, &mut self.cases, &mut self.notes);
        let name = match point.number {
            Some(number) if point.name.is_empty() => number.to_string(),
            _ => clip(&point.name),
        };
        let failed = ended == CaseOutcome::Failed;
        self.explained = None;
        self.explain(0, &name, failed);
        self.last = Some(Last { depth: 0, name, failed });
    }

    /// An item of a subtest.
    fn part(&mut self, depth: usize, item: &Item<'_>, line: &Line<'_>) {
        match item {
            Item::Plan(..) if depth == 1 => self.parts.plan = true,
            Item::Point(point) if point.marked => {
                let failed = outcome(point).0 == CaseOutcome::Failed;
                if failed && depth == 1 {
                    self.parts.failed.get_or_insert_with(|| clip(&point.name));
                }
                let ended = self.diagnosis.end();
                self.failure(ended);
                self.explain(depth, &clip(&point.name), failed);
                self.last = Some(Last { depth, name: clip(&point.name), failed });
            }
            Item::BailOut(why) if self.stream.open => {
                self.is_own(line);
                self.stream.bailed = true;
                self.gave_up = true;
                note(&mut self.notes, format!("gave up: {}", clip(why)));
            }
            _ => {}
        }
    }

    fn end_stream(&mut self) {
        self.end_block();
        let ended = self.diagnosis.end();
        self.failure(ended);
        // Of a whole that never came.
        let whole = self.stream.begun.as_ref().map(|(name, _)| name.clone());
        self.explain(0, &whole.unwrap_or_default(), true);
        self.last = None;
        let file = self.prove.as_ref().and_then(|prove| prove.file.as_deref());
        let name = file.unwrap_or("SKIP").to_owned();
        let under_prove = file.is_some();
        let sums = self.stream.end(&name, &mut self.cases, &mut self.notes);
        if under_prove { self.under_prove.add(sums) } else { self.sums.add(sums) }
    }

    fn end_all(&mut self) {
        self.end_stream();
        let failure = self.diagnosis.end();
        self.failure(failure);
        let shown = std::mem::take(&mut self.under_prove);
        self.sums.add(shown);
    }

    /// What was read, once everything has ended.
    fn recognised(self) -> Option<Recognised> {
        let Self { sums, mut notes, span, name, .. } = self;
        let ran = sums.outcomes.ran();
        let strength = if self.proved > 0 || (ran > 0 && (self.any_plan || self.any_version)) {
            Strength::Tally
        } else if self.any_version
            || (self.any_plan && (self.gave_up || self.context.speaks_of(name)))
            || (ran > 0 && self.sums.marked > 0 && !self.foreign)
        {
            Strength::Lines
        } else {
            return None;
        };
        let unknown = (!sums.open_end).then_some(sums.unknown).or((sums.unknown > 0).then_some(sums.unknown));
        let planned = (sums.any_plan && !sums.open_end).then_some(sums.planned);
        let mut counts = sums.outcomes.counts(planned, unknown);
        if sums.hidden && sums.outcomes.passed > 0 {
            counts = Counts { passed: None, skipped: None, ..counts };
            note(&mut notes, "prove does not tell how many cases were skipped: `prove -v` does");
        }
        let cases = self.cases.finish(&mut notes);
        let frames = self.frames.finish(&mut notes);
        let reading = Reading { reader: Some(name.name().to_owned()), counts, cases, frames, notes };
        Some(Recognised { reader: name, strength, span, reading })
    }
}
