//! What `compare` says of several runs: the document of `compare --json`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Counts, Finding, Frame, Kind, Place, Tool, Verdict};

/// The value of [`Comparison::schema`].
pub const COMPARISON_SCHEMA: &str = "hostproof.comparison/1";

/// Several runs side by side.
///
/// Lists called `sides`, `standings` and `values` have one entry for each run, in the order of [`Comparison::sides`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Always `hostproof.comparison/1`.
    pub schema: String,
    pub tool: Tool,
    pub outcome: Likeness,
    pub sides: Vec<ComparedRun>,
    pub totals: ComparedTotals,
    /// The first check and case, in the order in which they ran, whose outcomes differ.
    pub first: Option<Divergence>,
    /// The facts that differ between the runs, those first that explain most.
    pub facts: Vec<Cause>,
    /// Every check, in the order of the run.
    pub checks: Vec<CheckComparison>,
    /// What could not be compared, and what else a reader has to know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Whether outcomes are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Likeness {
    /// All that is known is the same.
    Same,
    /// Green in one, and red, skipped or missing in another; or red in one, and skipped or missing in another.
    Different,
    /// Fewer than two runs tell of it.
    Unknown,
}

/// One of the runs that are compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedRun {
    /// What it is called here; unique.
    pub label: String,
    /// The file that was read.
    pub file: String,
    pub form: RunForm,
    /// Where it ran; `null` where the file does not tell.
    pub place: Option<Place>,
    /// System and architecture, as `linux x86_64`; `null` where the file does not tell.
    pub system: Option<String>,
    /// RFC 3339, in UTC.
    pub started: Option<String>,
}

/// The form of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunForm {
    /// `hostproof.report/1`.
    Report,
    /// JUnit's XML: cases, and nothing of the machine or of what a check left behind.
    Junit,
}

/// How many checks and cases are alike. Only what at least two runs tell of is counted as compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedTotals {
    pub checks: ComparedCount,
    /// Of the cases whose names are known.
    pub cases: ComparedCount,
}

/// How many of something are alike.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ComparedCount {
    /// In all runs that tell of it.
    pub same: u64,
    /// In at least two runs.
    pub different: u64,
    /// Of which fewer than two runs tell.
    pub unknown: u64,
}

/// How a check, or a case, stands in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    Green,
    Red,
    Skipped,
    /// It is not in the run, or it was planned and never ran.
    Missing,
    /// The run does not tell.
    Unknown,
}

impl Standing {
    /// The word that people read.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Red => "red",
            Self::Skipped => "skipped",
            Self::Missing => "missing",
            Self::Unknown => "not known",
        }
    }
}

/// One check in all runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckComparison {
    /// The id; of variants that stand for each other, the id without the variant.
    pub id: String,
    pub outcome: Likeness,
    pub sides: Vec<CheckSide>,
    /// How many cases at least two runs tell of.
    pub cases_compared: u64,
    /// The cases that differ, in the order of the run that has them first.
    pub cases: Vec<CaseComparison>,
    /// The facts that explain the difference, the best first; empty where there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// What differs and makes no difference in the outcome: counts, findings, times beyond the noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One check in one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckSide {
    /// The id that it has there; `null` if it is not there.
    pub id: Option<String>,
    pub standing: Standing,
    /// `null` where the run has no verdicts.
    pub verdict: Option<Verdict>,
    /// The verdict in a few words.
    pub reason: Option<String>,
    pub counts: Counts,
    /// From start to the end of the first process; `null` where that is not known.
    pub duration_ms: Option<u64>,
    /// The kinds of its errors and warnings, each once.
    pub findings: Vec<Kind>,
}

/// One case that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseComparison {
    /// As the first run that has it calls it.
    pub name: String,
    pub standings: Vec<Standing>,
}

/// A fact that differs between runs, and how well it explains an outcome that does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// What it is called, as `uid`, `time zone`, `program tmux`.
    pub fact: String,
    /// `null` where a run does not tell.
    pub values: Vec<Option<String>>,
    /// From 0 to 100: up to 80 for what the failure itself says, up to 20 for how often this fact is the reason.
    pub weight: u64,
    /// Whether all green runs have one value and all others another one; `null` where two runs alone would always say so.
    pub splits: Option<bool>,
    /// Why it has that weight; empty where nothing but experience speaks for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub because: Vec<String>,
}

/// Where runs part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Divergence {
    /// Its id here.
    pub check: String,
    /// `null` if the check differs as a whole.
    pub case: Option<String>,
    /// How it stands in each run.
    pub standings: Vec<Standing>,
    /// The label of the run that what follows is from: the first that is red there, else the first that is not green.
    pub run: String,
    /// Where it failed.
    pub frame: Option<Frame>,
    /// What stands against it: with the process, where one is to blame.
    pub finding: Option<Finding>,
    /// The verdict, or why it was skipped, in a few words.
    pub reason: Option<String>,
}
