//! `as`: by whose rules a check is judged, one or several, and how those of Windows are kept.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserialize, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};

use super::text::{Fault, Grammar, Parsed, pattern};
use crate::model::{Rules, WindowsRules};

/// Whose rules; each once, and at least one. What is said of Windows' holds where these are among them, and where the
/// command line adds them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RulesSpec {
    pub all: Vec<Rules>,
    pub windows: WindowsRules,
}

/// How Windows' rules are kept.
#[derive(Debug, Clone, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `files`, `strict`, `faithful` or `shares_delete`")]
#[schemars(rename = "WindowsRules")]
struct WindowsSpec {
    /// Whether removals and renames of files are refused, too, and not of directories only; true by default.
    files: Option<bool>,
    /// Whether a program that hostproof knows nothing of counts as one that keeps its open files from being removed;
    /// false by default: what that would refuse is a note.
    strict: Option<bool>,
    /// Whether a refusal has the error number that makes each runtime raise what it raises on Windows (Python:
    /// `PermissionError`); false by default: it is `EBUSY` where Windows says 32, and `EACCES` where it says 5.
    faithful: Option<bool>,
    /// Whether a program opens files so that they may be removed or renamed meanwhile: `{mytool: true}`. Goes before what
    /// hostproof knows of it. The name is that of the program's file; without a version it is for all versions.
    shares_delete: Option<BTreeMap<Parsed<ProgramName>, bool>>,
}

impl From<WindowsSpec> for WindowsRules {
    fn from(spec: WindowsSpec) -> Self {
        let shares = spec.shares_delete.unwrap_or_default();
        Self {
            files: spec.files.unwrap_or(true),
            strict: spec.strict.unwrap_or_default(),
            faithful: spec.faithful.unwrap_or_default(),
            shares_delete: shares.into_iter().map(|(name, shares)| (name.0.0, shares)).collect(),
        }
    }
}

/// The name of a program's file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramName(pub String);

impl Grammar for ProgramName {
    const WHAT: &'static str = "the name of a program";
    const NAME: &'static str = "ProgramName";

    fn text(text: &str) -> Result<Self, Fault> {
        if text.trim().is_empty() || text.contains(['/', '\\']) {
            return Err(Fault::new(format!("\"{text}\" is not the name of a program"))
                .help("write the name of its file, without a folder: `mytool`"));
        }
        Ok(Self(text.to_owned()))
    }

    fn schema() -> Schema {
        pattern(r"^[^/\\]*[^/\\\s][^/\\]*$")
    }
}

/// One of them: a name, or a map from the name to how they are kept.
struct OneSpec {
    rules: Rules,
    windows: Option<WindowsRules>,
}

#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `windows`")]
struct OneMap {
    /// Those of Windows, and how they are kept.
    #[schemars(required)]
    windows: Option<WindowsSpec>,
}

impl<'de> Deserialize<'de> for OneSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneVisitor)
    }
}

struct OneVisitor;

impl<'de> Visitor<'de> for OneVisitor {
    type Value = OneSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("`native`, `windows`, or a map with `windows`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<OneSpec, E> {
        let rules = Rules::deserialize(IntoDeserializer::<E>::into_deserializer(text))?;
        Ok(OneSpec { rules, windows: None })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<OneSpec, A::Error> {
        match OneMap::deserialize(MapAccessDeserializer::new(map))?.windows {
            Some(windows) => Ok(OneSpec { rules: Rules::Windows, windows: Some(windows.into()) }),
            None => Err(de::Error::custom(
                Fault::new("this map does not say whose rules").help("write `windows`, or {windows: {strict: true}}"),
            )),
        }
    }
}

impl<'de> Deserialize<'de> for RulesSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RulesVisitor)
    }
}

struct RulesVisitor;

impl RulesVisitor {
    fn of(ones: Vec<OneSpec>) -> RulesSpec {
        let all = ones.iter().map(|one| one.rules).collect();
        RulesSpec { all, windows: ones.into_iter().find_map(|one| one.windows).unwrap_or_default() }
    }
}

impl<'de> Visitor<'de> for RulesVisitor {
    type Value = RulesSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("`native`, `windows`, a map with `windows`, or a list of them")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<RulesSpec, E> {
        OneVisitor.visit_str(text).map(|one| Self::of(vec![one]))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RulesSpec, A::Error> {
        OneVisitor.visit_map(map).map(|one| Self::of(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<RulesSpec, A::Error> {
        let ones = Vec::<OneSpec>::deserialize(SeqAccessDeserializer::new(seq))?;
        for (index, one) in ones.iter().enumerate() {
            if ones[..index].iter().any(|before| before.rules == one.rules) {
                return Err(de::Error::custom(Fault::new(format!("`{}` is there twice", one.rules.name()))));
            }
        }
        if ones.is_empty() { Err(de::Error::invalid_length(0, &"this list")) } else { Ok(Self::of(ones)) }
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
        let name = generator.subschema_for::<Rules>();
        let map = OneMap::json_schema(generator);
        let list = json_schema!({
            "type": "array", "items": {"oneOf": [name, map]}, "minItems": 1, "uniqueItems": true
        });
        json_schema!({"oneOf": [name, map, list]})
    }
}
