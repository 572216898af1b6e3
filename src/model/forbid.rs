//! Programs that a check may not run, and what was seen of calls of them.

use serde::{Deserialize, Serialize};

use super::Process;

/// A program that nothing of a check may run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forbid {
    /// The name of its file, without `.exe`.
    pub program: String,
    /// Whether it is run all the same, and told.
    pub observe: bool,
}

/// A call of such a program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForbiddenCall {
    pub program: String,
    /// Who would have become it, with the call's arguments.
    pub process: Process,
    /// In milliseconds after the check's start.
    pub at_ms: u64,
    /// Whether it was run.
    pub ran: bool,
}
