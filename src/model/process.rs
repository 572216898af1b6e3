//! Processes and what they hold, as a probe saw them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Exit {
    /// It exited with this status.
    Code(i32),
    /// A signal of this number ended it (Unix only).
    Signal(i32),
}

/// One of the check's captured streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    Stdout,
    Stderr,
}

/// By what means a process keeps a path from being removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// It is the process's current directory.
    Cwd,
    /// It is the process's root directory.
    Root,
    /// It is open.
    Descriptor,
    /// It is the program that the process runs.
    Executable,
    /// It is mapped into memory.
    Mapping,
}

impl How {
    /// As part of a sentence: `PATH is … pid 1`.
    #[must_use]
    pub fn phrase(self) -> &'static str {
        match self {
            Self::Cwd => "the current directory of",
            Self::Root => "the root directory of",
            Self::Descriptor => "held open by",
            Self::Executable => "the running program of",
            Self::Mapping => "mapped into memory by",
        }
    }
}

/// One hold on a path of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Hold {
    pub how: How,
    /// Absolute.
    pub path: String,
    /// Whether it is a directory.
    pub directory: bool,
    /// Whether the path was already removed. Linux lets that happen; Windows refuses the removal.
    pub deleted: bool,
}

/// Enough to find a process again, or to recognise it in a listing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessRef {
    pub pid: u32,
    /// Empty for a process that has none any more (a zombie) or whose arguments could not be read.
    pub argv: Vec<String>,
}

/// What was read of one process of a check's tree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Process {
    pub pid: u32,
    /// Its arguments; its name in brackets where they could not be read.
    pub argv: Vec<String>,
    /// From the nearest upwards, as far as the check's tree goes. Empty for an orphan.
    #[serde(default)]
    pub parents: Vec<ProcessRef>,
    /// When it started, in milliseconds after the check's start. The system's own clock tick (10 ms on Linux) bounds
    /// how exact this is.
    #[serde(default)]
    pub started_ms: Option<u64>,
    /// Whether it leads, or belongs to, another session than the check's first process.
    #[serde(default)]
    pub own_session: bool,
    /// The system's word for its state: `running`, `sleeping`, `stopped`, `zombie`, …
    #[serde(default)]
    pub state: Option<String>,
    /// What it waits on, where the system tells: a kernel function, or a word for what is read.
    #[serde(default)]
    pub waiting_on: Option<String>,
    /// What it holds of the sandbox.
    #[serde(default)]
    pub holds: Vec<Hold>,
    /// Which of the check's streams it has open for writing.
    #[serde(default)]
    pub pipes: Vec<Stream>,
    /// The case it was started under, where a sub-runner left the name in its environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case_hint: Option<String>,
    /// What of the above could not be read, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

impl Process {
    /// The short form for a finding.
    #[must_use]
    pub fn to_ref(&self) -> ProcessRef {
        ProcessRef { pid: self.pid, argv: self.argv.clone() }
    }

    /// The arguments as one line.
    #[must_use]
    pub fn command_line(&self) -> String {
        self.argv.join(" ")
    }
}
