//! The look at every process of the machine: who has anything in these folders?
//!
//! Only the links' texts are compared here, with raw system calls and no allocation per link, since this is what costs
//! time on a machine with thousands of processes. A process that has something is then read in full.

use std::collections::HashSet;
use std::ffi::{CStr, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::thread::{Builder, available_parallelism};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RawDir, openat, readlinkat_raw, statat};
use rustix::io::Errno;

use super::super::{Look, Stranger, Unread};
use super::mapped::Mapped;
use super::procfs::{self, Credentials, Wanted};
use super::{mounts, sockets};

/// Looks for holders, again and again.
pub struct Watcher {
    scope: Scope,
    /// Sockets that were bound before this watcher was made.
    sockets: HashSet<u64>,
}

impl Watcher {
    /// For sandboxes that will be made from now on: what is bound by now is left out of every later look.
    #[must_use]
    pub fn of_sandboxes() -> Self {
        Self { scope: Scope { sandboxes: true, mappings: true, threads: false }, sockets: sockets::all_inodes() }
    }

    /// For folders that have been there. To leave mappings out is faster, and misses files that are mapped and not open.
    #[must_use]
    pub fn of_folders(mappings: bool) -> Self {
        Self { scope: Scope { sandboxes: false, mappings, threads: true }, sockets: HashSet::new() }
    }

    /// Looks at every process but this one and its supervisors.
    pub fn look(&self, roots: &[PathBuf]) -> Look {
        let mut left_out = super::lane::own();
        left_out.insert(std::process::id());
        let mut look = Look::default();
        if !self.scope.sandboxes {
            look.mounts = mounts::in_roots(std::process::id(), roots);
            look.mounts.sort();
            look.mounts.dedup();
        }
        let mine = Credentials::of(std::process::id());
        let bound = sockets::bound(roots, &self.sockets).unwrap_or_else(|error| {
            look.blind.push(format!("bound sockets: {error}"));
            sockets::Bound::new()
        });
        let inodes: HashSet<u64> = bound.keys().copied().collect();
        let wanted = Wanted::in_roots(roots, &bound);
        let mut scan = match Scan::new(roots, inodes.clone(), self.scope) {
            Ok(scan) => scan,
            Err(error) => {
                look.blind.push(format!("/proc: {}", io::Error::from(error)));
                return look;
            }
        };
        let pids = match scan.pids() {
            Ok(pids) => pids,
            Err(error) => {
                look.blind.push(format!("/proc: {}", io::Error::from(error)));
                return look;
            }
        };
        let pids: Vec<u32> = pids.into_iter().filter(|pid| !left_out.contains(pid)).collect();
        let threads = if self.scope.threads { available_parallelism().map_or(1, NonZero::get) } else { 1 };
        let share = pids.len().div_ceil(threads).max(WORTH_A_THREAD);
        let (mine_to_ask, others) = pids.split_at(share.min(pids.len()));
        let new_scan = || Scan::new(roots, inodes.clone(), self.scope);
        let found = std::thread::scope(|scope| {
            let asking: Vec<_> = others
                .chunks(share)
                .map(|share| (share, Builder::new().spawn_scoped(scope, || Some(new_scan().ok()?.concerning(share)))))
                .collect();
            let mut found = scan.concerning(mine_to_ask);
            for (share, thread) in asking {
                // A thread that could not be had leaves its share to this one.
                let told = thread.ok().and_then(|thread| thread.join().ok()).flatten();
                found.extend(told.unwrap_or_else(|| scan.concerning(share)));
            }
            found
        });
        for (pid, concern) in found {
            match concern {
                Concern::None => {}
                Concern::Some => look.strangers.extend(stranger(pid, &wanted)),
                Concern::Unreadable => {
                    let Some(its) = Credentials::of(pid) else { continue };
                    let privileged = mine.is_some_and(|mine| its.exceed(&mine));
                    if !privileged || (!self.scope.sandboxes && !is_kernel_thread(pid)) {
                        look.unread.push(Unread { pid, uid: its.uid, argv: procfs::argv_of(pid), privileged });
                    }
                }
            }
        }
        look
    }

    /// Reads one process again. `None` if it is gone or holds nothing any more.
    pub fn look_again(&self, pid: u32, roots: &[PathBuf]) -> Option<Stranger> {
        let bound = sockets::bound(roots, &self.sockets).unwrap_or_default();
        let wanted = Wanted::in_roots(roots, &bound);
        stranger(pid, &wanted)
    }
}

/// Whether a process is a thread of the kernel, which holds nothing. To others it is as closed as any of root's.
fn is_kernel_thread(pid: u32) -> bool {
    const PF_KTHREAD: u32 = 0x0020_0000;
    let stat = std::fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
    let stat = String::from_utf8_lossy(&stat);
    // The flags are the seventh field behind the name.
    let flags = stat.rsplit(')').next().and_then(|rest| rest.split_ascii_whitespace().nth(6)?.parse().ok());
    flags.is_some_and(|flags: u32| flags & PF_KTHREAD != 0)
}

