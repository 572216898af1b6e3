//! Published files while a job runs: how each appears, and who writes to it; and who writes in other places that are watched.
//!
//! The folders that can have one are watched by a watcher of their own, since one watcher has one set of events for a
//! folder. A folder that is made meanwhile is watched when that is told; what is in it by then was not seen to appear.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::fs::inotify::{self, ReadFlags, WatchFlags};
use rustix::io::Errno;

use super::super::{FileGlob, Job, Progress, Published, Step, Story, Torn, Touched};
use super::commons::Commons;
use super::filter::{self, About};
use super::procfs::Wanted;
use super::removals;
use super::writers::{Writers, is_special};
use crate::model::{PUBLISHED_FILES, Process, SharedUse};

/// How many folders are watched at most.
const WATCHED: usize = 4096;
/// How many files are told of at most.
const KEPT: usize = 1000;

/// What happens to published files.
pub struct Publishing<'a> {
    inotify: &'a OwnedFd,
    globs: Vec<Glob>,
    folders: HashMap<i32, Folder>,
    stories: BTreeMap<PathBuf, Story>,
    writers: Writers,
    touched: BTreeMap<PathBuf, Touch>,
    /// What else the job uses that others may use, too, if that is asked.
    pub commons: Option<Commons>,
    torn: Vec<Seen>,
    started: Instant,
    blind: Option<String>,
}

/// What is watched for below a folder.
struct Glob {
    folder: PathBuf,
    files: FileGlob,
    role: Role,
}

/// Why a place is watched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// What is there is to appear whole.
    Published,
    /// It is asked who writes there.
    Watched,
    /// What changes there may be everybody's.
    Common,
}

/// A watched folder, and how far each glob leads to it.
struct Folder {
    /// As the globs lead to it.
    path: PathBuf,
    /// Where it is: the same, but for symbolic links. Empty before it is watched.
    real: PathBuf,
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

/// What happened to a file in a place of which it is asked who writes there.
#[derive(Default)]
struct Touch {
    made: bool,
    gone: bool,
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

impl<'a> Publishing<'a> {
    /// Watches what a job publishes; `None` if that is nothing, or if the system refuses. The watcher is made for the first
    /// job that wants one, and left to the next.
    pub fn of(job: &Job, watcher: &'a mut Option<OwnedFd>, blind: &mut Vec<String>) -> Option<Self> {
        if job.publishes.is_empty() && job.watches.is_empty() && job.shared.is_empty() {
            return None;
        }
        if watcher.is_none() {
            let made = removals::watcher();
            // Who writes elsewhere is then unknown, and said to be.
            let why = made.map_err(|error| told(&std::io::Error::from(error).to_string()));
            *watcher = why.map_err(|why| blind.extend((!job.publishes.is_empty()).then_some(why))).ok();
        }
        Some(Self::watch(watcher.as_ref()?, job))
    }

    fn watch(inotify: &'a OwnedFd, job: &Job) -> Self {
        let mut publishing = Self {
            inotify,
            globs: Vec::new(),
            folders: HashMap::new(),
            stories: BTreeMap::new(),
            writers: Writers::default(),
            touched: BTreeMap::new(),
            commons: (!job.shared.is_empty()).then(|| Commons::of(job)),
            torn: Vec::new(),
            started: Instant::now(),
            blind: None,
        };
        // What is left to be read is about an earlier job's folders.
        publishing.events();
        for (folder, glob) in &job.publishes {
            match FileGlob::new(glob) {
                Ok(files) => publishing.globs.push(Glob { folder: folder.clone(), files, role: Role::Published }),
                Err(why) => publishing.note_blind(&format!("{glob}: {why}")),
            }
        }
        let of = |role| move |(folder, files): (&PathBuf, FileGlob)| Glob { folder: folder.clone(), files, role };
        publishing.globs.extend(job.watched().map(of(Role::Watched)));
        publishing.globs.extend(job.commons().map(of(Role::Common)));
        for index in 0..publishing.globs.len() {
            let Glob { folder, files, .. } = &publishing.globs[index];
            let mut progress = vec![Progress::default(); publishing.globs.len()];
            progress[index] = files.start();
            let folder = Folder { path: folder.clone(), real: PathBuf::new(), progress };
            publishing.add(folder, Content::Before);
        }
        publishing
    }

    /// What is to be polled.
    pub fn fd(&self) -> BorrowedFd<'a> {
        self.inotify.as_fd()
    }

