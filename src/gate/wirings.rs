//! Which wired commands a change concerns, and whether a check that is wanted covers each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::change::Change;
use super::narrower::{Less, narrower};
use super::side::{SYSTEMS, Side};
use super::wants::remedy;
use super::weaker::asked;
use crate::model::{
    Accepted, ChangedWiring, Check, Host, Obstacle, ObstacleKind, On, Platform, Unread, WiredCommand, Wiring,
};
use crate::plan::Planned;
use crate::receipt::inputs::Reach;
use crate::wirings::{Entry, Files, Wirings, cover, read, respelled};

/// What a change has to do with wired commands.
#[derive(Debug, Default)]
pub struct Concerned {
    pub wirings: Vec<ChangedWiring>,
    pub obstacles: Vec<Obstacle>,
    pub notes: Vec<String>,
    /// By system and check: the commands that it covers.
    pub because: BTreeMap<(Platform, String), Vec<String>>,
}

/// Compares what is wired before the change and after it.
pub fn concerned(change: &Change) -> Concerned {
    // A file that the change names only adds to what has to be covered.
    let mut sources = change.policy.wirings.clone();
    sources.extend(change.head.sources.iter().filter(|source| !change.policy.wirings.contains(source)).cloned());
    let before = read(&change.since.files, &sources);
    let after = read(&change.head.files, &sources);
    let mut concerned = Concerned::default();
    unread(change, &before, &after, &mut concerned);
    let mut known: Vec<Wiring> = before.wirings.iter().map(bare).collect();
    for wiring in &after.wirings {
        let now = bare(wiring);
        let was = known.iter().position(|known| *known == now).map(|at| known.swap_remove(at));
        let because = match was {
            None => Some("it is new, or wired otherwise".to_owned()),
            Some(_) => changed_script(change, wiring).map(|script| format!("{script} changed, which it runs")),
        };
        if let Some(because) = because {
            look_at(change, wiring, because, &mut concerned);
        }
    }
    for less in narrower(&before.wirings, &after.wirings) {
        called_for_less(change, less, &mut concerned);
    }
    concerned
}

/// That a hook is taken away is for people to see, and wants nothing; one that stays and is called for less is weaker.
fn called_for_less(change: &Change, less: Less<'_>, concerned: &mut Concerned) {
    let what = |wiring: &Wiring| format!("{} in {}", occasion(wiring), wiring.place());
    match less {
        Less::Gone(wiring) => {
            concerned.notes.push(format!("{} is called no longer: {}", what(wiring), wiring.command()));
        }
        Less::Untold(wiring, why) => {
            concerned.notes.push(format!("{}: {why}; whether that is less can't be told", what(wiring)));
        }
        Less::Narrower(wiring, message) => concerned.obstacles.push(Obstacle {
            kind: ObstacleKind::Weaker,
            subject: what(wiring),
            message,
            place: Some(wiring.place()),
            remedy: remedy(&format!("wiring: {}", wiring.file)),
            accepted: accepted(change, wiring),
        }),
    }
}

/// What makes it the same wiring, wherever in its file it stands.
pub fn bare(wiring: &Wiring) -> Wiring {
    let command = |command: &WiredCommand| WiredCommand { scripts: Vec::new(), untold: None, ..command.clone() };
    Wiring {
        line: None,
        covered_by: Vec::new(),
        faults: Vec::new(),
        commands: wiring.commands.iter().map(command).collect(),
        ..wiring.clone()
    }
}

pub fn changed_script(change: &Change, wiring: &Wiring) -> Option<String> {
    let differs = |path: &&str| change.since.objects(path) != change.head.objects(path);
    wiring.scripts().map(|script| script.path.as_str()).find(differs).map(str::to_owned)
}

/// What can't be read stands against a change that has to do with it; what could not be read before, and is the same, does
/// not. What is gone wires nothing.
fn unread(change: &Change, before: &Wirings, after: &Wirings, concerned: &mut Concerned) {
    for unread in &after.unread {
        let Unread { file, line, message, remedy } = unread;
        let now = change.head.objects(file);
        let place = line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"));
        if change.head.files.entry(file) == Entry::Missing {
            concerned.notes.push(format!("{file}: {message}"));
        } else if now == change.since.objects(file) && before.unread.contains(unread) {
            concerned.notes.push(format!("{place} can't be read, as before: {message}"));
        } else {
            concerned.obstacles.push(Obstacle {
                kind: ObstacleKind::Unread,
                subject: file.clone(),
                message: format!("what it wires is not known: {message}"),
                place: Some(place),
                remedy: remedy.clone(),
                accepted: None,
            });
        }
    }
}

