//! `as`: by whose rules a check is judged, one or several.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, SeqAccess, Visitor};

use super::text::Fault;
use crate::model::Rules;

/// Whose rules; each once, and at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesSpec(pub Vec<Rules>);

impl<'de> Deserialize<'de> for RulesSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RulesVisitor)
    }
}

struct RulesVisitor;

impl<'de> Visitor<'de> for RulesVisitor {
    type Value = RulesSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("`native`, `windows`, or a list of them")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RulesSpec, E> {
        Rules::deserialize(IntoDeserializer::<E>::into_deserializer(text)).map(|rules| RulesSpec(vec![rules]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RulesSpec, A::Error> {
        let mut all: Vec<Rules> = Vec::new();
        while let Some(rules) = seq.next_element()? {
            if all.contains(&rules) {
                return Err(de::Error::custom(Fault::new(format!("`{}` is there twice", rules.name()))));
            }
            all.push(rules);
        }
        if all.is_empty() { Err(de::Error::invalid_length(0, &"this list")) } else { Ok(RulesSpec(all)) }
    }
}

impl JsonSchema for RulesSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "As".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let one = generator.subschema_for::<Rules>();
        json_schema!({"oneOf": [one, {"type": "array", "items": one, "minItems": 1, "uniqueItems": true}]})
    }
}
