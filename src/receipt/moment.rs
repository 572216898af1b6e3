//! A project at one moment of a run, and which checks can be told of by what is committed alone.

use std::path::{Path, PathBuf};

use super::inputs::{Inputs, Reach};
use super::revision::Revision;
use crate::model::{Check, Checkout};
use crate::source::{self, Unlike, Unlikeness};

/// How many paths are named before the rest is counted.
const NAMED: usize = 3;

/// What was checked out, and what was not as committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    project: PathBuf,
    pub revision: Revision,
    unlike: Vec<Unlike>,
}

impl Moment {
    /// Looks now. `own` are the files that hostproof itself writes: that git does not know them is no matter.
    ///
    /// # Errors
    ///
    /// If there is no repository, no commit, or git can't tell: a sentence.
    pub fn now(project: &Path, own: &[PathBuf]) -> Result<Self, String> {
        let mut work = source::work(project)?;
        work.unlike.retain(|unlike| unlike.how != Unlikeness::Untracked || !own.contains(&project.join(&unlike.path)));
        Ok(Self { project: project.to_owned(), revision: Revision::of(project, &work), unlike: work.unlike })
    }

    /// What was checked out.
    #[must_use]
    pub fn checkout(&self) -> Checkout {
        let Revision { commit, tree, .. } = &self.revision;
        Checkout { commit: commit.clone(), tree: tree.clone(), dirty: !self.unlike.is_empty() }
    }

    /// The inputs of a check, with the setup of its manifest, where all of them are as committed.
    ///
    /// # Errors
    ///
    /// What is not, or can't be known: a sentence without its end.
    pub fn inputs(&self, check: &Check, setup: &[Vec<String>]) -> Result<Inputs, String> {
        let manifest = check.origin.as_ref().map(|origin| origin.file.as_str());
        if let Some(manifest) = manifest.filter(|manifest| self.revision.file(manifest).is_none()) {
            return Err(format!("its manifest, {manifest}, is in no commit"));
        }
        let reach = Reach::of(check, &self.revision)?;
        let concerns = |path: &Path| {
            manifest.is_some_and(|manifest| Path::new(manifest) == path)
                || reach.has(path, self.project.join(path).is_dir())
        };
        let unlike: Vec<&Unlike> = self.unlike.iter().filter(|unlike| concerns(&unlike.path)).collect();
        if !unlike.is_empty() {
            let named = unlike.iter().take(NAMED);
            let named: Vec<String> =
                named.map(|unlike| format!("{} {}", unlike.path.display(), unlike.how.words())).collect();
            let more =
                if unlike.len() > NAMED { format!(", and {} more", unlike.len() - NAMED) } else { String::new() };
            return Err(format!("{}{more}", named.join(", ")));
        }
        for name in reach.named() {
            let known = self.revision.file(name).is_some() || self.revision.submodule_of(name).is_some();
            match self.project.join(name).symlink_metadata() {
                Ok(metadata) if !known && metadata.is_dir() => {
                    return Err(format!("it covers {name}, which is a folder: all in it is {name}/"));
                }
                Ok(_) if !known => return Err(format!("it covers {name}, which git ignores")),
                _ => {}
            }
        }
        Inputs::of(check, setup, &self.revision)
    }
}
