//! `reader`, in each of its forms.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, Visitor};

use crate::model::{ReaderChoice, ReaderName};

/// What reads cases out of a check's output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReaderSpec(pub ReaderChoice);

/// Every name that may stand there.
const NAMES: [&str; 2 + ReaderName::ALL.len()] = {
    let mut names = ["auto"; 2 + ReaderName::ALL.len()];
    names[1] = "none";
    let mut at = 0;
    while at < ReaderName::ALL.len() {
        names[at + 2] = ReaderName::ALL[at].name();
        at += 1;
    }
    names
};

impl<'de> Deserialize<'de> for ReaderSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReaderVisitor)
    }
}

struct ReaderVisitor;

impl Visitor<'_> for ReaderVisitor {
    type Value = ReaderSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a reader")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ReaderSpec, E> {
        let named = || ReaderName::ALL.into_iter().find(|name| name.name() == text).map(ReaderChoice::Named);
        Ok(ReaderSpec(match text {
            "auto" => ReaderChoice::Auto,
            "none" => ReaderChoice::None,
            _ => named().ok_or_else(|| E::unknown_variant(text, &NAMES))?,
        }))
    }
}

impl JsonSchema for ReaderSpec {
    fn schema_name() -> Cow<'static, str> {
        "Reader".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"enum": NAMES})
    }
}
