//! `hostproof init`

use std::path::Path;
use std::sync::Arc;

use super::check_run;
use super::show::Show;
use crate::cli::InitArgs;
use crate::error::{Error, ExitCode, Result};
use crate::init::{self, Draft, Project, SelfTest};
use crate::model::{Check, CheckCommand, CheckReport, Manifests, Place};
use crate::plan::{Plan, Planned, Variant};
use crate::report::{self, Look};
use crate::run::{self, Keep, Observer, Options, Until};

/// Finds self-tests and wired hooks, runs the self-tests once, and writes the first manifest.
///
/// # Errors
///
/// If there are manifests already, nothing can be measured here, or the manifest can't be written.
pub fn run(args: &InitArgs) -> Result<ExitCode> {
    let folder = check_run::current_folder()?;
    if args.pre_push {
        return pre_push(&folder, args.dry_run);
    }
    let show = if args.dry_run { Show::Stderr } else { Show::Stdout };
    let say = |text: &str| show.line(&show.look().text(text));
    let project = init::open(&folder)?;
    let found = init::find(&project.files, &|name| project.text(name));
    let (wired, more) = init::wired(&project);
    let notes: Vec<String> = [project.notes.clone(), found.notes, more].concat();
    if found.tests.is_empty() {
        say(&init::nothing_found(&wired, &notes));
        return Ok(ExitCode::Incomplete);
    }

    check_run::sandboxes_can_be_made()?;
    let Some(reports) = try_each(&project, &found.tests, args)? else {
        Show::Stderr.line("\ninterrupted: everything that ran was ended, and nothing was written");
        return Ok(ExitCode::Interrupted);
    };
    let tests: Vec<(SelfTest, CheckReport)> = found.tests.into_iter().zip(reports).collect();
    let draft = Draft { tests: &tests, wired: &wired, notes: &notes };
    let text = init::draft(&draft);
    init::check(&text, &tests.iter().map(|(test, _)| test).collect::<Vec<_>>())?;
    if args.dry_run {
        Show::Stdout.line(text.trim_end());
    } else {
        init::write(&project.root, &text)?;
    }
    say(&format!("\n{}", init::summary(&draft, args.dry_run)));
    Ok(ExitCode::Ok)
}

/// Writes the hook that asks the gate, or shows it.
fn pre_push(folder: &Path, dry_run: bool) -> Result<ExitCode> {
    if dry_run {
        Show::Stdout.line(init::PRE_PUSH.trim_end());
        return Ok(ExitCode::Ok);
    }
    let say = |text: &str| Show::Stdout.line(&Show::Stdout.look().text(text));
    say(&init::pre_push(folder)?);
    Ok(ExitCode::Ok)
}

/// Runs each once; `None` if the user stopped it.
fn try_each(project: &Project, tests: &[SelfTest], args: &InitArgs) -> Result<Option<Vec<CheckReport>>> {
    let checks: Vec<Planned> = tests
        .iter()
        .map(|test| {
            let check = Check {
                timeout: args.timeout,
                reader: test.reader.clone(),
                ..Check::new(test.id.clone(), CheckCommand::Argv(test.run.clone()))
            };
            let mut planned = Planned::new(Arc::new(check), Variant::plain(&test.id));
            planned.needs_proof = false;
            planned
        })
        .collect();
    let plan = Plan { project: project.root.clone(), checks, setups: Vec::new(), manifests: Manifests::default() };
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(plan.checks.len());
    let look = Show::Stderr.look();
    Show::Stderr.line(&report::header(look, &Place::host(), plan.checks.len(), jobs));
    let width = tests.iter().map(|test| test.id.chars().count()).max().unwrap_or(0);
    let options = Options {
        jobs,
        keep: Keep::Never,
        strict: false,
        until: Until::AllRan,
        remove_residue: false,
        whole: true,
        took: std::collections::BTreeMap::new(),
    };
    let ran = run::run(&plan, &options, &Lines { look, width })?;
    if ran.stopped.is_some() || ran.checks.len() != tests.len() {
        return Ok(None);
    }
    let reports = ran.checks.iter().collect::<std::io::Result<_>>();
    reports.map(Some).map_err(|error| Error::Unmeasured(format!("the reports can't be read back: {error}")))
}

/// A line on standard error for each that ended.
struct Lines {
    look: Look,
    width: usize,
}

impl Observer for Lines {
    fn check_started(&self, _: &str) {}

    fn check_ended(&self, check: &CheckReport) {
        Show::Stderr.line(&report::check_line(self.look, check, self.width));
    }
}
