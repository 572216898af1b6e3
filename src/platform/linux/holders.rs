//! The look at every process of the machine: who has anything in these folders?

use std::collections::HashSet;
use std::io;
use std::num::NonZero;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::thread::{Builder, available_parallelism};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::super::unix::lane;
use super::super::{Look, Stranger, Unread};
use super::procfs::{self, Credentials, Wanted};
use super::scan::{Concern, Scan, Scope};
use super::{argv, mounts, sockets};

/// How many processes are worth a thread of their own.
const WORTH_A_THREAD: usize = 200;

/// Looks for holders, again and again.
pub struct Watcher {
    scope: Scope,
    /// Whether a look may take every processor: not while checks run on them.
    threads: bool,
    /// Sockets that were bound before this watcher was made.
    sockets: HashSet<u64>,
}

impl Watcher {
    /// For sandboxes that will be made from now on: what is bound by now is left out of every later look.
    #[must_use]
    pub fn of_sandboxes() -> Self {
        let scope = Scope { sandboxes: true, mappings: true };
        Self { scope, threads: false, sockets: sockets::all_inodes() }
    }

    /// For folders that have been there. To leave mappings out is faster, and misses files that are mapped and not open.
    #[must_use]
    pub fn of_folders(mappings: bool) -> Self {
        Self { scope: Scope { sandboxes: false, mappings }, threads: true, sockets: HashSet::new() }
    }

    /// Looks at every process but this one and its supervisors.
    pub fn look(&self, roots: &[PathBuf]) -> Look {
        let mut left_out = lane::own();
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
        let threads = if self.threads { available_parallelism().map_or(1, NonZero::get) } else { 1 };
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
                    let of_interest = |unread: &Unread| {
                        !unread.privileged || (!self.scope.sandboxes && !is_kernel_thread(unread.pid))
                    };
                    look.unread.extend(unread(pid, mine.as_ref()).filter(of_interest));
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

/// A process that may not be looked into by one with these credentials. `None` if it is gone.
pub fn unread(pid: u32, mine: Option<&Credentials>) -> Option<Unread> {
    let its = Credentials::of(pid)?;
    let privileged = mine.is_some_and(|mine| its.exceed(mine));
    Some(Unread { pid, uid: its.uid, argv: argv::argv_of(pid), privileged })
}

/// Whether a process is a thread of the kernel, which holds nothing. To others it is as closed as any of root's.
pub fn is_kernel_thread(pid: u32) -> bool {
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
