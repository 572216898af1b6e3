//! One suite of unittest, and what it comes to when it ends.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;

use super::Unittest;
use crate::model::CaseOutcome;
use crate::readers::cases::{MOST_CASES, note, number};

static STATUS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(OK|FAILED|NO TESTS RAN)(?: \(([a-z0-9=, ]+)\))?$").expect("a constant"));

#[derive(Default)]
pub struct Suite {
    /// From lines of dots.
    pub dots: Dots,
    /// The most that one line of them passed, and whether the last such line has no end.
    pub in_a_row: u64,
    pub broke_off: bool,
    /// Whether cases were named with their outcomes.
    pub verbose: bool,
    /// Headers of failures and errors, fixtures included.
    pub blocks: u64,
    /// The cases that they name, fixtures excluded, by hash.
    pub failing: HashSet<u64>,
    pub beyond: u64,
    pub unexpected: u64,
    pub fixtures: u64,
    /// A fixture failed before its cases: they never ran.
    pub hidden: bool,
    /// Fixtures among the named cases.
    pub named_fixtures: HashSet<String>,
}

impl Suite {
    /// Remembers that a named case is a fixture.
    pub fn name_fixture(&mut self, name: &str) {
        if self.named_fixtures.len() < MOST_CASES {
            self.named_fixtures.insert(name.to_owned());
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dots {
    pub passed: u64,
    pub failed: u64,
    pub errors: u64,
    pub skipped: u64,
    pub expected: u64,
    pub unexpected: u64,
}

impl Dots {
    pub fn all(self) -> u64 {
        let Self { passed, failed, errors, skipped, expected, unexpected } = self;
        passed + failed + errors + skipped + expected + unexpected
    }

    /// A letter alone is a word like any other; a dot is not.
    pub fn look_like_progress(self) -> bool {
        let Self { passed, failed, errors, skipped, expected, unexpected } = self;
        passed > 0 || failed + errors + skipped + expected + unexpected > 1
    }
}

#[derive(Default)]
pub struct Sums {
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    pub unknown: u64,
    pub hidden: bool,
    /// Cases beyond those of the tallies that came after them.
    pub excess: u64,
}

/// The line below `Ran N tests`.
#[derive(Debug, Default)]
pub struct Status {
    pub ok: bool,
    pub failures: u64,
    pub errors: u64,
    pub skipped: u64,
    pub expected: u64,
    pub unexpected: u64,
}

impl Unittest<'_> {
    /// A suite has ended without its tally, or with the half of it that says how many ran. What was seen counts.
    pub(super) fn died(&mut self, announced: Option<u64>) {
        let suite = std::mem::take(&mut self.suite);
        let listed = self.cases.end_suite();
        let (dots, mut seen) = (suite.dots, listed);
        if !suite.verbose {
            seen.passed = dots.passed + dots.expected;
            seen.failed = listed.failed.max(dots.failed + dots.errors + dots.unexpected);
            seen.skipped = dots.skipped;
        }
        self.sums.passed += seen.passed;
        self.sums.failed += seen.failed;
        self.sums.skipped += seen.skipped;
        self.sums.hidden |= suite.hidden;
        self.sums.unknown += announced.map_or(listed.unknown.max(1), |ran| ran.saturating_sub(seen.ran()));
        note(&mut self.notes, "unittest ended without its tally: what was seen before counts");
    }

    /// A suite has ended.
    pub(super) fn tally(&mut self, ran: u64, status: &Status) {
        let suite = std::mem::take(&mut self.suite);
        self.tallies += 1;
        let mut failed = suite.failing.len() as u64 + suite.beyond;
        let mut fixtures = suite.fixtures;
        let dots = suite.dots;
        let told = status.failures + status.errors;
        if told > suite.blocks {
            note(&mut self.notes, format!("unittest tells of {told} failures and shows {} of them", suite.blocks));
            failed += told - suite.blocks;
        }
        // Before Python 3.11 an unexpected success has no block.
        failed += status.unexpected.saturating_sub(suite.unexpected);
        let skips = status.skipped;
        let clean = (dots.failed, dots.errors, dots.skipped, dots.expected, dots.unexpected)
            == (status.failures, status.errors, status.skipped, status.expected, status.unexpected);
        // More failures than cases cannot be cases: they are fixtures whose blocks are not shown.
        if failed > ran {
            fixtures += failed - ran;
            failed = ran;
        }
        let most = ran - failed;
        let mut passed = most - skips.min(most);
        if clean && !suite.verbose {
            // Subtests and fixtures skip, too; the dots tell how many cases passed.
            passed = passed.max((dots.passed + dots.expected).min(most));
        }
        let mut skipped = most - passed;
        if skips > 0 && skipped == 0 {
            skipped = skips;
        }
        let failed = failed + fixtures;

        let names = suite.named_fixtures.len() as u64;
        let listed = self.cases.outcomes();
        if suite.verbose && listed.ran() + listed.unknown != 0 {
            let mut lines = listed;
            if lines.unknown > 0 && lines.passed + lines.unknown == passed && lines.failed == failed {
                // Their outcomes were lost among what they printed; the tally leaves only this one.
                self.cases.settle_unknown(CaseOutcome::Passed);
                lines = self.cases.outcomes();
            }
            if lines.unknown == 0 && lines.ran() == ran + names && lines.failed == failed {
                passed = lines.passed;
                skipped = lines.skipped;
            } else if lines.ran() != ran + names {
                let seen = lines.ran();
                note(
                    &mut self.notes,
                    format!("unittest's tally says that {ran} cases ran, its lines tell of {seen}: the tally counts"),
                );
            }
        }
        if passed + skipped + failed > ran + fixtures && !suite.verbose {
            note(&mut self.notes, "a whole class or module was skipped: unittest does not count its cases");
        }
        // Cases of a suite that died before stand among this one's. Those of a suite that ran this one within a case are
        // missing where it ends.
        let (most, least) = if suite.verbose {
            let shown = listed.ran() + listed.unknown;
            (if listed.unknown > 0 { shown } else { 0 }, shown)
        } else {
            (suite.in_a_row, dots.all())
        };
        let own = if suite.verbose { ran + names } else { ran };
        self.sums.excess += most.saturating_sub(own);
        self.sums.excess += if suite.verbose { suite.in_a_row } else { 0 };
        self.sums.excess = self.sums.excess.saturating_sub(own.saturating_sub(least));
        self.sums.passed += passed;
        self.sums.failed += failed;
        self.sums.skipped += skipped;
        self.sums.hidden |= suite.hidden;
        self.cases.end_suite();
    }
}

/// Reads the line below `Ran N tests`.
pub fn status(text: &str) -> Option<Status> {
    let found = STATUS.captures(text)?;
    let mut status = Status { ok: &found[1] == "OK", ..Status::default() };
    for part in found.get(2).map_or("", |parts| parts.as_str()).split(", ").filter(|part| !part.is_empty()) {
        let (what, count) = part.split_once('=')?;
        let number = number(count)?;
        match what {
            "failures" => status.failures = number,
            "errors" => status.errors = number,
            "skipped" => status.skipped = number,
            "expected failures" => status.expected = number,
            "unexpected successes" => status.unexpected = number,
            _ => return None,
        }
    }
    Some(status)
}
