//! One check's life: sandbox, supervise, read, probe, judge, clean.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::environment::{self, Sources};
use super::program::{Lookup, Program, os_strings};
use super::sandbox::Sandbox;
use super::slot::Slot;
use super::workers::{Keep, Options};
use super::{copy, judge, output, records, text};
use crate::model::{
    Cases, Check, CheckCommand, CheckReport, Cwd, Exit, Finding, Hold, Home, How, Inherit, Kind, Reading, Severity, Stream,
    Verdict,
};
use crate::plan::{Plan, Planned};
use crate::platform::{self, Ended, Job, Outcome};
use crate::probes::{self, Blame, Places};
use crate::readers::{self, Context, Source};

/// How long a setup command may take.
const SETUP_TIMEOUT: Duration = Duration::from_secs(3600);

/// What lives are lived by.
pub struct Life<'a> {
    plan: &'a Plan,
    options: &'a Options,
}

/// A check that is ready to start.
struct Ready {
    job: Job,
    program: Program,
    places: Places,
}

impl<'a> Life<'a> {
    /// For the checks of a plan.
    #[must_use]
    pub fn new(plan: &'a Plan, options: &'a Options) -> Self {
        Self { plan, options }
    }

    /// Takes a check from its sandbox to its report.
    pub fn live(&self, planned: &Planned, slot: &mut Slot<'_>) -> CheckReport {
        let check = &planned.check;
        let sandbox = match slot.sandbox() {
            Ok(sandbox) => sandbox,
            Err(why) => return records::not_run(check, Verdict::Broken, why),
        };
        let started = SystemTime::now();
        let mut report = match self.prepare(check, &sandbox) {
            Ok(ready) => match slot.run(&ready.job) {
                Ok(outcome) => {
                    return self.tell(planned, ready, outcome, &sandbox, started, slot);
                }
                Err(error) => records::lost(check, ready.program.argv, &error),
            },
            Err(why) => records::not_run(check, Verdict::Broken, why),
        };
        report.findings.extend(removal(&sandbox));
        report
    }

    /// Runs a file's setup commands, in the project and with the caller's whole environment.
    ///
    /// # Errors
    ///
    /// Why the file's checks can't run.
    pub fn set_up(&self, commands: &[Vec<String>], slot: &mut Slot<'_>) -> std::result::Result<(), String> {
        for argv in commands {
            let line = crate::words::command_line(argv);
            let check = Check {
                home: Home::Real,
                inherit: Inherit::All,
                timeout: SETUP_TIMEOUT,
                ..Check::new("setup", CheckCommand::Argv(argv.clone()))
            };
            let sandbox = slot.sandbox().map_err(|why| format!("setup: {line}: {why}"))?;
            let ready = self.prepare(&check, &sandbox).map_err(|why| format!("setup: {line}: {why}"))?;
            let outcome = slot.run(&ready.job).map_err(|error| format!("setup: {line}: {error}"))?;
            let said = [&outcome.stderr, &outcome.stdout].map(|captured| output::output(captured, None).tail);
            let problem = match (&outcome.not_started, outcome.ended, outcome.exit) {
                (Some(error), _, _) => Some(records::start_error(error)),
                (None, Ended::Timeout, _) => Some("it was ended at its time limit".to_owned()),
                (None, Ended::Cancelled, _) => Some("interrupted".to_owned()),
                (None, Ended::ByItself, Some(Exit::Code(0))) => None,
                (None, Ended::ByItself, exit) => Some(format!("it ended with {}", records::exit_words(exit))),
            };
            let _ = platform::remove_tree(sandbox.root());
            if let Some(problem) = problem {
                let last = said.iter().find_map(|text| text.lines().rev().find(|line| !line.trim().is_empty()));
                let last = last.map(|line| format!("; its last line: {line}")).unwrap_or_default();
                return Err(format!("setup: {line}: {problem}{last}"));
            }
        }
        Ok(())
    }

