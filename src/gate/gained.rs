//! What the base gained since the change parted from it, and that reaches what the change touches. The change's own manifests
//! know nothing of it, and what a merge makes of both ran nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::change::Change;
use super::side::{SYSTEMS, Side};
use super::wants::{Cases, Want};
use super::weaker::asked;
use super::wirings::{bare, changed_script, is_covered, is_for, occasion};
use crate::model::{Check, Obstacle, ObstacleKind, Platform, Wiring};
use crate::receipt::inputs::Reach;
use crate::wirings::read;

/// Marks what is wanted as moved, wants the base's own checks as well, and tells of wirings that none of them covers.
pub fn gained(change: &Change, wants: &mut Vec<Want>) -> Vec<Obstacle> {
    if change.base.revision.commit == change.since.revision.commit {
        return Vec::new();
    }
    let mut because: BTreeMap<(Platform, String), String> = BTreeMap::new();
    let touched = touched(change);
    for system in SYSTEMS {
        for planned in change.base.checks(system) {
            if let Some(why) = reached(change, system, &planned.check(), &touched) {
                because.insert((system, planned.id().to_owned()), why);
            }
        }
    }
    let mut obstacles = Vec::new();
    for (wiring, script) in wired(change) {
        let what = format!("{} in {} of the base runs {script}, which changed", occasion(&wiring), wiring.place());
        let mut is_wanted = false;
        for system in SYSTEMS.into_iter().filter(|system| is_for(&wiring, *system)) {
            for planned in change.base.checks(system).filter(|it| is_covered(&wiring, it.base(), &change.base)) {
                is_wanted |= asked(&planned.check(), &change.policy.require).contains(&system);
                because.entry((system, planned.id().to_owned())).or_insert_with(|| what.clone());
            }
        }
        if !is_wanted {
            obstacles.push(Obstacle {
                kind: ObstacleKind::Uncovered,
                subject: format!("{} in {}", occasion(&wiring), wiring.place()),
                message: format!("the base has wired it meanwhile, and it runs {script}, which changed"),
                place: None,
                remedy: "rebase, or merge the base, and ask again".to_owned(),
                accepted: None,
            });
        }
    }
    for ((system, id), why) in because {
        want(change, system, &id, why, wants);
    }
    obstacles
}

/// The files that are otherwise in the head than where it parts from the base.
fn touched(change: &Change) -> BTreeSet<PathBuf> {
    let of = |side: &Side| -> BTreeSet<_> {
        side.revision.files().map(|file| (file.path.clone(), file.object.clone(), file.kind as u8)).collect()
    };
    of(&change.since).symmetric_difference(&of(&change.head)).map(|(path, _, _)| path.clone()).collect()
}

/// Why a check of the base, as the change does not know it, has to do with what the change touches.
fn reached(change: &Change, system: Platform, check: &Check, touched: &BTreeSet<PathBuf>) -> Option<String> {
    let same = |side: &Side| side.check(system, &check.id).is_some_and(|it| unplaced(&it.check()) == unplaced(check));
    if same(&change.head) && !same(&change.since) {
        return None;
    }
    let reach = |side: &Side, check: &Check| Reach::of(check, &side.revision);
    let now = match reach(&change.base, check) {
        Ok(now) => now,
        Err(_) if same(&change.since) => return None,
        Err(why) => return Some(format!("the base has changed it, and what it rests on can't be told: {why}")),
    };
    let before = change.since.check(system, &check.id).filter(|_| same(&change.since));
    let before = before.and_then(|planned| reach(&change.since, &planned.check()).ok());
    let is_new = |path: &&PathBuf| {
        let has = |reach: &Reach| reach.has(Path::new(path), false);
        has(&now) && !before.as_ref().is_some_and(has)
    };
    let path = touched.iter().find(is_new)?;
    Some(format!("the base has it new or changed, and it reaches {}, which changed", path.display()))
}

/// Wherever in its manifest it stands.
fn unplaced(check: &Check) -> Check {
    Check { origin: None, ..check.clone() }
}

/// The wirings that the base alone has, and a script of each that the change touches.
fn wired(change: &Change) -> Vec<(Wiring, String)> {
    let sources = [&change.policy.wirings[..], &change.base.sources[..]].concat();
    let of = |side: &Side| read(&side.files, &sources).wirings;
    let known: Vec<Wiring> = of(&change.since).iter().chain(&of(&change.head)).map(bare).collect();
    let new = of(&change.base).into_iter().filter(|wiring| !known.contains(&bare(wiring)));
    new.filter_map(|wiring| changed_script(change, &wiring).map(|script| (wiring, script))).collect()
}

fn want(change: &Change, system: Platform, id: &str, why: String, wants: &mut Vec<Want>) {
    if let Some(known) = wants.iter_mut().find(|want| want.host == system && want.check == id) {
        known.base_moved = true;
        return;
    }
    let Some(planned) = change.base.check(system, id) else { return };
    let is_asked = asked(&planned.check(), &change.policy.require).contains(&system);
    if let Some(inputs) = change.base.inputs(system, id).filter(|_| is_asked) {
        wants.push(Want {
            check: id.to_owned(),
            host: system,
            because: vec![why],
            inputs,
            cases: Cases::of(&planned.check()),
            base_moved: true,
            origin: planned.base().origin.clone(),
        });
    }
}
