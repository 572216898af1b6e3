//! A comparison for people: the answer first, then the checks, then what else differs.

use super::Look;
use super::findings;
use super::terminal::{frame_place, of_planned, one_line};
use crate::model::{Cause, CheckComparison, CheckSide, Comparison, Divergence, Likeness, Standing};
use crate::words::{beginning, counted};

/// How many cases, causes and facts are shown before `…`.
const CASES: usize = 4;
const CAUSES: usize = 3;
const FACTS: usize = 8;
/// The longest value of a fact.
const VALUE: usize = 60;
/// From this weight on a cause is called likely; below the second one only experience speaks for it.
const LIKELY: u64 = 60;
const POSSIBLE: u64 = 25;

/// All lines; with `verbose` every case, cause and fact.
#[must_use]
pub fn comparison(look: Look, comparison: &Comparison, verbose: bool) -> Vec<String> {
    let most = |few: usize| if verbose { usize::MAX } else { few };
    let mut lines = vec![header(look, comparison), String::new()];
    if let Some(first) = &comparison.first {
        lines.extend(answer(look, comparison, first, most(CAUSES)));
        lines.push(String::new());
    }
    let width = comparison.checks.iter().map(|check| check.id.chars().count()).max().unwrap_or(0).min(40);
    for check in &comparison.checks {
        lines.extend(of_check(look, comparison, check, width, most(CASES)));
    }
    let is_first = |check: &&CheckComparison| comparison.first.as_ref().is_some_and(|first| first.check == check.id);
    for check in comparison.checks.iter().filter(|check| !is_first(check) && !check.causes.is_empty()) {
        lines.push(String::new());
        lines.push(look.bold(&look.text(&one_line(&check.id))));
        lines.extend(check.causes.iter().take(most(CAUSES)).flat_map(|cause| of_cause(look, comparison, cause)));
    }
    lines.extend(other_facts(look, comparison, most(FACTS)));
    if !comparison.notes.is_empty() {
        lines.push(String::new());
        lines.extend(comparison.notes.iter().map(|note| format!("note   {}", look.text(&one_line(note)))));
    }
    lines.push(String::new());
    lines.push(counts(comparison));
    lines
}

fn header(look: Look, comparison: &Comparison) -> String {
    let title = look.bold(&format!("hostproof {}", comparison.tool.version));
    let side = |side: &crate::model::ComparedRun| {
        let stem = side.file.contains(&side.label);
        let file = if stem { String::new() } else { format!(" ({})", side.file) };
        look.text(&one_line(&format!("{}{file}", side.label)))
    };
    format!("{title}  {}", comparison.sides.iter().map(side).collect::<Vec<_>>().join(" | "))
}

/// Who is red where, what says so, and what explains it.
fn answer(look: Look, comparison: &Comparison, first: &Divergence, causes: usize) -> Vec<String> {
    let each = standings(comparison, &first.standings);
    let what = first.case.as_ref().map_or_else(String::new, |case| format!(", first in {case}"));
    let title = look.red("DIFFERENT");
    let mut lines = vec![format!("{title} {}", look.text(&one_line(&format!("{}{what}: {each}", first.check))))];
    let mut below = |line: &str| lines.push(format!("    {}", look.text(&one_line(line))));
    if let Some(frame) = &first.frame {
        below(&frame_place(frame, &frame.file));
        frame.error.iter().for_each(|error| below(&format!("    {error}")));
    }
    match &first.finding {
        Some(finding) => findings::lines(&[finding], false).iter().for_each(|line| below(line)),
        None if first.frame.is_none() => first.reason.iter().for_each(|reason| below(reason)),
        None => {}
    }
    let check = comparison.checks.iter().find(|check| check.id == first.check);
    let found = check.map_or(&[][..], |check| &check.causes[..]);
    lines.extend(found.iter().take(causes).flat_map(|cause| of_cause(look, comparison, cause)));
    if found.is_empty() {
        lines.push("    no fact that the runs tell of differs: look at what changed between them".to_owned());
    }
    lines
}

/// `green in a, red in b`.
pub(super) fn standings(comparison: &Comparison, standings: &[Standing]) -> String {
    let each = comparison.sides.iter().zip(standings);
    each.map(|(side, standing)| format!("{} in {}", standing.word(), side.label)).collect::<Vec<_>>().join(", ")
}

/// How far a cause can be believed.
pub(super) fn trust(cause: &Cause) -> &'static str {
    match cause.weight {
        LIKELY.. => "likely",
        POSSIBLE.. => "perhaps",
        _ => "differs",
    }
}

/// `uid: 0 in a, 1000 in b`.
pub(super) fn values(comparison: &Comparison, cause: &Cause, longest: usize) -> String {
    let value =
        |value: &Option<String>| value.as_deref().map_or("not known".to_owned(), |text| beginning(text, longest));
    let each = comparison.sides.iter().zip(&cause.values);
    let each: Vec<String> = each.map(|(side, known)| format!("{} in {}", value(known), side.label)).collect();
    format!("{}: {}", cause.fact, each.join(", "))
}

