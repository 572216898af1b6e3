//! Which receipts a change wants, and what it makes weaker.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::change::Change;
use super::side::{SYSTEMS, Side};
use super::variants;
use super::weaker::{self, asked};
use crate::covers::Covers;
use crate::model::{
    Accepted, CaseCount, Check, CheckCommand, Obstacle, ObstacleKind, Origin, Platform, PolicyPart, ReaderChoice, Skips,
};
use crate::plan::Planned;
use crate::receipt::inputs::Inputs;
use crate::words::first_of;

/// How many things that changed are named.
const NAMED: usize = 3;

/// A receipt that is wanted.
#[derive(Debug)]
pub struct Want {
    pub check: String,
    pub host: Platform,
    /// Never empty.
    pub because: Vec<String>,
    /// What the check rests on in the head, or why that can't be told.
    pub inputs: Result<Inputs, String>,
    /// How many cases there have to be.
    pub cases: Cases,
    /// Whether the base has changed what it rests on, too.
    pub base_moved: bool,
    pub origin: Option<Origin>,
}

/// The cases that a check has to have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cases {
    /// So many.
    pub count: Option<CaseCount>,
    /// At least one, whatever is said of their number: something reads them.
    pub are_read: bool,
    /// How many may be skipped; any number if it is not said, but not all.
    pub most_skipped: Option<u64>,
}

impl Cases {
    /// By what a check says.
    pub fn of(check: &Check) -> Self {
        // Each event of a hook is a case, and none is ever skipped.
        if matches!(check.command, CheckCommand::Hook(_)) {
            let count = Some(CaseCount::Exactly(check.events.len() as u64));
            return Self { count, are_read: true, most_skipped: Some(0) };
        }
        let most_skipped = check.expect.skipped.as_ref().and_then(|skips| match skips {
            Skips::AtMost(most) => Some(*most),
            Skips::ByReason(rules) => rules.iter().map(|rule| rule.most).sum(),
        });
        let are_read = !matches!(check.reader, ReaderChoice::Auto | ReaderChoice::None);
        Self { count: check.expect.cases.clone(), are_read, most_skipped }
    }
}

/// Of each check and each host: wanted where the change has to do with it. `because` is what wired commands make of it.
pub fn wants(change: &Change, because: &mut BTreeMap<(Platform, String), Vec<String>>) -> Vec<Want> {
    let mut wants = Vec::new();
    for system in SYSTEMS {
        for planned in change.head.checks(system) {
            let check = &planned.check();
            if !asked(check, &change.policy.require).contains(&system) {
                continue;
            }
            let Some(inputs) = change.head.inputs(system, &check.id) else { continue };
            let before = change.since.inputs(system, &check.id);
            let mut reasons: Vec<String> = differs(before.as_ref(), &inputs).into_iter().collect();
            reasons.extend(because.remove(&(system, check.id.clone())).unwrap_or_default());
            if reasons.is_empty() {
                continue;
            }
            let base_moved = match (&before, change.base.inputs(system, &check.id)) {
                (Some(Ok(before)), Some(Ok(base))) => *before != base,
                (Some(_), None) | (None, Some(_)) => true,
                _ => false,
            };
            wants.push(Want {
                check: check.id.clone(),
                host: system,
                because: reasons,
                inputs,
                cases: Cases::of(check),
                base_moved,
                origin: check.origin.clone(),
            });
        }
    }
    wants
}

/// What of a check's inputs changed.
fn differs(before: Option<&Result<Inputs, String>>, after: &Result<Inputs, String>) -> Option<String> {
    match (before, after) {
        (None, _) => Some("it is new".to_owned()),
        (Some(Ok(before)), Ok(after)) if before == after => None,
        (Some(Ok(before)), Ok(after)) => Some(format!("{} changed", first_of(&before.unlike(after), NAMED))),
        (Some(Err(before)), Err(after)) if before == after => None,
        (Some(Err(why)), _) => Some(format!("what it rested on before can't be told: {why}")),
        (_, Err(why)) => Some(format!("what it rests on can't be told: {why}")),
    }
}

