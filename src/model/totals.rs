//! The sums over a run.

use super::{CheckReport, Counts, Totals, Verdict};

impl Totals {
    /// The sums before anything has run.
    #[must_use]
    pub fn planned(planned: usize) -> Self {
        let mut totals = Self::default();
        totals.checks.planned = planned as u64;
        totals.checks.not_run = planned as u64;
        totals
    }

    /// Adds what a check says.
    pub fn add(&mut self, check: &CheckReport) {
        self.add_outcome(check.verdict, &check.cases.counts());
    }

    /// Adds a check with that verdict and those numbers.
    pub fn add_outcome(&mut self, verdict: Verdict, cases: &Counts) {
        let sums = &mut self.checks;
        sums.not_run -= 1;
        *match verdict {
            Verdict::Broken => &mut sums.broken,
            Verdict::TimedOut => &mut sums.timed_out,
            Verdict::Failed => &mut sums.failed,
            Verdict::Leaked => &mut sums.leaked,
            Verdict::Flaky => &mut sums.flaky,
            Verdict::Skipped => &mut sums.skipped,
            Verdict::Passed => &mut sums.passed,
        } += 1;
        let sums = &mut self.cases;
        // What ran without being announced was at least as many as ran, or began.
        let begun = || cases.ran.map(|ran| ran + cases.unknown.unwrap_or(0));
        sums.planned += cases.planned.or_else(begun).unwrap_or(0);
        sums.ran += cases.ran.unwrap_or(0);
        sums.passed += cases.passed.unwrap_or(0);
        sums.failed += cases.failed.unwrap_or(0);
        sums.skipped += cases.skipped.unwrap_or(0);
        sums.unknown += cases.unknown.unwrap_or(0);
    }
}