fn of_cause(look: Look, comparison: &Comparison, cause: &Cause) -> Vec<String> {
    let mut lines =
        vec![format!("    {:<7} {}", trust(cause), look.text(&one_line(&values(comparison, cause, VALUE))))];
    lines.extend(cause.because.iter().map(|why| format!("            {}", look.text(&one_line(why)))));
    lines
}

fn of_check(look: Look, comparison: &Comparison, check: &CheckComparison, width: usize, cases: usize) -> Vec<String> {
    let tag = match check.outcome {
        Likeness::Same => look.green("same"),
        Likeness::Different => look.red("DIFF"),
        Likeness::Unknown => look.yellow("?   "),
    };
    let id = format!("{:width$}", look.text(&one_line(&check.id)));
    let mut lines = vec![format!(" {tag}  {id}  {}", look.text(&one_line(&in_each(comparison, check))))];
    let mut below = |line: &str| lines.push(format!("       {}", look.text(&one_line(line))));
    // Cases that stand alike are told together.
    let mut groups: Vec<(&[Standing], Vec<&str>)> = Vec::new();
    for case in &check.cases {
        match groups.iter_mut().find(|(standings, _)| *standings == case.standings) {
            Some((_, names)) => names.push(&case.name),
            None => groups.push((&case.standings, vec![&case.name])),
        }
    }
    for (alike, names) in groups {
        let shown = names.iter().take(cases).copied().collect::<Vec<_>>().join(", ");
        let more = if names.len() > cases { " … (all: --verbose)" } else { "" };
        below(&format!("{} {}: {shown}{more}", counted(names.len(), "case"), standings(comparison, alike)));
    }
    check.notes.iter().for_each(|note| below(note));
    lines
}

/// How a check stands in every run: once, if all is the same.
pub(super) fn in_each(comparison: &Comparison, check: &CheckComparison) -> String {
    let one = |(index, side): (usize, &crate::model::CheckSide)| {
        let counts = of_planned(&side.counts);
        let word = side.verdict.map_or(side.standing.word(), crate::model::Verdict::name);
        let name = side.id.as_ref().filter(|id| **id != check.id).map(|id| format!("{id} ")).unwrap_or_default();
        (format!("{name}{word} {counts}").trim_end_matches(['-', ' ']).to_owned(), &comparison.sides[index].label)
    };
    let each: Vec<_> = check.sides.iter().enumerate().map(one).collect();
    if each.windows(2).all(|pair| pair[0].0 == pair[1].0) {
        return each.into_iter().next().map(|(text, _)| text).unwrap_or_default();
    }
    each.iter().map(|(text, label)| format!("{text} in {label}")).collect::<Vec<_>>().join(" | ")
}

/// The facts that nothing was said of yet.
fn other_facts(look: Look, comparison: &Comparison, most: usize) -> Vec<String> {
    let told = |cause: &&Cause| {
        comparison.checks.iter().any(|check| check.causes.iter().take(CAUSES).any(|known| known.fact == cause.fact))
    };
    let others: Vec<&Cause> = comparison.facts.iter().filter(|cause| !told(cause)).collect();
    if others.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), "also different".to_owned()];
    lines.extend(
        others
            .iter()
            .take(most)
            .map(|cause| format!("    {}", look.text(&one_line(&values(comparison, cause, VALUE))))),
    );
    if others.len() > most {
        lines.push(format!("    {} and {} more (all: --verbose)", look.text("…"), others.len() - most));
    }
    lines
}

/// Whether two runs tell of some check, or of some case.
pub(super) fn any_shared(comparison: &Comparison) -> bool {
    let tells = |side: &&CheckSide| side.verdict.is_some() || side.counts.ran.is_some();
    comparison.checks.iter().any(|check| check.cases_compared > 0 || check.sides.iter().filter(tells).count() > 1)
}

/// The last line: always the counts.
pub(super) fn counts(comparison: &Comparison) -> String {
    let (checks, cases) = (&comparison.totals.checks, &comparison.totals.cases);
    let part = |different: u64, same: u64, what: &str| {
        let all = different + same;
        format!("{different} of {}", counted(all, what))
    };
    let mut text = match comparison.outcome {
        Likeness::Different => format!("different: {}", part(checks.different, checks.same, "check")),
        Likeness::Same => format!("same: {}", counted(checks.same, "check")),
        Likeness::Unknown if !any_shared(comparison) => {
            return "nothing could be compared: no check is in two of them".to_owned();
        }
        Likeness::Unknown => {
            let same =
                if cases.same > 0 { format!("; {} the same", counted(cases.same, "case")) } else { String::new() };
            return format!("not known: what a run leaves out may differ{same}");
        }
    };
    if comparison.outcome == Likeness::Same && cases.same > 0 {
        text.push_str(&format!(", {}", counted(cases.same, "case")));
    } else if cases.different + cases.same > 0 {
        text.push_str(&format!(", {}", part(cases.different, cases.same, "case")));
    }
    let unknown = checks.unknown;
    if unknown > 0 {
        text.push_str(&format!("; {unknown} could not be compared"));
    }
    text
}
