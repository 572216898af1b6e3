//! What is wrong with a manifest, and where.

use super::limits::MAX_PROBLEMS;
use super::node::Span;

/// A second place that a problem is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Also {
    /// Index of the file; `None` for the one of the problem.
    pub file: Option<usize>,
    pub span: Span,
    pub label: String,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// `None` for the file as a whole.
    pub span: Option<Span>,
    pub message: String,
    /// Said at the place itself, in a few words.
    pub label: Option<String>,
    pub also: Vec<Also>,
    /// What to do about it, a line each.
    pub help: Vec<String>,
}

impl Problem {
    /// At a place.
    pub fn at(span: Span, message: impl Into<String>) -> Self {
        Self { span: Some(span), message: message.into(), label: None, also: Vec::new(), help: Vec::new() }
    }

    /// About the file as a whole.
    pub fn of_file(message: impl Into<String>) -> Self {
        Self { span: None, message: message.into(), label: None, also: Vec::new(), help: Vec::new() }
    }

    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    pub fn also(mut self, span: Span, label: impl Into<String>) -> Self {
        self.also.push(Also { file: None, span, label: label.into() });
        self
    }
}

/// The problems of one file, each once, up to the limit.
#[derive(Debug, Default)]
pub struct Problems {
    list: Vec<Problem>,
    cut: bool,
}

impl Problems {
    /// Adds one, unless the same is there already. Gives its index.
    pub fn push(&mut self, problem: Problem) -> Option<usize> {
        if let Some(index) = self.list.iter().position(|known| *known == problem) {
            return Some(index);
        }
        if self.is_full() {
            self.cut = true;
            return None;
        }
        self.list.push(problem);
        Some(self.list.len() - 1)
    }

    pub fn get_mut(&mut self, index: usize) -> Option<&mut Problem> {
        self.list.get_mut(index)
    }

    pub fn is_full(&self) -> bool {
        self.list.len() >= MAX_PROBLEMS
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there were more than the limit.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// In the order of their places; those of the whole file first.
    pub fn sorted(&self) -> Vec<&Problem> {
        let mut sorted: Vec<_> = self.list.iter().collect();
        sorted.sort_by_key(|problem| problem.span.as_ref().map(|span| span.start));
        sorted
    }
}
