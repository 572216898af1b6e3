//! Receipts in files.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{Document, MOST};
use crate::error::{Error, Result};
use crate::platform;
use crate::receipt::envelope::MAX_BYTES;

/// How deep folders are looked into: those that hold what several jobs have made.
const DEPTH: usize = 4;

/// The bytes of a receipt. Whatever lies at its path, nobody waits for it.
///
/// # Errors
///
/// Why they can't be read: a sentence.
pub fn read(file: &Path) -> Result<Vec<u8>, String> {
    let cannot = |error: io::Error| format!("it can't be read: {error}");
    let metadata = fs::symlink_metadata(file).map_err(cannot)?;
    if !metadata.is_file() {
        let what = if metadata.is_dir() {
            "a folder"
        } else if metadata.is_symlink() {
            "a symbolic link: name the file itself"
        } else {
            "a pipe, a socket or a device"
        };
        return Err(format!("it is {what}"));
    }
    let mut bytes = Vec::new();
    // One more than is allowed, so that it is refused.
    let opened = platform::open_regular(file).map_err(cannot)?;
    opened.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(cannot)?;
    Ok(bytes)
}

/// What is in a file.
#[must_use]
pub fn document(file: &Path) -> Document {
    let from = file.display().to_string();
    match read(file) {
        Ok(bytes) => Document::new(from, bytes),
        Err(why) => Document { digest: String::new(), from, bytes: Err(why) },
    }
}

/// The file of that name; or, if it is a folder, what is called `*.json` in it and in folders of it, in order. No symbolic
/// link is followed.
///
/// # Errors
///
/// If there is nothing of that name, or a folder can't be read or has too much in it.
pub fn at(path: &Path) -> Result<Vec<PathBuf>> {
    let cannot = |path: &Path, error| Error::file("cannot look into", path, error);
    let metadata = fs::symlink_metadata(path).map_err(|error| cannot(path, error))?;
    if !metadata.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut open = vec![(path.to_owned(), 1)];
    let mut seen = 0;
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(&folder).map_err(|error| cannot(&folder, error))? {
            let entry = entry.map_err(|error| cannot(&folder, error))?;
            seen += 1;
            if seen > MOST {
                return Err(Error::Usage(format!("{} has more than {MOST} files in it", path.display())));
            }
            let (below, kind) = (entry.path(), entry.file_type().map_err(|error| cannot(&folder, error))?);
            if kind.is_dir() {
                if depth == DEPTH {
                    let why = format!("{} is nested more than {DEPTH} folders deep", below.display());
                    return Err(Error::Usage(why));
                }
                open.push((below, depth + 1));
            } else if below.extension().is_some_and(|extension| extension == "json") {
                found.push(below);
            }
        }
    }
    found.sort();
    Ok(found)
}
