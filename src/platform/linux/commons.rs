//! What a job's processes use that is there once for everybody: ports, sockets, locks, shared memory, files outside the
//! sandbox. Where the filter asks, it is told when they are about to; what else there is, is looked at again and again while
//! the job runs, and what is there for less than some milliseconds can go unseen.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::Job;
use super::procfs;
use super::tree;
use crate::model::{Shared, SharedKind, SharedUse};

/// How long is waited between two looks at least, and how many times what the last one cost: a tenth of a processor at most.
const PAUSE: Duration = Duration::from_millis(5);
const SHARE: u32 = 9;
/// How many things are told of at most that a process of the job was seen with, and how many that only changed.
const KEPT: usize = 1000;
/// What the system is made of, and no check makes.
const SYSTEMS: [&str; 3] = ["/proc", "/sys", "/dev"];
/// The files in memory that programs share.
const MEMORY: &str = "/dev/shm";

/// What was seen so far.
pub struct Commons {
    /// The job's own folder.
    root: Option<PathBuf>,
    /// Folders in it that are told of all the same: others may have the same.
    except: Vec<PathBuf>,
    /// Whether whoever uses something is asked before: what only changes is somebody else's then.
    asked: bool,
    next: Instant,
    /// With whether a process of the job was seen with it.
    things: BTreeMap<(SharedKind, String), bool>,
    /// How many were taken in without and with one. What others do on the machine is not to take the place of the job's own.
    taken: [usize; 2],
    unseen: Option<String>,
}

/// What processes have open.
#[derive(Default)]
struct Open {
    sockets: HashSet<u64>,
    /// By inode: the device, and the name.
    files: HashMap<u64, (u64, PathBuf)>,
}

impl Commons {
    /// Nothing was seen yet of a job.
    pub fn of(job: &Job) -> Self {
        let root = job.roots.first().cloned();
        let is_in = |folder: &&PathBuf| root.as_ref().is_some_and(|root| folder.starts_with(root));
        let except = job.shared.iter().map(|(folder, _)| folder).filter(is_in).cloned().collect();
        Self { root, except, asked: false, next: Instant::now(), things: BTreeMap::new(), taken: [0; 2], unseen: None }
    }

    /// From now on whoever uses something is asked before.
    pub fn are_asked(&mut self) {
        self.asked = true;
    }

    /// A process of the job is about to use that.
    pub fn claimed(&mut self, kind: SharedKind, name: &str) {
        let path = Path::new(name);
        let is_file = matches!(kind, SharedKind::Path | SharedKind::Lock | SharedKind::Socket) && path.is_absolute();
        if is_file && (is_of_the_system(path) || self.is_own(path)) {
            return;
        }
        match kind {
            SharedKind::Path => self.path(path, true),
            kind => self.take(kind, name.to_owned(), true),
        }
    }

    /// When the next look is due.
    pub fn look_at(&self) -> Instant {
        self.next
    }

    /// Says why not all was seen; the first reason counts.
    pub fn note_unseen(&mut self, why: &str) {
        self.unseen.get_or_insert_with(|| why.to_owned());
    }

    /// Something changed under this name; `seen` if a process of the job did it.
    pub fn path(&mut self, path: &Path, seen: bool) {
        let kind = if path.starts_with(MEMORY) { SharedKind::Memory } else { SharedKind::Path };
        self.take(kind, path.to_string_lossy().into_owned(), seen);
    }

    fn take(&mut self, kind: SharedKind, name: String, seen: bool) {
        // Whoever is asked about all that the job does knows that this is somebody else's.
        if self.asked && !seen {
            return;
        }
        let thing = (kind, name);
        if let Some(known) = self.things.get_mut(&thing) {
            *known |= seen;
        } else if self.taken[usize::from(seen)] < KEPT {
            self.taken[usize::from(seen)] += 1;
            self.things.insert(thing, seen);
        } else {
            self.note_unseen(&format!("there was more than {KEPT} things"));
        }
    }

    /// Looks at the job's processes, if that is due.
    pub fn look(&mut self) {
        if Instant::now() < self.next {
            return;
        }
        let began = processor_time();
        let processes = tree::descendants(std::process::id());
        let mut open = Open::default();
        for &pid in &processes {
            self.descriptors(pid, &mut open);
            self.mappings(pid);
        }
        if !open.sockets.is_empty() {
            self.ports(&open.sockets);
            self.sockets(&open.sockets);
        }
        if !open.files.is_empty() {
            self.locks(&open.files, &processes);
        }
        self.next = Instant::now() + PAUSE.max(processor_time().saturating_sub(began) * SHARE);
    }

    fn is_own(&self, path: &Path) -> bool {
        let is_below = |folder: &PathBuf| path.starts_with(folder);
        self.root.as_ref().is_some_and(is_below) && !self.except.iter().any(is_below)
    }

