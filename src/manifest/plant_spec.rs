//! `plant`: what stands at which path before a check starts.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};

use super::paths::no_such_word;
use super::text::{Fault, Grammar, Parsed, pattern};
use super::values::Filled;
use crate::model::{LockKind, Plant};

/// Where something is planted: absolute, or relative to where the check starts, or below `$project` or `$sandbox`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlantPath(pub String);

impl Grammar for PlantPath {
    const WHAT: &'static str = "a path";
    const NAME: &'static str = "PlantPath";

    fn text(text: &str) -> Result<Self, Fault> {
        let place = |text: &str| {
            Fault::new(format!("\"{text}\" is no place to plant something at"))
                .help("write the path of a file: `$sandbox/tmp/guard.pid`, `state/cache.json`, `/tmp/guard.log`")
        };
        if let Some(fault) = no_such_word(text) {
            return Err(fault);
        }
        if text.contains('\\') {
            return Err(Fault::new(format!("\"{text}\" has a backslash in it")).help("write `/` between folders"));
        }
        let mut names = text.strip_prefix('/').unwrap_or(text).split('/');
        if names.clone().any(|name| name == "..") {
            return Err(Fault::new(format!("\"{text}\" has `..` in it")).help("write where it leads"));
        }
        let last = names.clone().next_back().unwrap_or_default();
        let is_named = names.all(|name| !name.is_empty() && name != ".") && !last.starts_with('$');
        if is_named && !last.ends_with(':') { Ok(Self(text.to_owned())) } else { Err(place(text)) }
    }

    fn schema() -> Schema {
        pattern(r"^/?[^/\\]+(/[^/\\]+)*$")
    }
}

/// What is planted: a name, or a map from the name to what else is to be said of it.
#[derive(Debug, Clone)]
pub struct PlantSpec(pub Plant);

/// Every name that may stand alone.
const NAMES: [(&str, Plant); 6] = [
    ("fifo", Plant::Fifo),
    ("symlink", Plant::Symlink(None)),
    ("directory", Plant::Directory),
    ("held-lock", Plant::HeldLock(LockKind::Flock)),
    ("unreadable", Plant::Unreadable),
    ("dead-pid", Plant::DeadPid),
];

impl<'de> Deserialize<'de> for PlantSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlantVisitor)
    }
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "kebab-case")]
enum PlantKey {
    Symlink,
    HeldLock,
    File,
}

struct PlantVisitor;

impl<'de> Visitor<'de> for PlantVisitor {
    type Value = PlantSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("what is planted (a name such as `fifo`, or a map with `symlink`, `held-lock` or `file`)")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<PlantSpec, E> {
        if let Some((_, plant)) = NAMES.iter().find(|(name, _)| *name == text) {
            return Ok(PlantSpec(plant.clone()));
        }
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        let nearest = names.iter().min_by_key(|name| strsim::damerau_levenshtein(name, text)).unwrap_or(&"");
        Err(E::custom(
            Fault::new(format!("`{text}` can't be planted"))
                .help(&format!("did you mean `{nearest}`? There are {}, and {{file: CONTENT}}", names.join(", "))),
        ))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<PlantSpec, A::Error> {
        let mut plants = Vec::new();
        while let Some(key) = map.next_key()? {
            plants.push(match key {
                PlantKey::Symlink => Plant::Symlink(Some(map.next_value::<Parsed<Filled>>()?.0.0)),
                PlantKey::HeldLock => Plant::HeldLock(map.next_value()?),
                PlantKey::File => Plant::File(map.next_value()?),
            });
        }
        match (plants.pop(), plants.is_empty()) {
            (Some(plant), true) => Ok(PlantSpec(plant)),
            (None, _) => Err(de::Error::invalid_length(0, &self)),
            (Some(_), false) => Err(de::Error::custom(Fault::new("one path can have one thing planted at it alone"))),
        }
    }
}

impl JsonSchema for PlantSpec {
    fn schema_name() -> Cow<'static, str> {
        "Plant".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |key: &str, value: Schema| json_schema!({"type": "object", "properties": {key: value}, "required": [key], "additionalProperties": false});
        json_schema!({"oneOf": [
            {"enum": NAMES.map(|(name, _)| name)},
            one("symlink", Filled::schema()),
            one("held-lock", json_schema!({"enum": ["flock", "fcntl"]})),
            one("file", json_schema!({"type": "string"})),
        ]})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_path_with_a_name_at_its_end() {
        for path in ["a", "state/a.json", "/tmp/guard.log", "$sandbox/tmp/a", "$project/a", "C:/tmp/a", "..a"] {
            assert!(PlantPath::text(path).is_ok(), "{path}");
        }
        for path in ["", "/", "a/", "a//b", "../a", "/tmp/../etc/a", "a\\b", ".", "./a", "$sandbox", "C:", "$HOME/a"] {
            assert!(PlantPath::text(path).is_err(), "{path}");
        }
    }
}
