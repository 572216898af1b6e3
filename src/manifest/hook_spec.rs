//! `hook`, `events` and `eventually`: a wired hook, the occasions that it is called for, and what must be so afterwards.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use super::paths::{ProjectPath, PublishGlob};
use super::text::{Fault, Grammar, Parsed};
use super::values::{Filled, Within};
use crate::model::{Decision, EventInput, Eventually, Expected, HookEvent, HookRef, Presence};

/// A wired hook: all commands that its file wires for it, called at once as their host does.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `file` and `event`")]
#[schemars(rename = "Hook")]
pub struct HookSpec {
    /// The file that wires it, in the project: `.claude/settings.json`, `.husky/pre-push`, `session-boundary.json`.
    #[schemars(required)]
    pub file: Option<Parsed<ProjectPath>>,
    /// The host's name for the occasion. Not needed where the file wires for one alone.
    pub event: Option<Parsed<Filled>>,
    /// The matcher, as it is written in the file. Without it those are called whose matcher is for the event.
    pub matcher: Option<String>,
    /// What the file calls it.
    pub name: Option<Parsed<Filled>>,
}

impl HookSpec {
    /// `None` if it lacks its file.
    pub fn lower(self) -> Option<HookRef> {
        Some(HookRef {
            file: self.file?.0.0,
            event: self.event.map(|event| event.0.0),
            matcher: self.matcher,
            name: self.name.map(|name| name.0.0),
        })
    }
}

/// One occasion that a hook is called for: a case.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `expect`")]
#[schemars(rename = "Event")]
pub struct EventSpec {
    /// What it is called in the report.
    pub name: Option<Parsed<Filled>>,
    /// What the hook reads: a file of the project; `sample`, which is what its host sends for the event, and what it is
    /// without this key; or `{sample: {tool_name: Bash}}`, the same with keys of your own.
    pub stdin: Option<StdinSpec>,
    /// The arguments of a hook of git's; those that git gives by default.
    pub args: Option<Vec<String>>,
    /// What it is to answer: `allow`, `block`, `ask`, or `{json: {…}}`, JSON on its standard output that has all of this.
    #[schemars(required)]
    pub expect: Option<ExpectedSpec>,
}

impl EventSpec {
    /// `None` if it lacks what it is to answer.
    pub fn lower(self) -> Option<HookEvent> {
        Some(HookEvent {
            name: self.name.map(|name| name.0.0),
            input: self.stdin.map_or_else(|| EventInput::Sample("{}".to_owned()), |stdin| stdin.0),
            args: self.args,
            expect: self.expect?.0,
        })
    }
}

/// Any value, as the text of a JSON value.
struct Json(String);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        serde_json::Value::deserialize(deserializer).map(|value| Self(value.to_string()))
    }
}

/// A map, as the text of a JSON object.
struct JsonObject(String);

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match serde_json::Value::deserialize(deserializer)? {
            value @ serde_json::Value::Object(_) => Ok(Self(value.to_string())),
            _ => Err(de::Error::custom(
                Fault::new("a sample has keys of its own").help("write {sample: {tool_name: Bash}}"),
            )),
        }
    }
}

/// What a hook reads.
#[derive(Debug, Clone)]
pub struct StdinSpec(EventInput);

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum StdinKey {
    Sample,
}

impl<'de> Deserialize<'de> for StdinSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(StdinVisitor)
    }
}

struct StdinVisitor;

impl<'de> Visitor<'de> for StdinVisitor {
    type Value = StdinSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a path in the project, `sample`, or a map with `sample`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<StdinSpec, E> {
        if text == "sample" {
            return Ok(StdinSpec(EventInput::Sample("{}".to_owned())));
        }
        let ProjectPath(path) = ProjectPath::text(text).map_err(E::custom)?;
        Ok(StdinSpec(EventInput::File(path)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StdinSpec, A::Error> {
        let mut sample = None;
        while let Some(StdinKey::Sample) = map.next_key()? {
            sample = Some(map.next_value::<JsonObject>()?.0);
        }
        let sample = sample.ok_or_else(|| de::Error::invalid_length(0, &"a sample"))?;
        Ok(StdinSpec(EventInput::Sample(sample)))
    }
}

impl JsonSchema for StdinSpec {
    fn schema_name() -> Cow<'static, str> {
        "EventInput".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let sample = json_schema!({
            "type": "object", "properties": {"sample": {"type": "object"}}, "required": ["sample"],
            "additionalProperties": false
        });
        json_schema!({"oneOf": [ProjectPath::schema(), sample]})
    }
}

/// What a hook is to answer.
#[derive(Debug, Clone)]
pub struct ExpectedSpec(Expected);

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum ExpectedKey {
    Json,
}

impl<'de> Deserialize<'de> for ExpectedSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExpectedVisitor)
    }
}

struct ExpectedVisitor;

impl<'de> Visitor<'de> for ExpectedVisitor {
    type Value = ExpectedSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("`allow`, `block`, `ask`, or a map with `json`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ExpectedSpec, E> {
        const ALL: [Decision; 3] = [Decision::Allow, Decision::Block, Decision::Ask];
        const NAMES: [&str; 3] = ["allow", "block", "ask"];
        let decision = ALL.into_iter().find(|decision| decision.name() == text);
        let decision = decision.ok_or_else(|| E::unknown_variant(text, &NAMES))?;
        Ok(ExpectedSpec(Expected::Decision(decision)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ExpectedSpec, A::Error> {
        let mut json = None;
        while let Some(ExpectedKey::Json) = map.next_key()? {
            json = Some(map.next_value::<Json>()?.0);
        }
        let json = json.ok_or_else(|| de::Error::invalid_length(0, &"an answer"))?;
        Ok(ExpectedSpec(Expected::Json(json)))
    }
}

impl JsonSchema for ExpectedSpec {
    fn schema_name() -> Cow<'static, str> {
        "Answer".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let decision = generator.subschema_for::<Decision>();
        let json = json_schema!({
            "type": "object", "properties": {"json": true}, "required": ["json"], "additionalProperties": false
        });
        json_schema!({"oneOf": [decision, json]})
    }
}

/// What must be so after the end.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `within`, `file` and `is`")]
#[schemars(rename = "Eventually")]
pub struct EventuallySpec {
    /// How long after the end, as `10s`.
    #[schemars(required)]
    pub within: Option<Parsed<Within>>,
    /// The files: a glob, relative to where the check starts, or below `$project` or `$sandbox`.
    #[schemars(required)]
    pub file: Option<Parsed<PublishGlob>>,
    /// Whether none of them or at least one is there.
    #[schemars(required)]
    pub is: Option<Presence>,
}

impl EventuallySpec {
    /// `None` if it lacks something.
    pub fn lower(self) -> Option<Eventually> {
        Some(Eventually { within: self.within?.0.0, file: self.file?.0.0, is: self.is? })
    }
}
