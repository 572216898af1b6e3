//! Receipts as they come: bytes, and nothing known of them.

use std::fs;
use std::path::{Path, PathBuf};

/// How many files a folder may have, and how deep they may lie.
const MOST: usize = 10_000;
const DEEPEST: usize = 4;

/// A receipt, or what should be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paper {
    /// The file, or the name of the object.
    pub name: String,
    /// Its bytes, or why it can't be read.
    pub bytes: Result<Vec<u8>, String>,
    /// Why an allowed signer has revoked it.
    pub revoked: Option<String>,
}

/// The files that a path names: itself, or all below it that are called `*.json`. Links in a folder are not followed.
///
/// # Errors
///
/// If a folder can't be read, or has too many: a sentence.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    if path.is_dir() {
        below(path, 0, &mut found)?
    } else {
        found.push(path.to_owned())
    }
    Ok(found)
}

fn below(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("{} can't be read: {error}", folder.display());
    let mut entries =
        fs::read_dir(folder).and_then(|entries| entries.collect::<Result<Vec<_>, _>>()).map_err(cannot)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, kind) = (entry.path(), entry.file_type().map_err(cannot)?);
        if kind.is_dir() {
            if depth == DEEPEST {
                return Err(format!("{} lies too deep: name the folder itself", path.display()));
            }
            below(&path, depth + 1, found)?;
        } else if path.extension().is_some_and(|ending| ending == "json") {
            if found.len() == MOST {
                return Err(format!("there are more than {MOST} receipts in it"));
            }
            found.push(path);
        }
    }
    Ok(())
}
