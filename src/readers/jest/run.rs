//! What both runners tell, summed over runs.

use std::collections::HashSet;

use crate::model::{Case, CaseOutcome, Frame, ReaderName, Reading};
use crate::readers::cases::{CaseList, Frames, MOST_CASES, Outcomes, note, number};
use crate::readers::{Arrival, Recognised, Span, Strength};

/// The numbers of one line of a tally.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Numbers {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    pub total: u64,
}

impl Numbers {
    /// `1 failed, 2 passed, 3 total`, with whatever stands between.
    pub fn read(text: &str, between: &str) -> Option<Self> {
        let mut numbers = Self::default();
        for part in text.split(between) {
            let (count, word) = part.trim().split_once(' ')?;
            let count = number(count)?;
            match word {
                "passed" => numbers.passed += count,
                "failed" => numbers.failed += count,
                "skipped" | "todo" | "pending" => numbers.skipped += count,
                "total" => numbers.total = count,
                _ => numbers.total = number(word.strip_prefix("of ")?.strip_suffix(" total")?)?,
            }
        }
        Some(numbers)
    }

    pub fn told(self) -> u64 {
        self.passed + self.failed + self.skipped
    }
}

/// All that was seen.
#[derive(Default)]
pub struct Run {
    cases: CaseList,
    list: Vec<Case>,
    pub frames: Frames,
    pub notes: Vec<String>,
    pub span: Option<Span>,
    /// Of the run that is being read: lines of cases, and what failed beside them.
    lines: Outcomes,
    beside: u64,
    failing: HashSet<String>,
    /// It has begun, and its tally is awaited.
    pub open: bool,
    sums: Outcomes,
    unknown: u64,
    pub tallies: u64,
}

impl Run {
    /// A line tells of a case. The same name in another file is another case.
    pub fn record(&mut self, name: &str, outcome: CaseOutcome, at: Arrival) {
        match outcome {
            CaseOutcome::Passed => self.lines.passed += 1,
            CaseOutcome::Failed => self.lines.failed += 1,
            CaseOutcome::Skipped => self.lines.skipped += 1,
            CaseOutcome::Unknown => self.lines.unknown += 1,
        }
        self.name(name, outcome, at);
    }

    /// The name of a case that is counted elsewhere.
    pub fn name(&mut self, name: &str, outcome: CaseOutcome, at: Arrival) {
        self.cases.record(name, outcome, None, at);
        if outcome == CaseOutcome::Failed && self.failing.len() < MOST_CASES {
            self.failing.insert(name.to_owned());
        }
        self.cases.end_suite();
    }

    pub fn is_named(&self, name: &str) -> bool {
        self.failing.contains(name)
    }

    /// Forgets which cases of a file were named.
    pub fn next_file(&mut self) {
        self.failing.clear();
    }

    /// So many passed or were skipped by a line that names none.
    pub fn count(&mut self, passed: u64, failed: u64, skipped: u64) {
        self.lines.passed += passed;
        self.lines.failed += failed;
        self.lines.skipped += skipped;
    }

    /// A file or a suite failed before its cases.
    pub fn failed_beside(&mut self, count: u64) {
        if self.open {
            self.beside += count;
        } else {
            // Vitest tells of it behind its tally, on the other stream.
            self.sums.failed += count;
        }
    }

    /// The numbers at the end of a run; whether files of it never ran.
    pub fn tally(&mut self, numbers: Numbers, short: bool) {
        self.tallies += 1;
        self.open = false;
        let lines = std::mem::take(&mut self.lines);
        let beside = std::mem::take(&mut self.beside);
        let left = numbers.total.saturating_sub(numbers.told());
        if lines.ran() > numbers.told() {
            let (told, seen) = (numbers.told(), lines.ran());
            self.note(format!("the tally says that {told} cases ran, its lines tell of {seen}: the tally counts"));
        }
        self.sums.passed += numbers.passed;
        self.sums.failed += numbers.failed + beside;
        self.sums.skipped += numbers.skipped;
        self.unknown += left.max(u64::from(short));
        if short {
            self.note("whole files never ran: how many cases they have is not told");
        }
    }

    pub fn note(&mut self, text: impl Into<String>) {
        note(&mut self.notes, text);
    }

    pub fn frame(&mut self, frame: Frame) {
        self.frames.extend(Some(frame));
    }

    /// Nothing follows; `name` is the runner's.
    pub fn finish(mut self, name: &str, dead: bool) -> Option<Recognised> {
        if self.open || dead {
            self.sums.passed += self.lines.passed;
            self.sums.failed += self.lines.failed + self.beside;
            self.sums.skipped += self.lines.skipped;
            self.unknown += self.lines.unknown.max(1);
            self.note(format!("{name} ended without its tally: what was seen before counts"));
        } else if self.tallies == 0 {
            return None;
        }
        let mut notes = self.notes;
        self.list.extend(self.cases.finish(&mut notes));
        let reading = Reading {
            reader: Some(name.to_owned()),
            counts: self.sums.counts(None, Some(self.unknown)),
            cases: self.list,
            frames: self.frames.finish(&mut notes),
            notes,
        };
        let strength = if self.tallies > 0 { Strength::Tally } else { Strength::Lines };
        Some(Recognised { reader: ReaderName::Jest, strength, span: self.span, reading })
    }
}

/// Whether a file is one that JavaScript's runners run.
pub fn is_script(name: &str) -> bool {
    let end = name.rsplit('.').next().unwrap_or_default();
    name.contains('.') && matches!(end, "js" | "cjs" | "mjs" | "jsx" | "ts" | "cts" | "mts" | "tsx" | "vue")
}
