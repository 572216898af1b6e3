//! `run --watch`: after each change the checks that it concerns, until Ctrl-C.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::run::{Asked, asked, run_asked};
use super::show::Show;
use crate::cli::RunArgs;
use crate::covers::Covers;
use crate::error::{Error, ExitCode, Result};
use crate::model::{Check, CheckCommand, EventInput};
use crate::platform;
use crate::source::Stamps;
use crate::words::{counted, first_of};

/// Between two looks, unless a look takes so long that it would be more than a twentieth of the time.
const LOOK: Duration = Duration::from_millis(300);

/// How long nothing may change before a change is taken for finished.
const SETTLED: Duration = Duration::from_millis(100);

/// How many files are named that changed.
const NAMED: usize = 3;

/// Runs what was asked for; then, whenever files of the project change, the checks that they concern.
///
/// # Errors
///
/// If the manifests are wrong at first, or git does not know the project's files.
pub fn run(args: &RunArgs) -> Result<ExitCode> {
    let mut next = Some(asked(args, platform::current())?);
    let project = next.as_ref().map(|asked| asked.plan.project.clone()).unwrap_or_default();
    let mut stamps =
        Stamps::of(&project).map_err(|why| Error::Usage(format!("--watch goes by the files that git lists: {why}")))?;
    let mut known = BTreeMap::new();
    // What changed in the last run: what changes in the next one as well is what the checks themselves write.
    let mut own = BTreeSet::new();
    let mut changed = BTreeSet::new();
    loop {
        if let Some(asked) = next.take() {
            match run_concerned(asked, args, &changed, &mut known) {
                Ok(ExitCode::Interrupted) => return Ok(ExitCode::Interrupted),
                Ok(_) => {}
                Err(error) => Show::error(&error),
            }
        }
        // What can't be told now is told while it waits.
        let during = stamps.changed().unwrap_or_default();
        changed = during.difference(&own).cloned().collect();
        own = during;
        if changed.is_empty() {
            let files = counted(stamps.count() as u64, "file");
            Show::Stderr.line(&format!("\nwaiting for a change of {files}; Ctrl-C ends it"));
            match wait(&mut stamps)? {
                Some(by_others) => changed = by_others,
                None => return Ok(ExitCode::Interrupted),
            }
        }
        let names: Vec<String> = changed.iter().map(|path| path.display().to_string()).collect();
        Show::Stderr.line(&format!("\n{} changed\n", Show::Stderr.look().text(&first_of(&names, NAMED))));
        match asked(args, platform::current()) {
            Ok(asked) => next = Some(asked),
            Err(error) => Show::error(&error),
        }
    }
}

/// Of the checks that were asked for, runs those that a change concerns, and those that are not as they were known.
fn run_concerned(
    mut asked: Asked,
    args: &RunArgs,
    changed: &BTreeSet<PathBuf>,
    known: &mut BTreeMap<String, (Check, Vec<Vec<String>>)>,
) -> Result<ExitCode> {
    let mut concerned = BTreeSet::new();
    for planned in &asked.plan.checks {
        let now = (planned.check(), asked.plan.setup(planned).to_vec());
        let was = known.insert(planned.id().to_owned(), now.clone());
        if was.is_none_or(|was| was != now) || changed.iter().any(|path| concerns(path, planned.base())) {
            // A variant says nothing without what it is a variant of.
            concerned.insert(planned.variant.of.clone());
        }
    }
    let planned = asked.plan.checks.len();
    asked.plan.checks.retain(|planned| concerned.contains(&planned.variant.of));
    if planned > 0 && asked.plan.checks.is_empty() {
        Show::Stderr.line("which concerns no check");
        return Ok(ExitCode::Ok);
    }
    Ok(run_asked(asked, false, args, &args.how, None)?.code)
}

/// Whether a check's outcome may rest on a file of the project. One that does not say what it covers rests on all.
fn concerns(path: &Path, check: &Check) -> bool {
    if check.covers.is_empty() || Covers::of(&check.covers).has(path) {
        return true;
    }
    let is_it = |name: &str| !name.is_empty() && path.starts_with(name.trim_start_matches("./"));
    let events = check.events.iter().filter_map(|event| match &event.input {
        EventInput::File(file) => Some(file.as_str()),
        EventInput::Sample(_) => None,
    });
    let command = match &check.command {
        CheckCommand::Argv(argv) => argv.iter().any(|word| is_it(word)),
        CheckCommand::Shell { script, .. } => path.to_str().is_some_and(|path| script.contains(path)),
        CheckCommand::Hook(hook) => is_it(&hook.file),
    };
    command
        || check.stdin.as_deref().is_some_and(|file| path.starts_with(file))
        || check.files.values().map(String::as_str).chain(events).any(is_it)
}

/// Waits until something changed, and then for a moment nothing more did; `None` if the user ends it.
fn wait(stamps: &mut Stamps) -> Result<Option<BTreeSet<PathBuf>>> {
    let asked_to_end = Arc::new((Mutex::new(false), Condvar::new()));
    let here = Arc::clone(&asked_to_end);
    platform::on_interrupt(move || {
        *here.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        here.1.notify_all();
    })
    .map_err(|error| Error::Unmeasured(format!("cannot watch for Ctrl-C: {error}")))?;
    // Whoever asked after the last run's end, and before this, asked the run.
    if platform::interrupts() > 0 {
        return Ok(None);
    }
    let (mut changed, mut told) = (BTreeSet::new(), None);
    loop {
        let begun = Instant::now();
        let more = stamps.changed().unwrap_or_else(|why| {
            if told.as_ref() != Some(&why) {
                Show::error(&format!("what changed can't be told: {why}"));
                told = Some(why);
            }
            BTreeSet::new()
        });
        if more.is_empty() && !changed.is_empty() {
            return Ok(Some(changed));
        }
        changed.extend(more);
        let pause = if changed.is_empty() { LOOK.max(20 * begun.elapsed()) } else { SETTLED };
        let (ended, woken) = &*asked_to_end;
        let ended = ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = woken.wait_timeout_while(ended, pause, |ended| !*ended).unwrap_or_else(PoisonError::into_inner);
        if *waited.0 {
            return Ok(None);
        }
    }
}
