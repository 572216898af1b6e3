//! The first half of a check's life: sandbox, supervise, read. The second half is in [`super::settle`].

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant, SystemTime};

use super::copy::{self, Outside};
use super::environment::{self, Caller};
use super::junit::Before;
use super::listing::{self, Told, Unlisted};
use super::planting::Planted;
use super::program::{Known, Lookup, Program, os_strings};
use super::removal::removal;
use super::residue::{self, Project};
use super::sandbox::Sandbox;
use super::settle::Pending;
use super::slot::Slot;
use super::teeth::{self, Bite, Evidence};
use super::text::Unsatisfied;
use super::together::{Beside, OneTmpdir, Together};
use super::workers::Options;
use super::{eventually, faults, forbid, hook, junit, output, planned, records, shared, surroundings, text};
use crate::model::{Check, CheckCommand, CheckReport, Cwd, Fact, Hold, How, ReaderChoice, Reading, Stream, Verdict};
use crate::plan::{Plan, Planned};
use crate::platform::{self, Ended, Job, LaneError, Outcome};
use crate::probes::Places;
use crate::readers::{self, Context, Source};

/// What lives are lived by.
pub struct Life<'a> {
    pub(super) plan: &'a Plan,
    pub(super) project: &'a Project<'a>,
    pub(super) options: &'a Options,
    /// Set once the run was stopped.
    pub(super) stop: Arc<AtomicBool>,
    pub(super) caller: Caller,
    /// The programs that were found on the caller's `PATH`.
    known: Known,
    /// Which scripts hooks may be reading.
    pub(super) reading: hook::Reading,
    pub(super) copied: copy::Made,
}

/// A check that is ready to start.
pub struct Ready {
    pub job: Job,
    /// What lists its cases, before it.
    pub listing: Option<Job>,
    pub program: Program,
    pub places: Places,
    /// The JUnit XML files that were there before.
    pub before: Before,
}

/// A check whose processes have ended.
struct Begun {
    index: usize,
    ready: Ready,
    bite: Option<Bite>,
    listing: Told,
    outcome: Outcome,
    sandbox: Sandbox,
    started: SystemTime,
    since: Instant,
}

/// Where a check's first half ends.
pub enum Half<'a> {
    /// Nothing more is to be seen of it.
    Told(Box<CheckReport>),
    /// It is over, and waits for the look at the machine, the verdict and the removal of its sandbox.
    Pending(Box<Pending<'a>>),
}

impl<'a> Life<'a> {
    /// For the checks of a plan.
    #[must_use]
    pub fn new(plan: &'a Plan, project: &'a Project<'a>, options: &'a Options, stop: Arc<AtomicBool>) -> Self {
        let (caller, known, reading) = (Caller::read(), Known::default(), hook::Reading::default());
        Self { plan, project, options, stop, caller, known, reading, copied: copy::Made::default() }
    }

    /// The same with copies of a check that run at the same moment: the first in the slot's own lane, and each of the others in
    /// one beside it.
    pub fn begin_together(&self, copies: &[usize], slot: &mut Slot<'_>) -> Vec<(usize, Half<'a>)> {
        let Some(first) = copies.first() else { return Vec::new() };
        let tmpdir = self.plan.checks[*first].variant.has_one_tmpdir().then(|| slot.sandbox()).transpose();
        let told = |index: usize, report| (index, Half::Told(Box::new(report)));
        let beside = match tmpdir {
            Ok(tmpdir) => Beside {
                together: Together::of(copies.len()),
                tmpdir: tmpdir.map(|sandbox| Arc::new(OneTmpdir::of(sandbox, slot.handle()))),
            },
            Err(why) => {
                let report = |&index: &usize| {
                    told(index, records::not_run(&self.plan.checks[index].check(), Verdict::Broken, why.clone()))
                };
                return copies.iter().map(report).collect();
            }
        };
        let lost = |index: usize, error: &LaneError| {
            told(index, records::lost(&self.plan.checks[index].check(), Vec::new(), error))
        };
        let _reader = self.reader(&self.plan.checks[*first]);
        match slot.at_once(copies, |slot, &index| self.begin(index, slot, Some(&beside))) {
            Ok(halves) => {
                let half = |(&index, half): (&usize, Result<Half<'a>, LaneError>)| match half {
                    Ok(half) => (index, half),
                    Err(error) => lost(index, &error),
                };
                copies.iter().zip(halves).map(half).collect()
            }
            Err(error) => copies.iter().map(|&index| lost(index, &error)).collect(),
        }
    }

