//! The reporter `tap`: what node prints where nobody watches, before version 23.

use std::sync::LazyLock;

use regex::Regex;

use super::entry::{Entry, Kind, SEPARATOR, file};
use super::session::Session;
use crate::model::{CaseOutcome, Frame};
use crate::readers::cases::clip;
use crate::readers::frames::{Finder, Stacks, place};
use crate::readers::{Arrival, Context};

static POINT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(not )?ok \d+ - (.*)$").expect("a constant"));
/// What node says when something fails that no running test can be blamed for.
static STRAY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"Test "(.*)" at (\S.*:\d+:\d+) generated asynchronous activity after the test ended\. This activity created the (?:error|warning) "(.*)$"#)
        .expect("a constant")
});
/// The deepest nesting that is followed.
const DEEPEST: usize = 100;

pub struct Tap<'a> {
    context: Context<'a>,
    /// What `# Subtest` began, from the outermost.
    open: Vec<Begun>,
    point: Option<Point>,
    /// The last failure that was printed outside of a test.
    stray: Stray<'a>,
}

struct Begun {
    name: String,
    at: Arrival,
    has_parts: bool,
    failed_within: bool,
}

/// A test point, with what is said below it.
struct Point {
    depth: usize,
    entry: Entry,
    /// Whether it is to do, or skipped: its failure is none.
    excused: bool,
    /// The indentation of what is said, once that has begun.
    said: Option<usize>,
    is_nodes: bool,
    suite: bool,
    location: Option<String>,
    failure: String,
    error: Option<String>,
    class: Option<String>,
    code: Option<String>,
    /// The key of the lines that follow, deeper than it.
    block: Block,
    own: Option<Frame>,
    stack: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    None,
    Error,
    Stack,
}

/// How many lines of a stack are kept.
const STACK: usize = 1_000;

