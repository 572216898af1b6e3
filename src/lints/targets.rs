//! Which files are looked at: what runs as a hook or as its self-test, or what was asked for.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::covers::Covers;
use crate::model::{Check, Named, On, Shell, Wiring};
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
    pub files: Vec<Target>,
    pub commands: Vec<Command>,
    /// What of it could not be listed.
    pub notes: Vec<String>,
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
    let here = |name: &str| Target {
        shown: name.to_owned(),
        root: root.to_owned(),
        name: name.to_owned(),
        starts: false,
        asked: false,
    };
    if let Wanted::Paths(paths) = wanted {
        let mut notes = Vec::new();
        for path in paths {
            of_path(root, path, &mut notes).into_iter().for_each(&mut add);
        }
        return Targets { files: files.into_values().collect(), commands: Vec::new(), notes };
    }
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
    }
    Targets { files: files.into_values().collect(), commands: commands(wired), notes: Vec::new() }
}

/// What a path stands for.
fn of_path(project: &Path, path: &Path, notes: &mut Vec<String>) -> Vec<Target> {
    let shown = |path: &Path| {
        let inside = path.strip_prefix(project).unwrap_or(path);
        inside.to_string_lossy().replace('\\', "/")
    };
    if !path.is_dir() {
        let (Some(root), Some(name)) = (path.parent(), path.file_name().and_then(|name| name.to_str())) else {
            return Vec::new();
        };
        let target =
            Target { shown: shown(path), root: root.to_owned(), name: name.to_owned(), starts: false, asked: true };
        return vec![target];
    }
    let (disk, more) = Disk::open(path);
    notes.extend(more.into_iter().map(|note| format!("{}: {note}", shown(path))));
    if disk.names().is_empty() {
        notes.push(format!("{} has no files but those that git ignores", shown(path)));
    }
    let target = |name: &String| Target {
        shown: shown(&path.join(name)),
        root: path.to_owned(),
        name: name.clone(),
        starts: false,
        asked: false,
    };
    disk.names().iter().map(target).collect()
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
