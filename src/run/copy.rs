//! Putting files into a sandbox: what `files` names, and the whole project for `cwd: copy`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::sandbox::Sandbox;
use crate::{platform, source};

/// What the worktrees of a repository share of its own folder. What is not here belongs to one of them.
const SHARED: &[&str] = &[
    "branches",
    "config",
    "hooks",
    "info",
    "lfs",
    "logs",
    "objects",
    "packed-refs",
    "refs",
    "remotes",
    "rr-cache",
    "shallow",
    "svn",
];

/// What belongs to the main worktree nevertheless.
const UNSHARED: &[&str] = &["info/sparse-checkout", "logs/HEAD", "refs/bisect", "refs/rewritten", "refs/worktree"];

/// What binds a worktree to the repository that it is linked to, and a repository to its linked worktrees: to prune
/// these in a copy would remove the real ones.
const BONDS: &[&str] = &["commondir", "gitdir", "locked", "worktrees"];

/// How many copies of the project were begun, and done: each opens every file of it once.
#[derive(Debug, Default)]
pub struct Made {
    begun: AtomicU64,
    done: AtomicU64,
}

impl Made {
    /// Counts one while it is made.
    pub fn count<T>(&self, make: impl FnOnce() -> T) -> T {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let copy = make();
        self.done.fetch_add(1, Ordering::SeqCst);
        copy
    }

    /// How many are done.
    #[must_use]
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::SeqCst)
    }

    /// How many can have opened a file since so many were done.
    #[must_use]
    pub fn since(&self, done: u64) -> u64 {
        self.begun.load(Ordering::SeqCst).saturating_sub(done)
    }
}

/// Copies each source, relative to the project, to its destination, relative to the sandbox's `work/`. A symbolic link
/// is followed, within the project.
///
/// # Errors
///
/// A sentence that names the file.
pub fn files(files: &BTreeMap<String, String>, project: &Path, sandbox: &Sandbox) -> Result<(), String> {
    for (destination, name) in files {
        let failed = |error: io::Error| format!("files: cannot copy {name}: {error}");
        let from = inside(project, Path::new(name)).map_err(|out| match out {
            Outside::Elsewhere(place) => format!("files: {name} leads out of the project, to {}", place.display()),
            Outside::Unseen(error) => failed(error),
        })?;
        let metadata = fs::metadata(&from).map_err(failed)?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(format!("files: {name} is neither a file nor a folder"));
        }
        let work = sandbox.work();
        if let Some(link) = link_on_the_way(&work, Path::new(destination)) {
            let link = link.strip_prefix(&work).unwrap_or(&link).display().to_string();
            return Err(format!(
                "files: {destination} leads through {link}, which is a symbolic link in the copy: nothing is written there"
            ));
        }
        tree(&from, &work.join(destination), &|path| is_lane(path, sandbox)).map_err(failed)?;
    }
    Ok(())
}

