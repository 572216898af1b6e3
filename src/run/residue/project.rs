//! The project's tree while a run goes on: compared with what it was, as often as that costs next to nothing, and each change
//! given to the check that ran when it came about.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::exempt::Exempt;
use super::git::Git;
use super::snapshot::Snapshot;
use super::suspects::{Activity, Whose, whose};
use super::watched::Found;
use crate::model::{Finding, Kind, Severity};
use crate::plan::Plan;
use crate::platform;
use crate::probes::{self, Change, Moved, OfGit, Places, What, Where, unknown};
use crate::run::names;
use crate::source;
use crate::words::first_of;

/// From so many entries on, git is asked what it ignores, and that is left out: it is what tools keep, and most of all.
const MANY: usize = 2000;
/// A look after a check may cost this part of its time; else the stage that settles checks looks, for several at once.
const SHARE: u32 = 50;
/// How many checks are named that a change may be of.
const NAMED: usize = 4;

/// The project, and whose the changes to it are.
pub struct Project<'a> {
    plan: &'a Plan,
    /// `None` for a single command, which has no project.
    state: Option<Mutex<State>>,
}

struct State {
    /// What is not looked into.
    skipped: HashSet<PathBuf>,
    tree: Snapshot,
    /// The repositories that the project is in, and that are in it.
    gits: Vec<Git>,
    /// When the last look began, and what it cost.
    looked: SystemTime,
    cost: Duration,
    /// What goes on, or went on after the last look began.
    activities: Vec<Activity>,
    of_checks: BTreeMap<usize, Changes>,
    /// With the checks that may have done it.
    of_run: BTreeMap<Vec<usize>, Changes>,
    /// What one of several checks did outside the project.
    seen: Vec<Finding>,
}

/// What is not as it was, the last that is known of each path.
#[derive(Default)]
struct Changes {
    files: BTreeMap<PathBuf, Change>,
    refs: Vec<Moved>,
}

impl Changes {
    fn take(&mut self, change: Change) {
        let what = match (self.files.get(&change.path).map(|before| before.what), change.what) {
            (Some(What::New), What::Gone) => {
                self.files.remove(&change.path);
                return;
            }
            (Some(What::New), What::Changed) => What::New,
            (Some(What::Gone), What::New) => What::Changed,
            (_, what) => what,
        };
        self.files.insert(change.path.clone(), Change { what, ..change });
    }

    fn take_moved(&mut self, moved: Moved) {
        let is_it = |other: &Moved| (&other.of, &other.name) == (&moved.of, &moved.name);
        let Some(at) = self.refs.iter().position(is_it) else { return self.refs.push(moved) };
        let Moved { before, .. } = self.refs.remove(at);
        // Of the stash only what is below its top may be another.
        if before != moved.after || moved.before == moved.after {
            self.refs.push(Moved { before, ..moved });
        }
    }

    /// What is new below a folder, each with whether it is a folder itself.
    fn made(&self, folder: &Path) -> Vec<(PathBuf, bool)> {
        let new = self.files.values().filter(|change| change.what == What::New);
        new.filter_map(|change| Some((change.path.strip_prefix(folder).ok()?.to_owned(), change.folder))).collect()
    }

    fn findings(self, project: &Path, places: &Places, exempt: &Exempt, suspects: Option<&str>) -> Vec<Finding> {
        let mut changes: Vec<Change> = self.files.into_values().collect();
        exempt.leave_out(&mut changes);
        let below: Vec<PathBuf> = self.refs.iter().map(|moved| project.join(&moved.of)).collect();
        let below = below.into_iter().filter(|folder| folder != project).collect::<Vec<_>>();
        let ignored = if below.is_empty() { None } else { source::ignored(project, &below) }.unwrap_or_default();
        let is_ignored = |moved: &Moved| ignored.contains(&project.join(&moved.of));
        let mut findings = probes::moved(&self.refs, is_ignored, suspects);
        if !changes.is_empty() {
            let paths: Vec<PathBuf> = changes.iter().map(|change| change.path.clone()).collect();
            let git = source::ignored(project, &paths).map(|ignored| {
                let is_any = changes.iter().any(|change| change.what == What::Changed);
                let unlike = if is_any { source::unlike(project) } else { None };
                let is_alike = |path: &&PathBuf| unlike.as_ref().is_some_and(|unlike| !unlike.contains(*path));
                let alike = paths.iter().filter(is_alike).cloned().collect();
                OfGit { ignored, alike }
            });
            findings.extend(probes::residue(&changes, git.as_ref(), places, suspects));
        }
        findings
    }
}

impl<'a> Project<'a> {
    /// That of a plan, as it is now.
    #[must_use]
    pub fn of(plan: &'a Plan) -> Self {
        let state = plan.manifests.digest.is_some().then(|| Mutex::new(State::now(&plan.project)));
        Self { plan, state }
    }

