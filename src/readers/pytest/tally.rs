//! From pytest's summary, which counts reports, to cases.
//!
//! pytest counts a case twice that passed and then failed in its teardown, once per failed subtest, and so on. What
//! follows turns that into one outcome per case.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use regex::Regex;

use super::ids::title_of;
use crate::readers::cases::{Outcomes, number};

static SUMMARY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^((?:\d+ [a-z]+(?: [a-z]+)?)(?:, \d+ [a-z]+(?: [a-z]+)?)*|no tests ran|no tests collected) in \d+(?:\.\d+)?(?:s| seconds)(?: \(\d[\d:, a-z]*\))?$")
        .expect("a constant")
});

/// The numbers of pytest's last line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: u64,
    pub failed: u64,
    pub errors: u64,
    pub skipped: u64,
    pub xfailed: u64,
    pub xpassed: u64,
    pub rerun: u64,
}

impl Tally {
    /// Whether both tell of the same outcomes; reruns are none.
    pub fn agrees(self, other: Self) -> bool {
        Self { rerun: 0, ..self } == Self { rerun: 0, ..other }
    }

    /// All outcomes; reruns are none.
    pub fn reports(self) -> u64 {
        let Self { passed, failed, errors, skipped, xfailed, xpassed, rerun: _ } = self;
        passed + failed + errors + skipped + xfailed + xpassed
    }

    /// Reads the last line, without the `=` around it.
    pub fn read(text: &str) -> Option<Self> {
        if !text.starts_with(|c: char| c.is_ascii_digit() || c == 'n') {
            return None;
        }
        let found = SUMMARY.captures(text)?;
        let mut tally = Self::default();
        for part in found[1].split(", ").filter(|part| !part.starts_with("no tests")) {
            let (count, word) = part.split_once(' ')?;
            let number = number(count)?;
            match word {
                "passed" => tally.passed = number,
                "failed" => tally.failed = number,
                "error" | "errors" => tally.errors = number,
                "skipped" => tally.skipped = number,
                "xfailed" => tally.xfailed = number,
                "xpassed" => tally.xpassed = number,
                "rerun" => tally.rerun = number,
                // No outcomes of cases.
                "deselected" | "warning" | "warnings" => {}
                _ if word.starts_with("subtests ") => {}
                _ => return None,
            }
        }
        Some(tally)
    }
}

/// What a failure is about, as far as the line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The case itself.
    Failed,
    /// One of its subtests.
    Subtest,
    /// Its setup: the case never ran, which is its failure.
    Setup,
    /// Its teardown, after it had its outcome.
    Teardown,
    /// A file that could not be collected: one failed case, named like the file.
    Collect,
    /// Any error of these three.
    Error,
}

impl Kind {
    fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Subtest)
    }
}

/// A line of the short summary (`name` is an id), or the header of a failure (`name` is a title).
#[derive(Debug, Clone)]
pub struct Entry {
    pub kind: Kind,
    pub name: String,
    /// What the short summary says of it.
    pub message: Option<String>,
}

/// What was seen of a session.
#[derive(Debug, Default)]
pub struct Seen<'a> {
    pub tally: Tally,
    pub planned: Option<u64>,
    /// Every planned case had its turn.
    pub complete: bool,
    pub listed: &'a [Entry],
    pub headers: &'a [Entry],
    /// Errors that may have been the teardown of the case before, by the order of the progress characters.
    pub doubtful: u64,
}

/// The cases of a session, and whether setup and teardown had to be told apart by order alone.
pub fn cases(seen: &Seen<'_>) -> (Outcomes, bool) {
    let tally = seen.tally;
    let has = |entries: &[Entry], failure: bool, number: u64| {
        entries.iter().filter(|entry| entry.kind.is_failure() == failure).count() as u64 == number
    };
    let headers_of_errors = has(seen.headers, false, tally.errors);
    let failing = if has(seen.listed, true, tally.failed) && has(seen.listed, false, tally.errors) {
        by_id(seen.listed, headers_of_errors.then_some(seen.headers))
    } else if headers_of_errors {
        by_title(seen.headers, tally.failed)
    } else {
        Failing { cases: tally.failed + tally.errors, doubtful: tally.errors, ..Failing::default() }
    };
    let good = tally.passed + tally.xfailed + tally.xpassed;
    let total = good + tally.skipped + failing.cases - failing.passed_before;

    let planned = seen.planned.filter(|_| seen.complete);
    let surplus = planned.map(|planned| total.saturating_sub(planned));
    let twice = failing.doubtful.min(surplus.unwrap_or(seen.doubtful));
    let guessed = surplus.is_none() && failing.doubtful > 0 && seen.doubtful > 0;
    let mut passed = good.saturating_sub(failing.passed_before + twice);
    let mut skipped = tally.skipped;
    // What is still too much was counted twice: passed before a rerun, or a skipped subtest of a case that has its own
    // outcome.
    let mut surplus = surplus.unwrap_or(0).saturating_sub(twice);
    let (first, second) = if tally.rerun > 0 { (&mut passed, &mut skipped) } else { (&mut skipped, &mut passed) };
    for count in [first, second] {
        let taken = surplus.min(*count);
        *count -= taken;
        surplus -= taken;
    }
    (Outcomes { passed, failed: failing.cases, skipped, unknown: 0 }, guessed)
}

