//! The document of one run. Everything that is shown or compared is read from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Case, Counts, Exit, Finding, Frame, Home, HookReport, HostFacts, Process, Runs, SharedUse, Verdict};

/// The name and version of the report's form.
pub const SCHEMA: &str = "hostproof.report/1";

/// One run: what ran, where, of which source, and what came of it.
///
/// Times are whole milliseconds or RFC 3339 text; there are no floating-point numbers. Readers ignore fields that they
/// do not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// Always `hostproof.report/1`.
    pub schema: String,
    pub tool: Tool,
    pub run: RunFacts,
    pub place: Place,
    pub host: HostFacts,
    pub source: SourceFacts,
    pub manifests: Manifests,
    pub totals: Totals,
    pub checks: Vec<CheckReport>,
    /// What concerns the run as a whole.
    #[serde(default)]
    pub findings: Vec<Finding>,
}

/// Which hostproof wrote the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `hostproof`.
    pub name: String,
    /// Its version, as `0.1.0`.
    pub version: String,
}

/// The run itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunFacts {
    /// Unique among runs.
    pub id: String,
    /// How hostproof was called.
    pub argv: Vec<String>,
    /// RFC 3339, in UTC.
    pub started: String,
    /// From the start to the last check's verdict.
    pub duration_ms: u64,
    /// How many checks ran at once, at most.
    pub jobs: u64,
    /// Whether it was ended by the user before every check ran.
    pub interrupted: bool,
    /// Why no further check was started before all had run; `null` if all were.
    #[serde(default)]
    pub stopped: Option<Stop>,
    /// The ids of the checks that were planned and never started, in the order of the plan.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_run: Vec<String>,
    /// Which part of the plan it ran; not there if it was the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partition: Option<Partition>,
    /// What is new since the run that `--baseline` names; not there without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
}

/// One of several parts of a plan, each of which a run of its own can run. A check's part depends on its id alone, so it
/// stays in it whatever else is added or removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Partition {
    /// From 1.
    pub part: u64,
    /// How many parts there are.
    pub of: u64,
}

/// A run set against an earlier one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// The file, or the name of the commit, as it was given.
    pub of: String,
    /// The commit that was run for this; `null` if a report was read.
    pub commit: Option<String>,
    /// The checks that are worse than they were.
    pub new: Vec<Worse>,
    /// The red ones that were as red before.
    pub old: Vec<String>,
    /// Those that were red and are green.
    pub mended: Vec<String>,
    /// The red ones of which the earlier run does not tell.
    pub unknown: Vec<String>,
}

/// A check that is worse than it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Worse {
    /// The id of the check.
    pub id: String,
    /// The cases, or what else is new, in a few words.
    pub why: String,
}

/// Why a run was over before all of its checks had run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The user ended it.
    Interrupted,
    /// A check was red, and `--fail-fast` was given.
    FailFast,
    /// A check was red, and `--until-fail` was given.
    UntilFail,
}

impl Stop {
    /// In the words of the last line.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Interrupted => "interrupted",
            Self::FailFast => "--fail-fast",
            Self::UntilFail => "--until-fail",
        }
    }
}

/// Where the checks ran.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// `host`, or `container`; the latter in a receipt also where an engine's mark was seen.
    pub kind: String,
    /// The engine of the container that hostproof had started: `docker` or `podman`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The engine's own version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_version: Option<String>,
    /// The image, as it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The image's id: `sha256:` and the digest over its configuration, which names its layers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_id: Option<String>,
    /// `sha256:` and the digest by which a registry has it; `null` where it was never in one, as the engine knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_digest: Option<String>,
}

impl Place {
    /// This machine.
    #[must_use]
    pub fn host() -> Self {
        Self::of_kind("host")
    }

    /// A container of which no more is known.
    #[must_use]
    pub fn container() -> Self {
        Self::of_kind("container")
    }

    fn of_kind(kind: &str) -> Self {
        let kind = kind.to_owned();
        Self { kind, engine: None, engine_version: None, image: None, image_id: None, image_digest: None }
    }
}

/// The project's git state before and after the run. `None` where there is no git repository, or no git.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceFacts {
    pub start: Option<SourceState>,
    pub end: Option<SourceState>,
}

/// The project's git state at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SourceState {
    /// `None` before the first commit.
    pub commit: Option<String>,
    /// The tree of that commit.
    pub tree: Option<String>,
    /// Whether tracked files differ from the commit, or untracked ones that git does not ignore exist.
    pub dirty: bool,
}

/// The manifests that the checks come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Manifests {
    /// SHA-256 over name and content of every file, in the order of the names; `None` without manifests.
    pub digest: Option<String>,
    /// Relative to the project.
    pub files: Vec<String>,
}

