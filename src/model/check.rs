//! A check as it is run: every default applied, every override for this platform taken.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::{
    Break, Eventually, Fact, Fault, Forbid, HookEvent, HookRef, Kind, Planting, ReaderChoice, Retries, Rules,
    WindowsRules,
};

/// A system that checks can be bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Platform {
    Linux,
    Windows,
    Macos,
}

impl Platform {
    /// The name that manifests and reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Windows => "windows",
            Self::Macos => "macos",
        }
    }

    /// The system of that name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Linux, Self::Windows, Self::Macos].into_iter().find(|platform| platform.name() == name)
    }
}

/// The program that runs a `shell` script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Interpreter {
    Sh,
    Bash,
    Pwsh,
    Powershell,
    Cmd,
}

/// What a check runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckCommand {
    /// An argv, without a shell. Never empty.
    Argv(Vec<String>),
    /// A script for an interpreter.
    Shell { script: String, interpreter: Interpreter },
    /// A wired hook, called as its host does; all that it names, at once.
    Hook(HookRef),
}

/// Where a check starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cwd {
    /// In the project itself.
    #[default]
    Project,
    /// In a copy of the project's tracked and untracked, not ignored files, with `.git`.
    Copy,
    /// In the sandbox's empty `work/`, with what `files` puts there.
    Sandbox,
}

/// Which home directory a check sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Home {
    /// An empty one in the sandbox.
    #[default]
    Sandbox,
    /// The caller's.
    Real,
}

/// Which variables of the caller's environment a check sees, beyond those that every check needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Inherit {
    /// All of them, except git's own.
    All,
    /// These.
    Names(Vec<String>),
}

/// How many cases a check must run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CaseCount {
    Exactly(u64),
    AtLeast(u64),
    /// Those that a command lists.
    Listed(Listing),
}

/// A command that lists the cases of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// Without a shell. Never empty.
    pub argv: Vec<String>,
    pub form: ListingForm,
}

/// How a listing names its cases.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListingForm {
    /// The form that the output is in.
    #[default]
    Auto,
    /// `pytest --collect-only -q`.
    Pytest,
    /// `cargo test -- --list`.
    CargoTest,
    /// `cargo nextest list`.
    Nextest,
    /// `go test -list .`.
    GoTest,
    /// `bats --count`.
    Bats,
    /// Each line that this regular expression matches, which was seen to compile, names a case: by its group `name`, else
    /// by its first group, else by the whole match.
    Lines(String),
}

impl ListingForm {
    /// All that have a name, each with it.
    pub const NAMED: [(&'static str, Self); 6] = [
        ("auto", Self::Auto),
        ("pytest", Self::Pytest),
        ("cargo-test", Self::CargoTest),
        ("nextest", Self::Nextest),
        ("go-test", Self::GoTest),
        ("bats", Self::Bats),
    ];
}

/// Which cases may be skipped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Skips {
    /// So many, whatever the reason.
    AtMost(u64),
    /// Those that one of these rules is for.
    ByReason(Vec<SkipRule>),
}

/// Cases that may be skipped for a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkipRule {
    /// A regular expression on the reason; it was seen to compile.
    pub matches: String,
    /// How many of them, at most; any number when `None`.
    pub most: Option<u64>,
}

/// One rule for a stream's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextRule {
    Contains(String),
    NotContains(String),
    /// A regular expression, in the syntax of the `regex` crate; it was seen to compile.
    Matches(String),
}

/// What is expected of a check.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Expect {
    /// The exit status; 0 by default.
    pub exit: i32,
    pub cases: Option<CaseCount>,
    /// The cases that may be skipped; all of them when `None`.
    pub skipped: Option<Skips>,
    pub stdout: Vec<TextRule>,
    pub stderr: Vec<TextRule>,
}

/// A finding that is meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Allow {
    pub kind: Kind,
    /// A regular expression on the process's command line, the path or the message; every finding of the kind if `None`.
    pub matches: Option<String>,
    /// How long after the check's end such a process may live: it must end by itself within that, and have neither a
    /// directory nor the check's output meanwhile. `None` allows whatever it does.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_optional_ms")]
    pub ends_within: Option<Duration>,
    /// Why; shown in the report.
    pub because: String,
}

/// A program that a check needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Need {
    pub program: String,
    /// The least version, as numbers: `3.11` is `[3, 11]`.
    pub at_least: Option<Vec<u64>>,
    /// Whether the check is skipped rather than broken when it is missing.
    pub optional: bool,
}

/// The place in a manifest that a check comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Relative to the project.
    pub file: String,
    /// 1-based.
    pub line: usize,
}

