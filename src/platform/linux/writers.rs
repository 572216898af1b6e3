//! Who writes to published files: whoever asked to open them, and else whoever is seen with them open.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::filter;
use super::procfs::Wanted;
use super::tree;
use crate::model::Process;

/// How often the writer of one file is looked for.
const LOOKS: u32 = 16;

/// The writers that are known, by the path that they write to.
#[derive(Default)]
pub struct Writers {
    known: HashMap<PathBuf, Writer>,
    /// Whether whoever opens files for writing is asked about.
    asked: bool,
}

/// Who writes to a file.
#[derive(Default)]
struct Writer {
    process: Option<Process>,
    /// Whether it was seen to have the file open, and not only to be the one process there is.
    sure: bool,
    looks: u32,
}

impl Writers {
    /// From now on who opens is told before it does.
    pub fn are_asked(&mut self) {
        self.asked = true;
    }

    /// Whether who opens, or gives a name, is told before it does.
    pub fn asked(&self) -> bool {
        self.asked
    }

    /// A process is about to open a file for writing.
    pub fn opens(&mut self, path: &Path, process: Process) {
        self.known.insert(path.to_owned(), Writer { process: Some(process), sure: true, looks: LOOKS });
    }

    /// A file is about to get this name: whoever has it open for writing can write to it afterwards, too.
    pub fn arrives(&mut self, from: &Path, path: &Path, wanted: &Wanted<'_>) {
        let Some(id) = identity(fs::symlink_metadata(from)) else { return };
        let writer = tree::descendants(std::process::id()).into_iter().find(|pid| written_by(*pid).contains(&id));
        if let Some(process) = writer.and_then(|pid| filter::read(pid, wanted)) {
            self.opens(path, process);
        }
    }

    /// Who writes to a file, and whether it was seen at it.
    pub fn of(&self, path: &Path) -> Option<(&Process, bool)> {
        let writer = self.known.get(path)?;
        Some((writer.process.as_ref()?, writer.sure))
    }

    /// Looks in the job's tree for whoever has the files open for writing.
    pub fn look(&mut self, paths: &[PathBuf], wanted: &Wanted<'_>) {
        let sought: Vec<(&PathBuf, (u64, u64))> = paths
            .iter()
            .filter(|path| self.known.get(*path).is_none_or(|writer| !writer.sure && writer.looks < LOOKS))
            .filter_map(|path| Some((path, identity(fs::symlink_metadata(path))?)))
            .collect();
        if sought.is_empty() {
            return;
        }
        let living = tree::descendants(std::process::id());
        let mut found: HashMap<&PathBuf, (u32, bool)> = HashMap::new();
        for &pid in &living {
            let open = written_by(pid);
            found.extend(sought.iter().filter(|(_, id)| open.contains(id)).map(|(path, _)| (*path, (pid, true))));
        }
        // Nobody else of the job is there who could have done it, but for what is gone.
        if let ([only], false) = (&living[..], self.asked) {
            for (path, _) in &sought {
                found.entry(path).or_insert((*only, false));
            }
        }
        let processes =
            if found.is_empty() { Vec::new() } else { tree::read(std::process::id(), wanted, &HashSet::new()) };
        for (path, _) in &sought {
            let writer = self.known.entry((*path).clone()).or_default();
            writer.looks += 1;
            if let Some((pid, sure)) = found.get(path)
                && let Some(process) = processes.iter().find(|process| process.pid == *pid)
                && (*sure || writer.process.is_none())
            {
                writer.process = Some(process.clone());
                writer.sure = *sure;
            }
        }
    }
}

/// The files that a process has open for writing.
fn written_by(pid: u32) -> Vec<(u64, u64)> {
    // What /proc gives the link of a descriptor that can be written to.
    const WRITABLE: u32 = 0o200;
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let writable = entries
        .map(|entry| entry.path())
        .filter(|link| fs::symlink_metadata(link).is_ok_and(|link| link.mode() & WRITABLE != 0));
    writable.filter_map(|link| identity(fs::metadata(link))).collect()
}

fn identity(file: std::io::Result<fs::Metadata>) -> Option<(u64, u64)> {
    file.ok().map(|file| (file.dev(), file.ino()))
}

/// Whether it is there, and neither a file nor a link to one: a pipe or a socket is nothing that could be half-written.
pub fn is_special(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| !it.is_file() && !it.is_symlink())
}
