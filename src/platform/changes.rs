//! What can be changed about a job's first process where hostproof knows no way: nothing.

use std::io;
use std::path::Path;

use super::Change;

/// Why it can't.
#[must_use]
pub fn cannot_change(_change: &Change) -> Option<String> {
    Some("hostproof can do that on Linux only".to_owned())
}

/// Nothing.
///
/// # Errors
///
/// Always.
pub fn give_to_nobody(_folder: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
