//! `faults`: system calls that are made to fail, or to take their time.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, Visitor};

use super::text::{Fault as Wrong, Grammar, Parsed, pattern};
use super::values::Within;
use crate::model::{Effect, Errno, Fault, FaultCall};
use crate::platform::PathPattern;

/// Calls of one kind, and what becomes of them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `call`, `path`, and `errno` or `delay`")]
#[schemars(rename = "Fault", extend("oneOf" = [{"required": ["errno"]}, {"required": ["delay"]}]))]
pub struct FaultSpec {
    /// The call: `rename`, `link`, `open`, `unlink`, `write`, `kill` or `exec`.
    #[schemars(required)]
    pub call: Option<FaultCall>,
    /// What it is about, as a glob. Without `/` it is the file's name, wherever it is; else its path, relative to where the
    /// check starts, below `$project` or `$sandbox`, or absolute. For `kill`, which needs none, it is the program of the
    /// process that the signal is for.
    pub path: Option<Parsed<FaultGlob>>,
    /// Which of the calls that match, counted over all processes of the check; 1 by default, and `all` for each of them.
    pub nth: Option<NthSpec>,
    /// The error that it fails with: `EIO`, `ENOSPC`, `EACCES`. Either this or `delay`.
    pub errno: Option<Parsed<ErrnoName>>,
    /// How long it has to wait before it goes on, as `500ms`. Either this or `errno`.
    pub delay: Option<Parsed<Within>>,
}

impl FaultSpec {
    /// `None` if something is missing, or there is too much.
    pub fn lower(self) -> Option<Fault> {
        let effect = match (self.errno, self.delay) {
            (Some(errno), None) => Effect::Errno(errno.0.0),
            (None, Some(delay)) => Effect::Delay(delay.0.0),
            _ => return None,
        };
        let nth = self.nth.map_or(Some(1), |nth| nth.0);
        Some(Fault { call: self.call?, path: self.path.map(|path| path.0.0), nth, effect })
    }
}

/// A glob of what a call is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultGlob(pub String);

impl Grammar for FaultGlob {
    const WHAT: &'static str = "a glob of paths";
    const NAME: &'static str = "FaultGlob";

    fn text(text: &str) -> Result<Self, Wrong> {
        if text.split('/').any(|part| part == "..") {
            return Err(Wrong::new(format!("\"{text}\" has `..` in it")).help("write where it leads"));
        }
        match PathPattern::new(text) {
            Ok(_) => Ok(Self(text.to_owned())),
            Err(why) => Err(Wrong::new(format!("\"{text}\" is not a glob: {why}"))
                .help("write the file's name, as `*.pid`, or its path, as `$sandbox/tmp/**/*.pid`")),
        }
    }

    fn schema() -> Schema {
        pattern(r"^[^\\]+$")
    }
}

/// The name of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrnoName(pub Errno);

impl Grammar for ErrnoName {
    const WHAT: &'static str = "the name of an error";
    const NAME: &'static str = "Errno";

    fn text(text: &str) -> Result<Self, Wrong> {
        Errno::of_name(text).map(Self).ok_or_else(|| {
            let nearest = Errno::names().min_by_key(|name| strsim::damerau_levenshtein(name, &text.to_uppercase()));
            Wrong::new(format!("`{text}` is the name of no error that a call can be made to fail with")).help(&format!(
                "did you mean `{}`? There are {}",
                nearest.unwrap_or_default(),
                Errno::names().collect::<Vec<_>>().join(", ")
            ))
        })
    }

    fn integer(integer: i64) -> Result<Self, Wrong> {
        Err(Wrong::new(format!("expected {}, found the integer {integer}", Self::WHAT))
            .help("write its name, as `EIO`"))
    }

    fn schema() -> Schema {
        json_schema!({"enum": Errno::names().collect::<Vec<_>>()})
    }
}

/// Which of the calls that match; `None` inside for each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NthSpec(Option<u32>);

impl<'de> Deserialize<'de> for NthSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NthVisitor)
    }
}

struct NthVisitor;

impl Visitor<'_> for NthVisitor {
    type Value = NthSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number from 1 on, or `all`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<NthSpec, E> {
        if text == "all" { Ok(NthSpec(None)) } else { Err(E::invalid_value(de::Unexpected::Str(text), &self)) }
    }

    fn visit_i64<E: de::Error>(self, integer: i64) -> Result<NthSpec, E> {
        let number = u32::try_from(integer).ok().filter(|number| *number > 0);
        number
            .map(|number| NthSpec(Some(number)))
            .ok_or_else(|| E::invalid_value(de::Unexpected::Signed(integer), &self))
    }
}

impl JsonSchema for NthSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Nth".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"oneOf": [{"const": "all"}, {"type": "integer", "minimum": 1}]})
    }
}
