//! System calls that are made to fail, or to take their time, and what came of that.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Process;
use super::check::as_ms;

/// A kind of system call, whichever of its forms is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FaultCall {
    /// A file or folder is given another name: either of the two may match.
    Rename,
    /// A file is given one more name, or a symbolic link is made: either of the two names may match, of a symbolic link its
    /// own.
    Link,
    /// A file is opened, for whatever purpose.
    Open,
    /// A file is removed.
    Unlink,
    /// Something is written to an open file.
    Write,
    /// A signal is sent to a process, or looked for whether it may be: what may match is the program that the process runs.
    Kill,
    /// A program is run.
    Exec,
}

impl FaultCall {
    /// The name that manifests use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rename => "rename",
            Self::Link => "link",
            Self::Open => "open",
            Self::Unlink => "unlink",
            Self::Write => "write",
            Self::Kill => "kill",
            Self::Exec => "exec",
        }
    }
}

/// An error number of Linux, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Errno(i32);

/// Those that the calls above may fail with; they are the same on every processor that is supported.
const ERRNOS: [(&str, i32); 39] = [
    ("EPERM", 1),
    ("ENOENT", 2),
    ("ESRCH", 3),
    ("EINTR", 4),
    ("EIO", 5),
    ("ENXIO", 6),
    ("E2BIG", 7),
    ("ENOEXEC", 8),
    ("EBADF", 9),
    ("EAGAIN", 11),
    ("ENOMEM", 12),
    ("EACCES", 13),
    ("EFAULT", 14),
    ("EBUSY", 16),
    ("EEXIST", 17),
    ("EXDEV", 18),
    ("ENODEV", 19),
    ("ENOTDIR", 20),
    ("EISDIR", 21),
    ("EINVAL", 22),
    ("ENFILE", 23),
    ("EMFILE", 24),
    ("ETXTBSY", 26),
    ("EFBIG", 27),
    ("ENOSPC", 28),
    ("ESPIPE", 29),
    ("EROFS", 30),
    ("EMLINK", 31),
    ("EPIPE", 32),
    ("ENAMETOOLONG", 36),
    ("ENOLCK", 37),
    ("ENOSYS", 38),
    ("ENOTEMPTY", 39),
    ("ELOOP", 40),
    ("EOVERFLOW", 75),
    ("EOPNOTSUPP", 95),
    ("ETIMEDOUT", 110),
    ("ESTALE", 116),
    ("EDQUOT", 122),
];

impl Errno {
    /// That of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        ERRNOS.iter().find(|(known, _)| *known == name).map(|(_, number)| Self(*number))
    }

    /// All names, in the order of their numbers.
    pub fn names() -> impl Iterator<Item = &'static str> {
        ERRNOS.iter().map(|(name, _)| *name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        ERRNOS.iter().find(|(_, number)| *number == self.0).map_or("", |(name, _)| name)
    }

    /// Its number on Linux.
    #[must_use]
    pub fn number(self) -> i32 {
        self.0
    }
}

impl Serialize for Errno {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Errno {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        Self::of_name(&name).ok_or_else(|| serde::de::Error::custom("no error of that name"))
    }
}

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It fails, and nothing is done.
    Errno(Errno),
    /// It is let through after this time.
    Delay(#[serde(serialize_with = "as_ms", deserialize_with = "of_ms")] Duration),
}

fn of_ms<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

/// Calls of one kind that are made to fail, or to take their time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    pub call: FaultCall,
    /// A glob: without `/` of the name of the file that the call is about, else of its path: relative to where the check
    /// starts, below `$project` or `$sandbox`, or absolute. All such calls when `None`.
    pub path: Option<String>,
    /// Which of the calls that match, counted from 1 over all processes of the check; each of them when `None`.
    pub nth: Option<u32>,
    pub effect: Effect,
}

impl Fault {
    /// The calls that it is for, in a sentence: `the 2nd rename of *.pid`.
    #[must_use]
    pub fn subject(&self) -> String {
        let which = match self.nth {
            None => "every".to_owned(),
            Some(nth) => {
                let ending = match (nth % 10, nth % 100) {
                    (1, tens) if tens != 11 => "st",
                    (2, tens) if tens != 12 => "nd",
                    (3, tens) if tens != 13 => "rd",
                    _ => "th",
                };
                format!("the {nth}{ending}")
            }
        };
        let of = self.path.as_ref().map(|path| format!(" of {path}")).unwrap_or_default();
        format!("{which} {}{of}", self.call.name())
    }
}

/// What came of a fault.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultSeen {
    /// How many calls matched.
    pub matched: u64,
    /// How many of them it was made in.
    pub made: u64,
    /// The first of these.
    pub first: Option<FaultMade>,
}

/// A call that a fault was made in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultMade {
    /// What it was about: a path, absolute, or a process.
    pub what: String,
    /// Who called; `None` if it was gone too soon.
    pub caller: Option<Process>,
    /// In milliseconds after the check's start.
    pub at_ms: u64,
}

impl FaultSeen {
    /// Both together, of two jobs of one check.
    pub fn add(&mut self, other: Self) {
        self.matched += other.matched;
        self.made += other.made;
        self.first = self.first.take().or(other.first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_said_as_people_count() {
        let fault = |nth| Fault {
            call: FaultCall::Rename,
            path: Some("*.pid".to_owned()),
            nth,
            effect: Effect::Delay(Duration::ZERO),
        };
        let said =
            [1, 2, 3, 4, 11, 12, 21, 112].map(|nth| fault(Some(nth)).subject().split(' ').nth(1).map(str::to_owned));
        assert_eq!(said.map(Option::unwrap_or_default), ["1st", "2nd", "3rd", "4th", "11th", "12th", "21st", "112th"]);
        assert_eq!(fault(None).subject(), "every rename of *.pid");
        assert_eq!(Fault { path: None, ..fault(Some(1)) }.subject(), "the 1st rename");
    }

    #[test]
    fn each_error_has_one_name() {
        for name in Errno::names() {
            assert_eq!(Errno::of_name(name).map(Errno::name), Some(name));
        }
        assert_eq!(Errno::of_name("EIO").map(Errno::number), Some(5));
        assert_eq!(Errno::of_name("ENOTHING"), None);
    }
}
