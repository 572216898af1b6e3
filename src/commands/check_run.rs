//! What `run` and `try` have in common: a plan is run, told while it runs, and reported.

use std::io::{IsTerminal, stderr};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Instant, SystemTime};

use indicatif::{ProgressBar, ProgressStyle};

use super::show::Show;
use crate::cli::{HowArgs, KeepArg};
use crate::error::{Error, ExitCode, Result};
use crate::model::{CheckReport, Place, Report, RunFacts, SCHEMA, Severity, SourceFacts, Tool};
use crate::plan::Plan;
use crate::report::{self, Again, Look, Target};
use crate::run::{self, Keep, Observer, Options};
use crate::words::timestamp;
use crate::{env, platform, source};

/// A plan and how it is to be run and told.
pub struct CheckRun {
    pub plan: Plan,
    pub how: HowArgs,
    /// Whether the checks have manifests, so that their ids can be named on the command line.
    pub by_id: bool,
    /// The folder of manifests, if one was named.
    pub manifests: Option<PathBuf>,
}

/// Runs it.
///
/// # Errors
///
/// If nothing can be measured here, or a report can't go where it is to go. One that can't be written in the end is told,
/// and makes the run incomplete.
pub fn run(check_run: &CheckRun) -> Result<ExitCode> {
    let CheckRun { plan, how, by_id, manifests } = check_run;
    sandboxes_can_be_made()?;
    let target = how.report.as_deref().map(Target::prepare).transpose()?;
    let show = if target == Some(Target::Stdout) { Show::Stderr } else { Show::Stdout };
    let look = show.look();
    let jobs = how.jobs.map_or_else(processors, usize::from).min(plan.checks.len().max(1));
    let options = Options {
        jobs,
        keep: match how.keep {
            KeepArg::Never => Keep::Never,
            KeepArg::Failed => Keep::Failed,
            KeepArg::Always => Keep::Always,
        },
        strict: how.strict,
        whole: target.is_some(),
    };

    let started = SystemTime::now();
    let clock = Instant::now();
    // Only a report has the facts that cost a look at git and the system.
    let start = target.as_ref().and_then(|_| source::state(&plan.project));
    show.line(&format!("{}\n", report::header(look, plan.checks.len(), jobs)));
    let telling = Telling::new(plan, show, look);
    let ran = run::run(plan, &options, &telling)?;
    telling.bar.finish_and_clear();

    for check in &ran.checks {
        let planned = plan.checks.iter().map(|planned| &planned.check).find(|planned| planned.id == check.id);
        let again = Again { check: planned, project: &plan.project, by_id: *by_id, manifests: manifests.as_deref() };
        if let Some(details) = report::details(look, check, how.verbose, &again) {
            show.line(&format!("\n{}", details.trim_end()));
        }
    }
    if let Some(text) = report::of_the_run(look, &ran.findings) {
        show.line(&format!("\n{text}"));
    }
    let mut code = exit_code(&ran);
    if let Some(target) = target {
        let mut host = platform::host_facts(&env::sandbox_base());
        host.programs = ran.programs;
        let written = target.write(&Report {
            schema: SCHEMA.to_owned(),
            tool: Tool { name: "hostproof".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            run: RunFacts {
                id: format!("{}-{}", timestamp(started), std::process::id()),
                argv: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
                started: timestamp(started),
                duration_ms: u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX),
                jobs: jobs as u64,
                interrupted: ran.interrupted,
            },
            place: Place { kind: "host".to_owned() },
            host,
            source: SourceFacts { start, end: source::state(&plan.project) },
            manifests: plan.manifests.clone(),
            totals: ran.totals.clone(),
            checks: ran.checks,
            findings: ran.findings.clone(),
        });
        // The counts come last all the same.
        if let Err(error) = written {
            Show::Stderr.line(&format!("hostproof: {}", Show::Stderr.look().text(&error.to_string())));
            code = ExitCode::Incomplete;
        }
    }
    if ran.interrupted {
        show.line("\ninterrupted: everything that ran was ended");
    }
    show.line(&format!("\n{}", report::last_line(&ran.totals)));
    Ok(code)
}

