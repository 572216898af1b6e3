//! Which folder is the project, and whether it may get manifests.

use std::fs;
use std::path::{Path, PathBuf};

use super::text;
use crate::error::{Error, Result};
use crate::manifest::FOLDER;
use crate::model::{Host, Wiring};
use crate::wirings::{Disk, list, read};
use crate::{platform, source};

/// A project without manifests.
#[derive(Debug)]
pub struct Project {
    /// Absolute, without symbolic links.
    pub root: PathBuf,
    /// Relative, with `/`, sorted.
    pub files: Vec<String>,
    /// What was not looked at.
    pub notes: Vec<String>,
}

/// Opens the project that the folder is in: the top of its git repository, else the folder itself.
///
/// # Errors
///
/// If it has manifests already.
pub fn open(folder: &Path) -> Result<Project> {
    let canonical = |path: &Path| platform::real_path(path).map_err(|error| Error::file("cannot find", path, error));
    let folder = canonical(folder)?;
    let root = match source::top(&folder) {
        Some(top) => canonical(&top)?,
        None => folder.clone(),
    };
    // A nearer folder of manifests would hide the one that is written.
    for above in folder.ancestors().take_while(|above| above.starts_with(&root)) {
        refuse_existing(&above.join(FOLDER))?;
    }
    let listing = list(&root);
    Ok(Project { root, files: listing.files, notes: listing.notes })
}

impl Project {
    /// The text of one of its own files; `None` for what can't be read or is not text.
    pub fn text(&self, name: &str) -> Option<String> {
        text::read(&self.root.join(name)).ok()
    }
}

/// The commands that hosts call in a project, and what a person should know of the rest. Those of one user alone are left
/// out, since what is written is for everybody; git's hooks are nobody's alone.
#[must_use]
pub fn wired(project: &Project) -> (Vec<Wiring>, Vec<String>) {
    let read = read(&Disk::of(&project.root, &project.files), &[]);
    let unread = read.unread.into_iter().map(|unread| {
        let place = unread.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{place}: {}", unread.file, unread.message)
    });
    let notes = unread.chain(read.notes).collect();
    let shared = read.wirings.into_iter().filter(|wiring| !wiring.personal || wiring.host == Host::Git);
    (shared.collect(), notes)
}

fn refuse_existing(directory: &Path) -> Result<()> {
    match fs::symlink_metadata(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::file("cannot read", directory, error)),
        Ok(_) => {}
    }
    if !directory.is_dir() {
        let text = format!("{} is in the way: it is not a folder\nhelp: rename or remove it", directory.display());
        return Err(Error::Usage(text));
    }
    let mut entries = directory.read_dir().map_err(|error| Error::file("cannot read", directory, error))?;
    let manifest = entries.find_map(|entry| {
        let name = entry.ok()?.file_name().to_string_lossy().into_owned();
        let ending = Path::new(&name).extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
        (ending && !name.starts_with('.')).then_some(name)
    });
    match manifest {
        None => Ok(()),
        Some(name) => Err(Error::Usage(format!(
            "{} has manifests already ({name}), and nothing is overwritten\n\
             help: `hostproof run` runs them; add checks to them by hand, or move the folder away and run init again",
            directory.display()
        ))),
    }
}
