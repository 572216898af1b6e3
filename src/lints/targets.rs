//! Which files are looked at: what runs as a hook or as its self-test, or what was asked for.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use crate::covers::Covers;
use crate::model::{Check, Named, On, Shell, Unread, Wiring};
use crate::wirings::{self, Disk, Files, join};

/// What is to be looked at.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// What hosts call, what checks run, and what they cover.
    Hooks,
    /// Every source of the project.
    All,
    /// Files, and what is in folders; absolute and without links.
    Paths(&'a [PathBuf]),
}

/// What will be looked at.
#[derive(Debug, Default)]
pub struct Targets {
    /// The project.
    pub root: PathBuf,
    pub files: Vec<Target>,
    pub commands: Vec<Command>,
    /// What was to be looked at, and can't be.
    pub unread: Vec<Unread>,
    /// What of it could not be listed.
    pub notes: Vec<String>,
    /// The files of the project that are looked at, too, where others take them in; `None` if only what is named is.
    pub parts: Option<BTreeSet<String>>,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// As findings name it: relative to the project where it lies in it.
    pub shown: String,
    /// The folder that it is read from, and its name there.
    pub root: PathBuf,
    pub name: String,
    /// Whether something starts it by itself.
    pub starts: bool,
    /// Whether it was asked for by its name, so that a language which is not read is to be told.
    pub asked: bool,
}

impl Target {
    /// A file of the project.
    #[must_use]
    pub fn of_project(root: &Path, name: &str) -> Self {
        Self { shown: name.to_owned(), root: root.to_owned(), name: name.to_owned(), starts: false, asked: false }
    }
}

/// A command that a host gives to a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The file that wires it, and where.
    pub file: String,
    pub line: u64,
    pub text: String,
}

/// Tells what to look at in a project. `root` is absolute and without links.
#[must_use]
pub fn targets(root: &Path, wanted: Wanted<'_>, disk: &Disk, checks: &[Check], wired: &[Wiring]) -> Targets {
    let mut files: BTreeMap<String, Target> = BTreeMap::new();
    let mut add = |target: Target| {
        let known = files.entry(target.shown.clone()).or_insert_with(|| target.clone());
        known.starts |= target.starts;
        known.asked |= target.asked;
    };
    let here = |name: &str| Target::of_project(root, name);
    if let Wanted::Paths(paths) = wanted {
        let (mut unread, mut notes) = (Vec::new(), Vec::new());
        for path in paths {
            of_path(root, path, &mut unread, &mut notes).into_iter().for_each(&mut add);
        }
        let files = files.into_values().collect();
        return Targets { files, unread, notes, ..Targets::default() };
    }
    let mut unread = gone(wired);
    for script in
        wired.iter().filter(|wiring| !wiring.personal).flat_map(Wiring::scripts).filter(|script| script.exists)
    {
        add(Target { starts: script.named == Named::Program, ..here(&script.path) });
    }
    for check in checks {
        for script in wirings::used(check, disk) {
            add(Target { starts: script.named == Named::Program && script.by.is_none(), ..here(&script.path) });
        }
        let covers = Covers::of(&check.covers);
        disk.names().iter().filter(|name| covers.has(Path::new(name))).for_each(|name| add(here(name)));
        for source in check.files.values().filter_map(|source| join("", source)) {
            let inside = format!("{source}/");
            let names = disk.names().iter().filter(|name| **name == source || name.starts_with(&inside));
            names.for_each(|name| add(here(name)));
        }
    }
    if matches!(wanted, Wanted::All) {
        disk.names().iter().for_each(|name| add(here(name)));
        unread.extend(closed(root, disk.names(), |folder| shown(root, folder)));
    }
    let parts = matches!(wanted, Wanted::Hooks).then(|| disk.names().iter().cloned().collect());
    let files = files.into_values().collect();
    Targets { root: root.to_owned(), files, commands: commands(wired), unread, notes: Vec::new(), parts }
}

