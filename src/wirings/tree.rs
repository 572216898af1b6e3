//! A settings file as a tree of values, each with its line, whatever language it is written in.

use super::limits::MAX_VALUES;

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// From 1.
    pub line: u64,
    pub value: Value,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    /// As it is written.
    Number(String),
    Text(String),
    List(Vec<Node>),
    /// In the order of the file. A key that is there twice is here once, with the value that counts.
    Map(Vec<(Key, Node)>),
}

/// A key of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub name: String,
    /// From 1.
    pub line: u64,
}

/// A key that is there more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twice {
    pub key: String,
    /// The one that a reader of that language takes.
    pub taken: u64,
    /// The one that it passes over.
    pub lost: u64,
}

/// A whole file.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    pub root: Node,
    pub twice: Vec<Twice>,
}

/// Why a text is no such file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed {
    pub line: Option<u64>,
    pub message: String,
}

impl Malformed {
    pub fn at(line: u64, message: impl Into<String>) -> Self {
        Self { line: Some(line), message: message.into() }
    }

    pub fn too_deep(line: u64) -> Self {
        Self::at(line, format!("lists and maps are nested more than {} deep", super::limits::MAX_DEPTH))
    }

    pub fn too_many() -> Self {
        Self { line: None, message: format!("it has more than {MAX_VALUES} values") }
    }
}

impl Node {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.map()?.iter().find(|(name, _)| name.name == key).map(|(_, node)| node)
    }

    pub fn map(&self) -> Option<&[(Key, Self)]> {
        if let Value::Map(entries) = &self.value { Some(entries) } else { None }
    }

    pub fn list(&self) -> Option<&[Self]> {
        if let Value::List(items) = &self.value { Some(items) } else { None }
    }

    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// The keys of a map that are among these, with their values in one form; `None` if there are none. What is `false` is
    /// as if it were not there.
    pub fn said(&self, keys: &[&str]) -> Option<String> {
        let said = keys.iter().filter_map(|key| Some((key, self.get(key)?)));
        let all: Vec<String> = said
            .filter(|(_, node)| !matches!(node.value, Value::Null | Value::Bool(false)))
            .map(|(key, node)| format!("{key}: {}", node.in_one_line()))
            .collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    fn in_one_line(&self) -> String {
        match &self.value {
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(text) | Value::Text(text) => text.clone(),
            Value::List(items) => format!("[{}]", items.iter().map(Self::in_one_line).collect::<Vec<_>>().join(", ")),
            Value::Map(entries) => {
                let entries = entries.iter().map(|(key, node)| format!("{}: {}", key.name, node.in_one_line()));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// What it is, for people.
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "null",
            Value::Bool(_) => "true or false",
            Value::Number(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }

    /// This node and all below it, each list and map before what is in it.
    pub fn walk<'n>(&'n self, each: &mut impl FnMut(&'n Self)) {
        each(self);
        match &self.value {
            Value::List(items) => items.iter().for_each(|item| item.walk(each)),
            Value::Map(entries) => entries.iter().for_each(|(_, node)| node.walk(each)),
            _ => {}
        }
    }
}

/// Adds an entry to a map. The later of two with one key counts, as it does for the readers of JSON that hosts use.
pub fn insert(entries: &mut Vec<(Key, Node)>, twice: &mut Vec<Twice>, key: Key, node: Node) {
    if let Some(earlier) = entries.iter_mut().find(|(name, _)| name.name == key.name) {
        twice.push(Twice { key: key.name.clone(), taken: key.line, lost: earlier.0.line });
        *earlier = (key, node);
    } else {
        entries.push((key, node));
    }
}

/// From offsets in a text to lines.
pub struct Lines(Vec<usize>);

impl Lines {
    pub fn new(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// The line of an offset, from 1.
    pub fn line(&self, offset: usize) -> u64 {
        self.0.partition_point(|end| *end < offset) as u64 + 1
    }
}
