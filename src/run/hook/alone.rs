//! One call at a time for a script: who reads a file is not told, only that somebody does.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// The files that calls of this run may be reading now.
#[derive(Debug, Default)]
pub struct Reading {
    taken: Mutex<HashSet<PathBuf>>,
    changed: Condvar,
    /// Calls share it; who looks for what is wired, and so reads scripts in this process, has it alone.
    looking: RwLock<()>,
}

/// Files that no other call may read; given back when it is dropped.
#[derive(Debug)]
pub struct Alone<'r> {
    reading: &'r Reading,
    files: HashSet<PathBuf>,
    _called: RwLockReadGuard<'r, ()>,
}

impl Reading {
    /// Waits until none of these files is another's. All of them are taken at once, so that nobody waits for each other.
    pub fn alone(&self, files: &[PathBuf]) -> Alone<'_> {
        let files = files_of(files);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        while !taken.is_disjoint(&files) {
            taken = self.changed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        taken.extend(files.iter().cloned());
        drop(taken);
        Alone { reading: self, files, _called: self.looking.read().unwrap_or_else(PoisonError::into_inner) }
    }

    /// Waits until no call is made. As long as this is kept none begins: what is read now is no call's reading.
    pub fn look(&self) -> RwLockWriteGuard<'_, ()> {
        self.looking.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        let mut taken = self.reading.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|file| !self.files.contains(file));
        drop(taken);
        self.reading.changed.notify_all();
    }
}

/// What names lead to: two names can be one file.
fn files_of(names: &[PathBuf]) -> HashSet<PathBuf> {
    names.iter().map(|name| fs::canonicalize(name).unwrap_or_else(|_| name.clone())).collect()
}

/// Sorts calls by their order into rounds, in each of which no two have a file in common.
pub fn rounds<T>(calls: Vec<(T, Vec<PathBuf>)>) -> Vec<Vec<T>> {
    let mut rounds: Vec<(Vec<T>, HashSet<PathBuf>)> = Vec::new();
    for (call, names) in calls {
        let files = files_of(&names);
        match rounds.iter_mut().find(|(_, taken)| taken.is_disjoint(&files)) {
            Some((round, taken)) => {
                round.push(call);
                taken.extend(files);
            }
            None => rounds.push((vec![call], files)),
        }
    }
    rounds.into_iter().map(|(round, _)| round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_with_a_common_file_come_one_after_the_other() {
        let call = |name: &'static str, files: &[&str]| (name, files.iter().map(PathBuf::from).collect());
        let calls = vec![call("a", &["/x/1"]), call("b", &["/x/1", "/x/2"]), call("c", &["/x/2"]), call("d", &[])];
        assert_eq!(rounds(calls), [vec!["a", "c", "d"], vec!["b"]]);
    }

    #[test]
    fn a_file_is_waited_for() {
        let reading = Reading::default();
        let first = reading.alone(&[PathBuf::from("/x/1")]);
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                drop(reading.alone(&[PathBuf::from("/x/2"), PathBuf::from("/x/1")]));
                send.send("second").expect("somebody listens");
            });
            // Another file is nobody's.
            drop(reading.alone(&[PathBuf::from("/x/3")]));
            assert!(receive.try_recv().is_err());
            drop(first);
            assert_eq!(receive.recv(), Ok("second"));
        });
    }
}
