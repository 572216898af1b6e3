//! What is wrong with a wired command on sight.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What kind of fault. `hostproof explain KIND` tells what each is, why a host cares and how to mend it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WiringFaultKind {
    /// A file that the command runs is not there.
    ScriptMissing,
    /// A file that is started by itself may not be executed.
    NotExecutable,
    /// A script has line ends that its interpreter takes for text.
    CarriageReturns,
    /// A script begins with a byte order mark.
    ByteOrderMark,
    /// The command is one that Windows can't start without a shell.
    NeedsShell,
    /// The matcher is no regular expression.
    BadMatcher,
    /// The host has no event of that name.
    UnknownEvent,
    /// The file switches its hooks off.
    Disabled,
    /// A path in the command falls apart where it has a space in it.
    UnquotedVariable,
    /// A script ends with a status that the host does not take for a refusal.
    ExitStatus,
    /// The time limit is far from what the unit allows for.
    OddLimit,
    /// The time limit is shorter than what a check that covers it takes.
    ShortLimit,
    /// The same command is there twice for one event.
    Duplicate,
}

impl WiringFaultKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 13] = [
        Self::ScriptMissing,
        Self::NotExecutable,
        Self::CarriageReturns,
        Self::ByteOrderMark,
        Self::NeedsShell,
        Self::BadMatcher,
        Self::UnknownEvent,
        Self::Disabled,
        Self::UnquotedVariable,
        Self::ExitStatus,
        Self::OddLimit,
        Self::ShortLimit,
        Self::Duplicate,
    ];

    /// The name that documents and `explain` use.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Self::ScriptMissing => "script-missing",
            Self::NotExecutable => "not-executable",
            Self::CarriageReturns => "carriage-returns",
            Self::ByteOrderMark => "byte-order-mark",
            Self::NeedsShell => "needs-shell",
            Self::BadMatcher => "bad-matcher",
            Self::UnknownEvent => "unknown-event",
            Self::Disabled => "disabled",
            Self::UnquotedVariable => "unquoted-variable",
            Self::ExitStatus => "exit-status",
            Self::OddLimit => "odd-limit",
            Self::ShortLimit => "short-limit",
            Self::Duplicate => "duplicate",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_slug(slug: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.slug() == slug)
    }

    /// Whether the command can't do its work for it. The rest may well be meant, or shows in some places only.
    #[must_use]
    pub fn is_error(self) -> bool {
        matches!(
            self,
            Self::ScriptMissing | Self::NotExecutable | Self::CarriageReturns | Self::ByteOrderMark | Self::BadMatcher
        )
    }
}

/// One fault of a wired command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WiringFault {
    pub kind: WiringFaultKind,
    /// What is wrong, with names.
    pub message: String,
    /// Where, if it is elsewhere than the wiring: `hooks/guard.sh:3`.
    #[serde(default)]
    pub place: Option<String>,
    /// What to do about it.
    pub remedy: String,
}
