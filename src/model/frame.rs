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
}
