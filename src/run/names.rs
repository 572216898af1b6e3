//! The names that a check left, and those of the project's tracked files, given to the probe that knows what other systems
//! make of them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use super::residue::TICK;
use super::sandbox::Sandbox;
use crate::model::{Check, Cwd, Finding, Kind, Platform, Severity};
use crate::plan::{Plan, Planned};
use crate::platform::{self, Outcome};
use crate::probes::{self, Blame, Illegal};
use crate::source;

/// How many entries of a sandbox are looked at: what is more takes longer to look at than anybody would read.
const MOST: usize = 200_000;

/// The project's tracked files, looked at when a check wants to know of them, once a run.
pub struct Tracked<'a> {
    plan: &'a Plan,
    seen: OnceLock<Result<Vec<Illegal>, String>>,
}

impl<'a> Tracked<'a> {
    /// Those of a plan's project.
    #[must_use]
    pub fn of(plan: &'a Plan) -> Self {
        Self { plan, seen: OnceLock::new() }
    }

    /// What other systems can't have of them, or why that is not known.
    fn illegal(&self) -> Result<&[Illegal], &str> {
        let look = || {
            let files = source::tracked(&self.plan.project)?.unwrap_or_default();
            Ok(probes::illegal(files.iter().map(|file| (file.as_path(), false)), room(&self.plan.project)))
        };
        self.seen.get_or_init(look).as_deref().map_err(String::as_str)
    }

    /// What is against a check that says that it is for another system.
    fn against(&self, check: &Check, blame: &Blame<'_>) -> Vec<Finding> {
        if !elsewhere(check, Check::is_for) {
            return Vec::new();
        }
        let illegal = self.illegal().unwrap_or_default();
        let findings = probes::name_findings(illegal, check, blame);
        findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect()
    }

    /// What is to be said of the run as a whole, where no check was told: a note, or why nothing is known.
    #[must_use]
    pub fn of_the_run(&self, strict: bool) -> Option<Finding> {
        // All other variants are the same for other systems.
        let mut seen = HashSet::new();
        let differ = self.plan.checks.iter().filter(|planned| seen.insert((&*planned.variant.of, planned.rules())));
        let checks: Vec<Check> = differ.map(Planned::check).collect();
        let checks = || checks.iter();
        let is_for = |check: &Check| elsewhere(check, Check::is_for);
        let may_run = |check: &Check| elsewhere(check, Check::may_run_on);
        // A single command is no project.
        let of_project = self.plan.manifests.digest.is_some() && checks().any(may_run);
        if !of_project && !checks().any(is_for) {
            return None;
        }
        match self.illegal() {
            Ok(illegal) => {
                let untold = |illegal: &&Illegal| {
                    let on = |matters: fn(&Check, Platform) -> bool| {
                        checks().any(|check| illegal.on.iter().any(|system| matters(check, *system)))
                    };
                    on(Check::may_run_on) && !on(Check::is_for)
                };
                probes::names_of_the_run(&illegal.iter().filter(untold).cloned().collect::<Vec<_>>())
            }
            Err(why) => {
                let severity = match (checks().any(is_for), strict) {
                    (true, true) => Severity::Error,
                    (true, false) => Severity::Warning,
                    (false, _) => Severity::Note,
                };
                let message = format!("could not look at the names of the tracked files: {why}");
                Some(Finding::new(Kind::ProbeBlind, severity, message))
            }
        }
    }
}

/// Whether something is so of a check and any system that has names of its own.
fn elsewhere(check: &Check, is_so: fn(&Check, Platform) -> bool) -> bool {
    [Platform::Windows, Platform::Macos].into_iter().any(|system| is_so(check, system))
}

/// How long the path of a project is elsewhere.
fn room(project: &Path) -> usize {
    probes::project_room(&project.file_name().unwrap_or_default().to_string_lossy())
}

/// The names that a check has made in its project, of paths relative to that, each with whether it is a folder.
pub fn made(check: &Check, project: &Path, entries: &[(PathBuf, bool)]) -> Vec<Finding> {
    if entries.is_empty() || !elsewhere(check, Check::may_run_on) {
        return Vec::new();
    }
    let entries = entries.iter().map(|(path, is_folder)| (path.as_path(), *is_folder));
    let nobody = Blame { cases: &[], complete: false };
    probes::name_findings(&probes::illegal(entries, room(project)), check, &nobody)
}

/// Those that a single command has made where it started since then: it has no project that is watched.
pub fn made_by_command(check: &Check, folder: &Path, started: SystemTime) -> Vec<Finding> {
    if check.origin.is_some() || check.cwd != Cwd::Project || !elsewhere(check, Check::may_run_on) {
        return Vec::new();
    }
    let mut entries = platform::list_tree(folder, MOST).entries;
    let made = |path: &Path| folder.join(path).symlink_metadata().and_then(|file| file.created());
    entries.retain(|(path, _)| made(path).is_ok_and(|at| at + TICK >= started));
    self::made(check, folder, &entries)
}

/// The names in a sandbox, and the tracked ones, as far as they matter to the check. `home/` is left out: what is in there
/// is the system's own.
pub fn found(
    check: &Check,
    outcome: &Outcome,
    sandbox: &Sandbox,
    tracked: &Tracked<'_>,
    blame: &Blame<'_>,
) -> Vec<Finding> {
    let mut findings = tracked.against(check, blame);
    if outcome.untouched || !elsewhere(check, Check::may_run_on) {
        return findings;
    }
    // What a copy has of the project is told as the project's.
    let copied = if check.cwd == Cwd::Copy { tracked.illegal().unwrap_or_default() } else { &[] };
    let copied: HashSet<&str> = copied.iter().map(|illegal| illegal.path.as_str()).collect();
    for folder in [sandbox.work(), sandbox.tmp()] {
        let listed = platform::list_tree(&folder, MOST);
        let is_git = |path: &Path| check.cwd == Cwd::Copy && path.starts_with(".git");
        let own: Vec<&(PathBuf, bool)> = listed.entries.iter().filter(|(path, _)| !is_git(path)).collect();
        let entries = own.iter().map(|(path, is_folder)| (path.as_path(), *is_folder));
        let prefix = folder.file_name().unwrap_or_default().to_string_lossy();
        let illegal: Vec<Illegal> = probes::illegal(entries, probes::temp_room())
            .into_iter()
            .filter(|illegal| !copied.contains(illegal.path.as_str()))
            .map(|illegal| Illegal { path: format!("{prefix}/{}", illegal.path), ..illegal })
            .collect();
        findings.extend(probes::name_findings(&illegal, check, blame));
        findings.extend(listed.blind.map(|why| probes::unlisted_names(&format!("{prefix}: {why}"), check)));
    }
    findings
}
