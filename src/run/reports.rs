//! The reports of the checks of a run. The first are in memory, all others in a file that has no name: what grows with the
//! number of checks is where each is.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::model::CheckReport;
use crate::platform;

/// So much is held in memory, in bytes.
const IN_MEMORY: usize = 4 << 20;
/// What a report has beside its texts, and each part of its lists, as far as that can be guessed.
const BASE: usize = 1024;
const PART: usize = 256;

/// Reports, each at the place of its check.
#[derive(Debug, Default)]
pub struct Reports {
    store: Mutex<Store>,
}

#[derive(Debug, Default)]
struct Store {
    places: BTreeMap<usize, Place>,
    /// How much is in memory.
    held: usize,
    /// Made when memory is full.
    file: Option<File>,
    /// How long it is.
    end: u64,
}

#[derive(Debug)]
enum Place {
    Memory(Box<CheckReport>),
    /// As JSON.
    File {
        at: u64,
        length: usize,
    },
}

impl Reports {
    /// Takes in a report. Where the file can't be written, it stays in memory.
    pub fn put(&self, index: usize, report: CheckReport) {
        let mut store = self.lock();
        let size = size(&report);
        let place = if store.held + size <= IN_MEMORY { None } else { store.write(&report).ok() };
        if place.is_none() {
            store.held += size;
        }
        store.places.insert(index, place.unwrap_or_else(|| Place::Memory(Box::new(report))));
    }

    /// One of them; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the file can't be read.
    pub fn get(&self, index: usize) -> io::Result<Option<CheckReport>> {
        self.lock().get(index)
    }

    /// Takes one out again; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If the file can't be read.
    pub fn take(&self, index: usize) -> io::Result<Option<CheckReport>> {
        let mut store = self.lock();
        match store.places.remove(&index) {
            None => Ok(None),
            Some(Place::Memory(report)) => {
                store.held = store.held.saturating_sub(size(&report));
                Ok(Some(*report))
            }
            Some(Place::File { at, length }) => store.read(at, length).map(Some),
        }
    }

    /// Takes out what is first in the order of the places, with its place.
    pub fn take_first(&self) -> Option<(usize, io::Result<CheckReport>)> {
        let (&index, _) = self.lock().places.first_key_value()?;
        Some((index, self.take(index).transpose()?))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().places.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of them, in the order of their places, one at a time. An error is that of reading the file.
    pub fn iter(&self) -> impl Iterator<Item = io::Result<CheckReport>> + '_ {
        let mut next = 0;
        std::iter::from_fn(move || {
            let mut store = self.lock();
            let (&index, _) = store.places.range(next..).next()?;
            next = index + 1;
            store.get(index).transpose()
        })
    }

    fn lock(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FromIterator<(usize, CheckReport)> for Reports {
    fn from_iter<I: IntoIterator<Item = (usize, CheckReport)>>(all: I) -> Self {
        let reports = Self::default();
        all.into_iter().for_each(|(index, report)| reports.put(index, report));
        reports
    }
}

impl Store {
    fn write(&mut self, report: &CheckReport) -> io::Result<Place> {
        let bytes = serde_json::to_vec(report)?;
        let mut file = match self.file.take() {
            Some(file) => file,
            None => tempfile::tempfile_in(platform::sandbox_base())?,
        };
        let at = self.end;
        // What was half written is written over.
        let written = file.seek(SeekFrom::Start(at)).and_then(|_| file.write_all(&bytes));
        self.file = Some(file);
        written?;
        self.end += bytes.len() as u64;
        Ok(Place::File { at, length: bytes.len() })
    }

    fn get(&mut self, index: usize) -> io::Result<Option<CheckReport>> {
        match self.places.get(&index) {
            None => Ok(None),
            Some(Place::Memory(report)) => Ok(Some((**report).clone())),
            Some(&Place::File { at, length }) => self.read(at, length).map(Some),
        }
    }

    fn read(&mut self, at: u64, length: usize) -> io::Result<CheckReport> {
        let mut bytes = vec![0; length];
        let file = self.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(&mut bytes)?;
        Ok(serde_json::from_slice(&bytes)?)
    }
}

/// About how much memory a report takes.
fn size(report: &CheckReport) -> usize {
    let parts = report.cases.list.len() + report.frames.len() + report.findings.len() + report.processes.len();
    BASE + report.stdout.tail.len() + report.stderr.tail.len() + PART * (parts + report.shared.things.len())
}

#[cfg(test)]
mod tests {
    use super::super::records;
    use super::*;
    use crate::model::{Check, CheckCommand, Verdict};

    fn report(number: usize) -> CheckReport {
        let check = Check::new(format!("c{number}"), CheckCommand::Argv(vec!["x".into()]));
        let mut report = records::empty(&check, Verdict::Passed, None);
        report.stdout.tail = format!("{number}").repeat(8 * 1024);
        report
    }

    #[test]
    fn all_come_back_in_their_order_and_memory_holds_a_part_of_them() {
        let all = 0..1000;
        let reports: Reports = all.clone().rev().map(|number| (number, report(number))).collect();
        {
            let store = reports.lock();
            assert!(store.held <= IN_MEMORY && store.end > IN_MEMORY as u64, "{} and {}", store.held, store.end);
        }
        assert_eq!(reports.take(500).expect("it can be read"), Some(report(500)));
        assert_eq!(reports.take(500).expect("it can be read"), None);
        let back: Vec<CheckReport> = reports.iter().collect::<io::Result<_>>().expect("they can be read");
        assert_eq!(back.len(), 999);
        assert!(back.iter().zip(all.filter(|number| *number != 500)).all(|(back, number)| *back == report(number)));
    }

    #[test]
    fn what_cannot_be_read_back_is_an_error() {
        let reports: Reports = (0..1000).map(|number| (number, report(number))).collect();
        reports.lock().file.as_mut().expect("a file").set_len(10).expect("it can be cut");
        assert!(reports.iter().any(|report| report.is_err()));
    }
}
