//! Folders of a project that git takes its hooks from, as far as a project says so: which one a clone takes is its own
//! affair, so that a commit alone does not tell. Those are read that have a name for it (`.githooks`), that the clone at
//! hand is configured for, and that a line with `hooksPath` names: of a `package.json`, a makefile, a script, a page.

use std::collections::BTreeSet;
use std::path::Path;

use super::draft::Draft;
use super::files::Entry;
use super::hosts::GIT;
use super::listing::is_skipped;
use super::paths::{base, folder, join};
use super::reading::Reading;
use crate::model::{Host, Shell};
use crate::source;

/// What such folders are called, without dots, dashes and underscores.
const CALLED: &str = "githooks";

/// What the key of git's configuration ends with.
const KEY: &str = "hookspath";

/// Whether a folder is called so.
pub fn is_called_so(folder: &str) -> bool {
    let name: String = base(folder).chars().filter(|c| !matches!(c, '.' | '-' | '_')).collect();
    name.eq_ignore_ascii_case(CALLED)
}

fn is_one(file: &str) -> bool {
    is_hook(file) && is_called_so(folder(file)) && !file.split('/').any(is_skipped)
}

/// Whether a file has a name that git calls in such a folder.
pub fn is_hook(file: &str) -> bool {
    GIT.contains(&base(file))
}

/// The folders that a clone's configuration and its files name.
pub fn told(project: &Path, tree: Option<&str>) -> Vec<String> {
    let configured = source::hooks_folder(project);
    let inside = configured.as_deref().and_then(|hooks| hooks.strip_prefix(project).ok()?.to_str());
    let mut folders: BTreeSet<String> = inside.map(|inside| inside.replace('\\', "/")).into_iter().collect();
    let behind = source::behind(project, KEY, tree);
    if !behind.is_empty() {
        let prefix = source::repository(project).ok().flatten().map(|repository| repository.prefix).unwrap_or_default();
        let prefix = prefix.to_string_lossy().replace('\\', "/");
        for word in behind.iter().flat_map(|text| words(text)) {
            let below = word.strip_prefix(prefix.trim_end_matches('/')).filter(|_| !prefix.is_empty());
            folders.extend([Some(word.as_str()), below].into_iter().flatten().filter_map(relative));
        }
    }
    // Git's own is in no commit.
    folders.into_iter().filter(|folder| !folder.is_empty() && !folder.split('/').any(|part| part == ".git")).collect()
}

/// The words of what follows the key, whatever language it is written in. A variable or a command in front of a path is
/// taken for the top of the repository.
fn words(text: &str) -> impl Iterator<Item = String> {
    let ends = |c: char| c.is_whitespace() || "\"'`=:,;&|()<>[]".contains(c);
    text.split(ends).map(|word| {
        let word = if word.starts_with('$') { word.split_once('/').map_or("", |(_, rest)| rest) } else { word };
        word.trim_end_matches(['\\', '.']).to_owned()
    })
}

fn relative(word: &str) -> Option<String> {
    join("", word.trim_start_matches('/'))
}

/// Reads the hooks in all such folders; those that were read already are left out.
pub fn read(reading: &mut Reading<'_>) {
    let named = reading.source.hook_folders();
    let mut files: Vec<String> = Vec::new();
    for name in reading.source.names().iter().filter(|name| is_one(name)) {
        files.push(name.clone());
    }
    for name in reading.source.names().iter().filter(|name| is_called_so(name) || base(name) == ".husky") {
        closed(name, reading);
    }
    // Git may ignore what lies there.
    files.extend(named.iter().flat_map(|folder| GIT.iter().map(move |name| format!("{folder}/{name}"))));
    for file in files {
        one(&file, reading);
    }
}

/// Tells of something that is called as such a folder, and is a submodule, or a link to nowhere.
fn closed(name: &str, reading: &mut Reading<'_>) {
    let inside = || reading.source.entry(&format!("{name}/pre-commit"));
    if reading.source.entry(name) == Entry::Other || inside() == Entry::Other {
        let remedy = "put the folder itself there: what git calls must come with the project".to_owned();
        reading.unread(name, None, "git's hooks may lie in it, and what it has is in no commit of the project", remedy);
    }
}

/// Reads a file that is one of git's hooks.
pub fn one(file: &str, reading: &mut Reading<'_>) {
    if reading.files.iter().any(|known| known == file) {
        return;
    }
    match reading.source.entry(file) {
        Entry::File { .. } => {
            reading.files.push(file.to_owned());
            reading.push(Draft::of_file(Host::Git, file, base(file), Shell::File));
        }
        Entry::Other => {
            let remedy = "put the file itself there: what git calls must come with the project".to_owned();
            reading.files.push(file.to_owned());
            reading.unread(file, None, "git would call it, and it is no file of the project", remedy);
        }
        Entry::Missing | Entry::Folder => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_follows_the_key_names_folders_in_any_language() {
        for (text, folder) in [
            (" .githooks", ".githooks"),
            (" = ./tools/hooks/", "tools/hooks"),
            ("\", \"tools/hooks\"]", "tools/hooks"),
            (" \"$(git rev-parse --show-toplevel)/tools/hooks\" && x", "tools/hooks"),
            (" ${ROOT}/tools/hooks; make", "tools/hooks"),
            (" tools/hooks.", "tools/hooks"),
        ] {
            let found: Vec<String> = words(text).filter_map(|word| relative(&word)).collect();
            assert!(found.iter().any(|found| found == folder), "{text}: {found:?}");
        }
        assert_eq!(relative("../hooks"), None);
    }

    #[test]
    fn folders_are_known_by_what_they_are_called() {
        for folder in [".githooks", "tools/git-hooks", "git_hooks", "GitHooks"] {
            assert!(is_called_so(folder), "{folder}");
        }
        assert!(!is_called_so("hooks") && !is_called_so(".githooks/x"));
    }
}
