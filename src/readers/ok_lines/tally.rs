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
    Regex::new(r"^(?:(?i:results?|summary|total|totals|tests|checks): +)?(\d+ (?i:(?:check|test|case)s? )?(?i:passed|passing|pass|succeeded|failed|failing|fail|skipped|skip|pending|ignored|failures?|errors?|total)(?:(?:, (?:and )?|; | / | \| | and | +)\d+ (?i:(?:check|test|case)s? )?(?i:passed|passing|pass|succeeded|failed|failing|fail|skipped|skip|pending|ignored|failures?|errors?|total))*)[.!]?$").expect("a constant")
});
/// `PASS: 3 FAIL: 0`, `passed=3, failed=0`, `Tests passed: 3`, in any order.
static WORDS_FIRST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:(?i:results?|summary|tests|checks): +)?((?i:(?:check|test|case)s? )?(?i:passed|pass|failed|fail|failures|errors|skipped|skip|total)(?:=| ?: *)\d+(?:(?: *[,;|/] *| +)(?i:(?:check|test|case)s? )?(?i:passed|pass|failed|fail|failures|errors|skipped|skip|total)(?:=| ?: *)\d+)*)[.!]?$").expect("a constant")
});
/// `Tests: 5, Failures: 1`, `5 tests, 1 failure`, `Tests run: 5, …`: a number of all before the others.
static TOTAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?i:ran +)?(?:(?i:total (?:check|test|case)s?|total|(?:checks|tests|cases)(?: run| total)?)(?:=| ?: *)(\d+)|(\d+) (?i:check|test|case)s?(?: (?i:run|total))?)(?: *[,;|/:] *| +|$)(.*)$").expect("a constant")
});
static OF: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:(?i:results?|summary|total): +)?(\d+)(?: ?/ ?| of )(\d+)(?: (?i:checks|tests|cases))? (?i:(?:have )?passed|ok|green)[.!]?$").expect("a constant")
});
/// `Passed: 3/5`, `Passed 3 of 5 tests`.
static OF_LAST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?i:(?:check|test|case)s? )?(?i:passed)(?: ?: *| )(\d+)(?: ?/ ?| of )(\d+)(?: (?i:checks|tests|cases))?[.!]?$").expect("a constant")
});
/// `2 of 5 tests failed`.
static OF_FAILED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(\d+)(?: ?/ ?| of )(\d+)(?: (?i:checks|tests|cases))? (?i:(?:have )?failed)[.!]?$")
        .expect("a constant")
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
    /// What a total has beyond the parts that are told of.
    pub missing: u64,
}

/// What one line says, which may be a part of what several say together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parts {
    pub total: Option<u64>,
    pub passed: Option<u64>,
    pub failed: Option<u64>,
    pub skipped: Option<u64>,
    /// Nothing can be added to it.
    whole: bool,
}

impl Parts {
    fn all(self) -> [Option<u64>; 4] {
        [self.total, self.passed, self.failed, self.skipped]
    }

    /// Whether it is one number, which lines beside it may complete.
    pub fn is_single(self) -> bool {
        !self.whole && self.all().iter().flatten().count() == 1
    }

    /// Both together, if they say different things.
    pub fn and(self, other: Self) -> Option<Self> {
        let apart = self.all().iter().zip(other.all()).all(|(a, b)| a.is_none() || b.is_none());
        apart.then(|| Self {
            total: self.total.or(other.total),
            passed: self.passed.or(other.passed),
            failed: self.failed.or(other.failed),
            skipped: self.skipped.or(other.skipped),
            whole: false,
        })
    }

    /// What it says of all cases; `None` if it does not tell what passed or failed.
    pub fn tally(self) -> Option<Tally> {
        let Self { total, passed, failed, skipped, whole } = self;
        let tally = Tally { total, passed, failed, skipped, missing: 0 };
        if whole {
            return Some(tally);
        }
        if passed.is_none() && failed.is_none() {
            return None;
        }
        let Some(total) = total else { return Some(tally) };
        let parts = passed.unwrap_or(0) + failed.unwrap_or(0) + skipped.unwrap_or(0);
        // A total that the parts exceed is another program's word for something else.
        let fits = parts <= total;
        Some(match (passed, failed) {
            (Some(_), Some(_)) => Tally { total: None, missing: total.saturating_sub(parts), ..tally },
            _ => Tally { total: Some(total).filter(|_| fits), ..tally },
        })
    }
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
            missing: self.missing + other.missing,
        }
    }
}

/// A line without the marks and rules around it and in it.
fn plain(text: &str) -> String {
    let marks = |letter: char| matches!(letter, '✓' | '✔' | '✗' | '✘' | '✅' | '❌' | '🎉' | '⏭' | '\u{fe0f}' | '❎');
    let text: String = text.chars().filter(|&letter| !marks(letter)).collect();
    let rule = |letter: char| matches!(letter, '=' | '-' | '*' | '#' | '~' | '─' | '━' | '═' | '|' | ' ' | '\t');
    text.trim_matches(rule).to_owned()
}

/// Reads a line that is a tally, or a part of one, and nothing else.
pub fn parts(text: &str) -> Option<Parts> {
    if text.len() > 300 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let text = &*plain(text);
    let whole = Parts { whole: true, ..Parts::default() };
    if let Some(found) = ALL.captures(text) {
        let total = number_of(found.iter().skip(1).flatten().next()?.as_str())?;
        return Some(Parts { total: Some(total), ..whole });
    }
    if let Some(found) = OF.captures(text).or_else(|| OF_LAST.captures(text)) {
        let (passed, total) = (number_of(&found[1])?, number_of(&found[2])?);
        return (passed <= total).then_some(Parts { total: Some(total), passed: Some(passed), ..whole });
    }
    if let Some(found) = OF_FAILED.captures(text) {
        let (failed, total) = (number_of(&found[1])?, number_of(&found[2])?);
        return (failed <= total).then_some(Parts { total: Some(total), failed: Some(failed), ..whole });
    }
    if let Some(found) = FAILED.captures(text) {
        return Some(Parts { failed: Some(number_of(&found[1])?), ..whole });
    }
    if let Some(parts) = words(text) {
        return Some(parts);
    }
    let found = TOTAL.captures(text)?;
    let total = Some(number_of(found.get(1).or(found.get(2))?.as_str())?);
    let rest = found[3].trim();
    if rest.is_empty() {
        // `5 tests` is prose, `Tests: 5` may be a part.
        return found.get(1).map(|_| Parts { total, ..Parts::default() });
    }
    let rest = words(rest).filter(|rest| rest.total.is_none())?;
    Some(Parts { total, ..rest })
}

fn words(text: &str) -> Option<Parts> {
    let words = WORDS_LAST.captures(text).or_else(|| WORDS_FIRST.captures(text))?;
    let mut parts = Parts::default();
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
                "passed" | "pass" | "passing" | "succeeded" => &mut parts.passed,
                "skipped" | "skip" | "pending" | "ignored" => &mut parts.skipped,
                "total" => &mut parts.total,
                _ => &mut parts.failed,
            };
            // Failures and errors are both failed cases.
            *count = Some(count.unwrap_or(0) + n);
            number = None;
            word = None;
        }
    }
    Some(parts)
}

/// The reason of `3 failed: reason`.
pub fn reason(text: &str) -> Option<&str> {
    FAILED.captures(text)?.get(2).map(|reason| reason.as_str())
}
