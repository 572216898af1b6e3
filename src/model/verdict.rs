//! The one word per check.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is said of a check. In the order of precedence: where several hold, the first counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It could not be run or measured: a missing program, a failed setup, a supervisor that died.
    Broken,
    /// It was ended at its time limit.
    TimedOut,
    /// It ran, and something that was expected of it was not seen.
    Failed,
    /// It did what was expected and left something behind.
    Leaked,
    /// Several runs of it differ.
    Flaky,
    /// It was left out, or every case in it was, with the reason.
    Skipped,
    /// Everything that was expected was seen, and nothing was left behind.
    Passed,
}

impl Verdict {
    /// Whether a run with this verdict is as expected.
    #[must_use]
    pub fn is_red(self) -> bool {
        !matches!(self, Self::Passed | Self::Skipped)
    }

    /// The name that the report uses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Broken => "broken",
            Self::TimedOut => "timed-out",
            Self::Failed => "failed",
            Self::Leaked => "leaked",
            Self::Flaky => "flaky",
            Self::Skipped => "skipped",
            Self::Passed => "passed",
        }
    }
}
