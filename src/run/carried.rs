//! What a run may have left for the next one of the same check: it then finds another machine than the first did.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::names::TICK;
use super::shared::COMMON;
use crate::model::{CheckReport, Home, Kind};
use crate::{env, platform};

/// How many names are told of.
const NAMED: usize = 3;
/// What the names of lanes' folders begin with.
const LANE: &str = "hp-";

/// What came about while the first run went on, and was there when it was over: in the folders where programs leave what has a
/// fixed name, at the top of its home if that is the caller's, and in the project. By whom is not known. Sorted.
#[must_use]
pub fn left(report: &CheckReport) -> Vec<String> {
    let Some(started) = report.started.as_ref().and_then(|at| at.parse::<jiff::Timestamp>().ok()) else {
        return Vec::new();
    };
    let home = env::home().filter(|_| report.home == Some(Home::Real));
    let folders: BTreeSet<PathBuf> =
        COMMON.iter().map(PathBuf::from).chain([platform::sandbox_base()]).chain(home).collect();
    let started = SystemTime::UNIX_EPOCH + Duration::from_millis(started.as_millisecond().unsigned_abs()) - TICK;
    let mut left: Vec<String> = folders.iter().flat_map(|folder| since(folder, started)).collect();
    left.extend(report.findings.iter().filter(|one| one.kind == Kind::Residue).filter_map(|one| one.path.clone()));
    left
}

/// What is in a folder, but for hostproof's own, and was made or written to since; nothing that is
/// known to be another user's.
fn since(folder: &Path, started: SystemTime) -> Vec<String> {
    let is_new = |entry: &fs::DirEntry| {
        let times = entry.metadata().map(|metadata| [metadata.created(), metadata.modified()]).into_iter().flatten();
        let is_lane = entry.file_name().to_string_lossy().starts_with(LANE);
        !is_lane && platform::is_own(&entry.path()) != Some(false) && times.flatten().any(|at| at >= started)
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(is_new).map(|entry| entry.path().display().to_string()).collect()
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
        assert_eq!(since(folder.path(), now + Duration::from_secs(60)), Vec::<String>::new());
        let mut found = since(folder.path(), now - Duration::from_secs(60));
        found.sort();
        assert_eq!(found, [file("new").display().to_string(), file("old").display().to_string()]);
        fs::remove_file(file("old")).expect("removed");
        let told = told(&found);
        let is_named = |name: &str| told.contains(&format!("{} (new or written to", file(name).display()));
        assert!(is_named("new") && !is_named("old"), "{told}");
        assert!(super::told(&[]).ends_with("something outside the sandbox"));
    }
}
