//! Prove's lines against the TAP of its files, if that is shown.

use super::item::Point;
use super::prove::{Prove, Verdict, prove};
use super::stream::Sums;
use super::{Line, Tap};
use crate::readers::cases::{clip, note};

/// What prove says beside the TAP, or in place of it.
#[derive(Default)]
pub struct Proved {
    pub file: Option<String>,
    ended: Option<String>,
    failed: u64,
    missing: u64,
    skipped: u64,
    no_plan: bool,
}

impl Tap<'_> {
    pub(super) fn other(&mut self, text: &str, line: &Line<'_>) {
        self.foreign |= ["PASS", "FAIL", "SKIP"].iter().any(|word| text.starts_with(word));
        let Some(found) = prove(text) else { return };
        match found {
            // In the middle of a stream it is what a test printed.
            Prove::File(name, verdict) => {
                let file = self.prove.as_ref().is_some_and(|prove| prove.file.is_some());
                if self.stream.open && !file && !self.stream.is_complete() {
                    return;
                }
                if file || self.stream.open {
                    self.end_stream();
                }
                self.is_own(line);
                let prove = self.prove.get_or_insert_default();
                prove.file = Some(clip(name));
                match verdict {
                    Some(Verdict::Skipped(why)) => {
                        prove.skipped += 1;
                        self.stream.open = true;
                        self.stream.skip = Some((clip(why), line.at));
                        self.end_file(line);
                    }
                    Some(_) => self.end_file(line),
                    None => {}
                }
            }
            Prove::Verdict(Verdict::Ended(status)) => {
                if let Some(prove) = &mut self.prove {
                    prove.ended = Some(clip(status));
                }
            }
            Prove::Verdict(_) if self.prove.is_some() => {
                let complete = self.stream.is_complete() || text.starts_with("All ");
                if let Some(Proved { file: Some(file), ended: Some(status), .. }) = &self.prove
                    && complete
                {
                    note(&mut self.notes, format!("{file} passed all, and ended with status {status}"));
                }
                self.end_file(line);
            }
            Prove::Tally { tests } if self.prove.is_some() => {
                self.is_own(line);
                self.end_prove(tests);
            }
            Prove::Result if self.proved > 0 => self.is_own(line),
            Prove::Summary { failed } => {
                if let Some(prove) = &mut self.prove {
                    prove.failed += failed;
                }
            }
            Prove::BadPlan { missing } => {
                if let Some(prove) = &mut self.prove {
                    prove.missing += missing;
                }
            }
            Prove::NoPlan => {
                if let Some(prove) = &mut self.prove {
                    prove.no_plan = true;
                }
            }
            Prove::Verdict(_) | Prove::Tally { .. } | Prove::Result => {}
        }
    }

    /// Whether a bare `ok` is what prove says of a file.
    pub(super) fn ends_file(&self, point: &Point) -> bool {
        let file = self.prove.as_ref().is_some_and(|prove| prove.file.is_some());
        file && point.ok && self.stream.is_complete()
    }

    pub(super) fn end_file(&mut self, line: &Line<'_>) {
        self.is_own(line);
        self.end_stream();
        if let Some(prove) = &mut self.prove {
            prove.file = None;
            prove.ended = None;
        }
    }

    /// Prove's own tally: it counts if the TAP of its files was not shown, or not all of it.
    fn end_prove(&mut self, tests: u64) {
        self.end_stream();
        let prove = self.prove.take().unwrap_or_default();
        let shown = std::mem::take(&mut self.under_prove);
        self.proved += 1;
        if shown.lines >= tests {
            self.sums.add(shown);
            return;
        }
        let failed = prove.failed.min(tests);
        let mut sums = Sums { unknown: prove.missing, open_end: prove.no_plan, hidden: true, ..Sums::default() };
        sums.outcomes.failed = failed;
        sums.outcomes.passed = tests - failed;
        sums.outcomes.skipped = prove.skipped;
        sums.planned = tests + prove.skipped + prove.missing;
        sums.any_plan = prove.missing > 0;
        self.sums.add(sums);
    }
}