/// The sums over the run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    pub checks: CheckTotals,
    pub cases: CaseTotals,
}

/// How many checks got which verdict.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckTotals {
    /// How many were to run.
    pub planned: u64,
    /// Everything that was expected was seen, and nothing was left behind.
    pub passed: u64,
    /// Something that was expected was not seen.
    pub failed: u64,
    /// As expected, but for what they left behind.
    pub leaked: u64,
    /// Ended at their time limit.
    pub timed_out: u64,
    /// Could not be run or measured.
    pub broken: u64,
    /// Their runs differ.
    pub flaky: u64,
    /// Left out, with a reason.
    pub skipped: u64,
    /// Planned and never started: the run was interrupted, or stopped at its first red check.
    pub not_run: u64,
}

/// Sums of the cases over the checks that know theirs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CaseTotals {
    /// How many were announced, or expected; those that ran or began where nothing was.
    pub planned: u64,
    /// How many got an outcome, skipped ones included.
    pub ran: u64,
    /// How many hold.
    pub passed: u64,
    /// How many do not.
    pub failed: u64,
    /// How many were left out by their sub-runner.
    pub skipped: u64,
    /// How many were planned or began, and never got an outcome.
    pub unknown: u64,
}

/// The six numbers of a check, and its cases by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cases {
    /// How many were announced, or expected; `null` when unknown, never 0, as with the other five.
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
    /// The cases whose names are known.
    #[serde(default)]
    pub list: Vec<Case>,
}

impl Cases {
    /// The numbers alone.
    #[must_use]
    pub fn counts(&self) -> Counts {
        Counts {
            planned: self.planned,
            ran: self.ran,
            passed: self.passed,
            failed: self.failed,
            skipped: self.skipped,
            unknown: self.unknown,
        }
    }

    /// Numbers and names together.
    #[must_use]
    pub fn new(counts: Counts, list: Vec<Case>) -> Self {
        let Counts { planned, ran, passed, failed, skipped, unknown } = counts;
        Self { planned, ran, passed, failed, skipped, unknown, list }
    }
}

/// A captured stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Output {
    /// How many bytes the check wrote.
    pub bytes: u64,
    /// The end of it, as text: bytes that are not UTF-8 and control characters are escaped as `\xNN`.
    pub tail: String,
    /// Whether the tail is less than the whole.
    pub cut: bool,
    /// Where the whole is, when it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A process of the check that was alive at the check's end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProcessTimes {
    pub process: Process,
    /// How long after the check's end it ended by itself; `None` if it had to be ended.
    pub ended_ms: Option<u64>,
}

/// One check, or one variant of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckReport {
    /// The id in the manifest; `try` for a command without one.
    pub id: String,
    /// What distinguishes this variant; `null` for the check itself.
    pub variant: Option<String>,
    /// What the manifest says it is about.
    pub title: Option<String>,
    /// `FILE:LINE` of the manifest.
    pub origin: Option<String>,
    pub verdict: Verdict,
    /// The verdict in a few words: why it is red, or why it was skipped.
    pub reason: Option<String>,
    /// What was run, resolved: the program's path and its arguments.
    pub argv: Vec<String>,
    /// Where it was run: `$sandbox/…` in a sandbox that was not kept.
    pub cwd: Option<String>,
    /// Which home directory it saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<Home>,
    /// `null` if it never started or had to be ended before it exited.
    pub exit: Option<Exit>,
    /// RFC 3339, in UTC.
    pub started: Option<String>,
    /// From start to the end of the first process.
    pub duration_ms: u64,
    /// When stdout ended, after the start: hosts wait for that, not for the exit. `null` if it never did by itself.
    pub stdout_end_ms: Option<u64>,
    /// The reader that read the output.
    pub reader: Option<String>,
    pub cases: Cases,
    pub frames: Vec<Frame>,
    pub findings: Vec<Finding>,
    /// Processes that were alive at the check's end.
    pub processes: Vec<ProcessTimes>,
    pub stdout: Output,
    pub stderr: Output,
    /// The sandbox, when it was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// What could not be reconciled in the output.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What came of its hook, if it calls one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<HookReport>,
    /// What its runs came to, if it ran more than once; the rest is that of the first red one, or the first of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Runs>,
    /// What it used that is there once for everybody on the machine, of a check that runs beside copies of itself.
    #[serde(default, skip_serializing_if = "SharedUse::is_empty")]
    pub shared: SharedUse,
}

impl CheckReport {
    /// Whether there is more to say of it than that it passed.
    #[must_use]
    pub fn is_worth_a_word(&self) -> bool {
        self.verdict != Verdict::Passed || !self.findings.is_empty()
    }
}
