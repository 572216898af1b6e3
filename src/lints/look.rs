//! A look at one source.

use std::borrow::Cow;

use super::allows::Allows;
use super::imports::{Candidates, imports};
use super::names::Names;
use super::needs::applying;
use super::rule::{Hit, Rule};
use super::rules::rule;
use super::source::{About, Source};
use super::syntax::Syntax;
use crate::model::{Lint, LintKind, Unread};

/// The longest line that is shown.
const LONGEST: usize = 160;

/// The part of a file, as one of so many, that may be syntax which was not understood.
const MOST_PART: usize = 5;

/// What came of a look.
#[derive(Debug, Default)]
pub struct Looked {
    pub lints: Vec<Lint>,
    /// Why it was not looked at.
    pub unread: Option<Unread>,
    /// What of it was not understood.
    pub unclear: Option<Unread>,
    /// What of the project it takes in.
    pub imports: Vec<Candidates>,
}

/// Looks at a source. Bytes that are no UTF-8 are passed over, and told.
#[must_use]
pub fn look(bytes: &[u8], about: About<'_>) -> Looked {
    let unread = |message: String, remedy: &str| Unread {
        file: about.file.to_owned(),
        line: None,
        message,
        remedy: remedy.to_owned(),
    };
    if let Some(encoding) = wide(bytes) {
        let message = format!("it is {encoding}, and no host reads a script in that");
        return Looked { unread: Some(unread(message, "save it as UTF-8, without a mark")), ..Looked::default() };
    }
    let text = String::from_utf8_lossy(bytes);
    if bytes.contains(&0) {
        let remedy = "save it as UTF-8; it may be no text, or in another encoding";
        return Looked { unread: Some(unread("it has NUL bytes".to_owned(), remedy)), ..Looked::default() };
    }
    let applying = applying(&about, text.as_bytes());
    let passed_over = matches!(text, Cow::Owned(_)).then(|| {
        let at = text.find('\u{fffd}').unwrap_or_default();
        let line = Some(memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() as u64 + 1);
        let message = "it is not UTF-8: bytes that are none were passed over".to_owned();
        Unread { line, ..unread(message, "save it as UTF-8") }
    });
    // Understood or not, nothing in it can be a trap of these rules'.
    if applying.rules.is_empty() && !applying.takes_in {
        return Looked { unclear: passed_over, ..Looked::default() };
    }
    let syntax = match Syntax::parse(about.language, &text) {
        Ok(syntax) => syntax,
        Err(error) => {
            let unread = unread(error.message(), "split it, or leave it out");
            return Looked { unread: Some(unread), ..Looked::default() };
        }
    };
    let places = Lines::of(&text);
    let imports = if applying.takes_in { imports(about.language, about.file, &syntax) } else { Vec::new() };
    let mut lints = found(&syntax, &places, about, &applying.rules);
    lints.sort_by_key(|lint| (lint.line, lint.column, lint.kind));
    if syntax.is_exhausted() {
        let message = "the rules did not come to its end: it has too much of what they look at".to_owned();
        return Looked { unread: Some(unread(message, "split it, or leave it out")), ..Looked::default() };
    }
    let mut unclear = None;
    if let Some(at) = syntax.first_error() {
        let line = places.line(at) as u64 + about.wired.unwrap_or(1);
        let message = "its syntax was not understood here, so that nothing is known of this place".to_owned();
        let remedy = "see whether it is right, and of a version of the language that is read";
        // Of a file that is mostly a riddle nobody can say that it is clean.
        if syntax.not_understood() * MOST_PART > text.trim().len() {
            let message = "much of its syntax was not understood, from here on".to_owned();
            let unread = Unread { line: Some(line), ..unread(message, remedy) };
            return Looked { lints, unread: Some(unread), unclear, imports };
        }
        unclear = Some(Unread { line: Some(line), ..unread(message, remedy) });
    }
    unclear = passed_over.or(unclear);
    Looked { lints, unread: None, unclear, imports }
}

