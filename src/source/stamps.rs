//! Which files of a project were changed between two looks.
//!
//! They are looked at, and no watcher of the system's is asked: that holds folders where to hold one is what checks are
//! run for (Windows), and hears nothing of a folder that another system shares with this one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// When a file was changed, as far as that can be told, and its size.
type Stamp = Option<(SystemTime, u64)>;

/// A project's files as they were at the last look.
#[derive(Debug)]
pub struct Stamps {
    project: PathBuf,
    files: BTreeMap<PathBuf, Stamp>,
    /// Those that these files lie in: what comes and goes in one changes it.
    folders: BTreeMap<PathBuf, Stamp>,
}

impl Stamps {
    /// Looks for the first time: at what git tracks, and what it neither tracks nor ignores.
    ///
    /// # Errors
    ///
    /// If git can't tell: a sentence.
    pub fn of(project: &Path) -> Result<Self, String> {
        let mut stamps = Self { project: project.to_owned(), files: BTreeMap::new(), folders: BTreeMap::new() };
        stamps.list()?;
        Ok(stamps)
    }

    /// How many files there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// Looks again: the files that are new, gone, or not as they were.
    ///
    /// # Errors
    ///
    /// If git can't tell: a sentence.
    pub fn changed(&mut self) -> Result<BTreeSet<PathBuf>, String> {
        let is_as_it_was = |(path, was): (&PathBuf, &Stamp)| stamp(&self.project.join(path)) == *was;
        if self.files.iter().all(is_as_it_was) && self.folders.iter().all(is_as_it_was) {
            return Ok(BTreeSet::new());
        }
        let before = std::mem::take(&mut self.files);
        if let Err(error) = self.list() {
            self.files = before;
            return Err(error);
        }
        let both = before.keys().chain(self.files.keys());
        Ok(both.filter(|path| before.get(*path) != self.files.get(*path)).cloned().collect())
    }

    fn list(&mut self) -> Result<(), String> {
        let files = super::listed(&self.project)?;
        let folders: BTreeSet<&Path> = files.iter().flat_map(|file| file.ancestors().skip(1)).collect();
        let now = |path: &Path| (path.to_owned(), stamp(&self.project.join(path)));
        self.folders = folders.into_iter().map(now).collect();
        self.files = files.iter().map(|file| now(file)).collect();
        Ok(())
    }
}

fn stamp(path: &Path) -> Stamp {
    let metadata = fs::symlink_metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
