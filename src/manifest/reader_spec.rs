//! `reader`, in each of its forms.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, Visitor};

use super::paths::ProjectPath;
use super::text::{Fault, Grammar, Parsed};
use super::values::Expression;
use crate::model::{LineRules, ReaderChoice, ReaderName};

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

impl<'de> Visitor<'de> for ReaderVisitor {
    type Value = ReaderSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a reader, or a map with `junit` or `lines`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ReaderSpec, E> {
        match text {
            "junit" => {
                return Err(E::custom(
                    Fault::new("`junit` reads files, and does not say which").help("write {junit: build/report.xml}"),
                ));
            }
            "lines" => {
                return Err(E::custom(
                    Fault::new("`lines` reads by expressions of your own, and has none")
                        .help("write {lines: {pass: \"^PASS (.*)$\", fail: \"^FAIL (.*)$\"}}"),
                ));
            }
            _ => {}
        }
        let named = || ReaderName::ALL.into_iter().find(|name| name.name() == text).map(ReaderChoice::Named);
        Ok(ReaderSpec(match text {
            "auto" => ReaderChoice::Auto,
            "none" => ReaderChoice::None,
            _ => named().ok_or_else(|| E::unknown_variant(text, &NAMES))?,
        }))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ReaderSpec, A::Error> {
        let mut forms = Vec::new();
        while let Some(key) = map.next_key()? {
            forms.push(match key {
                FormKey::Junit => ReaderChoice::Junit(map.next_value::<Parsed<JunitPath>>()?.0.0),
                FormKey::Lines => ReaderChoice::Lines(map.next_value::<LinesSpec>()?.0),
            });
        }
        match (forms.pop(), forms.is_empty()) {
            (None, _) => Err(de::Error::invalid_length(0, &"a reader")),
            (Some(form), true) => Ok(ReaderSpec(form)),
            (Some(_), false) => {
                Err(de::Error::custom(Fault::new("a reader with more than one key").help("choose one of them")))
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum FormKey {
    Junit,
    Lines,
}

/// Where the JUnit XML files of a check are.
#[derive(Debug, Clone)]
struct JunitPath(String);

impl Grammar for JunitPath {
    const WHAT: &'static str = "the path of a JUnit XML file";
    const NAME: &'static str = "JunitPath";

    fn text(text: &str) -> Result<Self, Fault> {
        let help = "it is relative to where the check starts, or begins with `$project/` or `$sandbox/`";
        let rest = ["$project/", "$sandbox/"].iter().find_map(|base| text.strip_prefix(base));
        let ProjectPath(path) = ProjectPath::text(rest.unwrap_or(text))?;
        if rest.is_none() && path.starts_with('$') {
            return Err(Fault::new(format!("\"{text}\" begins with a variable that is not known here")).help(help));
        }
        if let Err(error) = globset::Glob::new(&path) {
            return Err(Fault::new(format!("not a path, nor a glob of paths: {}", error.kind())).help(help));
        }
        Ok(Self(text.to_owned()))
    }

    fn schema() -> Schema {
        ProjectPath::schema()
    }
}

/// Expressions that tell lines apart.
struct LinesSpec(LineRules);

/// Regular expressions, each for a line. The name of a case is the group `name`, else the first group, else the whole
/// match.
#[derive(JsonSchema)]
#[schemars(rename = "Lines", deny_unknown_fields)]
#[expect(dead_code, reason = "its schema is what it is for")]
struct LinesMap {
    /// A case that passed.
    pass: Option<Parsed<Expression>>,
    /// A case that failed.
    fail: Option<Parsed<Expression>>,
    /// A case that was skipped; the group `reason` says why.
    skip: Option<Parsed<Expression>>,
    /// How many cases there will be, in the group `planned`.
    planned: Option<Parsed<Expression>>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum LineKey {
    Pass,
    Fail,
    Skip,
    Planned,
}

impl<'de> Deserialize<'de> for LinesSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LinesVisitor)
    }
}

struct LinesVisitor;

impl<'de> Visitor<'de> for LinesVisitor {
    type Value = LinesSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map with `pass`, `fail`, `skip` or `planned`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<LinesSpec, A::Error> {
        let mut rules = LineRules::default();
        while let Some(key) = map.next_key()? {
            let rule = match key {
                LineKey::Pass => &mut rules.pass,
                LineKey::Fail => &mut rules.fail,
                LineKey::Skip => &mut rules.skip,
                LineKey::Planned => &mut rules.planned,
            };
            *rule = Some(map.next_value::<Parsed<Expression>>()?.0.0);
        }
        if rules.pass.is_none() && rules.fail.is_none() {
            // Nothing is said where one was refused before.
            return Err(de::Error::invalid_length(0, &"at least one of `pass` and `fail`"));
        }
        Ok(LinesSpec(rules))
    }
}

impl JsonSchema for ReaderSpec {
    fn schema_name() -> Cow<'static, str> {
        "Reader".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let path = generator.subschema_for::<Parsed<JunitPath>>();
        let lines = generator.subschema_for::<LinesMap>();
        let only = |key: &str, value: Schema| {
            json_schema!({
                "type": "object", "properties": {key: value}, "required": [key], "additionalProperties": false
            })
        };
        json_schema!({"oneOf": [{"enum": NAMES}, only("junit", path), only("lines", lines)]})
    }
}
