//! Facts against a check.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Frame, Process};

/// What kind of fact. `hostproof explain KIND` tells what each is, why a host cares and how to mend it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A process of the check is alive after the grace.
    LeakedProcess,
    /// A process ended within the grace, after the check.
    LateExit,
    /// A directory of the sandbox is held by a process that outlives the grace.
    HeldDirectory,
    /// The same for a file.
    HeldFile,
    /// A removal or a rename that Windows refuses.
    RefusedByWindows,
    /// A published file was written in place.
    TornPublish,
    /// A program was called that may not be run.
    ForbiddenCommand,
    /// A fault that was asked for was never made.
    IdleFault,
    /// A name that another system cannot have.
    IllegalName,
    /// The check's stdout or stderr is still open after the grace.
    HeldPipe,
    /// What the check left cannot be removed, or something outside its sandbox is not as it was before.
    Residue,
    /// Fewer cases ran than planned or expected.
    ShortCount,
    /// More cases ran than expected.
    LongCount,
    /// More cases were skipped than allowed.
    SkippedCases,
    /// Exit status 0 and nothing that shows a test ran.
    NoProof,
    /// Exit status or text is not as expected.
    Unmet,
    /// An edit that must turn the check red did not.
    Toothless,
    /// The time limit ended the check.
    Timeout,
    /// A process could not be killed.
    Survivor,
    /// The check passes, and this variant of it does not: what was changed for it matters.
    DependsOn,
    /// Copies of the check that run at the same moment are red, and it passes alone.
    Collision,
    /// Several runs of the check differ.
    Flaky,
    /// A probe could not look.
    ProbeBlind,
}

impl Kind {
    /// All kinds, in the order in which findings are shown.
    pub const ALL: [Self; 23] = [
        Self::DependsOn,
        Self::Collision,
        Self::Flaky,
        Self::Timeout,
        Self::Toothless,
        Self::RefusedByWindows,
        Self::ForbiddenCommand,
        Self::Unmet,
        Self::ShortCount,
        Self::LongCount,
        Self::SkippedCases,
        Self::NoProof,
        Self::IdleFault,
        Self::TornPublish,
        Self::IllegalName,
        Self::HeldDirectory,
        Self::HeldFile,
        Self::HeldPipe,
        Self::LeakedProcess,
        Self::Survivor,
        Self::Residue,
        Self::LateExit,
        Self::ProbeBlind,
    ];

    /// The slug that reports, `allow` and `explain` use.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Self::LeakedProcess => "leaked-process",
            Self::LateExit => "late-exit",
            Self::HeldDirectory => "held-directory",
            Self::HeldFile => "held-file",
            Self::RefusedByWindows => "refused-by-windows",
            Self::TornPublish => "torn-publish",
            Self::ForbiddenCommand => "forbidden-command",
            Self::IdleFault => "idle-fault",
            Self::IllegalName => "illegal-name",
            Self::HeldPipe => "held-pipe",
            Self::Residue => "residue",
            Self::ShortCount => "short-count",
            Self::LongCount => "long-count",
            Self::SkippedCases => "skipped-cases",
            Self::NoProof => "no-proof",
            Self::Unmet => "unmet",
            Self::Toothless => "toothless",
            Self::Timeout => "timeout",
            Self::Survivor => "survivor",
            Self::DependsOn => "depends-on",
            Self::Collision => "collision",
            Self::Flaky => "flaky",
            Self::ProbeBlind => "probe-blind",
        }
    }

    /// The kind of that slug.
    #[must_use]
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.slug() == slug)
    }
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Makes the check red.
    Error,
    /// Shown; red with `--strict`.
    Warning,
    /// Shown; never red.
    Note,
}

/// One fact against a check: what, who, where, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    pub kind: Kind,
    pub severity: Severity,
    /// One sentence that stands alone.
    pub message: String,
    /// Relative to the sandbox or the project where it lies in one, else absolute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// By what means the path is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub how: Option<super::How>,
    /// Whether the path had already been removed when it was seen to be held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<bool>,
    /// The system call that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The error with which Windows refuses it (`GetLastError`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winerror: Option<u32>,
    /// Where the project's own code tripped over the path, if a failure's error is about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<Frame>,
    /// How long after the check's end the process ended by itself, in milliseconds; `None` if it had to be ended, or where
    /// that does not matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// Who did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<Process>,
    /// The case during which it came about, where that can be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<String>,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The reason why the manifest allows it; its severity is then `note`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
}

impl Finding {
    /// A finding with nothing but a message; the rest is filled in where it is known.
    #[must_use]
    pub fn new(kind: Kind, severity: Severity, message: impl Into<String>) -> Self {
        Self {
            kind,
            severity,
            message: message.into(),
            path: None,
            how: None,
            deleted: None,
            call: None,
            winerror: None,
            frame: None,
            ended_ms: None,
            process: None,
            case: None,
            remedy: None,
            allowed: None,
        }
    }
}
