//! The JUnit XML files that a check wrote.

use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use globset::GlobBuilder;

use super::substitute::located;
use crate::model::Reading;
use crate::platform;
use crate::probes::Places;
use crate::readers::{Context, JunitFile, junit};

/// The most files that are read.
const MOST_FILES: usize = 1_000;
/// The most entries of folders that are looked at.
const MOST_ENTRIES: usize = 100_000;
/// The deepest folders that are looked into.
const DEEPEST: usize = 32;

/// The files of a path that are there before the check starts, with when they were written, and how long they are.
#[derive(Debug, Default)]
pub struct Before(HashMap<PathBuf, (SystemTime, u64)>);

impl Before {
    /// What is there now.
    pub fn now(path: &str, places: &Places) -> Self {
        let (found, _) = files(&located(path, places));
        let facts = |file: PathBuf| {
            let metadata = fs::metadata(&file).ok()?;
            Some((file, (metadata.modified().ok()?, metadata.len())))
        };
        Self(found.into_iter().filter_map(facts).collect())
    }

    fn has(&self, file: &Path, metadata: &Metadata) -> bool {
        // A copy of the project is written right before the check starts: its time alone tells nothing.
        self.0.get(file).is_some_and(|(written, length)| {
            metadata.modified().is_ok_and(|now| now == *written) && metadata.len() == *length
        })
    }
}

/// Reads them. A file that was there before the check started, that is no regular one, or that lies outside of the
/// check's places does not count, and nothing is known then.
pub fn read(path: &str, places: &Places, before: &Before, started: SystemTime, context: &Context<'_>) -> Reading {
    let (found, cut) = files(&located(path, places));
    let mut problems = Vec::new();
    // One at a time: there may be more of them than may be open.
    let fresh = found.into_iter().filter_map(|file| {
        let name = file.strip_prefix(&places.cwd).unwrap_or(&file).display().to_string();
        match open(&file, places, before, started) {
            Ok(opened) => Some(JunitFile { name, bytes: Box::new(BufReader::with_capacity(64 * 1024, opened)) }),
            Err(why) => {
                problems.push(format!("{name}: {why}"));
                None
            }
        }
    });
    let mut reading = junit(fresh, context);
    if cut {
        problems.push(format!("{path}: there are too many files to read them all"));
    }
    if reading.reader.is_none() && problems.is_empty() {
        problems.push(format!("{path}: the check wrote no such file"));
    }
    if !problems.is_empty() {
        // Of a part nobody knows what the whole is; that something failed stays true.
        let failed = reading.counts.failed.filter(|&failed| failed > 0);
        reading.counts = crate::model::Counts { failed, ..Default::default() };
        reading.reader = None;
        problems.append(&mut reading.notes);
        reading.notes = problems;
    }
    reading
}

fn open(file: &Path, places: &Places, before: &Before, started: SystemTime) -> Result<File, String> {
    let real = platform::real_path(file).map_err(|error| error.to_string())?;
    let inside = [&places.cwd, &places.sandbox, &places.project].into_iter();
    if !inside.filter_map(|place| platform::real_path(place).ok()).any(|place| real.starts_with(place)) {
        return Err(format!("it leads out of the project and the sandbox, to {}", real.display()));
    }
    let opened = platform::open_regular(&real).map_err(|error| error.to_string())?;
    let metadata = opened.metadata().map_err(|error| error.to_string())?;
    if before.has(file, &metadata) || is_stale(&metadata, started) {
        return Err(
            "it was there before the check started, and the check did not write it: it does not count".to_owned()
        );
    }
    Ok(opened)
}

/// Whether a file was last written before the check started. Its time is that of the system's last tick, or of a whole
/// second or two where the file system has nothing finer.
fn is_stale(metadata: &Metadata, started: SystemTime) -> bool {
    let Ok(written) = metadata.modified() else { return true };
    let coarse = written.duration_since(UNIX_EPOCH).is_ok_and(|since| since.subsec_nanos() == 0);
    let granularity = if coarse { Duration::from_secs(2) } else { Duration::from_millis(20) };
    written + granularity < started
}

