//! The table of hosts whose settings are JSON or TOML: where the files lie, what the keys mean, and what the host does
//! with them. Two shapes, with one list more or without, are all that there are; the rest is here.
//!
//! Sources: the hosts' own pages, October and November 2026 (code.claude.com/docs/en/hooks, geminicli.com/docs/hooks,
//! cursor.com/docs/hooks, docs.windsurf.com/windsurf/cascade/hooks), and what was seen of them. Where a host says
//! nothing, nothing is said here: no default that is guessed.

use crate::model::{Host, On, Shell, Unit};

/// How a host reads its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Json,
    /// With comments and trailing commas.
    Jsonc,
    Toml,
}

/// Where commands stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `hooks.<Event>[].hooks[]`
    Nested,
    /// `hooks.<Event>[]`
    Flat,
}

/// How a host takes a matcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matchers {
    /// Of letters, digits, `_ - , |` and spaces a list of names, else a regular expression of JavaScript's.
    ListOrExpression,
    /// A regular expression.
    Expression,
    /// Not known.
    Unknown,
}

/// A host's settings.
#[derive(Debug)]
pub struct Form {
    pub host: Host,
    pub language: Language,
    pub shape: Shape,
    /// The keys that a command may be under, in the order of preference.
    pub commands: &'static [(&'static str, Shell, On)],
    /// The keys that a time limit may be under.
    pub limits: &'static [&'static str],
    pub unit: Unit,
    /// In the unit: of most events, and of some. `None` where it is not known.
    pub default: Option<u32>,
    pub defaults: &'static [(&'static str, &'static str, u64)],
    /// The key of the folder that a command starts in.
    pub cwd: Option<&'static str>,
    /// Variables that are the project's folder.
    pub project: &'static [&'static str],
    pub matchers: Matchers,
    /// Whether commands that are the same run once.
    pub once: bool,
    /// Whether all commands of an event run one after the other.
    pub in_turn: bool,
    /// Whether `async`, `asyncRewake` and `once` are known in an entry.
    pub background: bool,
    pub events: &'static [&'static str],
    /// The events that exit status 2 refuses, where no other status does. Empty where that is not known.
    pub refused_by_two: &'static [&'static str],
}

/// The file in which a host looks for hooks in a project.
#[derive(Debug)]
pub struct Place {
    pub file: &'static str,
    pub form: &'static Form,
    /// Whether only this user has it.
    pub personal: bool,
}

const fn place(file: &'static str, form: &'static Form) -> Place {
    Place { file, form, personal: false }
}

/// Files at a fixed place, which git may well ignore.
pub const PLACES: &[Place] = &[
    place(".claude/settings.json", &CLAUDE),
    Place { personal: true, ..place(".claude/settings.local.json", &CLAUDE) },
    place(".codex/hooks.json", &CODEX),
    place(".codex/config.toml", &CODEX_TOML),
    place(".gemini/settings.json", &GEMINI),
    place(".cursor/hooks.json", &CURSOR),
    place(".windsurf/hooks.json", &WINDSURF),
    place("hooks/hooks.json", &CLAUDE),
    place(".claude-plugin/plugin.json", &CLAUDE),
];

pub const CLAUDE: Form = Form {
    host: Host::ClaudeCode,
    language: Language::Json,
    shape: Shape::Nested,
    commands: &[("command", Shell::Bash, On::Anywhere)],
    limits: &["timeout"],
    unit: Unit::Seconds,
    default: Some(600),
    defaults: &[("UserPromptSubmit", "30", 30_000), ("SessionEnd", "1.5", 1500)],
    cwd: None,
    project: &["CLAUDE_PROJECT_DIR"],
    matchers: Matchers::ListOrExpression,
    once: true,
    in_turn: false,
    background: true,
    events: &[
        "SessionStart",
        "Setup",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "PreToolUse",
        "PermissionRequest",
        "PermissionDenied",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "Notification",
        "MessageDisplay",
        "SubagentStart",
        "SubagentStop",
        "TaskCreated",
        "TaskCompleted",
        "Stop",
        "StopFailure",
        "TeammateIdle",
        "InstructionsLoaded",
        "ConfigChange",
        "CwdChanged",
        "DirectoryAdded",
        "FileChanged",
        "WorktreeCreate",
        "WorktreeRemove",
        "PreCompact",
        "PostCompact",
        "PreModelSwitch",
        "PostModelSwitch",
        "Elicitation",
        "ElicitationResult",
        "SessionEnd",
    ],
    refused_by_two: &[
        "PreToolUse",
        "UserPromptSubmit",
        "UserPromptExpansion",
        "Stop",
        "SubagentStop",
        "TeammateIdle",
        "TaskCreated",
        "TaskCompleted",
        "ConfigChange",
        "PreCompact",
    ],
};

pub const CODEX: Form = Form {
    host: Host::Codex,
    commands: &[("command", Shell::Sh, On::Anywhere), ("commandWindows", Shell::Cmd, On::Windows)],
    defaults: &[],
    matchers: Matchers::Expression,
    once: false,
    background: false,
    events: &[
        "SessionStart",
        "SessionEnd",
        "UserPromptSubmit",
        "PreToolUse",
        "PermissionRequest",
        "PostToolUse",
        "PreCompact",
        "PostCompact",
        "SubagentStart",
        "SubagentStop",
        "Stop",
        "Notification",
    ],
    refused_by_two: &["PreToolUse", "UserPromptSubmit", "Stop", "SubagentStop"],
    ..CLAUDE
};