impl<'a> Tap<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self { context, open: Vec::new(), point: None, stray: Stray::new(context) }
    }

    /// Whether the line is one of node's.
    pub fn line(&mut self, text: &str, at: Arrival, session: &mut Session) -> bool {
        let body = text.trim_start_matches(' ');
        let indent = text.len() - body.len();
        if let Some(point) = &mut self.point {
            match point.said {
                None if body == "---" && indent == 4 * point.depth + 2 => {
                    point.said = Some(indent);
                    return false;
                }
                // Only node says something below each.
                None => self.point = None,
                Some(said) if body == "..." && indent == said => {
                    self.settle(session);
                    return true;
                }
                Some(said) => {
                    point.say(body, indent.checked_sub(said));
                    return false;
                }
            }
        }
        if let Some(said) = body.strip_prefix("# ") {
            if let Some(name) = said.strip_prefix("Subtest: ").filter(|_| indent.is_multiple_of(4)) {
                self.begin(indent / 4, unescape(name), at, session);
                return false;
            }
            if indent == 0 {
                self.stray.line(said, session);
            }
            return false;
        }
        let is_point = (body.starts_with("ok ") || body.starts_with("not ok ")) && indent.is_multiple_of(4);
        if let Some(found) = is_point.then(|| POINT.captures(body)).flatten() {
            let (name, directive, reason) = directive(&found[2]);
            let failed = found.get(1).is_some();
            self.point = Some(Point::new(indent / 4, name, (failed, directive, reason), at));
        }
        false
    }

    fn begin(&mut self, depth: usize, name: String, at: Arrival, session: &mut Session) {
        if depth > self.open.len() || depth > DEEPEST {
            return;
        }
        self.open.truncate(depth);
        if let Some(parent) = self.open.last_mut() {
            parent.has_parts = true;
        }
        self.open.push(Begun { name, at, has_parts: false, failed_within: false });
        session.begun = session.seen.then(|| (self.path(depth + 1), at));
    }

    fn path(&self, depth: usize) -> String {
        let names: Vec<_> = self.open[..depth.min(self.open.len())].iter().map(|begun| begun.name.as_str()).collect();
        clip(&names.join(SEPARATOR))
    }

    /// Takes the point that is being read, as far as it was.
    pub fn settle(&mut self, session: &mut Session) {
        let Some(mut point) = self.point.take() else { return };
        if !point.is_nodes || point.depth > self.open.len() {
            return;
        }
        let depth = point.depth;
        let begun = (self.open.len() > depth && self.open[depth].name == point.entry.name).then(|| {
            self.open.truncate(depth + 1);
            self.open.pop()
        });
        let begun = begun.flatten();
        self.open.truncate(depth);
        let parts = begun.as_ref().is_some_and(|begun| begun.has_parts);
        let entry = &mut point.entry;
        entry.failed_within = begun.as_ref().is_some_and(|begun| begun.failed_within);
        if let Some(begun) = &begun {
            entry.at.first_us = begun.at.first_us.or(entry.at.first_us);
        }
        let is_file = if depth == 0 && !parts && !point.suite { file(&entry.name, &self.context) } else { None };
        entry.kind = match (&is_file, point.suite, parts) {
            (Some(_), ..) => Kind::File,
            (None, true, _) => Kind::Suite,
            (None, false, true) => Kind::Test,
            (None, false, false) => Kind::Leaf,
        };
        let name = match is_file {
            Some(name) => name,
            None if depth == 0 => entry.name.clone(),
            None => clip(&format!("{}{SEPARATOR}{}", self.path(depth), entry.name)),
        };
        entry.name = name;
        if entry.outcome == CaseOutcome::Failed {
            for parent in &mut self.open {
                parent.failed_within = true;
            }
        }
        let failed = entry.outcome == CaseOutcome::Failed && point.failure != "subtestsFailed";
        let explained = entry.kind == Kind::File && self.stray.take(session, &entry.name);
        if failed
            && !point.excused
            && !explained
            && let Some(frame) = point.frame(self.context)
        {
            Session::frame(&mut session.frames, frame);
        }
        session.seen = true;
        session.begun =
            (depth > 0 && depth <= self.open.len()).then(|| (self.path(depth), point.entry.at)).filter(|_| false);
        session.record(point.entry);
    }

    /// The run is over.
    pub fn end(&mut self, session: &mut Session) {
        // What is said below a point that was cut off may lack that it is a suite.
        self.point = None;
        self.stray.end(session);
    }
}

impl Point {
    fn new(depth: usize, name: String, (failed, directive, reason): (bool, &str, &str), at: Arrival) -> Self {
        let excused = !directive.is_empty();
        let outcome = match (excused, failed) {
            (true, _) => CaseOutcome::Skipped,
            (_, true) => CaseOutcome::Failed,
            (_, false) => CaseOutcome::Passed,
        };
        let reason = match (directive, reason) {
            ("TODO", "") => Some("to do".to_owned()),
            ("TODO", reason) => Some(format!("to do: {reason}")),
            (_, "") => None,
            (_, reason) => Some(reason.to_owned()),
        };
        Self {
            depth,
            entry: Entry { name, outcome, reason, at, kind: Kind::Leaf, failed_within: false },
            excused,
            said: None,
            is_nodes: false,
            suite: false,
            location: None,
            failure: String::new(),
            error: None,
            class: None,
            code: None,
            block: Block::None,
            own: None,
            stack: Vec::new(),
        }
    }

    /// A line between `---` and `...`; `deeper` is how much deeper it is than these.
    fn say(&mut self, body: &str, deeper: Option<usize>) {
        match deeper {
            Some(0) => {
                self.block = Block::None;
                let Some((key, value)) = body.split_once(':') else { return };
                let value = value.trim();
                match key {
                    "duration_ms" => self.is_nodes = true,
                    "type" => self.suite = unquote(value) == "suite",
                    "location" => self.location = Some(unquote(value)),
                    "failureType" => self.failure = unquote(value),
                    "error" if value == "|-" => self.block = Block::Error,
                    "error" => self.error = Some(clip(&unquote(value))),
                    "name" => self.class = Some(clip(&unquote(value))),
                    "code" => self.code = Some(clip(&unquote(value))),
                    "stack" => self.block = Block::Stack,
                    _ => {}
                }
            }
            Some(_) if self.block == Block::Error && self.error.is_none() && !body.is_empty() => {
                self.error = Some(clip(body));
            }
            Some(_) if self.block == Block::Stack && self.stack.len() < STACK => self.stack.push(clip(body)),
            _ => {}
        }
    }

