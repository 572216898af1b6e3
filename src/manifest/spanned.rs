//! Values that know where they stand, and the names by which types ask the deserializer for more than serde offers.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use super::node::NodeId;

/// Asks for the number of the node and then the node.
pub const SPANNED: &str = "$hostproof::spanned";
/// Asks for a scalar as it is written.
pub const WRITTEN: &str = "$hostproof::written";
/// Says that this is a check without the keys that only a check has.
pub const DEFAULTS: &str = "$hostproof::defaults";
/// Says that this is a check without the keys that an override cannot have.
pub const OVERRIDE: &str = "$hostproof::override";

/// A value and the node that it was read from.
#[derive(Debug, Clone)]
pub struct Spanned<T> {
    pub id: NodeId,
    pub value: T,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(SPANNED, SpannedVisitor(PhantomData))
    }
}

struct SpannedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SpannedVisitor<T> {
    type Value = Spanned<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of a manifest")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let incomplete = || de::Error::custom("a value without its number");
        let id = NodeId(seq.next_element()?.ok_or_else(incomplete)?);
        let value = seq.next_element()?.ok_or_else(incomplete)?;
        Ok(Spanned { id, value })
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
