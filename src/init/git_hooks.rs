//! git's own hooks: those of `core.hooksPath` or `.git/hooks`, and husky's.

use std::path::Path;

use super::project::Project;
use super::wired::{Wired, of_git};
use crate::platform;
use crate::source;

/// The names that git calls.
const NAMES: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "fsmonitor-watchman",
    "post-index-change",
];

/// Finds them.
pub fn find(project: &Project, wired: &mut Vec<Wired>) {
    // Husky's are called by its own wrappers, whatever their mode.
    let husky = project.root.join(".husky");
    take(&husky, ".husky", false, wired);
    let Some(folder) = source::hooks_folder(&project.root) else { return };
    // Wrappers, each of which calls the file of its name above.
    if folder.starts_with(&husky) {
        return;
    }
    // A folder elsewhere is this machine's business: its path says nothing to others.
    let shown = folder.strip_prefix(&project.root).ok().and_then(Path::to_str).unwrap_or("core.hooksPath");
    take(&folder, &shown.replace('\\', "/"), true, wired);
}

/// Takes the hooks in a folder; git passes over what may not be executed, and so does this then.
fn take(folder: &Path, shown: &str, executable: bool, wired: &mut Vec<Wired>) {
    for name in NAMES {
        let file = folder.join(name);
        if file.is_file() && (!executable || platform::is_executable(&file)) {
            wired.push(of_git(shown, name));
        }
    }
}
