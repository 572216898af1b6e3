//! The comparison itself: rows, cases, times and facts put together.

use super::cases::{Cases, cases, differ};
use super::facts::{Fact, RULES, facts};
use super::names::is_about;
use super::noise;
use super::rank::{self, Failure};
use super::rows::{Entry, Row, base, rows};
use super::{Document, Side};
use crate::model::{
    COMPARISON_SCHEMA, Cause, CheckComparison, CheckSide, ComparedRun, ComparedTotals, Comparison, Divergence, Finding,
    Kind, Likeness, Rules, RunForm, Severity, Standing, Tool,
};
use crate::words::duration;

/// How many causes a check keeps.
const CAUSES: usize = 6;

/// Sets runs beside each other. There are at least two, each with a label.
#[must_use]
pub fn compare(sides: &[Side], tool: Tool) -> Comparison {
    let rows = rows(sides);
    let facts = facts(sides);
    let mut totals = ComparedTotals::default();
    let any_shared = rows.iter().any(is_shared);
    let mut first = None;
    let mut unasked = None;
    let mut notes = side_notes(sides);
    let slow = times(sides, &rows, &mut notes);
    let mut checks = Vec::new();
    for (row, slow) in rows.iter().zip(slow) {
        let cases = cases(row);
        totals.cases.same += cases.count.same;
        totals.cases.different += cases.count.different;
        totals.cases.unknown += cases.count.unknown;
        let check = of_row(sides, row, &cases, &facts, slow);
        match check.outcome {
            Likeness::Same => totals.checks.same += 1,
            Likeness::Different => totals.checks.different += 1,
            Likeness::Unknown => totals.checks.unknown += 1,
        }
        // What a run was not asked for parts it from the others where nothing else does.
        let place = if differs_unasked(row, &cases) { &mut unasked } else { &mut first };
        if check.outcome == Likeness::Different && place.is_none() && any_shared {
            *place = Some(divergence(sides, row, &cases));
        }
        checks.push(check);
    }
    let outcome = match (totals.checks.different, totals.checks.same) {
        (1.., _) => Likeness::Different,
        (0, 1..) => Likeness::Same,
        (0, 0) => Likeness::Unknown,
    };
    Comparison {
        schema: COMPARISON_SCHEMA.to_owned(),
        tool,
        // Where no check is in two runs, nothing was compared.
        outcome: if any_shared { outcome } else { Likeness::Unknown },
        sides: sides.iter().map(run).collect(),
        totals,
        first: first.or(unasked),
        facts: overall(&facts, &checks),
        checks,
        notes,
    }
}

/// Whether runs differ in this check for that alone that not all were asked for it.
fn differs_unasked(row: &Row<'_>, cases: &Cases) -> bool {
    let asked: Vec<Standing> = row.entries.iter().filter(|entry| !entry.unasked).map(|entry| entry.standing).collect();
    asked.len() < row.entries.len() && differ(&asked) != Some(true) && cases.different.is_empty()
}

/// Whether two runs know something of it.
fn is_shared(row: &Row<'_>) -> bool {
    row.entries.iter().filter(|entry| entry.tells()).count() > 1
}

fn run(side: &Side) -> ComparedRun {
    let report = side.document.report();
    ComparedRun {
        label: side.label.clone(),
        file: side.file.clone(),
        form: if report.is_some() { RunForm::Report } else { RunForm::Junit },
        place: report.map(|report| report.place.clone()),
        system: report.map(|report| format!("{} {}", report.host.os, report.host.arch)),
        started: report.map(|report| report.run.started.clone()),
    }
}

/// What a reader has to know of the runs themselves.
fn side_notes(sides: &[Side]) -> Vec<String> {
    let mut notes = Vec::new();
    for side in sides {
        let label = &side.label;
        match &side.document {
            Document::Report(report) => {
                if let Some(stop) = report.run.stopped {
                    notes.push(format!("{label} is of a run that was stopped before its end: {}", stop.words()));
                }
                if report.host.os.is_empty() {
                    notes.push(format!("{label} tells nothing of its machine"));
                }
            }
            Document::Junit(reading) => {
                notes.push(format!(
                    "{label} is a JUnit file: it tells of cases, not of its machine, nor of what was left behind"
                ));
                notes.extend(reading.notes.iter().map(|note| format!("{label}: {note}")));
            }
        }
    }
    notes
}

