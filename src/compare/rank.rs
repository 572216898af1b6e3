//! How well each fact explains what differs.
//!
//! A fact weighs what the failure says of it (up to 80), and what experience says (up to 20). Where there are three runs or
//! more, those come first that part the green runs from all others: one value here, another one there. A fact that a green
//! run shares with one that is not can't be the whole reason, and weighs half.

use std::cmp::Reverse;

use super::facts::{Fact, HOME, HOME_SETTINGS, LOCALE, PROBE, PROGRAM, TEMP_CASE, TIME_ZONE, UMASK};
use super::names::is_about;
use super::rows::Row;
use super::{Document, Side, clues, spoken};
use crate::model::{Cause, Home, Kind, Severity, Standing};
use crate::words::beginning;

/// What one word of a failure's output is worth, next to one of its error: output has much that is not the reason.
const OUTPUT_SHARE: u64 = 50;
/// The same of the case's name.
const NAME_SHARE: u64 = 40;
/// The most that is quoted.
const QUOTED: usize = 60;

/// What is known of a failure.
#[derive(Debug, Default)]
pub struct Failure {
    /// What it says, in small letters, and how much of a clue's points that is worth, in percent.
    texts: Vec<(String, u64)>,
    /// The same of its errors, as they are.
    errors: Vec<String>,
    kinds: Vec<Kind>,
    /// Whether its check sees the caller's home.
    real_home: bool,
    /// The side that it is of.
    side: usize,
}

/// The side whose failure is told: the first red one, else the first that is not green.
pub fn worst(standings: &[Standing]) -> usize {
    let first = |wanted: &dyn Fn(Standing) -> bool| standings.iter().position(|standing| wanted(*standing));
    first(&|standing| standing == Standing::Red)
        .or_else(|| first(&|standing| matches!(standing, Standing::Skipped | Standing::Missing)))
        .unwrap_or(0)
}

impl Failure {
    /// Of a row's case, by the name that each side has for it, or of the whole row.
    pub fn of(sides: &[Side], row: &Row<'_>, standings: &[Standing], case: Option<&[Option<String>]>) -> Self {
        let side = worst(standings);
        let case = case.and_then(|names| names[side].clone());
        let mut failure = Self { side, ..Self::default() };
        let entry = &row.entries[side];
        let frames = match &sides[side].document {
            Document::Report(_) => entry.check.map_or(&[][..], |check| &check.frames[..]),
            Document::Junit(reading) => &reading.frames[..],
        };
        let any_same = case.is_some() && frames.iter().any(|frame| frame.case == case);
        let about = |known: Option<&String>, any_same: bool| match (&case, known) {
            (Some(case), Some(known)) => is_about(known, case, any_same),
            _ => true,
        };
        for frame in frames.iter().filter(|frame| about(frame.case.as_ref(), any_same)) {
            failure.error(frame.error.as_deref());
        }
        if let Some(check) = entry.check {
            for finding in check.findings.iter().filter(|finding| finding.severity != Severity::Note) {
                failure.kinds.push(finding.kind);
                failure.error(Some(&finding.message));
                failure.texts.push((finding.kind.slug().to_owned(), 100));
            }
            let skipped = check.cases.list.iter().filter(|known| about(Some(&known.name), true));
            for reason in skipped.filter_map(|known| known.reason.as_deref()).chain(check.reason.as_deref()) {
                failure.error(Some(reason));
            }
            failure.texts.push((check.verdict.name().to_owned(), 100));
            for output in [&check.stdout, &check.stderr] {
                failure.texts.push((output.tail.to_lowercase(), OUTPUT_SHARE));
            }
            failure.real_home = check.home == Some(Home::Real);
        }
        failure.texts.extend(case.map(|case| (case.to_lowercase(), NAME_SHARE)));
        failure
    }

    fn error(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            self.texts.push((text.to_lowercase(), 100));
            self.errors.push(text.to_owned());
        }
    }
}

/// The order of causes: larger is better.
pub fn key(cause: &Cause) -> (bool, u64, Reverse<String>) {
    (cause.splits == Some(true), cause.weight, Reverse(cause.fact.clone()))
}

/// The facts that may explain it, the best first. Facts of which neither the failure nor experience says anything are left
/// out.
pub fn causes(facts: &[Fact], standings: &[Standing], failure: &Failure) -> Vec<Cause> {
    let mut all: Vec<Fact> = facts.to_vec();
    all.extend(missing_programs(facts, standings.len(), failure));
    let mut causes: Vec<Cause> = all.iter().filter_map(|fact| cause(fact, standings, failure)).collect();
    causes.sort_by_key(|cause| Reverse(key(cause)));
    causes
}

