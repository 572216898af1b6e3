//! `breaks`: edits that must turn the check red.

use schemars::{JsonSchema, Schema, json_schema};
use serde::Deserialize;

use super::forms::NonEmpty;
use super::paths::ProjectPath;
use super::spanned::Spanned;
use super::text::{Fault, Grammar, Parsed};
use crate::model::{Break, Edit, Kind};

/// An edit, or several that belong together, and what the check must be red for with it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `file`, `replace`, `with` and `expect`")]
#[schemars(rename = "Break")]
pub struct BreakSpec {
    /// The file that is edited, in the project.
    pub file: Option<Parsed<ProjectPath>>,
    /// The text that is replaced. It must stand there once.
    pub replace: Option<Parsed<Replaced>>,
    /// What stands there instead; may be empty.
    pub with: Option<String>,
    /// Whether each of several such texts is replaced.
    pub all: Option<bool>,
    /// Several edits that are made together, instead of the keys above.
    pub edits: Option<NonEmpty<Spanned<EditSpec>>>,
    /// What the check must be red for: a kind of finding, the name of a case that fails, or a text that it writes.
    #[schemars(required)]
    pub expect: Option<Parsed<Expected>>,
}

/// One of several edits.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `file`, `replace` and `with`")]
#[schemars(rename = "Edit")]
pub struct EditSpec {
    /// The file that is edited, in the project.
    #[schemars(required)]
    pub file: Option<Parsed<ProjectPath>>,
    /// The text that is replaced. It must stand there once.
    #[schemars(required)]
    pub replace: Option<Parsed<Replaced>>,
    /// What stands there instead; may be empty.
    #[schemars(required)]
    pub with: Option<String>,
    /// Whether each of several such texts is replaced.
    pub all: Option<bool>,
}

impl BreakSpec {
    /// The edit that it is itself; `None` if it has none of an edit's keys.
    pub fn own(&self) -> Option<EditSpec> {
        let Self { file, replace, with, all, .. } = self.clone();
        let is_one = file.is_some() || replace.is_some() || with.is_some() || all.is_some();
        is_one.then_some(EditSpec { file, replace, with, all })
    }

    /// `None` if it lacks something.
    pub fn lower(self) -> Option<Break> {
        let own = self.own();
        let several = self.edits.map_or_else(Vec::new, |edits| edits.0.into_iter().map(|edit| edit.value).collect());
        let edits: Vec<Edit> = own.into_iter().chain(several).map(EditSpec::lower).collect::<Option<_>>()?;
        (!edits.is_empty()).then_some(Break { edits, expect: self.expect?.0.0 })
    }
}

impl EditSpec {
    fn lower(self) -> Option<Edit> {
        Some(Edit {
            file: self.file?.0.0,
            replace: self.replace?.0.0,
            with: self.with?,
            all: self.all.unwrap_or_default(),
        })
    }
}

/// A text that is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced(pub String);

impl Grammar for Replaced {
    const WHAT: &'static str = "a text";
    const NAME: &'static str = "Replaced";

    fn text(text: &str) -> Result<Self, Fault> {
        if text.is_empty() {
            return Err(Fault::new("a text that is nothing stands everywhere").help("write what is to be replaced"));
        }
        Ok(Self(text.to_owned()))
    }

    fn schema() -> Schema {
        json_schema!({"type": "string", "minLength": 1})
    }
}

/// What a check must be red for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected(pub String);

impl Grammar for Expected {
    const WHAT: &'static str = "a kind of finding, the name of a case, or a text";
    const NAME: &'static str = "ExpectedOfBreak";

    fn text(text: &str) -> Result<Self, Fault> {
        if text.trim().is_empty() {
            return Err(Fault::new("this text must not be empty"));
        }
        // A kind that is misspelled would be a text that nobody ever writes.
        let far = |kind: &Kind| strsim::damerau_levenshtein(kind.slug(), text);
        match Kind::ALL.into_iter().min_by_key(far) {
            Some(kind) if (1..=2).contains(&far(&kind)) => {
                Err(Fault::new(format!("\"{text}\" is not a kind of finding"))
                    .help(&format!("did you mean {}?", kind.slug())))
            }
            _ => Ok(Self(text.to_owned())),
        }
    }

    fn schema() -> Schema {
        super::text::pattern(r"\S")
    }
}
