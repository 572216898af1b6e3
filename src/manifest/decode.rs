//! From the tree to types, with every error at once.
//!
//! Serde stops at the first error. So that value is taken out of the tree and the rest read again, until nothing is wrong
//! with what is left; each round makes the tree smaller. Every key of the types is optional for that reason: what is
//! missing is told afterwards, when it is known what was taken out.

use serde::de::value::StrDeserializer;
use serde::de::{self, DeserializeOwned, DeserializeSeed, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::decode_error::DecodeError;
use super::node::{Document, Entry, Node, Value};
use super::problem::Problems;
use super::spanned::{DEFAULTS, OVERRIDE, SPANNED, WRITTEN};

/// Reads `T` out of the document, which loses what is wrong with it. `None` if nothing can be read.
pub fn decode<T: DeserializeOwned>(document: &mut Document, problems: &mut Problems) -> Option<T> {
    loop {
        let error = match T::deserialize(NodeDeserializer { node: &document.root, without: &[] }) {
            Ok(decoded) => return Some(decoded),
            Err(error) => error,
        };
        let (id, span) = error.place().unwrap_or((document.root.id, document.root.span.clone()));
        let meant = error.meant;
        // What is empty since its entries were refused is not worth a word.
        if !(error.is_emptiness && document.has_lost(id)) {
            problems.push(error.into_problem(span));
        }
        if problems.is_cut() || !document.remove(id, meant) {
            return None;
        }
    }
}

#[derive(Clone, Copy)]
struct NodeDeserializer<'n> {
    node: &'n Node,
    /// Keys of the type that are not known where it is used.
    without: &'static [&'static str],
}

impl<'n> NodeDeserializer<'n> {
    fn at(&self) -> impl Fn(DecodeError) -> DecodeError + use<'n> {
        let node = self.node;
        move |error| error.at(node.id, &node.span)
    }

    fn any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Null(_) => visitor.visit_unit(),
            Value::Bool(value, _) => visitor.visit_bool(*value),
            Value::Int(value, _) => visitor.visit_i64(*value),
            Value::Float(value, _) => visitor.visit_f64(*value),
            Value::String(value) => visitor.visit_borrowed_str(value),
            Value::Seq(items) => visitor.visit_seq(Items(items.iter())),
            Value::Map(entries) => {
                visitor.visit_map(Entries { rest: entries.iter(), value: None, without: self.without })
            }
        }
        .map_err(self.at())
    }
}

impl<'n> de::Deserializer<'n> for NodeDeserializer<'n> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.any(visitor)
    }

    fn deserialize_str<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match &self.node.value {
            Value::Bool(_, written) | Value::Int(_, written) | Value::Float(_, written) => {
                Err(DecodeError::new(format!("expected a text, found `{written}`"))
                    .help(format!("put it into quotes: \"{written}\""))
                    .at(self.node.id, &self.node.span))
            }
            _ => self.any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_str(visitor)
    }

    fn deserialize_seq<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let result = self.any(visitor);
        match &self.node.value {
            Value::Bool(_, written) | Value::Int(_, written) | Value::Float(_, written) | Value::String(written) => {
                result.map_err(|error| {
                    if error.has_help() { error } else { error.help(format!("write it as a list: [{written}]")) }
                })
            }
            _ => result,
        }
    }

    /// Never from a list, which serde would take for a struct's values in their order.
    fn deserialize_struct<V: Visitor<'n>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.node.value {
            Value::Seq(_) => Err(self.at()(de::Error::invalid_type(de::Unexpected::Seq, &visitor))),
            _ => self.any(visitor),
        }
    }

    /// A key without a value is a mistake, never the same as no key.
    fn deserialize_option<V: Visitor<'n>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'n>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match name {
            SPANNED => visitor.visit_seq(Numbered { deserializer: self, step: 0 }),
            WRITTEN => match &self.node.value {
                Value::Bool(_, written) | Value::Int(_, written) => visitor.visit_borrowed_str(written),
                Value::Float(_, written) => {
                    Err(DecodeError::new(format!("expected a text, found the number {written}"))
                        .help(format!("put it into quotes, so that it stays as it is written: \"{written}\"")))
                }
                _ => return self.any(visitor),
            }
            .map_err(self.at()),
            DEFAULTS => {
                visitor.visit_newtype_struct(Self { without: &["id", "run", "shell", "hook", "events"], ..self })
            }
            OVERRIDE => visitor.visit_newtype_struct(Self { without: &["id", "linux", "windows", "macos"], ..self }),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'n>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let result = match &self.node.value {
            Value::String(name) => {
                let name: StrDeserializer<'n, DecodeError> = name.as_str().into_deserializer();
                visitor.visit_enum(name)
            }
            Value::Bool(_, written) | Value::Int(_, written) | Value::Float(_, written) | Value::Null(written) => {
                let written = if written.is_empty() { "nothing" } else { written };
                Err(DecodeError::new(format!("`{written}` is not known here"))
                    .help(format!("known here: {}", variants.join(", "))))
            }
            Value::Seq(_) | Value::Map(_) => Err(DecodeError::new("expected one word, found a list or map")
                .help(format!("known here: {}", variants.join(", ")))),
        };
        result.map_err(self.at())
    }

    forward_to_deserialize_any! {
        <V: Visitor<'n>>
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct map
        identifier ignored_any
    }
}

struct Items<'n>(std::slice::Iter<'n, Node>);

impl<'n> de::SeqAccess<'n> for Items<'n> {
    type Error = DecodeError;

    fn next_element_seed<S: DeserializeSeed<'n>>(&mut self, seed: S) -> Result<Option<S::Value>, DecodeError> {
        self.0.next().map(|node| seed.deserialize(NodeDeserializer { node, without: &[] })).transpose()
    }
}

struct Entries<'n> {
    rest: std::slice::Iter<'n, Entry>,
    value: Option<&'n Node>,
    without: &'static [&'static str],
}

impl<'n> de::MapAccess<'n> for Entries<'n> {
    type Error = DecodeError;

    fn next_key_seed<S: DeserializeSeed<'n>>(&mut self, seed: S) -> Result<Option<S::Value>, DecodeError> {
        let Some(entry) = self.rest.next() else { return Ok(None) };
        self.value = Some(&entry.value);
        let key = if self.without.contains(&entry.key.as_str()) {
            Err(DecodeError::new(format!("the key `{}` cannot be here", entry.key))
                .help("it belongs to the check itself"))
        } else {
            let name: StrDeserializer<'n, DecodeError> = entry.key.as_str().into_deserializer();
            seed.deserialize(name)
        };
        key.map(Some).map_err(|error| error.at_key(entry.value.id, &entry.key_span, self.without))
    }

    fn next_value_seed<S: DeserializeSeed<'n>>(&mut self, seed: S) -> Result<S::Value, DecodeError> {
        match self.value.take() {
            Some(node) => seed.deserialize(NodeDeserializer { node, without: &[] }),
            None => Err(DecodeError::new("a value was read before its key")),
        }
    }
}

/// The number of a node, and then the node.
struct Numbered<'n> {
    deserializer: NodeDeserializer<'n>,
    step: u8,
}

impl<'n> de::SeqAccess<'n> for Numbered<'n> {
    type Error = DecodeError;

    fn next_element_seed<S: DeserializeSeed<'n>>(&mut self, seed: S) -> Result<Option<S::Value>, DecodeError> {
        self.step += 1;
        match self.step {
            1 => seed.deserialize(self.deserializer.node.id.0.into_deserializer()).map(Some),
            2 => seed.deserialize(self.deserializer).map(Some),
            _ => Ok(None),
        }
    }
}
