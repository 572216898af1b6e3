//! What a run may have left for the next one of the same check: it then finds another machine than the first did.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use super::residue::TICK;
use super::shared::COMMON;
use crate::model::{CheckReport, Home, Kind};
use crate::{env, platform};

/// How many names are told of.
const NAMED: usize = 3;

/// What came about while the first run went on, and was there when it was over: in the folders where programs leave what has a
/// fixed name, at the top of its home if that is the caller's, and in the project. By whom is not known.
#[must_use]
pub fn left(report: &CheckReport) -> Vec<String> {
    let Some(started) = report.started.as_ref().and_then(|at| at.parse::<jiff::Timestamp>().ok()) else {
        return Vec::new();
    };
    let home = env::home().filter(|_| report.home == Some(Home::Real));
    let folders: BTreeSet<PathBuf> =
        COMMON.iter().map(PathBuf::from).chain([platform::sandbox_base()]).chain(home).collect();
    let started = SystemTime::UNIX_EPOCH + Duration::from_millis(started.as_millisecond().unsigned_abs()) - TICK;
    let mut left: Vec<(Sort, String)> = folders.iter().flat_map(|folder| since(folder, started)).collect();
    left.sort();
    let residue = report.findings.iter().filter(|one| one.kind == Kind::Residue).filter_map(|one| one.path.clone());
    residue.chain(left.into_iter().map(|(_, path)| path)).collect()
}

/// What kind of thing was left: the first is the likeliest to matter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    NewFile,
    /// Whatever is in it.
    NewFolder,
    /// It was there before. Programs at work all over the machine write to the folders that they have.
    WrittenTo,
}

/// What is in a folder, but for hostproof's own, and was made or written to since; nothing that is known to be another
/// user's.
fn since(folder: &Path, started: SystemTime) -> Vec<(Sort, String)> {
    let sort = |entry: &fs::DirEntry| {
        let metadata = entry.metadata().ok()?;
        let is_new = |at: io::Result<SystemTime>| at.is_ok_and(|at| at >= started);
        match (is_new(metadata.created()), is_new(metadata.modified())) {
            (true, _) if metadata.is_dir() => Some(Sort::NewFolder),
            (true, _) => Some(Sort::NewFile),
            (false, true) => Some(Sort::WrittenTo),
            (false, false) => None,
        }
    };
    let is_other = |entry: &fs::DirEntry| {
        let is_lane = entry.file_name().to_string_lossy().starts_with(platform::LANE);
        is_lane || platform::is_own(&entry.path()) == Some(false)
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().filter(|entry| !is_other(entry));
    entries.filter_map(|entry| Some((sort(&entry)?, entry.path().display().to_string()))).collect()
}

/// How it is told that the first run was green, and none after it.
#[must_use]
pub fn told(left: &[String]) -> String {
    let there: Vec<&str> =
        left.iter().map(String::as_str).filter(|path| fs::symlink_metadata(path).is_ok()).take(NAMED).collect();
    let what = match there[..] {
        [] => "something outside the sandbox".to_owned(),
        _ => format!("{} (new or written to since then, by whom is not known)", there.join(", ")),
    };
    format!("; the first run is green, and every later one red: it may have left for them {what}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_new_or_written_to_is_told_while_it_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| folder.path().join(name);
        for name in ["old", "new", "hp-lane"] {
            fs::write(file(name), "").expect("a file");
        }
        let now = SystemTime::now();
        assert_eq!(since(folder.path(), now + Duration::from_secs(60)), Vec::new());
        let found = since(folder.path(), now - Duration::from_secs(60));
        let mut found: Vec<String> = found.into_iter().map(|(_, path)| path).collect();
        found.sort();
        assert_eq!(found, [file("new").display().to_string(), file("old").display().to_string()]);
        fs::remove_file(file("old")).expect("removed");
        let told = told(&found);
        let is_named = |name: &str| told.contains(&format!("{} (new or written to", file(name).display()));
        assert!(is_named("new") && !is_named("old"), "{told}");
        assert!(super::told(&[]).ends_with("something outside the sandbox"));
    }
}
