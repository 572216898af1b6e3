//! What one line of libtest's or cargo's says.

use std::sync::LazyLock;

use regex::Regex;

use crate::model::CaseOutcome;
use crate::readers::cases::{Outcomes, number};

static RESULT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"test result: (ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored; (\d+) measured; (\d+) filtered out(?:; finished in \d+\.\d+s)?$",
    )
    .expect("a constant")
});
/// With `--report-time`.
static TIME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" <\d+\.\d+s>$").expect("a constant"));

/// A statement.
pub enum Said<'t> {
    /// `running 3 tests`.
    Running(u64),
    Result(Tally),
    /// `test NAME ... OUTCOME`.
    Case(&'t str, Outcome<'t>),
    /// `---- NAME stdout ----`: what that case printed.
    Output(&'t str),
    /// Cargo runs a binary, or doc tests.
    Binary,
    /// A target failed.
    TargetFailed,
    /// All targets that failed are listed: cargo went on to the end.
    AllThatFailed,
    /// A binary died, and how.
    Died(&'t str),
    NotCompiled,
    Other,
}

/// The end of a block.
pub struct Tally {
    pub outcomes: Outcomes,
}

/// What stands behind `test NAME ... `.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<'t> {
    Ended(CaseOutcome, Option<&'t str>),
    /// Nothing, or what the case printed.
    Begun,
}

impl<'t> Said<'t> {
    pub fn of(text: &'t str) -> Self {
        Self::find(text).unwrap_or(Self::Other)
    }

    fn find(text: &'t str) -> Option<Self> {
        if let Some(rest) = text.strip_prefix("test ") {
            if rest.starts_with("result: ") {
                return tally(text).map(Self::Result);
            }
            let (name, outcome) = rest.split_once(" ... ").or_else(|| Some((rest.strip_suffix(" ...")?, "")))?;
            let name = name_of(name)?;
            return Some(Self::Case(name, Outcome::of(outcome)));
        }
        if let Some(rest) = text.strip_prefix("running ") {
            let count = rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test"))?;
            return number(count).map(Self::Running);
        }
        if let Some(rest) = text.strip_prefix("---- ") {
            return rest.strip_suffix(" stdout ----").map(Self::Output);
        }
        if let Some(rest) = text.strip_prefix("error: ") {
            return if rest.starts_with("test failed, to rerun pass ")
                || rest.starts_with("doctest failed, to rerun pass ")
                || rest.starts_with("bench failed, to rerun pass ")
            {
                Some(Self::TargetFailed)
            } else if rest.ends_with(" targets failed:") || rest == "1 target failed:" {
                Some(Self::AllThatFailed)
            } else if rest.starts_with("could not compile `") {
                Some(Self::NotCompiled)
            } else {
                None
            };
        }
        let inner = text.trim_start();
        if let Some(rest) = inner.strip_prefix("process didn't exit successfully: `") {
            return rest.rsplit_once("` (").map(|(_, how)| Self::Died(how.strip_suffix(')').unwrap_or(how)));
        }
        // What a case printed last may stand before the tally, without an end of its own.
        if text.ends_with('s') && text.contains("test result: ") {
            return tally(text).map(Self::Result);
        }
        let is_cargo = inner.len() < text.len() && (inner.starts_with("Running ") || inner.starts_with("Doc-tests "));
        is_cargo.then_some(Self::Binary)
    }
}

fn tally(text: &str) -> Option<Tally> {
    let found = RESULT.captures(text)?;
    let count = |at: usize| number(&found[at]);
    let outcomes =
        Outcomes { passed: count(2)? + count(5)?, failed: count(3)?, skipped: count(4)?, ..Outcomes::default() };
    // One that contradicts itself is none of libtest's.
    ((&found[1] == "ok") == (outcomes.failed == 0)).then_some(Tally { outcomes })
}

/// The name without what libtest says of the case's kind, and without the blanks that align a column.
pub fn name_of(text: &str) -> Option<&str> {
    let text = text.trim_end();
    let kinds = [" - should panic", " - compile fail", " - compile"];
    let name = kinds.iter().find_map(|kind| text.strip_suffix(kind)).unwrap_or(text);
    (!name.is_empty()).then_some(name)
}

impl<'t> Outcome<'t> {
    /// The text, if it is an outcome and nothing else.
    pub fn of(text: &'t str) -> Self {
        let end = TIME.find(text).map_or(text.len(), |time| time.start());
        match &text[..end] {
            "ok" => Self::Ended(CaseOutcome::Passed, None),
            "FAILED" | "FAILED (time limit exceeded)" => Self::Ended(CaseOutcome::Failed, None),
            "ignored" => Self::Ended(CaseOutcome::Skipped, None),
            text => match text.strip_prefix("ignored, ") {
                Some(reason) => Self::Ended(CaseOutcome::Skipped, Some(reason)),
                None if text.starts_with("bench: ") && text.contains(" ns/iter (+/- ") => {
                    Self::Ended(CaseOutcome::Passed, None)
                }
                None => Self::Begun,
            },
        }
    }

    /// The outcome that a text ends with.
    pub fn at_end(text: &str) -> Option<CaseOutcome> {
        [("ok", CaseOutcome::Passed), ("FAILED", CaseOutcome::Failed)]
            .into_iter()
            .find_map(|(word, outcome)| text.ends_with(word).then_some(outcome))
    }
}