    fn state(&self) -> Option<MutexGuard<'_, State>> {
        Some(self.state.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A check begins, or a setup.
    pub fn begins(&self, check: Option<usize>) {
        if let Some(mut state) = self.state() {
            state.activities.push(Activity { check, started: SystemTime::now(), ended: None });
        }
    }

    /// A check is over, or a setup, and nothing of it is alive.
    pub fn ends(&self, check: Option<usize>) {
        let Some(mut state) = self.state() else { return };
        let now = SystemTime::now();
        let own = state.activities.iter_mut().find(|activity| activity.check == check && activity.ended.is_none());
        let Some(activity) = own else { return };
        activity.ended = Some(now);
        let took = now.duration_since(activity.started).unwrap_or_default();
        // What a setup made must not be taken for the work of the check that comes right behind it.
        if check.is_none() || state.cost * SHARE <= took {
            state.look(&self.plan.project);
        }
    }

    /// Looks, unless nothing has ended since the last time.
    pub fn look(&self) {
        if let Some(mut state) = self.state()
            && state.activities.iter().any(|activity| activity.ended.is_some())
        {
            state.look(&self.plan.project);
        }
    }

    /// Adds what this check, or one of those that run beside it, has done: to the check's own findings if it is alone.
    pub fn beside(&self, check: usize, found: Found) -> Vec<Finding> {
        let Found { sure: mut own, unsure } = found;
        let Some(mut state) = self.state() else { return [own, unsure].concat() };
        let is_own = |activity: &&Activity| activity.check == Some(check) && activity.ended.is_none();
        let Some(started) = state.activities.iter().find(is_own).map(|activity| activity.started) else {
            return [own, unsure].concat();
        };
        let beside = |activity: &&Activity| activity.ended.is_none_or(|ended| ended >= started);
        let beside: Vec<&Activity> = state.activities.iter().filter(beside).collect();
        if beside.len() == 1 {
            own.extend(unsure);
            return own;
        }
        let checks: Vec<usize> = beside.iter().filter_map(|activity| activity.check).collect();
        let who = unknown(&self.names(&checks));
        // Each of them tells what it saw.
        for mut finding in unsure {
            if !state.seen.iter().any(|seen| seen.message.starts_with(&finding.message)) {
                finding.message += &who;
                state.seen.push(finding);
            }
        }
        own
    }

    /// What a check that is over left in the project, without what is in the folder `but`.
    pub fn findings(&self, check: usize, places: &Places, but: Option<&Path>) -> Vec<Finding> {
        let mut changes = self.state().and_then(|mut state| state.of_checks.remove(&check));
        if let (Some(changes), Some(but)) = (&mut changes, but) {
            changes.files.retain(|path, _| !path.starts_with(but));
        }
        // Whoever works on a copy has another project.
        let places = Places { project: self.plan.project.clone(), ..places.clone() };
        let Some(changes) = changes else { return Vec::new() };
        let (check, project) = (&self.plan.checks[check].check(), &self.plan.project);
        let names = names::made(check, project, &changes.made(project));
        [changes.findings(project, &places, &Exempt::of(check, &places), None), names].concat()
    }

    /// What several checks may have left, and why not all was seen.
    pub fn of_the_run(&self, strict: bool) -> Vec<Finding> {
        let Some(mut state) = self.state() else { return Vec::new() };
        let project = &self.plan.project;
        // Which sandbox it was is not known, and none of them is in the project.
        let sandbox = platform::sandbox_base().join("*");
        let places = Places { sandbox, project: project.clone(), cwd: project.clone() };
        let mut findings = std::mem::take(&mut state.seen);
        for (checks, changes) in std::mem::take(&mut state.of_run) {
            let mut exempt = Exempt::default();
            for &check in &checks {
                exempt.take(&self.plan.checks[check].check(), &places);
            }
            findings.extend(changes.findings(project, &places, &exempt, Some(&self.names(&checks))));
        }
        if let Some(why) = &state.tree.blind {
            let severity = if strict { Severity::Error } else { Severity::Warning };
            let message = format!("could not see whether the project is as it was: {why}");
            findings.push(Finding::new(Kind::ProbeBlind, severity, message));
        }
        findings
    }

    fn names(&self, checks: &[usize]) -> String {
        let names: Vec<&str> = checks.iter().map(|&check| self.plan.checks[check].id()).collect();
        first_of(&names, NAMED)
    }
}

impl State {
    fn now(project: &Path) -> Self {
        let mut state = Self {
            skipped: HashSet::from([platform::sandbox_base()]),
            tree: Snapshot::default(),
            gits: Vec::new(),
            looked: SystemTime::now(),
            cost: Duration::ZERO,
            activities: Vec::new(),
            of_checks: BTreeMap::new(),
            of_run: BTreeMap::new(),
            seen: Vec::new(),
        };
        state.tree = state.listed(project);
        if state.tree.len() >= MANY
            && let Some(ignored) = source::ignored_places(project)
        {
            state.skipped.extend(ignored);
            state.tree = state.listed(project);
        }
        state.gits = Git::all(project, &state.tree);
        state
    }

    fn listed(&mut self, project: &Path) -> Snapshot {
        let began = Instant::now();
        self.looked = SystemTime::now();
        let tree = Snapshot::of_tree(project, |path| self.skipped.contains(path) || path.ends_with(".git"));
        self.cost = began.elapsed();
        tree
    }

    fn look(&mut self, project: &Path) {
        let since = self.looked;
        let tree = self.listed(project);
        for change in self.tree.changes(&tree, Where::Project) {
            if let Some(changes) = self.changes(change.at, since) {
                changes.take(change);
            }
        }
        let moved: Vec<Moved> = self.gits.iter_mut().flat_map(Git::moved).collect();
        for moved in moved {
            if let Some(changes) = self.changes(moved.at, since) {
                changes.take_moved(moved);
            }
        }
        let looked = self.looked;
        self.tree = tree;
        // Who ran beside one that still runs may have to be named.
        let first = self.activities.iter().filter(|activity| activity.ended.is_none()).map(|activity| activity.started);
        let first = first.min().unwrap_or(looked).min(looked);
        self.activities.retain(|activity| activity.ended.is_none_or(|ended| ended > first));
    }

    /// Where a change of that time belongs, which came about after `since`.
    fn changes(&mut self, at: Option<SystemTime>, since: SystemTime) -> Option<&mut Changes> {
        match whose(&self.activities, at, since) {
            Whose::Check(check) => Some(self.of_checks.entry(check).or_default()),
            Whose::OneOf(checks) => Some(self.of_run.entry(checks).or_default()),
            Whose::Nobodys => None,
        }
    }
}
