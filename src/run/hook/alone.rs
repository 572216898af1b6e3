//! One call at a time for a script: who reads a file is not told, only that somebody does.
//!
//! A check of another kind that may have to do with a script runs before or after such a call, never meanwhile.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use super::wired::Wired;
use crate::model::Check;
use crate::plan::Plan;

/// The files that are being read now, or may be.
#[derive(Debug, Default)]
pub struct Reading {
    now: Mutex<Now>,
    changed: Condvar,
    wired: OnceLock<Wired>,
}

#[derive(Debug, Default)]
struct Now {
    /// The files of calls.
    called: HashSet<PathBuf>,
    /// Those of calls that wait, by how many: no further check begins that has to do with them.
    wanted: HashMap<PathBuf, usize>,
    /// How many checks of other kinds have to do with a file.
    read: HashMap<PathBuf, usize>,
}

/// Files that no other call reads, nor a check that has to do with them; given back when it is dropped.
#[derive(Debug)]
pub struct Alone<'r> {
    reading: &'r Reading,
    files: HashSet<PathBuf>,
}

/// A check that is none of hooks, while it runs.
#[derive(Debug)]
pub struct Reader<'r> {
    reading: &'r Reading,
    files: HashSet<PathBuf>,
}

impl Reading {
    /// What is wired in the plan's project, read when it is first asked for: nothing is called before.
    pub fn wired(&self, plan: &Plan) -> &Wired {
        self.wired.get_or_init(|| Wired::of(plan))
    }

    /// Waits until none of these files is another's. All of them are taken at once, so that nobody waits for each other.
    pub fn alone(&self, files: &[PathBuf]) -> Alone<'_> {
        let files = files_of(files);
        add(&mut self.lock().wanted, &files);
        let is_free = |file: &PathBuf, now: &Now| !now.called.contains(file) && !now.read.contains_key(file);
        let mut now = self.wait(|now| files.iter().all(|file| is_free(file, now)));
        take(&mut now.wanted, &files);
        now.called.extend(files.iter().cloned());
        Alone { reading: self, files }
    }

    /// Waits until no call has files that a check of another kind may have to do with.
    pub fn by_check(&self, plan: &Plan, check: &Check) -> Reader<'_> {
        self.reader(&self.wired(plan).readable(check))
    }

    /// Waits until no call is made of any script that is in the plan's project: all of them are about to be copied, or to
    /// be read by who knows what.
    pub fn by_any(&self, plan: &Plan) -> Reader<'_> {
        self.reader(&self.wired(plan).all())
    }

    fn reader(&self, files: &[PathBuf]) -> Reader<'_> {
        let files = files_of(files);
        let is_free = |file: &PathBuf, now: &Now| !now.called.contains(file) && !now.wanted.contains_key(file);
        let mut now = self.wait(|now| files.iter().all(|file| is_free(file, now)));
        add(&mut now.read, &files);
        Reader { reading: self, files }
    }

    fn lock(&self) -> MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait(&self, until: impl Fn(&Now) -> bool) -> MutexGuard<'_, Now> {
        let mut now = self.lock();
        while !until(&now) {
            now = self.changed.wait(now).unwrap_or_else(PoisonError::into_inner);
        }
        now
    }
}

fn add(counts: &mut HashMap<PathBuf, usize>, files: &HashSet<PathBuf>) {
    for file in files {
        *counts.entry(file.clone()).or_default() += 1;
    }
}

fn take(counts: &mut HashMap<PathBuf, usize>, files: &HashSet<PathBuf>) {
    counts.retain(|file, count| {
        *count -= usize::from(files.contains(file));
        *count > 0
    });
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.reading.lock().called.retain(|file| !self.files.contains(file));
        self.reading.changed.notify_all();
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        take(&mut self.reading.lock().read, &self.files);
        self.reading.changed.notify_all();
    }
}

/// What names lead to: two names can be one file.
fn files_of(names: &[PathBuf]) -> HashSet<PathBuf> {
    names.iter().map(|name| fs::canonicalize(name).unwrap_or_else(|_| name.clone())).collect()
}

/// Sorts calls by their order into rounds, in each of which no two have a file in common; each into one of its own if they
/// are made `in_turn`.
pub fn rounds<T>(calls: Vec<(T, Vec<PathBuf>)>, in_turn: bool) -> Vec<Vec<T>> {
    if in_turn {
        return calls.into_iter().map(|(call, _)| vec![call]).collect();
    }
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
        assert_eq!(rounds(calls.clone(), false), [vec!["a", "c", "d"], vec!["b"]]);
        assert_eq!(rounds(calls, true), [["a"], ["b"], ["c"], ["d"]]);
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

    #[test]
    fn checks_share_a_file_and_a_call_has_it_alone() {
        let reading = Reading::default();
        let file = [PathBuf::from("/x/1")];
        let (one, two) = (reading.reader(&file), reading.reader(&file));
        let (send, receive) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                drop(reading.alone(&file));
                send.send("called").expect("somebody listens");
            });
            drop(one);
            assert!(receive.try_recv().is_err());
            drop(two);
            assert_eq!(receive.recv(), Ok("called"));
        });
        // Those that would begin meanwhile come after it.
        let one = reading.reader(&file);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let called = reading.alone(&file);
                send.send("called").expect("somebody listens");
                drop(called);
            });
            while reading.lock().wanted.is_empty() {
                std::thread::yield_now();
            }
            scope.spawn(|| {
                drop(reading.reader(&file));
                send.send("read").expect("somebody listens");
            });
            drop(one);
            assert_eq!([receive.recv(), receive.recv()], [Ok("called"), Ok("read")]);
        });
    }
}
