//! What a rule is: one kind of trap, how it is found, and all that is said of it.

use std::ops::Range;

use super::language::Language;
use super::needs::Need;
use super::source::Source;
use super::syntax::Node;
use crate::model::{LintKind, Severity, TrapHost};

/// A kind of trap. Documents, `explain` and findings say what stands here, and nothing else.
#[derive(Debug)]
pub struct Rule {
    pub kind: LintKind,
    pub severity: Severity,
    /// What it finds: a sentence.
    pub finds: &'static str,
    /// Why a host cares.
    pub why: &'static str,
    /// Where it does not work.
    pub hosts: &'static [TrapHost],
    /// What a source must have for it to find anything; of one that meets none of these it is not asked, and a source that
    /// no rule is asked about is not parsed. Whoever widens what a rule finds widens this, too: a test tells where a rule
    /// finds something that its needs rule out.
    pub needs: &'static [Need],
    /// What to do about it.
    pub mend: &'static str,
    /// Sources in which it finds something, each once.
    pub bad: &'static [Example],
    /// Sources in which it finds nothing.
    pub good: &'static [Example],
    /// What it found in projects of others, and whether it was right.
    pub seen: Seen,
    pub find: fn(&Source<'_>, &mut Vec<Hit>),
}

/// A source that shows a rule.
pub type Example = (Language, &'static str);

/// Findings in projects of others that people looked at, one by one.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// How many there were.
    pub found: u32,
    /// Of those that were looked at: what it says is so.
    pub right: u32,
    /// What it says is not so, or does no harm there.
    pub wrong: u32,
    /// What the wrong ones were, and what else is to be known.
    pub remark: &'static str,
}

/// A place where a rule found something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Bytes of the source.
    pub bytes: Range<usize>,
    pub message: String,
}

impl Hit {
    /// At a node.
    #[must_use]
    pub fn at(node: Node<'_>, message: impl Into<String>) -> Self {
        Self { bytes: node.bytes(), message: message.into() }
    }
}
