//! Which case each progress character is about, by its place among the collected cases.
//!
//! `pytest -q` prints one run of characters for all cases, without `-q` one for each file. A character is one case, but
//! for `E`, which may be the teardown of the case before, `R`, which tells that a case will run again, and what subtests
//! print. Each run that is known to be complete must have as many cases as were collected there, and a failure that the
//! summary names must be where its character is; else no character is believed.

use std::collections::{HashMap, HashSet};

use super::ids::title_of;
use super::tally::{Entry, Kind};
use crate::model::CaseOutcome;
use crate::readers::cases::MOST_CASES;

/// The progress characters of a session.
#[derive(Debug, Default)]
pub struct Positions {
    runs: Vec<Run>,
    letters: usize,
    lost: bool,
}

/// What stands behind the name of a file, or all of it where no file is named.
#[derive(Debug)]
struct Run {
    file: Option<String>,
    letters: Vec<u8>,
    /// Something else was printed since.
    interrupted: bool,
    /// Characters may have been lost in what else was printed.
    shaky: bool,
}

/// What was seen beside the characters.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
    /// The cases that were collected, in their order.
    pub planned: &'a [String],
    /// Every one of them had its turn.
    pub complete: bool,
    pub listed: &'a [Entry],
    pub headers: &'a [Entry],
}

impl Positions {
    /// Takes progress characters, and the file's name that stands before them.
    pub fn push(&mut self, file: Option<&str>, letters: &str) {
        self.letters += letters.len();
        if self.letters > 8 * MOST_CASES || self.runs.len() > MOST_CASES {
            self.lose();
        }
        if self.lost {
            return;
        }
        if file.is_some() || self.runs.is_empty() {
            let file = file.map(str::to_owned);
            self.runs.push(Run { file, letters: Vec::new(), interrupted: false, shaky: false });
        }
        if let Some(run) = self.runs.last_mut() {
            run.shaky |= run.interrupted;
            run.letters.extend_from_slice(letters.as_bytes());
        }
    }

    /// Believes none of them: the cases run in another order than they were listed in.
    pub fn lose(&mut self) {
        self.runs = Vec::new();
        self.lost = true;
    }

    /// Takes a line that is none of progress characters.
    pub fn other(&mut self, text: &str) {
        if let Some(run) = self.runs.last_mut().filter(|_| !text.is_empty()) {
            run.interrupted = true;
            run.shaky |= text.starts_with('.');
        }
    }

    /// The outcomes of the first of the collected cases, in their order; `None` if that is not sure.
    pub fn outcomes(&self, seen: &Seen<'_>) -> Option<Vec<CaseOutcome>> {
        if self.lost || self.runs.is_empty() {
            return None;
        }
        let mut errors = Errors::new(seen.headers);
        let mut outcomes: Vec<CaseOutcome> = Vec::new();
        for (at, run) in self.runs.iter().enumerate() {
            let is_last = at + 1 == self.runs.len();
            let rest = &seen.planned[outcomes.len()..];
            let ids = match &run.file {
                None if self.runs.len() > 1 => return None,
                None => rest,
                Some(file) => {
                    let named = file_of(rest.first()?);
                    if !is_same_file(file, named) {
                        return None;
                    }
                    &rest[..rest.iter().take_while(|id| file_of(id) == named).count()]
                }
            };
            outcomes.extend(run.outcomes(ids, !is_last || seen.complete, &mut errors)?);
        }
        if seen.complete && outcomes.len() != seen.planned.len() {
            return None;
        }
        let failed: HashSet<&str> = seen.listed.iter().map(|entry| entry.name.as_str()).collect();
        let shown = seen.planned.iter().zip(&outcomes).filter(|(_, outcome)| **outcome == CaseOutcome::Failed);
        let shown: HashSet<&str> = shown.map(|(id, _)| id.as_str()).collect();
        let agrees = failed.iter().filter(|id| id.contains("::")).all(|id| shown.contains(id))
            && (failed.is_empty() || shown.iter().all(|id| failed.contains(id)));
        agrees.then_some(outcomes)
    }
}

fn file_of(id: &str) -> &str {
    id.split("::").next().unwrap_or(id)
}

/// Whether both name one file: ids are relative to pytest's root folder, progress to the folder that it was started in.
fn is_same_file(shown: &str, named: &str) -> bool {
    let end = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|before| before.is_empty() || before.ends_with(['/', '\\']))
    };
    let mut shown = shown;
    while let Some(rest) = shown.strip_prefix("../").or_else(|| shown.strip_prefix("..\\")) {
        shown = rest;
    }
    end(shown, named) || end(named, shown)
}