/// Reads a process that holds something or carries a mark. `None` if it does neither any more.
fn stranger(pid: u32, wanted: &Wanted<'_>) -> Option<Stranger> {
    let mut process = procfs::read(pid, wanted)?;
    let marked = procfs::mark(pid).filter(|mark| wanted.roots.contains(mark));
    if process.state.as_deref() == Some("zombie") || (process.holds.is_empty() && marked.is_none()) {
        return None;
    }
    process.parents = procfs::ancestors(pid);
    Some(Stranger { process, marked })
}

/// Ends a process that carries a check's mark. `false` if it is gone, or is another one by now.
pub fn end_stranger(stranger: &Stranger) -> bool {
    let pid = stranger.process.pid;
    let Some(raw) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else { return false };
    // The descriptor stays with the process that is looked at next, whatever becomes of its number.
    let Ok(fd) = rustix::process::pidfd_open(raw, rustix::process::PidfdFlags::empty()) else { return false };
    let same = procfs::started_ms(pid) == stranger.process.started_ms && procfs::mark(pid) == stranger.marked;
    same && rustix::process::pidfd_send_signal(&fd, rustix::process::Signal::KILL).is_ok()
}

/// Waits until one of the processes ends, at most so long.
pub fn wait_for_an_end(pids: &[u32], limit: Duration) {
    let open = |pid: &u32| {
        let pid = i32::try_from(*pid).ok().and_then(rustix::process::Pid::from_raw)?;
        rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
    };
    let fds: Vec<OwnedFd> = pids.iter().filter_map(open).collect();
    if fds.len() < pids.len() {
        // One has ended already.
        return;
    }
    let mut fds: Vec<PollFd<'_>> = fds.iter().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
    let _ = poll(&mut fds, Timespec::try_from(limit).ok().as_ref());
}

