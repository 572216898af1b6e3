//! Removals in a job's sandbox while it runs: seen when they happen, so that a holder is found that ends before the job
//! does.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;

use super::super::Unread;
use super::bystanders::{Budget, Bystanders};
use crate::model::{Process, REMOVALS};

/// How many folders are watched at most: the kernel's own limit is per user, and others need theirs.
const WATCHED: usize = 4096;
/// How many removals with a holder are kept.
const KEPT: usize = 100;
/// A look costs time that the job could use; it may take a fifth of it.
const PAUSE: u32 = 4;
/// Where every removal is asked about first, the job waits for the look, and the answer has seen most of what there is.
const LONG_PAUSE: u32 = 49;

/// Makes the watcher that all jobs of a supervisor use, one after the other: to close one takes the system milliseconds.
///
/// # Errors
///
/// If the system has no more of them.
pub fn watcher() -> Result<OwnedFd, Errno> {
    inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)
}

/// What was removed while somebody held it.
pub struct Removals<'a> {
    inotify: &'a OwnedFd,
    folders: HashMap<i32, PathBuf>,
    /// Something was made, removed, moved or given other permissions.
    touched: bool,
    /// Something was removed since the last look at the job's tree.
    due: bool,
    /// The next look may not be before this.
    not_before: Instant,
    pause: u32,
    bystanders: Bystanders<'a>,
    seen: Vec<Process>,
    /// Why not all of the sandbox is watched.
    blind: Option<String>,
}

impl<'a> Removals<'a> {
    /// Watches a folder and what is in it.
    pub fn watch(inotify: &'a OwnedFd, budget: &'a mut Budget, root: &Path) -> Self {
        let mut removals = Self {
            inotify,
            folders: HashMap::new(),
            touched: false,
            due: false,
            not_before: Instant::now(),
            pause: PAUSE,
            bystanders: Bystanders::of(budget, root),
            seen: Vec::new(),
            blind: None,
        };
        // What is left to be read is about an earlier job's folders.
        removals.take();
        removals.touched = false;
        removals.due = false;
        removals.bystanders.due = false;
        removals.add(root.to_owned());
        removals
    }

    /// What is to be polled.
    pub fn fd(&self) -> BorrowedFd<'a> {
        self.inotify.as_fd()
    }

    /// Looks less often, since each removal is asked about.
    pub fn look_rarely(&mut self) {
        self.pause = LONG_PAUSE;
    }

    /// When to look, if something was removed.
    pub fn look_at(&self) -> Option<Instant> {
        [self.due.then_some(self.not_before), self.bystanders.look_at()].into_iter().flatten().min()
    }

    fn add(&mut self, root: PathBuf) {
        let flags = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::MOVE_SELF
            | WatchFlags::ATTRIB
            | WatchFlags::ONLYDIR
            | WatchFlags::DONT_FOLLOW
            | WatchFlags::EXCL_UNLINK;
        let mut open = vec![root];
        while let Some(folder) = open.pop() {
            if self.folders.len() >= WATCHED {
                self.blind.get_or_insert_with(|| format!("more than {WATCHED} folders"));
                return;
            }
            match inotify::add_watch(self.inotify, &folder, flags) {
                Ok(watch) => {
                    // What was made before the watch stood is found here, what is made from now on is told.
                    if may_have_folders(&folder) {
                        let below = fs::read_dir(&folder).into_iter().flatten().flatten();
                        open.extend(below.filter(|e| e.file_type().is_ok_and(|kind| kind.is_dir())).map(|e| e.path()));
                    }
                    self.folders.insert(watch, folder);
                }
                // Gone already, or not a folder any more.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => {}
                Err(error) => {
                    self.blind.get_or_insert_with(|| std::io::Error::from(error).to_string());
                    return;
                }
            }
        }
    }

    /// Takes in what happened.
    pub fn take(&mut self) {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut made = Vec::new();
        let mut events = inotify::Reader::new(self.inotify, &mut buffer);
        while let Ok(event) = events.next() {
            let kind = event.events();
            self.touched = true;
            // A file that is moved may take the place of another one.
            let replaced = kind.contains(ReadFlags::MOVED_TO) && !kind.contains(ReadFlags::ISDIR);
            if replaced || kind.intersects(ReadFlags::DELETE | ReadFlags::QUEUE_OVERFLOW) {
                self.due = true;
                self.bystanders.due = true;
            } else if kind.contains(ReadFlags::ISDIR)
                && kind.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO)
                && let (Some(folder), Some(name)) = (self.folders.get(&event.wd()), event.file_name())
            {
                made.push(folder.join(OsStr::from_bytes(name.to_bytes())));
            } else if kind.contains(ReadFlags::IGNORED) {
                self.folders.remove(&event.wd());
            }
        }
        for folder in made {
            self.add(folder);
        }
    }

    /// Looks for holders of what was removed, where it is time to: in the job's tree, which `read` gives, then among all
    /// others.
    pub fn look(&mut self, started_ms: u64, read: impl FnOnce() -> Vec<Process>) {
        let began = Instant::now();
        if self.due && self.not_before <= began {
            self.due = false;
            self.note(read());
            let took = began.elapsed().max(Duration::from_micros(50));
            self.not_before = Instant::now() + took * self.pause;
        }
        if self.bystanders.look_at().is_some_and(|at| at <= Instant::now()) {
            let found = self.bystanders.look(started_ms);
            self.note(found);
        }
    }

    /// Looks among all others once more, now that the job is over.
    pub fn look_last(&mut self, started_ms: u64) {
        let found = self.bystanders.look_last(started_ms);
        self.note(found);
    }

    fn note(&mut self, processes: Vec<Process>) {
        for mut process in processes {
            process.holds.retain(|hold| hold.deleted && !is_anonymous(&hold.path));
            if process.holds.is_empty() {
                continue;
            }
            let room = self.seen.len() < KEPT;
            let same = |seen: &&mut Process| seen.pid == process.pid && seen.started_ms == process.started_ms;
            if let Some(seen) = self.seen.iter_mut().find(same) {
                process.holds.retain(|hold| !seen.holds.contains(hold));
                seen.holds.append(&mut process.holds);
            } else if room {
                self.seen.push(process);
            }
        }
    }

    /// Whether nothing at all has happened to the sandbox.
    pub fn is_untouched(&self) -> bool {
        !self.touched && self.blind.is_none()
    }

    /// Why not all was seen.
    pub fn blind(&self) -> impl Iterator<Item = String> {
        let watched = self.blind.as_ref().map(|why| format!("{REMOVALS}: {why}"));
        watched.into_iter().chain(self.bystanders.blind.clone())
    }

    /// The processes that held something when it was removed, and those that could not be looked into.
    pub fn into_seen(mut self) -> (Vec<Process>, Vec<Unread>) {
        (std::mem::take(&mut self.seen), std::mem::take(&mut self.bystanders.unread))
    }
}

impl Drop for Removals<'_> {
    fn drop(&mut self) {
        for watch in self.folders.keys() {
            // That of a folder which is gone went with it.
            let _ = inotify::remove_watch(self.inotify, *watch);
        }
    }
}

/// Whether a folder can have folders in it: most file systems count them in its links, with two of its own.
fn may_have_folders(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|metadata| metadata.nlink() != 2)
}

/// A file that never had a name (`O_TMPFILE`): the kernel calls it by its number.
fn is_anonymous(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    name.strip_prefix('#').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}
