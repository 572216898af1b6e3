//! `$.hooks[*].run`: the grammar of paths to commands.

use schemars::Schema;

use super::text::{Fault, Grammar, pattern};
use crate::model::{JsonPath, PathStep};

const HELP: &str = "write a path such as `$.hooks[*].run`: `$` is the file, `.name` or `['name']` a key, `[0]` an item, \
`[*]` every one, `..name` a key anywhere below";

/// The most steps of a path.
const MAX_STEPS: usize = 32;

/// A path to commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandPath(pub JsonPath);

impl Grammar for CommandPath {
    const WHAT: &'static str = "a path to commands";
    const NAME: &'static str = "CommandPath";

    fn text(text: &str) -> Result<Self, Fault> {
        let fault = |why: &str| Fault::new(format!("\"{text}\" is no path to commands: {why}")).help(HELP);
        let steps = steps(text).map_err(|why| fault(&why))?;
        if steps.len() > MAX_STEPS {
            return Err(fault(&format!("it has more than {MAX_STEPS} steps")));
        }
        if steps.iter().filter(|step| **step == PathStep::Below).count() > 2 {
            return Err(fault("it has more than two `..`"));
        }
        Ok(Self(JsonPath { steps, text: text.to_owned() }))
    }

    fn schema() -> Schema {
        pattern(r"^\$")
    }
}

fn steps(text: &str) -> Result<Vec<PathStep>, String> {
    let mut rest = text.strip_prefix('$').ok_or("it does not begin with `$`")?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        let at = text.len() - rest.len();
        let here = |why: &str| format!("{why}, at its character {}", text[..at].chars().count() + 1);
        if let Some(after) = rest.strip_prefix("..") {
            steps.push(PathStep::Below);
            rest = after;
            if !rest.starts_with('[') {
                rest = named(rest, &mut steps).ok_or_else(|| here("no name follows `..`"))?;
            }
        } else if let Some(after) = rest.strip_prefix('.') {
            rest = named(after, &mut steps).ok_or_else(|| here("no name follows `.`"))?;
        } else if rest.starts_with('[') {
            rest = bracketed(rest, &mut steps).ok_or_else(|| here("these brackets are not known"))?;
        } else {
            return Err(here("a step begins with `.` or `[`"));
        }
    }
    Ok(steps)
}

/// A name without quotes, or `*`; the rest.
fn named<'t>(text: &'t str, steps: &mut Vec<PathStep>) -> Option<&'t str> {
    if let Some(rest) = text.strip_prefix('*') {
        steps.push(PathStep::Every);
        return Some(rest);
    }
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')).unwrap_or(text.len());
    if end == 0 {
        return None;
    }
    steps.push(PathStep::Child(text[..end].to_owned()));
    Some(&text[end..])
}

fn bracketed<'t>(text: &'t str, steps: &mut Vec<PathStep>) -> Option<&'t str> {
    let inner = text.strip_prefix('[')?;
    let quote = inner.chars().next().filter(|c| *c == '\'' || *c == '"');
    if let Some(quote) = quote {
        let (name, rest) = inner[1..].split_once(quote)?;
        if name.contains('\\') {
            return None;
        }
        steps.push(PathStep::Child(name.to_owned()));
        return rest.strip_prefix(']');
    }
    let (inner, rest) = inner.split_once(']')?;
    steps.push(match inner.trim() {
        "*" => PathStep::Every,
        index => PathStep::Index(index.parse().ok()?),
    });
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths() {
        let child = |name: &str| PathStep::Child(name.to_owned());
        for (text, steps) in [
            ("$", vec![]),
            ("$.hooks[*].run", vec![child("hooks"), PathStep::Every, child("run")]),
            ("$['a b'][\"c\"][0][-1]", vec![child("a b"), child("c"), PathStep::Index(0), PathStep::Index(-1)]),
            ("$..run", vec![PathStep::Below, child("run")]),
            ("$..[0].*", vec![PathStep::Below, PathStep::Index(0), PathStep::Every]),
            ("$.pre-commit.ä", vec![child("pre-commit"), child("ä")]),
        ] {
            assert_eq!(CommandPath::text(text).unwrap().0.steps, steps, "{text}");
        }
        for text in [
            "",
            "hooks",
            "$.",
            "$..",
            "$hooks",
            "$[",
            "$[]",
            "$[a]",
            "$[?(@.a)]",
            "$[1:2]",
            "$['a]",
            "$..a..b..c",
            "$.a b",
        ] {
            assert!(CommandPath::text(text).is_err(), "{text}");
        }
        assert!(CommandPath::text("$.a[x]").unwrap_err().to_string().contains("character 4"));
        assert!(CommandPath::text(&format!("${}", ".a".repeat(33))).is_err());
    }
}
