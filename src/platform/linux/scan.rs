//! Whether a process has anything in some folders.
//!
//! Only the links' texts are compared here, with raw system calls and no allocation per link, since this is what costs
//! time on a machine with thousands of processes. A process that has something is then read in full.

use std::collections::HashSet;
use std::ffi::{CStr, OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawDir, openat, readlinkat_raw, statat};
use rustix::io::Errno;

use super::mapped::Mapped;
use super::mounts::Views;
use super::procfs;

/// What a process has to do with the folders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concern {
    None,
    Some,
    /// It may not be looked into.
    Unreadable,
}

/// How many bytes of a folder are read at once.
const ENTRIES: usize = 8192;
/// So many descriptors take less than half of that: an entry with a number for a name has 32 bytes at most.
const SURELY_ALL: usize = ENTRIES / 2 / 32;

/// What is looked at beside links.
#[derive(Debug, Clone, Copy)]
pub struct Scope {
    /// Whether the folders are a run's sandboxes: new, and this user's own. What carries the mark of one is told, too.
    pub sandboxes: bool,
    pub mappings: bool,
}

/// Folders as bytes, sorted, and what all of them begin with.
#[derive(Default)]
struct Names {
    roots: Vec<Vec<u8>>,
    prefix: Vec<u8>,
}

impl Names {
    fn new<'a>(folders: impl Iterator<Item = &'a PathBuf>) -> Self {
        let mut roots: Vec<Vec<u8>> = folders.map(|folder| folder.as_os_str().as_bytes().to_vec()).collect();
        roots.sort();
        let prefix = match (roots.first(), roots.last()) {
            (Some(first), Some(last)) => {
                let common = first.iter().zip(last).take_while(|(a, b)| a == b).count();
                first[..common].to_vec()
            }
            _ => Vec::new(),
        };
        Self { roots, prefix }
    }

    fn has(&self, folder: &[u8]) -> bool {
        self.roots.binary_search_by(|root| root.as_slice().cmp(folder)).is_ok()
    }

    /// Whether a path is one of the folders or lies below one, with or without the kernel's mark for a removed one.
    fn lead_to(&self, path: &[u8]) -> bool {
        if self.roots.is_empty() || !path.starts_with(&self.prefix) {
            return false;
        }
        let mut ancestors = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &path[..at]);
        self.has(path)
            || path.strip_suffix(b" (deleted)").is_some_and(|path| self.has(path))
            || ancestors.any(|folder| self.has(folder))
    }
}

/// How the folders look in one mount namespace.
#[derive(Default)]
struct Elsewhere {
    namespace: Vec<u8>,
    /// What else they are called there.
    aliases: Names,
    mounted: bool,
}

/// One look's buffers and what it compares with.
pub struct Scan {
    scope: Scope,
    proc: OwnedFd,
    folders: Vec<PathBuf>,
    names: Names,
    sockets: HashSet<u64>,
    views: Views,
    /// Mount namespaces that were looked at; that of the process that is looked at.
    namespaces: Vec<Rc<Elsewhere>>,
    here: Rc<Elsewhere>,
    link: Box<[MaybeUninit<u8>; 4096 + 16]>,
    entries: Box<[MaybeUninit<u8>; ENTRIES]>,
    maps: Vec<u8>,
    mapped: Mapped,
}

