//! A manifest as a tree of values, each with its place.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// A range of bytes in the text of a file.
pub type Span = Range<usize>;

/// Names a value of a document, whatever is removed from the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NodeId(pub u32);

/// One value.
#[derive(Debug)]
pub struct Node {
    pub id: NodeId,
    /// Of a block list or map: from its first to its last entry.
    pub span: Span,
    pub value: Value,
}

/// What a value is. Scalars whose type comes from how they are written keep that.
#[derive(Debug)]
pub enum Value {
    Null(String),
    Bool(bool, String),
    Int(i64, String),
    Float(f64, String),
    String(String),
    Seq(Vec<Node>),
    Map(Vec<Entry>),
}

/// One entry of a map. No other of that map has its key.
#[derive(Debug)]
pub struct Entry {
    pub key: String,
    pub key_span: Span,
    pub value: Node,
}

/// What a list or map had that was refused.
#[derive(Debug, Default)]
struct Lost {
    keys: BTreeSet<String>,
    /// A merge key, an alias or an item that could have been anything.
    anything: bool,
}

/// The one document of a file.
#[derive(Debug)]
pub struct Document {
    pub root: Node,
    /// By the numbers of the nodes.
    spans: Vec<Span>,
    lost: LostEntries,
}

/// What was refused, by the node that had it.
#[derive(Debug, Default)]
pub struct LostEntries(HashMap<NodeId, Lost>);

impl LostEntries {
    pub fn key(&mut self, map: NodeId, key: &str) {
        self.0.entry(map).or_default().keys.insert(key.to_owned());
    }

    pub fn anything(&mut self, node: NodeId) {
        self.0.entry(node).or_default().anything = true;
    }
}

impl Document {
    pub fn new(root: Node, spans: Vec<Span>, lost: LostEntries) -> Self {
        Self { root, spans, lost }
    }

    /// The place of a node, also of one that is no longer in the tree.
    pub fn span(&self, id: NodeId) -> Span {
        self.spans.get(id.0 as usize).cloned().unwrap_or(0..0)
    }

    /// Whether that map may have had that key before something was refused.
    pub fn may_have_had(&self, map: NodeId, key: &str) -> bool {
        self.lost.0.get(&map).is_some_and(|lost| lost.anything || lost.keys.contains(key))
    }

    /// Whether something of that list or map was refused.
    pub fn has_lost(&self, node: NodeId) -> bool {
        self.lost.0.contains_key(&node)
    }

    /// Takes a node out of the tree, with its key, which may have been `meant` to be another. False for the root, which
    /// can't be.
    pub fn remove(&mut self, id: NodeId, meant: Option<&str>) -> bool {
        remove(&mut self.root, id, meant, &mut self.lost)
    }
}

/// As deep as the tree, which [`super::limits::MAX_DEPTH`] bounds.
fn remove(within: &mut Node, id: NodeId, meant: Option<&str>, lost: &mut LostEntries) -> bool {
    match &mut within.value {
        Value::Seq(items) => {
            if let Some(index) = items.iter().position(|item| item.id == id) {
                items.remove(index);
                lost.anything(within.id);
                return true;
            }
            items.iter_mut().any(|item| remove(item, id, meant, lost))
        }
        Value::Map(entries) => {
            if let Some(index) = entries.iter().position(|entry| entry.value.id == id) {
                let entry = entries.remove(index);
                lost.key(within.id, &entry.key);
                if let Some(meant) = meant {
                    lost.key(within.id, meant);
                }
                return true;
            }
            entries.iter_mut().any(|entry| remove(&mut entry.value, id, meant, lost))
        }
        _ => false,
    }
}
