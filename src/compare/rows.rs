//! The checks of all runs in rows: one check, and its counterpart in every other run.

use std::collections::{BTreeSet, HashMap};

use super::ends::Ends;
use super::known::Known;
use super::names::parts;
use super::{Document, Side};
use crate::model::{CaseOutcome, CheckReport, Counts, Kind, Reading, Rules, Severity, Standing, Verdict};

/// The row of cases that belong to no check of any report; and of all cases, where there is no report.
const OTHERS: &str = "(cases of no check)";
const ALL: &str = "(all cases)";
/// How hostproof's own JUnit files call what is no case of a sub-runner.
const OURS: &str = "hostproof: ";

/// One check in all runs.
#[derive(Debug)]
pub struct Row<'a> {
    pub id: String,
    /// In the order of the sides.
    pub entries: Vec<Entry<'a>>,
}

/// One check in one run.
#[derive(Debug, Clone)]
pub struct Entry<'a> {
    pub check: Option<&'a CheckReport>,
    pub standing: Standing,
    /// Name and standing of every case whose name is known, in the order of the run.
    pub cases: Vec<(&'a str, Standing)>,
    /// How a case stands that is not among them: missing where all that ran are named, green where all that are not green
    /// are named, else not known.
    pub unnamed: Standing,
    /// Whether every failure is among them.
    pub names_failures: bool,
    /// Whether its file tells of more than it lists, or breaks off: then nothing of it is the same as anything.
    pub partial: bool,
    /// Whether its run was asked for other checks alone.
    pub unasked: bool,
    pub counts: Counts,
    pub kinds: Vec<Kind>,
}

impl Entry<'_> {
    /// The id that it has in its run.
    pub fn id(&self) -> Option<&str> {
        self.check.map(|check| check.id.as_str())
    }

    /// Whether a case that is not named was not there.
    pub fn is_whole(&self) -> bool {
        self.unnamed == Standing::Missing
    }

    /// Whether the run knows something of it.
    pub fn tells(&self) -> bool {
        self.check.is_some() || !self.cases.is_empty() || self.counts.ran.is_some()
    }

    fn nothing(standing: Standing) -> Self {
        Entry {
            check: None,
            standing,
            cases: Vec::new(),
            unnamed: Standing::Unknown,
            names_failures: false,
            partial: false,
            unasked: false,
            counts: Counts::default(),
            kinds: Vec::new(),
        }
    }

    /// Takes from the numbers what they tell of the cases that are not named.
    fn conclude(&mut self) {
        let Counts { ran, passed, failed, skipped, unknown, .. } = self.counts;
        let named = |wanted| self.cases.iter().filter(|(_, standing)| *standing == wanted).count() as u64;
        let all = |number: Option<u64>, wanted| number == Some(named(wanted));
        let is_counted = unknown.is_some();
        let ended = self.cases.len() as u64 - named(Standing::Missing);
        self.names_failures = is_counted && all(failed, Standing::Red);
        let names_the_rest = all(skipped, Standing::Skipped) && all(unknown, Standing::Missing);
        self.unnamed = if is_counted && ran == Some(ended) {
            Standing::Missing
        } else if self.names_failures && passed.is_some() && names_the_rest {
            Standing::Green
        } else {
            Standing::Unknown
        };
    }
}

/// Puts the checks of all sides into rows, in the order in which they ran.
pub fn rows<'a>(sides: &'a [Side]) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    let known: Vec<Known<'a>> = sides.iter().map(Known::of).collect();
    for ids in groups(sides) {
        for (id, chosen) in of_group(&ids, &known) {
            let entry = |((side, known), chosen): ((&Side, &Known<'a>), &Option<String>)| match &side.document {
                Document::Report(_) => of_report(known, &id, chosen.as_deref()),
                Document::Junit(_) => Entry::nothing(Standing::Unknown),
            };
            let entries = sides.iter().zip(&known).zip(&chosen).map(entry).collect();
            rows.push(Row { id: id.clone(), entries });
        }
    }
    let checks = rows.len();
    if sides.iter().any(|side| side.document.report().is_none()) {
        let id = if checks == 0 { ALL } else { OTHERS };
        rows.push(Row { id: id.to_owned(), entries: vec![Entry::nothing(Standing::Unknown); sides.len()] });
    }
    for (index, side) in sides.iter().enumerate() {
        if let Document::Junit(reading) = &side.document {
            add_junit(&mut rows, checks, index, reading);
        }
    }
    let is_empty =
        |entry: &Entry<'_>| entry.cases.is_empty() && matches!(entry.standing, Standing::Unknown | Standing::Missing);
    if rows.len() > checks && rows[checks].entries.iter().all(is_empty) {
        rows.truncate(checks);
    }
    rows
}

