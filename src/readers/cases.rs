//! Bounded lists of cases, frames and notes: the numbers go on where a list is cut.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::mem;

use super::Arrival;
use crate::model::{Case, CaseOutcome, Counts, Frame};

/// The most cases that are kept by name. Several readers may take the same lines for theirs, each with a list.
pub const MOST_CASES: usize = 50_000;
/// The most text that a list of cases keeps, in bytes.
const MOST_TEXT: usize = 4 << 20;
/// The most frames that are kept.
pub const MOST_FRAMES: usize = 1_000;
/// The longest name, reason or error that is kept, in characters.
pub const LONGEST_TEXT: usize = 1_000;
/// The most notes that a reading has.
const MOST_NOTES: usize = 50;

/// The text, or as much of it as is kept.
pub fn clip(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A number of cases; none that no program could run, so that sums hold whatever the output says.
pub fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|&number| number <= 1_000_000_000)
}

/// Adds a note, unless it is there already or there are too many.
pub fn note(notes: &mut Vec<String>, text: impl Into<String>) {
    let text = text.into();
    if notes.len() < MOST_NOTES && !notes.contains(&text) {
        notes.push(text);
    }
}

/// How many cases ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcomes {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    pub unknown: u64,
}

impl Outcomes {
    /// How many have an outcome.
    pub fn ran(self) -> u64 {
        self.passed + self.failed + self.skipped
    }

    /// As counts, all of them known but for what was planned, and perhaps for what never ran. Of two answers to how many
    /// never ran, the plan's and the reader's, the larger counts.
    pub fn counts(self, planned: Option<u64>, unknown: Option<u64>) -> Counts {
        let planned = planned.map(|planned| planned.max(self.ran() + unknown.unwrap_or(0)));
        let unknown = unknown.map(|unknown| planned.map_or(unknown, |planned| planned - self.ran()));
        Counts {
            planned,
            ran: Some(self.ran()),
            passed: Some(self.passed),
            failed: Some(self.failed),
            skipped: Some(self.skipped),
            unknown,
        }
    }

    fn of(&mut self, outcome: CaseOutcome) -> &mut u64 {
        match outcome {
            CaseOutcome::Passed => &mut self.passed,
            CaseOutcome::Failed => &mut self.failed,
            CaseOutcome::Skipped => &mut self.skipped,
            CaseOutcome::Unknown => &mut self.unknown,
        }
    }
}

/// Cases by name. One name is one case, however many lines tell of it: the worst outcome stays.
#[derive(Debug, Default)]
pub struct CaseList {
    /// With the place of its outcome in the output, by which they are sorted in the end.
    cases: Vec<(u64, Case)>,
    hasher: RandomState,
    /// From a name's hash to its place; of the current suite only.
    index: HashMap<u64, usize>,
    outcomes: Outcomes,
    told: u64,
    /// How many bytes of text are kept.
    text: usize,
    cut: bool,
}

impl CaseList {
    /// Takes one statement about a case.
    pub fn record(&mut self, name: &str, outcome: CaseOutcome, reason: Option<&str>, at: Arrival) {
        self.told += 1;
        let name = clip(name);
        let reason = reason.map(clip);
        let ms = |us: Option<u64>| us.map(|us| us / 1000);
        let key = self.hasher.hash_one(&name);
        if let Some(&place) = self.index.get(&key) {
            let (told, case) = &mut self.cases[place];
            if rank(outcome) > rank(case.outcome) {
                *self.outcomes.of(case.outcome) -= 1;
                *self.outcomes.of(outcome) += 1;
                *told = self.told;
                case.outcome = outcome;
                case.reason = reason;
                case.at_ms = ms(at.last_us);
            }
            return;
        }
        *self.outcomes.of(outcome) += 1;
        let text = name.len() + reason.as_ref().map_or(0, String::len);
        if self.cases.len() == MOST_CASES || self.text + text > MOST_TEXT {
            self.cut = true;
            return;
        }
        self.text += text;
        self.index.insert(key, self.cases.len());
        self.cases.push((self.told, Case { name, outcome, reason, from_ms: ms(at.first_us), at_ms: ms(at.last_us) }));
    }

    /// The outcomes since the last [`Self::end_suite`].
    pub fn outcomes(&self) -> Outcomes {
        self.outcomes
    }

    /// What is known of the case of that name in this suite.
    pub fn outcome(&self, name: &str) -> Option<CaseOutcome> {
        let place = self.index.get(&self.hasher.hash_one(clip(name)))?;
        Some(self.cases[*place].1.outcome)
    }

    /// Gives every case of this suite that has no outcome this one.
    pub fn settle_unknown(&mut self, outcome: CaseOutcome) {
        for &place in self.index.values() {
            let case = &mut self.cases[place].1;
            if case.outcome == CaseOutcome::Unknown {
                case.outcome = outcome;
                self.outcomes.unknown -= 1;
                *self.outcomes.of(outcome) += 1;
            }
        }
    }

    /// The names of this suite's cases with that outcome, in the order of the output.
    pub fn names(&self, outcome: CaseOutcome) -> Vec<&str> {
        let mut places: Vec<_> = self.index.values().copied().collect();
        places.sort_unstable();
        let cases = places.into_iter().map(|place| &self.cases[place].1);
        cases.filter(|case| case.outcome == outcome).map(|case| case.name.as_str()).collect()
    }

