//! The look at every process of the machine: who has anything in these folders?

use std::collections::HashSet;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{ERROR_INVALID_PARAMETER, HANDLE, WAIT_FAILED, WAIT_TIMEOUT};
use windows_sys::Win32::System::Threading::{
    PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE, PROCESS_TERMINATE, TerminateProcess, WaitForMultipleObjects,
};

use super::super::{Look, Stranger, Unread};
use super::holders::{self, Found, Holder, Sought};
use super::machine::Machine;
use super::process::{self, Seen};
use super::users::{self, Credentials};
use super::{clock, names, restart, table};
use crate::model::{Hold, How};

/// The exit code of what is ended.
const ENDED: u32 = 1;
/// How many handles the system waits for at once (`MAXIMUM_WAIT_OBJECTS`).
const BATCH: usize = 64;
/// How long one batch of processes is waited for before the next is looked at.
const SLICE: Duration = Duration::from_millis(20);

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

    /// Looks at every process but this one and the one that asks for it.
    pub fn look(&self, roots: &[PathBuf]) -> Look {
        let left_out: HashSet<u32> = [Some(std::process::id()), table::asker()].into_iter().flatten().collect();
        let Found { holders, denied, blind } = holders::of_all(&left_out, self.sought(roots));
        let mut look = Look { blind, ..Look::default() };
        look.strangers.extend(holders.into_iter().filter_map(|holder| self.stranger(holder)));
        if !self.sandboxes {
            add_users(roots, &mut look);
        }
        let told: HashSet<u32> = look.strangers.iter().map(|stranger| stranger.process.pid).collect();
        let machine = Machine::now().unwrap_or_default();
        let unread = denied.into_iter().filter(|pid| !told.contains(pid)).filter_map(|pid| unread(pid, &machine));
        // With an administrator's rights, only what the system protects from everybody is left; nobody would ever get an
        // answer if that counted.
        let counts = !self.sandboxes && users::is_elevated() != Some(true);
        look.unread.extend(unread.filter(|unread| !unread.privileged || counts));
        look
    }

    /// Reads one process again. `None` if it is gone or holds nothing any more.
    pub fn look_again(&self, pid: u32, roots: &[PathBuf]) -> Option<Stranger> {
        let found = holders::of_these(&[pid], self.sought(roots));
        found.holders.into_iter().find_map(|holder| self.stranger(holder))
    }

    fn sought<'a>(&self, roots: &'a [PathBuf]) -> Sought<'a> {
        Sought { roots, mappings: self.mappings, ..Sought::default() }
    }

    fn stranger(&self, Holder { process, marked }: Holder) -> Option<Stranger> {
        let marked = marked.filter(|_| self.sandboxes);
        (!process.holds.is_empty() || marked.is_some()).then_some(Stranger { process, marked })
    }
}

/// Adds who uses the files among the roots, as the Restart Manager knows it: it needs no right to look into them.
fn add_users(roots: &[PathBuf], look: &mut Look) {
    for file in roots.iter().filter(|root| root.is_file()) {
        let users = match restart::users_of(file) {
            Ok(users) => users,
            Err(error) => {
                look.blind.push(format!("the Restart Manager about {}: {error}", file.display()));
                continue;
            }
        };
        let Ok(machine) = Machine::now() else { continue };
        for (pid, created) in users {
            let known = look.strangers.iter().any(|stranger| stranger.process.pid == pid);
            let listed = machine.get(pid).filter(|listed| listed.created == created);
            let Some(seen) = listed.filter(|_| !known && pid != std::process::id()).and_then(Seen::of) else {
                continue;
            };
            let mut process = seen.told(&machine);
            let path = file.to_string_lossy().into_owned();
            process.holds.push(Hold { how: How::Descriptor, path, directory: false, deleted: false });
            look.strangers.push(Stranger { process, marked: None });
        }
    }
}

/// A process that may not be looked into. `None` if it is gone.
fn unread(pid: u32, machine: &Machine) -> Option<Unread> {
    let seen = Seen::of(machine.get(pid)?)?;
    let its = Credentials::of(pid);
    // What hides whose it is, is the system's, or another user's.
    let privileged = its.zip(Credentials::mine()).is_none_or(|(its, mine)| its.exceed(&mine));
    Some(Unread { pid, uid: its.map_or(users::UNKNOWN, |its| its.user), argv: seen.argv(), privileged })
}

