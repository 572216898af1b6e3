//! What is in a place, so that it can be compared with what is there later.

use std::collections::HashMap;
use std::fs::{self, DirEntry, Metadata, Permissions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::platform::{FileGlob, Progress};
use crate::probes::{Change, What, Where};

/// How many entries are looked at: what is more takes longer than a check may be kept waiting.
const MOST: usize = 100_000;

/// The entries of a place, by their paths.
#[derive(Debug, Default)]
pub struct Snapshot {
    entries: HashMap<PathBuf, Stamp>,
    /// Why not all of it is here.
    pub blind: Option<String>,
}

/// What tells one state of an entry from another.
#[derive(Debug, Clone)]
struct Stamp {
    kind: Kind,
    len: u64,
    modified: Option<SystemTime>,
    created: Option<SystemTime>,
    permissions: Permissions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Folder,
    Other,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        let kind = match metadata {
            it if it.is_dir() => Kind::Folder,
            it if it.is_file() => Kind::File,
            _ => Kind::Other,
        };
        Self {
            kind,
            len: metadata.len(),
            modified: metadata.modified().ok(),
            created: metadata.created().ok(),
            permissions: metadata.permissions(),
        }
    }

    /// Of a folder only its permissions matter: what is in it is looked at by itself.
    fn is(&self, other: &Self) -> bool {
        self.kind == other.kind
            && self.permissions == other.permissions
            && (self.kind == Kind::Folder || (self.len == other.len && self.modified == other.modified))
    }
}

impl Snapshot {
    /// Everything below a folder, but for the entries to `skip` and what is below these.
    #[must_use]
    pub fn of_tree(root: &Path, skip: impl Fn(&Path) -> bool) -> Self {
        let mut snapshot = Self::default();
        snapshot.walk(vec![root.to_owned()], &skip);
        snapshot
    }

    /// What is in a folder, without what is below its folders.
    #[must_use]
    pub fn of_top(folder: &Path) -> Self {
        let mut snapshot = Self::default();
        snapshot.list(folder, |_, _| {});
        snapshot
    }

    /// What matches a glob below a folder, with everything below the folders that match.
    #[must_use]
    pub fn of_glob(folder: &Path, glob: &FileGlob) -> Self {
        let mut snapshot = Self::default();
        let mut open: Vec<(PathBuf, Progress)> = vec![(folder.to_owned(), glob.start())];
        while let Some((folder, progress)) = open.pop() {
            let mut whole = Vec::new();
            let Some(entries) = snapshot.read(&folder) else { continue };
            for entry in entries {
                let progress = glob.enter(&progress, &entry.file_name().to_string_lossy());
                let is_match = glob.is_match(&progress);
                let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
                if is_match {
                    snapshot.add(&entry);
                }
                if is_folder && is_match {
                    whole.push(entry.path());
                } else if is_folder && glob.may_match_below(&progress) {
                    open.push((entry.path(), progress));
                }
            }
            snapshot.walk(whole, &|_| false);
        }
        snapshot
    }

    /// One entry more; nothing if it is not there.
    pub fn add_path(&mut self, path: &Path) {
        if let Ok(metadata) = fs::symlink_metadata(path) {
            self.entries.insert(path.to_owned(), Stamp::of(&metadata));
        }
    }

    /// Everything below a folder more.
    pub fn add_tree(&mut self, root: &Path) {
        self.walk(vec![root.to_owned()], &|_| false);
    }