/// The checks that a change makes weaker or removes, and what of the policy.
pub fn weakened(change: &Change, project: &Path) -> Vec<Obstacle> {
    // By check and by what is said of it: the systems, and where the check is.
    let mut said: BTreeMap<(String, String), (BTreeSet<Platform>, Option<String>)> = BTreeMap::new();
    let mut on: BTreeMap<String, usize> = BTreeMap::new();
    let files: Vec<&Path> = change.head.revision.files().map(|file| file.path.as_path()).collect();
    for system in SYSTEMS {
        let (before, after) = (by_check(&change.since, system), by_check(&change.head, system));
        let new: Vec<&Vec<&Planned>> =
            after.iter().filter(|(id, _)| !before.contains_key(*id)).map(|(_, all)| all).collect();
        for (id, before) in before {
            *on.entry(id.to_owned()).or_default() += 1;
            let weaker = |after: &[&Planned]| weaker(&before, after, &files, &change.policy.require);
            let is_renamed = |after: &&Vec<&Planned>| {
                after[0].base().command == before[0].base().command && weaker(after).is_empty()
            };
            let (weaker, origin) = match after.get(id) {
                Some(after) => (weaker(after), after[0].base().origin.as_ref()),
                None if is_gone_with_all(before[0].base(), &files) || new.iter().any(is_renamed) => continue,
                None => (vec!["it is gone".to_owned()], None),
            };
            for what in weaker {
                let (systems, place) = said.entry((id.to_owned(), what)).or_default();
                systems.insert(system);
                *place = origin.map(place_of);
            }
        }
    }
    let mut found: Vec<Obstacle> = said
        .into_iter()
        .map(|((id, what), (systems, place))| {
            let everywhere = on.get(&id) == Some(&systems.len());
            let names: Vec<&str> = systems.iter().map(|system| system.name()).collect();
            let on = if everywhere { String::new() } else { format!(", on {}", names.join(" and ")) };
            let accept = change.policy.accept.iter().find(|accept| accept.what == Accepted::Check(id.clone()));
            Obstacle {
                kind: ObstacleKind::Weaker,
                message: format!("{what}{on}"),
                place,
                remedy: remedy(&format!("check: {id}")),
                accepted: accept.map(|accept| accept.because.clone()),
                subject: id,
            }
        })
        .collect();
    found.extend(policy(change, project));
    found
}

/// The checks that run on a system, each with its variants, by id. None is empty.
fn by_check(side: &Side, system: Platform) -> BTreeMap<&str, Vec<&Planned>> {
    let mut all: BTreeMap<&str, Vec<&Planned>> = BTreeMap::new();
    for planned in side.checks(system) {
        all.entry(&*planned.variant.of).or_default().push(planned);
    }
    all
}

/// What of a check is weaker than it was: of its variants, and of the first by each rules that both have. The others have but
/// other settings and facts.
fn weaker(before: &[&Planned], after: &[&Planned], files: &[&Path], require: &BTreeSet<Platform>) -> Vec<String> {
    let mut found =
        variants::lost(before.iter().map(|planned| &planned.variant), after.iter().map(|planned| &planned.variant));
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for planned in before.iter().filter(|planned| seen.insert(planned.rules().name())) {
        let same = after.iter().find(|other| other.rules() == planned.rules());
        let weaker =
            same.map(|same| weaker::check(&planned.check(), &same.check(), files, require)).unwrap_or_default();
        found.extend(weaker.into_iter().filter(|what| !found.contains(what)).collect::<Vec<_>>());
    }
    found
}

/// What a change has checks run with that they were not run with before.
pub fn run_otherwise(change: &Change) -> Vec<String> {
    let mut told = BTreeSet::new();
    for system in SYSTEMS {
        for (id, before) in by_check(&change.since, system) {
            // Of variants with the same settings, so that these are not told.
            let same = before.iter().find_map(|it| Some((it, change.head.check(system, it.id())?)));
            let Some((planned, after)) = same else { continue };
            let keys = weaker::surroundings(&planned.check(), &after.check());
            if !keys.is_empty() {
                let keys = keys.join("`, `");
                told.insert(format!("{id} is run with other `{keys}`: whether it tests as much is for people to see"));
            }
        }
    }
    told.into_iter().collect()
}

/// What lets a weaker one pass.
pub fn remedy(what: &str) -> String {
    format!("take it back, or first land `gate: {{accept: [{{{what}, because: …}}]}}` in the base")
}

fn place_of(origin: &Origin) -> String {
    format!("{}:{}", origin.file, origin.line)
}

/// Whether nothing that a check covers is left: then it has nothing to say any more.
fn is_gone_with_all(check: &Check, files: &[&Path]) -> bool {
    let covers = Covers::of(&check.covers);
    !check.covers.is_empty() && !files.iter().any(|file| covers.has(file))
}

fn policy(change: &Change, project: &Path) -> Vec<Obstacle> {
    let Some(before) = &change.since.policy else { return Vec::new() };
    let after = change.head.policy.as_ref();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let was = change.since.signers(project, &before.signers).map(text).unwrap_or_default();
    let now = after.and_then(|after| change.head.signers(project, &after.signers).map(text).ok());
    let obstacle = |(part, message): (PolicyPart, String)| {
        let accept = change.policy.accept.iter().find(|accept| accept.what == Accepted::Policy(part));
        let place = match (part, after) {
            (PolicyPart::Signers, Some(after)) if now.is_some() => Some(after.signers.clone()),
            (_, after) => after.map(|after| place_of(&after.origin)),
        };
        Obstacle {
            kind: ObstacleKind::Policy,
            subject: part.name().to_owned(),
            message,
            place,
            remedy: remedy(&format!("policy: {}", part.name())),
            accepted: accept.map(|accept| accept.because.clone()),
        }
    };
    weaker::policy(before, after, (&was, now.as_deref())).into_iter().map(obstacle).collect()
}
