//! Which of the readers that recognised an output is believed.
//!
//! The one that recognised it most surely: a sub-runner's own tally before lines of single cases before forms that other
//! programs print, too; those count only if the command speaks of the sub-runner. Among equals the more particular one,
//! which comes first in [`ReaderName::ALL`].
//!
//! An output may have the tallies of two sub-runners. If one's lines lie within the other's, it was run by a case of the
//! other, which counts. If one's begin where the other's have ended, in the same stream, they ran one after the other,
//! and their numbers add up; so they do if one of them died before its tally. Else nobody can tell, and nothing but the
//! failures is known.
//!
//! The general forms ([`is_general`]) are no sub-runners of their own: what prints them may well have run one. Only a script
//! that prints test points and a tally that tells of more failures contradicts itself.

use super::cases::note;
use super::{Context, Recognised, Span, Strength};
use crate::model::{Counts, ReaderName, Reading};

/// The reading to believe; `None` if no reader recognised the output.
pub fn choose(mut all: Vec<Recognised>, context: &Context<'_>) -> Option<Reading> {
    all.retain(|found| found.strength > Strength::Loose || context.speaks_of(found.reader));
    let strongest = all.iter().map(|found| found.strength).max()?;
    let (strong, weaker): (Vec<_>, Vec<_>) = all.into_iter().partition(|found| found.strength == strongest);
    all = strong;
    if strongest == Strength::Tally && all.iter().any(|found| !is_general(found.reader)) {
        if let Some(both) = contradicted(&mut all) {
            return Some(both);
        }
        all.retain(|found| !is_general(found.reader));
        let died: Vec<_> = weaker.into_iter().filter(|found| died_apart(found, &all)).collect();
        all.extend(died);
    } else {
        all.truncate(1);
    }
    let mut sum = all.remove(0);
    for next in all {
        sum = together(sum, next);
    }
    Some(sum.reading)
}

/// Forms that many programs print.
fn is_general(reader: ReaderName) -> bool {
    matches!(reader, ReaderName::OkLines)
}

/// A run without a tally that did not go to its end, outside of all that have one: another runner's tally hides no part
/// of it.
fn died_apart(found: &Recognised, all: &[Recognised]) -> bool {
    let Counts { ran, unknown, .. } = found.reading.counts;
    let apart = |other: &Recognised| found.span.zip(other.span).is_some_and(|(a, b)| a.is_apart(b));
    found.strength == Strength::Lines
        && !matches!(found.reader, ReaderName::Tap | ReaderName::OkLines)
        && ran.is_some()
        && unknown.is_some_and(|unknown| unknown > 0)
        && all.iter().all(apart)
}

/// A plain script's test points, and a tally of its own that tells of more failures: nobody can tell which is right.
fn contradicted(all: &mut Vec<Recognised>) -> Option<Reading> {
    let failed = |found: &Recognised| found.reading.counts.failed.unwrap_or(0);
    let [points, tally] = &all[..] else { return None };
    if points.reader != ReaderName::Tap || !is_general(tally.reader) || failed(tally) <= failed(points) {
        return None;
    }
    let tally = all.pop()?;
    let points = all.pop()?;
    Some(unclear(points, tally).reading)
}

/// Two readings of one output as one.
pub fn together(one: Recognised, other: Recognised) -> Recognised {
    let (Some(a), Some(b)) = (one.span, other.span) else { return unclear(one, other) };
    if a.stream != b.stream {
        return unclear(one, other);
    }
    if b.is_within(a) {
        return one;
    }
    if a.is_within(b) {
        return other;
    }
    let (first, second) = if a.first < b.first { (one, other) } else { (other, one) };
    let apart = a.is_apart(b);
    // What a producer of TAP prints is TAP, too; its own reader knows what in it is not.
    let is_producer = |found: &Recognised| matches!(found.reader, ReaderName::Bats | ReaderName::NodeTest);
    if !apart && first.reader == ReaderName::Tap && is_producer(&second) {
        return second;
    }
    if !apart && second.reader == ReaderName::Tap && is_producer(&first) {
        return first;
    }
    if apart { in_a_row(first, second) } else { unclear(first, second) }
}

/// Two runs, one after the other.
fn in_a_row(first: Recognised, second: Recognised) -> Recognised {
    let add = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
    let (a, b) = (first.reading.counts, second.reading.counts);
    let ran = add(a.ran, b.ran);
    let unknown = add(a.unknown, b.unknown);
    // A run that announced nothing had as many as it ran, if it went to its end.
    let of = |counts: Counts| counts.planned.or_else(|| Some(counts.ran? + counts.unknown?));
    let planned = if a.planned.is_some() || b.planned.is_some() { add(of(a), of(b)) } else { None };
    let counts = Counts {
        planned,
        ran,
        passed: add(a.passed, b.passed),
        failed: add(a.failed, b.failed),
        skipped: add(a.skipped, b.skipped),
        unknown,
    };
    joined(first, second, counts)
}

