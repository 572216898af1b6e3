//! What every reader is, and what it hands over.

use super::Line;
use crate::model::{ReaderName, Reading, Stream};

/// One sub-runner's form of output.
pub trait Reader {
    /// Takes one line, in the order in which its stream had it. All of stdout comes before all of stderr.
    fn line(&mut self, line: &Line<'_>);

    /// What the lines said; `None` if the output is not in this reader's form.
    fn finish(self: Box<Self>) -> Option<Recognised>;
}

/// How surely a reader knows that the output is its own, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Strength {
    /// A form that other programs print, too (a line of dots).
    Loose,
    /// Lines of single cases, without the tally that ends a complete run.
    Lines,
    /// The sub-runner's own tally.
    Tally,
}

/// The lines that a reader took for its own, from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    pub stream: Stream,
    pub first: u64,
    pub last: u64,
}

impl Span {
    /// That line alone.
    pub fn of(line: &Line<'_>) -> Self {
        Self { stream: line.stream, first: line.number, last: line.number }
    }

    /// Whether neither has a line among those of the other.
    pub fn is_apart(self, other: Self) -> bool {
        self.stream != other.stream || self.last < other.first || other.last < self.first
    }

    /// Whether its lines lie among those of the other.
    pub fn is_within(self, outer: Self) -> bool {
        self.stream == outer.stream && outer.first <= self.first && self.last <= outer.last
    }

    /// With that line, too. What a reader found on stdout before it found more on stderr is forgotten.
    pub fn with(span: Option<Self>, line: Self) -> Self {
        match span {
            Some(span) if span.stream == line.stream => Self { last: line.last, ..span },
            _ => line,
        }
    }
}

/// A reading, and how surely it is one.
#[derive(Debug)]
pub struct Recognised {
    pub reader: ReaderName,
    pub strength: Strength,
    /// Where in the output its lines are.
    pub span: Option<Span>,
    pub reading: Reading,
}
