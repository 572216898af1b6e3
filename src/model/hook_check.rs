//! A wired hook as a check: which one, with what events, and what came of calling it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::as_ms;
use super::{Exit, Host, Wiring};

/// Names wired commands, as their file has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookRef {
    /// The file that wires them, relative to the project.
    pub file: String,
    /// The host's name for the occasion.
    pub event: Option<String>,
    /// What the host narrows it down to, as it is written there.
    pub matcher: Option<String>,
    /// What the file calls it.
    pub name: Option<String>,
}

impl HookRef {
    /// Whether it is for that wired command.
    #[must_use]
    pub fn is_for(&self, wiring: &Wiring) -> bool {
        let same = |wanted: &Option<String>, own: &Option<String>| wanted.is_none() || wanted == own;
        self.file.trim_start_matches("./") == wiring.file
            && same(&self.event, &wiring.event)
            && same(&self.matcher, &wiring.matcher)
            && same(&self.name, &wiring.name)
    }

    /// As it is said in a sentence.
    #[must_use]
    pub fn words(&self) -> String {
        let parts = [("event", &self.event), ("matcher", &self.matcher), ("name", &self.name)];
        let parts = parts.into_iter().filter_map(|(key, value)| Some(format!("{key} {:?}", value.as_ref()?)));
        parts.fold(self.file.clone(), |words, part| format!("{words}, {part}"))
    }
}

/// What a host makes of a hook's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// It goes on.
    Allow,
    /// It does not.
    Block,
    /// It asks its user.
    Ask,
}

impl Decision {
    /// The name that manifests and reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Block => "block",
            Self::Ask => "ask",
        }
    }
}

/// What a hook is to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expected {
    Decision(Decision),
    /// JSON on stdout with all of this in it: the text of a JSON value.
    Json(String),
}

/// What a hook reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EventInput {
    /// What its host sends for that event, with these keys instead: the text of a JSON object.
    Sample(String),
    /// A file, relative to the project.
    File(String),
}

/// One occasion that a hook is called for: a case of its check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HookEvent {
    pub name: Option<String>,
    pub input: EventInput,
    /// The arguments of a hook of git's; those that git gives when `None`.
    pub args: Option<Vec<String>>,
    pub expect: Expected,
}

/// What must be so after a check's end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Eventually {
    /// How long after its end, at the latest.
    #[serde(serialize_with = "as_ms")]
    pub within: Duration,
    /// A glob of files, with `/`: relative to where the check starts, or below `$project` or `$sandbox`.
    pub file: String,
    pub is: Presence,
}

/// Whether there are such files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// None is there.
    Absent,
    /// At least one is.
    Present,
}

/// By what it is known that a hook's own script ran: the status of one that never did says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StartProof {
    /// It answered in JSON, which nothing but the hook does.
    Answered,
    /// Its scripts were seen to be read while it ran (Linux).
    Read,
    /// It names no script: what its shell ran is the command itself, and found what it calls.
    Command,
    /// Its scripts are there and can be read, and no interpreter said otherwise. Nobody saw them being read.
    Presumed,
}

/// What came of a check's hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookReport {
    pub host: Host,
    /// The file that wires it, relative to the project.
    pub file: String,
    /// The host's name for the occasion; `null` where the file gives none.
    #[serde(default)]
    pub event: Option<String>,
    /// After which its host ends it; `null` where the host has no limit, or none that is known.
    pub limit_ms: Option<u64>,
    /// How long its host waited the first time; the longest of those called at once.
    pub cold_ms: Option<u64>,
    /// The longest of the later times; `null` if there was none.
    pub warm_ms: Option<u64>,
    /// Every call, in the order of the events.
    pub calls: Vec<HookCall>,
}

/// One call of a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookCall {
    /// The event's name.
    pub case: String,
    /// The wired command.
    pub command: String,
    /// Whether it was the first time in its check.
    pub cold: bool,
    /// How long its host would have waited: until its exit, or until its stdout ended, if that was later. At a held pipe,
    /// until it was ended.
    pub took_ms: u64,
    /// From its start to its exit.
    pub duration_ms: u64,
    /// `null` if somebody still had it open.
    pub stdout_end_ms: Option<u64>,
    /// `null` if it never started or had to be ended.
    pub exit: Option<Exit>,
    /// `null` if nothing shows that it ran.
    pub proof: Option<StartProof>,
    /// `null` if it answered nothing that its host understands, or if nothing shows that it ran.
    pub decision: Option<Decision>,
    /// The decision in a few words, or why there is none.
    pub why: String,
}
