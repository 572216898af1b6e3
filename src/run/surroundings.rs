//! What is otherwise about the surroundings of a check that runs under a [`Fact`].

use std::io::ErrorKind;
use std::path::Path;

use super::environment::Caller;
use crate::model::{Check, CheckCommand, Cwd, Fact, Home};
use crate::platform::{self, Change, StartError};

/// How large a container's `/dev/shm` is unless it is told otherwise: `--shm-size` of docker and podman.
const SHM: u64 = 64 << 20;

/// Why nothing could be seen of a check under its fact here; `None` if it can run.
#[must_use]
pub fn in_the_way(check: &Check, caller: &Caller, project: &Path) -> Option<String> {
    let fact = check.fact?;
    let is_hook = matches!(check.command, CheckCommand::Hook(_));
    let set = variables(fact).into_iter().map(|(name, _)| name).find(|name| check.env.contains_key(*name));
    let why = match fact {
        // What it says of TERM holds at a terminal, too.
        _ if set.is_some() && fact != Fact::Pty => format!("the check itself says what {} is", set.unwrap_or_default()),
        Fact::Locale if caller.variable("LC_ALL").is_some_and(|locale| locale == "C") => "LC_ALL is C as it is".into(),
        Fact::RealHome if check.home == Home::Real => "the check has the real HOME as it is".into(),
        Fact::NoHome | Fact::RealHome if check.env.contains_key("HOME") => "the check itself says what HOME is".into(),
        Fact::ClosedStdin | Fact::FullDisk if is_hook => "a hook is given its event there".into(),
        Fact::Pty if is_hook => "its host gives a hook pipes".into(),
        Fact::Uid if !may_be_entered(check, project) => {
            format!("nobody cannot enter {}; with `cwd: copy` or `cwd: sandbox` it need not", project.display())
        }
        _ => return change(fact).and_then(|change| platform::cannot_change(&change)),
    };
    Some(why)
}

/// Whether other users can get to where a check starts: what is in its sandbox is given to them.
fn may_be_entered(check: &Check, project: &Path) -> bool {
    let base = platform::sandbox_base();
    let entered = if check.cwd == Cwd::Project { project } else { &base };
    platform::is_open_to_others(&entered.join("inside"))
}

/// What of a job is changed for a fact; `None` if that is only its environment or its sandbox.
#[must_use]
pub fn change(fact: Fact) -> Option<Change> {
    match fact {
        Fact::Uid => Some(Change::Nobody),
        Fact::Umask => Some(Change::Umask(0o077)),
        Fact::ClosedStdin => Some(Change::ClosedInput),
        Fact::Pty => Some(Change::Terminal),
        Fact::OneSlowCore => Some(Change::OneSlowCore),
        Fact::SmallShm => Some(Change::SmallFileSystem { folder: "/dev/shm".to_owned(), bytes: SHM, full: false }),
        // As `TMPDIR` is called in a sandbox; no file system has less than a page.
        Fact::FullDisk => Some(Change::SmallFileSystem { folder: "tmp".to_owned(), bytes: 4096, full: true }),
        _ => None,
    }
}

/// The variables that a fact sets, and removes.
#[must_use]
pub fn variables(fact: Fact) -> Vec<(&'static str, Option<&'static str>)> {
    match fact {
        Fact::Locale => vec![("LANG", Some("C")), ("LC_ALL", Some("C")), ("LANGUAGE", None)],
        // What Python before 3.15 takes for a pipe in western Europe and America.
        Fact::CodePage => vec![("PYTHONIOENCODING", Some("cp1252"))],
        Fact::TimezoneEast => vec![("TZ", Some(zone("Pacific/Kiritimati", "EAST-14")))],
        Fact::TimezoneWest => vec![("TZ", Some(zone("Pacific/Pago_Pago", "WEST+11")))],
        Fact::Pty => vec![("TERM", Some("xterm"))],
        Fact::NoHome => vec![("HOME", None), ("USERPROFILE", None)],
        _ => Vec::new(),
    }
}

/// A zone by the name that every runtime knows, where the system has its file; else in the form of POSIX, which needs none:
/// a zone that is not found is UTC to most.
fn zone(name: &'static str, posix: &'static str) -> &'static str {
    if Path::new("/usr/share/zoneinfo").join(name).is_file() { name } else { posix }
}

/// Why a check under a fact was not started, if that is no fault of the check's.
#[must_use]
pub fn prevented(check: &Check, error: &StartError) -> Option<String> {
    let fact = check.fact?;
    let said = std::io::Error::from_raw_os_error(error.errno);
    if error.action == StartError::CHANGE {
        return Some(format!("it cannot run {} here: {said}", fact.words()));
    }
    let refused = fact == Fact::Uid && said.kind() == ErrorKind::PermissionDenied;
    refused.then(|| format!("nobody cannot {} {}", error.action, error.file))
}

/// What stands behind the name of a sandbox for a fact about its path.
#[must_use]
pub fn name_ending(fact: Fact) -> Option<String> {
    match fact {
        // Below the 255 bytes that a name may have, and too long for the path of a socket.
        Fact::LongPath => Some("-long".repeat(40)),
        Fact::SpacedPath => Some(" with a space".to_owned()),
        Fact::NonAsciiPath => Some("-größe-日本".to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(check: &Check, fact: Fact) -> String {
        let check = Check { fact: Some(fact), ..check.clone() };
        in_the_way(&check, &Caller::default(), Path::new("/")).unwrap_or_default()
    }

    #[test]
    fn what_a_check_says_itself_is_not_changed() {
        let check = Check::new("a", CheckCommand::Argv(vec!["true".into()]));
        assert_eq!(why(&check, Fact::Locale), "");
        let own = Check { env: [("LC_ALL".to_owned(), Some("de_DE.UTF-8".to_owned()))].into(), ..check.clone() };
        assert_eq!(why(&own, Fact::Locale), "the check itself says what LC_ALL is");
        assert_eq!(why(&own, Fact::TimezoneEast), "");
        let real = Check { home: Home::Real, ..check };
        assert_eq!(why(&real, Fact::RealHome), "the check has the real HOME as it is");
    }
}
