//! `matrix`: variables, each with the values that a check runs with.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use super::forms::{EnvValue, NonEmpty};
use super::text::{Fault, Parsed};
use super::values::OwnName;

/// A value stands in the variant's id.
const LONGEST: usize = 100;
/// What sets the parts of an id off.
const MARKS: [char; 5] = [',', '[', ']', '@', '#'];

/// So much of one that is refused is shown.
const SHOWN: usize = 40;

/// Why a value cannot stand in an id.
fn in_the_way(value: &str) -> Option<String> {
    if value.len() > LONGEST {
        return Some(format!("has more than {LONGEST} bytes"));
    }
    if value.contains(char::is_control) {
        return Some("has a line end or another control character in it".to_owned());
    }
    value.chars().find(|c| MARKS.contains(c)).map(|mark| format!("has `{mark}` in it"))
}

/// The variables, by name; values of one differ.
#[derive(Debug, Clone)]
pub struct MatrixSpec(BTreeMap<Parsed<OwnName>, NonEmpty<EnvValue>>);

impl MatrixSpec {
    /// The variables with their values; `None` for one that is not set.
    pub fn lower(self) -> Vec<(String, Vec<Option<String>>)> {
        let variable = |(name, values): (Parsed<OwnName>, NonEmpty<EnvValue>)| {
            (name.0.0, values.0.into_iter().map(|value| value.0).collect())
        };
        self.0.into_iter().map(variable).collect()
    }
}

impl<'de> Deserialize<'de> for MatrixSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MatrixVisitor)
    }
}

struct MatrixVisitor;

impl<'de> Visitor<'de> for MatrixVisitor {
    type Value = MatrixSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("variables, each with a list of values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MatrixSpec, A::Error> {
        let mut variables: BTreeMap<Parsed<OwnName>, NonEmpty<EnvValue>> = BTreeMap::new();
        while let Some((name, values)) = map.next_entry::<Parsed<OwnName>, NonEmpty<EnvValue>>()? {
            let mut seen: Vec<&str> = Vec::new();
            for EnvValue(value) in &values.0 {
                let text = value.as_deref().unwrap_or("null");
                if seen.contains(&text) {
                    return Err(de::Error::custom(Fault::new(format!("`{text}` is there twice for {}", name.0.0))));
                }
                if let Some(why) = in_the_way(text) {
                    let shown: String = text.chars().take(SHOWN).collect();
                    let more = if shown.len() < text.len() { "…" } else { "" };
                    let variable = &name.0.0;
                    let fault = Fault::new(format!(
                        "{shown:?}{more} cannot be a value of {variable}: it {why}, and stands in the id of a variant"
                    ));
                    let help = "write a short one without , [ ] @ # and line ends, and let the check make more of it";
                    return Err(de::Error::custom(fault.help(help)));
                }
                seen.push(text);
            }
            variables.insert(name, values);
        }
        if variables.is_empty() {
            let fault = Fault::new("a matrix without variables").help("write `matrix: {FRESH: [\"0.1\", \"5\"]}`");
            return Err(de::Error::custom(fault));
        }
        Ok(MatrixSpec(variables))
    }
}

impl JsonSchema for MatrixSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Matrix".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let values = generator.subschema_for::<NonEmpty<EnvValue>>();
        json_schema!({"type": "object", "minProperties": 1, "additionalProperties": values})
    }
}