    /// Keeps what a check reads from being taken for a hook's reading; a hook's own call is apart from others by itself.
    fn reader(&self, planned: &Planned) -> Option<hook::Reader<'_>> {
        match (&planned.base().command, &planned.tooth) {
            (CheckCommand::Hook(_), _) => None,
            // It is made in a copy of the project.
            (_, Some(_)) => Some(self.reading.by_any(self.plan)),
            (_, None) => Some(self.reading.by_check(self.plan, planned.base())),
        }
    }

    /// Takes the check of that place in the plan from its sandbox to the end of its processes.
    /// One that runs beside others starts at their moment, and has their `TMPDIR` if there is one.
    pub fn begin(&self, index: usize, slot: &mut Slot<'_>, beside: Option<&Beside>) -> Half<'a> {
        self.project.begins(Some(index));
        let half = self.live(index, slot, beside);
        self.project.ends(Some(index));
        half
    }

    fn live(&self, index: usize, slot: &mut Slot<'_>, beside: Option<&Beside>) -> Half<'a> {
        let start = beside.map(|beside| beside.together.place());
        let planned = &self.plan.checks[index];
        let check = &planned.check();
        let told = |report| Half::Told(Box::new(report));
        let sandbox = match slot.sandbox() {
            Ok(sandbox) => sandbox,
            Err(why) => return told(records::not_run(check, Verdict::Broken, why)),
        };
        let sandbox = match sandbox.under(check.fact) {
            Ok(sandbox) => sandbox.sharing(beside.and_then(|beside| beside.tmpdir.clone())),
            Err(error) => {
                let why = format!("its sandbox cannot be made so here: {error}");
                return told(records::not_run(check, Verdict::Skipped, why));
            }
        };
        if let CheckCommand::Hook(hook) = &check.command {
            return self.begin_hook(index, hook, sandbox, slot);
        }
        // Those that wait for each other have one together: with one each, a call between two of them would wait for the one,
        // and the other for it.
        let _reader = beside.is_none().then(|| self.reader(planned));
        let broken = |why| records::not_run(check, Verdict::Broken, why);
        let ready = self.stage(planned, &sandbox).and_then(|(places, bite)| {
            let ready = self.prepare_in(check, &sandbox, places)?;
            let outside = residue::Before::now(self, check, &sandbox, &ready.places, slot)?;
            let listed = Self::list(check, &ready, slot);
            let plants = Planted::before(check, &sandbox, &ready.places)?;
            Ok((listed, ready, bite, outside, plants))
        });
        let mut report = match ready {
            Ok((Ok(listing), ready, bite, outside, plants)) => {
                if let Some(start) = start {
                    start.wait();
                }
                let (started, since) = (SystemTime::now(), Instant::now());
                match slot.run(&ready.job) {
                    Ok(outcome) if outcome.not_started.is_none() => {
                        let begun = Begun { index, ready, bite, listing, outcome, sandbox, started, since };
                        let mut pending = self.pending(begun, slot);
                        pending.left.extend(plants.after(&pending.places));
                        self.look_outside(&outside, &mut pending, slot);
                        return Half::Pending(Box::new(pending));
                    }
                    Ok(outcome) => {
                        let argv = ready.program.argv;
                        let error = outcome.not_started.as_ref();
                        let report = match error.and_then(|error| surroundings::prevented(check, error)) {
                            Some(why) => records::not_run(check, Verdict::Skipped, why),
                            None => broken(error.map(records::start_error).unwrap_or_default()),
                        };
                        CheckReport { argv, findings: listing.left, ..report }
                    }
                    Err(error) => {
                        let mut report = records::lost(check, ready.program.argv, &error);
                        report.findings.extend(listing.left);
                        report
                    }
                }
            }
            Ok((Err(Unlisted::Why(why, left)), ready, ..)) => {
                CheckReport { argv: ready.program.argv, findings: left, ..broken(why) }
            }
            Ok((Err(Unlisted::Lost(error)), ready, ..)) => records::lost(check, ready.program.argv, &error),
            Err(why) => broken(why),
        };
        report.findings.extend(removal(&sandbox));
        told(report)
    }

    /// Says what is different outside the sandbox of a check that is over.
    pub fn look_outside(&self, before: &residue::Before, pending: &mut Pending<'_>, slot: &mut Slot<'_>) {
        if pending.outcome.ended == Ended::Cancelled {
            return;
        }
        let Pending { planned, sandbox, places, outcome, .. } = &*pending;
        let found = before.findings(self, &planned.check(), (sandbox, places), slot, &outcome.touched);
        pending.left.extend(self.project.beside(pending.index, found));
    }

    /// Reads the output, and puts together what the second half needs.
    fn pending(&self, begun: Begun, slot: &Slot<'_>) -> Pending<'a> {
        let Begun { index, ready, bite, listing, mut outcome, sandbox, started, since } = begun;
        let planned = &self.plan.checks[index];
        let check = planned.base();
        outcome.untouched &= !listing.touched;
        outcome.blind.extend(listing.blind);
        let Ready { program, places, before, .. } = ready;
        keep_what_concerns(&mut outcome, &places, started);
        forbid::take(check, sandbox.root(), &mut outcome, started);
        let mut left = listing.left;
        if outcome.ended == Ended::ByItself {
            let ended = since + Duration::from_micros(outcome.duration_us);
            left.extend(eventually::unmet(check, &places, ended, &self.stop));
        }
        // Only under `cwd: copy` are a check's folder and the project's copy one; its files are the project's by name.
        let work = sandbox.work();
        let copies: Vec<_> = check.files.iter().map(|(there, here)| (work.join(there), here.clone())).collect();
        let context = Context {
            argv: &program.argv,
            copies: &copies,
            exit: outcome.exit,
            planned: listing.listed.as_ref().map_or(&[], |listed| &listed.names),
            ..Context::new(&self.plan.project, &places.cwd)
        };
        let mut reading = read(&check.reader, &outcome, &context);
        if let (ReaderChoice::Junit(path), Ok(of_output)) = (&check.reader, &mut reading) {
            // Its frames are those of the output where the files have none.
            let frames = std::mem::take(&mut of_output.frames);
            *of_output = junit::read(path, &places, &before, started, &context);
            if of_output.frames.is_empty() {
                of_output.frames = frames;
            }
        }
        let evidence = planned.tooth.as_ref().map(|tooth| Evidence {
            read: bite.map(|bite| bite.read(&self.copied)),
            said: teeth::said(tooth, &outcome),
        });
        let mut unsatisfied = Vec::new();
        let mut lost = Vec::new();
        for (stream, rules) in [(Stream::Stdout, &check.expect.stdout), (Stream::Stderr, &check.expect.stderr)] {
            let captured = outcome.captured(stream);
            let mut why = captured.lost.clone();
            let checked = |whole| text::unsatisfied(rules, stream, output::open(captured)?, whole);
            unsatisfied.extend(checked(why.is_none()).unwrap_or_else(|error| {
                why.get_or_insert_with(|| error.to_string());
                rules.iter().map(|rule| Unsatisfied { stream, rule, seen: false }).collect()
            }));
            lost.extend(why.map(|why| (stream, why)));
        }
        let mut reading = reading.unwrap_or_else(|error| {
            // Only a file can have become unreadable, and what it is was told above unless it happened in between.
            if lost.is_empty() {
                lost.push((Stream::Stdout, error.to_string()));
            }
            Reading::default()
        });
        let listed = listing
            .listed
            .map(|listed| if lost.is_empty() { planned::name(&mut reading, &listed) } else { listed.number });
        Pending {
            index,
            planned,
            program,
            places,
            outcome,
            reading,
            listed,
            left,
            hook: None,
            evidence,
            unsatisfied,
            lost,
            sandbox,
            started,
            // The end was seen a moment ago at most; a holder gets its whole grace.
            grace_over: Instant::now() + check.grace,
            handle: slot.handle(),
            spare: slot.spare(),
        }
    }

    /// Fills the sandbox, and puts together what is to be started.
    ///
    /// # Errors
    ///
    /// A sentence that says what is in the way.
    pub fn prepare(&self, check: &Check, sandbox: &Sandbox) -> Result<Ready, String> {
        let places = self.places(check, sandbox)?;
        self.prepare_in(check, sandbox, places)
    }

    /// Fills the sandbox.
    ///
    /// # Errors
    ///
    /// A sentence that says what is in the way.
    pub fn places(&self, check: &Check, sandbox: &Sandbox) -> Result<Places, String> {
        let (cwd, project) = match check.cwd {
            Cwd::Project => (self.plan.project.clone(), self.plan.project.clone()),
            Cwd::Sandbox => (sandbox.work(), self.plan.project.clone()),
            Cwd::Copy => {
                let copy = copy::project(&self.plan.project, &sandbox.work(), sandbox)?;
                (copy.clone(), copy)
            }
        };
        copy::files(&check.files, &self.plan.project, sandbox)?;
        if check.fact == Some(Fact::Uid) {
            platform::give_to_nobody(sandbox.root())
                .map_err(|error| format!("its sandbox cannot be given to nobody: {error}"))?;
        }
        Ok(Places { sandbox: sandbox.root().to_owned(), project, cwd })
    }

    /// Puts together what is to be started in a sandbox that is filled.
    ///
    /// # Errors
    ///
    /// A sentence that says what is in the way.
    pub fn prepare_in(&self, check: &Check, sandbox: &Sandbox, places: Places) -> Result<Ready, String> {
        let Places { cwd, project, .. } = &places;
        let (cwd, project) = (&sandbox.seen(cwd), &sandbox.seen(project));
        let mut env = environment::environment(check, &self.caller, sandbox, project, cwd);
        let path = env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.as_os_str());
        let known = self.caller.has_path(path).then_some(&self.known);
        let root = sandbox.seen(sandbox.root());
        let lookup = Lookup { path, cwd, project, sandbox: &root, known };
        let program = lookup.find(&check.command)?;
        let listing = listing::of(check).map(|listing| lookup.find(&CheckCommand::Argv(listing.argv.clone())));
        let listing = listing.transpose().map_err(|why| format!("listing the cases: {why}"))?;
        let mut roots = vec![sandbox.root().to_owned()];
        if !places.cwd.starts_with(sandbox.root()) {
            roots.push(places.cwd.clone());
        }
        let forbids = forbid::forbids(check, sandbox, project, &mut env)?;
        roots.extend(sandbox.tmpdir().map(OneTmpdir::path));
        let job = Job {
            program: program.file.clone(),
            argv: os_strings(&program.argv),
            env,
            cwd: cwd.clone(),
            stdin: check.stdin.as_deref().map(|name| self.input(check, name, project)).transpose()?,
            timeout: check.timeout,
            grace: check.grace,
            afterlife: check.afterlife(),
            roots,
            spill: spill(sandbox),
            publishes: check.publishes.iter().map(|glob| eventually::folder_of(glob, &places)).collect(),
            forbids,
            faults: faults::absolute(check, &places),
            watches: check.watch.iter().map(|place| residue::folder_of(place, &places)).collect(),
            shared: if check.copies > 1 { shared::places(check, sandbox, &places) } else { Vec::new() },
            rules: check.rules,
            windows: check.windows.clone(),
            change: check.fact.and_then(surroundings::change),
        };
        let before = match &check.reader {
            ReaderChoice::Junit(path) => Before::now(path, &places),
            _ => Before::default(),
        };
        let listing = listing.map(|Program { file, argv }| Job {
            program: file,
            argv: os_strings(&argv),
            stdin: None,
            publishes: Vec::new(),
            faults: Vec::new(),
            watches: Vec::new(),
            shared: Vec::new(),
            ..job.clone()
        });
        Ok(Ready { job, listing, program, places, before })
    }

    /// A file of that name that is some input of the check's: of the copy of the project, if there is one and it has it.
    /// Opening anything but a regular file could wait for ever.
    ///
    /// # Errors
    ///
    /// A sentence that says what it is instead.
    pub fn input(&self, check: &Check, name: &Path, copy: &Path) -> Result<PathBuf, String> {
        let project = if copy.join(name).exists() { copy } else { &self.plan.project };
        // Whoever names a file on the command line means it; a manifest keeps to its project.
        let file = match copy::inside(project, name) {
            Err(Outside::Elsewhere(place)) if check.origin.is_some() => {
                return Err(format!("stdin: {} leads out of the project, to {}", name.display(), place.display()));
            }
            Err(Outside::Unseen(error)) => return Err(format!("stdin: {}: {error}", name.display())),
            Ok(file) | Err(Outside::Elsewhere(file)) => file,
        };
        match std::fs::metadata(&file) {
            Ok(metadata) if metadata.is_file() => Ok(file),
            Ok(_) => Err(format!("stdin: {} is not a regular file", name.display())),
            Err(error) => Err(format!("stdin: {}: {error}", name.display())),
        }
    }
}

/// Where output goes that is too much for memory: beside the lanes' folders, where it has no name, and whatever a check
/// does to its lane's folder does not matter.
fn spill(sandbox: &Sandbox) -> PathBuf {
    sandbox.root().ancestors().nth(2).unwrap_or(sandbox.root()).to_owned()
}

/// Reads the output with the check's reader, stdout first.
fn read(reader: &ReaderChoice, outcome: &Outcome, context: &Context<'_>) -> io::Result<Reading> {
    let mut sources = Vec::new();
    for stream in [Stream::Stdout, Stream::Stderr] {
        let captured = outcome.captured(stream);
        sources.push(Source { stream, bytes: output::open(captured)?, marks: &captured.marks });
    }
    readers::read(reader, sources, context)
}

/// Forgets the holds of a job's processes that say nothing about the check.
pub fn keep_what_concerns(outcome: &mut Outcome, places: &Places, started: SystemTime) {
    let late = outcome.late.iter_mut().map(|late| &mut late.process);
    for process in late.chain(&mut outcome.alive) {
        process.holds.retain(|hold| concerns(hold, places, started));
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
