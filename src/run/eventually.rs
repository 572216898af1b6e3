//! What must be so after a check's end: files that detached work has made, or taken away.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::model::{Check, Eventually, Finding, Kind, Presence, Severity};
use crate::platform::{FileGlob, Progress};
use crate::probes::Places;
use crate::words::duration;

/// Nothing of the check is alive here, so that no end will announce itself: whoever is still at work is no process of it.
/// That is rare, and a look at a folder costs microseconds.
const POLL: Duration = Duration::from_millis(20);
/// How many files a finding names.
const NAMED: usize = 3;

/// Waits for all of it, each as long as it may take after the check's end; says what did not come about.
pub fn unmet(check: &Check, places: &Places, ended: Instant, stop: &AtomicBool) -> Vec<Finding> {
    check.eventually.iter().filter_map(|wanted| wait(wanted, places, ended, stop)).collect()
}

fn wait(wanted: &Eventually, places: &Places, ended: Instant, stop: &AtomicBool) -> Option<Finding> {
    let (folder, text) = folder_of(&wanted.file, places);
    let error = |message| Some(Finding::new(Kind::Unmet, Severity::Error, message));
    let glob = match FileGlob::new(&text) {
        Ok(glob) => glob,
        Err(why) => return error(format!("eventually: {} is no glob: {why}", wanted.file)),
    };
    let late = duration(wanted.within);
    loop {
        let found = match files(&folder, &glob) {
            Ok(found) => found,
            Err(why) => return error(format!("eventually: {} could not be looked for: {why}", wanted.file)),
        };
        if found.is_empty() == (wanted.is == Presence::Absent) {
            return None;
        }
        if ended.elapsed() >= wanted.within || stop.load(Ordering::SeqCst) {
            let message = match wanted.is {
                Presence::Present => format!("{} was not there {late} after the end", wanted.file),
                Presence::Absent => {
                    let names: Vec<String> =
                        found.iter().take(NAMED).map(|path| places.name(&path.to_string_lossy())).collect();
                    let more = found.len().saturating_sub(NAMED);
                    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                    format!("{} was still there {late} after the end: {}{more}", wanted.file, names.join(", "))
                }
            };
            let mut finding = Finding::new(Kind::Unmet, Severity::Error, message);
            finding.remedy = Some("see to it that what works on detached does its work before it ends".to_owned());
            return Some(finding);
        }
        sleep(POLL.min(wanted.within.saturating_sub(ended.elapsed())));
    }
}

/// A glob of a check's files with the folder that it is below.
pub fn folder_of(glob: &str, places: &Places) -> (PathBuf, String) {
    let below = [("$project/", &places.project), ("$sandbox/", &places.sandbox)];
    let below = below.into_iter().find_map(|(word, place)| Some((place, glob.strip_prefix(word)?)));
    let (folder, rest) = below.unwrap_or((&places.cwd, glob));
    (folder.clone(), rest.to_owned())
}

/// The files of that glob. A folder that is not there has none.
fn files(root: &Path, glob: &FileGlob) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open: Vec<(PathBuf, Progress)> = vec![(root.to_owned(), glob.start())];
    while let Some((folder, progress)) = open.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => continue,
            Err(error) => return Err(error),
        };
        for entry in entries {
            let entry = entry?;
            let progress = glob.enter(&progress, &entry.file_name().to_string_lossy());
            // What goes meanwhile is gone.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                if glob.may_match_below(&progress) {
                    open.push((entry.path(), progress));
                }
            } else if glob.is_match(&progress) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_their_glob_and_no_folder_is_no_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let names = |glob: &str| -> Vec<String> {
            let found = files(folder.path(), &FileGlob::new(glob).expect("a glob")).expect("a look");
            let name =
                |path: &PathBuf| path.strip_prefix(folder.path()).expect("below").to_string_lossy().replace('\\', "/");
            found.iter().map(name).collect()
        };
        assert!(names("spool/*").is_empty());
        fs::create_dir_all(folder.path().join("spool/deep")).expect("folders");
        assert!(names("spool/*").is_empty());
        for name in ["spool/a.json", "spool/deep/b.json", "c"] {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        assert_eq!(names("spool/*"), ["spool/a.json"]);
        assert_eq!(names("**/*.json"), ["spool/a.json", "spool/deep/b.json"]);
        assert_eq!(names("c"), ["c"]);
    }
}