    fn prepare(&self, check: &Check, sandbox: &Sandbox) -> std::result::Result<Ready, String> {
        let work = sandbox.work();
        let (cwd, project) = match check.cwd {
            Cwd::Project => (self.plan.project.clone(), self.plan.project.clone()),
            Cwd::Sandbox => (work.clone(), self.plan.project.clone()),
            Cwd::Copy => {
                copy::project(&self.plan.project, &work)?;
                (work.clone(), work.clone())
            }
        };
        copy::files(&check.files, &self.plan.project, &work)?;
        let caller: Vec<_> = crate::env::all().collect();
        let home = crate::env::home();
        let sources = Sources { caller: &caller, home: home.as_deref(), sandbox, project: &project, cwd: &cwd };
        let env = environment::environment(check, &sources);
        let path = env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let lookup = Lookup { path, cwd: &cwd, project: &project, sandbox: sandbox.root() };
        let program = lookup.find(&check.command)?;
        let mut roots = vec![sandbox.root().to_owned()];
        if !cwd.starts_with(sandbox.root()) {
            roots.push(cwd.clone());
        }
        let job = Job {
            program: program.file.clone(),
            argv: os_strings(&program.argv),
            env,
            cwd: cwd.clone(),
            stdin: self.stdin(check)?,
            timeout: check.timeout,
            grace: check.grace,
            roots,
            spill: sandbox.root().to_owned(),
        };
        let places = Places { sandbox: sandbox.root().to_owned(), project, cwd };
        Ok(Ready { job, program, places })
    }

    /// The file that is the check's input. Opening anything but a regular file could wait for ever.
    fn stdin(&self, check: &Check) -> std::result::Result<Option<PathBuf>, String> {
        let Some(name) = &check.stdin else { return Ok(None) };
        let file = self.plan.project.join(name);
        match std::fs::metadata(&file) {
            Ok(metadata) if metadata.is_file() => Ok(Some(file)),
            Ok(_) => Err(format!("stdin: {} is not a regular file", name.display())),
            Err(error) => Err(format!("stdin: {}: {error}", name.display())),
        }
    }

    /// Reads, probes, judges and cleans up.
    fn tell(
        &self,
        planned: &Planned,
        ready: Ready,
        mut outcome: Outcome,
        sandbox: &Sandbox,
        started: SystemTime,
        slot: &mut Slot<'_>,
    ) -> CheckReport {
        let check = &planned.check;
        let Ready { program, places, .. } = ready;
        if let Some(error) = &outcome.not_started {
            let mut report = records::not_run(check, Verdict::Broken, records::start_error(error));
            report.argv = program.argv;
            report.cwd = Some(shown_cwd(&places, false));
            report.findings.extend(removal(sandbox));
            return report;
        }
        let late = outcome.late.iter_mut().map(|late| &mut late.process);
        for process in late.chain(&mut outcome.alive) {
            process.holds.retain(|hold| concerns(hold, &places, started));
        }

        let mut blind = Vec::new();
        let reading = read(check, &outcome, &self.plan.project, &places.cwd).unwrap_or_else(|error| {
            blind.push(format!("the output cannot be read again: {error}"));
            Reading::default()
        });
        let mut unsatisfied = Vec::new();
        for (stream, rules) in [(Stream::Stdout, &check.expect.stdout), (Stream::Stderr, &check.expect.stderr)] {
            match output::open(outcome.captured(stream)).and_then(|bytes| text::unsatisfied(rules, bytes)) {
                Ok(rules) => unsatisfied.extend(rules.into_iter().map(|rule| (stream, rule))),
                Err(error) => blind.push(format!("the output cannot be read again: {error}")),
            }
        }
        outcome.blind.extend(blind);
        let blame = Blame {
            cases: &reading.cases,
            complete: reading.counts.ran.is_some_and(|ran| ran == reading.cases.len() as u64),
        };
        let mut facts = judge::Facts {
            ended: outcome.ended,
            exit: outcome.exit,
            reading: &reading,
            unsatisfied,
            found: probes::findings(&outcome, &places, &blame),
            at_limit: at_limit(&outcome),
            strict: self.options.strict,
            needs_proof: planned.needs_proof,
        };
        let mut judgement = judge::judge(check, &facts);

        let keep = match self.options.keep {
            Keep::Never => false,
            Keep::Failed => judgement.verdict.is_red(),
            Keep::Always => true,
        };
        let kept = |captured, name| if keep { output::keep(captured, &sandbox.root().join(name)) } else { None };
        let stdout = output::output(&outcome.stdout, kept(&outcome.stdout, "stdout"));
        let stderr = output::output(&outcome.stderr, kept(&outcome.stderr, "stderr"));
        if keep {
            slot.keep_folder();
        } else {
            let unremovable = removal(sandbox);
            if !unremovable.is_empty() {
                facts.found.extend(unremovable);
                judgement = judge::judge(check, &facts);
            }
        }

        CheckReport {
            argv: program.argv,
            cwd: Some(shown_cwd(&places, keep)),
            exit: outcome.exit,
            started: Some(records::timestamp(started)),
            duration_ms: outcome.duration_us / 1000,
            stdout_end_ms: outcome.stdout.end_us.map(|us| us / 1000),
            reader: reading.reader.map(str::to_owned),
            cases: Cases::new(judgement.counts, reading.cases),
            frames: reading.frames,
            findings: judgement.findings,
            processes: records::processes(&outcome),
            stdout,
            stderr,
            kept: keep.then(|| sandbox.root().display().to_string()),
            notes: reading.notes,
            ..records::empty(check, judgement.verdict, judgement.reason)
        }
    }
}

