//! What reads the output of a check.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sub-runner whose output can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReaderName {
    Pytest,
    Nextest,
    CargoTest,
    GoTest,
    Unittest,
    Jest,
    NodeTest,
    Bats,
    Tap,
    OkLines,
}

impl ReaderName {
    /// All of them. Of two that recognise the same output, the one that comes first here is the more particular.
    pub const ALL: [Self; 10] = [
        Self::Pytest,
        Self::Nextest,
        Self::CargoTest,
        Self::GoTest,
        Self::Unittest,
        Self::Jest,
        Self::NodeTest,
        Self::Bats,
        Self::Tap,
        Self::OkLines,
    ];

    /// The name that manifests and reports use.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pytest => "pytest",
            Self::Nextest => "nextest",
            Self::CargoTest => "cargo-test",
            Self::GoTest => "go-test",
            Self::Unittest => "unittest",
            Self::Jest => "jest",
            Self::NodeTest => "node-test",
            Self::Bats => "bats",
            Self::Tap => "tap",
            Self::OkLines => "ok-lines",
        }
    }
}

/// Which reader reads the output.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReaderChoice {
    /// The one that recognises the output.
    #[default]
    Auto,
    /// None: the check has no cases, and exit status 0 needs no further proof.
    None,
    /// This one.
    Named(ReaderName),
    /// What the check writes to JUnit XML files: a path, or a glob of several. Relative to where the check starts;
    /// `$project` and `$sandbox` are replaced.
    Junit(String),
    /// Lines, told apart by these expressions.
    Lines(LineRules),
}

/// Regular expressions that tell lines of output apart; each was seen to compile.
///
/// The name of a case is the group `name`, else the first group, else the whole match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub struct LineRules {
    pub pass: Option<String>,
    pub fail: Option<String>,
    /// May have a group `reason`.
    pub skip: Option<String>,
    /// A line that says how many cases there will be, in the group `planned`.
    pub planned: Option<String>,
}