    fn note_blind(&mut self, why: &str) {
        if let Some(commons) = &mut self.commons {
            commons.note_unseen(why);
        }
        if !self.globs.iter().any(|glob| glob.role == Role::Published) {
            return;
        }
        self.blind.get_or_insert_with(|| told(why));
    }

    fn enter(&self, folder: &[Progress], name: &str) -> Vec<Progress> {
        self.globs.iter().zip(folder).map(|(glob, progress)| glob.files.enter(progress, name)).collect()
    }

    fn may_match_below(&self, progress: &[Progress]) -> bool {
        self.globs.iter().zip(progress).any(|(glob, progress)| glob.files.may_match_below(progress))
    }

    /// Whether what is below may be what the job names, and not only everybody's.
    fn is_asked_for(&self, progress: &[Progress]) -> bool {
        let mut globs = self.globs.iter().zip(progress);
        globs.any(|(glob, progress)| glob.role != Role::Common && glob.files.may_match_below(progress))
    }

    fn is_match(&self, progress: &[Progress]) -> bool {
        self.globs.iter().zip(progress).any(|(glob, progress)| glob.files.is_match(progress))
    }

    fn is(&self, role: Role, progress: &[Progress]) -> bool {
        self.globs.iter().zip(progress).any(|(glob, progress)| glob.role == role && glob.files.is_match(progress))
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
                // Another user's, in which this one's processes leave nothing.
                Err(Errno::ACCESS) if !self.is_asked_for(&folder.progress) => continue,
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
                folder = Folder { path: known.path.clone(), real: PathBuf::new(), progress: both };
            }
            // What was made before the watch stood is found here, what is made from now on is told.
            for entry in fs::read_dir(&folder.path).into_iter().flatten().flatten() {
                let progress = self.enter(&folder.progress, &entry.file_name().to_string_lossy());
                if self.is(Role::Published, &progress) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                    match content {
                        Content::Before => {}
                        Content::Whole => self.happens(entry.path(), Step::Arrived),
                        Content::Unknown => self.happens(entry.path(), Step::Found),
                    }
                }
                if self.may_match_below(&progress) {
                    open.push(Folder { path: entry.path(), real: PathBuf::new(), progress });
                }
            }
            folder.real = fs::canonicalize(&folder.path).unwrap_or_default();
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

    /// From now on whoever opens, gives a name or uses what is everybody's is told before it does.
    pub fn are_asked(&mut self) {
        self.writers.are_asked();
        self.commons.iter_mut().for_each(Commons::are_asked);
    }

    /// A thread of the job waits to open a file, or to give one a name. Whatever happened before is taken in first, so that
    /// a folder made just now is watched in time; and who opens a published file is known by it.
    pub fn asked(&mut self, thread: u32, about: &About, wanted: &Wanted<'_>) {
        if about.is_nothing() {
            return;
        }
        self.take(wanted);
        for (kind, name) in &about.claims {
            self.commons.iter_mut().for_each(|commons| commons.claimed(*kind, name));
        }
        if let Some((from, to)) = &about.renames {
            for path in self.published_as(to) {
                self.writers.arrives(from, &path, wanted);
            }
        }
        let paths = about.opens.as_deref().map(|path| self.published_as(path)).unwrap_or_default();
        if !paths.is_empty()
            && let Some(process) = filter::read(filter::process_of(thread), wanted)
        {
            for path in paths {
                self.writers.opens(&path, process.clone());
            }
        }
    }