#[derive(Debug, Default)]
struct Failing {
    /// Distinct failed cases.
    cases: u64,
    /// How many of them pytest counts as passed, too.
    passed_before: u64,
    /// How many of them may be among the passed.
    doubtful: u64,
}

fn by_id(listed: &[Entry], headers: Option<&[Entry]>) -> Failing {
    let mut failing = Failing::default();
    let mut teardowns: HashMap<&str, u64> = HashMap::new();
    for header in headers.unwrap_or_default().iter().filter(|header| header.kind == Kind::Teardown) {
        *teardowns.entry(&header.name).or_default() += 1;
    }
    let mut seen = HashSet::new();
    for kinds in [&[Kind::Failed][..], &[Kind::Subtest], &[Kind::Setup, Kind::Teardown, Kind::Collect, Kind::Error]] {
        for entry in listed.iter().filter(|entry| kinds.contains(&entry.kind)) {
            if !seen.insert(entry.name.as_str()) {
                continue;
            }
            failing.cases += 1;
            match entry.kind {
                // A case of which only subtests failed is a passed one to pytest.
                Kind::Subtest => failing.passed_before += 1,
                Kind::Error if !entry.name.contains("::") => {}
                Kind::Error if headers.is_none() => failing.doubtful += 1,
                Kind::Error => {
                    let title = title_of(&entry.name);
                    if let Some(left) = teardowns.get_mut(title.as_str()).filter(|left| **left > 0) {
                        *left -= 1;
                        failing.passed_before += 1;
                    }
                }
                _ => {}
            }
        }
    }
    failing
}

/// Without the short summary. Titles lack the file, so two failures of one title are two cases.
fn by_title(headers: &[Entry], failed: u64) -> Failing {
    let mut titles: HashMap<&str, u64> = HashMap::new();
    for header in headers.iter().filter(|header| header.kind == Kind::Failed) {
        *titles.entry(&header.name).or_default() += 1;
    }
    let mut failing = Failing { cases: failed, ..Failing::default() };
    for header in headers.iter().filter(|header| !header.kind.is_failure()) {
        let also_failed = titles.get_mut(header.name.as_str()).filter(|left| **left > 0);
        match (header.kind, also_failed) {
            (Kind::Teardown, Some(left)) => *left -= 1,
            (Kind::Teardown, None) => {
                failing.cases += 1;
                failing.passed_before += 1;
            }
            _ => failing.cases += 1,
        }
    }
    failing
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_lines() {
        let all = Tally { passed: 3, failed: 2, errors: 1, skipped: 1, xfailed: 4, xpassed: 5, rerun: 6 };
        for (text, expected) in [
            ("2 failed, 3 passed, 1 skipped, 4 xfailed, 5 xpassed, 2 warnings, 1 error, 6 rerun in 0.12s", Some(all)),
            ("1 passed, 3 deselected in 62.01s (0:01:02)", Some(Tally { passed: 1, ..Tally::default() })),
            ("1 passed in 0.12 seconds", Some(Tally { passed: 1, ..Tally::default() })),
            (
                "2 failed, 1 passed, 2 subtests passed in 0.02s",
                Some(Tally { passed: 1, failed: 2, ..Tally::default() }),
            ),
            ("no tests ran in 0.01s", Some(Tally::default())),
            ("3 passed", None),
            ("5 passed away in 1990s", None),
            ("5 minutes passed in 5s", None),
            ("99999999999999999999 passed in 0.1s", None),
        ] {
            assert_eq!(Tally::read(text), expected, "{text}");
        }
    }
}
