//! Values that may be written in more than one form, read without losing the place of what is in them.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::spanned::WRITTEN;
use super::text::{Fault, Grammar, Parsed};
use super::values::{Expression, Filled, InheritedName, Program};

/// A program and its arguments; at least the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argv(pub Vec<String>);

impl<'de> Deserialize<'de> for Argv {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ArgvVisitor)
    }
}

struct ArgvVisitor;

impl<'de> Visitor<'de> for ArgvVisitor {
    type Value = Argv;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a command, as a list of words")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Argv, E> {
        let words = text.split_whitespace().collect::<Vec<_>>().join(", ");
        Err(E::custom(
            Fault::new("expected a command as a list of words, found a text")
                .help(&format!("write it as a list: [{words}]"))
                .help("a script for a shell belongs under `shell`"),
        ))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Argv, A::Error> {
        let mut words: Vec<String> = Vec::new();
        while let Some(word) = seq.next_element()? {
            words.push(word);
        }
        match words.first() {
            None => Err(de::Error::invalid_length(0, &"a command")),
            Some(program) if program.trim().is_empty() => {
                Err(de::Error::custom(Fault::new("the first word of a command must name a program")))
            }
            Some(_) => Ok(Argv(words)),
        }
    }
}

impl JsonSchema for Argv {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Argv".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "array", "items": {"type": "string"}, "minItems": 1})
    }
}

/// A list with something in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NonEmpty<T>(pub Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NonEmpty<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(NonEmptyVisitor(PhantomData))
    }
}

struct NonEmptyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NonEmptyVisitor<T> {
    type Value = NonEmpty<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<NonEmpty<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = seq.next_element()? {
            list.push(item);
        }
        if list.is_empty() { Err(de::Error::invalid_length(0, &"this list")) } else { Ok(NonEmpty(list)) }
    }
}

impl<T: JsonSchema> JsonSchema for NonEmpty<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("NonEmpty_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "array", "items": generator.subschema_for::<T>(), "minItems": 1})
    }
}

/// What a variable is set to; `None` removes it. Integers and booleans are taken as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnvValue(pub Option<String>);

impl<'de> Deserialize<'de> for EnvValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(WRITTEN, EnvValueVisitor)
    }
}

struct EnvValueVisitor;

impl Visitor<'_> for EnvValueVisitor {
    type Value = EnvValue;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the value of a variable (a text, an integer, a boolean, or null to remove it)")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<EnvValue, E> {
        Ok(EnvValue(Some(text.to_owned())))
    }

    fn visit_unit<E: de::Error>(self) -> Result<EnvValue, E> {
        Ok(EnvValue(None))
    }
}

impl JsonSchema for EnvValue {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "EnvValue".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": ["string", "integer", "boolean", "null"]})
    }
}

/// Names of variables, or all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InheritSpec {
    All,
    Names(Vec<Parsed<InheritedName>>),
}

impl<'de> Deserialize<'de> for InheritSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(InheritVisitor)
    }
}

struct InheritVisitor;

impl<'de> Visitor<'de> for InheritVisitor {
    type Value = InheritSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of names, or `all`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<InheritSpec, E> {
        if text == "all" {
            return Ok(InheritSpec::All);
        }
        Err(E::custom(
            Fault::new(format!("expected a list of names, or `all`, found the text \"{text}\""))
                .help(&format!("write it as a list: [{text}]")),
        ))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<InheritSpec, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = seq.next_element()? {
            names.push(name);
        }
        Ok(InheritSpec::Names(names))
    }
}

impl JsonSchema for InheritSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Inherit".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names = generator.subschema_for::<Vec<Parsed<InheritedName>>>();
        json_schema!({"oneOf": [{"const": "all"}, names]})
    }
}

/// A rule for a text, as a map with one key.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(rename = "TextRule", rename_all = "snake_case")]
pub enum TextRuleSpec {
    /// It must be in the text.
    Contains(Parsed<Filled>),
    /// It must not be in the text.
    NotContains(Parsed<Filled>),
    /// This regular expression must match somewhere in the text.
    Matches(Parsed<Expression>),
}

#[derive(serde::Deserialize)]
#[serde(field_identifier, rename_all = "snake_case")]
enum RuleKey {
    Contains,
    NotContains,
    Matches,
}

impl<'de> Deserialize<'de> for TextRuleSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RuleVisitor)
    }
}

struct RuleVisitor;

impl<'de> Visitor<'de> for RuleVisitor {
    type Value = TextRuleSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a rule (a map with `contains`, `not_contains` or `matches`)")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<TextRuleSpec, E> {
        Err(E::custom(Fault::new("expected a rule, found a text").help(&format!("write {{contains: \"{text}\"}}"))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TextRuleSpec, A::Error> {
        let mut rules = Vec::new();
        while let Some(key) = map.next_key()? {
            rules.push(match key {
                RuleKey::Contains => TextRuleSpec::Contains(map.next_value()?),
                RuleKey::NotContains => TextRuleSpec::NotContains(map.next_value()?),
                RuleKey::Matches => TextRuleSpec::Matches(map.next_value()?),
            });
        }
        match (rules.pop(), rules.is_empty()) {
            (None, _) => Err(de::Error::invalid_length(0, &"a rule")),
            (Some(rule), true) => Ok(rule),
            (Some(_), false) => Err(de::Error::custom(
                Fault::new("a rule with more than one key").help("make each a rule of its own in the list"),
            )),
        }
    }
}

/// A program that a check needs: its name, or a map.
#[derive(Debug, Clone)]
pub struct NeedSpec {
    /// `None` only if the map lacks it.
    pub program: Option<Parsed<Program>>,
    pub optional: bool,
}

/// A program that a check can do without.
#[derive(serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NeedMap {
    /// Its name, or its name and the least version of it, as `python3>=3.11`.
    #[schemars(required)]
    program: Option<Parsed<Program>>,
    /// Whether the check is skipped rather than broken when it is missing.
    optional: Option<bool>,
}

impl<'de> Deserialize<'de> for NeedSpec {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NeedVisitor)
    }
}

struct NeedVisitor;

impl<'de> Visitor<'de> for NeedVisitor {
    type Value = NeedSpec;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a program, or a map with `program`")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<NeedSpec, E> {
        let program = Program::text(text).map_err(E::custom)?;
        Ok(NeedSpec { program: Some(Parsed(program)), optional: false })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<NeedSpec, A::Error> {
        let NeedMap { program, optional } = NeedMap::deserialize(MapAccessDeserializer::new(map))?;
        Ok(NeedSpec { program, optional: optional.unwrap_or_default() })
    }
}

impl JsonSchema for NeedSpec {
    fn schema_name() -> Cow<'static, str> {
        "Need".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let map = NeedMap::json_schema(generator);
        json_schema!({"oneOf": [Program::schema(), map]})
    }
}