    fn descriptors(&mut self, pid: u32, open: &mut Open) {
        // What /proc gives the link of a descriptor that can be written to.
        const WRITABLE: u32 = 0o200;
        let entries = match fs::read_dir(format!("/proc/{pid}/fd")) {
            Ok(entries) => entries,
            Err(error) => {
                if error.kind() == std::io::ErrorKind::PermissionDenied {
                    self.note_unseen("a process of another user could not be looked into");
                }
                return;
            }
        };
        for link in entries.flatten().map(|entry| entry.path()) {
            let Ok(target) = fs::read_link(&link) else { continue };
            if let Some(inode) = procfs::socket_inode(&target) {
                open.sockets.insert(inode);
                continue;
            }
            if !target.is_absolute() || is_of_the_system(&target) || self.is_own(&target) {
                continue;
            }
            // The file itself: it can have been removed, or have another name by now.
            let Some(file) = fs::metadata(&link).ok().filter(fs::Metadata::is_file) else { continue };
            let name = target.to_string_lossy();
            let target = PathBuf::from(name.strip_suffix(" (deleted)").unwrap_or(&name));
            if fs::symlink_metadata(&link).is_ok_and(|link| link.mode() & WRITABLE != 0) {
                self.path(&target, true);
            }
            open.files.insert(file.ino(), (file.dev(), target));
        }
    }

    /// Shared memory that is mapped, and closed again: files, and segments of System V by their keys.
    fn mappings(&mut self, pid: u32) {
        let Ok(maps) = fs::read_to_string(format!("/proc/{pid}/maps")) else { return };
        for name in maps.lines().filter_map(|line| line.find('/').map(|at| &line[at..])) {
            let name = name.strip_suffix(" (deleted)").unwrap_or(name);
            if let Some(key) = name.strip_prefix("/SYSV") {
                if key != "00000000" {
                    self.take(SharedKind::Memory, format!("with the key 0x{key}"), true);
                }
            } else if Path::new(name).starts_with(MEMORY) && !self.is_own(Path::new(name)) {
                self.take(SharedKind::Memory, name.to_owned(), true);
            }
        }
    }

    fn ports(&mut self, own: &HashSet<u64>) {
        for (table, kind) in
            [("tcp", SharedKind::Tcp), ("tcp6", SharedKind::Tcp), ("udp", SharedKind::Udp), ("udp6", SharedKind::Udp)]
        {
            match fs::read_to_string(format!("/proc/self/net/{table}")) {
                Ok(text) => {
                    for address in text.lines().skip(1).filter_map(|line| bound(line, kind, own)) {
                        self.take(kind, address.to_string(), true);
                    }
                }
                // Without that version of the protocol.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => self.note_unseen(&format!("/proc/net/{table}: {error}")),
            }
        }
    }

    fn sockets(&mut self, own: &HashSet<u64>) {
        let Ok(text) = fs::read("/proc/self/net/unix") else { return };
        for line in String::from_utf8_lossy(&text).lines().skip(1) {
            let Some((inode, name)) = unix_socket(line) else { continue };
            // One that is relative to where it was bound is told whole where everybody is asked.
            let is_whole = name.starts_with(['/', '@']) || !self.asked;
            if own.contains(&inode) && is_whole && !self.is_own(Path::new(name)) {
                self.take(SharedKind::Socket, name.to_owned(), true);
            }
        }
    }

    fn locks(&mut self, files: &HashMap<u64, (u64, PathBuf)>, processes: &[u32]) {
        let Ok(text) = fs::read_to_string("/proc/locks") else {
            return self.note_unseen("/proc/locks could not be read");
        };
        for lock in text.lines().filter_map(Lock::of) {
            let Some((device, path)) = files.get(&lock.inode) else { continue };
            // Some file systems have another device here than their files say.
            if lock.pid.is_some_and(|pid| processes.contains(&pid)) || lock.device == *device {
                self.take(SharedKind::Lock, path.to_string_lossy().into_owned(), true);
            }
        }
    }

    /// All that was seen, given which paths a process of the job is known to write to.
    pub fn into_use(self, is_written: impl Fn(&Path) -> bool) -> SharedUse {
        let thing = |((kind, name), seen): ((SharedKind, String), bool)| {
            let seen = seen || is_written(Path::new(&name));
            Shared { kind, name, seen }
        };
        SharedUse { things: self.things.into_iter().map(thing).collect(), unseen: self.unseen }
    }
}

/// Whether it is what the system is made of.
fn is_of_the_system(path: &Path) -> bool {
    SYSTEMS.iter().any(|folder| path.starts_with(folder)) && !path.starts_with(MEMORY)
}

/// What this thread has had of the processor: on a busy machine, far less than passes meanwhile.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// A lock as `/proc/locks` has it, that somebody has or waits for.
struct Lock {
    /// Who took it; not told of one that goes with an open file.
    pid: Option<u32>,
    device: u64,
    inode: u64,
}

impl Lock {
    /// As in `1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF`, with `->` before the kind of one that is waited for.
    fn of(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace().skip(1).skip_while(|word| *word == "->").skip(3);
        let pid = words.next()?.parse().ok();
        let mut file = words.next()?.split(':');
        let mut hex = || u32::from_str_radix(file.next()?, 16).ok();
        let device = rustix::fs::makedev(hex()?, hex()?);
        Some(Self { pid, device, inode: file.next()?.parse().ok()? })
    }
}

