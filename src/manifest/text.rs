//! Single values with a grammar: what each accepts, and what to write instead of what it refuses.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};

use super::decode_error::HELP;

/// Why a text is not what it should be, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault(String);

impl Fault {
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// Message and help in one line.
    pub fn sentence(&self) -> String {
        self.0.replace(HELP, "; ")
    }

    pub fn help(mut self, help: &str) -> Self {
        self.0.push_str(HELP);
        self.0.push_str(help);
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A grammar of single values.
pub trait Grammar: Sized {
    /// What it is, after `expected`.
    const WHAT: &'static str;

    /// The name of its schema.
    const NAME: &'static str;

    fn text(text: &str) -> Result<Self, Fault>;

    /// An integer is rarely one; where people write one nevertheless, this says what to write.
    fn integer(integer: i64) -> Result<Self, Fault> {
        Err(Fault::new(format!("expected {}, found the integer {integer}", Self::WHAT))
            .help(&format!("put it into quotes: \"{integer}\"")))
    }

    /// For editors.
    fn schema() -> Schema;
}

/// A schema of texts of that pattern.
pub fn pattern(pattern: &str) -> Schema {
    json_schema!({"type": "string", "pattern": pattern})
}

/// A value that is read by its grammar.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parsed<T>(pub T);

impl<'de, T: Grammar> Deserialize<'de> for Parsed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(GrammarVisitor(PhantomData)).map(Self)
    }
}

struct GrammarVisitor<T>(PhantomData<T>);

impl<T: Grammar> Visitor<'_> for GrammarVisitor<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(T::WHAT)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        T::text(text).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, integer: i64) -> Result<T, E> {
        T::integer(integer).map_err(E::custom)
    }
}

impl<T: Grammar> JsonSchema for Parsed<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        T::NAME.into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        T::schema()
    }
}