/// Reads the output with the check's reader, stdout first.
fn read(check: &Check, outcome: &Outcome, project: &Path, cwd: &Path) -> io::Result<Reading> {
    let mut sources = Vec::new();
    for stream in [Stream::Stdout, Stream::Stderr] {
        let captured = outcome.captured(stream);
        sources.push(Source { stream, bytes: output::open(captured)?, marks: &captured.marks });
    }
    readers::read(check.reader, sources, &Context { project, cwd, exit: outcome.exit })
}

/// Where the check ran; a place in a sandbox that is gone has no name that anybody could use.
fn shown_cwd(places: &Places, kept: bool) -> String {
    match places.cwd.strip_prefix(&places.sandbox) {
        Ok(below) if !kept => Path::new("$sandbox").join(below).display().to_string(),
        _ => places.cwd.display().to_string(),
    }
}

/// Whether a hold says something about the check: all in the sandbox do; of the project's files only those that the
/// check made or removed, and a process that stands in the project's own folder.
fn concerns(hold: &Hold, places: &Places, started: SystemTime) -> bool {
    if places.in_sandbox(&hold.path) || hold.deleted {
        return true;
    }
    let path = Path::new(&hold.path);
    let is_new = || std::fs::metadata(path).and_then(|metadata| metadata.created()).is_ok_and(|made| made >= started);
    let stands = matches!(hold.how, How::Cwd | How::Root);
    (stands && (path == places.project || path == places.cwd)) || is_new()
}

/// What the processes were doing when the time limit came.
fn at_limit(outcome: &Outcome) -> Option<String> {
    const TOLD: usize = 5;
    if outcome.ended != Ended::Timeout || outcome.alive.is_empty() {
        return None;
    }
    let mut doing: Vec<String> = outcome
        .alive
        .iter()
        .take(TOLD)
        .map(|process| {
            let state = process.state.as_deref().unwrap_or("in an unknown state");
            let waiting = process.waiting_on.as_ref().map(|what| format!(", waiting {what}")).unwrap_or_default();
            format!("{} was {state}{waiting}", process.short())
        })
        .collect();
    if outcome.alive.len() > TOLD {
        doing.push(format!("and {} more", outcome.alive.len() - TOLD));
    }
    Some(doing.join("; "))
}

/// Removes the sandbox; what resists is a finding.
fn removal(sandbox: &Sandbox) -> Vec<Finding> {
    let left = platform::remove_tree(sandbox.root());
    left.into_iter()
        .map(|left| {
            let name = left.path.strip_prefix(sandbox.root()).unwrap_or(&left.path).display().to_string();
            let message = format!("{name} could not be removed from the sandbox: {}", left.reason);
            let mut finding = Finding::new(Kind::Residue, Severity::Error, message);
            finding.path = Some(left.path.display().to_string());
            finding.remedy = Some("let the test undo what it did to it".to_owned());
            finding
        })
        .collect()
}
