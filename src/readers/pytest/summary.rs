//! The short summary at a session's end.

use super::super::Arrival;
use super::super::cases::{MOST_CASES, MOST_FRAMES, clip, number as number_of};
use super::ids::id_at;
use super::tally::{Entry, Kind};
use super::{Pytest, SKIPPED};
use crate::model::CaseOutcome;

impl Pytest<'_> {
    /// A line of the short summary.
    pub fn summary(&mut self, end: &str, at: Arrival) {
        if let Some(found) = SKIPPED.captures(end) {
            if self.session.skips.len() < MOST_CASES {
                self.session.skips.push((number_of(&found[1]).unwrap_or(1), clip(&found[2]), clip(&found[3])));
            }
            return;
        }
        let Some((word, rest)) = end.split_once(' ') else { return };
        let outcome = match word {
            "PASSED" | "XFAIL" | "XPASS" => CaseOutcome::Passed,
            "FAILED" | "ERROR" => CaseOutcome::Failed,
            _ if word.starts_with("SUBFAIL") => CaseOutcome::Failed,
            _ => return,
        };
        let kind = match word {
            "FAILED" => Kind::Failed,
            "ERROR" => Kind::Error,
            _ => Kind::Subtest,
        };
        // `SUBFAILED[a message] (i=3) tests/test_x.py::test_y - …`
        let rest = match rest.find("::") {
            Some(colons) if kind == Kind::Subtest => &rest[rest[..colons].rfind(' ').map_or(0, |blank| blank + 1)..],
            _ => rest,
        };
        let id = id_at(rest, rest.find("::").map_or(0, |colons| colons + 2));
        // The file's name may hold blanks; what follows an id is a dash.
        let (id, message) = match rest[id.len()..].strip_prefix(" - ") {
            Some(message) => (id, Some(message)),
            None if id.len() == rest.len() => (id, None),
            None => rest.split_once(" - ").map_or((rest, None), |(id, message)| (id, Some(message))),
        };
        if id.is_empty() {
            return;
        }
        self.cases.record(id, outcome, None, at);
        if outcome == CaseOutcome::Failed && self.session.listed.len() < MOST_CASES {
            // Messages tell the places of `--tb=line` apart, of which no more are kept.
            let message = message.filter(|_| self.session.listed.len() < 2 * MOST_FRAMES).map(clip);
            self.session.listed.push(Entry { kind, name: clip(id), message });
        }
    }
}
