//! Published files while a job runs: how each appears, and who writes to it.
//!
//! The folders that can have one are watched by a watcher of their own, since one watcher has one set of events for a
//! folder. A folder that is made meanwhile is watched when that is told; what is in it by then was not seen to appear.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::inotify::{self, ReadFlags, WatchFlags};
use rustix::io::Errno;

use super::super::{FileGlob, Job, Progress, Published, Step, Story, Torn};
use super::filter;
use super::procfs::Wanted;
use super::removals;
use super::tree;
use crate::model::{PUBLISHED_FILES, Process};

/// How many folders are watched at most.
const WATCHED: usize = 4096;
/// How many files are told of at most.
const KEPT: usize = 100;
/// How often the writer of one file is looked for.
const LOOKS: u32 = 16;

/// What happens to published files.
pub struct Publishing<'a> {
    inotify: &'a OwnedFd,
    globs: Vec<(PathBuf, FileGlob)>,
    folders: HashMap<i32, Folder>,
    stories: HashMap<PathBuf, Story>,
    writers: HashMap<PathBuf, Writer>,
    torn: Vec<Seen>,
    started: Instant,
    /// Whether whoever opens files for writing is asked about.
    asks: bool,
    blind: Option<String>,
}

/// A watched folder, and how far each glob leads to it.
struct Folder {
    path: PathBuf,
    progress: Vec<Progress>,
}

/// How what is in a folder got there, when the folder is first listed.
#[derive(Clone, Copy)]
enum Content {
    /// Before the job.
    Before,
    /// In one with the folder, which was renamed into place.
    Whole,
    /// Unseen.
    Unknown,
}

/// Something that is wrong with a file.
struct Seen {
    path: PathBuf,
    torn: Torn,
    /// In milliseconds after the start.
    at_ms: u64,
    /// Who was known then to have opened it.
    writer: Option<Process>,
}

/// Who writes to a file.
#[derive(Default)]
struct Writer {
    process: Option<Process>,
    /// Whether it was seen to have the file open, and not only to be the one process there is.
    sure: bool,
    looks: u32,
}

impl<'a> Publishing<'a> {
    /// Watches what a job publishes; `None` if that is nothing, or if the system refuses. The watcher is made for the first
    /// job that wants one, and left to the next.
    pub fn of(job: &Job, watcher: &'a mut Option<OwnedFd>, blind: &mut Vec<String>) -> Option<Self> {
        if job.publishes.is_empty() {
            return None;
        }
        if watcher.is_none() {
            let made = removals::watcher();
            *watcher = made.map_err(|error| blind.push(told(&std::io::Error::from(error).to_string()))).ok();
        }
        Some(Self::watch(watcher.as_ref()?, job))
    }

    fn watch(inotify: &'a OwnedFd, job: &Job) -> Self {
        let mut publishing = Self {
            inotify,
            globs: Vec::new(),
            folders: HashMap::new(),
            stories: HashMap::new(),
            writers: HashMap::new(),
            torn: Vec::new(),
            started: Instant::now(),
            asks: false,
            blind: None,
        };
        // What is left to be read is about an earlier job's folders.
        publishing.events();
        for (folder, glob) in &job.publishes {
            match FileGlob::new(glob) {
                Ok(glob) => publishing.globs.push((folder.clone(), glob)),
                Err(why) => publishing.note_blind(&format!("{glob}: {why}")),
            }
        }
        for index in 0..publishing.globs.len() {
            let (folder, glob) = &publishing.globs[index];
            let mut progress = vec![Progress::default(); publishing.globs.len()];
            progress[index] = glob.start();
            let folder = Folder { path: folder.clone(), progress };
            publishing.add(folder, Content::Before);
        }
        publishing
    }

