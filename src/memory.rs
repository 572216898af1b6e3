//! Which checks of a project were red when they were last run, for `--failed`, and how long each took, for which start first:
//! in the user's folder for state, one small file per project. That of a project which is gone goes, too, after a while.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::platform;

const SCHEMA: &str = "hostproof.memory/1";
/// No memory is larger.
const MAX_BYTES: u64 = 64 << 20;
/// So many times are remembered: those of the checks that took longest.
const MOST_TIMES: usize = 100_000;
/// A project that is gone may be on a disk that is put in again: so long its memory stays.
const GONE_FOR: Duration = Duration::from_secs(24 * 3600);
/// How many of the others are looked at by one run.
const LOOKED_AT: usize = 100;

/// What is said of a check that was to run and was not reached.
pub const NOT_RUN: &str = "not-run";

#[derive(Debug, Serialize, Deserialize)]
struct Memory {
    schema: String,
    /// For people who look.
    project: String,
    /// By id: the verdict, or [`NOT_RUN`].
    red: BTreeMap<String, String>,
    /// By id: how long it took, in milliseconds.
    #[serde(default)]
    took: BTreeMap<String, u64>,
}

/// What is to be remembered of a run.
#[derive(Debug, Default)]
pub struct Seen {
    /// The red checks, and those that were not reached: by id, with the verdict, or [`NOT_RUN`].
    pub red: BTreeMap<String, String>,
    /// How long each took that was started, in milliseconds.
    pub took: BTreeMap<String, u64>,
}

/// The checks of the project that were red, or were not reached, when they were last to run: by id, with the verdict.
///
/// # Errors
///
/// If nothing is remembered, or it can't be read.
pub fn red(project: &Path) -> Result<BTreeMap<String, String>> {
    let path = file(project)?;
    match read(&path) {
        Ok(memory) => Ok(memory.red),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Error::Usage(format!(
            "no run of {} is remembered in {}, so --failed has nothing to go by; hostproof run remembers what is red",
            project.display(),
            path.display()
        ))),
        Err(error) => Err(Error::Usage(format!(
            "what is remembered of the last run can't be read, so --failed has nothing to go by: {}: {error}; \
hostproof run writes it anew",
            path.display()
        ))),
    }
}

/// How long the checks of the project took when they were last run, in milliseconds, by id. Nothing where nothing is known:
/// a run is no worse for it.
#[must_use]
pub fn took(project: &Path) -> BTreeMap<String, u64> {
    file(project).ok().and_then(|path| read(&path).ok()).map(|memory| memory.took).unwrap_or_default()
}

/// Remembers a run: all of its checks, of those the red ones, and how long they took. What is known of other checks stays,
/// unless the run was one of all.
///
/// # Errors
///
/// If it can't be written.
pub fn remember(project: &Path, ran: &BTreeSet<&str>, seen: Seen, all: bool) -> Result<()> {
    let path = file(project)?;
    // What can't be read is replaced.
    let known = if all { None } else { read(&path).ok() };
    let (mut red, mut took) = known.map(|memory| (memory.red, memory.took)).unwrap_or_default();
    red.retain(|id, _| !ran.contains(id.as_str()));
    red.extend(seen.red);
    took.extend(seen.took);
    keep_longest(&mut took);
    let memory = Memory { schema: SCHEMA.to_owned(), project: project.display().to_string(), red, took };
    write(&path, &memory).map_err(|error| Error::file("cannot remember this run in", &path, error))?;
    forget(&path);
    Ok(())
}

/// Of very many times those of the quickest go: it is the longest that are to start first, and the file stays small.
fn keep_longest(took: &mut BTreeMap<String, u64>) {
    if took.len() > MOST_TIMES {
        let mut times: Vec<u64> = took.values().copied().collect();
        let (_, least, _) = times.select_nth_unstable_by(MOST_TIMES - 1, |one, other| other.cmp(one));
        let least = *least;
        let mut room = MOST_TIMES - took.values().filter(|time| **time > least).count();
        took.retain(|_, time| {
            let is_kept = *time > least || (*time == least && room > 0);
            room -= usize::from(*time == least && is_kept);
            is_kept
        });
    }
}

/// Removes the memories of projects that have been gone for a while, beside that one. What can't be looked at stays.
fn forget(own: &Path) {
    let entries = own.parent().and_then(|folder| fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let memories = entries
        .map(|entry| entry.path())
        .filter(|path| path != own && path.extension().is_some_and(|end| end == "json"));
    let old = memories.filter(|path| is_older(path, GONE_FOR));
    for path in old.take(LOOKED_AT) {
        // A name that is not text can't be told to be gone.
        let is_gone = |memory: &Memory| {
            let project = Path::new(&memory.project);
            !memory.project.contains(char::REPLACEMENT_CHARACTER) && matches!(project.try_exists(), Ok(false))
        };
        if read(&path).is_ok_and(|memory| is_gone(&memory)) {
            // Another run may have been faster.
            let _ = fs::remove_file(&path);
        }
    }
}

/// Whether a file was last written longer ago than that.
fn is_older(path: &Path, age: Duration) -> bool {
    let written = fs::metadata(path).and_then(|metadata| metadata.modified());
    written.is_ok_and(|written| SystemTime::now().duration_since(written).is_ok_and(|since| since > age))
}

/// The file of a project, named by the digest of its path.
fn file(project: &Path) -> Result<PathBuf> {
    let folder = platform::state_folder().ok_or_else(|| {
        Error::Usage("there is no folder to remember runs in: neither XDG_STATE_HOME nor HOME is set".to_owned())
    })?;
    let digest = Sha256::digest(project.as_os_str().as_encoded_bytes());
    let mut name = String::new();
    for byte in digest.iter().take(16) {
        name.push_str(&format!("{byte:02x}"));
    }
    Ok(folder.join("hostproof").join(name + ".json"))
}

fn read(path: &Path) -> io::Result<Memory> {
    let mut bytes = Vec::new();
    platform::open_regular(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let memory: Memory = serde_json::from_slice(&bytes)?;
    if memory.schema != SCHEMA {
        return Err(io::Error::other(format!("it is of another form, {:?}", memory.schema)));
    }
    Ok(memory)
}

fn write(path: &Path, memory: &Memory) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    if !folder.is_dir() {
        folder.parent().map(fs::create_dir_all).transpose()?;
        // Another run may have been faster.
        platform::make_folder(folder).or_else(|error| if folder.is_dir() { Ok(()) } else { Err(error) })?;
    }
    let mut file = platform::new_file(folder, ".new-")?;
    file.write_all(&serde_json::to_vec(memory)?)?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_very_many_times_the_longest_are_kept() {
        let mut took: BTreeMap<String, u64> = (0..150_000).map(|at| (format!("c{at}"), at / 4)).collect();
        keep_longest(&mut took);
        assert_eq!(took.len(), MOST_TIMES);
        assert_eq!((took.values().min(), took.contains_key("c149999")), (Some(&12_500), true));
    }
}
