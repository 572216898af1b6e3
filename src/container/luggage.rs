//! What of the project comes along, and where the container has it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::wire::{Name, Packed};
use crate::error::{Error, Result};
use crate::{run, source};

/// The repository that the project is in, or the project where there is none; without what git ignores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Luggage {
    /// The folder that is mounted.
    pub top: PathBuf,
    /// The project in it.
    prefix: PathBuf,
    /// What is copied of it; `None` for everything.
    files: Option<Vec<PathBuf>>,
    /// Where `.git` is no folder: the repository's folder, and in it the worktree's own.
    git: Option<(PathBuf, PathBuf)>,
}

impl Luggage {
    /// Of a project, whose path has no links in it.
    ///
    /// # Errors
    ///
    /// If git can't or won't tell what is in it.
    pub fn of(project: &Path) -> Result<Self> {
        let refused = |why: String| Error::Unmeasured(format!("the project can't be copied: {why}"));
        let Some(source::Repository { top, prefix }) = source::repository(project).map_err(refused)? else {
            return Ok(Self { top: project.to_owned(), prefix: PathBuf::new(), files: None, git: None });
        };
        let files = source::listed(&top).map_err(refused)?;
        // Tracked and deleted in the work tree.
        let files = files.into_iter().filter(|file| fs::symlink_metadata(top.join(file)).is_ok()).collect();
        let dot_git = top.join(".git");
        let git = match fs::symlink_metadata(&dot_git) {
            Ok(metadata) if metadata.is_dir() => None,
            _ => Some(worktree(&dot_git).ok_or_else(|| refused(format!("{} leads to no folder", dot_git.display())))?),
        };
        Ok(Self { top, prefix, files: Some(files), git })
    }

    /// The folder of git's that is mounted besides.
    #[must_use]
    pub fn git(&self) -> Option<&Path> {
        self.git.as_ref().map(|(common, _)| common.as_path())
    }

    /// For the inside.
    #[must_use]
    pub fn packed(&self) -> Packed {
        let name = self.top.file_name().unwrap_or(OsStr::new("project"));
        Packed {
            name: Name::of(Path::new(name)),
            prefix: Name::of(&self.prefix),
            files: self.files.as_ref().map(|files| files.iter().map(|file| Name::of(file)).collect()),
            git: self.git.as_ref().map(|(_, own)| Name::of(own)),
        }
    }
}

fn worktree(dot_git: &Path) -> Option<(PathBuf, PathBuf)> {
    let own = run::own_git_folder(dot_git)?;
    let common = run::common_git_folder(&own).ok()?;
    let own = own.strip_prefix(&common).ok()?.to_owned();
    Some((common, own))
}