fn cause(fact: &Fact, standings: &[Standing], failure: &Failure) -> Option<Cause> {
    let parting = parting(fact, standings);
    let mut because = Vec::new();
    let mut points = 0;
    if let Some((worth, why)) = clue(fact, standings, failure) {
        points = worth;
        because.push(why);
    }
    let mut weight = points + fact.prior;
    if weight == 0 {
        return None;
    }
    let several = standings.iter().filter(|standing| **standing != Standing::Unknown).count() > 2;
    if several {
        match parting {
            Parting::Exact => because.push("it parts the green runs from the others exactly".to_owned()),
            Parting::Shared => {
                weight /= 2;
                because.push("a green run has the same as one that is not".to_owned());
            }
            Parting::Loose => {}
        }
    }
    Some(Cause {
        fact: fact.name.clone(),
        values: fact.values.clone(),
        weight: weight.min(100),
        splits: several.then_some(parting == Parting::Exact),
        because,
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Parting {
    /// All green runs have one value, and all others another one.
    Exact,
    /// No green run has a value that another one has.
    Loose,
    /// Some green run has the value of one that is not green.
    Shared,
}

fn parting(fact: &Fact, standings: &[Standing]) -> Parting {
    let of = |green: bool| {
        let chosen = standings
            .iter()
            .zip(&fact.values)
            .filter(move |(standing, _)| **standing != Standing::Unknown && (**standing == Standing::Green) == green);
        chosen.map(|(_, value)| value)
    };
    let known = || of(true).chain(of(false)).all(Option::is_some);
    let alike = |green| {
        let mut values = of(green);
        let first = values.next();
        values.all(|value| Some(value) == first)
    };
    if of(true).flatten().any(|value| of(false).flatten().any(|other| other == value)) {
        Parting::Shared
    } else if known() && of(true).next().is_some() && alike(true) && alike(false) {
        Parting::Exact
    } else {
        Parting::Loose
    }
}

/// What the failure says of a fact: points of 80, and why.
fn clue(fact: &Fact, standings: &[Standing], failure: &Failure) -> Option<(u64, String)> {
    let red = fact.values[failure.side].as_deref();
    let green = standings.iter().zip(&fact.values).find_map(|(standing, value)| {
        let value = value.as_deref().filter(|value| Some(*value) != red)?;
        (*standing == Standing::Green).then_some(value)
    });
    // Nothing is green where one is red and the other was left out: then any other value is set against it.
    let other = || fact.values.iter().flatten().map(String::as_str).find(|value| Some(*value) != red);
    let program = fact.name.strip_prefix(PROGRAM);
    if let (Some(program), Some(red)) = (program, red)
        && failure.errors.iter().any(|error| spoken::missing_program(error).as_deref() == Some(program))
    {
        return Some((80, format!("the failure looks for {program} in vain: {red}")));
    }
    let (red, green) = (red?, green.or_else(other)?);
    let worded = clues::of(&fact.name).filter(|clue| (clue.fits)(red, green)).filter_map(|clue| {
        let found = |(text, share): &(String, u64)| {
            let word = clue.words.split('|').find(|word| clues::is_in(text, word))?;
            Some((clue.points * share / 100, word, clue.because))
        };
        failure.texts.iter().filter_map(found).max_by_key(|(points, ..)| *points)
    });
    let worded = worded
        .max_by_key(|(points, ..)| *points)
        .map(|(points, word, because)| (points, format!("\"{}\": {because}", beginning(word, QUOTED))));
    let by_value = of_errors(fact, red, green, failure);
    worded.into_iter().chain(by_value).max_by_key(|(points, _)| *points)
}

/// What can be read from a failure only with the fact's values at hand.
fn of_errors(fact: &Fact, red: &str, green: &str, failure: &Failure) -> Option<(u64, String)> {
    let errors = || failure.errors.iter();
    let program = fact.name.strip_prefix(PROGRAM);
    match fact.name.as_str() {
        UMASK => {
            let exact = errors().find_map(|error| spoken::masked(error, red, green));
            let exact = exact.map(|(whole, rest)| {
                (80, format!("a mode of {whole:o} becomes {rest:o} under the umask {red}, as the failure has it"))
            });
            let spoken = || {
                errors()
                    .any(|error| spoken::modes(error).len() > 1)
                    .then(|| (45, "the failure compares permissions".to_owned()))
            };
            exact.or_else(spoken)
        }
        TIME_ZONE => errors()
            .any(|error| spoken::has_two_times(error))
            .then(|| (70, "the failure compares two dates or times".to_owned())),
        TEMP_CASE => errors()
            .find_map(|error| spoken::only_case(error))
            .map(|(one, other)| (72, format!("{one} and {other} are one name where case is not told apart"))),
        LOCALE => errors()
            .any(|error| !error.is_ascii() || error.contains('\u{fffd}'))
            .then(|| (40, "the failure has letters beyond ASCII".to_owned())),
        HOME | HOME_SETTINGS if failure.real_home => {
            let left = [Kind::LeakedProcess, Kind::HeldDirectory, Kind::HeldFile, Kind::Residue];
            let points = if fact.name == HOME_SETTINGS { 66 } else { 50 };
            let why = "the check sees the real home";
            if failure.kinds.iter().any(|kind| left.contains(kind)) {
                Some((points, format!("{why}, and what is left there may be what its settings ask for")))
            } else {
                Some((20, why.to_owned()))
            }
        }
        _ if fact.name.starts_with(PROBE) => {
            let seen = [Kind::RefusedByWindows, Kind::HeldDirectory, Kind::HeldFile, Kind::LeakedProcess];
            let blind = red == "ok" && failure.kinds.iter().any(|kind| seen.contains(kind));
            blind.then(|| (60, "the green run could not look as well".to_owned()))
        }
        _ => {
            let program = program?;
            let named = failure.texts.iter().any(|(text, share)| *share > OUTPUT_SHARE && has_word(text, program));
            named.then(|| (50, format!("the failure speaks of {program}")))
        }
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '_').any(|known| known == word)
}

/// Programs that the failure looks for in vain, and that no `needs` names: the machine's facts don't have them.
fn missing_programs(facts: &[Fact], sides: usize, failure: &Failure) -> Vec<Fact> {
    let mut found: Vec<Fact> = Vec::new();
    for program in failure.errors.iter().filter_map(|error| spoken::missing_program(error)) {
        let name = format!("{PROGRAM}{program}");
        if !facts.iter().chain(&found).any(|fact| fact.name == name) {
            let mut values = vec![None; sides];
            values[failure.side] = Some("not found".to_owned());
            found.push(Fact { name, values, prior: 15 });
        }
    }
    found
}
