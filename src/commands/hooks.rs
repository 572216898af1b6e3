//! `hostproof hooks`

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::check_run;
use super::show::Show;
use crate::cli::{HooksArgs, ManifestArgs};
use crate::error::{Error, ExitCode, Result};
use crate::manifest::FOLDER;
use crate::model::{Check, HOOKS_SCHEMA, HookTotals, Hooks, Report, Wiring, WiringSource};
use crate::wirings::{self, Disk, Files, Tree, Wirings};
use crate::{platform, report, source};

/// No report is larger.
const MAX_REPORT: u64 = 256 << 20;

/// Shows what is wired here.
///
/// # Errors
///
/// If the manifests or the report are wrong, or there is no such commit.
pub fn run(args: &HooksArgs) -> Result<ExitCode> {
    let project = Project::open(&args.manifests)?;
    let took = args.report.as_deref().map(took_ms).transpose()?.unwrap_or_default();
    let (files, mut notes): (Box<dyn Files>, Vec<String>) = if let Some(commit) = &args.at {
        (Box::new(Tree::open(&project.root, commit).map_err(Error::Usage)?), Vec::new())
    } else {
        let (disk, notes) = Disk::open(&project.root);
        (Box::new(disk), notes)
    };
    let Wirings { mut wirings, files: read, unread, notes: more } = wirings::read(&*files, &project.sources);
    wirings::cover(&mut wirings, &project.checks.iter().collect::<Vec<_>>(), &*files);
    wirings::mark_short_limits(&mut wirings, &took);
    notes.extend(more);
    if project.checks.is_empty() && !wirings.is_empty() {
        notes.push(if project.has_manifests {
            "the manifests here have no checks, so nothing covers anything".to_owned()
        } else {
            format!("there is no {FOLDER} here, so nothing covers anything; hostproof init writes a first one")
        });
    }
    let hooks = Hooks {
        schema: HOOKS_SCHEMA.to_owned(),
        tool: check_run::tool(),
        project: project.root.display().to_string(),
        at: args.at.clone(),
        totals: totals(&wirings, unread.len()),
        files: read,
        wirings,
        unread,
        notes,
    };
    if args.json {
        // Whoever stops reading has the exit code.
        let _ = Show::json(&serde_json::to_string_pretty(&hooks).unwrap_or_default());
    } else {
        let look = Show::Stdout.look();
        for line in report::hooks(look, &hooks, args.verbose) {
            Show::Stdout.line(&line);
        }
    }
    Ok(code(&hooks, args.strict))
}

fn code(hooks: &Hooks, strict: bool) -> ExitCode {
    let warned = hooks.totals.uncovered > 0 || hooks.wirings.iter().any(|wiring| !wiring.faults.is_empty());
    if hooks.totals.broken > 0 || (strict && warned) {
        ExitCode::Red
    } else if hooks.totals.unread > 0 {
        ExitCode::Incomplete
    } else {
        ExitCode::Ok
    }
}

fn totals(wirings: &[Wiring], unread: usize) -> HookTotals {
    let count = |is: &dyn Fn(&&Wiring) -> bool| wirings.iter().filter(is).count() as u64;
    HookTotals {
        wired: wirings.len() as u64,
        personal: count(&|wiring| wiring.personal),
        covered: count(&|wiring| !wiring.covered_by.is_empty()),
        uncovered: count(&|wiring| wiring.covered_by.is_empty() && !wiring.personal),
        broken: count(&|wiring| wiring.is_broken()),
        unread: unread as u64,
    }
}

/// The project with what its manifests say, if it has some.
pub struct Project {
    /// Absolute, without symbolic links.
    pub root: PathBuf,
    pub checks: Vec<Check>,
    pub sources: Vec<WiringSource>,
    /// Whether it has manifests, with checks or without.
    pub has_manifests: bool,
}

impl Project {
    /// The one that lies here.
    ///
    /// # Errors
    ///
    /// If its manifests are wrong.
    pub fn open(args: &ManifestArgs) -> Result<Self> {
        let start = check_run::current_folder()?;
        let canonical =
            |path: &Path| platform::real_path(path).map_err(|error| Error::file("cannot open", path, error));
        let has_some = start.ancestors().any(|folder| fs::symlink_metadata(folder.join(FOLDER)).is_ok());
        if has_some || args.manifests.is_some() {
            let loaded = super::run::load(args)?;
            let checks = loaded.checks.into_iter().map(|loaded| loaded.check).collect();
            let root = canonical(&loaded.project)?;
            return Ok(Self { root, checks, sources: loaded.wirings, has_manifests: true });
        }
        let root = canonical(&source::top(&start).unwrap_or(start))?;
        Ok(Self { root, checks: Vec::new(), sources: Vec::new(), has_manifests: false })
    }
}

/// How long each check took, by its id, in milliseconds.
fn took_ms(path: &Path) -> Result<BTreeMap<String, u64>> {
    let cannot = |error| Error::file("cannot read the report", path, error);
    let mut bytes = Vec::new();
    // A link is followed, and what it leads to must be a file: nobody waits for a pipe.
    platform::real_path(path)
        .and_then(|real| platform::open_regular(&real))
        .and_then(|file| file.take(MAX_REPORT).read_to_end(&mut bytes))
        .map_err(cannot)?;
    let report: Report = serde_json::from_slice(&bytes)
        .map_err(|error| Error::Usage(format!("{} is no report of a run: {error}", path.display())))?;
    Ok(report.checks.into_iter().map(|check| (check.id, check.duration_ms)).collect())
}