/// Ends a process that carries a check's mark. `false` if it is gone, or is another one by now.
pub fn end_stranger(stranger: &Stranger) -> bool {
    let pid = stranger.process.pid;
    // The handle stays with the process that is looked at next, whatever becomes of its number.
    let rights = PROCESS_TERMINATE | PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE;
    let Ok(handle) = process::open(pid, rights) else { return false };
    let Some(machine) = Machine::now().ok().filter(|_| !process::has_ended(&handle)) else { return false };
    let Some(seen) = machine.get(pid).and_then(Seen::of) else { return false };
    let roots: Vec<PathBuf> = stranger.marked.iter().cloned().collect();
    let same = Some(clock::boot_ms(seen.listed.created).cast_signed()) == stranger.process.started_ms
        && seen.marked(&names::sought(&roots)) == stranger.marked;
    // SAFETY: the handle is open.
    same && unsafe { TerminateProcess(handle.as_raw_handle(), ENDED) } != 0
}

/// Waits until one of the processes ends, at most so long. One that may not be waited for is left out.
pub fn wait_for_an_end(pids: &[u32], limit: Duration) {
    let mut open: Vec<OwnedHandle> = Vec::new();
    for &pid in pids {
        match process::open(pid, PROCESS_SYNCHRONIZE) {
            Ok(handle) => open.push(handle),
            // It has ended already.
            Err(error) if error.raw_os_error() == Some(ERROR_INVALID_PARAMETER.cast_signed()) => return,
            Err(_) => {}
        }
    }
    let handles: Vec<HANDLE> = open.iter().map(AsRawHandle::as_raw_handle).collect();
    let batches: Vec<&[HANDLE]> = handles.chunks(BATCH).collect();
    let deadline = Instant::now() + limit;
    if batches.is_empty() {
        return std::thread::sleep(limit);
    }
    loop {
        for batch in &batches {
            let left = deadline.saturating_duration_since(Instant::now());
            let slice = if batches.len() == 1 { left } else { left.min(SLICE) };
            let count = u32::try_from(batch.len()).unwrap_or(0);
            // A part of a millisecond would be no time at all.
            let limit = u32::try_from(slice.as_micros().div_ceil(1000)).unwrap_or(u32::MAX - 1);
            // SAFETY: all handles are open, and there are as many as is said, which the system can take.
            match unsafe { WaitForMultipleObjects(count, batch.as_ptr(), 0, limit) } {
                WAIT_TIMEOUT => {}
                WAIT_FAILED => std::thread::sleep(slice),
                _ => return,
            }
        }
        if Instant::now() >= deadline {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Child;
    use super::*;

    #[test]
    fn a_marked_stranger_is_ended_and_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().to_owned();
        let watcher = Watcher::of_sandboxes();
        let mut marked = Child::that("wait", "", |command| {
            command.env("HOSTPROOF_SANDBOX", &root);
        });
        let look = watcher.look(std::slice::from_ref(&root));
        let [stranger] = &look.strangers[..] else { panic!("one stranger: {look:?}") };
        assert_eq!((stranger.process.pid, stranger.marked.as_ref()), (marked.pid, Some(&root)));
        assert_eq!(watcher.look_again(marked.pid, std::slice::from_ref(&root)).as_ref(), Some(stranger));
        let mut another = stranger.clone();
        another.process.started_ms = another.process.started_ms.map(|ms| ms - 1);
        assert!(!end_stranger(&another), "of another process with its number");
        another = stranger.clone();
        another.marked = Some(root.join("other"));
        assert!(!end_stranger(&another), "of another check");
        let of_folders = Watcher::of_folders(true).look(std::slice::from_ref(&root));
        assert_eq!(of_folders.strangers, [], "a mark is no hold");
        assert!(end_stranger(stranger));
        wait_for_an_end(&[marked.pid], Duration::from_secs(30));
        assert_eq!(process::read(marked.pid, &[]), None);
        marked.end();
        assert!(!end_stranger(stranger), "once it is gone");
        assert_eq!(watcher.look_again(marked.pid, &[root]), None);
    }

    #[test]
    fn the_end_of_one_of_many_is_waited_for() {
        let mut children: Vec<Child> = (0..3).map(|_| Child::that("wait", "", |_| {})).collect();
        let mut pids: Vec<u32> = children.iter().map(|child| child.pid).collect();
        // More than the system waits for at once.
        pids.extend(std::iter::repeat_n(std::process::id(), BATCH));
        pids.rotate_left(1);
        let began = Instant::now();
        wait_for_an_end(&pids, Duration::from_millis(60));
        assert!(began.elapsed() >= Duration::from_millis(60), "nobody has ended");
        let began = Instant::now();
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| wait_for_an_end(&pids, Duration::from_secs(50)));
            children[0].end();
            waits.join().expect("an end");
        });
        assert!(began.elapsed() < Duration::from_secs(40), "an end is seen");
        wait_for_an_end(&pids, Duration::from_secs(50));
        assert!(began.elapsed() < Duration::from_secs(40), "one that was before, too");
    }
}
