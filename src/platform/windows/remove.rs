//! Removing a tree.

use std::fs;
use std::io;
use std::path::Path;

use super::super::Unremovable;

/// Removes a folder and all that is in it.
#[must_use]
pub fn remove_tree(top: &Path) -> Vec<Unremovable> {
    match fs::remove_dir_all(top) {
        Ok(()) => Vec::new(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => vec![Unremovable { path: top.to_owned(), reason: error.to_string() }],
    }
}