pub const CODEX_TOML: Form = Form { language: Language::Toml, ..CODEX };

pub const GEMINI: Form = Form {
    host: Host::Gemini,
    language: Language::Jsonc,
    commands: &[("command", Shell::BashOrPowershell, On::Anywhere)],
    unit: Unit::Milliseconds,
    default: Some(60_000),
    defaults: &[],
    project: &["GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    matchers: Matchers::Expression,
    once: false,
    background: false,
    events: &[
        "SessionStart",
        "SessionEnd",
        "BeforeAgent",
        "AfterAgent",
        "BeforeModel",
        "AfterModel",
        "BeforeToolSelection",
        "BeforeTool",
        "AfterTool",
        "PreCompress",
        "Notification",
    ],
    refused_by_two: &["BeforeTool", "BeforeAgent", "BeforeModel", "AfterAgent", "AfterTool", "AfterModel"],
    ..CLAUDE
};

pub const COPILOT: Form = Form {
    host: Host::Copilot,
    shape: Shape::Flat,
    commands: &[
        ("bash", Shell::Bash, On::Unix),
        ("command", Shell::BashOrPowershell, On::Anywhere),
        ("powershell", Shell::Powershell, On::Windows),
    ],
    limits: &["timeoutSec", "timeout"],
    default: Some(30),
    defaults: &[],
    cwd: Some("cwd"),
    project: &[],
    matchers: Matchers::Unknown,
    once: false,
    background: false,
    events: &[
        "sessionStart",
        "sessionEnd",
        "userPromptSubmitted",
        "preToolUse",
        "postToolUse",
        "postToolUseFailure",
        "permissionRequest",
        "agentStop",
        "subagentStart",
        "subagentStop",
        "preCompact",
        "notification",
        "errorOccurred",
    ],
    refused_by_two: &[],
    ..CLAUDE
};

pub const CURSOR: Form = Form {
    host: Host::Cursor,
    shape: Shape::Flat,
    commands: &[("command", Shell::Sh, On::Anywhere)],
    default: None,
    defaults: &[],
    project: &["CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"],
    matchers: Matchers::Expression,
    once: false,
    background: false,
    events: &[
        "sessionStart",
        "sessionEnd",
        "preToolUse",
        "postToolUse",
        "postToolUseFailure",
        "subagentStart",
        "subagentStop",
        "beforeShellExecution",
        "afterShellExecution",
        "beforeMCPExecution",
        "afterMCPExecution",
        "beforeReadFile",
        "afterFileEdit",
        "beforeSubmitPrompt",
        "preCompact",
        "stop",
        "afterAgentResponse",
        "afterAgentThought",
        "beforeTabFileRead",
        "afterTabFileEdit",
        "workspaceOpen",
    ],
    refused_by_two: &[
        "preToolUse",
        "beforeShellExecution",
        "beforeMCPExecution",
        "beforeReadFile",
        "beforeTabFileRead",
        "beforeSubmitPrompt",
        "subagentStart",
    ],
    ..CLAUDE
};

pub const WINDSURF: Form = Form {
    host: Host::Windsurf,
    shape: Shape::Flat,
    commands: &[("command", Shell::Bash, On::Anywhere), ("powershell", Shell::Powershell, On::Windows)],
    limits: &[],
    default: None,
    defaults: &[],
    cwd: Some("working_directory"),
    project: &["ROOT_WORKSPACE_PATH"],
    matchers: Matchers::Unknown,
    once: false,
    in_turn: true,
    background: false,
    events: &[
        "pre_read_code",
        "post_read_code",
        "pre_write_code",
        "post_write_code",
        "pre_run_command",
        "post_run_command",
        "pre_mcp_tool_use",
        "post_mcp_tool_use",
        "pre_user_prompt",
        "post_cascade_response",
        "post_cascade_response_with_transcript",
        "post_setup_worktree",
    ],
    refused_by_two: &["pre_read_code", "pre_write_code", "pre_run_command", "pre_mcp_tool_use", "pre_user_prompt"],
    ..CLAUDE
};

/// The events that Cline has a file for.
pub const CLINE: &[&str] = &[
    "TaskStart",
    "TaskResume",
    "TaskCancel",
    "TaskComplete",
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "PreCompact",
];

/// The names that git calls.
pub const GIT: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "post-index-change",
];

/// What is known of a host whose settings this table is for.
#[must_use]
pub fn form(host: Host) -> Option<&'static Form> {
    [&CLAUDE, &CODEX, &GEMINI, &COPILOT, &CURSOR, &WINDSURF].into_iter().find(|form| form.host == host)
}

/// The form of a file by its name, wherever it lies.
pub fn by_name(file: &str) -> Option<&'static Place> {
    let is = |place: &&Place| {
        file == place.file || file.strip_suffix(place.file).is_some_and(|folder| folder.ends_with('/'))
    };
    PLACES.iter().find(is)
}

/// Whether a file of that form may lie anywhere: those of plugins do.
pub fn lies_anywhere(place: &Place) -> bool {
    matches!(place.file, "hooks/hooks.json" | ".claude-plugin/plugin.json")
}
