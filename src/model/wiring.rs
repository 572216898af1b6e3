//! The commands that hosts call, as their files name them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Tool, WiringFault};

/// The name and version of the form of what `hostproof hooks --json` prints.
pub const HOOKS_SCHEMA: &str = "hostproof.hooks/1";

/// What is wired in a project, what covers it, and what is wrong with it on sight.
///
/// Readers ignore fields that they do not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hooks {
    /// Always `hostproof.hooks/1`.
    pub schema: String,
    pub tool: Tool,
    /// The folder that files are relative to.
    pub project: String,
    /// The commit that was read, as it was named; `null` for the files as they are now.
    #[serde(default)]
    pub at: Option<String>,
    pub totals: HookTotals,
    /// Every file that was read, in order, those that wire nothing included.
    pub files: Vec<String>,
    /// In the order of their files, and of each file.
    pub wirings: Vec<Wiring>,
    /// What could not be read, or not wholly: nothing is known of it.
    pub unread: Vec<Unread>,
    /// What else a person should know.
    pub notes: Vec<String>,
}

/// How many there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookTotals {
    /// Commands that a host calls.
    pub wired: u64,
    /// Of those, the ones that only this user or machine has.
    pub personal: u64,
    /// Commands that a check covers.
    pub covered: u64,
    /// Commands that none covers, personal ones left out.
    pub uncovered: u64,
    /// Commands with something wrong that keeps them from working.
    pub broken: u64,
    /// Files of which something could not be read.
    pub unread: u64,
}

/// Who calls a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    ClaudeCode,
    Codex,
    Gemini,
    Copilot,
    Cursor,
    Windsurf,
    Cline,
    Git,
    Husky,
    Lefthook,
    PreCommit,
    Prek,
    /// A session receiver, for the checks of `session-boundary.json`.
    SessionReceiver,
    /// Whoever reads a file that a manifest names under `gate`.
    Other,
}

impl Host {
    /// As people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Copilot => "Copilot",
            Self::Cursor => "Cursor",
            Self::Windsurf => "Windsurf",
            Self::Cline => "Cline",
            Self::Git => "git",
            Self::Husky => "husky",
            Self::Lefthook => "lefthook",
            Self::PreCommit => "pre-commit",
            Self::Prek => "prek",
            Self::SessionReceiver => "session receiver",
            Self::Other => "its host",
        }
    }
}

/// One command that a host calls. One that has a form of its own for Windows is one all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wiring {
    pub host: Host,
    /// The file that wires it, relative to the project where it lies in it.
    pub file: String,
    /// Where in it, from 1; `null` where the file itself is the hook.
    #[serde(default)]
    pub line: Option<u64>,
    /// Whether only this user or machine has it: it is no part of the project.
    pub personal: bool,
    /// The host's name for the occasion; `null` where its file gives none.
    #[serde(default)]
    pub event: Option<String>,
    /// What the host narrows it down to, as it is written there.
    #[serde(default)]
    pub matcher: Option<String>,
    /// What narrows it down further, as far as its file says (Claude Code's `if`, lefthook's `skip`, pre-commit's
    /// `exclude`, …): the keys with their values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// What its file calls it.
    #[serde(default)]
    pub name: Option<String>,
    /// Never empty; the first is the one for most systems.
    pub commands: Vec<WiredCommand>,
    /// After which the host ends it; `null` where the host has none, or none that is known.
    #[serde(default)]
    pub limit: Option<Limit>,
    /// How its host goes on when it calls it, where that is said.
    #[serde(default, skip_serializing_if = "Flow::is_plain")]
    pub flow: Flow,
    /// Variables that its entry sets (Copilot's `env`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The checks that cover it, and by which of their keys.
    pub covered_by: Vec<Cover>,
    pub faults: Vec<WiringFault>,
}

impl Wiring {
    /// Event and matcher: `PreToolUse(Bash)`, `git pre-push`, `receiver check tests`.
    #[must_use]
    pub fn occasion(&self) -> String {
        let event = self.event.as_deref().unwrap_or("an event without a name");
        let narrowed = match self.host {
            Host::SessionReceiver => self.name.as_deref().map(|name| format!("{event} {name}")),
            Host::Git | Host::Husky => Some(format!("git {event}")),
            _ => self
                .matcher
                .as_deref()
                .filter(|text| !text.is_empty() && *text != "*")
                .map(|text| format!("{event}({text})")),
        };
        narrowed.unwrap_or_else(|| event.to_owned())
    }

    /// The command that is shown of it.
    #[must_use]
    pub fn command(&self) -> &str {
        self.commands.first().map_or("", |command| &command.command)
    }

