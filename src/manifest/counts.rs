//! What `expect` says of numbers of cases, each in more than one form.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::forms::Argv;
use super::spanned::Spanned;
use super::text::{Fault, Grammar, Parsed};
use super::values::{Cases, Expression};
use crate::model::{CaseCount, Listing, ListingForm, SkipRule, Skips};

/// How many cases must run: a number, a bound, or a command that lists them.
#[derive(Debug, Clone)]
pub enum CasesSpec {
    Number(CaseCount),
    List(ListSpec),
}

/// The cases that a command lists must run.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `list`")]
pub struct ListSpec {
    /// The command that lists them, as a list of words: `[pytest, --collect-only, -q]`.
    #[schemars(required)]
    pub list: Option<Argv>,
    /// What reads names out of its output; `auto` (the form that it is in) by default.
    pub reader: Option<ListReaderSpec>,
}

impl CasesSpec {
    /// The count of the model; `None` if it lacks the command.
    pub fn lower(self) -> Option<CaseCount> {
        match self {
            Self::Number(count) => Some(count),
            Self::List(ListSpec { list, reader }) => {
                let form = reader.map(|reader| reader.0).unwrap_or_default();
                list.map(|argv| CaseCount::Listed(Listing { argv: argv.0, form }))
            }
        }
    }
}

impl<'de> Deserialize<'de> for CasesSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CasesVisitor)
    }
}

struct CasesVisitor;

impl<'de> Visitor<'de> for CasesVisitor {
    type Value = CasesSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a count of cases (57, \">=57\", or a map with `list`)")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<CasesSpec, E> {
        Cases::text(text).map(|cases| CasesSpec::Number(cases.0)).map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, integer: i64) -> Result<CasesSpec, E> {
        Cases::integer(integer).map(|cases| CasesSpec::Number(cases.0)).map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<CasesSpec, A::Error> {
        Err(de::Error::custom(
            Fault::new("expected a count of cases, found a list")
                .help("a command that lists them belongs under `list`: `cases: {list: [pytest, --collect-only, -q]}`"),
        ))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<CasesSpec, A::Error> {
        ListSpec::deserialize(MapAccessDeserializer::new(map)).map(CasesSpec::List)
    }
}

impl JsonSchema for CasesSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Cases".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = Cases::schema();
        let map = ListSpec::json_schema(generator);
        if let Some(forms) = schema.get_mut("oneOf").and_then(|forms| forms.as_array_mut()) {
            forms.push(map.into());
        }
        schema
    }
}

/// What reads the names of cases out of a listing.
#[derive(Debug, Clone)]
pub struct ListReaderSpec(pub ListingForm);

/// Every name that may stand there.
const NAMES: [&str; ListingForm::NAMED.len()] = {
    let mut names = [""; ListingForm::NAMED.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = ListingForm::NAMED[at].0;
        at += 1;
    }
    names
};

/// An expression for the lines that name a case.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LinesMap {
    /// A regular expression: its group `name`, else its first group, else the whole match is a case's name.
    #[schemars(required)]
    lines: Option<Parsed<Expression>>,
}

impl<'de> Deserialize<'de> for ListReaderSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListReaderVisitor)
    }
}

struct ListReaderVisitor;

impl<'de> Visitor<'de> for ListReaderVisitor {
    type Value = ListReaderSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the name of a listing's form, or a map with `lines`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ListReaderSpec, E> {
        let found = ListingForm::NAMED.into_iter().find(|(name, _)| *name == text);
        found.map(|(_, form)| ListReaderSpec(form)).ok_or_else(|| E::unknown_variant(text, &NAMES))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ListReaderSpec, A::Error> {
        // An expression that was refused is missing on the second look, and told once.
        let LinesMap { lines } = LinesMap::deserialize(MapAccessDeserializer::new(map))?;
        match lines {
            Some(lines) => Ok(ListReaderSpec(ListingForm::Lines(lines.0.0))),
            None => Err(de::Error::invalid_length(0, &"this reader")),
        }
    }
}

impl JsonSchema for ListReaderSpec {
    fn schema_name() -> Cow<'static, str> {
        "ListReader".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"oneOf": [{"enum": NAMES}, LinesMap::json_schema(generator)]})
    }
}

/// Which cases may be skipped: so many, or those with a reason that a rule is for.
#[derive(Debug, Clone)]
pub enum SkippedSpec {
    AtMost(u64),
    ByReason(Vec<Spanned<SkipRuleSpec>>),
}

/// Cases that may be skipped for a reason.
#[derive(Debug, Clone, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a rule (a map with `matches`, and perhaps `most`)")]
#[schemars(rename = "SkipRule")]
pub struct SkipRuleSpec {
    /// A regular expression on the reason.
    #[schemars(required)]
    pub matches: Option<Parsed<Expression>>,
    /// How many of them, at most; any number by default.
    pub most: Option<u64>,
}

impl SkippedSpec {
    /// The rules of the model; `None` if one lacks its expression.
    pub fn lower(self) -> Option<Skips> {
        Some(match self {
            Self::AtMost(most) => Skips::AtMost(most),
            Self::ByReason(rules) => {
                let rule = |rule: Spanned<SkipRuleSpec>| {
                    Some(SkipRule { matches: rule.value.matches?.0.0, most: rule.value.most })
                };
                Skips::ByReason(rules.into_iter().map(rule).collect::<Option<_>>()?)
            }
        })
    }
}

impl<'de> Deserialize<'de> for SkippedSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SkippedVisitor)
    }
}

struct SkippedVisitor;

impl<'de> Visitor<'de> for SkippedVisitor {
    type Value = SkippedSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number of skipped cases, or a list of rules for their reasons")
    }

    fn visit_i64<E: de::Error>(self, integer: i64) -> Result<SkippedSpec, E> {
        u64::try_from(integer).map(SkippedSpec::AtMost).map_err(|_| E::custom(Fault::new("a count cannot be negative")))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<SkippedSpec, A::Error> {
        let mut rules = Vec::new();
        while let Some(rule) = seq.next_element()? {
            rules.push(rule);
        }
        if rules.is_empty() {
            Err(de::Error::invalid_length(0, &"this list"))
        } else {
            Ok(SkippedSpec::ByReason(rules))
        }
    }
}

impl JsonSchema for SkippedSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Skipped".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rule = generator.subschema_for::<SkipRuleSpec>();
        json_schema!({"oneOf": [
            {"type": "integer", "minimum": 0},
            {"type": "array", "items": rule, "minItems": 1},
        ]})
    }
}
