//! New failures, and those that were there before.

use super::cases::{Cases, cases};
use super::rows::{Entry, Row, rows};
use super::{Document, Side};
use crate::model::{CheckReport, Exit, Frame, Report, Severity, Standing, Verdict};
use crate::words::first_of;

/// What of a run is red, set against an earlier one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct News {
    /// What got worse, each with why, in the order of the run.
    pub new: Vec<(String, String)>,
    /// The red checks that were as red before.
    pub old: Vec<String>,
    /// The checks that were red and are green.
    pub mended: Vec<String>,
    /// Checks of which the earlier run can't tell.
    pub unknown: Vec<String>,
}

/// Tells what is new in a run, of what it was to run: a check, or a case, that is red, skipped or missing now and was green,
/// or that was not there and is red; or an error of a kind that it did not have. Checks that only the earlier run had are
/// left out: it may have been a run of more.
#[must_use]
pub fn news(before: &Side, now: &Report) -> News {
    let now_side =
        Side { label: "now".to_owned(), file: String::new(), document: Document::Report(Box::new(now.clone())) };
    let sides = [before.clone(), now_side];
    let mut news = News::default();
    for row in rows(&sides) {
        let reached = row.entries[1].check.is_some();
        let planned = reached || now.run.not_run.contains(&row.id);
        if !planned {
            continue;
        }
        let cases = cases(&row);
        let worse = worse(&row, &cases);
        let (then, is) = (row.entries[0].standing, row.entries[1].standing);
        match worse {
            Some(why) => news.new.push((row.id, why)),
            None if is == Standing::Red && !is_told(&row, &cases) => news.unknown.push(row.id),
            None if is == Standing::Red => news.old.push(row.id),
            None if then == Standing::Red && is == Standing::Green => news.mended.push(row.id),
            None => {}
        }
    }
    news
}

/// Whether the earlier run tells of all that makes this one red, if nothing of it is worse.
fn is_told(row: &Row<'_>, cases: &Cases) -> bool {
    let [then, now] = &row.entries[..] else { return false };
    let exits = now.check.is_some_and(|check| matches!(check.exit, Some(Exit::Code(_))));
    if red_alone(cases).is_some() {
        // A failure that the earlier run does not name may have been another one.
        false
    } else if then.check.is_none() {
        // Of JUnit files none tells of signals, nor of time limits.
        exits && (then.standing != Standing::Unknown || names_red(now))
    } else {
        true
    }
}

/// A case that is red now, and of which the earlier run does not tell.
fn red_alone(cases: &Cases) -> Option<&str> {
    cases.red_alone.get(1)?.as_deref()
}

fn names_red(entry: &Entry<'_>) -> bool {
    entry.cases.iter().any(|(_, standing)| *standing == Standing::Red)
}

/// Why a check is worse than it was; `None` if it is not.
fn worse(row: &Row<'_>, cases: &Cases) -> Option<String> {
    let [then, now] = &row.entries[..] else { return None };
    let worse = |standings: &[Standing]| {
        matches!(
            standings,
            [Standing::Green, Standing::Red | Standing::Skipped | Standing::Missing]
                | [Standing::Skipped | Standing::Missing, Standing::Red]
        )
    };
    let names: Vec<&str> =
        cases.different.iter().filter(|case| worse(&case.standings)).map(|case| case.name.as_str()).collect();
    if !names.is_empty() {
        const SHOWN: usize = 3;
        return Some(first_of(&names, SHOWN));
    }
    // With all failures named, what is not named was none.
    if let Some(name) = red_alone(cases).filter(|_| then.names_failures) {
        return Some(name.to_owned());
    }
    if worse(&[then.standing, now.standing]) {
        let was = if then.standing == Standing::Missing { "not there" } else { then.standing.word() };
        return Some(format!("{} now, and was {was}", now.standing.word()));
    }
    // As many may be red, and be others.
    if let (Some(then_failed), Some(failed)) = (then.counts.failed, now.counts.failed)
        && failed > then_failed
    {
        return Some(format!("{failed} cases fail, and it was {then_failed}"));
    }
    if let (Some(passed), Some(is)) = (then.counts.passed, now.counts.passed)
        && is < passed
        && now.standing != Standing::Green
    {
        return Some(format!("{is} cases pass, and it was {passed}"));
    }
    if now.standing == Standing::Red && then.counts.ran.is_some() && now.counts.ran.is_none() {
        return Some("how its cases ended is not told now, and was".to_owned());
    }
    let (old, new) = (then.check?, now.check?);
    if then.standing == Standing::Red && now.standing == Standing::Red {
        let otherwise = otherwise(old, new, names_red(now));
        if otherwise.is_some() {
            return otherwise;
        }
    }
    let errors = new.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let known = |kind| old.findings.iter().any(|was| was.kind == kind && was.severity == Severity::Error);
    let fresh = errors.map(|finding| finding.kind).find(|kind| !known(*kind));
    fresh.map(|kind| format!("{} is new", kind.slug()))
}

/// In which other way a check is red that was red before, where that may be another failure. Where it names its failed cases,
/// they tell more than its exit status and its frames.
fn otherwise(old: &CheckReport, new: &CheckReport, names_red: bool) -> Option<String> {
    let hides = matches!(new.verdict, Verdict::Broken | Verdict::TimedOut | Verdict::Failed);
    if hides && new.verdict != old.verdict {
        return Some(format!("{} now, and was {}", new.verdict.name(), old.verdict.name()));
    }
    let said = |exit: Exit| match exit {
        Exit::Code(code) => format!("exit status {code}"),
        Exit::Signal(signal) => format!("ended by signal {signal}"),
    };
    if let (Some(was), Some(is)) = (old.exit, new.exit)
        && was != is
        && (!names_red || matches!(is, Exit::Signal(_)))
    {
        return Some(format!("{} now, and was {}", said(is), said(was)));
    }
    // Lines move, and messages have names of the moment in them.
    let kind = |frame: &Frame| frame.error.as_deref().and_then(|error| error.split(':').next()).map(str::to_owned);
    let same = |one: &Frame, other: &Frame| {
        (&one.file, &one.function, kind(one)) == (&other.file, &other.function, kind(other))
    };
    if names_red || old.frames.is_empty() {
        return None;
    }
    let fresh = new.frames.iter().find(|frame| !old.frames.iter().any(|known| same(known, frame)))?;
    let error = fresh.error.as_deref().unwrap_or("a failure");
    Some(format!("{error} at {}:{} is new", fresh.file, fresh.line))
}
