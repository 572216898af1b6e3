//! `forbid`: programs that nothing of a check may run.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use super::paths::is_on_drive;
use super::text::{Fault, Grammar, Parsed, pattern};
use crate::model::Forbid;

/// A program's file: its name, which an absolute path stands for, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForbidName(pub String);

impl Grammar for ForbidName {
    const WHAT: &'static str = "the name of a program";
    const NAME: &'static str = "ForbidName";

    fn text(text: &str) -> Result<Self, Fault> {
        let is_absolute = text.starts_with('/') || is_on_drive(text);
        let name = if is_absolute { text.rsplit('/').next().unwrap_or(text) } else { text };
        if name.trim().is_empty() || name.contains(['/', '\\']) {
            return Err(Fault::new(format!("\"{text}\" is not the name of a program"))
                .help("write the name of its file, or its absolute path: `tmux`, `/usr/bin/tmux`"));
        }
        Ok(Self(name.to_owned()))
    }

    fn schema() -> Schema {
        pattern(r"^(([A-Za-z]:)?/([^\\]*/)?)?[^/\\]*[^/\\\s][^/\\]*$")
    }
}

/// A program, by its name or as a map.
#[derive(Debug, Clone)]
pub struct ForbidSpec {
    /// `None` only if the map lacks it.
    pub program: Option<Parsed<ForbidName>>,
    observe: bool,
}

/// A program that may not be run, and what is done if it is.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ForbidMap {
    /// The name of its file, without `.exe`; an absolute path stands for its name.
    #[schemars(required)]
    program: Option<Parsed<ForbidName>>,
    /// Whether it is run all the same, and told; false by default.
    observe: Option<bool>,
}

impl ForbidSpec {
    /// `None` if it lacks its program.
    pub fn lower(self) -> Option<Forbid> {
        let program = self.program?.0.0;
        let name = program.strip_suffix(".exe").unwrap_or(&program);
        Some(Forbid { program: name.to_owned(), observe: self.observe })
    }
}

impl<'de> Deserialize<'de> for ForbidSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ForbidVisitor)
    }
}

struct ForbidVisitor;

impl<'de> Visitor<'de> for ForbidVisitor {
    type Value = ForbidSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a program, or a map with `program`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ForbidSpec, E> {
        let program = ForbidName::text(text).map_err(E::custom)?;
        Ok(ForbidSpec { program: Some(Parsed(program)), observe: false })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ForbidSpec, A::Error> {
        let ForbidMap { program, observe } = ForbidMap::deserialize(MapAccessDeserializer::new(map))?;
        Ok(ForbidSpec { program, observe: observe.unwrap_or_default() })
    }
}

impl JsonSchema for ForbidSpec {
    fn schema_name() -> Cow<'static, str> {
        "Forbid".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = ForbidMap::json_schema(generator);
        json_schema!({"oneOf": [ForbidName::schema(), map]})
    }
}
