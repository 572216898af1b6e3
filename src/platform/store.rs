//! What a stream brought: in bounded memory, the whole kept.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use super::Captured;
use crate::model::Mark;

/// What is kept in memory; more goes to a file.
const IN_MEMORY: usize = 64 * 1024;
/// How many arrivals are remembered; then every second one is forgotten.
const MARKS: usize = 16 * 1024;

/// Bytes as they come.
#[derive(Debug)]
pub struct Store {
    /// A folder for what is too much for memory.
    spill: PathBuf,
    file: Option<File>,
    captured: Captured,
}

impl Store {
    /// An empty one.
    #[must_use]
    pub fn new(spill: PathBuf) -> Self {
        Self { spill, file: None, captured: Captured::default() }
    }

    /// How many bytes came.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.captured.bytes
    }

    /// The stream has ended.
    pub fn end(&mut self, now_us: u64) {
        self.captured.end_us = Some(now_us);
    }

    /// What comes from here on can't be had.
    pub fn lose(&mut self, why: &io::Error) {
        self.captured.lost.get_or_insert_with(|| why.to_string());
    }

    /// Takes what came.
    pub fn take(&mut self, bytes: &[u8], now_us: u64) {
        self.captured.bytes += bytes.len() as u64;
        self.mark(now_us);
        if self.captured.lost.is_some() {
            return;
        }
        if self.file.is_none() {
            if self.captured.memory.len() + bytes.len() <= IN_MEMORY {
                self.captured.memory.extend_from_slice(bytes);
                return;
            }
            // Without a name: the check could put something else in its place.
            let opened = tempfile::tempfile_in(&self.spill).and_then(|mut file| {
                file.write_all(&self.captured.memory)?;
                Ok(file)
            });
            match opened {
                Ok(file) => self.file = Some(file),
                // What is in memory stays; the stream is drained all the same, else the job would stop.
                Err(error) => return self.captured.lost = Some(format!("{}: {error}", self.spill.display())),
            }
            self.captured.memory = Vec::new();
        }
        if let Some(file) = &mut self.file
            && let Err(error) = file.write_all(bytes)
        {
            self.captured.lost = Some(format!("{}: {error}", self.spill.display()));
        }
    }

    fn mark(&mut self, at_us: u64) {
        let marks = &mut self.captured.marks;
        let offset = self.captured.bytes;
        match marks.last_mut() {
            // Arrivals within a tenth of a millisecond are one.
            Some(last) if at_us - last.at_us < 100 => last.offset = offset,
            _ => marks.push(Mark { offset, at_us }),
        }
        // The count is odd here, so that the first and the last mark stay.
        if marks.len() > MARKS {
            let mut index = 0;
            marks.retain(|_| {
                index += 1;
                index % 2 == 1
            });
        }
    }

    /// All that came.
    #[must_use]
    pub fn into_captured(mut self) -> Captured {
        self.captured.spilled = self.file.is_some();
        self.captured.file = self.file.map(Arc::new);
        self.captured
    }
}
