//! Cases as a sub-runner counts them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Frame;

/// How one case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CaseOutcome {
    /// The sub-runner said that it holds.
    Passed,
    /// The sub-runner said that it does not, whatever it calls that (failure, error, unexpected success).
    Failed,
    /// The sub-runner left it out and said so.
    Skipped,
    /// It was planned, or it began, and no outcome was seen.
    Unknown,
}

/// One test inside a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Case {
    /// The name as the sub-runner prints it, without terminal escapes.
    pub name: String,
    pub outcome: CaseOutcome,
    /// Why it was skipped, where the sub-runner says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// When the output began to tell of it, in milliseconds after the check's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_ms: Option<u64>,
    /// When its outcome (or, with no outcome, its name) arrived, in milliseconds after the check's start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<u64>,
}

impl Case {
    /// A case of which nothing more is known.
    #[must_use]
    pub fn new(name: impl Into<String>, outcome: CaseOutcome) -> Self {
        Self { name: name.into(), outcome, reason: None, from_ms: None, at_ms: None }
    }
}

/// The six numbers. Each is `None` when unknown, never 0 for want of a better answer.
///
/// Where both sides are known, `ran = passed + failed + skipped` and `planned = ran + unknown`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// How many the sub-runner, or the manifest, announced.
    pub planned: Option<u64>,
    /// How many got an outcome, skipped ones included.
    pub ran: Option<u64>,
    /// How many hold.
    pub passed: Option<u64>,
    /// How many do not.
    pub failed: Option<u64>,
    /// How many were left out by their sub-runner.
    pub skipped: Option<u64>,
    /// How many were planned or began, and never got an outcome.
    pub unknown: Option<u64>,
}

impl Counts {
    /// Whether the numbers that are known do not contradict each other.
    #[must_use]
    pub fn agree(&self) -> bool {
        let Self { planned, ran, passed, failed, skipped, unknown } = *self;
        let parts = [passed, failed, skipped];
        let known: u64 = parts.iter().flatten().sum();
        let whole = ran.is_none_or(|ran| if parts.iter().all(Option::is_some) { ran == known } else { ran >= known });
        let plan = planned.zip(ran).zip(unknown).is_none_or(|((planned, ran), unknown)| planned == ran + unknown);
        whole && plan
    }
}

/// What a reader made of a check's output.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The reader that recognised the output, or the readers, as `pytest + jest`; `None` if none did.
    pub reader: Option<String>,
    pub counts: Counts,
    /// The cases whose names are known, in the order of their outcomes. May be fewer than `counts` says.
    pub cases: Vec<Case>,
    /// Where failed cases failed, in the project's own code, in the order of the output.
    pub frames: Vec<Frame>,
    /// What could not be reconciled (a tally that disagrees with the lines, output cut off), for a person.
    pub notes: Vec<String>,
}
