//! What only git knows: where the project begins, and where its hooks lie.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::{env, platform};

/// The top of the repository that the folder is in.
pub fn top(folder: &Path) -> Option<PathBuf> {
    path(folder, &["rev-parse", "--show-toplevel"])
}

/// The folder that git takes its hooks from, `core.hooksPath` included.
pub fn hooks_folder(project: &Path) -> Option<PathBuf> {
    path(project, &["rev-parse", "--git-path", "hooks"]).map(|folder| project.join(folder))
}

/// The path that a git command prints. Variables of a git that hostproof runs under are gone, so that the folder is
/// meant.
fn path(folder: &Path, arguments: &[&str]) -> Option<PathBuf> {
    let mut command = Command::new("git");
    for (name, _) in env::all().filter(|(name, _)| name.to_string_lossy().starts_with("GIT_")) {
        command.env_remove(name);
    }
    let output = command
        .arg("--no-optional-locks")
        .arg("-C")
        .arg(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let line = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
    (output.status.success() && !line.is_empty()).then(|| platform::path_of(line))
}
