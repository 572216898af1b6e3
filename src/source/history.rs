//! How commits come from each other.

use std::path::Path;

use super::{ask, git};

/// Whether the clone lacks a part of its history.
///
/// # Errors
///
/// If git can't tell: a sentence.
pub fn is_shallow(project: &Path) -> Result<bool, String> {
    let said = ask(project, &["rev-parse", "--is-shallow-repository"]).map_err(|refusal| refusal.sentence())?;
    Ok(said.trim_ascii() != b"false")
}

/// The commit where two commits, each given by its whole name, part: the best that both come from. `None` if there is
/// none.
///
/// # Errors
///
/// If git can't tell: a sentence.
pub fn meeting(project: &Path, one: &str, other: &str) -> Result<Option<String>, String> {
    // Asked for all, git says nothing, and that it succeeded or not, where there is none: only words are an error.
    match ask(project, &["merge-base", "--all", one, other]) {
        Ok(printed) => Ok(String::from_utf8_lossy(&printed).lines().next().map(str::to_owned)),
        Err(super::Refusal::Said(words)) if words.is_empty() => Ok(None),
        Err(refusal) => Err(refusal.sentence()),
    }
}

/// The remotes of a repository, each with its addresses, as git resolves them.
#[must_use]
pub fn remotes(project: &Path) -> Vec<(String, String)> {
    let printed = git(project, &["remote", "--verbose"]).unwrap_or_default();
    let printed = String::from_utf8_lossy(&printed);
    let remote = |line: &str| {
        let (name, rest) = line.split_once('\t')?;
        let (address, _) = rest.rsplit_once(" (")?;
        Some((name.to_owned(), address.to_owned()))
    };
    printed.lines().filter_map(remote).collect()
}

/// The branch that a remote's clones begin with, as this clone knows it: `refs/remotes/origin/main`.
#[must_use]
pub fn default_branch(project: &Path, remote: &str) -> Option<String> {
    let printed = git(project, &["symbolic-ref", "--quiet", &format!("refs/remotes/{remote}/HEAD")])?;
    String::from_utf8(printed).ok().map(|name| name.trim().to_owned())
}
