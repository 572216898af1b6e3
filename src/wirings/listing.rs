//! The files of a project on disk, as names.

use std::collections::VecDeque;
use std::path::{Component, Path};

use crate::source;

/// The most files that a walk lists; a repository's own list is taken whole.
const MOST: usize = 20_000;

/// Folders of things that were made or fetched, not written.
const SKIPPED: &[&str] = &[
    ".git",
    "node_modules",
    "target",
    ".venv",
    "venv",
    "__pycache__",
    ".tox",
    ".nox",
    ".mypy_cache",
    ".pytest_cache",
    "site-packages",
];

/// Whether a folder of that name has things that were made or fetched.
pub fn is_skipped(folder: &str) -> bool {
    SKIPPED.contains(&folder)
}

/// Names relative to the project, with `/`, sorted, and what is to be told of those that are missing.
#[derive(Debug, Default)]
pub struct Listing {
    pub files: Vec<String>,
    pub notes: Vec<String>,
}

/// Lists the files of a project: those that git tracks or would track, else those that a walk finds.
pub fn list(root: &Path) -> Listing {
    let mut listing = Listing::default();
    let mut unnamed = 0;
    let names = source::files(root)
        .map_or_else(|| walk(root, &mut listing.notes), |paths| paths.iter().map(|path| name(path)).collect());
    for name in names {
        match name {
            Some(name) if name.split('/').any(is_skipped) => {}
            // Arguments of a check are text, in which these stand for folders.
            Some(name) if !name.contains("$project") && !name.contains("$sandbox") => listing.files.push(name),
            _ => unnamed += 1,
        }
    }
    if unnamed > 0 {
        let names = if unnamed == 1 { "1 name" } else { "some names" };
        listing
            .notes
            .push(format!("{names} that a manifest can't have (not UTF-8, or with $project or $sandbox in it)"));
    }
    listing.files.sort_unstable();
    // While a merge is under way, git names a file once for each side.
    listing.files.dedup();
    listing
}

/// With `/` on every system; `None` if it is not UTF-8.
fn name(path: &Path) -> Option<String> {
    let parts = path.components().map(|part| match part {
        Component::Normal(part) => part.to_str(),
        _ => None,
    });
    parts.collect::<Option<Vec<_>>>().map(|parts| parts.join("/"))
}

/// Breadth first, so that what lies near the top is seen when there is too much. Links are not followed.
fn walk(root: &Path, notes: &mut Vec<String>) -> Vec<Option<String>> {
    let mut names = Vec::new();
    let mut folders = VecDeque::from([root.to_owned()]);
    while let Some(folder) = folders.pop_front() {
        let Ok(entries) = folder.read_dir() else { continue };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() {
                if !SKIPPED.iter().any(|skipped| entry.file_name() == *skipped) {
                    folders.push_back(path);
                }
            } else if let Ok(relative) = path.strip_prefix(root) {
                if names.len() == MOST {
                    notes.push(format!("only the first {MOST} files were looked at"));
                    return names;
                }
                names.push(name(relative));
            }
        }
    }
    names
}
