//! One report out of those of the parts of a plan, or of runs of some checks again.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::model::{
    Baseline, CheckReport, Counts, Finding, Manifests, Partition, Report, RunFacts, SourceFacts, SourceState, Stop,
    Totals, Verdict,
};

/// A report, and what to call it.
#[derive(Debug, Clone)]
pub struct Part {
    /// The file, as it was named.
    pub name: String,
    /// Without its checks.
    pub report: Report,
    pub checks: Vec<Outcome>,
}

/// What is to be known of a check to merge reports; the rest may be put aside meanwhile.
#[derive(Debug, Clone)]
pub struct Outcome {
    id: String,
    /// `FILE:LINE` of the manifest.
    origin: Option<String>,
    verdict: Verdict,
    cases: Counts,
}

impl Outcome {
    /// Of a check's report.
    #[must_use]
    pub fn of(check: &CheckReport) -> Self {
        let CheckReport { id, origin, verdict, cases, .. } = check;
        Self { id: id.clone(), origin: origin.clone(), verdict: *verdict, cases: cases.counts() }
    }
}

/// Several reports as one.
#[derive(Debug)]
pub struct Merged {
    /// Without its checks.
    pub report: Report,
    /// Which checks it has, in their order: by their places among those of all parts, one part after the other.
    pub checks: Vec<usize>,
}

/// Makes one report of several: their checks, in the order of the manifests, and their sums anew. Host and source are those of
/// the first. With `replace`, a check that is in more than one is taken from the last of them; without, all must say the same
/// of it.
///
/// # Errors
///
/// A sentence that says why they are none of one plan, which part is missing, or of which check they say different things.
pub fn merge(parts: Vec<Part>, replace: bool) -> Result<Merged, String> {
    of_one_plan(&parts)?;
    complete(&parts)?;
    let checks = checks(&parts, replace)?;
    let mut known: BTreeSet<&str> = checks.iter().map(|(_, check)| check.id.as_str()).collect();
    let not_run = parts.iter().flat_map(|part| &part.report.run.not_run);
    let not_run: Vec<String> = not_run.filter(|id| known.insert(id)).cloned().collect();
    let mut totals = Totals::planned(checks.len() + not_run.len());
    for (_, check) in &checks {
        totals.add_outcome(check.verdict, &check.cases);
    }
    let checks: Vec<usize> = checks.iter().map(|(place, _)| *place).collect();
    let baseline = baseline(&parts, replace)?;
    let duration_ms = duration(&parts);
    let stops = parts.iter().filter_map(|part| part.report.run.stopped);
    let stopped = if not_run.is_empty() { None } else { stops.min_by_key(|stop| *stop != Stop::Interrupted) };
    let source = SourceFacts { start: parts[0].report.source.start.clone(), end: end(&parts) };
    let jobs = parts.iter().map(|part| part.report.run.jobs).sum();
    let ids: Vec<&str> = parts.iter().map(|part| part.report.run.id.as_str()).collect();
    let id = ids.join("+");
    let started = parts.iter().map(|part| part.report.run.started.clone()).min().unwrap_or_default();
    let findings = findings(&parts);
    let mut programs = BTreeMap::new();
    for part in &parts {
        programs.extend(part.report.host.programs.clone());
    }
    let Some(first) = parts.into_iter().next() else { return Err("there is no report".to_owned()) };
    let mut report = first.report;
    report.host.programs = programs;
    let run = RunFacts {
        id,
        started,
        duration_ms,
        jobs,
        interrupted: stopped == Some(Stop::Interrupted),
        stopped,
        not_run,
        partition: None,
        baseline,
        argv: report.run.argv,
    };
    Ok(Merged { report: Report { run, source, totals, findings, ..report }, checks })
}

/// What the first and another one must have in common.
fn of_one_plan(parts: &[Part]) -> Result<(), String> {
    let Some((first, others)) = parts.split_first() else { return Err("there is no report".to_owned()) };
    for other in others {
        let (a, b) = (&first.report, &other.report);
        let commit =
            |report: &Report| report.source.start.as_ref().map(|state| (state.commit.clone(), state.tree.clone()));
        let what = if a.tool != b.tool {
            Some(("were written by different versions", a.tool.version.clone(), b.tool.version.clone()))
        } else if a.manifests != b.manifests {
            Some(("are of different manifests", digest(&a.manifests), digest(&b.manifests)))
        } else if commit(a) != commit(b) {
            let name =
                |report: &Report| commit(report).and_then(|(commit, _)| commit).unwrap_or_else(|| "none".to_owned());
            Some(("are of different commits", name(a), name(b)))
        } else if a.place != b.place {
            Some(("are from different places", a.place.kind.clone(), b.place.kind.clone()))
        } else if (&a.host.os, &a.host.arch) != (&b.host.os, &b.host.arch) {
            let name = |report: &Report| format!("{} {}", report.host.os, report.host.arch);
            Some(("are from different systems", name(a), name(b)))
        } else {
            None
        };
        if let Some((what, one, another)) = what {
            return Err(format!(
                "{} and {} {what}, {one} and {another}: they are no parts of one run; hostproof compare sets them side by side",
                first.name, other.name
            ));
        }
    }
    Ok(())
}

