//! The reporter `spec`: what node prints where somebody watches, and everywhere since version 23.

use std::collections::HashMap;

use super::entry::{Entry, Kind, SEPARATOR, file};
use super::session::Session;
use super::tap::{Stray, located};
use crate::model::{CaseOutcome, Frame};
use crate::readers::cases::{MOST_FRAMES, clip};
use crate::readers::frames::{Finder, Stacks};
use crate::readers::{Arrival, Context};

/// The deepest nesting that is followed.
const DEEPEST: usize = 100;

pub struct Spec<'a> {
    context: Context<'a>,
    /// What `▶` began, from the outermost.
    open: Vec<Begun>,
    /// What is said of the failure above.
    detail: Option<Detail<'a>>,
    stray: Stray<'a>,
    /// In the list of failures at the end.
    listing: bool,
    /// `test at FILE:LINE:COLUMN`.
    location: Option<Frame>,
    /// From the last part of a name to the whole of it, of what failed; `None` if there are several.
    names: HashMap<String, Option<String>>,
    /// A line of dots was seen.
    dots: bool,
}

struct Begun {
    name: String,
    failed_within: bool,
}

struct Detail<'a> {
    name: String,
    /// Indented by more than that.
    indent: usize,
    stacks: Stacks<'a>,
    frame: Option<Frame>,
    /// Its first line.
    first: Option<String>,
    location: Option<Frame>,
    listed: bool,
    file: bool,
    /// It is to do: no failure.
    excused: bool,
}