    fn frame(&mut self, context: Context<'_>) -> Option<Frame> {
        let error = self.error.take().map(|error| {
            let class = self.class.as_deref().or((!self.stack.is_empty()).then_some("Error"));
            let code = self.code.as_deref().filter(|code| *code != "ERR_TEST_FAILURE" && self.class.is_some());
            match (class, code) {
                (Some(class), Some(code)) => format!("{class} [{code}]: {error}"),
                (Some(class), None) => format!("{class}: {error}"),
                (None, _) => error,
            }
        });
        let mut stacks = Stacks::new(context);
        for line in &self.stack {
            stacks.line(&format!("    at {line}"));
        }
        self.own = stacks.finish();
        let frame = self.own.take().or_else(|| {
            // Of a file it is its first line.
            let location = self.location.as_deref().filter(|_| self.entry.kind != Kind::File)?;
            located(location, context)
        })?;
        Some(Frame { error, case: Some(self.entry.name.clone()), ..frame })
    }
}

/// The place of a test.
pub fn located(location: &str, context: Context<'_>) -> Option<Frame> {
    let found = place(location)?;
    let file = crate::readers::own_code::own_name(found.file, &context)?;
    Some(Frame { column: found.column, ..Frame::new(clip(&file), found.line) })
}

/// Failures that are printed outside of any test.
pub struct Stray<'a> {
    context: Context<'a>,
    stacks: Stacks<'a>,
    last: Option<Frame>,
}

impl<'a> Stray<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self { context, stacks: Stacks::new(context), last: None }
    }

    pub fn line(&mut self, text: &str, session: &mut Session) {
        if let Some(found) = text.contains("asynchronous activity").then(|| STRAY.captures(text)).flatten() {
            let error = found[3].split("\" and would have caused").next().unwrap_or_default();
            if let Some(frame) = located(&found[2], self.context) {
                let frame = Frame { error: Some(clip(error)), case: Some(clip(&found[1])), ..frame };
                Session::frame(&mut session.others, frame.clone());
                self.last = None;
                session.notes.push(clip(&format!("{} failed after it had ended: {error}", &found[1])));
                session.notes.truncate(50);
            }
            return;
        }
        if let Some(frame) = self.stacks.line(text) {
            self.last = Some(frame);
        }
    }

    /// A file failed: whether what was printed before says why.
    pub fn take(&mut self, session: &mut Session, name: &str) -> bool {
        self.last = self.stacks.finish().or(self.last.take());
        match self.last.take() {
            Some(frame) => {
                Session::frame(&mut session.others, Frame { case: Some(name.to_owned()), ..frame });
                true
            }
            None => session.others.last().is_some_and(|frame| frame.file == name),
        }
    }

    pub fn end(&mut self, session: &mut Session) {
        if let Some(frame) = self.stacks.finish().or(self.last.take()) {
            Session::frame(&mut session.others, frame);
        }
    }
}

/// Splits off why a test was skipped or is yet to be done, with the word for it.
fn directive(text: &str) -> (String, &str, &str) {
    if let Some((name, rest)) = text.rsplit_once(" # ") {
        for word in ["SKIP", "TODO"] {
            if let Some(reason) = rest.strip_prefix(word) {
                return (unescape(name), word, reason.trim());
            }
        }
    }
    (unescape(text), "", "")
}

fn unescape(text: &str) -> String {
    clip(&text.replace("\\#", "#").replace("\\\\", "\\"))
}

fn unquote(value: &str) -> String {
    for quote in ['\'', '"', '`'] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|value| value.strip_suffix(quote)) {
            return inner.replace(&format!("\\{quote}"), &quote.to_string()).replace("\\\\", "\\");
        }
    }
    value.to_owned()
}
