//! Files that are read while something runs, as inotify tells it: whoever it is that reads them.

use std::collections::HashMap;
use std::fs;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::fs::inotify::{self, ReadFlags, WatchFlags};

use super::removals::watcher;

/// What happened to a file so far.
#[derive(Debug, Default)]
struct Seen {
    file: PathBuf,
    opened: bool,
    read: bool,
}

/// A watch on files.
#[derive(Debug)]
pub struct Reads {
    inotify: OwnedFd,
    /// By the numbers of the watches.
    files: HashMap<i32, Seen>,
}

impl Reads {
    /// Watches files from now on. One that is not there, or can't be read, is never seen to be read.
    ///
    /// # Errors
    ///
    /// Why none can be watched, in words.
    pub fn watch(files: &[PathBuf]) -> Result<Self, String> {
        let inotify = watcher().map_err(|error| std::io::Error::from(error).to_string())?;
        let flags = WatchFlags::OPEN | WatchFlags::ACCESS;
        let add = |file: &PathBuf| Some((inotify::add_watch(&inotify, file, flags).ok()?, file.clone()));
        let files = files.iter().filter_map(add);
        let files = files.map(|(number, file)| (number, Seen { file, ..Seen::default() })).collect();
        Ok(Self { inotify, files })
    }

    /// The files that somebody has opened and read since; of an empty one that it was opened.
    #[must_use]
    pub fn seen(mut self) -> Vec<PathBuf> {
        let mut buffer = [const { MaybeUninit::uninit() }; 4096];
        let mut events = inotify::Reader::new(&self.inotify, &mut buffer);
        // It does not block: an error is that there are no more.
        while let Ok(event) = events.next() {
            if let Some(seen) = self.files.get_mut(&event.wd()) {
                seen.opened |= event.events().contains(ReadFlags::OPEN);
                seen.read |= event.events().contains(ReadFlags::ACCESS);
            }
        }
        let is_empty = |file: &PathBuf| fs::metadata(file).is_ok_and(|metadata| metadata.len() == 0);
        let seen = self.files.into_values().filter(|seen| seen.opened && (seen.read || is_empty(&seen.file)));
        seen.map(|seen| seen.file).collect()
    }
}
