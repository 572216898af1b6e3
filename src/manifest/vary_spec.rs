//! `vary`: facts about a check's surroundings, by name.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use super::text::{Fault, Grammar, Parsed, pattern};
use crate::model::Fact;

/// The facts, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VarySpec(pub Vec<Fact>);

/// A word for some of them.
#[derive(Debug, Clone)]
struct FactWord(Vec<Fact>);

impl FactWord {
    fn all() -> impl Iterator<Item = &'static str> {
        ["all", "timezone"].into_iter().chain(Fact::ALL.into_iter().map(Fact::name))
    }
}

impl Grammar for FactWord {
    const WHAT: &'static str = "the name of a fact";
    const NAME: &'static str = "Fact";

    fn text(text: &str) -> Result<Self, Fault> {
        Fact::of_word(text).map(Self).ok_or_else(|| {
            let nearest = Self::all().min_by_key(|word| strsim::damerau_levenshtein(word, text)).unwrap_or_default();
            let all: Vec<&str> = Self::all().collect();
            Fault::new(format!("`{text}` is no fact about a check's surroundings"))
                .help(&format!("did you mean `{nearest}`? There are {}", all.join(", ")))
        })
    }

    fn schema() -> Schema {
        pattern(&format!("^({})$", Self::all().collect::<Vec<_>>().join("|")))
    }
}

impl<'de> Deserialize<'de> for VarySpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(VaryVisitor)
    }
}

struct VaryVisitor;

impl<'de> Visitor<'de> for VaryVisitor {
    type Value = VarySpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of facts, or `all`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<VarySpec, E> {
        if text == "all" {
            return Ok(VarySpec(Fact::ALL.to_vec()));
        }
        Err(E::custom(
            Fault::new(format!("expected a list of facts, or `all`, found the text \"{text}\""))
                .help(&format!("write it as a list: [{text}]")),
        ))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<VarySpec, A::Error> {
        let mut facts = Vec::new();
        while let Some(Parsed(FactWord(more))) = seq.next_element()? {
            facts.extend(more);
        }
        if facts.is_empty() {
            return Err(de::Error::invalid_length(0, &"this list"));
        }
        facts.sort_unstable();
        facts.dedup();
        Ok(VarySpec(facts))
    }
}

impl JsonSchema for VarySpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Vary".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let word = generator.subschema_for::<Parsed<FactWord>>();
        json_schema!({"oneOf": [{"const": "all"}, {"type": "array", "items": word, "minItems": 1, "uniqueItems": true}]})
    }
}