/// For each row what is to be said of its times, each run against the first.
fn times(sides: &[Side], rows: &[Row<'_>], notes: &mut Vec<String>) -> Vec<Vec<String>> {
    let mut slow = vec![Vec::new(); rows.len()];
    // How long a red check takes says where it broke off.
    let took =
        |entry: &Entry<'_>| entry.check.filter(|_| entry.standing == Standing::Green).map(|check| check.duration_ms);
    for (index, side) in sides.iter().enumerate().skip(1) {
        let pairs: Vec<_> = rows.iter().map(|row| took(&row.entries[0]).zip(took(&row.entries[index]))).collect();
        let times = noise::times(&pairs);
        let (one, other) = (&sides[0].label, &side.label);
        if let Some(hundredths) = times.overall {
            let (whole, tenths) = (hundredths / 100, hundredths / 10 % 10);
            notes.push(format!(
                "{other} takes {whole}.{tenths} times as long as {one} (the median of {} checks)",
                times.of
            ));
        }
        for row in times.beyond {
            let said = |ms| duration(std::time::Duration::from_millis(ms));
            slow[row].extend(pairs[row].map(|(first, then)| {
                format!("time beyond the noise: {} in {one}, {} in {other}", said(first), said(then))
            }));
        }
    }
    slow
}

fn of_row(sides: &[Side], row: &Row<'_>, found: &Cases, facts: &[Fact], slow: Vec<String>) -> CheckComparison {
    let standings: Vec<Standing> = row.entries.iter().map(|entry| entry.standing).collect();
    let as_a_whole = differ(&standings);
    let mut notes = Vec::new();
    let counts = uncounted(sides, row);
    let is_partial = row.entries.iter().any(|entry| entry.partial);
    let outcome = if as_a_whole == Some(true) || !found.different.is_empty() || counts.is_some() {
        Likeness::Different
    } else if !is_partial && (as_a_whole.is_some() || found.count.same > 0) {
        Likeness::Same
    } else {
        Likeness::Unknown
    };
    notes.extend(counts);
    for (side, entry) in sides.iter().zip(&row.entries) {
        if entry.partial {
            notes.push(format!("{} does not name every case: what it leaves out is not known", side.label));
        }
        if entry.unasked {
            notes.push(format!("{} did not ask for it", side.label));
        }
    }
    notes.extend(verdicts(sides, row));
    notes.extend(findings(sides, row));
    notes.extend(slow);
    let causes = if outcome == Likeness::Different && !differs_unasked(row, found) {
        causes(sides, row, found, facts)
    } else {
        Vec::new()
    };
    CheckComparison {
        id: row.id.clone(),
        outcome,
        sides: row.entries.iter().map(check_side).collect(),
        cases_compared: found.count.same + found.count.different,
        cases: found.different.clone(),
        causes,
        notes,
    }
}

fn check_side(entry: &Entry<'_>) -> CheckSide {
    CheckSide {
        id: entry.id().map(str::to_owned),
        standing: entry.standing,
        verdict: entry.check.map(|check| check.verdict),
        reason: entry.check.and_then(|check| check.reason.clone()),
        counts: entry.counts,
        duration_ms: entry.check.filter(|check| check.started.is_some()).map(|check| check.duration_ms),
        findings: entry.kinds.clone(),
    }
}

/// Where names are not known, numbers tell that cases are missing.
fn uncounted(sides: &[Side], row: &Row<'_>) -> Option<String> {
    let known = |entry: &&Entry<'_>| entry.counts.passed.is_some();
    let numbers: Vec<u64> = row.entries.iter().filter(known).filter_map(|entry| entry.counts.passed).collect();
    let nameless = row.entries.iter().filter(known).any(|entry| !entry.is_whole());
    if !nameless || numbers.windows(2).all(|pair| pair[0] == pair[1]) {
        return None;
    }
    let each = sides.iter().zip(&row.entries).filter(|(_, entry)| known(entry));
    let each = each.map(|(side, entry)| format!("{} in {}", entry.counts.passed.unwrap_or_default(), side.label));
    Some(format!("cases that passed, by number: {}", each.collect::<Vec<_>>().join(", ")))
}

/// Red in different ways.
fn verdicts(sides: &[Side], row: &Row<'_>) -> Option<String> {
    let red: Vec<_> = sides
        .iter()
        .zip(&row.entries)
        .filter_map(|(side, entry)| Some((side, entry.check?.verdict)))
        .filter(|(_, verdict)| verdict.is_red())
        .collect();
    let same = red.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let each = red.iter().map(|(side, verdict)| format!("{} in {}", verdict.name(), side.label));
    (!same).then(|| format!("red in different ways: {}", each.collect::<Vec<_>>().join(", ")))
}

/// Findings that not every run with this check has, by the runs that have them.
fn findings(sides: &[Side], row: &Row<'_>) -> Vec<String> {
    let with: Vec<_> = sides.iter().zip(&row.entries).filter(|(_, entry)| entry.check.is_some()).collect();
    let mut groups: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
    for kind in Kind::ALL {
        let has = with.iter().filter(|(_, entry)| entry.kinds.contains(&kind));
        let labels: Vec<&str> = has.map(|(side, _)| side.label.as_str()).collect();
        if labels.is_empty() || labels.len() == with.len() {
            continue;
        }
        match groups.iter_mut().find(|(known, _)| *known == labels) {
            Some((_, kinds)) => kinds.push(kind.slug()),
            None => groups.push((labels, vec![kind.slug()])),
        }
    }
    let told =
        |(labels, kinds): &(Vec<&str>, Vec<&str>)| format!("only in {}: {}", labels.join(", "), kinds.join(", "));
    groups.iter().map(told).collect()
}

/// The facts that explain what differs in a row.
fn causes(sides: &[Side], row: &Row<'_>, found: &Cases, facts: &[Fact]) -> Vec<Cause> {
    let rules = |entry: &Entry<'_>| {
        let id = entry.id()?;
        let rules = if base(id) == id { Rules::Native } else { Rules::Windows };
        Some(rules.name().to_owned())
    };
    // What a row's checks are judged by is a fact of the row.
    let rules = Fact::of(RULES, 20, row.entries.iter().map(rules).collect());
    let facts: Vec<Fact> = rules.into_iter().chain(facts.iter().cloned()).collect();
    let (standings, names) = parted(row, found);
    let failure = Failure::of(sides, row, &standings, names);
    let mut causes = rank::causes(&facts, &standings, &failure);
    causes.truncate(CAUSES);
    causes
}