/// One self-test command with what is expected of it.
///
/// Serialised it is the same on every system, and without where it comes from: receipts name a check by that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Unique in the run.
    pub id: String,
    /// What distinguishes it from other variants of the same check; `None` for the check itself.
    pub variant: Option<String>,
    pub title: Option<String>,
    pub command: CheckCommand,
    pub cwd: Cwd,
    /// Destination in the sandbox's `work/` to source, relative to the project.
    pub files: BTreeMap<String, String>,
    pub home: Home,
    /// Variables to set; `None` removes one.
    pub env: BTreeMap<String, Option<String>>,
    pub inherit: Inherit,
    /// A file, relative to the project, that is the check's standard input; empty input when `None`.
    pub stdin: Option<PathBuf>,
    #[serde(serialize_with = "as_ms")]
    pub timeout: Duration,
    /// How long the check's processes may outlive it.
    #[serde(serialize_with = "as_ms")]
    pub grace: Duration,
    pub reader: ReaderChoice,
    pub expect: Expect,
    pub allow: Vec<Allow>,
    /// The occasions that a hook is called for, in this order; empty if the check is none.
    pub events: Vec<HookEvent>,
    /// What must be so after its end, however detached what does it is.
    pub eventually: Vec<Eventually>,
    /// Edits that must turn it red, each in a copy of the project.
    pub breaks: Vec<Break>,
    /// Files that must appear by rename, as globs with `/`: relative to where the check starts, or below `$project` or
    /// `$sandbox`, which are replaced.
    pub publishes: Vec<String>,
    /// Programs that nothing of it may run.
    pub forbid: Vec<Forbid>,
    /// What stands there before it starts, and is taken away after it; by path, each once.
    pub plant: Vec<Planting>,
    /// Its calls that are made to fail, or to take their time.
    pub faults: Vec<Fault>,
    /// Places outside the sandbox that must be the same afterwards, as globs with `/`: absolute, relative to the project, or
    /// below `$project` or `$sandbox`, which are replaced.
    pub watch: Vec<String>,
    /// Commands whose output and exit status must be the same before and after, each a program and its arguments.
    pub unchanged: Vec<Vec<String>>,
    /// Skipped elsewhere; everywhere when empty.
    pub platforms: Vec<Platform>,
    /// The systems from whose hosts the gate wants a receipt; those of its policy when empty.
    pub hosts: Vec<Platform>,
    pub needs: Vec<Need>,
    /// Globs of files, relative to the project, that a change must touch to want this check; every change when empty. It
    /// covers the wired commands that are, or run, one of these files.
    pub covers: Vec<String>,
    /// Checks that share one of these never run together.
    pub lock: Vec<String>,
    pub tags: Vec<String>,
    /// By whose rules it is judged.
    pub rules: Rules,
    /// How those of Windows are kept.
    pub windows: WindowsRules,
    /// What is otherwise about its surroundings.
    pub fact: Option<Fact>,
    /// How many copies of it run at the same moment, once it ran alone; 1 for none.
    pub copies: u32,
    /// How often it runs, one run after the other; at least once.
    pub repeat: u32,
    /// How often it is tried again if it is red; only for one that does not repeat.
    pub retries: Option<Retries>,
    #[serde(skip)]
    pub origin: Option<Origin>,
}

pub(super) fn as_ms<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
}

#[expect(clippy::ref_option, reason = "serde gives it so")]
fn as_optional_ms<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match duration {
        Some(duration) => as_ms(duration, serializer),
        None => serializer.serialize_none(),
    }
}

impl Check {
    /// The time limit of a check that sets none.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);
    /// The grace of a check that sets none.
    ///
    /// Honest children end up to a quarter of a second after their check, and about a second on a loaded machine.
    pub const DEFAULT_GRACE: Duration = Duration::from_secs(1);

    /// Whether it says that it is for that system: by name, or by whose rules it is judged.
    #[must_use]
    pub fn is_for(&self, platform: Platform) -> bool {
        self.platforms.contains(&platform) || (platform == Platform::Windows && self.rules == Rules::Windows)
    }

    /// Whether that system is one that it may run on.
    #[must_use]
    pub fn may_run_on(&self, platform: Platform) -> bool {
        self.platforms.is_empty() || self.is_for(platform)
    }

    /// How long what is declared to outlive it may do so, at most, beyond its grace.
    #[must_use]
    pub fn afterlife(&self) -> Duration {
        let declared = self.allow.iter().filter_map(|allow| allow.ends_within).max().unwrap_or_default();
        declared.saturating_sub(self.grace)
    }

    /// A check of that command with every other key at its default.
    #[must_use]
    pub fn new(id: impl Into<String>, command: CheckCommand) -> Self {
        Self {
            id: id.into(),
            variant: None,
            title: None,
            command,
            cwd: Cwd::default(),
            files: BTreeMap::new(),
            home: Home::default(),
            env: BTreeMap::new(),
            inherit: Inherit::Names(Vec::new()),
            stdin: None,
            timeout: Self::DEFAULT_TIMEOUT,
            grace: Self::DEFAULT_GRACE,
            reader: ReaderChoice::default(),
            expect: Expect::default(),
            allow: Vec::new(),
            events: Vec::new(),
            eventually: Vec::new(),
            breaks: Vec::new(),
            publishes: Vec::new(),
            forbid: Vec::new(),
            plant: Vec::new(),
            faults: Vec::new(),
            watch: Vec::new(),
            unchanged: Vec::new(),
            platforms: Vec::new(),
            hosts: Vec::new(),
            needs: Vec::new(),
            covers: Vec::new(),
            lock: Vec::new(),
            tags: Vec::new(),
            rules: Rules::default(),
            windows: WindowsRules::default(),
            fact: None,
            copies: 1,
            repeat: 1,
            retries: None,
            origin: None,
        }
    }
}