    /// The paths that a file is watched under, if it is a published one. Its own leads through no symbolic links.
    fn published_as(&self, file: &Path) -> Vec<PathBuf> {
        let (Some(parent), Some(name)) = (file.parent(), file.file_name()) else { return Vec::new() };
        let here = self.folders.values().filter(|folder| folder.real.as_os_str() == parent.as_os_str());
        here.filter(|folder| self.is_match(&self.enter(&folder.progress, &name.to_string_lossy())))
            .map(|folder| folder.path.join(name))
            .collect()
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
            self.writers.look(&writes, wanted);
        }
    }

    /// Takes in one. Returns the path if it is a published file that somebody writes to.
    fn event(&mut self, kind: ReadFlags, path: PathBuf, progress: &[Progress]) -> Option<PathBuf> {
        let appears = kind.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
        let is_file = !kind.contains(ReadFlags::ISDIR);
        if self.may_match_below(progress) {
            // What was there under this name, a folder or a symbolic link to one, has another name now, or none.
            if kind.intersects(ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO | ReadFlags::DELETE) {
                self.leave(&path);
            }
            if appears {
                let whole = kind.contains(ReadFlags::MOVED_TO);
                let content = if whole { Content::Whole } else { Content::Unknown };
                self.add(Folder { path: path.clone(), real: PathBuf::new(), progress: progress.to_vec() }, content);
            }
        }
        if !self.is_match(progress) {
            return None;
        }
        if self.is(Role::Common, progress)
            && let Some(commons) = &mut self.commons
        {
            commons.path(&path, false);
        }
        if !is_file {
            return None;
        }
        // Two files that change places by one call: where everybody is asked, nothing else can have come since.
        if kind.contains(ReadFlags::MOVED_FROM) && self.writers.asked() && path.symlink_metadata().is_ok() {
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
        if self.is(Role::Watched, progress) {
            self.touch(&path, step);
        }
        if self.is(Role::Published, progress) {
            self.happens(path.clone(), step);
        }
        matches!(step, Step::Made | Step::Changed).then_some(path)
    }

    fn touch(&mut self, path: &Path, step: Step) {
        if self.touched.len() < KEPT || self.touched.contains_key(path) {
            let touch = self.touched.entry(path.to_owned()).or_default();
            touch.made |= matches!(step, Step::Made | Step::Arrived);
            touch.gone |= step == Step::Gone;
        }
    }

    fn happens(&mut self, path: PathBuf, step: Step) {
        let torn = self.stories.entry(path.clone()).or_default().take(step);
        if let Some(torn) = torn.filter(|_| !is_special(&path)) {
            let writer = self.writers.of(&path).filter(|(_, sure)| *sure).map(|(writer, _)| writer.clone());
            self.tell(Seen { path, torn, at_ms: self.now_ms(), writer });
        }
    }

    fn tell(&mut self, seen: Seen) {
        if self.torn.len() < KEPT {
            self.torn.push(seen);
        } else {
            self.note_blind(&format!("more than {KEPT} did not appear whole"));
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// No folder has this name any longer, nor one below it.
    fn leave(&mut self, path: &Path) {
        // Mostly there is none: compared by its letters, which is quick.
        if !self.folders.values().any(|folder| folder.path.as_os_str() == path.as_os_str()) {
            return;
        }
        let inotify = self.inotify;
        self.folders.retain(|watch, folder| {
            let stays = !folder.path.starts_with(path);
            if !stays {
                let _ = inotify::remove_watch(inotify, *watch);
            }
            stays
        });
    }

    /// What is or may be wrong with published files, what happened in the watched places, what the job used that others may
    /// use, and why not all was seen of the first.
    pub fn into_seen(mut self) -> (Vec<Published>, Vec<Touched>, SharedUse, Option<String>) {
        let is_sure = |path: &Path| self.writers.of(path).is_some_and(|(_, sure)| sure);
        let shared = self.commons.take().map(|commons| commons.into_use(is_sure)).unwrap_or_default();
        let touched = std::mem::take(&mut self.touched).into_iter().map(|(path, Touch { made, gone })| {
            let (writer, sure) = self.writers.of(&path).map_or((None, false), |(who, sure)| (Some(who.clone()), sure));
            Touched { path: path.to_string_lossy().into_owned(), made, gone, writer, sure }
        });
        let touched = touched.collect();
        let is_empty = |path: &Path| fs::symlink_metadata(path).is_ok_and(|file| file.is_file() && file.len() == 0);
        let at_ms = self.now_ms();
        for (path, story) in std::mem::take(&mut self.stories) {
            if let Some(torn) = story.end(|| is_empty(&path)) {
                self.tell(Seen { path, torn, at_ms, writer: None });
            }
        }
        let published = std::mem::take(&mut self.torn).into_iter().map(|Seen { path, torn, at_ms, writer }| {
            let known = self.writers.of(&path).filter(|_| !matches!(torn, Torn::Unseen | Torn::Gap));
            let sure = writer.is_some() || known.is_some_and(|(_, sure)| sure);
            let writer = writer.or_else(|| known.map(|(writer, _)| writer.clone()));
            Published { path: path.to_string_lossy().into_owned(), torn, at_ms, writer, sure }
        });
        let published = published.collect();
        (published, touched, shared, self.blind.take())
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
