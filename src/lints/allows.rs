//! Comments that allow a finding: `hostproof: allow KIND because …`, on its line or on the one before.

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
}

/// The comments of a source that allow something.
#[derive(Debug, Default)]
pub struct Allows {
    allows: Vec<Allow>,
}

impl Allows {
    /// Of a source; `line_of` tells the line of a byte, from 0.
    #[must_use]
    pub fn of(syntax: &Syntax<'_>, line_of: &dyn Fn(usize) -> usize) -> Self {
        let comments: Vec<Node<'_>> = syntax.nodes().filter(|node| is_comment(*node)).collect();
        let alone = |node: Node<'_>| {
            let start = node.bytes().start;
            let before = syntax.text().get(..start).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
            before.trim_start_matches('\u{feff}').trim().is_empty()
        };
        let alone: Vec<usize> =
            comments.iter().filter(|node| alone(**node)).map(|node| line_of(node.bytes().start)).collect();
        let mut allows = Vec::new();
        for comment in &comments {
            let Some(mut allow) = parse(comment.text(), comment.bytes()) else { continue };
            let line = line_of(comment.bytes().start);
            allow.lines.push(line);
            if alone.binary_search(&line).is_ok() {
                let next = (line + 1..=line + 1 + alone.len()).find(|next| alone.binary_search(next).is_err());
                allow.lines.extend(next);
                // Nothing can stand before a first line.
                if line == 1 {
                    allow.lines.push(0);
                }
            }
            allows.push(allow);
        }
        Self { allows }
    }

    /// The reason for which a finding of a kind in a line is allowed.
    pub fn reason(&mut self, kind: LintKind, line: usize) -> Option<String> {
        let allow = self.allows.iter_mut().find(|allow| {
            allow.because.is_some()
                && allow.lines.contains(&line)
                && allow.kinds.iter().any(|(known, _)| *known == kind)
        })?;
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
            for unknown in &allow.unknown {
                let near =
                    LintKind::ALL.into_iter().min_by_key(|kind| strsim::damerau_levenshtein(kind.slug(), unknown));
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

fn parse(comment: &str, bytes: std::ops::Range<usize>) -> Option<Allow> {
    let text = comment.trim_start_matches(['#', '/', '*', '!', ' ', '\t']).trim_end_matches(['*', '/', ' ']);
    let rest = text.strip_prefix(WORDS)?;
    if rest.starts_with(|c: char| c.is_alphanumeric()) {
        return None;
    }
    let (kinds, because) = match rest.split_once("because") {
        Some((kinds, because)) => (kinds, Some(because.trim()).filter(|because| !because.is_empty())),
        None => (rest, None),
    };
    let mut allow =
        Allow { bytes, lines: Vec::new(), kinds: Vec::new(), unknown: Vec::new(), because: because.map(str::to_owned) };
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