    /// The folders that have an entry of this name.
    pub fn folders_with<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Path> {
        self.entries.keys().filter(move |path| path.ends_with(name)).filter_map(|path| path.parent())
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    fn walk(&mut self, mut open: Vec<PathBuf>, skip: &dyn Fn(&Path) -> bool) {
        while let Some(folder) = open.pop() {
            self.list(&folder, |path, is_folder| {
                if is_folder && !skip(path) {
                    open.push(path.to_owned());
                }
            });
        }
    }

    fn list(&mut self, folder: &Path, mut each: impl FnMut(&Path, bool)) {
        for entry in self.read(folder).into_iter().flatten() {
            if let Some((path, is_folder)) = self.add(&entry) {
                each(&path, is_folder);
            }
        }
    }

    /// Adds an entry, and says whether it is a folder. What goes meanwhile is gone.
    fn add(&mut self, entry: &DirEntry) -> Option<(PathBuf, bool)> {
        if self.entries.len() >= MOST {
            self.blind.get_or_insert_with(|| format!("there are more than {MOST} files"));
            return None;
        }
        let stamp = Stamp::of(&entry.metadata().ok()?);
        let is_folder = stamp.kind == Kind::Folder;
        let path = entry.path();
        self.entries.insert(path.clone(), stamp);
        Some((path, is_folder))
    }

    fn read(&mut self, folder: &Path) -> Option<Vec<DirEntry>> {
        match fs::read_dir(folder) {
            Ok(entries) => Some(entries.flatten().collect()),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
            Err(error) => {
                self.blind.get_or_insert_with(|| format!("{}: {error}", folder.display()));
                None
            }
        }
    }

    /// What is different in a later one. Where either is not whole, nothing is said of what only one of them has.
    #[must_use]
    pub fn changes(&self, later: &Self, place: Where) -> Vec<Change> {
        let whole = self.blind.is_none() && later.blind.is_none();
        let change = |path: &Path, what, stamp: &Stamp| {
            let folder = stamp.kind == Kind::Folder;
            let at = match what {
                What::New => stamp.modified.max(stamp.created),
                // A folder's own time is that of the last change to its names.
                What::Gone => path.parent().and_then(|parent| fs::symlink_metadata(parent).ok()?.modified().ok()),
                _ => stamp.modified.filter(|_| !folder),
            };
            let empty = what == What::New && stamp.len == 0 && stamp.kind == Kind::File;
            Change { path: path.to_owned(), what, folder, empty, place, at, writer: None }
        };
        let new = later.entries.iter().filter_map(|(path, stamp)| match self.entries.get(path) {
            None => whole.then(|| change(path, What::New, stamp)),
            Some(before) => (!before.is(stamp)).then(|| change(path, What::Changed, stamp)),
        });
        let gone = self.entries.iter().filter(|(path, _)| whole && !later.entries.contains_key(*path));
        let mut changes: Vec<Change> = new.chain(gone.map(|(path, stamp)| change(path, What::Gone, stamp))).collect();
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(changes: &[Change], root: &Path) -> Vec<(String, What, bool)> {
        let name = |path: &Path| path.strip_prefix(root).expect("below").to_string_lossy().replace('\\', "/");
        changes.iter().map(|change| (name(&change.path), change.what, change.empty)).collect()
    }

    #[test]
    fn what_is_new_changed_and_gone_is_seen() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        for name in ["keep", "gone", "longer"] {
            fs::write(root.join(name), "x").expect("a file");
        }
        fs::create_dir_all(root.join("deep/er")).expect("folders");
        let all = || Snapshot::of_tree(root, |path| path.ends_with("skipped"));
        let before = all();
        assert_eq!(told(&before.changes(&all(), Where::Project), root), []);
        fs::remove_file(root.join("gone")).expect("removed");
        fs::write(root.join("longer"), "xx").expect("written");
        fs::write(root.join("deep/er/new"), "x").expect("written");
        fs::write(root.join("empty"), "").expect("written");
        fs::create_dir_all(root.join("skipped/below")).expect("a folder");
        let changes = before.changes(&all(), Where::Project);
        assert_eq!(
            told(&changes, root),
            [
                ("deep/er/new".to_owned(), What::New, false),
                ("empty".to_owned(), What::New, true),
                ("gone".to_owned(), What::Gone, false),
                ("longer".to_owned(), What::Changed, false),
                ("skipped".to_owned(), What::New, false),
            ]
        );
    }

    #[test]
    fn a_glob_has_what_is_below_a_folder_that_matches() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        fs::create_dir_all(root.join("sweep_a/deep")).expect("folders");
        for name in ["sweep_a/deep/x", "sweep_b", "other"] {
            fs::write(root.join(name), "x").expect("a file");
        }
        let glob = FileGlob::new("sweep_*").expect("a glob");
        let nothing = Snapshot::default();
        let changes = nothing.changes(&Snapshot::of_glob(root, &glob), Where::Watched);
        let names: Vec<String> = told(&changes, root).into_iter().map(|(name, ..)| name).collect();
        assert_eq!(names, ["sweep_a", "sweep_a/deep", "sweep_a/deep/x", "sweep_b"]);
    }
}
