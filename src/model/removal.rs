//! A removal or a rename, and what Windows makes of it.

use std::collections::BTreeMap;

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

/// How Windows' rules are kept, where they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowsRules {
    /// Whether removals and renames of files are judged, too, or those of directories only.
    pub files: bool,
    /// Whether a program that is not known counts as one that opens without delete sharing.
    pub strict: bool,
    /// Whether each runtime is given the error number that makes it say what it says on Windows.
    pub faithful: bool,
    /// Whether a program, by its name, opens files so that they may be removed meanwhile; before what is known of it.
    pub shares_delete: BTreeMap<String, bool>,
}

impl Default for WindowsRules {
    fn default() -> Self {
        Self { files: true, strict: false, faithful: false, shares_delete: BTreeMap::new() }
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
        /// Whether its owner may not write to it: what runtimes make the attribute of.
        read_only: bool,
        /// Whether it is named as Python's tempfile names files if nothing else is asked for.
        temporary: bool,
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
    pub came: Came,
}

/// How a process came to an open file or a mapping, as far as that can be told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Came {
    /// Its program opened it.
    #[default]
    Opened,
    /// Its program opened it, and asked for no symbolic link to be followed.
    OpenedNoFollow,
    /// Perhaps its program opened it, perhaps one that was executed before it: it is one that executions leave open.
    Inheritable,
    /// The same of standard input, output or error, which are mostly inherited.
    Stream,
    /// The process has executed nothing since it was forked: perhaps its parent opened it.
    Forked,
    /// The process helps a runtime on Unix alone, as Python's `multiprocessing.resource_tracker` does.
    Helper,
    /// It was mapped to be run.
    Code,
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
    /// No directory is replaced by a rename that has no POSIX semantics, whoever has it.
    TargetDirectory,
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
    /// The same, in the words of another error number.
    NotPermitted,
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

/// Pure decisions about Windows, for the part that answers calls.
#[derive(Debug, Clone, Copy)]
pub struct Judge {
    /// Says what Windows makes of an act by a program on a target, given who has it.
    pub judge: fn(act: Act, caller: &str, target: Target, holders: &[Holder<'_>], rules: &WindowsRules) -> Answer,
    /// Says how the removal of a directory by a call for files fails, where it is to fail otherwise than here.
    pub unlink_directory: fn(caller: &str, rules: &WindowsRules) -> Option<Refused>,
}

/// A call that was refused as Windows would have refused it, or that Windows might have.
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
    /// Whether it was let through, since it is not sure that Windows refuses it.
    pub predicted: bool,
    /// Whether the same was done later, and not refused: the program knows how to get over it.
    pub overcome: bool,
    /// How often the same happened.
    pub times: u64,
}

impl RefusedCall {
    /// Whether a file was read-only, and the program took that away from it, as libraries do that are made for Windows.
    #[must_use]
    pub fn is_mended(&self) -> bool {
        self.overcome && self.refusal.rule == Rule::ReadOnly
    }
}