/// The id of a check without the rules that a variant is judged by.
pub fn base(id: &str) -> &str {
    match id.rsplit_once('@') {
        Some((base, rules)) if [Rules::Native, Rules::Windows].iter().any(|known| known.name() == rules) => base,
        _ => id,
    }
}

/// The ids that a check has by all rules.
fn variants(id: &str) -> impl Iterator<Item = String> {
    let base = base(id).to_owned();
    let by_rules = [Rules::Native, Rules::Windows].map(|rules| format!("{base}@{}", rules.name()));
    std::iter::once(base).chain(by_rules)
}

/// The ids of all checks: those together that differ in their rules alone, in the order in which the first run that has
/// them ran them.
fn groups(sides: &[Side]) -> Vec<Vec<String>> {
    let mut groups: Vec<Vec<String>> = Vec::new();
    let mut place: HashMap<String, usize> = HashMap::new();
    for report in sides.iter().filter_map(|side| side.document.report()) {
        let mut checks: Vec<&CheckReport> = report.checks.iter().collect();
        checks.sort_by_key(|check| (check.started.is_none(), check.started.clone()));
        for id in checks.iter().map(|check| &check.id).chain(&report.run.not_run) {
            let group = *place.entry(base(id).to_owned()).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            if !groups[group].contains(id) {
                groups[group].push(id.clone());
            }
        }
    }
    groups
}

/// The rows of a group: the row's id, and each side's. Where no two runs have the same variant, the variants stand for each
/// other; a variant that a run lacks is compared with that run's check by native rules.
fn of_group(ids: &[String], sides: &[Known<'_>]) -> Vec<(String, Vec<Option<String>>)> {
    let with = |id: &String| sides.iter().filter(|side| side.knows(id)).count();
    let owned = |side: &Known<'_>| ids.iter().filter(|id| side.knows(id)).cloned().collect::<Vec<_>>();
    let each: Vec<Vec<String>> = sides.iter().map(owned).collect();
    let one_each = each.iter().all(|own| own.len() <= 1) && each.iter().filter(|own| !own.is_empty()).count() > 1;
    if ids.len() > 1 && one_each && ids.iter().all(|id| with(id) < 2) {
        let chosen = each.into_iter().map(|own| own.into_iter().next()).collect();
        return vec![(base(&ids[0]).to_owned(), chosen)];
    }
    let row = |id: &String| {
        let native = base(id);
        let choose = |side: &Known<'_>| [id.as_str(), native].into_iter().find(|id| side.knows(id)).map(str::to_owned);
        (id.clone(), sides.iter().map(choose).collect())
    };
    ids.iter().map(row).collect()
}

fn of_report<'a>(known: &Known<'a>, row: &str, id: Option<&str>) -> Entry<'a> {
    let Some(check) = id.and_then(|id| known.check(id)) else {
        return Entry { unasked: id.is_none() && known.is_unasked(row), ..Entry::nothing(Standing::Missing) };
    };
    let counts = check.cases.counts();
    let standing = match check.verdict {
        Verdict::Passed => Standing::Green,
        Verdict::Skipped => Standing::Skipped,
        _ => Standing::Red,
    };
    let mut kinds: Vec<Kind> = Vec::new();
    for finding in check.findings.iter().filter(|finding| finding.severity != Severity::Note) {
        if !kinds.contains(&finding.kind) {
            kinds.push(finding.kind);
        }
    }
    let cases = check.cases.list.iter().map(|case| (case.name.as_str(), of_case(case.outcome))).collect();
    let mut entry = Entry { check: Some(check), cases, counts, kinds, ..Entry::nothing(standing) };
    // A check that was left out says so as a whole.
    if standing != Standing::Skipped || !entry.cases.is_empty() {
        entry.conclude();
    }
    entry
}

fn of_case(outcome: CaseOutcome) -> Standing {
    match outcome {
        CaseOutcome::Passed => Standing::Green,
        CaseOutcome::Failed => Standing::Red,
        CaseOutcome::Skipped => Standing::Skipped,
        // It was to run, and did not, or not to its end.
        CaseOutcome::Unknown => Standing::Missing,
    }
}

/// A case's own name, and the row of the check whose id stands before it.
fn of_check<'n>(name: &'n str, ids: &HashMap<String, usize>) -> Option<(&'n str, usize)> {
    const MARK: &str = "::";
    name.match_indices(MARK).find_map(|(at, _)| Some((&name[at + MARK.len()..], *ids.get(&name[..at])?)))
}

