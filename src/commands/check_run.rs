//! What `run` and `try` have in common: a plan is run, told while it runs, and reported.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use super::baseline::{self, Before};
use super::documents::Documents;
use super::events::Events;
use super::excerpts::excerpts;
use super::github;
use super::show::Show;
use super::telling::Telling;
use super::traps::traps;
use super::vouch::Vouch;
use crate::cli::{HowArgs, KeepArg, VouchArgs};
use crate::container::{Session, Wanted};
use crate::error::{Error, ExitCode, Result};
use crate::model::{
    Check, EVENTS_SCHEMA, Event, Finding, HostFacts, Partition, Place, Report, RunFacts, SCHEMA, Severity, SourceFacts,
    Stop, Tool, Totals,
};
use crate::plan::{Plan, Planned};
use crate::report::{self, Again, Look};
use crate::run::{self, Keep, Observer, Options, Ran, Reports, Until};
use crate::stress::Load;
use crate::words::{counted, timestamp};
use crate::{env, memory, platform, source};

/// A plan and how it is to be run and told.
pub struct CheckRun {
    pub plan: Plan,
    /// The container that it is run in; `None` for this machine.
    pub container: Option<Contained>,
    /// Whether the report is wanted whole afterwards, to be set beside another one.
    pub compared: bool,
    pub how: HowArgs,
    /// What runs the checks again by their ids; `None` for a command without a manifest.
    pub subcommand: Option<&'static str>,
    /// The folder of manifests, if one was named.
    pub manifests: Option<PathBuf>,
    pub until: Until,
    /// Whether what a check surely left in a watched place is removed.
    pub remove_residue: bool,
    /// The run that this one is set against.
    pub baseline: Option<Before>,
    /// Whether there is to be a receipt.
    pub vouch: VouchArgs,
    /// Which part of all checks the plan is.
    pub partition: Option<Partition>,
    /// How long its checks took when they were last run, in milliseconds, by id.
    pub took: BTreeMap<String, u64>,
    /// What is to be said of the plan.
    pub remark: Option<String>,
}

/// A container, and the command line of the run in it.
pub struct Contained {
    pub wanted: Wanted,
    pub words: Vec<String>,
}

/// What came of it.
pub struct Done {
    pub code: ExitCode,
    /// The red checks, and those that were not reached: by id, with the verdict.
    pub red: BTreeMap<String, String>,
    /// Without [`CheckRun::compared`] it may lack the checks, and the machine's facts.
    pub report: Report,
    /// How long each check took that was started, in milliseconds, by id.
    pub took: BTreeMap<String, u64>,
}