impl<'a> Spec<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            open: Vec::new(),
            detail: None,
            stray: Stray::new(context),
            listing: false,
            location: None,
            names: HashMap::new(),
            dots: false,
        }
    }

    /// Whether the line is one of node's.
    pub fn line(&mut self, text: &str, at: Arrival, session: &mut Session) -> bool {
        let body = text.trim_start_matches(' ');
        let indent = text.len() - body.len();
        let mut signs = body.chars();
        let sign = signs.next().unwrap_or(' ');
        if matches!(sign, '✔' | '✖' | '﹣' | '⚠' | '▶')
            && indent.is_multiple_of(2)
            && let Some(rest) = signs.as_str().strip_prefix(' ')
        {
            if body == "✖ failing tests:" {
                self.settle(session);
                self.listing = true;
                return true;
            }
            return self.entry(sign, rest, indent, at, session);
        }
        if self.listing
            && let Some(location) = text.strip_prefix("test at ")
        {
            self.settle(session);
            self.location = located(location, self.context);
            return true;
        }
        if text == "Failed tests:" && self.dots {
            self.listing = true;
            session.seen = true;
            session.numberless = true;
            return true;
        }
        if let Some(detail) = &mut self.detail {
            if body.is_empty() || indent > detail.indent {
                detail.line(text, body);
                return false;
            }
            self.settle(session);
        }
        if indent == 0 && !body.is_empty() {
            self.dots = body.bytes().all(|byte| matches!(byte, b'.' | b'X')) || (self.dots && body.is_empty());
        }
        // Those of the other reporter are read there.
        if !text.starts_with("# ") {
            self.stray.line(text.strip_prefix("ℹ ").unwrap_or(text), session);
        }
        false
    }

    fn entry(&mut self, sign: char, rest: &str, indent: usize, at: Arrival, session: &mut Session) -> bool {
        let depth = indent / 2;
        let (name, duration, directive) = parts(rest);
        if sign == '▶' {
            self.settle(session);
            self.listing = false;
            if depth > self.open.len() || depth > DEEPEST {
                return false;
            }
            self.open.truncate(depth);
            self.open.push(Begun { name: clip(rest), failed_within: false });
            return false;
        }
        // Other runners have the same signs, and no fractions of milliseconds.
        let sure = duration.is_some_and(|duration| duration.contains('.'));
        if !sure && sign != '✖' {
            return false;
        }
        let excused = directive.is_some() || matches!(sign, '﹣' | '⚠');
        let failed = sign == '✖' && !excused;
        self.settle(session);
        if self.listing {
            let location = self.location.take();
            if sign == '✖' {
                let whole = self.names.get(name).cloned().flatten().unwrap_or_else(|| clip(name));
                let file = file(name, &self.context).is_some();
                let detail = Detail::new(whole, indent, self.context);
                self.detail = Some(Detail { location, listed: true, file, excused, ..detail });
            }
            return true;
        }
        if depth > self.open.len() {
            // A case printed it, or its head was lost.
            self.open.clear();
        }
        let begun = if self.open.len() > depth && self.open[depth].name == name {
            self.open.truncate(depth + 1);
            self.open.pop()
        } else {
            None
        };
        self.open.truncate(depth);
        let is_file = if depth == 0 && begun.is_none() { file(name, &self.context) } else { None };
        let whole = is_file.clone().unwrap_or_else(|| {
            let path: Vec<_> = self.open.iter().map(|begun| begun.name.as_str()).chain([name]).collect();
            clip(&path.join(SEPARATOR))
        });
        let kind = match (&is_file, &begun) {
            (Some(_), _) => Kind::File,
            (None, Some(_)) => Kind::Parent,
            (None, None) => Kind::Leaf,
        };
        let outcome = match (excused, failed) {
            (true, _) => CaseOutcome::Skipped,
            (_, true) => CaseOutcome::Failed,
            (_, false) => CaseOutcome::Passed,
        };
        let reason = directive.filter(|reason| !reason.is_empty()).and_then(|reason| match (sign, reason) {
            ('﹣', "SKIP") => None,
            ('﹣', reason) => Some(clip(reason)),
            (_, "TODO") => Some("to do".to_owned()),
            (_, reason) => Some(clip(&format!("to do: {reason}"))),
        });
        if failed {
            for parent in &mut self.open {
                parent.failed_within = true;
            }
            if self.names.len() < MOST_FRAMES {
                let seen = self.names.entry(clip(name));
                seen.and_modify(|seen| *seen = None).or_insert_with(|| Some(whole.clone()));
            }
            let explained = kind == Kind::File && self.stray.take(session, &whole);
            if !explained {
                let detail = Detail::new(whole.clone(), indent, self.context);
                self.detail = Some(Detail { file: kind == Kind::File, ..detail });
            }
        } else if sign == '✖' {
            self.detail = Some(Detail { excused, ..Detail::new(whole.clone(), indent, self.context) });
        }
        let failed_within = begun.is_some_and(|begun| begun.failed_within);
        session.seen |= sure;
        session.begun = None;
        session.record(Entry { name: whole, outcome, reason, at, kind, failed_within });
        true
    }

    /// Takes what was said of the last failure.
    pub fn settle(&mut self, session: &mut Session) {
        let Some(mut detail) = self.detail.take().filter(|detail| !detail.excused) else { return };
        let frame = detail.frame.take().or_else(|| detail.stacks.finish());
        let frame = frame.or_else(|| {
            // Of a file it is its first line.
            let place = detail.location.take().filter(|_| !detail.file)?;
            Some(Frame { error: detail.first.take(), ..place })
        });
        if let Some(frame) = frame {
            let frame = Frame { case: Some(detail.name), ..frame };
            if detail.file && session.others.iter().any(|other| other.file == frame.file) {
                return;
            }
            Session::frame(if detail.listed { &mut session.listed } else { &mut session.frames }, frame);
        }
    }

    /// The run is over.
    pub fn end(&mut self, session: &mut Session) {
        self.settle(session);
        self.stray.end(session);
    }
}

impl<'a> Detail<'a> {
    fn new(name: String, indent: usize, context: Context<'a>) -> Self {
        let stacks = Stacks::new(context);
        let (frame, first, location) = (None, None, None);
        Self { name, indent, stacks, frame, first, location, listed: false, file: false, excused: false }
    }

    fn line(&mut self, text: &str, body: &str) {
        if self.first.is_none() && !body.is_empty() {
            let inner = body.strip_prefix('\'').and_then(|body| body.strip_suffix('\''));
            self.first = Some(clip(inner.unwrap_or(body)));
        }
        if self.frame.is_none() {
            self.frame = self.stacks.line(text);
        }
    }
}

/// Name, duration and what stands behind it: `NAME (1.2ms) # DIRECTIVE`. A name may have all of that, too.
fn parts(text: &str) -> (&str, Option<&str>, Option<&str>) {
    for (at, _) in text.rmatch_indices(" (").take(20) {
        let Some((duration, rest)) = text[at + 2..].split_once("ms)") else { continue };
        let directive = rest.strip_prefix(" # ");
        let numeric = !duration.is_empty() && duration.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        if numeric && (rest.is_empty() || directive.is_some()) {
            return (&text[..at], Some(duration), directive);
        }
    }
    (text, None, None)
}