fn look_at(change: &Change, wiring: &Wiring, because: String, concerned: &mut Concerned) {
    let what = format!("{} in {}", occasion(wiring), wiring.place());
    let on = SYSTEMS.into_iter().filter(|system| is_for(wiring, *system));
    let on: Vec<(Platform, Vec<Check>)> =
        on.map(|system| (system, change.head.checks(system).map(Planned::check).collect())).collect();
    let mut covering: BTreeMap<Platform, Vec<&Check>> = BTreeMap::new();
    for (system, checks) in &on {
        let checks: Vec<&Check> = checks.iter().collect();
        let mut covered = [wiring.clone()];
        cover(&mut covered, &checks, &change.head.files);
        let is_one = |check: &&&Check| covered[0].covered_by.iter().any(|cover| cover.check == check.id);
        covering.insert(*system, checks.iter().filter(is_one).copied().collect());
    }
    let required = required(change, wiring, &covering);
    let (mut missing, mut blind) = (Vec::new(), BTreeSet::new());
    for (system, checks) in &covering {
        let wanted: Vec<&&Check> =
            checks.iter().filter(|check| asked(check, &change.policy.require).contains(system)).collect();
        for check in &wanted {
            let of = (*system, check.id.clone());
            concerned.because.entry(of).or_default().push(format!("it covers {what}"));
        }
        if required.contains(system) {
            if wanted.is_empty() {
                missing.push(system.name());
            } else {
                blind.extend(unseen_scripts(&change.head, wiring, &wanted));
            }
        }
    }
    let ids: BTreeSet<&String> = covering.values().flatten().map(|check| &check.id).collect();
    concerned.wirings.push(ChangedWiring {
        place: wiring.place(),
        occasion: occasion(wiring),
        command: wiring.command().to_owned(),
        because,
        covered_by: ids.iter().map(|&id| id.clone()).collect(),
    });
    if let Some(why) = wiring.commands.iter().find_map(|command| command.untold.as_deref()) {
        concerned.notes.push(format!("which files {what} runs can't be told, or not of all: {why}"));
    }
    let mut stands = |message: String, remedy: String| {
        concerned.obstacles.push(Obstacle {
            kind: ObstacleKind::Uncovered,
            subject: what.clone(),
            message,
            place: Some(wiring.place()),
            remedy,
            accepted: accepted(change, wiring),
        });
    };
    let file = wiring.scripts().next().map_or(wiring.file.as_str(), |script| script.path.as_str());
    let cover = |file: &str| format!("say it in the check that tests it: covers: [{file}]");
    if ids.is_empty() && !required.is_empty() {
        stands(format!("no check covers {}", wiring.command()), cover(file));
    } else if !missing.is_empty() {
        let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
        let message = format!("no check that covers it is wanted on {}: {}", missing.join(" and "), ids.join(", "));
        stands(message, "let one run there (`platforms`, `hosts`), or add one that does".to_owned());
    }
    for script in blind {
        let message = format!("{script} is no input of a check that covers it: a receipt of another {script} would do");
        stands(message, cover(&script));
    }
}

/// Who calls it, and when.
pub fn occasion(wiring: &Wiring) -> String {
    match wiring.host {
        Host::Git | Host::Husky => wiring.occasion(),
        host => format!("{} {}", host.name(), wiring.occasion()),
    }
}

/// Whether a host calls it on a system: by its commands, and by its name where names have a case.
pub fn is_for(wiring: &Wiring, system: Platform) -> bool {
    let is_seen = system != Platform::Linux || respelled(&wiring.file).is_none();
    is_seen
        && wiring.commands.iter().any(|command| match command.on {
            On::Anywhere => true,
            On::Unix => system != Platform::Windows,
            On::Windows => system == Platform::Windows,
        })
}

/// The systems on which a check has to cover a wiring: those that checks which cover it name, where the base has them so and
/// they cover it there, too; else those of the policy.
fn required(change: &Change, wiring: &Wiring, covering: &BTreeMap<Platform, Vec<&Check>>) -> BTreeSet<Platform> {
    let mut said = BTreeSet::new();
    for check in covering.values().flatten() {
        let known = SYSTEMS.into_iter().filter_map(|system| change.base.check(system, &check.id));
        let known = known.filter(|planned| is_covered(wiring, &planned.check(), &change.base));
        said.extend(known.flat_map(|planned| planned.base().hosts.iter().copied()));
    }
    let all = if said.is_empty() { change.policy.require.clone() } else { said };
    all.into_iter().filter(|system| is_for(wiring, *system)).collect()
}

/// Whether a check of a commit covers a wiring.
pub fn is_covered(wiring: &Wiring, check: &Check, side: &Side) -> bool {
    let mut covered = [Wiring { covered_by: Vec::new(), ..wiring.clone() }];
    cover(&mut covered, &[check], &side.files);
    !covered[0].covered_by.is_empty()
}

/// The scripts of a wiring that are no inputs of any of these checks.
fn unseen_scripts(head: &Side, wiring: &Wiring, checks: &[&&Check]) -> Vec<String> {
    let reaches: Vec<Reach> = checks.iter().filter_map(|check| Reach::of(check, &head.revision).ok()).collect();
    let is_seen = |path: &str| reaches.iter().any(|reach| reach.has(Path::new(path), false));
    let there = wiring.scripts().filter(|script| head.revision.file(&script.path).is_some());
    there.map(|script| script.path.clone()).filter(|path| !is_seen(path)).collect()
}

fn accepted(change: &Change, wiring: &Wiring) -> Option<String> {
    let is_it = |path: &String| *path == wiring.file || wiring.scripts().any(|script| script.path == *path);
    let mut all = change.policy.accept.iter();
    all.find(|accept| matches!(&accept.what, Accepted::Wiring(path) if is_it(path)))
        .map(|accept| accept.because.clone())
}
