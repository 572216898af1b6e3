//! Tallies of plain scripts: one line, and nothing else on it.

use std::sync::LazyLock;

use regex::Regex;

use crate::readers::cases::number as number_of;

/// `all green (57 checks)`, `57 checks passed`, `All 57 tests passed!`, `Ran 57 tests: ok`.
static ALL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?i:all green \((\d+) (?:check|test|case)s?\)|all (\d+) (?:check|test|case)s? (?:have )?(?:passed|ok|green)|(\d+) (?:check|test|case)s? (?:ok|green)|ran (\d+) (?:check|test|case)s?(?: in [\d.]+ ?m?s)?[ :,;.–-]+(?:all )?ok)[.!]*$",
    )
    .expect("a constant")
});
/// `3 passed, 1 failed, 2 skipped`, in any order.
static WORDS_LAST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:(?i:results?|summary|total|totals|tests|checks): +)?(\d+ (?i:(?:check|test|case)s? )?(?i:passed|failed|skipped|failures?|errors?|total)(?:(?:, (?:and )?|; | / | and )\d+ (?i:(?:check|test|case)s? )?(?i:passed|failed|skipped|failures?|errors?|total))*)[.!]?$").expect("a constant")
});
/// `PASS: 3 FAIL: 0`, `passed=3, failed=0`, in any order.
static WORDS_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:(?i:results?|summary|tests|checks): +)?((?i:passed|pass|failed|fail|failures|errors|skipped|skip|total)(?:=| ?: ?)\d+(?:(?:[,;|/] ?| +)(?i:passed|pass|failed|fail|failures|errors|skipped|skip|total)(?:=| ?: ?)\d+)*)$").expect("a constant")
});
static OF: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:(?i:results?|summary|total): +)?(\d+)(?:/| of )(\d+)(?: (?i:checks|tests|cases))? (?i:passed|ok|green)[.!]?$").expect("a constant")
});
static FAILED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(\d+) failed: (\S.*)$").expect("a constant"));
/// What one line says of all cases together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Of which `passed` is one part, and the others make up the rest.
    pub total: Option<u64>,
    pub passed: Option<u64>,
    pub failed: Option<u64>,
    pub skipped: Option<u64>,
}

impl Tally {
    /// Both together; what one of them does not say stays as the other says it.
    pub fn and(self, other: Self) -> Self {
        let add = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        Self {
            total: self.total.zip(other.total).map(|(a, b)| a + b),
            passed: add(self.passed, other.passed),
            failed: add(self.failed, other.failed),
            skipped: add(self.skipped, other.skipped),
        }
    }
}

/// Reads a line that is a tally and nothing else.
pub fn tally(text: &str) -> Option<Tally> {
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let text = text.trim();
    if let Some(found) = ALL.captures(text) {
        let total = number_of(found.iter().skip(1).flatten().next()?.as_str())?;
        return Some(Tally { total: Some(total), ..Tally::default() });
    }
    if let Some(found) = OF.captures(text) {
        let (passed, total) = (number_of(&found[1])?, number_of(&found[2])?);
        return (passed <= total).then_some(Tally { total: Some(total), passed: Some(passed), ..Tally::default() });
    }
    if let Some(found) = FAILED.captures(text) {
        return Some(Tally { failed: Some(number_of(&found[1])?), ..Tally::default() });
    }
    let words = WORDS_LAST.captures(text).or_else(|| WORDS_FIRST.captures(text))?;
    let mut tally = Tally::default();
    let mut total = None;
    let tokens = words[1].split(|c: char| !c.is_alphanumeric()).filter(|token| !token.is_empty());
    let mut number: Option<u64> = None;
    let mut word: Option<String> = None;
    for token in tokens {
        match token.to_ascii_lowercase().as_str() {
            "check" | "checks" | "test" | "tests" | "case" | "cases" | "and" => continue,
            digits if digits.bytes().all(|byte| byte.is_ascii_digit()) => number = Some(number_of(digits)?),
            other => word = Some(other.to_owned()),
        }
        if let (Some(n), Some(w)) = (number, &word) {
            let count = match w.as_str() {
                "passed" | "pass" => &mut tally.passed,
                "skipped" | "skip" => &mut tally.skipped,
                "total" => &mut total,
                _ => &mut tally.failed,
            };
            // Failures and errors are both failed cases.
            *count = Some(count.unwrap_or(0) + n);
            number = None;
            word = None;
        }
    }
    // A total that the parts do not make up is another program's word for something else.
    if let (Some(total), Some(passed)) = (total, tally.passed) {
        let parts = passed + tally.failed.unwrap_or(0) + tally.skipped.unwrap_or(0);
        if tally.failed.is_none() && parts <= total {
            tally.total = Some(total);
        }
    }
    (tally.passed.is_some() || tally.failed.is_some()).then_some(tally)
}

/// The reason of `3 failed: reason`.
pub fn reason(text: &str) -> Option<&str> {
    FAILED.captures(text)?.get(2).map(|reason| reason.as_str())
}
