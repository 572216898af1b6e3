//! One ref of a remote repository, fetched and pushed alone.
//!
//! Neither touches a branch, a tag, the index or the work tree, runs the hooks of a push, or leaves git's maintenance
//! behind. How git gets there (`GIT_SSH_COMMAND`, `GIT_ASKPASS`, settings of its own in the environment) is as the user
//! has it.

use std::path::Path;
use std::process::{Command, Output};

use super::{Refusal, ask, command, objects, words};

/// The variables that say which repository is meant, which is the one in the folder.
const OF_A_REPOSITORY: [&str; 15] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// The names of the remotes.
///
/// # Errors
///
/// What git says, in a sentence.
pub fn remotes(project: &Path) -> Result<Vec<String>, String> {
    let names = ask(project, &["remote"]).map_err(|refusal| refusal.sentence())?;
    Ok(String::from_utf8_lossy(&names).lines().map(str::to_owned).collect())
}

/// Brings a remote's ref here under another name, whatever was there; without it that name is taken away. What it names
/// now.
///
/// # Errors
///
/// If git can't: a sentence, with git's own words.
pub fn fetch(project: &Path, remote: &str, name: &str, to: &str) -> Result<Option<String>, String> {
    let arguments = [
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-prune",
        "--no-write-fetch-head",
        "--no-recurse-submodules",
        // A clone without blobs has these all the same.
        "--no-filter",
        // No branch is moved along with it.
        "--refmap=",
        "--",
        remote,
        &format!("+{name}:{to}"),
    ];
    let output = run(network(project).args(arguments))?;
    if !output.status.success() {
        let said = words(&output);
        if said.contains("couldn't find remote ref") {
            return objects::remove_ref(project, to).map(|()| None);
        }
        return Err(Refusal::Said(said).sentence());
    }
    let there = objects::refs(project, to)?;
    Ok(there.into_iter().find(|(name, _)| name == to).map(|(_, object)| object))
}

/// Lets a remote's ref name a commit that comes behind what it names now.
///
/// # Errors
///
/// If it does not come behind it, or git can't: a sentence, with git's own words.
pub fn push(project: &Path, remote: &str, commit: &str, name: &str) -> Result<(), String> {
    let arguments = [
        "push",
        "--quiet",
        "--no-verify",
        "--no-follow-tags",
        "--recurse-submodules=no",
        "--",
        remote,
        &format!("{commit}:{name}"),
    ];
    let output = run(network(project).args(arguments))?;
    if output.status.success() { Ok(()) } else { Err(Refusal::Said(words(&output)).sentence()) }
}

fn network(project: &Path) -> Command {
    let mut git = command(project, |name| !OF_A_REPOSITORY.contains(&name));
    git.args(["-c", "gc.auto=0", "-c", "maintenance.auto=false"]);
    git
}

fn run(git: &mut Command) -> Result<Output, String> {
    git.output().map_err(|error| Refusal::NotRun(error).sentence())
}
