//! From text to a tree, with a list for a stack: how deep the text nests is no matter of ours until it is refused.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle, Tag};

use super::limits::{MAX_DEPTH, MAX_NODES};
use super::lines::Lines;
use super::node::{Document, Entry, LostEntries, Node, NodeId, Span, Value};
use super::problem::{Also, Problem, Problems};
use super::{scalar, syntax};

/// How many uses of an anchor are shown with it.
const SHOWN_ALIASES: usize = 3;

/// The tree of a text. `None` if it has none worth reading further; there is a problem then.
pub fn parse(text: &str, problems: &mut Problems) -> Option<Document> {
    let options = granit_parser::options! {
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut builder = Builder {
        text,
        lines: Lines::new(text),
        problems,
        spans: Vec::new(),
        lost: LostEntries::default(),
        stack: Vec::new(),
        root: None,
        anchors: HashMap::new(),
    };
    for event in Parser::new_from_str_with_options(text, options) {
        let taken = match event {
            Ok((event, span)) => builder.take(event, &span),
            Err(error) => Err(syntax::problem(&error, text)),
        };
        if let Err(problem) = taken {
            builder.problems.push(problem);
            return None;
        }
    }
    let Builder { spans, lost, root, .. } = builder;
    match root {
        Some(root) if !matches!(root.value, Value::Null(_)) => Some(Document::new(root, spans, lost)),
        _ => {
            if problems.is_empty() {
                problems.push(empty());
            }
            None
        }
    }
}

fn empty() -> Problem {
    Problem::of_file("this manifest is empty").help(
        "the least that one has: `version: 1`, and `checks:` with a list of checks, each with an `id` and a `run`",
    )
}

/// A list or map whose end was not yet seen.
struct Open {
    id: NodeId,
    start: usize,
    style: StructureStyle,
    inner: Inner,
}

enum Inner {
    Seq(Vec<Node>),
    Map { entries: Vec<Entry>, seen: HashMap<String, Span>, key: Option<Key> },
}

/// A key whose value was not yet seen.
enum Key {
    Kept {
        name: String,
        span: Span,
    },
    /// It was refused, and so is its value.
    Refused {
        merge: bool,
        /// Whether it could have been any key.
        any: bool,
    },
}

struct Builder<'t, 'p> {
    text: &'t str,
    lines: Lines<'t>,
    problems: &'p mut Problems,
    spans: Vec<Span>,
    lost: LostEntries,
    stack: Vec<Open>,
    root: Option<Node>,
    /// Where the problem of an anchor is.
    anchors: HashMap<usize, usize>,
}

impl Builder<'_, '_> {
    /// An error ends the parsing; any other problem is only noted.
    fn take(&mut self, event: Event<'_>, at: &granit_parser::Span) -> Result<(), Problem> {
        let span = at.byte_range().unwrap_or(0..0);
        match event {
            Event::DocumentStart(..) if self.root.is_some() => {
                return Err(Problem::at(span, "a manifest is one document; here a second one begins")
                    .help("put it into a file of its own"));
            }
            Event::Scalar(value, style, _, tag) => {
                let tagged = self.refuse_tag(tag.as_deref(), at);
                let node = self.scalar(&value, style, span)?;
                self.put((!tagged).then_some(node));
            }
            Event::SequenceStart(style, _, tag) => {
                self.refuse_tag(tag.as_deref(), at);
                self.open(style, span, Inner::Seq(Vec::new()))?;
            }
            Event::MappingStart(style, _, tag) => {
                self.refuse_tag(tag.as_deref(), at);
                self.open(style, span, Inner::Map { entries: Vec::new(), seen: HashMap::new(), key: None })?;
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(&span),
            Event::Anchor(id, name) => self.refuse_anchor(id, &name, span),
            Event::Alias(id) => self.refuse_alias(id, span),
            Event::UnresolvedAlias(name) => {
                if !self.at_merge_key() {
                    self.problems.push(
                        Problem::at(
                            span,
                            format!("the alias `*{name}` stands for nothing, and manifests have no aliases"),
                        )
                        .help(format!("write the value out; if it is a text, put it into quotes: \"*{name}\"")),
                    );
                }
                self.put(None);
            }
            _ => {}
        }
        Ok(())
    }

    fn id(&mut self, span: Span) -> Result<NodeId, Problem> {
        if self.spans.len() >= MAX_NODES {
            return Err(Problem::at(span, format!("this manifest has more than {MAX_NODES} values"))
                .help("split it into several files"));
        }
        self.spans.push(span);
        // The limit fits, so this never saturates.
        Ok(NodeId(u32::try_from(self.spans.len() - 1).unwrap_or(u32::MAX)))
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, span: Span) -> Result<Node, Problem> {
        if text.contains('\0') {
            self.problems.push(
                Problem::at(span.clone(), "a text with a NUL character in it")
                    .help("no program can be given one; remove the `\\0`"),
            );
        }
        let value = if style == ScalarStyle::Plain { scalar::resolve(text) } else { Value::String(text.to_owned()) };
        Ok(Node { id: self.id(span.clone())?, span, value })
    }

    fn open(&mut self, style: StructureStyle, span: Span, inner: Inner) -> Result<(), Problem> {
        if self.stack.len() >= MAX_DEPTH {
            return Err(syntax::too_deep(span));
        }
        let start = span.start;
        let id = self.id(span)?;
        self.stack.push(Open { id, start, style, inner });
        Ok(())
    }

    fn close(&mut self, end: &Span) {
        let Some(Open { id, start, style, inner }) = self.stack.pop() else { return };
        let (value, last) = match inner {
            Inner::Seq(items) => {
                let last = items.last().map(|item| item.span.end);
                (Value::Seq(items), last)
            }
            Inner::Map { entries, .. } => {
                let last = entries.last().map(|entry| entry.value.span.end);
                (Value::Map(entries), last)
            }
        };
        // The end of a block is only seen at what comes after it.
        let end = if style == StructureStyle::Flow { end.end } else { last.unwrap_or(start + 1) };
        let span = start..end.max(start);
        self.spans[id.0 as usize] = span.clone();
        self.put(Some(Node { id, span, value }));
    }

    /// Puts a value where it belongs; `None` stands for one that was refused.
    fn put(&mut self, node: Option<Node>) {
        let Some(open) = self.stack.last_mut() else {
            self.root = node;
            return;
        };
        match &mut open.inner {
            Inner::Seq(items) => match node {
                Some(node) => items.push(node),
                None => self.lost.anything(open.id),
            },
            Inner::Map { key: key @ None, seen, .. } => {
                let (new, problem) = new_key(node, seen, self.text, &self.lines);
                if matches!(new, Key::Refused { any: true, .. }) {
                    self.lost.anything(open.id);
                }
                *key = Some(new);
                if let Some(problem) = problem {
                    self.problems.push(problem);
                }
            }
            Inner::Map { key, entries, .. } => match (key.take(), node) {
                (Some(Key::Kept { name, span }), Some(mut value)) => {
                    if value.span.is_empty() {
                        // An absent value lies anywhere up to the next entry; its key is where one looks.
                        value.span = span.clone();
                        self.spans[value.id.0 as usize] = span.clone();
                    }
                    entries.push(Entry { key: name, key_span: span, value });
                }
                (Some(Key::Kept { name, .. }), None) => self.lost.key(open.id, &name),
                _ => {}
            },
        }
    }

    fn refuse_tag(&mut self, tag: Option<&Tag>, at: &granit_parser::Span) -> bool {
        let Some(tag) = tag else { return false };
        let span = at.tag_span().and_then(|span| span.byte_range()).or_else(|| at.byte_range()).unwrap_or(0..0);
        self.problems.push(
            Problem::at(span, format!("manifests have no tags such as `{}`", tag.original()))
                .help("remove it; put a value into quotes to make it a text"),
        );
        true
    }

    fn refuse_anchor(&mut self, id: usize, name: &str, span: Span) {
        let problem = Problem::at(span, format!("manifests have no anchors such as `&{name}`, and no aliases"))
            .help("write the value out wherever it is needed; what all checks of a file share belongs into `defaults`")
            .help(format!("if it is a text, put it into quotes: \"&{name}\""));
        if let Some(index) = self.problems.push(problem) {
            self.anchors.insert(id, index);
        }
    }

    /// Whether what comes next is the value of a merge key, of which all is said.
    fn at_merge_key(&self) -> bool {
        matches!(
            self.stack.last(),
            Some(Open { inner: Inner::Map { key: Some(Key::Refused { merge: true, .. }), .. }, .. })
        )
    }

    fn refuse_alias(&mut self, id: usize, span: Span) {
        let of_merge_key = self.at_merge_key();
        let anchor = self.anchors.get(&id).and_then(|index| self.problems.get_mut(*index));
        if let Some(anchor) = anchor.filter(|anchor| !of_merge_key && anchor.also.len() < SHOWN_ALIASES) {
            anchor.also.push(Also { file: None, span, label: "used here".to_owned() });
        }
        self.put(None);
    }
}

fn new_key(
    node: Option<Node>,
    seen: &mut HashMap<String, Span>,
    text: &str,
    lines: &Lines<'_>,
) -> (Key, Option<Problem>) {
    let refused = Key::Refused { merge: false, any: true };
    let Some(node) = node else { return (refused, None) };
    let span = node.span;
    let name = match node.value {
        Value::Seq(_) | Value::Map(_) => {
            let problem =
                Problem::at(span, "a list or a map as a key").help("keys are texts; put it into quotes if it is one");
            return (refused, Some(problem));
        }
        Value::Null(name)
        | Value::Bool(_, name)
        | Value::Int(_, name)
        | Value::Float(_, name)
        | Value::String(name) => name,
    };
    if span.is_empty() {
        return (refused, Some(Problem::at(span, "a value without a key").help("write a key before the `:`")));
    }
    // By the source, since in quotes it is a name like any other.
    if text.get(span.clone()) == Some("<<") {
        let problem = Problem::at(span, "manifests have no merge keys (`<<`)")
            .label("nothing is merged here")
            .help("write the keys out here; what all checks of a file share belongs into `defaults`");
        return (Key::Refused { merge: true, any: true }, Some(problem));
    }
    if let Some(first) = seen.get(&name) {
        let (line, column) = lines.position(first.start);
        let problem =
            Problem::at(span, format!("the key `{name}` is here twice, first at line {line}, column {column}"))
                .label("again")
                .also(first.clone(), "first")
                .help("remove one of them: only one could count");
        return (Key::Refused { merge: false, any: false }, Some(problem));
    }
    seen.insert(name.clone(), span.clone());
    (Key::Kept { name, span }, None)
}
