//! What this machine lets hostproof see and do: found by trying, told by `doctor`, in a report's host facts, and by what
//! could not look.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{HostFacts, Platform, Tool};

/// The value of [`Examination::schema`].
pub const EXAMINATION_SCHEMA: &str = "hostproof.doctor/1";

/// What watches removals in a sandbox while its check runs.
pub const REMOVALS: &str = "removals during the run";
/// What refuses on Linux what Windows would refuse.
pub const WINDOWS_RULES: &str = "Windows' rules";

/// What sees programs run that may not be.
pub const FORBIDDEN_COMMANDS: &str = "forbidden commands";
/// What makes calls fail.
pub const FAULTS: &str = "faults";

/// How published files come to be.
pub const PUBLISHED_FILES: &str = "published files";

/// How far something can be done here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Can {
    No,
    Partly,
    Yes,
}

/// One thing that hostproof can do on this machine, in part, or not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ability {
    /// What it is called, in a few words; the same that a finding `probe-blind` begins with.
    pub name: Cow<'static, str>,
    pub can: Can,
    /// Whether no check can be run without it.
    pub essential: bool,
    /// What was tried, and what that showed.
    pub why: String,
    /// What would help, where something would.
    pub remedy: Option<String>,
}

impl Ability {
    /// It can be done.
    #[must_use]
    pub fn yes(name: &'static str, why: impl Into<String>) -> Self {
        Self { name: name.into(), can: Can::Yes, essential: false, why: why.into(), remedy: None }
    }

    /// It can be done in part; what would help is looked up.
    #[must_use]
    pub fn partly(name: &'static str, why: impl Into<String>) -> Self {
        let ability = Self { can: Can::Partly, ..Self::yes(name, why) };
        Self { remedy: remedy(name, &ability.why).map(str::to_owned), ..ability }
    }

    /// It can't be done; what would help is looked up.
    #[must_use]
    pub fn no(name: &'static str, why: impl Into<String>) -> Self {
        Self { can: Can::No, ..Self::partly(name, why) }
    }

    /// No check can be run without it.
    #[must_use]
    pub fn essential(self) -> Self {
        Self { essential: true, ..self }
    }

    /// With something that would help.
    #[must_use]
    pub fn helped_by(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// Whether it is in the way of every run.
    #[must_use]
    pub fn forbids_runs(&self) -> bool {
        self.essential && self.can == Can::No
    }

    /// The state as a report's host facts have it: `ok`, or how far not, and why.
    #[must_use]
    pub fn state(&self) -> String {
        match self.can {
            Can::Yes => "ok".to_owned(),
            Can::Partly => format!("partly: {}", self.why),
            Can::No => format!("no: {}", self.why),
        }
    }
}

/// What `doctor` says of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Examination {
    /// `hostproof.doctor/1`.
    pub schema: String,
    pub tool: Tool,
    /// Whether checks can be run here.
    pub ready: bool,
    pub host: HostFacts,
    /// In the order in which they are told.
    pub abilities: Vec<Ability>,
}

// The system has one word for each of its two limits on watched folders, and both mean something else elsewhere.
const TOO_MANY_WATCHERS: &str = "Too many open files";
const MORE_WATCHERS: &str =
    "let the system watch more folders: sysctl fs.inotify.max_user_instances=…, a larger number than it has now";
const TOO_MANY_WATCHES: &str = "No space left";
const MORE_WATCHES: &str =
    "let the system watch more folders: sysctl fs.inotify.max_user_watches=…, a larger number than it has now";

/// What helps where that could not be done, for a reason of which these words are a part.
const REMEDIES: [(&str, &str, &str); 14] = [
    (REMOVALS, TOO_MANY_WATCHERS, MORE_WATCHERS),
    (REMOVALS, TOO_MANY_WATCHES, MORE_WATCHES),
    (PUBLISHED_FILES, TOO_MANY_WATCHERS, MORE_WATCHERS),
    (PUBLISHED_FILES, TOO_MANY_WATCHES, MORE_WATCHES),
    (
        PUBLISHED_FILES,
        "could not gain rights",
        "run hostproof as root, whose filter takes no rights away; or run this check without `publishes`",
    ),
    (
        FORBIDDEN_COMMANDS,
        "could not gain rights",
        "run hostproof as root, whose filter takes no rights away; or run this check without `forbid`",
    ),
    (
        FAULTS,
        "could not gain rights",
        "run hostproof as root, whose filter takes no rights away; or run this check without `faults`",
    ),
    (
        WINDOWS_RULES,
        "listener is in place",
        "start hostproof outside of what listens, such as a hostproof with `as: windows` around it, or an engine's own \
         filter",
    ),
    (WINDOWS_RULES, "gVisor", "use a host or an engine with a Linux kernel (`--runtime runc`)"),
    (WINDOWS_RULES, "no user notification", "use Linux 5.5 or newer, with CONFIG_SECCOMP_FILTER"),
    (WINDOWS_RULES, "it needs Linux 5.5", "use Linux 5.5 or newer"),
    (
        WINDOWS_RULES,
        "could not gain rights",
        "run hostproof as root, whose filter takes no rights away; or judge this check by native rules alone",
    ),
    (
        WINDOWS_RULES,
        "could not be read",
        "let a process read its descendants' memory: sysctl kernel.yama.ptrace_scope=1, or give it CAP_SYS_PTRACE",
    ),
    (WINDOWS_RULES, "forbids it", "let the container's or the service's seccomp profile allow seccomp(2)"),
];

/// What lets hostproof look into every process.
#[must_use]
pub fn to_see_all(system: Platform) -> &'static str {
    match system {
        Platform::Linux => "run as root, or with CAP_SYS_PTRACE, to look into every process",
        Platform::Macos => "run as root to look into every process",
        Platform::Windows => "run as an administrator to look into every process",
    }
}

/// What would help against what a probe said of why it could not look.
#[must_use]
pub fn remedy(name: &str, why: &str) -> Option<&'static str> {
    let of = |name: &str| REMEDIES.iter().find(|(what, words, _)| *what == name && why.contains(words));
    // What is asked about is asked about by one filter, and kept from it by the same.
    let by_filter = || of(WINDOWS_RULES).filter(|_| [PUBLISHED_FILES, FORBIDDEN_COMMANDS, FAULTS].contains(&name));
    of(name).or_else(by_filter).map(|(.., remedy)| *remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_of_the_thing_and_of_the_reason() {
        let helps = |name, why, word: &str| remedy(name, why).is_some_and(|remedy| remedy.contains(word));
        assert!(helps(REMOVALS, "Too many open files (os error 24)", "max_user_instances"));
        assert!(helps(REMOVALS, "No space left on device (os error 28)", "max_user_watches"));
        assert!(helps(WINDOWS_RULES, "not enforced: this is gVisor", "runc"));
        assert_eq!(remedy(WINDOWS_RULES, "Too many open files"), None);
        assert_eq!(remedy(REMOVALS, "another reason"), None);
    }

    #[test]
    fn a_report_has_how_far_and_why() {
        assert_eq!(Ability::yes("holds", "all of them").state(), "ok");
        assert_eq!(Ability::partly("holds", "own ones").state(), "partly: own ones");
        let no = Ability::no(REMOVALS, "Too many open files").essential();
        assert!(no.forbids_runs() && no.remedy.is_some());
        assert!(!Ability::no("x", "y").forbids_runs() && !Ability::partly("x", "y").essential().forbids_runs());
    }
}
