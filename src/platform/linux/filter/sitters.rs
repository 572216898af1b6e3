//! Who has a directory: as its current one, or with something in it.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::super::{procfs, tree};
use super::reach::Reached;
use crate::model::How;

/// One hold of a process.
#[derive(Debug, Clone)]
pub struct Sitter {
    pub pid: u32,
    pub how: How,
    pub directory: bool,
    /// What it holds, if that lies below what was asked about.
    pub below: Option<PathBuf>,
}

/// All descendants of a process, parents first.
pub fn descendants(root: u32) -> Vec<u32> {
    let mut found = tree::children(root);
    let mut next = 0;
    while next < found.len() {
        let children = tree::children(found[next]);
        let new: Vec<u32> = children.into_iter().filter(|pid| !found.contains(pid)).collect();
        found.extend(new);
        next += 1;
    }
    found
}

/// Those of the processes whose current directory it is, also of one thread alone.
pub fn sitting(pids: &[u32], target: &Reached) -> Vec<Sitter> {
    let sits = |link: &str| rustix::fs::stat(link).is_ok_and(|stat| target.is(&stat));
    let sitter = |pid, how| Sitter { pid, how, directory: true, below: None };
    let mut found = Vec::new();
    for &pid in pids {
        if sits(&format!("/proc/{pid}/cwd")) {
            found.push(sitter(pid, How::Cwd));
        } else if threads(pid).any(|thread| thread != pid && sits(&format!("/proc/{pid}/task/{thread}/cwd"))) {
            found.push(sitter(pid, How::ThreadCwd));
        }
    }
    found
}

fn threads(pid: u32) -> impl Iterator<Item = u32> {
    // One thread is the rule, and a folder's link count says how many there are.
    let folder = format!("/proc/{pid}/task");
    let several = rustix::fs::stat(&*folder).is_ok_and(|stat| stat.st_nlink > 3);
    let tasks = several.then(|| fs::read_dir(folder).ok()).flatten();
    tasks.into_iter().flatten().flatten().filter_map(|task| task.file_name().to_str()?.parse().ok())
}

/// Those of the processes that have something below a directory.
pub fn below(pids: &[u32], path: &Path) -> Vec<Sitter> {
    let mut found = Vec::new();
    for &pid in pids {
        let lies_below = |link: &Path| fs::read_link(link).ok().filter(|held| held != path && held.starts_with(path));
        for (name, how) in [("cwd", How::Cwd), ("exe", How::Executable)] {
            if let Some(held) = lies_below(Path::new(&format!("/proc/{pid}/{name}"))) {
                found.push(Sitter { pid, how, directory: how == How::Cwd, below: Some(held) });
            }
        }
        let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        for link in descriptors.map(|entry| entry.path()) {
            if let Some(held) = lies_below(&link) {
                let directory = fs::metadata(&link).is_ok_and(|metadata| metadata.is_dir());
                found.push(Sitter { pid, how: How::Descriptor, directory, below: Some(held) });
            }
        }
    }
    found
}

/// Every process that is not one of these.
pub fn strangers(known: &[u32]) -> Vec<u32> {
    let all = procfs::all().unwrap_or_default();
    all.into_iter().filter(|pid| !known.contains(pid)).collect()
}

/// The name of the program that a process runs; empty if it can't be told.
pub fn program(pid: u32) -> String {
    let exe = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let name = exe.file_name().unwrap_or_default().as_bytes();
    String::from_utf8_lossy(name.strip_suffix(b" (deleted)").unwrap_or(name)).into_owned()
}
