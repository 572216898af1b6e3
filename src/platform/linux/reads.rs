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
    names: Vec<PathBuf>,
    /// How often: what happens twice without anything between it is told once.
    opened: u64,
    read: bool,
}

/// A watch on files.
#[derive(Debug)]
pub struct Reads {
    inotify: OwnedFd,
    /// By the numbers of the watches: names of one file have the same.
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
        let mut seen: HashMap<i32, Seen> = HashMap::new();
        for file in files {
            if let Ok(number) = inotify::add_watch(&inotify, file, flags) {
                seen.entry(number).or_default().names.push(file.clone());
            }
        }
        Ok(Self { inotify, files: seen })
    }

    /// The files that somebody has opened and read since, each with how often it was opened at least; of an empty one that it
    /// was opened.
    #[must_use]
    pub fn seen(mut self) -> Vec<(PathBuf, u64)> {
        let mut buffer = [const { MaybeUninit::uninit() }; 4096];
        let mut events = inotify::Reader::new(&self.inotify, &mut buffer);
        // It does not block: an error is that there are no more.
        while let Ok(event) = events.next() {
            if let Some(seen) = self.files.get_mut(&event.wd()) {
                seen.opened += u64::from(event.events().contains(ReadFlags::OPEN));
                seen.read |= event.events().contains(ReadFlags::ACCESS);
            }
        }
        let is_empty = |file: &PathBuf| fs::metadata(file).is_ok_and(|metadata| metadata.len() == 0);
        let seen = self.files.into_values();
        seen.filter(|seen| seen.opened > 0 && (seen.read || seen.names.iter().any(is_empty)))
            .flat_map(|seen| seen.names.into_iter().map(move |name| (name, seen.opened)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_read_is_told_by_all_its_names() {
        let folder = tempfile::tempdir().expect("a folder");
        let [file, link, other] = ["file", "link", "other"].map(|name| folder.path().join(name));
        for file in [&file, &other] {
            fs::write(file, "x").expect("a file");
        }
        std::os::unix::fs::symlink("file", &link).expect("a link");
        let watch = Reads::watch(&[file.clone(), link.clone(), other]).expect("a watch");
        for _ in 0..2 {
            fs::read(&link).expect("its bytes");
        }
        assert_eq!(watch.seen(), [(file, 2), (link, 2)]);
    }
}
