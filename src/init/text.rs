//! The text of a file of the project, whatever lies at its path.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// The most that is read of a file.
const MOST: u64 = 1 << 20;

/// The first megabyte of a regular file, as text. Bytes that are not UTF-8 are replaced, a byte order mark is left out.
///
/// # Errors
///
/// What the system says; `InvalidInput` for anything but a regular file, `InvalidData` for one that has NUL bytes.
pub fn read(path: &Path) -> io::Result<String> {
    let not_regular = || io::Error::new(ErrorKind::InvalidInput, "it is not a regular file");
    // To open a FIFO would wait, and to open a device can do anything; so it is looked at first, and once more when it
    // is open, since it may have been replaced in between.
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(not_regular());
    }
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(not_regular());
    }
    let mut bytes = Vec::new();
    file.take(MOST).read_to_end(&mut bytes)?;
    if bytes.contains(&0) {
        return Err(io::Error::new(ErrorKind::InvalidData, "it is not a text file"));
    }
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned())
}
