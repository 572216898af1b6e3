//! The place of a failure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// File, line, function and error at which a case failed, in the project's own code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Frame {
    /// Relative to the project where the file lies in it, else as the output names it. Slashes as in the output.
    pub file: String,
    /// 1-based.
    pub line: u64,
    /// 1-based; only where the output tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// `<module>` for top-level Python code; `None` where the output does not tell.
    pub function: Option<String>,
    /// The error's type and message, one line, without terminal escapes.
    pub error: Option<String>,
    /// The case that failed there, where it is known.
    pub case: Option<String>,
    /// Where the error was raised, if that is deeper, in code that is not the project's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raised: Option<Raised>,
}

/// A place in the code of a library.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Raised {
    /// As the output names it.
    pub file: String,
    /// 1-based.
    pub line: u64,
    /// As the output names it; `null` where it does not tell.
    pub function: Option<String>,
}

impl Frame {
    /// A place of which nothing more is known.
    #[must_use]
    pub fn new(file: impl Into<String>, line: u64) -> Self {
        Self { file: file.into(), line, column: None, function: None, error: None, case: None, raised: None }
    }
}
