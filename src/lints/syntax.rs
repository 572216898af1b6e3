//! A source as a tree that knows its parents: flat, in the order of the text, so that no walk recurses, however deep the
//! source nests.

use std::cell::Cell;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, ParseState, Parser};

use super::language::Language;

/// How long the parser may take for one file. A megabyte takes a tenth of it.
const LIMIT: Duration = Duration::from_secs(5);
/// The most nodes of one file; a megabyte of brackets has as many.
const MOST_NODES: usize = 4_000_000;
/// How many steps from node to node rules may take in one file: some seconds. Steps, not time, so that the same file has the
/// same answer on every machine.
const MOST_STEPS: usize = 200_000_000;

/// A parsed source.
#[derive(Debug)]
pub struct Syntax<'t> {
    text: &'t str,
    grammar: &'static Grammar,
    items: Vec<Item>,
    /// The steps that walks took, and may take.
    steps: Cell<usize>,
    most_steps: Cell<usize>,
}

/// What is known of a node. A large source has millions: names are numbers of the grammar's.
#[derive(Debug, Clone, Copy)]
struct Item {
    kind: u16,
    /// Zero is none.
    field: u16,
    named: bool,
    missing: bool,
    parent: u32,
    /// The first item that is no longer in it.
    end: u32,
    start_byte: u32,
    end_byte: u32,
}

/// The kind of what the parser did not understand, in every grammar.
const ERROR: u16 = u16::MAX;

/// A grammar, and what its numbers stand for.
struct Grammar {
    language: tree_sitter::Language,
    kinds: Vec<&'static str>,
    fields: Vec<Option<&'static str>>,
}

impl Grammar {
    fn of(language: Language) -> &'static Self {
        static ALL: [OnceLock<Grammar>; Language::COUNT] = [const { OnceLock::new() }; Language::COUNT];
        ALL[language as usize].get_or_init(|| {
            let language = language.grammar();
            let numbers = |count: usize| 0..=u16::try_from(count).unwrap_or(u16::MAX);
            let kinds = numbers(language.node_kind_count());
            let kinds = kinds.map(|kind| language.node_kind_for_id(kind).unwrap_or_default()).collect();
            let fields = numbers(language.field_count()).map(|field| language.field_name_for_id(field)).collect();
            Self { language, kinds, fields }
        })
    }
}

impl std::fmt::Debug for Grammar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.language.fmt(f)
    }
}

/// Why a source could not be parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unparsed {
    TooLong,
    TooMany,
    Refused,
}

impl Unparsed {
    /// As a sentence.
    #[must_use]
    pub fn message(self) -> String {
        match self {
            Self::TooLong => format!("its syntax was not understood within {} s", LIMIT.as_secs()),
            Self::TooMany => format!("its syntax has more than {MOST_NODES} parts"),
            Self::Refused => "it could not be parsed".to_owned(),
        }
    }
}

impl<'t> Syntax<'t> {
    /// Parses a text.
    ///
    /// # Errors
    ///
    /// If it takes too long, or is too much.
    pub fn parse(language: Language, text: &'t str) -> Result<Self, Unparsed> {
        let grammar = Grammar::of(language);
        let mut parser = Parser::new();
        parser.set_language(&grammar.language).map_err(|_| Unparsed::Refused)?;
        let began = Instant::now();
        let mut in_time = |_: &ParseState| {
            if began.elapsed() < LIMIT { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut in_time);
        let bytes = text.as_bytes();
        let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut read, None, Some(options)).ok_or(Unparsed::TooLong)?;

        let mut items: Vec<Item> = Vec::with_capacity(bytes.len() / 4);
        let mut open: Vec<u32> = Vec::new();
        let mut cursor = tree.walk();
        let small = |number: usize| u32::try_from(number).map_err(|_| Unparsed::TooMany);
        loop {
            let node = cursor.node();
            let at = small(items.len())?;
            if items.len() == MOST_NODES {
                return Err(Unparsed::TooMany);
            }
            items.push(Item {
                kind: node.kind_id(),
                field: cursor.field_id().map_or(0, NonZero::get),
                named: node.is_named(),
                missing: node.is_missing(),
                parent: open.last().copied().unwrap_or(at),
                end: at + 1,
                start_byte: small(node.start_byte())?,
                end_byte: small(node.end_byte())?,
            });
            if cursor.goto_first_child() {
                open.push(at);
                continue;
            }
            loop {
                if cursor.goto_next_sibling() {
                    break;
                }
                let Some(parent) = open.pop() else { return Ok(Self::over(text, grammar, items)) };
                items[parent as usize].end = small(items.len())?;
                cursor.goto_parent();
            }
        }
    }

