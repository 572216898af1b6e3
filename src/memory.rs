//! Which checks of a project were red when they were last run: for `--failed`, in the user's folder for state, one small
//! file per project.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::platform;

const SCHEMA: &str = "hostproof.memory/1";
/// No memory is larger.
const MAX_BYTES: u64 = 4 << 20;

/// What is said of a check that was to run and was not reached.
pub const NOT_RUN: &str = "not-run";

#[derive(Debug, Serialize, Deserialize)]
struct Memory {
    schema: String,
    /// For people who look.
    project: String,
    /// By id: the verdict, or [`NOT_RUN`].
    red: BTreeMap<String, String>,
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

/// Remembers a run: all of its checks, and of those the red ones. What is known of other checks stays, unless the run was
/// one of all.
///
/// # Errors
///
/// If it can't be written.
pub fn remember(project: &Path, ran: &BTreeSet<&str>, red: BTreeMap<String, String>, all: bool) -> Result<()> {
    let path = file(project)?;
    // What can't be read is replaced.
    let mut known = if all { BTreeMap::new() } else { read(&path).map(|memory| memory.red).unwrap_or_default() };
    known.retain(|id, _| !ran.contains(id.as_str()));
    known.extend(red);
    let memory = Memory { schema: SCHEMA.to_owned(), project: project.display().to_string(), red: known };
    write(&path, &memory).map_err(|error| Error::file("cannot remember this run in", &path, error))
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