    /// Its place: `file:line`.
    #[must_use]
    pub fn place(&self) -> String {
        self.line.map_or_else(|| self.file.clone(), |line| format!("{}:{line}", self.file))
    }

    /// The scripts of the project that any of its commands names.
    pub fn scripts(&self) -> impl Iterator<Item = &Script> {
        self.commands.iter().flat_map(|command| &command.scripts)
    }

    /// Whether something keeps it from working.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.faults.iter().any(|fault| fault.kind.is_error())
    }
}

/// What else a host does when it calls a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(inline)]
pub struct Flow {
    /// It does not wait for the command, whose answer decides nothing (Claude Code's `async` and `asyncRewake`).
    pub goes_on: bool,
    /// It calls it the first time alone (Claude Code's `once`).
    pub once: bool,
    /// It calls all of that event one after the other (Gemini CLI's `sequential`, and always so in Windsurf).
    pub in_turn: bool,
}

impl Flow {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
    fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// A command as it is written, and what runs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WiredCommand {
    /// As it is written; of an argv, its words with spaces between them.
    pub command: String,
    /// Program and arguments, where no shell comes between.
    #[serde(default)]
    pub argv: Option<Vec<String>>,
    pub shell: Shell,
    /// Where it is used.
    pub on: On,
    /// Where it starts, relative to the project; the project itself when `null`.
    #[serde(default)]
    pub cwd: Option<String>,
    /// The files of the project that it runs.
    pub scripts: Vec<Script>,
    /// Why it can't be told which files it runs, or not of all of them.
    #[serde(default)]
    pub untold: Option<String>,
}

/// What runs a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Shell {
    /// None: program and arguments are given to the system.
    None,
    /// The file is the command, and its first line says what runs it.
    File,
    /// `sh -c`; the system's own shell, which is cmd.exe on Windows.
    System,
    /// `sh -c`, on Windows the one that comes with git.
    Sh,
    /// `sh -e FILE`, as husky runs a file.
    ShFile,
    /// `bash -c`; on Windows Git Bash, else `PowerShell`.
    Bash,
    /// `bash -c` on Unix, `PowerShell` on Windows.
    BashOrPowershell,
    Powershell,
    Cmd,
    /// None, in an environment that a hook manager makes and nobody else has.
    Managed,
}

impl Shell {
    /// As people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "no shell",
            Self::Managed => "no shell, in an environment that its manager makes",
            Self::File => "its own first line",
            Self::System => "sh, on Windows cmd.exe",
            Self::Sh => "sh",
            Self::ShFile => "sh -e",
            Self::Bash => "bash, on Windows Git Bash or else PowerShell",
            Self::BashOrPowershell => "bash, on Windows PowerShell",
            Self::Powershell => "PowerShell",
            Self::Cmd => "cmd.exe",
        }
    }
}

/// The systems that a command is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum On {
    Anywhere,
    /// Linux and macOS.
    Unix,
    Windows,
}

/// A file of the project that a command runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Script {
    /// Relative to the project, with `/`.
    pub path: String,
    pub named: Named,
    /// What runs it: `python3`, `bash`; `null` where it is started by itself.
    #[serde(default)]
    pub by: Option<String>,
    /// Whether what follows in the command makes up for it, as in `a || b`.
    pub fallback: bool,
    /// Whether it is there; for all that is known.
    pub exists: bool,
}

/// How a command names a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Named {
    /// It is the program.
    Program,
    /// It is what an interpreter runs.
    Script,
    /// It is a module of that name: `python -m pkg.mod`.
    Module,
    /// The shell reads it: `. FILE`.
    Sourced,
    /// It is given to the program, and lies in the project.
    Argument,
}

/// The unit that a host's time limits are in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub enum Unit {
    #[serde(rename = "s")]
    Seconds,
    #[serde(rename = "ms")]
    Milliseconds,
}

impl Unit {
    /// As it is written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Milliseconds => "ms",
        }
    }
}

/// A time limit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The number as it is written, in the host's unit; of a default, the one that would be written.
    pub written: String,
    pub unit: Unit,
    /// In milliseconds.
    pub ms: u64,
    /// Whether it is the host's own, since the file sets none.
    pub default: bool,
}

/// A check that covers a wiring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cover {
    /// Its id.
    pub check: String,
    /// The key and the value that say so: `covers: hooks/**`.
    pub by: String,
}

/// Something that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unread {
    /// Relative to the project.
    pub file: String,
    /// Where in it, from 1; `null` for the file as a whole.
    #[serde(default)]
    pub line: Option<u64>,
    /// What it is.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}