/// Where hostproof was called.
///
/// # Errors
///
/// If that folder is gone, or can't be reached.
pub fn current_folder() -> Result<PathBuf> {
    std::env::current_dir()
        .map_err(|error| Error::Usage(format!("the current directory can't be told: {error}; is it removed?")))
}

/// Sees, before anything else happens, that the folder which the user chose for sandboxes is one.
///
/// # Errors
///
/// If nothing can be made there.
pub fn sandboxes_can_be_made() -> Result<()> {
    if env::text("HOSTPROOF_TMPDIR").is_none() {
        return Ok(());
    }
    let base = env::sandbox_base();
    if !base.is_absolute() {
        // Checks are told of their sandbox by this name, and run elsewhere.
        return Err(Error::Usage(format!("HOSTPROOF_TMPDIR is {}, which is not an absolute path", base.display())));
    }
    platform::new_file(&base, ".hostproof-").map(drop).map_err(|error| {
        Error::Usage(format!("HOSTPROOF_TMPDIR is {}, where no sandbox can be made: {error}", base.display()))
    })
}

/// Whether progress is shown: it is drawn on standard error, by moving the cursor. Where the results go, and in which
/// colours, has nothing to do with it.
fn shows_progress(is_terminal: bool, term: Option<&str>) -> bool {
    is_terminal && term != Some("dumb")
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn exit_code(ran: &run::Ran) -> ExitCode {
    if ran.interrupted {
        return ExitCode::Interrupted;
    }
    let totals = &ran.totals.checks;
    if totals.passed + totals.skipped + totals.not_run < totals.planned {
        return ExitCode::Red;
    }
    // A run that could not look everywhere was not measured, where that matters.
    if ran.findings.iter().any(|finding| finding.severity == Severity::Error) {
        return ExitCode::Incomplete;
    }
    // All skipped is nothing that ran.
    if totals.passed > 0 { ExitCode::Ok } else { ExitCode::Incomplete }
}

/// A line per finished check, and what runs now where somebody looks.
struct Telling {
    show: Show,
    look: Look,
    width: usize,
    bar: ProgressBar,
    running: Mutex<Vec<String>>,
}

impl Telling {
    fn new(plan: &Plan, show: Show, look: Look) -> Self {
        const WIDEST: usize = 40;
        let width = plan.checks.iter().map(|planned| planned.check.id.chars().count()).max().unwrap_or(0).min(WIDEST);
        let bar = if shows_progress(stderr().is_terminal(), env::text("TERM").as_deref()) {
            ProgressBar::new(plan.checks.len() as u64)
        } else {
            ProgressBar::hidden()
        };
        let template = if look.unicode {
            " {spinner} {pos}/{len}  {elapsed}  {wide_msg}"
        } else {
            " {pos}/{len}  {elapsed}  {wide_msg}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(std::time::Duration::from_millis(120));
        }
        Self { show, look, width, bar, running: Mutex::default() }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<String>)) {
        let mut running = self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        change(&mut running);
        if !self.bar.is_hidden() {
            self.bar.set_message(self.look.text(&running.join("  ")));
        }
    }
}

impl Observer for Telling {
    fn check_started(&self, id: &str) {
        self.change(|running| running.push(id.to_owned()));
    }

    fn check_ended(&self, check: &CheckReport) {
        self.change(|running| running.retain(|id| *id != check.id));
        self.bar.inc(1);
        let line = report::check_line(self.look, check, self.width);
        self.bar.suspend(|| self.show.line(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_shown_on_every_terminal_that_can() {
        assert!(shows_progress(true, Some("xterm")) && shows_progress(true, None));
        assert!(!shows_progress(true, Some("dumb")) && !shows_progress(false, Some("xterm")));
    }
}
