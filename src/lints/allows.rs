//! Comments that allow a finding: `hostproof: allow KIND because …`, on its line or on the one before.

use std::collections::HashMap;

use super::rule::Hit;
use super::syntax::{Node, Syntax};
use crate::model::LintKind;

/// What a comment begins with.
const WORDS: &str = "hostproof: allow";

/// One comment that allows something.
#[derive(Debug)]
struct Allow {
    bytes: std::ops::Range<usize>,
    /// The lines that it is for, from 0.
    lines: Vec<usize>,
    /// The kinds that it names, and whether each silenced something.
    kinds: Vec<(LintKind, bool)>,
    unknown: Vec<String>,
    because: Option<String>,
    /// Whether it only looks like one, and allows nothing.
    is_misspelt: bool,
}

impl Allow {
    fn misspelt(bytes: std::ops::Range<usize>) -> Self {
        Self { bytes, lines: Vec::new(), kinds: Vec::new(), unknown: Vec::new(), because: None, is_misspelt: true }
    }
}

/// The comments of a source that allow something.
#[derive(Debug, Default)]
pub struct Allows {
    allows: Vec<Allow>,
    /// Those that are for a line and a kind, and have a reason: the first.
    by_place: HashMap<(usize, LintKind), usize>,
}

impl Allows {
    /// Of a source; `line_of` tells the line of a byte, from 0.
    #[must_use]
    pub fn of(syntax: &Syntax<'_>, line_of: &dyn Fn(usize) -> usize) -> Self {
        let comments: Vec<Node<'_>> = syntax.nodes().filter(|node| is_comment(*node)).collect();
        let alone = |node: Node<'_>| {
            let start = node.bytes().start;
            let before = syntax.text().get(..start).unwrap_or_default();
            let before = before.trim_end_matches([' ', '\t', '\r', '\u{feff}']);
            before.is_empty() || before.ends_with('\n')
        };
        let alone: Vec<usize> =
            comments.iter().filter(|node| alone(**node)).map(|node| line_of(node.bytes().start)).collect();
        // The first line after each that is none of a comment alone.
        let mut first_after: HashMap<usize, usize> = HashMap::new();
        for line in alone.iter().rev() {
            let next = first_after.get(&(line + 1)).copied().unwrap_or(line + 1);
            first_after.insert(*line, next);
        }
        let mut allows: Vec<Allow> = Vec::new();
        for comment in &comments {
            let Some(mut allow) = parse(comment.text(), comment.bytes()) else { continue };
            let line = line_of(comment.bytes().start);
            allow.lines.push(line);
            if alone.binary_search(&line).is_ok() {
                allow.lines.push(first_after[&line]);
                // Nothing can stand before a first line.
                if line == 1 {
                    allow.lines.push(0);
                }
            }
            allows.push(allow);
        }
        let mut by_place = HashMap::new();
        for (at, allow) in allows.iter().enumerate().filter(|(_, allow)| allow.because.is_some()) {
            for line in &allow.lines {
                for (kind, _) in &allow.kinds {
                    by_place.entry((*line, *kind)).or_insert(at);
                }
            }
        }
        Self { allows, by_place }
    }

    /// The reason for which a finding of a kind in a line is allowed.
    pub fn reason(&mut self, kind: LintKind, line: usize) -> Option<String> {
        let allow = &mut self.allows[*self.by_place.get(&(line, kind))?];
        for (known, used) in &mut allow.kinds {
            *used |= *known == kind;
        }
        allow.because.clone()
    }

    /// What is wrong with them, when all findings were asked for.
    #[must_use]
    pub fn idle(&self) -> Vec<Hit> {
        let mut hits = Vec::new();
        for allow in &self.allows {
            let mut add = |message: String| hits.push(Hit { bytes: allow.bytes.clone(), message });
            if allow.is_misspelt {
                add(format!("it silences nothing: a comment of its own begins with `{WORDS} `, spelt so"));
                continue;
            }
            for unknown in &allow.unknown {
                let near =
                    LintKind::ALL.into_iter().min_by_key(|kind| strsim::damerau_levenshtein(kind.slug(), unknown));
                let near = near.filter(|kind| strsim::damerau_levenshtein(kind.slug(), unknown) <= unknown.len() / 3);
                let near = near.map(|kind| format!("; did you mean {}?", kind.slug())).unwrap_or_default();
                add(format!("there is no kind called {unknown:?}{near}"));
            }
            if allow.because.is_none() {
                add("it has no reason: it ends with `because …`, and silences nothing without".to_owned());
                continue;
            }
            for (kind, _) in allow.kinds.iter().filter(|(_, used)| !used) {
                add(format!("nothing here is a {}: it silences nothing", kind.slug()));
            }
        }
        hits
    }
}

fn is_comment(node: Node<'_>) -> bool {
    node.is_named() && matches!(node.kind(), "comment" | "line_comment" | "block_comment")
}

/// Whether a comment was meant to allow something: other letters or spaces, or behind something else, with a kind after it.
fn nearly(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let after = lower.match_indices("hostproof").find_map(|(at, name)| {
        let rest = lower[at + name.len()..].trim_start().strip_prefix([':', '-', ' '])?.trim_start();
        rest.strip_prefix("allow")
    });
    after.is_some_and(|after| {
        let word = after.trim_start_matches([' ', '\t', ':', '=', '(', '[']).split([' ', '\t', ',', ')', ']']).next();
        word.and_then(LintKind::from_slug).is_some()
    })
}

fn parse(comment: &str, bytes: std::ops::Range<usize>) -> Option<Allow> {
    let text = comment.trim_start_matches(['#', '/', '*', '!', ' ', '\t']).trim_end_matches(['*', '/', ' ']);
    let Some(rest) = text.strip_prefix(WORDS) else { return nearly(text).then(|| Allow::misspelt(bytes)) };
    if rest.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let is_end = |text: &str| text.chars().next().is_none_or(|c| c.is_whitespace() || c == ':');
    let (kinds, because) = match rest.split_once("because") {
        Some((kinds, because)) if is_end(because) => {
            (kinds, Some(because.trim_matches([' ', '\t', ':'])).filter(|because| !because.is_empty()))
        }
        Some((kinds, _)) => (kinds, None),
        None => (rest, None),
    };
    let mut allow = Allow {
        bytes,
        lines: Vec::new(),
        kinds: Vec::new(),
        unknown: Vec::new(),
        because: because.map(str::to_owned),
        is_misspelt: false,
    };
    let mut words = kinds.split([',', ' ', '\t']).filter(|word| !word.is_empty()).peekable();
    if words.peek().is_none() {
        allow.unknown.push(String::new());
    }
    for word in words {
        match LintKind::from_slug(word) {
            // Who allows it would never hear of it.
            Some(kind) if kind != LintKind::IdleAllow => allow.kinds.push((kind, false)),
            _ => allow.unknown.push(word.to_owned()),
        }
    }
    Some(allow)
}