/// The errors in setup and in teardown that are shown, by their titles.
struct Errors {
    setup: HashMap<String, u64>,
    teardown: HashMap<String, u64>,
}

impl Errors {
    fn new(headers: &[Entry]) -> Self {
        let of = |kind| {
            let mut titles: HashMap<String, u64> = HashMap::new();
            for header in headers.iter().filter(|header| header.kind == kind) {
                *titles.entry(header.name.clone()).or_default() += 1;
            }
            titles
        };
        Self { setup: of(Kind::Setup), teardown: of(Kind::Teardown) }
    }

    fn take(titles: &mut HashMap<String, u64>, id: Option<&String>) -> bool {
        let Some(left) = id.and_then(|id| titles.get_mut(&title_of(id))).filter(|left| **left > 0) else {
            return false;
        };
        *left -= 1;
        true
    }
}

impl Run {
    fn outcomes(&self, ids: &[String], is_complete: bool, errors: &mut Errors) -> Option<Vec<CaseOutcome>> {
        if self.shaky && !is_complete {
            return None;
        }
        let letters = || self.letters.iter().filter(|letter| b".FEsxXR".contains(letter));
        let after = |before: Option<&u8>, letter: u8| letter == b'E' && before.is_some_and(|before| *before != b'R');
        let befores = [None].into_iter().chain(letters().map(Some));
        let doubtful = letters().zip(befores).filter(|(letter, before)| after(*before, **letter)).count();
        let sure = letters().filter(|letter| **letter != b'R').count() - doubtful;
        // How many of the doubtful ones are cases of their own, where that is all or none.
        let own = match (is_complete, doubtful) {
            (_, 0) => Some(false),
            (true, _) => match ids.len().checked_sub(sure)? {
                0 => Some(false),
                own if own == doubtful => Some(true),
                own if own > doubtful => return None,
                _ => None,
            },
            (false, _) => None,
        };
        // One teardown with the setups behind it; were it a setup, too, its case would merely have passed.
        let befores = [None].into_iter().chain(letters().map(Some));
        let stretches = letters()
            .zip(befores)
            .filter(|(letter, before)| **letter == b'E' && before.is_some_and(|before| !b"ER".contains(before)));
        let one_teardown = is_complete && stretches.count() == 1 && ids.len() + 1 == sure + doubtful;
        let mut outcomes: Vec<CaseOutcome> = Vec::new();
        let (mut before, mut subtest_failed) = (None, false);
        for letter in &self.letters {
            match letter {
                b'u' => subtest_failed = true,
                b'R' => before = Some(letter),
                b'E' if after(before, *letter) => {
                    let last = outcomes.len().checked_sub(1)?;
                    let is_own = match own {
                        Some(own) => own,
                        None if Errors::take(&mut errors.teardown, ids.get(last)) => false,
                        None if Errors::take(&mut errors.setup, ids.get(last + 1)) => true,
                        None if one_teardown => before == Some(&b'E'),
                        None => return None,
                    };
                    if is_own {
                        outcomes.push(CaseOutcome::Failed);
                    } else {
                        outcomes[last] = CaseOutcome::Failed;
                    }
                    before = Some(letter);
                }
                b'.' | b'F' | b'E' | b's' | b'x' | b'X' => {
                    outcomes.push(match letter {
                        b'F' | b'E' => CaseOutcome::Failed,
                        _ if subtest_failed => CaseOutcome::Failed,
                        b's' => CaseOutcome::Skipped,
                        _ => CaseOutcome::Passed,
                    });
                    subtest_failed = false;
                    before = Some(letter);
                }
                _ => {}
            }
        }
        let fits = if is_complete { outcomes.len() == ids.len() } else { outcomes.len() <= ids.len() };
        fits.then_some(outcomes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|&id| id.to_owned()).collect()
    }

    fn entry(kind: Kind, name: &str) -> Entry {
        Entry { kind, name: name.to_owned(), message: None }
    }

    /// A letter for each case: passed, failed, skipped.
    fn read(
        planned: &[&str],
        lines: &[(Option<&str>, &str)],
        complete: bool,
        [listed, headers]: [&[Entry]; 2],
    ) -> Option<String> {
        let mut positions = Positions::default();
        for (file, letters) in lines {
            positions.push(*file, letters);
        }
        let outcomes = positions.outcomes(&Seen { planned: &ids(planned), complete, listed, headers })?;
        let letter = |outcome| match outcome {
            CaseOutcome::Passed => 'p',
            CaseOutcome::Failed => 'f',
            CaseOutcome::Skipped => 's',
            CaseOutcome::Unknown => '?',
        };
        Some(outcomes.into_iter().map(letter).collect())
    }