    fn over(text: &'t str, grammar: &'static Grammar, items: Vec<Item>) -> Self {
        Self { text, grammar, items, steps: Cell::new(0), most_steps: Cell::new(MOST_STEPS) }
    }

    /// Counts a step; whether it may be taken.
    fn step(&self) -> bool {
        let steps = self.steps.get();
        let may = steps < self.most_steps.get();
        if may {
            self.steps.set(steps + 1);
        }
        may
    }

    /// Whether walks ended before their end, since there were too many: nothing that they found is to be relied on.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.steps.get() >= self.most_steps.get()
    }

    /// The steps that walks took.
    #[cfg(test)]
    pub fn steps(&self) -> usize {
        self.steps.get()
    }

    /// Allows fewer steps.
    #[cfg(test)]
    pub fn limit_steps(&self, most: usize) {
        self.most_steps.set(most);
    }

    /// The whole.
    #[must_use]
    pub fn root(&self) -> Node<'_> {
        Node { of: self, at: 0 }
    }

    /// Every node, in the order of the text.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.items.len()).take_while(|_| self.step()).map(|at| Node { of: self, at })
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Where the parser first met something that it did not understand: a byte.
    #[must_use]
    pub fn first_error(&self) -> Option<usize> {
        self.items.iter().find(|item| item.kind == ERROR || item.missing).map(|item| item.start_byte as usize)
    }

    /// How many bytes lie in lines that the parser did not understand: those where an error begins, and those that are
    /// wholly in one.
    #[must_use]
    pub fn not_understood(&self) -> usize {
        let (mut bytes, mut done) = (0, 0);
        for item in self.items.iter().filter(|item| item.kind == ERROR) {
            let (start, end) = (item.start_byte as usize, item.end_byte as usize);
            let rest = self.text.as_bytes().get(start..).unwrap_or_default();
            let line_end = start + memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let start = self.text.as_bytes()[..start].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let (start, end) = (start.max(done), end.max(line_end));
            bytes += end.saturating_sub(start);
            done = done.max(end);
        }
        bytes
    }
}

/// A node of a source.
#[derive(Debug, Clone, Copy)]
pub struct Node<'s> {
    of: &'s Syntax<'s>,
    at: usize,
}