/// What a path stands for.
fn of_path(project: &Path, path: &Path, unread: &mut Vec<Unread>, notes: &mut Vec<String>) -> Vec<Target> {
    let shown = |path: &Path| shown(project, path);
    if !path.is_dir() {
        let (Some(root), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
            let message = "its name is not UTF-8".to_owned();
            unread.push(Unread { file: shown(path), line: None, message, remedy: "rename it".to_owned() });
            return Vec::new();
        };
        let target =
            Target { shown: shown(path), root: root.to_owned(), name: name.to_owned(), starts: false, asked: true };
        return vec![target];
    }
    let (disk, more) = Disk::open(path);
    notes.extend(more.into_iter().map(|note| format!("{}: {note}", shown(path))));
    // Who names a folder means it, also where git ignores all that is in it.
    let names = if disk.names().is_empty() { everything(path, notes) } else { disk.names().to_vec() };
    if names.is_empty() {
        notes.push(format!("{} has no files", shown(path)));
    }
    unread.extend(closed(path, &names, shown));
    let target = |name: &String| Target {
        shown: shown(&path.join(name)),
        root: path.to_owned(),
        name: name.clone(),
        starts: false,
        asked: false,
    };
    names.iter().map(target).collect()
}

/// A path as findings name it.
fn shown(project: &Path, path: &Path) -> String {
    match path.strip_prefix(project) {
        Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
        Ok(inside) => inside.to_string_lossy().replace('\\', "/"),
        Err(_) => path.to_string_lossy().replace('\\', "/"),
    }
}

/// The files below a folder. Links are not followed.
fn everything(root: &Path, notes: &mut Vec<String>) -> Vec<String> {
    const MOST: usize = 20_000;
    let mut names = Vec::new();
    let mut folders = VecDeque::from([root.to_owned()]);
    while let Some(folder) = folders.pop_front() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push_back(path);
            } else if let Some(name) = path.strip_prefix(root).ok().and_then(Path::to_str) {
                names.push(name.replace('\\', "/"));
            }
            if names.len() == MOST {
                notes.push(format!("only the first {MOST} files of {} were looked at", root.display()));
                return names;
            }
        }
    }
    names
}

/// The folders that can't be read, of which a listing tells nothing. A folder that has files of which none is listed is one
/// that git ignores: it is not looked into.
fn closed(root: &Path, names: &[String], shown: impl Fn(&Path) -> String) -> Vec<Unread> {
    let listed: BTreeSet<PathBuf> =
        names.iter().flat_map(|name| Path::new(name).ancestors().skip(1)).map(|folder| root.join(folder)).collect();
    let mut unread = Vec::new();
    let mut folders = VecDeque::from([root.to_owned()]);
    while let Some(folder) = folders.pop_front() {
        let entries: Vec<fs::DirEntry> = match fs::read_dir(&folder) {
            Ok(entries) => entries.flatten().filter(|entry| entry.file_name() != ".git").collect(),
            Err(error) => {
                let message = format!("it cannot be read: {error}");
                let remedy = "make it readable, or remove it".to_owned();
                unread.push(Unread { file: shown(&folder), line: None, message, remedy });
                continue;
            }
        };
        let is_folder = |entry: &&fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        if listed.contains(&folder) || folder == root || entries.iter().all(|entry| is_folder(&entry)) {
            folders.extend(entries.iter().filter(is_folder).map(fs::DirEntry::path));
        }
    }
    unread
}

/// Scripts that hosts call and that are not there, where nothing in the command makes up for it.
fn gone(wired: &[Wiring]) -> Vec<Unread> {
    let mut gone = BTreeMap::new();
    for wiring in wired.iter().filter(|wiring| !wiring.personal) {
        let scripts = wiring.scripts();
        for script in scripts.filter(|script| {
            let is_file = matches!(script.named, Named::Program | Named::Script | Named::Sourced);
            is_file && !script.exists && !script.fallback
        }) {
            let message = format!("{} calls it, and it is not there", wiring.file);
            let remedy = "make it, or take it out of there".to_owned();
            let unread = Unread { file: script.path.clone(), line: None, message, remedy };
            gone.entry(script.path.clone()).or_insert(unread);
        }
    }
    gone.into_values().collect()
}

/// The commands that POSIX shells read.
fn commands(wired: &[Wiring]) -> Vec<Command> {
    let mut commands = Vec::new();
    for wiring in wired.iter().filter(|wiring| !wiring.personal) {
        for command in &wiring.commands {
            let posix = matches!(command.shell, Shell::System | Shell::Sh | Shell::Bash | Shell::BashOrPowershell);
            if posix && command.on != On::Windows {
                let (file, line) = (wiring.file.clone(), wiring.line.unwrap_or(1));
                commands.push(Command { file, line, text: command.command.clone() });
            }
        }
    }
    commands
}