/// Runs it.
///
/// # Errors
///
/// If nothing can be measured here, a document can't go where it is to go, or there can be no receipt. What can't be written
/// in the end is told, and makes the run incomplete.
pub fn run(check_run: &CheckRun) -> Result<Done> {
    let CheckRun { plan, how, until, remark, .. } = check_run;
    if check_run.container.is_none() {
        sandboxes_can_be_made()?;
    }
    let documents = Documents::prepare(how, check_run.vouch.receipt.as_deref())?;
    let vouch = Vouch::prepare(&check_run.vouch, &documents, plan)?;
    let show = if documents.take_stdout { Show::Stderr } else { Show::Stdout };
    let look = show.look();
    let told = documents.report.is_some() || documents.junit.is_some() || vouch.is_some() || env::in_github_actions();
    let told = told || check_run.compared;
    let options = options(how, plan, *until, told || check_run.baseline.is_some());
    let options = Options { took: check_run.took.clone(), remove_residue: check_run.remove_residue, ..options };

    let started = SystemTime::now();
    let id = format!("{}-{}", timestamp(started), std::process::id());
    let clock = Instant::now();
    // Only a report has the facts that cost a look at git.
    let start = documents.report.as_ref().and_then(|_| source::state(&plan.project));
    let session =
        |container: &Contained| Session::start(&container.wanted, plan, container.words.clone(), options.whole, &id);
    let mut session = check_run.container.as_ref().map(session).transpose()?;
    let jobs = session.as_ref().map_or(options.jobs, Session::jobs);
    let place = session.as_ref().map_or_else(Place::host, |session| session.place().clone());
    show.line(&format!("{}\n", report::header(look, &place, plan.checks.len(), jobs)));
    if let Some(swept @ 1..) = session.as_ref().map(Session::swept) {
        show.line(&format!("removed {} of runs that were killed\n", counted(swept, "container")));
    }
    if let Some(remark) = remark {
        show.line(&format!("{}\n", look.text(remark)));
    }
    let events = Events::new(how.events);
    events.tell(&Event::RunStarted {
        schema: EVENTS_SCHEMA.into(),
        tool: tool(),
        id: id.as_str().into(),
        started: timestamp(started).into(),
        jobs: jobs as u64,
        checks: plan.checks.iter().map(|planned| planned.id().into()).collect(),
    });
    let telling = Telling::new(plan, show, look, &events);
    let ran = match &mut session {
        Some(session) => session.follow(plan, options.whole, &telling),
        None => measure(plan, &options, &telling, told, how.stress),
    };
    telling.end();
    let (ran, host) = ran?;

    let finished = SystemTime::now();
    let took = ran.took;
    let mut code = exit_code(&ran.totals, &ran.findings, ran.stopped);
    if plan.checks.is_empty() && check_run.partition.is_some() {
        // Other parts have what there is.
        code = ExitCode::Ok;
    }
    let mut report = Report {
        schema: SCHEMA.to_owned(),
        tool: tool(),
        run: RunFacts {
            id,
            argv: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            started: timestamp(started),
            duration_ms: u64::try_from(clock.elapsed().as_millis()).unwrap_or(u64::MAX),
            jobs: jobs as u64,
            interrupted: ran.stopped == Some(Stop::Interrupted),
            stopped: ran.stopped,
            not_run: ran.not_run,
            baseline: None,
            partition: check_run.partition,
        },
        place,
        host: HostFacts { programs: ran.programs, ..host },
        source: SourceFacts { start, end: documents.report.as_ref().and_then(|_| source::state(&plan.project)) },
        manifests: plan.manifests.clone(),
        totals: ran.totals,
        checks: Vec::new(),
        findings: ran.findings,
    };
    let checks = ran.checks;
    if check_run.compared || check_run.baseline.is_some() {
        // They are set against each other.
        report.checks = checks.iter().collect::<io::Result<_>>().map_err(|error| lost(&error))?;
    }
    if let Some(before) = &check_run.baseline {
        let news = before.baseline(crate::compare::news(&before.side, &report));
        let could_look = report.findings.iter().all(|finding| finding.severity != Severity::Error);
        code = baseline::exit_code(code, &news, could_look);
        report.run.baseline = Some(news);
    }
    let red = tell_details(check_run, &report, &checks, show, look).map_err(|error| lost(&error))?;
    for line in report.run.baseline.iter().flat_map(|news| report::baseline(look, news)) {
        show.line(&line);
    }
    for error in documents.write(&report, &checks) {
        Show::error(&error);
        code = ExitCode::Incomplete;
    }
    if let Some(vouch) = &vouch {
        match vouch.write(plan, &report, &checks, finished, how.strict) {
            Ok(told) => show.line(&format!("\n{}", look.text(&told))),
            Err(error) => {
                Show::error(&error);
                // A run that was stopped is told by how it ended.
                code = if report.run.stopped.is_some() { code } else { ExitCode::Incomplete };
            }
        }
    }
    github::tell(&report, &checks, &plan.project, show);

    let counts = report::last_line(&report.totals, report.run.stopped);
    events.tell(&Event::RunEnded {
        totals: Cow::Borrowed(&report.totals),
        findings: Cow::Borrowed(&report.findings),
        not_run: Cow::Borrowed(&report.run.not_run),
        stopped: report.run.stopped,
        duration_ms: report.run.duration_ms,
        exit: code as u8,
        counts: counts.as_str().into(),
    });
    if let Some(error) = events.error() {
        Show::error(&error);
        code = ExitCode::Incomplete;
    }
    match report.run.stopped {
        Some(Stop::Interrupted) => show.line("\ninterrupted: everything that ran was ended"),
        Some(stop) => show.line(&format!("\nstopped after the first red check, as {} asks", stop.words())),
        None => {}
    }
    // The counts come last, whatever went wrong.
    show.line(&format!("\n{counts}"));
    let not_run = report.run.not_run.iter().map(|id| (id.clone(), memory::NOT_RUN.to_owned()));
    Ok(Done { code, red: red.into_iter().chain(not_run).collect(), report, took })
}

/// How a plan is run, without a word on how long its checks take.
pub fn options(how: &HowArgs, plan: &Plan, until: Until, whole: bool) -> Options {
    Options {
        jobs: how.jobs.map_or_else(processors, usize::from).min(plan.checks.len().max(1)),
        keep: match how.keep {
            KeepArg::Never => Keep::Never,
            KeepArg::Failed => Keep::Failed,
            KeepArg::Always => Keep::Always,
        },
        strict: how.strict,
        until,
        remove_residue: false,
        whole,
        took: BTreeMap::new(),
    }
}

