//! New failures, and those that were there before.

use super::cases::cases;
use super::rows::{Row, rows};
use super::{Document, Side};
use crate::model::{Report, Severity, Standing};

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
        let worse = worse(&row);
        let (then, is) = (row.entries[0].standing, row.entries[1].standing);
        match worse {
            Some(why) => news.new.push((row.id, why)),
            None if is == Standing::Red && then == Standing::Unknown && row.entries[0].cases.is_empty() => {
                news.unknown.push(row.id);
            }
            None if is == Standing::Red => news.old.push(row.id),
            None if then == Standing::Red && is == Standing::Green => news.mended.push(row.id),
            None => {}
        }
    }
    news
}

/// Why a check is worse than it was; `None` if it is not.
fn worse(row: &Row<'_>) -> Option<String> {
    let [then, now] = &row.entries[..] else { return None };
    let cases = cases(row);
    let worse = |standings: &[Standing]| {
        matches!(
            standings,
            [Standing::Green, Standing::Red | Standing::Skipped | Standing::Missing]
                | [Standing::Skipped | Standing::Missing, Standing::Red]
        )
    };
    let mut names: Vec<&str> =
        cases.different.iter().filter(|case| worse(&case.standings)).map(|case| case.name.as_str()).collect();
    if !names.is_empty() {
        const SHOWN: usize = 3;
        let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
        names.truncate(SHOWN);
        return Some(format!("{}{more}", names.join(", ")));
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
    let old = then.check?;
    let errors = now.check?.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let known = |kind| old.findings.iter().any(|was| was.kind == kind && was.severity == Severity::Error);
    let fresh = errors.map(|finding| finding.kind).find(|kind| !known(*kind));
    fresh.map(|kind| format!("{} is new", kind.slug()))
}
