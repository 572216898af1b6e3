//! Whether names differ that differ in case alone.

use std::path::Path;

/// Whether the file system tells `a` from `A` in a folder. `None` if that can't be tried.
pub fn is_sensitive(folder: &Path) -> Option<bool> {
    let probe = tempfile::Builder::new().prefix("hp-case-").tempfile_in(folder).ok()?;
    let name = probe.path().file_name()?.to_str()?.to_uppercase();
    Some(!folder.join(name).exists())
}