/// The address that a socket is bound to, by a line of `/proc/net/tcp` or one like it: of a TCP socket that listens, and of a
/// UDP socket that is connected to nobody.
fn bound(line: &str, kind: SharedKind, own: &HashSet<u64>) -> Option<SocketAddr> {
    const LISTENS: &str = "0A";
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let (local, remote, state) = (words.get(1)?, words.get(2)?, words.get(3)?);
    if !own.contains(&words.get(9)?.parse().ok()?) {
        return None;
    }
    let is_bound = if kind == SharedKind::Tcp { *state == LISTENS } else { remote.ends_with(":0000") };
    is_bound.then(|| address(local)).flatten()
}

/// As in `0100007F:1F90`: each 32 bits of the address as a number of this machine.
fn address(text: &str) -> Option<SocketAddr> {
    let (host, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| Some(u32::from_str_radix(host.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    let host: IpAddr = match host.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let mut bytes = [0; 16];
            for (at, four) in bytes.chunks_exact_mut(4).enumerate() {
                four.copy_from_slice(&word(at * 8)?);
            }
            Ipv6Addr::from(bytes).into()
        }
        _ => return None,
    };
    Some(SocketAddr::new(host, port))
}

/// Inode and name of a socket that has a name of its own choice, by a line of `/proc/net/unix`.
fn unix_socket(line: &str) -> Option<(u64, &str)> {
    let mut rest = line;
    let mut word = || {
        let (word, behind) = rest.trim_start().split_once(' ').unwrap_or((rest.trim_start(), ""));
        rest = behind;
        word
    };
    let inode = (0..7).map(|_| word()).last()?.parse().ok()?;
    let name = rest.trim_start();
    // The kernel gives five digits to who wants any name.
    let is_any = name.strip_prefix('@').is_some_and(|name| {
        name.len() == 5 && name.bytes().all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
    });
    (!name.is_empty() && !is_any).then_some((inode, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_do_takes_no_place_from_what_the_job_does() {
        let of = |asked| {
            let mut commons = Commons::of(&Job::new(PathBuf::new(), Vec::new(), Path::new("/s"), Duration::ZERO));
            if asked {
                commons.are_asked();
            }
            for number in 0..=KEPT {
                commons.path(Path::new(&format!("/tmp/{number}")), false);
            }
            commons.claimed(SharedKind::Path, "/tmp/own");
            commons.claimed(SharedKind::Path, "/s/work/own");
            let used = commons.into_use(|_| false);
            assert!(used.things.iter().any(|shared| shared.name == "/tmp/own" && shared.seen));
            (used.things.len(), used.unseen.is_some())
        };
        assert_eq!(of(false), (KEPT + 1, true));
        assert_eq!(of(true), (1, false));
    }

    #[test]
    fn lines_of_the_kernel_are_read() {
        let own = HashSet::from([77]);
        let line = |local: &str, remote: &str, state: &str| {
            format!("   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000     0        0 77 1 0 100")
        };
        let here = u32::from_ne_bytes([127, 0, 0, 1]);
        let listens = line(&format!("{here:08X}:1F90"), "00000000:0000", "0A");
        assert_eq!(bound(&listens, SharedKind::Tcp, &own).map(|it| it.to_string()).as_deref(), Some("127.0.0.1:8080"));
        assert_eq!(bound(&listens, SharedKind::Tcp, &HashSet::new()), None, "somebody else's");
        assert_eq!(bound(&line("0100007F:1F90", "0100007F:0016", "01"), SharedKind::Tcp, &own), None, "connected");
        let six = line(&format!("{:032X}:0035", 0), &format!("{:032X}:0000", 0), "07");
        assert_eq!(bound(&six, SharedKind::Udp, &own).map(|it| it.to_string()).as_deref(), Some("[::]:53"));

        let socket = |name: &str| format!("0000000000000000: 00000002 00000000 00010000 0001 01 12345 {name}");
        assert_eq!(unix_socket(&socket("@guard of tests")), Some((12345, "@guard of tests")));
        assert_eq!(unix_socket(&socket("/tmp/guard.sock")), Some((12345, "/tmp/guard.sock")));
        assert_eq!(unix_socket(&socket("@0001f")), None, "any name");
        assert_eq!(unix_socket("0000000000000000: 00000002 00000000 00010000 0001 01 12345"), None);

        let lock = |line: &str| Lock::of(line).map(|lock| (lock.pid, lock.device, lock.inode));
        let device = rustix::fs::makedev(8, 1);
        assert_eq!(lock("1: FLOCK  ADVISORY  WRITE 1234 08:01:5678 0 EOF"), Some((Some(1234), device, 5678)));
        assert_eq!(lock("1: -> POSIX  ADVISORY  READ 9 08:01:5678 0 EOF"), Some((Some(9), device, 5678)));
        assert_eq!(lock("2: OFDLCK ADVISORY  WRITE -1 08:01:5678 0 EOF"), Some((None, device, 5678)));
    }
}
