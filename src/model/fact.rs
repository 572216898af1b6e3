//! What can be otherwise about the surroundings of a check: `vary` runs it again under one of these at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One thing about a check's surroundings that is not as usual.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// It is run by the user nobody.
    Uid,
    /// `LANG` and `LC_ALL` are `C`.
    Locale,
    /// Python writes to its standard streams in an old code page, as it does on Windows.
    CodePage,
    /// The time zone is 14 hours ahead of UTC.
    TimezoneEast,
    /// The time zone is 11 hours behind UTC.
    TimezoneWest,
    /// What it makes is open to its own user alone: umask 077.
    Umask,
    /// `HOME` is not set.
    NoHome,
    /// `HOME` is the caller's.
    RealHome,
    /// The path of its sandbox is some 200 characters longer.
    LongPath,
    /// The path of its sandbox has a space.
    SpacedPath,
    /// The path of its sandbox has letters that ASCII does not have.
    NonAsciiPath,
    /// Its sandbox is reached through a symbolic link.
    SymlinkedPath,
    /// Descriptor 0 is closed.
    ClosedStdin,
    /// Its input and its outputs are terminals.
    Pty,
    /// `/dev/shm` has 64 MiB, as containers have it by default.
    SmallShm,
    /// `TMPDIR` has no room.
    FullDisk,
    /// It has one processor, and that only when nobody else wants it much: niceness 19.
    OneSlowCore,
}

impl Fact {
    /// All of them, in the order in which a check runs under them.
    pub const ALL: [Self; 17] = [
        Self::Uid,
        Self::Locale,
        Self::CodePage,
        Self::TimezoneEast,
        Self::TimezoneWest,
        Self::Umask,
        Self::NoHome,
        Self::RealHome,
        Self::LongPath,
        Self::SpacedPath,
        Self::NonAsciiPath,
        Self::SymlinkedPath,
        Self::ClosedStdin,
        Self::Pty,
        Self::SmallShm,
        Self::FullDisk,
        Self::OneSlowCore,
    ];

    /// The name that manifests and ids use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Uid => "uid",
            Self::Locale => "locale",
            Self::CodePage => "code-page",
            Self::TimezoneEast => "timezone-east",
            Self::TimezoneWest => "timezone-west",
            Self::Umask => "umask",
            Self::NoHome => "no-home",
            Self::RealHome => "real-home",
            Self::LongPath => "long-path",
            Self::SpacedPath => "spaced-path",
            Self::NonAsciiPath => "non-ascii-path",
            Self::SymlinkedPath => "symlinked-path",
            Self::ClosedStdin => "closed-stdin",
            Self::Pty => "pty",
            Self::SmallShm => "small-shm",
            Self::FullDisk => "full-disk",
            Self::OneSlowCore => "one-slow-core",
        }
    }

    /// The facts that a word of a manifest or of the command line stands for: `all`, the name of one, or `timezone` for
    /// both zones. `None` if it is no such word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Vec<Self>> {
        match word {
            "all" => Some(Self::ALL.to_vec()),
            "timezone" => Some(vec![Self::TimezoneEast, Self::TimezoneWest]),
            _ => Self::ALL.into_iter().find(|fact| fact.name() == word).map(|fact| vec![fact]),
        }
    }

    /// As the end of a sentence: `passes, but not …`.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Uid => "as the user nobody",
            Self::Locale => "with LANG=C",
            Self::CodePage => "with Python's output in cp1252, as on Windows",
            Self::TimezoneEast => "14 hours ahead of UTC",
            Self::TimezoneWest => "11 hours behind UTC",
            Self::Umask => "with umask 077",
            Self::NoHome => "without HOME",
            Self::RealHome => "with the real HOME",
            Self::LongPath => "in a sandbox with a long path",
            Self::SpacedPath => "in a sandbox with a space in its path",
            Self::NonAsciiPath => "in a sandbox with a path beyond ASCII",
            Self::SymlinkedPath => "in a sandbox behind a symbolic link",
            Self::ClosedStdin => "with its input closed",
            Self::Pty => "at a terminal",
            Self::SmallShm => "with 64 MiB of /dev/shm",
            Self::FullDisk => "with a full TMPDIR",
            Self::OneSlowCore => "on one slow core",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_for_facts() {
        for fact in Fact::ALL {
            assert_eq!(Fact::of_word(fact.name()), Some(vec![fact]));
        }
        assert_eq!(Fact::of_word("all").map(|all| all.len()), Some(Fact::ALL.len()));
        assert_eq!(Fact::of_word("timezone"), Some(vec![Fact::TimezoneEast, Fact::TimezoneWest]));
        assert_eq!(Fact::of_word("home"), None);
    }
}
