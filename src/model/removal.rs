//! A removal or a rename, and what Windows makes of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Hold, How, Process};

/// By whose rules a check is judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rules {
    /// By those of the system that it runs on.
    #[default]
    Native,
    /// By those of Windows: what Windows would not remove or rename is not removed or renamed.
    Windows,
}

impl Rules {
    /// The name that manifests and reports use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Windows => "windows",
        }
    }
}

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Act {
    /// It is removed.
    Remove,
    /// It is given another name.
    Rename,
    /// Something else is given its name.
    Replace,
}

/// What it is done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Target {
    Directory,
    File {
        /// Whether nobody may write to it.
        read_only: bool,
    },
}

/// One way in which a process has the target, or something below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holder<'a> {
    pub how: How,
    /// The name of the program that it runs, without its folder.
    pub program: &'a str,
    /// Whether what is held lies below the target.
    pub below: bool,
    /// Whether what is held is a directory.
    pub directory: bool,
}

/// Why Windows refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Rule {
    /// A process's current directory can't be removed or renamed.
    CurrentDirectory,
    /// Nor can a directory that is open, if it was opened without delete sharing.
    OpenDirectory,
    /// A directory can't be renamed while anything in it is open.
    OpenBelow,
    /// A file that was opened without delete sharing can't be removed, renamed or replaced.
    OpenFile,
    /// Where renames have no POSIX semantics, no file that is open can be replaced.
    OpenTarget,
    /// A running or mapped image can't be removed or replaced.
    Image,
    /// A read-only file can't be removed or replaced.
    ReadOnly,
}

/// Which of two kinds of error a refusal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refused {
    /// It is in use.
    Busy,
    /// It is not allowed.
    Denied,
}

/// A refusal by Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    pub rule: Rule,
    pub class: Refused,
    /// What `GetLastError` says.
    pub winerror: u32,
    /// Whose fault it is, of the holders that were asked about; nobody's if the target itself is the reason.
    pub holder: Option<usize>,
}

/// What Windows makes of an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Allow,
    Refuse(Refusal),
    /// It refuses if the holder's program, or its system's version, does what is not known of it here.
    Predict(Refusal),
}

/// Says what Windows makes of an act by a program on a target, given who has it.
pub type Judge = fn(act: Act, caller: &str, target: Target, holders: &[Holder<'_>]) -> Answer;

/// A call that was refused as Windows would have refused it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedCall {
    /// The system call, as `rmdir`.
    pub call: String,
    pub act: Act,
    /// Absolute.
    pub path: String,
    pub directory: bool,
    /// Who called.
    pub caller: Process,
    /// Who is in the way, and with what.
    pub holder: Option<(Process, Hold)>,
    pub refusal: Refusal,
    /// How often the same was refused.
    pub times: u64,
}
