//! What a call in Python says by keywords, those of dictionaries that are taken apart included.

use super::literal::literal;
use super::source::{Call, Source, scope};
use super::syntax::Node;

/// What a call of `Popen` says, keywords from dictionaries included.
#[derive(Debug, Default)]
pub struct Options<'s> {
    pub pairs: Vec<(String, Node<'s>)>,
    /// Whether there are some that can't be told.
    pub untold: bool,
}

impl<'s> Options<'s> {
    /// Of a call.
    #[must_use]
    pub fn of(source: &Source<'s>, call: &Call<'s>) -> Self {
        let mut options = Self::default();
        options.pairs.extend(call.named.iter().map(|(name, value)| ((*name).to_owned(), *value)));
        for spread in call.spread.iter().filter(|spread| spread.kind() == "dictionary_splat") {
            let before = options.pairs.len();
            match spread.parts().next() {
                Some(name) if name.kind() == "identifier" => {
                    options.assigned(source, scope(call.node), name.text());
                    if options.pairs.len() == before {
                        options.assigned(source, source.syntax.root(), name.text());
                    }
                }
                Some(other) => {
                    options.dictionaries(other);
                    // `**how_to_detach()`
                    if let Some(function) = other.child("function")
                        && let Some(definition) = definition(source, function.text())
                    {
                        options.dictionaries(definition);
                    }
                }
                None => {}
            }
            options.untold |= options.pairs.len() == before;
        }
        options
    }

    /// Adds what a name stands for, wherever it is given something in a part of the tree. What is given something more often
    /// than people do is not known.
    fn assigned(&mut self, source: &Source<'s>, part: Node<'s>, name: &str) {
        const MOST: usize = 50;
        let index = source.index("given", part, |node| match node.kind() {
            "assignment" => {
                let left = node.child("left")?;
                Some(if left.kind() == "subscript" { left.child("value")?.text() } else { left.text() })
            }
            "call" => Some(node.child("function")?.child("object")?.text()),
            _ => None,
        });
        let given = index.get(name).map_or(&[][..], Vec::as_slice);
        self.untold |= given.len() > MOST;
        for &node in given.iter().take(MOST) {
            match node.kind() {
                "assignment" => {
                    let (Some(left), Some(right)) = (node.child("left"), node.child("right")) else { continue };
                    if left.text() == name {
                        self.dictionaries(right);
                    } else if left.kind() == "subscript"
                        && left.child("value").is_some_and(|value| value.text() == name)
                        && let Some(key) = left.child("subscript").and_then(literal)
                    {
                        self.pairs.push((key, right));
                    }
                }
                "call" => {
                    let is_update = node.child("function").is_some_and(|function| {
                        function.child("object").is_some_and(|object| object.text() == name)
                            && function.text().ends_with(".update")
                    });
                    if is_update {
                        self.dictionaries(node);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the pairs of every dictionary below a node, of subscripts too.
    fn dictionaries(&mut self, below: Node<'s>) {
        for node in below.descendants() {
            match node.kind() {
                "pair" => {
                    if let (Some(key), Some(value)) = (node.child("key").and_then(literal), node.child("value")) {
                        self.pairs.push((key, value));
                    }
                }
                "keyword_argument" => {
                    if let (Some(name), Some(value)) = (node.child("name"), node.child("value")) {
                        self.pairs.push((name.text().to_owned(), value));
                    }
                }
                "assignment" => {
                    let left = node.child("left").filter(|left| left.kind() == "subscript");
                    let key = left.and_then(|left| left.child("subscript")).and_then(literal);
                    if let (Some(key), Some(value)) = (key, node.child("right")) {
                        self.pairs.push((key, value));
                    }
                }
                _ => {}
            }
        }
    }

    /// The values of a keyword.
    pub fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = Node<'s>> + 'a {
        self.pairs.iter().filter(move |(key, _)| key == name).map(|(_, value)| *value)
    }

    /// Whether a keyword is given something other than nothing.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.values(name).any(|value| !matches!(value.text(), "None" | "False"))
    }
}

/// The function of that name in a source.
#[must_use]
pub fn definition<'s>(source: &Source<'s>, name: &str) -> Option<Node<'s>> {
    let last = name.rsplit('.').next().unwrap_or(name);
    let definitions = source.index("definitions", source.syntax.root(), |node| {
        node.child("name").filter(|_| node.kind() == "function_definition").map(Node::text)
    });
    definitions.get(last).and_then(|these| these.first()).copied()
}
