//! What of the files in a project is not as its commit has it.

use std::fs;
use std::path::{Path, PathBuf};

use super::{TreeFile, TreeKind};
use super::{ask, repository, tree};
use crate::platform;

/// A path that is not as the commit has it, or of which that can't be known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unlike {
    /// Relative to the project; of a folder that is a repository of its own, the folder.
    pub path: PathBuf,
    pub how: Unlikeness,
}

/// What is the matter with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unlikeness {
    /// Its content, its kind or its mode is another, or it is gone; of a submodule also what lies in it.
    Differs,
    /// Git neither tracks nor ignores it.
    Untracked,
    /// Git was told not to look: `assume-unchanged`, or `skip-worktree` as sparse checkouts have it.
    Unseen,
    /// A submodule that is not checked out.
    Absent,
}

impl Unlikeness {
    /// What is said of the path, behind its name.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Differs => "differs from the commit",
            Self::Untracked => "is in no commit, and git does not ignore it",
            Self::Unseen => "is one that git was told not to look at (assume-unchanged or skip-worktree)",
            Self::Absent => "is a submodule that is not checked out",
        }
    }
}

/// A project as a commit has it, and what of it is otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The commit that is checked out.
    pub commit: String,
    /// That of the whole repository.
    pub tree: String,
    /// The files below the project in it.
    pub files: Vec<TreeFile>,
    /// In the order of the paths.
    pub unlike: Vec<Unlike>,
}

/// Looks at a project.
///
/// # Errors
///
/// If it is in no repository, has no commit yet, or git can't or won't tell: a sentence.
pub fn work(project: &Path) -> Result<Work, String> {
    let Some(repository) = repository(project)? else {
        return Err(format!("{} is in no git repository", project.display()));
    };
    let commit = super::commit(project, "HEAD").map_err(|_| "nothing is committed yet".to_owned())?;
    let files = tree(project, &commit)?;
    let mut unlike = status(project, &repository.prefix)?;
    unlike.extend(unseen(project)?);
    let absent = files.iter().filter(|file| file.kind == TreeKind::Submodule).filter(|file| {
        let own = project.join(&file.path).join(".git");
        fs::symlink_metadata(own).is_err()
    });
    unlike.extend(absent.map(|file| Unlike { path: file.path.clone(), how: Unlikeness::Absent }));
    unlike.extend(other_modes(project, &files));
    unlike.sort();
    unlike.dedup();
    // What was compared was the commit of that moment.
    if super::commit(project, "HEAD")? != commit {
        return Err("another commit was checked out while git was asked".to_owned());
    }
    let tree = super::tree_of(project, &commit)?;
    Ok(Work { commit, tree, files, unlike })
}

/// What `git status` says of the project, whatever is configured.
fn status(project: &Path, prefix: &Path) -> Result<Vec<Unlike>, String> {
    let arguments =
        ["status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none", "--no-renames", "-z", "--", "."];
    let bytes = ask(project, &arguments).map_err(|refusal| refusal.sentence())?;
    // Two letters, a space, and the path from the top of the repository.
    let entries = bytes.split(|&byte| byte == 0).filter(|entry| entry.len() > 3);
    Ok(entries
        .filter_map(|entry| {
            let path = platform::path_of(&entry[3..]);
            let how = if entry.starts_with(b"??") { Unlikeness::Untracked } else { Unlikeness::Differs };
            // Collecting the components drops the separator behind a folder.
            Some(Unlike { path: path.strip_prefix(prefix).ok()?.components().collect(), how })
        })
        .collect())
}

/// The files whose mark of a program is another than in the commit, which git passes over with `core.fileMode=false`. Where
/// the system has no such mark, none.
fn other_modes(project: &Path, files: &[TreeFile]) -> Vec<Unlike> {
    let differs = |file: &&TreeFile| {
        let is_marked = platform::is_marked_executable(&project.join(&file.path));
        match file.kind {
            TreeKind::File => is_marked == Some(true),
            TreeKind::Executable => is_marked == Some(false),
            TreeKind::Link | TreeKind::Submodule => false,
        }
    };
    files.iter().filter(differs).map(|file| Unlike { path: file.path.clone(), how: Unlikeness::Differs }).collect()
}

/// The files that `git status` says nothing of: `S`, or a small letter, in `ls-files -v`.
fn unseen(project: &Path) -> Result<Vec<Unlike>, String> {
    let bytes = ask(project, &["ls-files", "-v", "-z"]).map_err(|refusal| refusal.sentence())?;
    let entries = bytes.split(|&byte| byte == 0).filter(|entry| entry.len() > 2);
    Ok(entries
        .filter(|entry| entry[0] == b'S' || entry[0].is_ascii_lowercase())
        .map(|entry| Unlike { path: platform::path_of(&entry[2..]), how: Unlikeness::Unseen })
        .collect())
}
