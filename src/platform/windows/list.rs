//! What is in a folder, by name.

use std::path::Path;

use super::super::Listed;

/// Lists nothing: whatever is in a folder here has a name that Windows can have, and no twin.
#[must_use]
pub fn list_tree(_top: &Path, _most: usize) -> Listed {
    Listed::default()
}
