//! What several runs of one check came to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Frame, Verdict};

/// How often a red check is tried again, and what is said if a later try passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Retries {
    /// At most so many tries after the first.
    pub count: u32,
    /// What it is then.
    pub flaky: FlakyIs,
}

/// What a check is that was red and passes when it is tried again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlakyIs {
    /// Red.
    #[default]
    Fail,
    /// Green, with a note.
    Pass,
}

/// What the runs of one check came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Runs {
    /// How many there were.
    pub count: u64,
    /// How many of them were red.
    pub red: u64,
    /// Of very many runs, at least so many in a hundred would be red: the lower end of Wilson's score interval for 95 %,
    /// rounded down.
    pub least_percent: u64,
    /// At most so many: its upper end, rounded up.
    pub most_percent: u64,
    /// The different outcomes of red runs, in the order in which they came; of very many the first few.
    pub outcomes: Vec<RedRuns>,
}

/// Red runs that failed in one way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RedRuns {
    pub verdict: Verdict,
    /// How many there were.
    pub times: u64,
    /// The first of them; runs are counted from 1.
    pub first: u64,
    /// The verdict of that one in a few words.
    pub reason: Option<String>,
    /// Where that one failed, if that is known.
    pub frame: Option<Frame>,
    /// The name of the first case that failed in that one, if that is known.
    #[serde(default)]
    pub case: Option<String>,
}

impl Runs {
    /// The interval of Wilson's score for 95 %, for so many of so many, in per cent and rounded outwards. A whole per cent
    /// is in it if the square of its distance from what was seen is at most z² times the variance.
    #[must_use]
    pub fn interval(red: u64, count: u64) -> (u64, u64) {
        /// z² for 95 %, in ten thousandths.
        const Z2: i128 = 38_416;
        if count == 0 {
            return (0, 100);
        }
        let (k, n) = (i128::from(red), i128::from(count));
        let is_in = |i: &u64| {
            let i = i128::from(*i);
            let distance = 100 * k - i * n;
            10_000 * distance * distance <= Z2 * i * (100 - i) * n
        };
        let seen = 100 * red / count;
        let first = (0..=100).find(is_in).map_or(seen, |first| if first == 0 { 0 } else { first - 1 });
        let last = (0..=100).rev().find(is_in).unwrap_or(seen);
        (first, (last + 1).min(100))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        // Of the formula: 5.24 to 36.04; 0 to 16.11; 83.89 to 100; 9.45 to 90.55; 0 to 79.35; 23.7 to 26.4.
        let known = [(3, 20, 5, 37), (0, 20, 0, 17), (20, 20, 83, 100), (1, 2, 9, 91), (0, 1, 0, 80)];
        for (red, count, least, most) in known {
            assert_eq!(Runs::interval(red, count), (least, most), "{red} of {count}");
        }
        assert_eq!(Runs::interval(1_005_000, 4_000_000), (25, 26));
        assert_eq!(Runs::interval(0, 0), (0, 100));
    }
}