/// Where a row parts: at its first case that differs, else as a whole.
fn parted<'c>(row: &Row<'_>, cases: &'c Cases) -> (Vec<Standing>, Option<&'c [Option<String>]>) {
    match (cases.different.first(), cases.names.first()) {
        (Some(case), Some(names)) => (case.standings.clone(), Some(names)),
        _ => (row.entries.iter().map(|entry| entry.standing).collect(), None),
    }
}

/// Where the first row that differs parts, and what stands against it there.
fn divergence(sides: &[Side], row: &Row<'_>, cases: &Cases) -> Divergence {
    let (standings, names) = parted(row, cases);
    let bad = rank::worst(&standings);
    let entry = &row.entries[bad];
    let case = names.and_then(|names| names[bad].clone());
    let all = entry.check.map_or(&[][..], |check| &check.frames[..]);
    let junit = match &sides[bad].document {
        Document::Junit(reading) => &reading.frames[..],
        Document::Report(_) => &[],
    };
    let frames = || all.iter().chain(junit);
    let any_same = case.is_some() && frames().any(|frame| frame.case == case);
    let of_case = |frame: &&crate::model::Frame| match (&frame.case, &case) {
        (Some(known), Some(case)) => is_about(known, case, any_same),
        _ => false,
    };
    let only = (case.is_none() || all.len() == 1).then(|| all.first()).flatten();
    let frame = frames().find(of_case).or(only).cloned();
    let check = entry.check;
    Divergence {
        check: row.id.clone(),
        case: cases.different.first().map(|case| case.name.clone()),
        standings,
        run: sides[bad].label.clone(),
        finding: check.and_then(|check| blamed(&check.findings, frame.as_ref(), case.as_deref())).cloned(),
        frame,
        reason: check.and_then(|check| check.reason.clone()),
    }
}

/// What says most of a failure: what its frame tripped over, else what came about during the case, else what names a
/// process, else the first error.
fn blamed<'f>(findings: &'f [Finding], frame: Option<&crate::model::Frame>, case: Option<&str>) -> Option<&'f Finding> {
    let errors = || findings.iter().filter(|finding| finding.severity == Severity::Error);
    let tripped = || errors().find(|finding| frame.is_some() && finding.frame.as_ref() == frame);
    let during = || errors().find(|finding| case.is_some() && finding.case.as_deref() == case);
    let by_somebody = || errors().find(|finding| finding.process.is_some());
    tripped().or_else(during).or_else(by_somebody).or_else(|| errors().next())
}

/// All facts, by the best that each explains; of those that explain nothing, the ones of experience first.
fn overall(facts: &[Fact], checks: &[CheckComparison]) -> Vec<Cause> {
    let mut all: Vec<Cause> = Vec::new();
    for cause in checks.iter().flat_map(|check| &check.causes) {
        match all.iter_mut().find(|known| known.fact == cause.fact) {
            Some(known) if rank::key(cause) > rank::key(known) => *known = cause.clone(),
            Some(_) => {}
            None => all.push(cause.clone()),
        }
    }
    for fact in facts.iter().filter(|fact| fact.prior > 0) {
        if !all.iter().any(|known| known.fact == fact.name) {
            let Fact { name, values, prior } = fact.clone();
            all.push(Cause { fact: name, values, weight: prior, splits: None, because: Vec::new() });
        }
    }
    all.sort_by_key(|cause| std::cmp::Reverse(rank::key(cause)));
    all
}