/// Two runs of which nobody can tell whether one is a part of the other.
fn unclear(one: Recognised, other: Recognised) -> Recognised {
    let failed = [&one, &other].into_iter().filter_map(|found| found.reading.counts.failed).max();
    let counts = Counts { failed: failed.filter(|&failed| failed > 0), ..Counts::default() };
    let names = format!("{} and of {}", one.reader.name(), other.reader.name());
    let mut both = joined(one, other, counts);
    note(
        &mut both.reading.notes,
        format!(
            "the output has tallies of {names}, and whether one is a part of the other can't be told: `reader:` says which counts"
        ),
    );
    both
}

fn joined(mut first: Recognised, second: Recognised, counts: Counts) -> Recognised {
    let Reading { reader, cases, frames, notes, .. } = second.reading;
    let reading = &mut first.reading;
    reading.counts = counts;
    reading.reader = Some([reading.reader.take(), reader].into_iter().flatten().collect::<Vec<_>>().join(" + "));
    reading.cases.extend(cases);
    reading.frames.extend(frames);
    for text in notes {
        note(&mut reading.notes, text);
    }
    let span = first.span.zip(second.span);
    first.span = span.map(|(a, b)| Span { stream: a.stream, first: a.first.min(b.first), last: a.last.max(b.last) });
    first
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::model::Stream;

    fn found(reader: ReaderName, (first, last): (u64, u64), [passed, failed]: [u64; 2]) -> Recognised {
        let counts = Counts {
            planned: None,
            ran: Some(passed + failed),
            passed: Some(passed),
            failed: Some(failed),
            skipped: Some(0),
            unknown: Some(0),
        };
        Recognised {
            reader,
            strength: Strength::Tally,
            span: Some(Span { stream: Stream::Stdout, first, last }),
            reading: Reading { reader: Some(reader.name().to_owned()), counts, ..Reading::default() },
        }
    }

    fn chosen(all: Vec<Recognised>) -> (String, [Option<u64>; 3]) {
        let context = Context::new(Path::new("/p"), Path::new("/p"));
        let reading = choose(all, &context).expect("recognised");
        (reading.reader.unwrap_or_default(), [reading.counts.ran, reading.counts.passed, reading.counts.failed])
    }

    #[test]
    fn a_run_that_died_apart_from_a_tally_is_not_forgotten() {
        use ReaderName::{Pytest, Unittest};
        let died = |span| {
            let mut died = found(Pytest, span, [1, 0]);
            died.strength = Strength::Lines;
            died.reading.counts.unknown = Some(3);
            died
        };
        let counts = |all| choose(all, &Context::new(Path::new("/p"), Path::new("/p"))).expect("recognised").counts;
        let unknown = |span| counts(vec![died(span), found(Unittest, (10, 20), [2, 0])]);
        assert_eq!((unknown((1, 9)).ran, unknown((1, 9)).unknown), (Some(3), Some(3)));
        assert_eq!((unknown((21, 30)).ran, unknown((21, 30)).unknown), (Some(3), Some(3)));
        let mut other = vec![died((1, 9)), found(Unittest, (10, 20), [2, 0])];
        other[1].span = Some(Span { stream: Stream::Stderr, first: 10, last: 20 });
        assert_eq!(counts(other), Counts::default());
        // It may be what a case printed.
        assert_eq!((unknown((12, 13)).ran, unknown((12, 13)).unknown), (Some(2), Some(0)));
        assert_eq!((unknown((9, 13)).ran, unknown((9, 13)).unknown), (Some(2), Some(0)));
    }

    #[test]
    fn runs_in_a_row_add_up_and_a_run_within_a_run_is_a_part_of_it() {
        use ReaderName::{OkLines, Pytest, Unittest};
        let name = |text: &str| text.to_owned();
        let row = vec![found(Pytest, (9, 20), [3, 1]), found(Unittest, (1, 8), [2, 0])];
        assert_eq!(chosen(row), (name("unittest + pytest"), [Some(6), Some(5), Some(1)]));
        let within = || vec![found(Pytest, (1, 20), [3, 0]), found(Unittest, (5, 8), [2, 1])];
        assert_eq!(chosen(within()), (name("pytest"), [Some(3), Some(3), Some(0)]));
        let mut apart = within();
        apart[1].span = Some(Span { stream: Stream::Stderr, first: 30, last: 40 });
        assert_eq!(chosen(apart), (name("pytest + unittest"), [None, None, Some(1)]));
        let general = vec![found(Unittest, (1, 8), [2, 0]), found(OkLines, (9, 9), [57, 0])];
        assert_eq!(chosen(general), (name("unittest"), [Some(2), Some(2), Some(0)]));
    }
}