/// The time since the machine started, as process start times are told in.
#[must_use]
pub fn since_start() -> Option<Duration> {
    Some(Duration::from_millis(super::clock::boot_ms()))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Concern {
    None,
    Some,
    Unreadable,
}

/// How many processes are worth a thread of their own.
const WORTH_A_THREAD: usize = 200;
/// How many bytes of a folder are read at once.
const ENTRIES: usize = 8192;
/// So many descriptors take less than half of that: an entry with a number for a name has 32 bytes at most.
const SURELY_ALL: usize = ENTRIES / 2 / 32;

/// What is looked at beside links.
#[derive(Debug, Clone, Copy)]
struct Scope {
    /// Whether the folders are a run's sandboxes: new, and this user's own. What carries the mark of one is told, too.
    sandboxes: bool,
    mappings: bool,
    /// Whether the look may take every processor: not while checks run on them.
    threads: bool,
}

/// One look's buffers and what it compares with.
struct Scan {
    scope: Scope,
    proc: OwnedFd,
    /// The roots as bytes, sorted, and what all of them begin with.
    roots: Vec<Vec<u8>>,
    prefix: Vec<u8>,
    sockets: HashSet<u64>,
    namespace: Vec<u8>,
    /// Mount namespaces that were looked at, and whether something is mounted in a root there.
    namespaces: Vec<(Vec<u8>, bool)>,
    link: Box<[MaybeUninit<u8>; 4096 + 16]>,
    entries: Box<[MaybeUninit<u8>; ENTRIES]>,
    maps: Vec<u8>,
    mapped: Mapped,
}

impl Scan {
    fn new(roots: &[PathBuf], sockets: HashSet<u64>, scope: Scope) -> Result<Self, Errno> {
        let proc = openat(CWD, c"/proc", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        let mut roots: Vec<Vec<u8>> = roots.iter().map(|root| root.as_os_str().as_bytes().to_vec()).collect();
        roots.sort();
        let prefix = match (roots.first(), roots.last()) {
            (Some(first), Some(last)) => {
                let common = first.iter().zip(last).take_while(|(a, b)| a == b).count();
                first[..common].to_vec()
            }
            _ => Vec::new(),
        };
        let mut scan = Self {
            scope,
            proc,
            roots,
            prefix,
            sockets,
            namespace: Vec::new(),
            namespaces: Vec::new(),
            link: Box::new([MaybeUninit::uninit(); 4096 + 16]),
            entries: Box::new([MaybeUninit::uninit(); ENTRIES]),
            maps: Vec::new(),
            mapped: Mapped::new(),
        };
        let (namespace, _) = readlinkat_raw(&scan.proc, c"self/ns/mnt", &mut scan.link[..])?;
        scan.namespace = namespace.to_vec();
        Ok(scan)
    }

    fn pids(&mut self) -> Result<Vec<u32>, Errno> {
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
        Ok(in_roots(target, &self.prefix, &self.roots))
    }

    /// Those of the processes that have to do with the roots.
    fn concerning(&mut self, pids: &[u32]) -> Vec<(u32, Concern)> {
        let asked = pids.iter().map(|&pid| (pid, self.concerns(pid)));
        asked.filter(|(_, concern)| *concern != Concern::None).collect()
    }

    /// What a process has to do with the roots. Where only its first thread is dead, the others live on, and /proc has
    /// them by number, too.
    fn concerns(&mut self, pid: u32) -> Concern {
        self.concerns_at(pid)
            .or_else(|| procfs::living_thread(pid).and_then(|(thread, _)| self.concerns_at(thread)))
            .unwrap_or(Concern::None)
    }

    /// `None` if it is gone, or dead.
    fn concerns_at(&mut self, pid: u32) -> Option<Concern> {
        // What is looked up in it costs less than with its number each time.
        let process = &open_folder(&self.proc, pid.to_string().as_str(), OFlags::PATH).ok()?;
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
            || self.mounts(process, pid)
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
        let Self { entries, link, prefix, roots, sockets, .. } = self;
        let mut entries = RawDir::new(&folder, &mut entries[..]);
        let mut seen = 0;
        while let Some(Ok(entry)) = entries.next() {
            seen += 1;
            let is_link = entry.file_name().to_bytes()[0] != b'.';
            if is_link && let Ok((target, _)) = readlinkat_raw(&folder, entry.file_name(), &mut link[..]) {
                let target: &[u8] = target;
                if in_roots(target, prefix, roots) {
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

    /// Whether something is mounted in a root in the process's own mount namespace. The namespace that this process is
    /// in is left out: what is mounted there shows when the sandbox is removed.
    fn mounts(&mut self, process: &OwnedFd, pid: u32) -> bool {
        let Ok((namespace, _)) = readlinkat_raw(process, c"ns/mnt", &mut self.link[..]) else { return false };
        let namespace: &[u8] = namespace;
        if namespace == self.namespace {
            return false;
        }
        if let Some((_, concerns)) = self.namespaces.iter().find(|(known, _)| known == namespace) {
            return *concerns;
        }
        let namespace = namespace.to_vec();
        let roots: Vec<PathBuf> = self.roots.iter().map(|root| PathBuf::from(OsStr::from_bytes(root))).collect();
        let concerns = !mounts::in_roots(pid, &roots).is_empty();
        self.namespaces.push((namespace, concerns));
        concerns
    }

    fn mappings(&mut self, process: &OwnedFd) -> bool {
        let Ok(file) = openat(process, c"maps", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()) else { return false };
        let Self { mapped, prefix, roots, .. } = self;
        match mapped.any(&file, |path| in_roots(path, prefix, roots)) {
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
        let mut rest = self.maps.as_slice();
        // The prefix is long enough to be rare; a line of maps has its path at the end.
        while let Some(at) = find(rest, &self.prefix) {
            let end = rest[at..].iter().position(|&byte| byte == b'\n').map_or(rest.len(), |end| at + end);
            if in_roots(&rest[at..end], &self.prefix, &self.roots) {
                return true;
            }
            rest = &rest[end..];
        }
        false
    }

    /// Whether the process's environment has the mark of one of the roots.
    fn is_marked(&self, pid: u32) -> bool {
        procfs::mark(pid).is_some_and(|mark| {
            let mark = mark.as_os_str().as_bytes();
            self.roots.binary_search_by(|root| root.as_slice().cmp(mark)).is_ok()
        })
    }
}

fn open_folder(at: &OwnedFd, name: &str, how: OFlags) -> Result<OwnedFd, Errno> {
    openat(at, name, how | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

fn find(text: &[u8], pattern: &[u8]) -> Option<usize> {
    if pattern.is_empty() {
        return None;
    }
    memchr::memmem::find(text, pattern)
}

fn number(name: &[u8]) -> Option<u32> {
    // Most names that are no numbers show it at once.
    name.first().filter(|byte| byte.is_ascii_digit())?;
    std::str::from_utf8(name).ok()?.parse().ok()
}

/// Whether a path is one of the roots or lies below one, with or without the kernel's mark for a removed one.
fn in_roots(path: &[u8], prefix: &[u8], roots: &[Vec<u8>]) -> bool {
    if !path.starts_with(prefix) {
        return false;
    }
    let is_root = |path: &[u8]| roots.binary_search_by(|root| root.as_slice().cmp(path)).is_ok();
    let ancestors = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &path[..at]);
    is_root(path) || path.strip_suffix(b" (deleted)").is_some_and(is_root) || ancestors.into_iter().any(is_root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_in_a_root_by_whole_names_only() {
        let roots: Vec<Vec<u8>> =
            [&b"/tmp/hp-a/1"[..], b"/tmp/hp-a/10", b"/tmp/hp-a/2", b"/tmp/hp-a/2-b"].map(<[u8]>::to_vec).into();
        let inside = |path: &str| in_roots(path.as_bytes(), b"/tmp/hp-a/", &roots);
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