/// Puts the cases of a JUnit file into the rows that they belong to: by the id of the check that hostproof writes in front
/// of them, by their names in a report, or, if there is but one check, there.
fn add_junit<'a>(rows: &mut [Row<'a>], checks: usize, side: usize, reading: &'a Reading) {
    let mut ids: HashMap<String, usize> = HashMap::new();
    let mut names: Vec<(Vec<String>, usize)> = Vec::new();
    for (index, row) in rows.iter().enumerate().take(checks) {
        for id in row.entries.iter().filter_map(Entry::id) {
            ids.entry(id.to_owned()).or_insert(index);
        }
        let told = row.entries.iter().filter(|entry| entry.check.is_some());
        names.extend(told.flat_map(|entry| &entry.cases).map(|(name, _)| (parts(name), index)));
    }
    // Other variants stand for those that are not there.
    for (index, row) in rows.iter().enumerate().take(checks) {
        for id in variants(&row.id) {
            ids.entry(id).or_insert(index);
        }
    }
    let mut ends = Ends::new();
    for (name, row) in &names {
        ends.add(name, *row);
    }
    let only_names = checks == 0;
    let mut taken = BTreeSet::new();
    let mut any_ours = false;
    for case in &reading.cases {
        let prefix = of_check(&case.name, &ids);
        let name = prefix.map_or(case.name.as_str(), |(name, _)| name);
        let by_name = || ends.fitting(&parts(name)).only();
        let row = prefix.map(|(_, row)| row).or_else(by_name).unwrap_or(if checks == 1 { 0 } else { checks });
        let Some(entry) = rows.get_mut(row).and_then(|row| row.entries.get_mut(side)) else { continue };
        let standing = of_case(case.outcome);
        taken.insert(row);
        any_ours |= prefix.is_some();
        match name.strip_prefix(OURS).filter(|_| prefix.is_some()) {
            Some("check") => entry.standing = standing,
            Some(kind) => {
                entry.standing = Standing::Red;
                entry.kinds.extend(Kind::from_slug(kind.split(' ').next().unwrap_or(kind)));
            }
            None => entry.cases.push((name, standing)),
        }
    }
    // What a file tells of no case is of the only row that there is.
    if taken.is_empty() && checks < 2 {
        taken.insert(0);
    }
    let is_whole = reading.counts.unknown == Some(0) && reading.counts.ran == Some(reading.cases.len() as u64);
    let only = taken.first().copied().filter(|_| taken.len() == 1 && !any_ours);
    for (index, row) in rows.iter_mut().enumerate() {
        let entry = &mut row.entries[side];
        entry.partial = !is_whole;
        if only == Some(index) {
            entry.counts = reading.counts;
            // Of a file that breaks off the numbers are those of its beginning.
            if reading.counts.unknown.is_none() {
                entry.counts = Counts { failed: reading.counts.failed, ..Counts::default() };
            }
        } else if is_whole && !entry.cases.is_empty() {
            entry.counts = counted(&entry.cases);
        }
        entry.conclude();
        let listed = entry.cases.iter().filter(|(_, standing)| *standing == Standing::Red).count() as u64;
        // Without reports beside them, cases are all that there is to tell a run by.
        if only_names {
            entry.standing = of_counts(&reading.counts);
        } else if entry.counts.failed > Some(listed) {
            entry.standing = Standing::Red;
        }
    }
}

/// The numbers of cases that are all named.
fn counted(cases: &[(&str, Standing)]) -> Counts {
    let count = |wanted: Standing| cases.iter().filter(|(_, standing)| *standing == wanted).count() as u64;
    let [passed, failed, skipped] = [Standing::Green, Standing::Red, Standing::Skipped].map(count);
    let ran = Some(passed + failed + skipped);
    let [passed, failed, skipped] = [passed, failed, skipped].map(Some);
    Counts { planned: ran, ran, passed, failed, skipped, unknown: Some(0) }
}

/// How all cases of a file stand together.
fn of_counts(counts: &Counts) -> Standing {
    match counts {
        Counts { failed: Some(1..), .. } => Standing::Red,
        // Some never ran, or nobody can tell.
        Counts { unknown: None | Some(1..), .. } => Standing::Unknown,
        Counts { passed: Some(1..), .. } => Standing::Green,
        Counts { skipped: Some(1..), .. } => Standing::Skipped,
        _ => Standing::Missing,
    }
}