/// The encoding of a text whose letters have more than one byte each: by its mark, or by the NULs of its first ones.
fn wide(bytes: &[u8]) -> Option<&'static str> {
    match *bytes {
        [0xff, 0xfe, 0, 0, ..] => Some("UTF-32 (the low byte first)"),
        [0, 0, 0xfe, 0xff, ..] => Some("UTF-32 (the high byte first)"),
        [0xff, 0xfe, ..] => Some("UTF-16 (the low byte first)"),
        [0xfe, 0xff, ..] => Some("UTF-16 (the high byte first)"),
        [a, 0, b, 0, ..] if a != 0 && b != 0 => Some("UTF-16 (the low byte first, without a mark)"),
        [0, a, 0, b, ..] if a != 0 && b != 0 => Some("UTF-16 (the high byte first, without a mark)"),
        _ => None,
    }
}

/// What the rules find, and what comments allow of it.
pub(super) fn found(syntax: &Syntax<'_>, places: &Lines<'_>, about: About<'_>, rules: &[&'static Rule]) -> Vec<Lint> {
    let names = Names::of(about.language, syntax);
    let source = Source::new(about, syntax, &names);
    let mut allows = Allows::of(syntax, &|byte| places.line(byte));
    let mut lints = Vec::new();
    let mut hits = Vec::new();
    for rule in rules {
        (rule.find)(&source, &mut hits);
        for hit in hits.drain(..) {
            let line = places.line(hit.bytes.start);
            let allowed = allows.reason(rule.kind, line);
            lints.push(lint(rule, hit, places, about, allowed));
        }
    }
    let idle = rule(LintKind::IdleAllow);
    lints.extend(allows.idle().into_iter().map(|hit| lint(idle, hit, places, about, None)));
    lints
}

fn lint(rule: &Rule, hit: Hit, places: &Lines<'_>, about: About<'_>, allowed: Option<String>) -> Lint {
    let (line, column) = places.place(hit.bytes.start);
    let (end_line, end_column) = places.place(hit.bytes.end);
    let first = about.wired.unwrap_or(1);
    // Of a wired command only the line is known in which its file has it.
    let (column, end_column) = if about.wired.is_some() { (1, 1) } else { (column, end_column) };
    let end_line = if about.wired.is_some() { line } else { end_line };
    let snippet: String = places.text(line).trim().chars().take(LONGEST).collect();
    Lint {
        kind: rule.kind,
        severity: rule.severity,
        message: hit.message,
        file: about.file.to_owned(),
        line: if about.wired.is_some() { first } else { line as u64 + first },
        column: column as u64,
        end_line: if about.wired.is_some() { first } else { end_line as u64 + first },
        end_column: end_column as u64,
        snippet,
        why: rule.why.to_owned(),
        hosts: rule.hosts.to_vec(),
        remedy: rule.mend.to_owned(),
        allowed,
    }
}

/// Where the lines of a text begin.
pub(super) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// How many characters lie before each [`STRIDE`] bytes.
    characters: Vec<usize>,
}

const STRIDE: usize = 256;

/// How many characters begin in bytes.
fn beginning(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let starts = std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1)).collect();
        let characters = text.as_bytes().chunks(STRIDE).scan(0, |before, chunk| {
            let here = *before;
            *before += beginning(chunk);
            Some(here)
        });
        Self { text, starts, characters: characters.collect() }
    }

    /// The line of a byte, from 0.
    fn line(&self, byte: usize) -> usize {
        self.starts.partition_point(|start| *start <= byte).saturating_sub(1)
    }

    /// The line from 0, and the column in characters from 1.
    fn place(&self, byte: usize) -> (usize, usize) {
        let line = self.line(byte);
        (line, self.before(byte) - self.before(self.starts[line]) + 1)
    }

    /// How many characters begin before a byte.
    fn before(&self, byte: usize) -> usize {
        let byte = byte.min(self.text.len());
        let stride = (byte / STRIDE).min(self.characters.len().saturating_sub(1));
        self.characters.get(stride).map_or(0, |before| before + beginning(&self.text.as_bytes()[stride * STRIDE..byte]))
    }

    fn text(&self, line: usize) -> &'t str {
        let end = self.starts.get(line + 1).map_or(self.text.len(), |next| next - 1);
        self.text.get(self.starts[line]..end).unwrap_or_default()
    }
}
