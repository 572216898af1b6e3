//! Whether a name that /proc tells leads into one of the folders of interest, and what it means there.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::mounts::Alias;
use crate::model::{Hold, How};

/// The folders that holders are looked for in, by all of their names.
pub struct Sought<'a> {
    pub roots: &'a [PathBuf],
    pub aliases: &'a [Alias],
}

impl Sought<'_> {
    /// What a name of /proc means, if it lies in one of the folders, and whether that was removed.
    ///
    /// What has another name because of a mount is believed only if it really is that file (`is`), or if it is gone, one
    /// of that file system (`is_near`): something else may be mounted over it.
    pub fn found(
        &self,
        target: &Path,
        is: impl Fn(&Path) -> bool,
        is_near: impl Fn() -> bool,
    ) -> Option<(PathBuf, bool)> {
        if let Some((path, deleted)) = in_roots(target, self.roots) {
            // A file whose name really ends like that exists under it.
            let (path, deleted) = if deleted && is(target) { (target, false) } else { (path, deleted) };
            return Some((path.to_owned(), deleted));
        }
        self.aliases.iter().find_map(|alias| {
            let (path, deleted) = in_roots(target, std::slice::from_ref(&alias.seen))?;
            let real = |path: &Path| Some(alias.real.join(path.strip_prefix(&alias.seen).ok()?).components().collect());
            let whole: Option<PathBuf> = real(target);
            if let Some(whole) = whole.filter(|whole| is(whole)) {
                return Some((whole, false));
            }
            if deleted && is_near() { Some((real(path)?, true)) } else { None }
        })
    }
}

/// The hold that a link of /proc makes, if it leads into one of the folders.
pub fn hold(link: &Path, target: &Path, how: How, sought: &Sought<'_>) -> Option<Hold> {
    let device = |path: &Path| fs::metadata(path).ok().map(|metadata| metadata.dev());
    let is_near = || device(link).is_some_and(|its| sought.roots.iter().any(|root| device(root) == Some(its)));
    let (path, deleted) = sought.found(target, |path| same_file(link, path), is_near)?;
    // Through the link, so that it works for what is deleted, too.
    let directory = match how {
        How::Cwd | How::Root | How::ThreadCwd => true,
        How::Executable | How::Mapping | How::Socket | How::Mount => false,
        How::Descriptor => fs::metadata(link).is_ok_and(|metadata| metadata.is_dir()),
    };
    Some(Hold { how, path: path.to_string_lossy().into_owned(), directory, deleted })
}

/// The path without the kernel's mark for a deleted one, if it lies in one of the roots.
fn in_roots<'a>(target: &'a Path, roots: &[PathBuf]) -> Option<(&'a Path, bool)> {
    if !roots.iter().any(|root| target.starts_with(root) || is_deleted_root(target, root)) {
        return None;
    }
    match target.as_os_str().as_bytes().strip_suffix(b" (deleted)") {
        Some(path) => Some((Path::new(OsStr::from_bytes(path)), true)),
        None => Some((target, false)),
    }
}

/// Whether the root itself is what was deleted: its name then carries the kernel's mark.
fn is_deleted_root(target: &Path, root: &Path) -> bool {
    target.as_os_str().as_bytes().strip_suffix(b" (deleted)") == Some(root.as_os_str().as_bytes())
}

fn same_file(link: &Path, path: &Path) -> bool {
    match (fs::metadata(link), fs::symlink_metadata(path)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_beside_a_root_are_not_in_it() {
        let roots = [PathBuf::from("/tmp/hp1")];
        let found = |path: &str| in_roots(Path::new(path), &roots).map(|(path, deleted)| (path.to_owned(), deleted));
        assert_eq!(found("/tmp/hp12/x"), None);
        assert_eq!(found("/tmp/hp1"), Some(("/tmp/hp1".into(), false)));
        assert_eq!(found("/tmp/hp1 (deleted)"), Some(("/tmp/hp1".into(), true)));
        assert_eq!(found("/tmp/hp1/a (deleted)"), Some(("/tmp/hp1/a".into(), true)));
    }
}