fn digest(manifests: &Manifests) -> String {
    manifests.digest.clone().unwrap_or_else(|| "none".to_owned())
}

/// Of parts of a plan all must be there.
fn complete(parts: &[Part]) -> Result<(), String> {
    let partitions = || parts.iter().filter_map(|part| Some((part, part.report.run.partition?)));
    let Some((first, Partition { of, .. })) = partitions().next() else { return Ok(()) };
    if let Some((other, partition)) = partitions().find(|(_, partition)| partition.of != of) {
        return Err(format!(
            "{} is one of {of} parts, and {} one of {}: all must be parts of the same number",
            first.name, other.name, partition.of
        ));
    }
    let there: BTreeSet<u64> = partitions().map(|(_, partition)| partition.part).collect();
    let missing: Vec<String> =
        (1..=of).filter(|part| !there.contains(part)).map(|part| format!("{part}/{of}")).collect();
    match &missing[..] {
        [] => Ok(()),
        [one] => Err(format!("part {one} is missing: name its report, too")),
        more => Err(format!("parts {} are missing: name their reports, too", more.join(", "))),
    }
}

/// The checks of all, each once and with its place, in the order in which the manifests have them.
fn checks(parts: &[Part], replace: bool) -> Result<Vec<(usize, &Outcome)>, String> {
    // By id: where it is among the chosen, and the part that it is from.
    let mut known: HashMap<&str, (usize, &Part)> = HashMap::new();
    let mut chosen: Vec<(usize, &Outcome)> = Vec::new();
    let all = parts.iter().flat_map(|part| part.checks.iter().map(move |check| (part, check)));
    for (place, (part, check)) in all.enumerate() {
        let Some((at, before)) = known.get(check.id.as_str()) else {
            known.insert(&check.id, (chosen.len(), part));
            chosen.push((place, check));
            continue;
        };
        let there = chosen[*at].1;
        if replace {
            chosen[*at] = (place, check);
            known.insert(&check.id, (*at, part));
        } else if there.verdict != check.verdict {
            return Err(format!(
                "{} is {} in {} and {} in {}; --replace takes the last",
                check.id,
                there.verdict.name(),
                before.name,
                check.verdict.name(),
                part.name
            ));
        }
    }
    chosen.sort_by_key(|(_, check)| origin(check));
    Ok(chosen)
}

/// The file and line of a check. Variants of one check stay in their order.
fn origin(check: &Outcome) -> (&str, u64) {
    let origin = check.origin.as_deref().unwrap_or_default();
    let (file, line) = origin.rsplit_once(':').unwrap_or((origin, ""));
    (file, line.parse().unwrap_or_default())
}

/// What concerns the runs, once each.
fn findings(parts: &[Part]) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for finding in parts.iter().flat_map(|part| &part.report.findings) {
        if !findings.contains(finding) {
            findings.push(finding.clone());
        }
    }
    findings
}

/// How the source was left: if one of the runs changed it, as that did.
fn end(parts: &[Part]) -> Option<SourceState> {
    let sources = || parts.iter().map(|part| &part.report.source);
    sources().find(|source| source.end != source.start).or_else(|| sources().next())?.end.clone()
}

/// From the first start to the last end; where a time can't be read, as long as the longest.
fn duration(parts: &[Part]) -> u64 {
    let longest = parts.iter().map(|part| part.report.run.duration_ms).max().unwrap_or_default();
    let span = || {
        let mut ends: Option<(i64, i64)> = None;
        for part in parts {
            let run = &part.report.run;
            let start = run.started.parse::<jiff::Timestamp>().ok()?.as_millisecond();
            let end = start.checked_add_unsigned(run.duration_ms)?;
            ends = Some(ends.map_or((start, end), |(first, last)| (first.min(start), last.max(end))));
        }
        let (first, last) = ends?;
        u64::try_from(last - first).ok()
    };
    span().unwrap_or(longest)
}

/// What is new since an earlier run; all must be set against the same one.
fn baseline(parts: &[Part], replace: bool) -> Result<Option<Baseline>, String> {
    let mut merged: Option<(&str, Baseline)> = None;
    for part in parts {
        let Some(baseline) = &part.report.run.baseline else { continue };
        if replace {
            return Err(format!(
                "{} was set against another run, which says nothing of checks that are replaced",
                part.name
            ));
        }
        match &mut merged {
            None => merged = Some((&part.name, baseline.clone())),
            Some((name, known)) if (&known.of, &known.commit) != (&baseline.of, &baseline.commit) => {
                return Err(format!("{name} and {} are set against different runs", part.name));
            }
            Some((_, known)) => {
                known.new.extend(baseline.new.iter().cloned());
                known.old.extend(baseline.old.iter().cloned());
                known.mended.extend(baseline.mended.iter().cloned());
                known.unknown.extend(baseline.unknown.iter().cloned());
            }
        }
    }
    Ok(merged.map(|(_, baseline)| baseline))
}