    /// What is to be polled.
    pub fn fd(&self) -> BorrowedFd<'a> {
        self.inotify.as_fd()
    }

    fn note_blind(&mut self, why: &str) {
        self.blind.get_or_insert_with(|| told(why));
    }

    fn enter(&self, folder: &[Progress], name: &str) -> Vec<Progress> {
        self.globs.iter().zip(folder).map(|((_, glob), progress)| glob.enter(progress, name)).collect()
    }

    fn may_match_below(&self, progress: &[Progress]) -> bool {
        self.globs.iter().zip(progress).any(|((_, glob), progress)| glob.may_match_below(progress))
    }

    fn is_match(&self, progress: &[Progress]) -> bool {
        self.globs.iter().zip(progress).any(|((_, glob), progress)| glob.is_match(progress))
    }

    /// Watches a folder, and what is in it as far as there may be a match.
    fn add(&mut self, folder: Folder, content: Content) {
        let flags = WatchFlags::CREATE
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE
            | WatchFlags::ONLYDIR
            | WatchFlags::EXCL_UNLINK;
        let mut open = vec![folder];
        while let Some(mut folder) = open.pop() {
            if self.folders.len() >= WATCHED {
                return self.note_blind(&format!("more than {WATCHED} folders"));
            }
            let watch = match inotify::add_watch(self.inotify, &folder.path, flags) {
                Ok(watch) => watch,
                // Gone already, or no folder.
                Err(Errno::NOENT | Errno::NOTDIR) => continue,
                Err(error) => {
                    let error = std::io::Error::from(error);
                    return self.note_blind(&format!("{}: {error}", folder.path.display()));
                }
            };
            if let Some(known) = self.folders.get(&watch) {
                // Two globs lead to it, or a symbolic link does.
                let both: Vec<_> = known.progress.iter().zip(&folder.progress).map(|(a, b)| a.with(b)).collect();
                if both == known.progress {
                    continue;
                }
                folder = Folder { path: known.path.clone(), progress: both };
            }
            // What was made before the watch stood is found here, what is made from now on is told.
            for entry in fs::read_dir(&folder.path).into_iter().flatten().flatten() {
                let progress = self.enter(&folder.progress, &entry.file_name().to_string_lossy());
                if self.is_match(&progress) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                    match content {
                        Content::Before => {}
                        Content::Whole => self.happens(entry.path(), Step::Arrived),
                        Content::Unknown => self.happens(entry.path(), Step::Found),
                    }
                }
                if self.may_match_below(&progress) {
                    open.push(Folder { path: entry.path(), progress });
                }
            }
            self.folders.insert(watch, folder);
        }
    }

    /// All events that are there: where, what and which name.
    fn events(&self) -> Vec<(i32, ReadFlags, Option<Vec<u8>>)> {
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut events = inotify::Reader::new(self.inotify, &mut buffer);
        let mut all = Vec::new();
        while let Ok(event) = events.next() {
            all.push((event.wd(), event.events(), event.file_name().map(|name| name.to_bytes().to_vec())));
        }
        all
    }

    /// A thread of the job waits to open a file, or to give one a name. Whatever happened before is taken in first, so that
    /// a folder made just now is watched in time; and who opens a published file is known by it.
    pub fn asked(&mut self, thread: u32, opens: Option<&Path>, wanted: &Wanted<'_>) {
        self.asks = true;
        self.take(wanted);
        if let Some(path) = opens.filter(|path| self.is_published(path))
            && let Some(process) = filter::read(filter::process_of(thread), wanted)
        {
            self.writers.insert(path.to_owned(), Writer { process: Some(process), sure: true, looks: LOOKS });
        }
    }

    fn is_published(&self, path: &Path) -> bool {
        self.globs.iter().any(|(folder, glob)| {
            path.strip_prefix(folder).is_ok_and(|below| {
                let names = below.iter().map(OsStr::to_string_lossy);
                glob.is_match(&names.fold(glob.start(), |progress, name| glob.enter(&progress, &name)))
            })
        })
    }

    /// Takes in what happened, and looks in the job's tree for whoever writes.
    pub fn take(&mut self, wanted: &Wanted<'_>) {
        loop {
            let events = self.events();
            if events.is_empty() {
                return;
            }
            let mut writes = Vec::new();
            for (watch, kind, name) in events {
                if kind.contains(ReadFlags::QUEUE_OVERFLOW) {
                    self.note_blind("too many events at once");
                } else if kind.contains(ReadFlags::IGNORED) {
                    self.folders.remove(&watch);
                } else if let (Some(folder), Some(name)) = (self.folders.get(&watch), name) {
                    let progress = self.enter(&folder.progress, &String::from_utf8_lossy(&name));
                    let path = folder.path.join(OsStr::from_bytes(&name));
                    writes.extend(self.event(kind, path, &progress));
                }
            }
            self.look(&writes, wanted);
        }
    }

    /// Takes in one. Returns the path if it is a published file that somebody writes to.
    fn event(&mut self, kind: ReadFlags, path: PathBuf, progress: &[Progress]) -> Option<PathBuf> {
        let appears = kind.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
        let is_file = !kind.contains(ReadFlags::ISDIR);
        if self.may_match_below(progress) {
            if appears {
                let whole = kind.contains(ReadFlags::MOVED_TO);
                let content = if whole { Content::Whole } else { Content::Unknown };
                self.add(Folder { path: path.clone(), progress: progress.to_vec() }, content);
            } else if kind.contains(ReadFlags::MOVED_FROM) && !is_file {
                self.leave(&path);
            }
        }
        if !is_file || !self.is_match(progress) {
            return None;
        }
        let step = if kind.contains(ReadFlags::MOVED_TO) {
            Step::Arrived
        } else if kind.contains(ReadFlags::CREATE) {
            Step::Made
        } else if kind.contains(ReadFlags::MODIFY) {
            Step::Changed
        } else if kind.contains(ReadFlags::CLOSE_WRITE) {
            Step::Closed
        } else {
            Step::Gone
        };
        self.happens(path.clone(), step);
        matches!(step, Step::Made | Step::Changed).then_some(path)
    }

    fn happens(&mut self, path: PathBuf, step: Step) {
        let torn = self.stories.entry(path.clone()).or_default().take(step);
        if let Some(torn) = torn.filter(|_| self.torn.len() < KEPT) {
            let opener = self.writers.get(&path).filter(|writer| writer.sure);
            let writer = opener.and_then(|writer| writer.process.clone());
            self.torn.push(Seen { path, torn, at_ms: self.now_ms(), writer });
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// A folder that was moved has another name from now on.
    fn leave(&mut self, path: &Path) {
        let inotify = self.inotify;
        self.folders.retain(|watch, folder| {
            let stays = !folder.path.starts_with(path);
            if !stays {
                let _ = inotify::remove_watch(inotify, *watch);
            }
            stays
        });
    }

    /// Looks for whoever has the files open for writing.
    fn look(&mut self, paths: &[PathBuf], wanted: &Wanted<'_>) {
        let sought: Vec<(&PathBuf, (u64, u64))> = paths
            .iter()
            .filter(|path| self.writers.get(*path).is_none_or(|writer| !writer.sure && writer.looks < LOOKS))
            .filter_map(|path| Some((path, identity(fs::symlink_metadata(path))?)))
            .collect();
        if sought.is_empty() {
            return;
        }
        let living = living();
        let mut found: HashMap<&PathBuf, (u32, bool)> = HashMap::new();
        for &pid in &living {
            let open = written_by(pid);
            found.extend(sought.iter().filter(|(_, id)| open.contains(id)).map(|(path, _)| (*path, (pid, true))));
        }
        // Nobody else of the job is there who could have done it, but for what is gone.
        if let ([only], false) = (&living[..], self.asks) {
            for (path, _) in &sought {
                found.entry(path).or_insert((*only, false));
            }
        }
        let processes =
            if found.is_empty() { Vec::new() } else { tree::read(std::process::id(), wanted, &HashSet::new()) };
        for (path, _) in &sought {
            let writer = self.writers.entry((*path).clone()).or_default();
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

    /// What is or may be wrong with published files, and why not all was seen.
    pub fn into_seen(mut self) -> (Vec<Published>, Option<String>) {
        let is_empty = |path: &Path| fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0);
        let at_ms = self.now_ms();
        let mut torn = std::mem::take(&mut self.torn);
        for (path, story) in &self.stories {
            let end = story.end(|| is_empty(path));
            torn.extend(end.map(|torn| Seen { path: path.clone(), torn, at_ms, writer: None }));
        }
        torn.truncate(KEPT);
        let published = torn.into_iter().map(|Seen { path, torn, at_ms, writer }| {
            let known = self.writers.get(&path).filter(|_| !matches!(torn, Torn::Unseen | Torn::Gap));
            let sure = writer.is_some() || known.is_some_and(|known| known.sure);
            let writer = writer.or_else(|| known.and_then(|known| known.process.clone()));
            Published { path: path.to_string_lossy().into_owned(), torn, at_ms, writer, sure }
        });
        let published = published.collect();
        (published, self.blind.take())
    }
}

impl Drop for Publishing<'_> {
    fn drop(&mut self) {
        for watch in self.folders.keys() {
            // That of a folder which is gone went with it.
            let _ = inotify::remove_watch(self.inotify, *watch);
        }
    }
}

/// Why published files could not be watched, as it is told.
fn told(why: &str) -> String {
    format!("{PUBLISHED_FILES}: {why}")
}

/// Every descendant of this process, the dead left out as far as they have no descriptors.
fn living() -> Vec<u32> {
    let mut all = tree::children(std::process::id());
    let mut index = 0;
    while index < all.len() {
        all.extend(tree::children(all[index]));
        index += 1;
    }
    all
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
