//! The look at every process of the machine: who has anything in these folders?

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::super::unix::lane;
use super::super::{Look, Stranger, Unread};
use super::process::{self, Wanted};
use super::sys::{self, ProcArgsBuffer, Status};
use super::{clock, family};

/// Looks for holders, again and again.
pub struct Watcher {
    /// Whether the folders are a run's sandboxes: new, and this user's own. What carries the mark of one is told, too.
    sandboxes: bool,
    mappings: bool,
}

impl Watcher {
    /// For sandboxes that will be made from now on.
    #[must_use]
    pub fn of_sandboxes() -> Self {
        Self { sandboxes: true, mappings: true }
    }

    /// For folders that have been there. To leave mappings out is faster, and misses files that are mapped and not open.
    #[must_use]
    pub fn of_folders(mappings: bool) -> Self {
        Self { sandboxes: false, mappings }
    }

    /// Looks at every process but this one and its supervisors.
    pub fn look(&self, roots: &[PathBuf]) -> Look {
        let mut left_out = lane::own();
        left_out.insert(std::process::id());
        let mut look = Look::default();
        if !self.sandboxes {
            let points = sys::mounts().into_iter().map(|mount| mount.point);
            look.mounts = points.filter(|point| roots.iter().any(|root| point.starts_with(root))).collect();
            look.mounts.sort();
            look.mounts.dedup();
        }
        let pids = match sys::pids() {
            Ok(pids) => pids,
            Err(error) => {
                look.blind.push(format!("the list of processes: {error}"));
                return look;
            }
        };
        let mut room = ProcArgsBuffer::new();
        let wanted = Wanted::in_roots(roots, self.mappings);
        for pid in pids.into_iter().filter(|pid| !left_out.contains(pid)) {
            match process::find(pid, &wanted, &mut room) {
                Ok(found) => {
                    let concerns = !found.holds.is_empty()
                        || (self.sandboxes && process::mark(pid, &mut room).is_some_and(|mark| roots.contains(&mark)));
                    if concerns {
                        look.strangers.extend(stranger(pid, &wanted, &mut room));
                    }
                }
                Err(error) if process::is_gone(&error) => {}
                Err(_) => {
                    let of_interest = |unread: &Unread| !unread.privileged || !self.sandboxes;
                    look.unread.extend(unread(pid, &mut room).filter(of_interest));
                }
            }
        }
        look
    }

    /// Reads one process again. `None` if it is gone or holds nothing any more.
    pub fn look_again(&self, pid: u32, roots: &[PathBuf]) -> Option<Stranger> {
        stranger(pid, &Wanted::in_roots(roots, self.mappings), &mut ProcArgsBuffer::new())
    }
}

/// A process that may not be looked into. `None` if it is gone, or dead.
fn unread(pid: u32, room: &mut ProcArgsBuffer) -> Option<Unread> {
    let status = Status::of(pid).ok().filter(|status| !status.dead)?;
    let privileged = status.uid == 0 && !rustix::process::geteuid().is_root();
    Some(Unread { pid, uid: status.uid, argv: process::argv_of(pid, room), privileged })
}

/// Reads a process that holds something or carries a mark. `None` if it does neither any more.
fn stranger(pid: u32, wanted: &Wanted<'_>, room: &mut ProcArgsBuffer) -> Option<Stranger> {
    let mut process = process::read(pid, wanted, room)?;
    let marked = process::mark(pid, room).filter(|mark| wanted.roots.contains(mark));
    if process.state.as_deref() == Some("zombie") || (process.holds.is_empty() && marked.is_none()) {
        return None;
    }
    process.parents = process::ancestors(pid, room);
    Some(Stranger { process, marked })
}

/// Ends a process that carries a check's mark. `false` if it is gone, or is another one by now.
///
/// It is looked at directly before: this system has no handle that would stay with it.
pub fn end_stranger(stranger: &Stranger) -> bool {
    let pid = stranger.process.pid;
    let Ok(seen) = sys::seen(pid) else { return false };
    let same = clock::started_ms(pid) == stranger.process.started_ms
        && process::mark(pid, &mut ProcArgsBuffer::new()) == stranger.marked;
    same && family::is_still(&seen) && family::send(pid, Signal::KILL)
}

/// Waits until one of the processes ends, at most so long.
pub fn wait_for_an_end(pids: &[u32], limit: Duration) {
    let deadline = Instant::now() + limit;
    let Ok(queue) = sys::queue() else { return std::thread::sleep(limit) };
    if pids.iter().any(|&pid| sys::watch_end(&queue, pid).is_err()) {
        // One has ended already.
        return;
    }
    sys::wait(&queue, deadline.saturating_duration_since(Instant::now()));
}

/// The time since the machine started, as process start times are told in.
#[must_use]
pub fn since_start() -> Option<Duration> {
    sys::boot_us().map(|_| Duration::from_millis(clock::boot_ms()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_marked_holder_is_found_ended_and_waited_for() {
        let folder = tempfile::tempdir().expect("a tempdir");
        let roots = [fs::canonicalize(folder.path()).expect("a real path")];
        let mut command = Command::new("python3");
        command.args(["-c", "import time; time.sleep(50)"]).current_dir(&roots[0]).env("HOSTPROOF_SANDBOX", &roots[0]);
        let mut child = command.spawn().expect("python3");
        let look = Watcher::of_sandboxes().look(&roots);
        let stranger = look.strangers.iter().find(|stranger| stranger.process.pid == child.id()).cloned();
        let ended = stranger.as_ref().is_some_and(end_stranger);
        wait_for_an_end(&[child.id()], Duration::from_secs(20));
        let gone = child.try_wait();
        let _ = child.kill();
        let _ = child.wait();
        // The system keeps the environment of its own Python to itself.
        assert!(stranger.is_some(), "{look:?}");
        assert_eq!(ended, stranger.is_some_and(|stranger| stranger.marked.is_some()));
        assert!(gone.is_ok());
        assert!(look.blind.is_empty(), "{:?}", look.blind);
    }
}