impl PartialEq for Node<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl<'s> Node<'s> {
    fn item(self) -> &'s Item {
        &self.of.items[self.at]
    }

    /// Its place among all nodes; later in the text is more.
    #[must_use]
    pub fn index(self) -> usize {
        self.at
    }

    /// The first place that is no longer in it.
    #[must_use]
    pub fn end_index(self) -> usize {
        self.item().end as usize
    }

    /// The grammar's name for it.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self.item().kind {
            ERROR => "ERROR",
            kind => self.of.grammar.kinds.get(usize::from(kind)).copied().unwrap_or_default(),
        }
    }

    /// Whether it is more than punctuation and words of the language's own.
    #[must_use]
    pub fn is_named(self) -> bool {
        self.item().named
    }

    /// What it is to its parent.
    #[must_use]
    pub fn field(self) -> Option<&'static str> {
        self.of.grammar.fields.get(usize::from(self.item().field)).copied().flatten()
    }

    /// Its bytes in the text.
    #[must_use]
    pub fn bytes(self) -> std::ops::Range<usize> {
        self.item().start_byte as usize..self.item().end_byte as usize
    }

    /// Its text.
    #[must_use]
    pub fn text(self) -> &'s str {
        self.of.text.get(self.bytes()).unwrap_or_default()
    }

    /// What it is a part of.
    #[must_use]
    pub fn parent(self) -> Option<Self> {
        (self.at > 0).then(|| Node { of: self.of, at: self.item().parent as usize })
    }

    /// What it is a part of, the nearest first.
    pub fn ancestors(self) -> impl Iterator<Item = Self> {
        std::iter::successors(self.parent(), |node| node.parent()).take_while(|node| node.of.step())
    }

    /// Its parts, punctuation included.
    pub fn children(self) -> impl Iterator<Item = Self> {
        let end = self.end_index();
        let first = Some(self.at + 1).filter(|at| *at < end);
        std::iter::successors(first, move |at| {
            let next = self.of.items[*at].end as usize;
            (next < end).then_some(next)
        })
        .take_while(move |_| self.of.step())
        .map(move |at| Node { of: self.of, at })
    }

    /// Its parts, without punctuation and comments.
    pub fn parts(self) -> impl Iterator<Item = Self> {
        self.children().filter(|node| node.is_named() && node.kind() != "comment")
    }

    /// The part that the grammar names so.
    #[must_use]
    pub fn child(self, field: &str) -> Option<Self> {
        self.children().find(|node| node.field() == Some(field))
    }

    /// Everything in it, in the order of the text, itself first.
    pub fn descendants(self) -> impl Iterator<Item = Self> {
        (self.at..self.end_index()).take_while(move |_| self.of.step()).map(move |at| Node { of: self.of, at })
    }

    /// The statement, function or the like that it lies in: the nearest of these kinds. What lies deeper than people write
    /// lies in none.
    #[must_use]
    pub fn within(self, kinds: &[&str]) -> Option<Self> {
        const DEEPEST: usize = 1000;
        self.ancestors().take(DEEPEST).find(|node| kinds.contains(&node.kind()))
    }

    /// The part that comes after it in its parent, punctuation included.
    #[must_use]
    pub fn next_sibling(self) -> Option<Self> {
        self.parent().and_then(|parent| self.after(parent.end_index()))
    }

    /// The root of its tree.
    #[must_use]
    pub fn root(self) -> Self {
        Node { of: self.of, at: 0 }
    }

    /// The next node in the order of the text that is not in this one, up to an end.
    #[must_use]
    pub fn after(self, end: usize) -> Option<Self> {
        let at = self.end_index();
        (at < end).then_some(Node { of: self.of, at })
    }

    /// The next node in the order of the text, its own first part if it has one, up to an end.
    #[must_use]
    pub fn next(self, end: usize) -> Option<Self> {
        let at = self.at + 1;
        (at < end).then_some(Node { of: self.of, at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_knows_parts_and_parents() {
        let syntax = Syntax::parse(Language::Python, "f(1, g(2))\n").expect("a tree");
        let calls: Vec<_> = syntax.nodes().filter(|node| node.kind() == "call").collect();
        assert_eq!(calls.iter().map(|call| call.text()).collect::<Vec<_>>(), ["f(1, g(2))", "g(2)"]);
        assert_eq!(calls[0].child("function").map(Node::text), Some("f"));
        let arguments = calls[0].child("arguments").expect("arguments");
        assert_eq!(arguments.parts().map(Node::text).collect::<Vec<_>>(), ["1", "g(2)"]);
        assert!(calls[1].ancestors().any(|node| node == calls[0]));
        assert_eq!(syntax.first_error(), None);
    }

    #[test]
    fn whatever_the_source_is_there_is_an_answer() {
        let deep = |open: &str, close: &str| open.repeat(5_000) + &close.repeat(5_000);
        for language in [
            Language::Python,
            Language::Shell,
            Language::JavaScript,
            Language::TypeScript,
            Language::Tsx,
            Language::Rust,
            Language::Go,
        ] {
            for text in [deep("(", ")"), deep("[", ""), deep("{", "}"), deep("f(", ")"), "\0\u{1}€ '\"`".to_owned()] {
                if let Ok(syntax) = Syntax::parse(language, &text) {
                    assert_eq!(syntax.root().end_index(), syntax.nodes().count(), "{language:?}");
                }
            }
        }
        let broken = Syntax::parse(Language::Python, "def f(:\n  )").expect("a tree");
        assert!(broken.first_error().is_some());
        assert!(broken.nodes().any(|node| node.kind() == "ERROR"));
    }
}
