//! Facts about the project from git, through its command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::model::SourceState;
use crate::{env, platform};

/// The project's state now. `None` where there is no repository, or no git.
#[must_use]
pub fn state(project: &Path) -> Option<SourceState> {
    let status = git(project, &["status", "--porcelain", "--untracked-files=normal", "-z"])?;
    let line = |arguments: &[&str]| {
        git(project, arguments).and_then(|bytes| String::from_utf8(bytes).ok()).map(|text| text.trim().to_owned())
    };
    Some(SourceState {
        commit: line(&["rev-parse", "--verify", "--quiet", "HEAD"]),
        tree: line(&["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]),
        dirty: !status.is_empty(),
    })
}

/// The top of the repository that the folder is in.
#[must_use]
pub fn top(folder: &Path) -> Option<PathBuf> {
    path(folder, &["rev-parse", "--show-toplevel"])
}

/// The folder that git takes its hooks from, `core.hooksPath` included.
#[must_use]
pub fn hooks_folder(project: &Path) -> Option<PathBuf> {
    path(project, &["rev-parse", "--git-path", "hooks"]).map(|folder| project.join(folder))
}

/// The path that a git command prints.
fn path(folder: &Path, arguments: &[&str]) -> Option<PathBuf> {
    let printed = git(folder, arguments)?;
    let line = printed.strip_suffix(b"\n").unwrap_or(&printed);
    (!line.is_empty()).then(|| platform::path_of(line))
}

/// The files that git tracks in the project, and those that it neither tracks nor ignores; relative to the project.
/// `None` where there is no repository, or no git.
#[must_use]
pub fn files(project: &Path) -> Option<Vec<PathBuf>> {
    let bytes = git(project, &["ls-files", "--cached", "--others", "--exclude-standard", "-z"])?;
    Some(bytes.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(platform::path_of).collect())
}

/// What a git command prints; `None` if it fails. Variables of a git that hostproof runs under (as its hook) are gone,
/// so that the project is meant, and nothing is locked or refreshed.
fn git(project: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new("git");
    for (name, _) in env::all().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    let output = command
        .arg("--no-optional-locks")
        .arg("-C")
        .arg(project)
        .args(["-c", "core.fsmonitor=false"])
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output.status.success().then_some(output.stdout)
}
