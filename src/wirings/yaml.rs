//! YAML, of the kinds that hook managers read: aliases and merge keys are followed, as far as they stay small.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle};

use super::limits::{MAX_DEPTH, MAX_VALUES};
use super::tree::{Document, Key, Malformed, Node, Twice, Value, insert};

/// Reads the first document of a text.
pub fn parse(text: &str) -> Result<Document, Malformed> {
    let options = granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    };
    let mut builder =
        Builder { open: Vec::new(), root: None, anchors: HashMap::new(), twice: Vec::new(), left: MAX_VALUES };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| {
            Malformed::at(
                u64::try_from(error.marker().line()).unwrap_or(u64::MAX),
                format!("it is no YAML: {}", error.info()),
            )
        })?;
        let line = u64::try_from(span.start.line()).unwrap_or(u64::MAX);
        builder.take(event, line)?;
        if builder.root.is_some() {
            break;
        }
    }
    let root = builder.root.ok_or_else(|| Malformed { line: None, message: "it is empty".to_owned() })?;
    Ok(Document { root, twice: builder.twice })
}

/// A list or map whose end was not yet seen.
struct Open {
    line: u64,
    anchor: usize,
    inner: Inner,
}

enum Inner {
    List(Vec<Node>),
    Map(Vec<(Key, Node)>, Option<Key>),
}

struct Builder {
    open: Vec<Open>,
    root: Option<Node>,
    anchors: HashMap<usize, Node>,
    twice: Vec<Twice>,
    left: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, line: u64) -> Result<(), Malformed> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let value = if style == ScalarStyle::Plain { plain(&text) } else { Value::Text(text.into_owned()) };
                self.put(Node { line, value }, anchor, 1)
            }
            Event::SequenceStart(_, anchor, _) => self.start(line, anchor, Inner::List(Vec::new())),
            Event::MappingStart(_, anchor, _) => self.start(line, anchor, Inner::Map(Vec::new(), None)),
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(Open { line, anchor, inner }) = self.open.pop() else { return Ok(()) };
                let value = match inner {
                    Inner::List(items) => Value::List(items),
                    Inner::Map(entries, _) => Value::Map(merged(entries)),
                };
                self.put(Node { line, value }, anchor, 1)
            }
            Event::Alias(anchor) => {
                let node = self.anchors.get(&anchor).cloned();
                let node =
                    node.ok_or_else(|| Malformed::at(line, "an alias stands for what it is itself a part of"))?;
                let mut size = 0;
                node.walk(&mut |_| size += 1);
                if self.open.len() + depth(&node) > MAX_DEPTH {
                    return Err(Malformed::too_deep(line));
                }
                self.put(node, 0, size)
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, line: u64, anchor: usize, inner: Inner) -> Result<(), Malformed> {
        if self.open.len() >= MAX_DEPTH {
            return Err(Malformed::too_deep(line));
        }
        self.open.push(Open { line, anchor, inner });
        Ok(())
    }

    fn put(&mut self, node: Node, anchor: usize, size: usize) -> Result<(), Malformed> {
        self.left = self.left.checked_sub(size).ok_or_else(Malformed::too_many)?;
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.open.last_mut().map(|open| &mut open.inner) {
            None => self.root = Some(node),
            Some(Inner::List(items)) => items.push(node),
            Some(Inner::Map(_, key @ None)) => *key = Some(Key { line: node.line, name: name(node.value) }),
            Some(Inner::Map(entries, key)) => {
                if let Some(key) = key.take() {
                    insert(entries, &mut self.twice, key, node);
                }
            }
        }
        Ok(())
    }
}

fn depth(node: &Node) -> usize {
    match &node.value {
        Value::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(entries) => 1 + entries.iter().map(|(_, node)| depth(node)).max().unwrap_or(0),
        _ => 0,
    }
}

/// A key as text; none that anything here looks for is a list or a map.
fn name(value: Value) -> String {
    match value {
        Value::Text(text) | Value::Number(text) => text,
        Value::Bool(value) => value.to_string(),
        Value::Null | Value::List(_) | Value::Map(_) => String::new(),
    }
}

/// With what merge keys bring, which never replaces what is there.
fn merged(mut entries: Vec<(Key, Node)>) -> Vec<(Key, Node)> {
    let Some(at) = entries.iter().position(|(key, _)| key.name == "<<") else { return entries };
    let (_, from) = entries.remove(at);
    let maps = if let Value::List(maps) = from.value { maps } else { vec![from] };
    for map in maps {
        let Value::Map(more) = map.value else { continue };
        for (key, node) in more {
            if !entries.iter().any(|(known, _)| known.name == key.name) {
                entries.push((key, node));
            }
        }
    }
    entries
}

fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true),
        "false" | "False" | "FALSE" => Value::Bool(false),
        _ if text.parse::<f64>().is_ok()
            && !text.contains(|c: char| c.is_ascii_alphabetic() && c != 'e' && c != 'E') =>
        {
            Value::Number(text.to_owned())
        }
        _ => Value::Text(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_lines() {
        let document = parse("# c\nhooks:\n  - run: 'a b'\n  - run: |\n      c\n").unwrap();
        let hooks = document.root.get("hooks").unwrap().list().unwrap();
        assert_eq!((hooks[0].line, hooks[0].get("run").unwrap().text()), (3, Some("a b")));
        assert_eq!(hooks[1].get("run").unwrap().text(), Some("c\n"));
    }

    #[test]
    fn aliases_and_merge_keys_are_followed() {
        let document = parse("a: &a {run: x, n: 1}\nb:\n  <<: *a\n  run: y\nc: *a\n").unwrap();
        let run = |key: &str| document.root.get(key).unwrap().get("run").unwrap().text().unwrap().to_owned();
        assert_eq!((run("b"), run("c")), ("y".to_owned(), "x".to_owned()));
        assert!(document.root.get("b").unwrap().get("n").is_some());
    }

    #[test]
    fn what_grows_too_large_is_refused() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let uses = vec![format!("*a{}", level - 1); 10].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{uses}]\n"));
        }
        assert!(parse(&bomb).is_err());
        assert!(parse(&"[".repeat(10_000)).is_err());
        assert!(parse("a: &a [*a]").is_err());
        assert!(parse("a: 1\nb: [\n").unwrap_err().line.is_some());
        assert!(parse("").is_err());
        assert_eq!(parse("a: 1\na: 2\n").unwrap().twice.len(), 1);
    }
}