/// Runs a plan here, under stress if that is asked for. Meanwhile it is found out what can be seen here, if these facts are
/// wanted.
///
/// # Errors
///
/// If nothing can be measured here, or there can be no stress.
pub fn measure(
    plan: &Plan,
    options: &Options,
    observer: &dyn Observer,
    facts: bool,
    stress: bool,
) -> Result<(Ran, HostFacts)> {
    let load = if stress { Some(Load::start()?) } else { None };
    let (ran, host) = std::thread::scope(|scope| {
        let look = || platform::host_facts(&platform::sandbox_base()).seen_by(&platform::abilities());
        let facts = facts.then(|| scope.spawn(look));
        let ran = run::run(plan, options, observer);
        (ran, facts.and_then(|facts| facts.join().ok()).unwrap_or_default())
    });
    Ok((ran?, HostFacts { stress: load.map(|load| load.stress().clone()), ..host }))
}

/// This program.
pub fn tool() -> Tool {
    Tool { name: "hostproof".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// What was put aside of the checks is gone.
fn lost(error: &io::Error) -> Error {
    Error::Unmeasured(format!("the reports of the checks can't be read back: {error}"))
}

/// Says everything that is to be said after the lines of the checks. Returns the verdicts of the red ones, by id.
fn tell_details(
    check_run: &CheckRun,
    report: &Report,
    checks: &Reports,
    show: Show,
    look: Look,
) -> io::Result<BTreeMap<String, String>> {
    let CheckRun { plan, how, subcommand, manifests, .. } = check_run;
    let here = current_folder().unwrap_or_else(|_| plan.project.clone());
    let planned: HashMap<&str, &Planned> = plan.checks.iter().map(|planned| (planned.id(), planned)).collect();
    let mut red = BTreeMap::new();
    for check in checks.iter() {
        let check = check?;
        if check.verdict.is_red() {
            red.insert(check.id, check.verdict.name().to_owned());
        }
    }
    let these: Vec<(&str, &Check)> =
        red.keys().filter_map(|id| Some((id.as_str(), planned.get(id.as_str())?.base()))).collect();
    let traps = traps(look, &plan.project, &these);
    for check in checks.iter() {
        let check = &check?;
        let planned = planned.get(check.id.as_str());
        let name = planned.map_or_else(|| check.id.clone(), |planned| planned.name());
        let as_it_ran = planned.map(|planned| planned.check());
        let again = Again {
            check: as_it_ran.as_ref(),
            name: &name,
            project: &plan.project,
            subcommand: *subcommand,
            manifests: manifests.as_deref(),
            here: &here,
            image: report.place.image.as_deref(),
            stress: report.host.stress.is_some(),
            excerpts: &excerpts(&plan.project, check),
        };
        if let Some(details) = report::details(look, check, how.verbose, &again) {
            show.line(&format!("\n{}", details.trim_end()));
            traps.get(&check.id).into_iter().flatten().for_each(|line| show.line(line));
        }
    }
    if let Some(stress) = &report.host.stress {
        show.line(&format!("\n{}", report::stress(look, stress)));
    }
    if let Some(text) = report::of_the_run(look, &report.findings) {
        show.line(&format!("\n{text}"));
    }
    Ok(red)
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
    let base = platform::sandbox_base();
    if !base.is_absolute() {
        // Checks are told of their sandbox by this name, and run elsewhere.
        return Err(Error::Usage(format!("HOSTPROOF_TMPDIR is {}, which is not an absolute path", base.display())));
    }
    platform::new_file(&base, ".hostproof-").map(drop).map_err(|error| {
        Error::Usage(format!("HOSTPROOF_TMPDIR is {}, where no sandbox can be made: {error}", base.display()))
    })
}

/// How many checks run at once, if nobody says.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The exit code of a run.
pub fn exit_code(totals: &Totals, findings: &[Finding], stopped: Option<Stop>) -> ExitCode {
    if stopped == Some(Stop::Interrupted) {
        return ExitCode::Interrupted;
    }
    let totals = &totals.checks;
    if totals.passed + totals.skipped + totals.not_run < totals.planned {
        return ExitCode::Red;
    }
    // A run that could not look everywhere was not measured, where that matters.
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return ExitCode::Incomplete;
    }
    // All skipped is nothing that ran.
    if totals.passed > 0 { ExitCode::Ok } else { ExitCode::Incomplete }
}