    /// Starts anew: the same name is another case from here on.
    pub fn end_suite(&mut self) -> Outcomes {
        self.index.clear();
        mem::take(&mut self.outcomes)
    }

    /// The cases in the order of their outcomes.
    pub fn finish(mut self, notes: &mut Vec<String>) -> Vec<Case> {
        if self.cut {
            note(notes, format!("more than {} cases: their list is cut, their numbers are not", self.cases.len()));
        }
        self.cases.sort_by_key(|(told, _)| *told);
        self.cases.into_iter().map(|(_, case)| case).collect()
    }
}

/// Which of two statements about one case holds: the higher.
fn rank(outcome: CaseOutcome) -> u8 {
    match outcome {
        CaseOutcome::Unknown => 0,
        CaseOutcome::Passed => 1,
        CaseOutcome::Skipped => 2,
        CaseOutcome::Failed => 3,
    }
}

/// Frames, up to a limit.
#[derive(Debug, Default)]
pub struct Frames {
    list: Vec<Frame>,
    cut: bool,
}

impl Frames {
    /// Takes a frame, if there is one.
    pub fn extend(&mut self, frame: Option<Frame>) {
        if let Some(frame) = frame {
            if self.list.len() < MOST_FRAMES {
                self.list.push(frame);
            } else {
                self.cut = true;
            }
        }
    }

    /// The frames in the order in which they came.
    pub fn finish(self, notes: &mut Vec<String>) -> Vec<Frame> {
        if self.cut {
            note(notes, format!("more than {MOST_FRAMES} failures: the list of frames is cut"));
        }
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(last_us: u64) -> Arrival {
        Arrival { first_us: None, last_us: Some(last_us) }
    }

    #[test]
    fn one_name_is_one_case_and_the_worst_outcome_stays() {
        let mut list = CaseList::default();
        list.record("a", CaseOutcome::Unknown, None, at(1_000));
        list.record("b", CaseOutcome::Passed, None, at(2_000));
        list.record("a", CaseOutcome::Passed, None, at(3_000));
        list.record("a", CaseOutcome::Failed, None, at(4_999));
        list.record("a", CaseOutcome::Passed, None, at(5_000));
        assert_eq!(list.outcomes(), Outcomes { passed: 1, failed: 1, ..Outcomes::default() });
        let cases = list.finish(&mut Vec::new());
        let told: Vec<_> = cases.iter().map(|case| (case.name.as_str(), case.outcome, case.at_ms)).collect();
        assert_eq!(told, [("b", CaseOutcome::Passed, Some(2)), ("a", CaseOutcome::Failed, Some(4))]);
    }

    #[test]
    fn the_same_name_in_the_next_suite_is_another_case() {
        let mut list = CaseList::default();
        list.record("a", CaseOutcome::Failed, None, Arrival::default());
        assert_eq!(list.end_suite().failed, 1);
        list.record("a", CaseOutcome::Passed, None, Arrival::default());
        assert_eq!(list.outcomes(), Outcomes { passed: 1, ..Outcomes::default() });
        assert_eq!(list.finish(&mut Vec::new()).len(), 2);
    }

    #[test]
    fn lists_are_cut_and_numbers_go_on() {
        let mut list = CaseList::default();
        for i in 0..MOST_CASES + 7 {
            list.record(&i.to_string(), CaseOutcome::Passed, None, Arrival::default());
        }
        assert_eq!(list.outcomes().passed, MOST_CASES as u64 + 7);
        let mut notes = Vec::new();
        assert_eq!(list.finish(&mut notes).len(), MOST_CASES);
        assert_eq!(notes.len(), 1);
    }

    #[test]
    fn long_names_cut_the_list_sooner() {
        let mut list = CaseList::default();
        for i in 0..10_000 {
            list.record(&format!("{i}{}", "é".repeat(LONGEST_TEXT)), CaseOutcome::Passed, None, Arrival::default());
        }
        assert_eq!(list.outcomes().passed, 10_000);
        let cases = list.finish(&mut Vec::new());
        let text: usize = cases.iter().map(|case| case.name.len()).sum();
        assert!(text <= MOST_TEXT && text > MOST_TEXT - 4 * LONGEST_TEXT, "{text}");
    }

    #[test]
    fn a_plan_and_what_never_ran_agree() {
        let six = Outcomes { passed: 6, ..Outcomes::default() };
        let plan = |planned, unknown| {
            let counts = six.counts(planned, unknown);
            assert!(counts.agree(), "{counts:?}");
            (counts.planned, counts.unknown)
        };
        assert_eq!(plan(Some(6), Some(1)), (Some(7), Some(1)));
        assert_eq!(plan(Some(9), Some(1)), (Some(9), Some(3)));
        assert_eq!(plan(Some(3), Some(0)), (Some(6), Some(0)));
        assert_eq!((plan(Some(9), None), plan(None, Some(2))), ((Some(9), None), (None, Some(2))));
    }

    #[test]
    fn numbers_that_no_program_runs_are_none() {
        assert_eq!(number("57"), Some(57));
        assert_eq!((number("1000000001"), number("99999999999999999999"), number("x")), (None, None, None));
    }

    #[test]
    fn long_texts_are_clipped_at_a_character() {
        let clipped = clip(&"é".repeat(LONGEST_TEXT + 1));
        assert_eq!(clipped.chars().count(), LONGEST_TEXT + 1);
        assert!(clipped.ends_with('…'));
        assert_eq!(clip("short"), "short");
    }
}