/// The files that a path or a glob names, in the order of their names; whether there are more.
fn files(path: &Path) -> (Vec<PathBuf>, bool) {
    if fs::symlink_metadata(path).is_ok() {
        return (vec![path.to_owned()], false);
    }
    let is_pattern = |part: &std::ffi::OsStr| part.to_string_lossy().contains(['*', '?', '[', '{']);
    let base: PathBuf = path.iter().take_while(|part| !is_pattern(part)).collect();
    let pattern: PathBuf = path.iter().skip_while(|part| !is_pattern(part)).collect();
    let glob = GlobBuilder::new(&pattern.to_string_lossy()).literal_separator(true).build();
    let (Ok(glob), false) = (glob, pattern.as_os_str().is_empty()) else { return (Vec::new(), false) };
    let matcher = glob.compile_matcher();
    let mut found = Vec::new();
    let mut open = vec![(base.clone(), 0)];
    let mut looked = 0;
    let mut cut = false;
    while let Some((folder, depth)) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            looked += 1;
            if looked > MOST_ENTRIES {
                return (found, true);
            }
            let Ok(kind) = entry.file_type() else { continue };
            let file = entry.path();
            if kind.is_dir() {
                if depth < DEEPEST {
                    open.push((file, depth + 1));
                } else {
                    cut = true;
                }
            } else if file.strip_prefix(&base).is_ok_and(|name| matcher.is_match(name)) {
                if found.len() == MOST_FILES {
                    return (found, true);
                }
                found.push(file);
            }
        }
    }
    found.sort();
    (found, cut)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(folder: &Path) -> Places {
        let (sandbox, project) = (folder.join("box"), folder.join("project"));
        fs::create_dir_all(sandbox.join("work/a/b")).expect("made");
        fs::create_dir_all(&project).expect("made");
        Places { cwd: sandbox.join("work"), sandbox, project }
    }

    fn reading(path: &str, places: &Places, started: SystemTime) -> Reading {
        read(path, places, &Before::default(), started, &Context::new(&places.project, &places.cwd))
    }

    const GREEN: &str = "<testsuite tests='1'><testcase name='a'/></testsuite>";

    #[test]
    fn files_are_named_relative_to_the_check_or_by_a_variable_or_a_glob() {
        let folder = tempfile::tempdir().expect("a folder");
        let places = places(folder.path());
        let before = SystemTime::now();
        for file in ["box/work/r.xml", "box/work/a/1.xml", "box/work/a/b/2.xml", "box/s.xml", "project/p.xml"] {
            fs::write(folder.path().join(file), GREEN).expect("written");
        }
        for (path, ran) in [
            ("r.xml", 1),
            ("./r.xml", 1),
            ("a/*.xml", 1),
            ("a/**/*.xml", 2),
            ("**/*.xml", 3),
            ("$sandbox/s.xml", 1),
            ("$project/p.xml", 1),
            ("$project/{p,q}.xml", 1),
        ] {
            let reading = reading(path, &places, before);
            assert_eq!((reading.counts.passed, reading.notes.len()), (Some(ran), 0), "{path}: {:?}", reading.notes);
        }
        for path in ["none.xml", "b/*.xml", "*.XML"] {
            let reading = reading(path, &places, before);
            assert_eq!((reading.reader, reading.counts.ran, reading.notes.len()), (None, None, 1), "{path}");
        }
    }

    #[test]
    fn a_file_from_before_never_counts() {
        let folder = tempfile::tempdir().expect("a folder");
        let places = places(folder.path());
        fs::write(places.cwd.join("r.xml"), GREEN).expect("written");
        let later = SystemTime::now() + Duration::from_secs(60);
        let reading = reading("*.xml", &places, later);
        assert_eq!((reading.reader, reading.counts.ran), (None, None));
        assert!(reading.notes[0].contains("before the check started"), "{:?}", reading.notes);
        // It was copied a moment before.
        let before = Before::now("*.xml", &places);
        let context = Context::new(&places.project, &places.cwd);
        let started = SystemTime::now();
        assert_eq!(read("*.xml", &places, &before, started, &context).counts.ran, None);
        fs::write(places.cwd.join("r.xml"), format!("{GREEN}\n")).expect("written");
        assert_eq!(read("*.xml", &places, &before, started, &context).counts.ran, Some(1));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_of_the_check_is_refused_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let places = places(folder.path());
        let elsewhere = folder.path().join("elsewhere.xml");
        fs::write(&elsewhere, GREEN).expect("written");
        std::os::unix::fs::symlink(&elsewhere, places.cwd.join("link.xml")).expect("linked");
        let made = std::process::Command::new("mkfifo").arg(places.cwd.join("pipe.xml")).status();
        assert!(made.expect("mkfifo").success());
        for (path, why) in [("link.xml", "leads out"), ("pipe.xml", "not a regular file"), ("a", "not a regular file")]
        {
            let reading = reading(path, &places, SystemTime::UNIX_EPOCH);
            assert_eq!(reading.counts.ran, None);
            assert!(reading.notes[0].contains(why), "{path}: {:?}", reading.notes);
        }
    }
}
