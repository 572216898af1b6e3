//! A comparison as Markdown, for a pull request.

use super::comparison::{any_shared, counts, in_each, standings, trust, values};
use super::summary::{code, text};
use super::terminal::frame_place;
use crate::model::{CheckComparison, Comparison, Divergence, Likeness};

/// The longest value of a fact.
const VALUE: usize = 200;
/// How many cases of a check, and causes of one, are shown.
const MOST: usize = 10;
/// The longest that may have to be said of what did not fit.
const CUT: usize = 200;

/// The comparison in at most about so many bytes: the answer, a table of the checks, and the details of those that differ.
/// What does not fit is counted.
#[must_use]
pub fn comparison_page(comparison: &Comparison, room: usize) -> String {
    let title = match comparison.outcome {
        Likeness::Same => "the same",
        Likeness::Different => "different",
        Likeness::Unknown if any_shared(comparison) => "not known to be the same",
        Likeness::Unknown => "nothing to compare",
    };
    let labels: Vec<String> = comparison.sides.iter().map(|side| code(&side.label)).collect();
    let mut page = format!("### hostproof: {} {title}\n", labels.join(" and "));
    page.push_str(&comparison.first.as_ref().map(|first| answer(comparison, first)).unwrap_or_default());
    let end = format!("\n**{}**\n", text(&counts(comparison)));
    let mut left = room.saturating_sub(page.len() + TABLE.len() + end.len() + CUT);
    let (different, same): (Vec<_>, Vec<_>) =
        comparison.checks.iter().partition(|check| check.outcome == Likeness::Different);
    let rows = different.iter().chain(&same).map(|check| row(comparison, check));
    let details = different.iter().map(|check| details(comparison, check));
    let facts = comparison.facts.iter().map(|cause| format!("- {}\n", text(&values(comparison, cause, VALUE))));
    let notes = comparison.notes.iter().map(|note| format!("- {}\n", text(note)));
    let mut missing = Vec::new();
    let mut part = |head: &str, pieces: Vec<String>, what: &str| {
        let all = pieces.len();
        let mut fitting = pieces.into_iter().take_while(|piece| {
            let fits = piece.len() <= left;
            left = left.saturating_sub(piece.len());
            fits
        });
        let first = fitting.next();
        let mut shown = 0;
        if let Some(first) = first {
            page.push_str(head);
            page.push_str(&first);
            shown = 1;
            for piece in fitting {
                page.push_str(&piece);
                shown += 1;
            }
        }
        if shown < all {
            missing.push(format!("{} of {all} {what}", all - shown));
        }
    };
    part(TABLE, rows.collect(), "rows");
    part("", details.collect(), "details");
    part("\n#### Facts that differ\n\n", facts.collect(), "facts");
    part("\n#### Notes\n\n", notes.collect(), "notes");
    if !missing.is_empty() {
        page.push_str(&format!("\nNo room for {}.\n", missing.join(" and ")));
    }
    page + &end
}

const TABLE: &str = "\n| | check | in each | cases that differ |\n| --- | --- | --- | ---: |\n";

fn row(comparison: &Comparison, check: &CheckComparison) -> String {
    let outcome = match check.outcome {
        Likeness::Same => "same",
        Likeness::Different => "**different**",
        Likeness::Unknown => "not known",
    };
    let cases = if check.cases_compared == 0 {
        String::new()
    } else {
        format!("{} of {}", check.cases.len(), check.cases_compared)
    };
    format!("| {outcome} | {} | {} | {cases} |\n", code(&check.id), text(&in_each(comparison, check)))
}

fn answer(comparison: &Comparison, first: &Divergence) -> String {
    let case = first.case.as_ref().map(|case| format!(", first in {}", code(case))).unwrap_or_default();
    let each = text(&standings(comparison, &first.standings));
    let mut lines = vec![format!("\n{}{case}: {each}.\n", code(&first.check))];
    if let Some(frame) = &first.frame {
        let error = frame.error.as_deref().map(|error| format!(": {}", code(error))).unwrap_or_default();
        lines.push(format!("- {}{error}", code(&frame_place(frame, &frame.file))));
    }
    if let Some(finding) = &first.finding {
        lines.push(format!("- **{}** {}", finding.kind.slug(), text(&finding.message)));
    }
    if let (None, None, Some(reason)) = (&first.frame, &first.finding, &first.reason) {
        lines.push(format!("- {}", text(reason)));
    }
    lines.join("\n") + "\n"
}

fn details(comparison: &Comparison, check: &CheckComparison) -> String {
    let mut lines: Vec<String> = check
        .cases
        .iter()
        .take(MOST)
        .map(|case| format!("- {}: {}", code(&case.name), text(&standings(comparison, &case.standings))))
        .collect();
    if check.cases.len() > MOST {
        lines.push(format!("- and {} more cases", check.cases.len() - MOST));
    }
    lines.extend(check.notes.iter().map(|note| format!("- {}", text(note))));
    for cause in check.causes.iter().take(MOST) {
        let mut line = vec![format!("- {} {}", trust(cause), text(&values(comparison, cause, VALUE)))];
        line.extend(cause.because.iter().map(|why| text(why)));
        lines.push(line.join("<br>"));
    }
    format!("\n#### {}\n\n{}\n", code(&check.id), lines.join("\n"))
}