/// The first symbolic link on the way to a name below a folder, or at its end.
fn link_on_the_way(folder: &Path, name: &Path) -> Option<PathBuf> {
    let mut at = folder.to_owned();
    name.components().find_map(|part| {
        at.push(part);
        is_link(&at).then(|| at.clone())
    })
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

/// Why a name is not that of something in the project.
#[derive(Debug)]
pub enum Outside {
    /// It leads there.
    Elsewhere(PathBuf),
    /// It can't be told where it leads.
    Unseen(io::Error),
}

/// Where a name in the project leads, without symbolic links.
///
/// # Errors
///
/// If that is nowhere, or not in the project.
pub fn inside(project: &Path, name: &Path) -> Result<PathBuf, Outside> {
    let real = platform::real_path(&project.join(name)).map_err(Outside::Unseen)?;
    let project = platform::real_path(project).map_err(Outside::Unseen)?;
    if real.starts_with(project) { Ok(real) } else { Err(Outside::Elsewhere(real)) }
}

/// Copies the repository that the project is in: what git tracks, and what it neither tracks nor ignores, with a `.git`
/// that has nothing to do with the original any more; all of the project where there is no repository. The copy
/// lies at `to`, in the sandbox. Gives the project's place in it.
///
/// # Errors
///
/// A sentence that says what is in the way.
pub fn project(project: &Path, to: &Path, sandbox: &Sandbox) -> Result<PathBuf, String> {
    let refused = |why: String| format!("cwd: copy: {why}");
    let left_out = |path: &Path| is_lane(path, sandbox);
    let Some(source::Repository { top, prefix }) = source::repository(project).map_err(refused)? else {
        listed(project, None, None, to, &left_out).map_err(refused)?;
        return Ok(to.to_owned());
    };
    let files = source::listed(&top).map_err(refused)?;
    listed(&top, Some(&files), None, to, &left_out).map_err(refused)?;
    // Without the separator that the prefix ends with.
    let copy: PathBuf = to.join(prefix).components().collect();
    fs::create_dir_all(&copy).map_err(|error| refused(failed(project, &error)))?;
    Ok(copy)
}

/// Copies the files of a repository that git lists, and a `.git` that stands alone; everything without a list. `git` is
/// the worktree's own folder where `.git` doesn't lead to it from here.
///
/// # Errors
///
/// A sentence that says what is in the way.
pub fn listed(
    top: &Path,
    files: Option<&[PathBuf]>,
    git: Option<&Path>,
    to: &Path,
    left_out: &dyn Fn(&Path) -> bool,
) -> Result<(), String> {
    let Some(files) = files else {
        return tree(top, to, left_out).map_err(|error| failed(top, &error));
    };
    for file in files {
        // Names from git are relative and clean; a path that is not stays out.
        if !file.components().all(|part| matches!(part, Component::Normal(_))) {
            continue;
        }
        let from = top.join(file);
        // Tracked and deleted in the work tree.
        let mut inside = from.ancestors().take_while(|folder| *folder != top);
        if fs::symlink_metadata(&from).is_err() || inside.any(left_out) {
            continue;
        }
        tree(&from, &to.join(file), left_out).map_err(|error| failed(file, &error))?;
    }
    let dot_git = top.join(".git");
    let copied = match git {
        Some(own) => repository(own, &to.join(".git")),
        None => tree(&dot_git, &to.join(".git"), left_out),
    };
    copied.map_err(|error| failed(&dot_git, &error))
}

fn failed(path: &Path, error: &io::Error) -> String {
    format!("cannot copy {}: {error}", path.display())
}

/// Whether a folder has sandboxes, of this run or another one: they may be made in the project itself.
pub fn is_lane(folder: &Path, sandbox: &Sandbox) -> bool {
    let Some(own) = sandbox.root().parent() else { return false };
    let start = |folder: &Path| {
        let name = folder.file_name().and_then(OsStr::to_str)?;
        Some(name.split_once('-')?.0.to_owned())
    };
    folder == own || (folder.parent() == own.parent() && start(own).is_some() && start(folder) == start(own))
}

/// Copies a file or a folder, without what is to be left out. Symbolic links are copied as links; sockets, pipes and
/// devices are left out. Every `.git` stands alone in the copy.
fn tree(from: &Path, to: &Path, left_out: &dyn Fn(&Path) -> bool) -> io::Result<()> {
    walk(from, to, left_out, &|from, to| {
        if from.file_name() != Some(OsStr::new(".git")) {
            return Ok(false);
        }
        let Some(own) = own_git_folder(from) else { return Ok(false) };
        repository(&own, to).map(|()| true)
    })
}

/// Copies a file or a folder, but for what is to be left out and what `special` takes care of. Never through a symbolic
/// link that is there already: it could lead out of the sandbox.
fn walk(
    from: &Path,
    to: &Path,
    left_out: &dyn Fn(&Path) -> bool,
    special: &dyn Fn(&Path, &Path) -> io::Result<bool>,
) -> io::Result<()> {
    let mut open: Vec<(PathBuf, PathBuf)> = vec![(from.to_owned(), to.to_owned())];
    while let Some((from, to)) = open.pop() {
        if left_out(&from) || special(&from, &to)? {
            continue;
        }
        if is_link(&to) {
            let why = format!("{} is a symbolic link already", to.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        let metadata = fs::symlink_metadata(&from)?;
        if metadata.is_dir() {
            fs::create_dir_all(&to)?;
            for entry in fs::read_dir(&from)? {
                let entry = entry?;
                open.push((entry.path(), to.join(entry.file_name())));
            }
            continue;
        }
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent)?;
        }
        if metadata.is_symlink() {
            platform::copy_link(&from, &to)?;
        } else if metadata.is_file() {
            fs::copy(&from, &to)?;
        }
    }
    Ok(())
}

/// The folder that a `.git` is, or that it leads to as a link or as the file of a linked worktree or a submodule. `None`
/// if that is none.
#[must_use]
pub fn own_git_folder(git: &Path) -> Option<PathBuf> {
    let real = platform::real_path(git).ok()?;
    if real.is_dir() {
        return Some(real);
    }
    let text = fs::metadata(&real).ok()?.is_file().then(|| fs::read(&real).ok())??;
    let named = platform::path_of(text.strip_prefix(b"gitdir:")?.trim_ascii());
    platform::real_path(&git.parent()?.join(named)).ok().filter(|folder| folder.is_dir())
}

/// The folder that a worktree's own one shares with others; itself if it shares none.
///
/// # Errors
///
/// What the system says.
pub fn common_git_folder(own: &Path) -> io::Result<PathBuf> {
    match fs::read(own.join("commondir")) {
        Ok(text) => platform::real_path(&own.join(platform::path_of(text.trim_ascii()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(own.to_owned()),
        Err(error) => Err(error),
    }
}

/// Makes a repository's folder out of a worktree's own one and of what it shares with others.
fn repository(own: &Path, to: &Path) -> io::Result<()> {
    let common = common_git_folder(own)?;
    let is_linked = common != own;
    // Whoever holds a lock does so in the original.
    let is_lock = |path: &Path| path.extension() == Some(OsStr::new("lock"));
    let nothing = |_: &Path, _: &Path| Ok(false);
    if is_linked {
        if common.join("reftable").exists() {
            let why = "a linked worktree whose references are in the form `reftable` cannot be copied";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let unshared: Vec<PathBuf> = UNSHARED.iter().map(|name| common.join(name)).collect();
        for name in SHARED.iter().filter(|name| fs::symlink_metadata(common.join(name)).is_ok()) {
            let left_out = |path: &Path| is_lock(path) || unshared.iter().any(|name| name == path);
            walk(&common.join(name), &to.join(name), &left_out, &nothing)?;
        }
    }
    let bonds: Vec<PathBuf> = BONDS.iter().map(|name| own.join(name)).collect();
    walk(own, to, &|path| is_lock(path) || bonds.iter().any(|name| name == path), &nothing)?;
    alternates(&common, to)?;
    source::stand_alone(to, is_linked)
}

/// Objects may lie in other repositories, whose names are relative to this one's. Nothing is ever written there.
fn alternates(common: &Path, to: &Path) -> io::Result<()> {
    let file = to.join("objects/info/alternates");
    let Ok(text) = fs::read_to_string(&file) else { return Ok(()) };
    let objects = common.join("objects");
    // To join an absolute path gives that.
    let lines = text.lines().map(|line| format!("{}\n", objects.join(line).display()));
    fs::write(&file, lines.collect::<String>())
}
