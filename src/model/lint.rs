//! Traps that can be read in a source.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Severity, Tool, Unread};

/// The name and version of the form of what `hostproof lint --code --json` prints.
pub const LINTS_SCHEMA: &str = "hostproof.lints/1";

/// What kind of trap. `hostproof explain KIND` tells what each is, why a host cares and how to mend it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LintKind {
    /// A path of the system is compared with, or split at, slashes.
    SlashPath,
    /// A path is built by joining texts with a slash.
    SlashJoin,
    /// A process is started to outlive the hook, in a folder that nobody chose.
    DetachedCwd,
    /// A session of its own is taken for detachment: the child keeps the hook's output.
    SessionOnly,
    /// A shell sends something into the background that keeps the hook's output.
    BackgroundOutput,
    /// `DETACHED_PROCESS` together with `CREATE_NO_WINDOW`.
    DetachedWindow,
    /// Something that only POSIX systems have, without a guard.
    PosixOnly,
    /// `os.kill(pid, 0)`, which is no look at a process on Windows.
    KillZero,
    /// A file name below `/tmp`.
    TmpLiteral,
    /// A text file or pipe without an encoding.
    NoEncoding,
    /// A rename that Windows refuses if the target is there.
    RenameOver,
    /// A file that others poll is written in place.
    InPlaceWrite,
    /// Processes are found or ended by name.
    ByName,
    /// A text for the system's shell that only a POSIX shell understands.
    PosixShell,
    /// Errors of a temporary folder's removal are ignored.
    IgnoredCleanup,
    /// Output that an old code page can't say.
    CodePage,
    /// A hook script that may not be executed.
    NotExecutable,
    /// A script with line ends that its interpreter takes for text.
    CarriageReturns,
    /// A byte order mark before the first line.
    ByteOrderMark,
    /// A wired command with a path that falls apart at a space.
    UnquotedVariable,
    /// An `allow` that has no reason, names no kind, or silences nothing.
    IdleAllow,
}

impl LintKind {
    /// All kinds, in the order in which documents list them.
    pub const ALL: [Self; 21] = [
        Self::SlashPath,
        Self::SlashJoin,
        Self::DetachedCwd,
        Self::SessionOnly,
        Self::BackgroundOutput,
        Self::DetachedWindow,
        Self::PosixOnly,
        Self::KillZero,
        Self::TmpLiteral,
        Self::NoEncoding,
        Self::RenameOver,
        Self::InPlaceWrite,
        Self::ByName,
        Self::PosixShell,
        Self::IgnoredCleanup,
        Self::CodePage,
        Self::NotExecutable,
        Self::CarriageReturns,
        Self::ByteOrderMark,
        Self::UnquotedVariable,
        Self::IdleAllow,
    ];

    /// The name that documents, `allow` and `explain` use.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Self::SlashPath => "slash-path",
            Self::SlashJoin => "slash-join",
            Self::DetachedCwd => "detached-cwd",
            Self::SessionOnly => "session-only",
            Self::BackgroundOutput => "background-output",
            Self::DetachedWindow => "detached-window",
            Self::PosixOnly => "posix-only",
            Self::KillZero => "kill-zero",
            Self::TmpLiteral => "tmp-literal",
            Self::NoEncoding => "no-encoding",
            Self::RenameOver => "rename-over",
            Self::InPlaceWrite => "in-place-write",
            Self::ByName => "by-name",
            Self::PosixShell => "posix-shell",
            Self::IgnoredCleanup => "ignored-cleanup",
            Self::CodePage => "code-page",
            Self::NotExecutable => "not-executable",
            Self::CarriageReturns => "carriage-returns",
            Self::ByteOrderMark => "byte-order-mark",
            Self::UnquotedVariable => "unquoted-variable",
            Self::IdleAllow => "idle-allow",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.slug() == slug)
    }
}

/// What `lint --code` says of a project's sources.
///
/// Readers ignore fields that they do not know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lints {
    /// Always `hostproof.lints/1`.
    pub schema: String,
    pub tool: Tool,
    /// The folder that files are relative to.
    pub project: String,
    pub totals: LintTotals,
    /// By file and place. Those that a comment allows are among them.
    pub lints: Vec<Lint>,
    /// Files that could not be looked at: nothing is known of them.
    pub unread: Vec<Unread>,
    /// Files with syntax that was not understood: nothing is known of those places.
    pub unclear: Vec<Unread>,
    /// What else a person should know.
    pub notes: Vec<String>,
}

/// How many there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LintTotals {
    /// Sources that were looked at, wired commands not among them.
    pub files: u64,
    /// Wired commands that were looked at.
    pub commands: u64,
    /// Those that keep a hook from working.
    pub errors: u64,
    /// Those that close on another host.
    pub warnings: u64,
    /// Those that may be meant, or show in some places only.
    pub notes: u64,
    /// Those that a comment allows, which are in no other number.
    pub allowed: u64,
    /// Files that could not be looked at.
    pub unread: u64,
}

/// One trap in a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Lint {
    pub kind: LintKind,
    pub severity: Severity,
    /// What is there, in one sentence that stands alone.
    pub message: String,
    /// Relative to the project, with `/`.
    pub file: String,
    /// From 1.
    pub line: u64,
    /// In characters, from 1.
    pub column: u64,
    /// The line in which it ends.
    pub end_line: u64,
    /// The column after its last character.
    pub end_column: u64,
    /// The source line; of a wired command, the command.
    pub snippet: String,
    /// Why a host cares.
    pub why: String,
    /// Where it does not work.
    pub hosts: Vec<TrapHost>,
    /// What to do about it.
    pub remedy: String,
    /// The reason that a comment in the source gives for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
}

impl Lint {
    /// Its place: `file:line:column`.
    #[must_use]
    pub fn place(&self) -> String {
        format!("{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A host on which a trap closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrapHost {
    Windows,
    Macos,
    Linux,
    /// Wherever an agent or git waits for the hook.
    Any,
}

impl TrapHost {
    /// As people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Windows => "Windows",
            Self::Macos => "macOS",
            Self::Linux => "Linux",
            Self::Any => "every host",
        }
    }
}
