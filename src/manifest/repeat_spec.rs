//! `repeat`, `retries` and `copies`: how often a check runs.

use schemars::{JsonSchema, Schema, json_schema};
use serde::Deserialize;

use super::text::{Fault, Grammar, Parsed};
use crate::model::{FlakyIs, Retries};

/// The largest number of runs: with less than a second for each, some hours.
const MOST: u32 = 100_000;

/// At least one, and at most that many.
fn up_to(integer: i64, most: u32) -> Result<u32, Fault> {
    let number = u32::try_from(integer).ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| Fault::new(format!("{integer} is not between 1 and {most}")))
}

/// A number of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times(pub u32);

impl Grammar for Times {
    const WHAT: &'static str = "a number of runs";
    const NAME: &'static str = "Times";

    fn text(text: &str) -> Result<Self, Fault> {
        Err(Fault::new(format!("expected {}, found the text \"{text}\"", Self::WHAT)).help("write it as 20"))
    }

    fn integer(integer: i64) -> Result<Self, Fault> {
        up_to(integer, MOST).map(Self)
    }

    fn schema() -> Schema {
        json_schema!({"type": "integer", "minimum": 1, "maximum": MOST})
    }
}

/// How many copies run at once at most: each has a supervisor of its own.
pub const MOST_COPIES: u32 = 64;

/// A number of copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copies(pub u32);

impl Grammar for Copies {
    const WHAT: &'static str = "a number of copies";
    const NAME: &'static str = "Copies";

    fn text(text: &str) -> Result<Self, Fault> {
        Err(Fault::new(format!("expected {}, found the text \"{text}\"", Self::WHAT)).help("write it as 2"))
    }

    fn integer(integer: i64) -> Result<Self, Fault> {
        up_to(integer, MOST_COPIES).map(Self)
    }

    fn schema() -> Schema {
        json_schema!({"type": "integer", "minimum": 1, "maximum": MOST_COPIES})
    }
}

/// How often a red check is tried again.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a map with `count` and `flaky`")]
#[schemars(rename = "Retries")]
pub struct RetriesSpec {
    /// At most so many tries after the first.
    #[schemars(required)]
    pub count: Option<Parsed<Times>>,
    /// What a check is that then passes: `fail` (red, by default) or `pass` (green, with a note).
    pub flaky: Option<FlakyIs>,
}

impl RetriesSpec {
    /// `None` if it lacks its count.
    pub fn lower(self) -> Option<Retries> {
        Some(Retries { count: self.count?.0.0, flaky: self.flaky.unwrap_or_default() })
    }
}