impl Scan {
    /// For these folders, and the sockets that are bound in them.
    ///
    /// # Errors
    ///
    /// If there is no /proc.
    pub fn new(folders: &[PathBuf], sockets: HashSet<u64>, scope: Scope) -> Result<Self, Errno> {
        let proc = openat(CWD, c"/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self {
            scope,
            proc,
            folders: folders.to_vec(),
            names: Names::new(folders.iter()),
            sockets,
            views: Views::default(),
            namespaces: Vec::new(),
            here: Rc::default(),
            link: Box::new([MaybeUninit::uninit(); 4096 + 16]),
            entries: Box::new([MaybeUninit::uninit(); ENTRIES]),
            maps: Vec::new(),
            mapped: Mapped::new(),
        })
    }

    /// The processes that there are.
    ///
    /// # Errors
    ///
    /// If they can't be listed.
    pub fn pids(&mut self) -> Result<Vec<u32>, Errno> {
        let mut pids = Vec::with_capacity(512);
        let mut entries = RawDir::new(&self.proc, &mut self.entries[..]);
        while let Some(entry) = entries.next() {
            pids.extend(number(entry?.file_name().to_bytes()));
        }
        Ok(pids)
    }

    /// Whether a link of /proc leads into a root. `Err` if it can't be read.
    fn leads_in(&mut self, process: &OwnedFd, link: &CStr) -> Result<bool, Errno> {
        let (target, _) = readlinkat_raw(process, link, &mut self.link[..])?;
        Ok(self.names.lead_to(target) || self.here.aliases.lead_to(target))
    }

    /// Those of the processes that have to do with the roots.
    pub fn concerning(&mut self, pids: &[u32]) -> Vec<(u32, Concern)> {
        let asked = pids.iter().map(|&pid| (pid, self.concerns(pid)));
        asked.filter(|(_, concern)| *concern != Concern::None).collect()
    }

    /// What a process has to do with the roots. Where only its first thread is dead, the others live on, and /proc has
    /// them by number, too.
    pub fn concerns(&mut self, pid: u32) -> Concern {
        self.concerns_at(pid)
            .or_else(|| procfs::living_thread(pid).and_then(|(thread, _)| self.concerns_at(thread)))
            .unwrap_or(Concern::None)
    }

    /// `None` if it is gone, or dead.
    fn concerns_at(&mut self, pid: u32) -> Option<Concern> {
        // What is looked up in it costs less than with its number each time.
        let process = &open_folder(&self.proc, pid.to_string().as_str(), OFlags::PATH).ok()?;
        self.here = self.elsewhere(process, pid);
        match self.leads_in(process, c"cwd") {
            Ok(true) => return Some(Concern::Some),
            Ok(false) => {}
            Err(Errno::NOENT | Errno::SRCH) => return None,
            Err(_) => return Some(Concern::Unreadable),
        }
        match self.leads_in(process, c"exe") {
            Ok(true) => return Some(Concern::Some),
            Ok(false) => {}
            // A thread of the kernel has a cwd, and no program.
            Err(Errno::NOENT | Errno::SRCH) => return Some(Concern::None),
            Err(_) => return Some(Concern::Unreadable),
        }
        let concerns = self.leads_in(process, c"root").unwrap_or(false)
            || self.threads(process, pid)
            || self.descriptors(process)
            || self.here.mounted
            || (self.scope.mappings && self.mappings(process))
            || (self.scope.sandboxes && self.is_marked(pid));
        Some(if concerns { Concern::Some } else { Concern::None })
    }

    /// Whether a thread has a cwd or root of its own in a root.
    fn threads(&mut self, process: &OwnedFd, pid: u32) -> bool {
        // Each thread is a folder that links back, beside the two links that every folder has.
        let links = statat(process, c"task", AtFlags::empty()).map_or(0, |stat| stat.st_nlink);
        if links == 3 {
            return false;
        }
        let Ok(task) = open_folder(process, "task", OFlags::RDONLY) else { return false };
        let mut threads = Vec::new();
        {
            let mut entries = RawDir::new(&task, &mut self.entries[..]);
            while let Some(Ok(entry)) = entries.next() {
                threads.extend(number(entry.file_name().to_bytes()).filter(|thread| *thread != pid));
            }
        }
        threads.into_iter().any(|thread| {
            let Ok(thread) = open_folder(&task, thread.to_string().as_str(), OFlags::PATH) else { return false };
            self.leads_in(&thread, c"cwd").unwrap_or(false) || self.leads_in(&thread, c"root").unwrap_or(false)
        })
    }

    fn descriptors(&mut self, process: &OwnedFd) -> bool {
        let Ok(folder) = open_folder(process, "fd", OFlags::RDONLY) else { return false };
        let Self { entries, link, names, here, sockets, .. } = self;
        let mut entries = RawDir::new(&folder, &mut entries[..]);
        let mut seen = 0;
        while let Some(Ok(entry)) = entries.next() {
            seen += 1;
            let is_link = entry.file_name().to_bytes()[0] != b'.';
            if is_link && let Ok((target, _)) = readlinkat_raw(&folder, entry.file_name(), &mut link[..]) {
                let target: &[u8] = target;
                if names.lead_to(target) || here.aliases.lead_to(target) {
                    return true;
                }
                let socket = || procfs::socket_inode(Path::new(OsStr::from_bytes(target)));
                if !sockets.is_empty() && socket().is_some_and(|inode| sockets.contains(&inode)) {
                    return true;
                }
            }
            // The kernel gives all that there is room for: a buffer that is far from full was the last.
            if seen < SURELY_ALL && entries.is_buffer_empty() {
                return false;
            }
        }
        false
    }

    /// How the folders look in the process's mount namespace.
    fn elsewhere(&mut self, process: &OwnedFd, pid: u32) -> Rc<Elsewhere> {
        let Ok((namespace, _)) = readlinkat_raw(process, c"ns/mnt", &mut self.link[..]) else { return Rc::default() };
        let namespace: &[u8] = namespace;
        if let Some(known) = self.namespaces.iter().find(|known| known.namespace == namespace) {
            return Rc::clone(known);
        }
        let view = self.views.in_namespace(&OsString::from_vec(namespace.to_vec()), pid, &self.folders);
        let elsewhere = Rc::new(Elsewhere {
            namespace: namespace.to_vec(),
            aliases: Names::new(view.aliases.iter().map(|alias| &alias.seen)),
            mounted: !view.mounted.is_empty(),
        });
        self.namespaces.push(Rc::clone(&elsewhere));
        elsewhere
    }

    fn mappings(&mut self, process: &OwnedFd) -> bool {
        let Ok(file) = openat(process, c"maps", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else { return false };
        let Self { mapped, names, here, .. } = self;
        match mapped.any(&file, |path| names.lead_to(path) || here.aliases.lead_to(path)) {
            Err(Errno::NOTTY) => {}
            found => return found.unwrap_or(false),
        }
        self.maps.clear();
        loop {
            self.maps.reserve(32 * 1024);
            match rustix::io::read(&file, rustix::buffer::spare_capacity(&mut self.maps)) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
        has_path(&self.maps, &self.names) || has_path(&self.maps, &self.here.aliases)
    }

    /// Whether the process's environment has the mark of one of the roots.
    fn is_marked(&self, pid: u32) -> bool {
        procfs::mark(pid).is_some_and(|mark| self.names.has(mark.as_os_str().as_bytes()))
    }
}

fn open_folder(at: &OwnedFd, name: &str, how: OFlags) -> Result<OwnedFd, Errno> {
    openat(at, name, how | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Whether one of the lines of a whole /proc/PID/maps has a path in one of the folders.
fn has_path(maps: &[u8], names: &Names) -> bool {
    if names.prefix.is_empty() {
        return false;
    }
    let mut rest = maps;
    // The prefix is long enough to be rare; a line of maps has its path at the end.
    while let Some(at) = memchr::memmem::find(rest, &names.prefix) {
        let end = rest[at..].iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| at + end);
        if names.lead_to(&rest[at..end]) {
            return true;
        }
        rest = &rest[end..];
    }
    false
}

fn number(name: &[u8]) -> Option<u32> {
    // Most names that are no numbers show it at once.
    name.first().filter(|byte| byte.is_ascii_digit())?;
    std::str::from_utf8(name).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_in_a_root_by_whole_names_only() {
        let roots = ["/tmp/hp-a/1", "/tmp/hp-a/10", "/tmp/hp-a/2", "/tmp/hp-a/2-b"].map(PathBuf::from);
        let names = Names::new(roots.iter());
        let inside = |path: &str| names.lead_to(path.as_bytes());
        for path in
            ["/tmp/hp-a/1", "/tmp/hp-a/1/work", "/tmp/hp-a/10/x", "/tmp/hp-a/2 (deleted)", "/tmp/hp-a/2/y (deleted)"]
        {
            assert!(inside(path), "{path}");
        }
        for path in ["/tmp/hp-a/11", "/tmp/hp-a/3", "/tmp/hp-a", "/tmp/hp-a/2x", "/tmp/hp-a/10x/y"] {
            assert!(!inside(path), "{path}");
        }
    }
}