    const FOUR: [&str; 4] = ["t.py::a", "t.py::b", "t.py::c", "u.py::d"];

    #[test]
    fn one_run_for_all_or_one_for_each_file() {
        assert_eq!(read(&FOUR, &[(None, ".Fs"), (None, "x")], true, [&[], &[]]).as_deref(), Some("pfsp"));
        assert_eq!(read(&FOUR, &[(None, ".F")], false, [&[], &[]]).as_deref(), Some("pf"));
        let files = [(Some("t.py"), ".."), (None, "F"), (Some("u.py"), ".")];
        assert_eq!(read(&FOUR, &files, true, [&[], &[]]).as_deref(), Some("ppfp"));
        assert_eq!(read(&FOUR, &files[..1], false, [&[], &[]]).as_deref(), Some("pp"));
        assert_eq!(read(&FOUR, &[(Some("../x/t.py"), "..F")], false, [&[], &[]]).as_deref(), Some("ppf"));
    }

    #[test]
    fn another_order_or_number_is_not_believed() {
        assert_eq!(read(&FOUR, &[(Some("u.py"), ".")], false, [&[], &[]]), None);
        assert_eq!(read(&FOUR, &[(Some("t.py"), ".."), (Some("u.py"), ".")], true, [&[], &[]]), None);
        assert_eq!(read(&FOUR, &[(None, "...")], true, [&[], &[]]), None);
        assert_eq!(read(&FOUR, &[(None, ".....")], false, [&[], &[]]), None);
        let failed = |name| [entry(Kind::Failed, name)];
        assert_eq!(read(&FOUR, &[(None, ".F")], false, [&failed("t.py::b"), &[]]).as_deref(), Some("pf"));
        assert_eq!(read(&FOUR, &[(None, ".F")], false, [&failed("t.py::a"), &[]]), None);
        assert_eq!(read(&FOUR, &[(None, "FF")], false, [&failed("t.py::a"), &[]]), None);
    }

    #[test]
    fn errors_reruns_and_subtests_do_not_shift_the_positions() {
        let two = |letters, complete, headers: &[Entry]| read(&FOUR[..2], &[(None, letters)], complete, [&[], headers]);
        assert_eq!(two(".E.", true, &[]).as_deref(), Some("fp"));
        assert_eq!(two(".E", true, &[]).as_deref(), Some("pf"));
        assert_eq!(two(".EE", true, &[entry(Kind::Teardown, "a"), entry(Kind::Setup, "b")]).as_deref(), Some("ff"));
        assert_eq!(two("E", false, &[]).as_deref(), Some("f"));
        let three = |letters| read(&FOUR, &[(Some("t.py"), letters), (Some("u.py"), "")], false, [&[], &[]]);
        assert_eq!(three(".EE.").as_deref(), Some("ffp"));
        assert_eq!(three(".E.E"), None);
        assert_eq!(three(".E.E.").as_deref(), Some("ffp"));
        // The run ended somewhere, and nothing tells whose error it is.
        assert_eq!(two(".E", false, &[]), None);
        assert_eq!(two(".E", false, &[entry(Kind::Teardown, "a")]).as_deref(), Some("f"));
        assert_eq!(two(".E", false, &[entry(Kind::Setup, "b")]).as_deref(), Some("pf"));
        assert_eq!(two("RR.F", true, &[]).as_deref(), Some("pf"));
        assert_eq!(two(".RE", true, &[]).as_deref(), Some("pf"));
        assert_eq!(two(",u.-s", true, &[]).as_deref(), Some("fs"));
    }

    #[test]
    fn what_is_printed_between_makes_an_open_run_unsure() {
        for (text, open) in [("hello", None), (".hello", None), ("", Some(2))] {
            let mut positions = Positions::default();
            positions.push(None, ".");
            positions.other(text);
            positions.push(None, "F");
            let planned = ids(&FOUR[..2]);
            let outcomes = |complete| {
                positions
                    .outcomes(&Seen { planned: &planned, complete, listed: &[], headers: &[] })
                    .map(|all| all.len())
            };
            assert_eq!((outcomes(true), outcomes(false)), (Some(2), open), "{text:?}");
        }
        // What comes after the last character, such as the word of a crash, takes none away.
        let mut positions = Positions::default();
        positions.push(None, ".");
        positions.other("Fatal Python error: Segmentation fault");
        let seen = Seen { planned: &ids(&FOUR), complete: false, listed: &[], headers: &[] };
        assert_eq!(positions.outcomes(&seen).map(|all| all.len()), Some(1));
    }
}
