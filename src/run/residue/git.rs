//! Where git's HEAD, its references and its stash are, and what else of its own a test may change: what is staged, its
//! configuration, its hooks, the worktrees that it knows, what is under way. Read from its files, which is a hundred times
//! cheaper than to ask.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use super::index::staged;
use super::snapshot::Snapshot;
use crate::probes::{self, Moved, Where};
use crate::run::copy;

/// The log of the stash: what is below its top is there alone.
const STASH_LOG: &str = "logs/refs/stash";
/// What is staged.
const INDEX: &str = "index";
/// What the user says to git in this repository, beside the hooks.
const SETTINGS: [&str; 4] = ["config", "info/exclude", "info/attributes", "objects/info/alternates"];
/// What is there while something is under way in a worktree, or was not ended.
const UNDER_WAY: [&str; 7] =
    ["MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply", "BISECT_LOG", "index.lock"];
/// The same of what worktrees share.
const SHARED_UNDER_WAY: [&str; 2] = ["config.lock", "packed-refs.lock"];
/// How long somebody who writes at this moment may keep a lock.
const LOCKED: Duration = Duration::from_millis(300);
const AGAIN: Duration = Duration::from_millis(10);
/// Where it has a folder for each linked worktree, and the file there that says where that is.
const WORKTREES: &str = "worktrees";
const LINKED: &str = "gitdir";

/// A repository's references, as they were when it was last looked at.
pub struct Git {
    /// Where it is below the project; nothing if the project is in it.
    of: PathBuf,
    /// The worktree's own folder, and the one that it shares with others.
    own: PathBuf,
    common: PathBuf,
    files: Snapshot,
    values: BTreeMap<String, String>,
}

impl Git {
    /// Those of the repository that a project is in, and of those in its folders: submodules and clones. A linked worktree
    /// has those of the repository that it is of.
    #[must_use]
    pub fn all(project: &Path, tree: &Snapshot) -> Vec<Self> {
        let around = project.ancestors().find_map(|folder| Self::at(folder, PathBuf::new()));
        let mut folders: Vec<&Path> = tree.folders_with(".git").filter(|folder| *folder != project).collect();
        folders.sort();
        let below = folders.into_iter().filter_map(|folder| {
            let of = folder.strip_prefix(project).ok()?;
            Self::at(folder, of.to_owned())
        });
        let mut all: Vec<Self> = Vec::new();
        for git in around.into_iter().chain(below) {
            if all.iter().all(|other| other.common != git.common) {
                all.push(git);
            }
        }
        all
    }

    fn at(folder: &Path, of: PathBuf) -> Option<Self> {
        let own = copy::own_git_folder(&folder.join(".git"))?;
        let common = copy::common_git_folder(&own).ok()?;
        let mut git = Self { of, own, common, files: Snapshot::default(), values: BTreeMap::new() };
        git.files = git.look();
        git.values = git.read();
        Some(git)
    }

    /// What was moved since the last time.
    pub fn moved(&mut self) -> Vec<Moved> {
        let files = self.look();
        let changes = self.files.changes(&files, Where::Project);
        if changes.is_empty() {
            return Vec::new();
        }
        let at = |name: &str| -> Option<SystemTime> {
            let is_it = |path: &Path| path.ends_with(name);
            let own = changes.iter().find(|change| is_it(&change.path)).and_then(|change| change.at);
            own.or_else(|| changes.iter().filter_map(|change| change.at).max())
        };
        let mut values = self.read();
        // Who writes at this moment is soon done.
        let began = Instant::now();
        let is_locked = |values: &BTreeMap<String, String>| {
            values.keys().any(|name| probes::is_lock(name) && !self.values.contains_key(name))
        };
        while is_locked(&values) && began.elapsed() < LOCKED {
            thread::sleep(AGAIN);
            values = self.read();
        }
        let names = self.values.keys().chain(values.keys().filter(|name| !self.values.contains_key(*name)));
        let moved = names.filter(|name| self.values.get(*name) != values.get(*name)).map(|name| Moved {
            of: self.of.clone(),
            name: name.clone(),
            before: self.values.get(name).cloned(),
            after: values.get(name).cloned(),
            at: at(name),
        });
        let mut moved: Vec<Moved> = moved.collect();
        let stash = || changes.iter().find(|change| change.path.ends_with(STASH_LOG));
        if moved.iter().all(|moved| moved.name != "refs/stash")
            && let Some(log) = stash()
        {
            let top = values.get("refs/stash").cloned();
            let (of, name) = (self.of.clone(), "refs/stash".to_owned());
            moved.push(Moved { of, name, before: top.clone(), after: top, at: log.at });
        }
        (self.files, self.values) = (files, values);
        moved
    }

