//! A manifest into the project: read by the loader first, then put there in one piece.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::find::SelfTest;
use crate::error::{Error, Result};
use crate::manifest::{self, FOLDER};
use crate::model::CheckCommand;
use crate::{env, platform};

/// The name of the manifest, in the folder of manifests.
const NAME: &str = "hostproof.yaml";

/// The manifest, relative to the project.
pub const FILE: &str = "checks.d/hostproof.yaml";

/// Has the loader read the text, and compares what it read with what was meant.
///
/// # Errors
///
/// If they differ, or the loader refuses it: either is a fault of this program.
pub fn check(text: &str, tests: &[&SelfTest]) -> Result<()> {
    let bug = |what: &str| {
        Error::Unmeasured(format!(
            "nothing was written: what was to be written {what}; this is a fault of hostproof\n{text}"
        ))
    };
    let place = tempfile::tempdir().map_err(|error| Error::file("cannot make a folder in", &env::temp(), error))?;
    let folder = place.path().join(FOLDER);
    let file = folder.join(NAME);
    fs::create_dir(&folder)
        .and_then(|()| fs::write(&file, text))
        .map_err(|error| Error::file("cannot write", &file, error))?;
    let options = manifest::Options {
        start: place.path(),
        directory: Some(Path::new(FOLDER)),
        platform: platform::current(),
        colour: false,
    };
    let loaded = manifest::load(&options).map_err(|error| bug(&format!("is refused by the loader: {error}")))?;
    let read = loaded.checks.iter().map(|loaded| (&loaded.check.id, &loaded.check.command));
    let meant = tests.iter().map(|test| (&test.id, CheckCommand::Argv(test.run.clone())));
    let same = |((id, command), (meant_id, meant)): ((&String, &CheckCommand), (&String, CheckCommand))| {
        id == meant_id && *command == meant
    };
    if loaded.checks.len() == tests.len() && read.zip(meant).all(same) {
        Ok(())
    } else {
        Err(bug("is read as something else"))
    }
}

/// Writes the manifest of a project that has none.
///
/// # Errors
///
/// What the system says; also if a manifest of that name has come meanwhile.
pub fn write(root: &Path, text: &str) -> Result<()> {
    let folder = root.join(FOLDER);
    let made = match fs::create_dir(&folder) {
        Ok(()) => true,
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(error) => return Err(Error::file("cannot make", &folder, error)),
    };
    put(&folder, text).map_err(|error| {
        if made {
            // Only an empty one goes.
            let _ = fs::remove_dir(&folder);
        }
        Error::file("cannot write", &folder.join(NAME), error)
    })
}

/// To a temporary file beside it, then renamed, so that nobody reads half of it, and never over another.
fn put(folder: &Path, text: &str) -> io::Result<()> {
    let mut file = platform::new_file(folder, ".hostproof-init-")?;
    file.write_all(text.as_bytes())?;
    file.persist_noclobber(folder.join(NAME)).map(drop).map_err(|error| error.error)
}
