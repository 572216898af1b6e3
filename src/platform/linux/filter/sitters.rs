//! Who has a directory, as its current one or with something in it, and who has a file.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub use super::super::tree::descendants;
use super::super::{argv, procfs};
use super::reach::Reached;
use crate::model::{Came, How};

/// One hold of a process.
#[derive(Debug, Clone)]
pub struct Sitter {
    pub pid: u32,
    pub how: How,
    pub directory: bool,
    pub came: Came,
    /// What it holds, if that lies below what was asked about.
    pub below: Option<PathBuf>,
}

/// Those of the processes whose current directory it is, also of one thread alone.
pub fn sitting(pids: &[u32], target: &Reached) -> Vec<Sitter> {
    let sits = |link: &str| rustix::fs::stat(link).is_ok_and(|stat| target.is(&stat));
    let sitter = |pid, how| Sitter { pid, how, directory: true, came: came_to_sit(pid), below: None };
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
    let tasks = procfs::has_threads(pid).then(|| fs::read_dir(format!("/proc/{pid}/task")).ok()).flatten();
    tasks.into_iter().flatten().flatten().filter_map(|task| task.file_name().to_str()?.parse().ok())
}

/// Those of the processes that have something below a directory.
pub fn below(pids: &[u32], path: &Path) -> Vec<Sitter> {
    let mut found = Vec::new();
    for &pid in pids {
        let lies_below = |link: &Path| fs::read_link(link).ok().filter(|held| held != path && held.starts_with(path));
        for (name, how) in [("cwd", How::Cwd), ("exe", How::Executable)] {
            if let Some(held) = lies_below(Path::new(&format!("/proc/{pid}/{name}"))) {
                let directory = how == How::Cwd;
                found.push(Sitter { pid, how, directory, came: came_to_sit(pid), below: Some(held) });
            }
        }
        for link in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten().map(|entry| entry.path()) {
            let Some(held) = lies_below(&link) else { continue };
            let Some(came) = link.file_name().and_then(|fd| came(pid, fd)) else { continue };
            let directory = fs::metadata(&link).is_ok_and(|metadata| metadata.is_dir());
            found.push(Sitter { pid, how: How::Descriptor, directory, came, below: Some(held) });
        }
    }
    found
}

/// Those of the processes that have a file open, run it, or have it mapped.
pub fn users(pids: &[u32], file: &Reached) -> Vec<Sitter> {
    let is_it = |link: &Path| rustix::fs::stat(link).is_ok_and(|stat| file.is(&stat));
    let mut found = Vec::new();
    for &pid in pids {
        let sitter = |how, came| Sitter { pid, how, directory: false, came, below: None };
        let before = found.len();
        for link in fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if is_it(&link)
                && let Some(came) = link.file_name().and_then(|fd| came(pid, fd))
            {
                found.push(sitter(How::Descriptor, came));
            }
        }
        if is_it(Path::new(&format!("/proc/{pid}/exe"))) {
            found.push(sitter(How::Executable, Came::Opened));
        } else if found.len() == before
            && let Some(came) = mapped(pid, file)
        {
            found.push(sitter(How::Mapping, came));
        }
    }
    found
}

/// How a process came to a directory or a program of its own.
fn came_to_sit(pid: u32) -> Came {
    if is_helper(pid) { Came::Helper } else { Came::Opened }
}

/// Whether a process serves Python's multiprocessing, which has no such processes on Windows (Lib/multiprocessing,
/// `ensure_running` of `resource_tracker.py` and `forkserver.py`).
fn is_helper(pid: u32) -> bool {
    const MODULES: [&str; 2] =
        ["from multiprocessing.resource_tracker import", "from multiprocessing.forkserver import"];
    let words = argv::argv_of(pid);
    words.iter().any(|word| MODULES.iter().any(|module| word.starts_with(module)))
}

/// How a process came to a descriptor. `None` if that is closed, or opens nothing (`O_PATH`).
fn came(pid: u32, fd: &OsStr) -> Option<Came> {
    let flags = procfs::open_flags(pid, fd)?;
    let has = |flag| flags & flag != 0;
    Some(match fd.to_str() {
        _ if has(libc::O_PATH) => return None,
        _ if procfs::stat(pid).is_ok_and(|stat| stat.forked) => Came::Forked,
        _ if is_helper(pid) => Came::Helper,
        // What is closed by an execution was opened after the last one.
        _ if has(libc::O_CLOEXEC) && has(libc::O_NOFOLLOW) => Came::OpenedNoFollow,
        _ if has(libc::O_CLOEXEC) => Came::Opened,
        Some("0" | "1" | "2") => Came::Stream,
        _ => Came::Inheritable,
    })
}

/// How a process has a file mapped, if it has.
fn mapped(pid: u32, file: &Reached) -> Option<Came> {
    let maps = fs::read(format!("/proc/{pid}/maps")).ok()?;
    let inode = file.stat.st_ino.to_string();
    let mut found = None;
    for line in maps.split(|&byte| byte == b'\n') {
        let mut fields = line.splitn(6, |&byte| byte == b' ').skip(1);
        let (Some(rights), Some(its)) = (fields.next(), fields.nth(2)) else { continue };
        let path = fields.next().map(<[u8]>::trim_ascii_start).unwrap_or_default();
        // The device that is told there is another one on some file systems, so the file is looked at by its name.
        let is_it = || rustix::fs::lstat(path).is_ok_and(|stat| file.is(&stat));
        if its != inode.as_bytes() || !is_it() {
            continue;
        }
        let came = if rights.get(2) == Some(&b'x') { Came::Code } else { Came::Opened };
        if came == Came::Code {
            return Some(came);
        }
        found = Some(came);
    }
    let forked = || procfs::stat(pid).is_ok_and(|stat| stat.forked);
    found.map(|came| if forked() { Came::Forked } else { came })
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