    /// What tells whether anything has to be read.
    fn look(&self) -> Snapshot {
        let mut files = Snapshot::default();
        for name in ["HEAD", INDEX].into_iter().chain(UNDER_WAY) {
            files.add_path(&self.own.join(name));
        }
        let shared = ["packed-refs", "reftable/tables.list", STASH_LOG].into_iter();
        for name in shared.chain(SETTINGS).chain(SHARED_UNDER_WAY) {
            files.add_path(&self.common.join(name));
        }
        for worktree in self.worktrees() {
            files.add_path(&worktree);
        }
        for name in ["refs", "hooks"] {
            files.add_tree(&self.common.join(name));
        }
        files
    }

    /// The files that say where its linked worktrees are.
    fn worktrees(&self) -> impl Iterator<Item = PathBuf> {
        let folders = fs::read_dir(self.common.join(WORKTREES)).into_iter().flatten().flatten();
        folders.map(|folder| folder.path().join(LINKED))
    }

    fn read(&self) -> BTreeMap<String, String> {
        let text = |path: &Path| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
        let mut values = BTreeMap::new();
        for line in text(&self.common.join("packed-refs")).unwrap_or_default().lines() {
            // A comment, or what the tag in the line above it leads to.
            if let Some((value, name)) = line.split_once(' ').filter(|_| !line.starts_with(['#', '^'])) {
                values.insert(name.to_owned(), value.to_owned());
            }
        }
        // In this form all of them are in files of git's own; that they changed is known, and no more.
        values.extend(text(&self.common.join("reftable/tables.list")).map(|list| ("refs".to_owned(), list)));
        values.extend(text(&self.own.join("HEAD")).map(|head| ("HEAD".to_owned(), head)));
        let named = |path: &Path| path.strip_prefix(&self.common).unwrap_or(path).to_string_lossy().replace('\\', "/");
        // What is being written has a lock beside it.
        let is_whole = |path: &PathBuf| !probes::is_lock(&path.to_string_lossy());
        for path in files_below(&self.common.join("refs")).into_iter().filter(is_whole) {
            values.extend(text(&path).map(|value| (named(&path), value)));
        }
        let bytes = fs::read(self.own.join(INDEX)).ok();
        values.extend(bytes.and_then(|index| staged(&index)).map(|staged| (INDEX.to_owned(), staged.to_string())));
        let own = UNDER_WAY.map(|name| (name, self.own.join(name))).into_iter();
        let under_way = own.chain(SHARED_UNDER_WAY.map(|name| (name, self.common.join(name))));
        let is_there = |(_, path): &(&str, PathBuf)| fs::symlink_metadata(path).is_ok();
        values.extend(under_way.filter(is_there).map(|(name, _)| (name.to_owned(), String::new())));
        for worktree in self.worktrees() {
            let name = worktree.parent().map(named).unwrap_or_default();
            values.extend(text(&worktree).map(|place| (name, place.trim_end_matches("/.git").to_owned())));
        }
        let settings = SETTINGS.map(|name| self.common.join(name)).into_iter();
        // An example does nothing.
        let is_used = |path: &PathBuf| path.extension().is_none_or(|extension| extension != "sample");
        let hooks = files_below(&self.common.join("hooks"));
        for path in settings.chain(hooks).filter(|path| is_whole(path) && is_used(path)) {
            values.extend(fs::read(&path).ok().map(|bytes| (named(&path), digest(&bytes))));
        }
        values
    }
}

/// A number for a file's content.
fn digest(bytes: &[u8]) -> String {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish().to_string()
}

/// The files below a folder.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(entry.path()),
                Ok(_) => files.push(entry.path()),
                Err(_) => {}
            }
        }
    }
    files
}
