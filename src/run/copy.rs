//! Putting files into a sandbox: what `files` names, and the whole project for `cwd: copy`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use crate::{platform, source};

/// Copies each source, relative to the project, to its destination, relative to `work`.
///
/// # Errors
///
/// A sentence that names the file.
pub fn files(files: &BTreeMap<String, String>, project: &Path, work: &Path) -> Result<(), String> {
    for (destination, from) in files {
        let from = project.join(from);
        let to = work.join(destination);
        tree(&from, &to).map_err(|error| format!("files: cannot copy {} to {destination}: {error}", from.display()))?;
    }
    Ok(())
}

/// Copies the project: what git tracks, and what it neither tracks nor ignores, with `.git`; everything where there is
/// no git.
///
/// # Errors
///
/// A sentence that names the file.
pub fn project(project: &Path, work: &Path) -> Result<(), String> {
    let failed = |path: &Path, error: &io::Error| format!("cwd: copy: cannot copy {}: {error}", path.display());
    let Some(listed) = source::files(project) else {
        return tree(project, work).map_err(|error| failed(project, &error));
    };
    for file in listed {
        // Names from git are relative and clean; a path that is not stays out.
        if !file.components().all(|part| matches!(part, Component::Normal(_))) {
            continue;
        }
        let from = project.join(&file);
        // Tracked and deleted in the work tree.
        if fs::symlink_metadata(&from).is_err() {
            continue;
        }
        let to = work.join(&file);
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(|error| failed(&file, &error))?;
        }
        tree(&from, &to).map_err(|error| failed(&file, &error))?;
    }
    let git = project.join(".git");
    if git.exists() {
        tree(&git, &work.join(".git")).map_err(|error| failed(&git, &error))?;
    }
    Ok(())
}

/// Copies a file or a folder. Symbolic links are copied as links; sockets, pipes and devices are left out.
fn tree(from: &Path, to: &Path) -> io::Result<()> {
    let mut open: Vec<(PathBuf, PathBuf)> = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = open.pop() {
        let metadata = fs::symlink_metadata(&from)?;
        if metadata.is_dir() {
            fs::create_dir_all(&to)?;
            for entry in fs::read_dir(&from)? {
                let entry = entry?;
                open.push((entry.path(), to.join(entry.file_name())));
            }
            continue;
        }
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        if metadata.is_symlink() {
            platform::copy_link(&from, &to)?;
        } else if metadata.is_file() {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}
