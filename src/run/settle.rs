//! The second half of a check's life: the look at the machine, the verdict, the removal of the sandbox.
//!
//! A look at every process costs milliseconds, and more than a check on a machine with thousands. So one look serves all
//! checks that ended since the last, and looks take a tenth of the time at most; unless nothing else is going on.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::names::{self, Tracked};
use super::program::Program;
use super::removal::removal;
use super::residue::Project;
use super::sandbox::{Sandbox, Spare};
use super::teeth::{self, Evidence};
use super::text::Unsatisfied;
use super::together::OneTmpdir;
use super::unseen::Unseen;
use super::workers::{Keep, Options};
use super::{encoding, judge, output, planting, records, shared, unstarted};
use crate::model::{
    Case, CaseOutcome, Cases, CheckReport, Cwd, Finding, HookReport, Process, ProcessTimes, Reading, Stream, Verdict,
};
use crate::plan::{Planned, Tooth};
use crate::platform::{self, Ended, LaneHandle, Outcome, Stranger, Watcher};
use crate::probes::{self, Blame, Places};
use crate::words::timestamp;

/// After a look, so many times its duration is left to the checks.
const PAUSE: u32 = 9;
/// How soon a stop is seen while a holder's grace is waited for.
const STOP: Duration = Duration::from_millis(100);
/// How long a stranger that was killed is waited for.
const DEATH: Duration = Duration::from_secs(1);
/// How many checks may wait for a look before their lanes do, too: their sandboxes are all still there.
const WAITING: usize = 128;

/// A check whose processes have ended.
pub struct Pending<'a> {
    /// Its place in the plan.
    pub index: usize,
    pub planned: &'a Planned,
    pub program: Program,
    pub places: Places,
    pub outcome: Outcome,
    pub reading: Reading,
    /// How many cases were listed before it.
    pub listed: Option<u64>,
    /// What the listing left behind.
    pub left: Vec<Finding>,
    /// What came of the check's hook; what its calls left is in `left` then.
    pub hook: Option<Hook>,
    /// What was seen of it as one of `teeth`; `None` for one of a run.
    pub evidence: Option<Evidence>,
    /// Rules of `expect` that the output does not satisfy.
    pub unsatisfied: Vec<Unsatisfied<'a>>,
    /// The streams that are not known whole, each with why.
    pub lost: Vec<(Stream, String)>,
    pub sandbox: Sandbox,
    pub started: SystemTime,
    /// When a holder that is no process of the check has had its time to let go.
    pub grace_over: Instant,
    /// Keeps the lane's folder in place.
    pub handle: Option<LaneHandle>,
    /// Where the sandbox goes if nothing happened to it.
    pub spare: Arc<Spare>,
}

/// What came of a hook, all of its calls together.
pub struct Hook {
    pub report: HookReport,
    pub processes: Vec<ProcessTimes>,
}

/// The stage that all lanes hand their checks to.
pub struct Settler<'a> {
    options: &'a Options,
    tracked: &'a Tracked<'a>,
    project: &'a Project<'a>,
    /// Set once the run was stopped: then nobody's grace is waited for.
    stop: Arc<AtomicBool>,
    watcher: Watcher,
    state: Mutex<State<'a>>,
    /// The settling thread has something new to think about.
    changed: Condvar,
    /// There is room for more to wait.
    room: Condvar,
}

#[derive(Default)]
struct State<'a> {
    waiting: Vec<Pending<'a>>,
    /// How many lanes are at a check, or about to be.
    busy: usize,
    closed: bool,
}

impl<'a> Settler<'a> {
    /// A stage that nothing has come to yet.
    #[must_use]
    pub fn new(
        options: &'a Options,
        tracked: &'a Tracked<'a>,
        project: &'a Project<'a>,
        stop: Arc<AtomicBool>,
    ) -> Self {
        Self {
            options,
            tracked,
            project,
            stop,
            watcher: Watcher::of_sandboxes(),
            state: Mutex::default(),
            changed: Condvar::new(),
            room: Condvar::new(),
        }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'b>(&self, state: MutexGuard<'b, State<'a>>, limit: Option<Duration>) -> MutexGuard<'b, State<'a>> {
        match limit {
            Some(limit) => self.changed.wait_timeout(state, limit).unwrap_or_else(PoisonError::into_inner).0,
            None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// A lane begins a check, once there is room for what it will hand over.
    pub fn lane_begins(&self) {
        let mut state = self.lock();
        while state.waiting.len() >= WAITING {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.busy += 1;
    }

    /// A lane is through with a check, and hands it over if there is more to be seen of it.
    pub fn lane_ends(&self, pending: Option<Pending<'a>>) {
        let mut state = self.lock();
        state.busy -= 1;
        state.waiting.extend(pending);
        // Between the first that waits and the last, the settling thread waits for time to pass.
        let matters = state.busy == 0 || state.waiting.len() == 1;
        drop(state);
        if matters {
            self.changed.notify_all();
        }
    }

    /// No more checks will come.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Settles checks until no more will come. Returns what could not be seen.
    pub fn settle_all(&self, mut tell: impl FnMut(usize, CheckReport)) -> Unseen<'a> {
        let mut unseen = Unseen::default();
        let mut not_before = Instant::now();
        // Checks that a stranger holds something of, with those who do: they are looked at again after the grace.
        let mut held: Vec<(Pending<'a>, Vec<Stranger>)> = Vec::new();
        loop {
            if self.is_stopped() {
                let now = Instant::now();
                for (pending, _) in &mut held {
                    pending.grace_over = pending.grace_over.min(now);
                }
            }
            let next_held = held.iter().map(|(pending, _)| pending.grace_over).min();
            let Some(batch) = self.next(not_before, next_held) else { return unseen.told() };
            if !batch.is_empty() {
                let roots: Vec<_> = batch.iter().map(|pending| pending.sandbox.root().to_owned()).collect();
                let began = Instant::now();
                let look = self.watcher.look(&roots);
                self.project.look();
                not_before = Instant::now() + began.elapsed() * PAUSE;
                unseen.take(&look);
                for mut pending in batch {
                    unseen.take_of(pending.planned.id(), &mut pending.outcome);
                    let strangers: Vec<Stranger> = of_sandbox(&look.strangers, pending.sandbox.root());
                    if strangers.is_empty() || pending.grace_over <= Instant::now() {
                        self.settle(pending, strangers, &mut tell);
                    } else {
                        held.push((pending, strangers));
                    }
                }
            }
            let now = Instant::now();
            for (mut pending, before) in held.extract_if(.., |(pending, _)| pending.grace_over <= now) {
                let root = [pending.sandbox.root().to_owned()];
                let again = |stranger: &Stranger| self.watcher.look_again(stranger.process.pid, &root);
                let strangers = before.iter().filter_map(again).collect();
                pending.let_go(before);
                self.settle(pending, strangers, &mut tell);
            }
        }
    }

    /// Waits for checks to look at, or for a held one's time. `None` when nothing is left and nothing will come.
    fn next(&self, not_before: Instant, next_held: Option<Instant>) -> Option<Vec<Pending<'a>>> {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            if next_held.is_some_and(|at| at <= now) {
                return Some(Vec::new());
            }
            let limit = if state.waiting.is_empty() {
                if state.closed && next_held.is_none() {
                    return None;
                }
                None
            } else if not_before <= now || state.busy == 0 {
                let batch = std::mem::take(&mut state.waiting);
                self.room.notify_all();
                return Some(batch);
            } else {
                Some(not_before - now)
            };
            if next_held.is_some() && self.is_stopped() {
                return Some(Vec::new());
            }
            // A stop announces itself to nobody here.
            let limit = [limit, next_held.map(|at| (at - now).min(STOP))].into_iter().flatten().min();
            state = self.wait(state, limit);
        }
    }

    fn settle(
        &self,
        mut pending: Pending<'a>,
        mut strangers: Vec<Stranger>,
        tell: &mut impl FnMut(usize, CheckReport),
    ) {
        for stranger in &mut strangers {
            if stranger.marked.is_some() && platform::end_stranger(stranger) {
                // What shares the check's locks starts when this is done.
                platform::wait_for_an_end(&[stranger.process.pid], DEATH);
            }
            pending.date(&mut stranger.process);
        }
        let index = pending.index;
        if pending.outcome.ended != Ended::Cancelled {
            // Where it moved its sandbox to is told by itself.
            let moved = pending.sandbox.moved_to();
            pending.left.extend(self.project.findings(index, &pending.places, moved.as_deref()));
        }
        tell(index, pending.finish(&strangers, self.options, self.tracked));
    }
}

/// Those that hold something of this sandbox, with that alone, or carry its mark.
fn of_sandbox(strangers: &[Stranger], root: &Path) -> Vec<Stranger> {
    strangers
        .iter()
        .filter_map(|stranger| {
            let mut stranger = stranger.clone();
            stranger.process.holds.retain(|hold| Path::new(&hold.path).starts_with(root));
            stranger.marked = stranger.marked.filter(|mark| mark == root);
            (!stranger.process.holds.is_empty() || stranger.marked.is_some()).then_some(stranger)
        })
        .collect()
}

impl Pending<'_> {
    /// Turns a start time after the machine's into one after the check's.
    fn date(&self, process: &mut Process) {
        process.started_ms = process.started_ms.map(|ms| ms - self.outcome.started_boot_ms.cast_signed());
    }

    /// Takes in what was seen of strangers at first: over what was removed by then it was removed, whether they let go of
    /// it since or not.
    fn let_go(&mut self, strangers: Vec<Stranger>) {
        for Stranger { mut process, .. } in strangers {
            process.holds.retain(|hold| hold.deleted);
            if !process.holds.is_empty() {
                self.date(&mut process);
                self.outcome.removed.push(process);
            }
        }
    }

    /// Probes, judges and cleans up.
    fn finish(self, strangers: &[Stranger], options: &Options, tracked: &Tracked<'_>) -> CheckReport {
        let Self {
            planned,
            program,
            places,
            outcome,
            reading,
            listed,
            mut left,
            hook,
            evidence,
            unsatisfied,
            lost,
            sandbox,
            started,
            handle,
            spare,
            ..
        } = self;
        let check = &planned.check();
        // Cases that never ran and have but a name are to blame for nothing.
        let told = |case: &Case| case.outcome != CaseOutcome::Unknown || case.at_ms.is_some();
        let cases = &reading.cases[..reading.cases.iter().rposition(told).map_or(0, |last| last + 1)];
        let blame = Blame { cases, complete: reading.counts.ran.is_some_and(|ran| ran == cases.len() as u64) };
        left.extend(probes::findings(&outcome, strangers, &places, &blame, &reading.frames, check));
        let shared = shared::named(&outcome.shared, check, &sandbox, &places);
        if outcome.ended != Ended::Cancelled {
            left.extend(shared::escaped(&shared, check));
            left.extend(names::found(check, &outcome, &sandbox, tracked, &blame));
            left.extend(names::made_by_command(check, &places.cwd, started));
            left.extend(probes::idle_faults(&outcome, check));
            left.extend(encoding::beyond_code_page(check, &outcome));
        }
        let mut facts = judge::Facts {
            ended: outcome.ended,
            exit: outcome.exit,
            reading: &reading,
            unsatisfied,
            lost,
            listed,
            found: left,
            at_limit: at_limit(&outcome),
            unstarted: unstarted::seen(check, &outcome, &reading),
            strict: options.strict,
            needs_proof: planned.needs_proof,
        };
        let of_teeth = planned.tooth.as_ref().zip(evidence.as_ref());
        let judge = |facts: &judge::Facts<'_>| {
            let judgement = judge::judge(check, facts);
            match of_teeth {
                Some((tooth, evidence)) => teeth::judged(tooth, judgement, &reading, evidence),
                None => judgement,
            }
        };
        let mut judgement = judge(&facts);

        let keep = match options.keep {
            Keep::Never => false,
            Keep::Failed => judgement.verdict.is_red(),
            Keep::Always => true,
        };
        let kept = |captured, name| if keep { output::keep(captured, sandbox.root(), name) } else { None };
        let stdout = output::output(&outcome.stdout, kept(&outcome.stdout, "stdout"));
        let stderr = output::output(&outcome.stderr, kept(&outcome.stderr, "stderr"));
        // A lane's folder that is kept stays with all that is in it, so no spare ones are to be there.
        let may_be_spare = is_as_new(planned, &outcome, &sandbox) && options.keep == Keep::Never;
        let mut unremovable = Vec::new();
        if keep {
            if let Some(handle) = handle {
                handle.keep_folder();
            }
            sandbox.tmpdir().into_iter().for_each(OneTmpdir::keep);
        } else if !(may_be_spare && judgement.findings.is_empty() && spare.give_back(&sandbox)) {
            unremovable = removal(&sandbox);
        }
        let kept = keep.then(|| sandbox.root().display().to_string());
        unremovable.extend(sandbox.last_of_tmpdir().into_iter().flat_map(OneTmpdir::remove));
        if !unremovable.is_empty() {
            facts.found.extend(unremovable);
            judgement = judge(&facts);
        }

        let (processes, stdout_end_ms, hook) = match hook {
            Some(Hook { report, processes }) => {
                let ends: Option<Vec<u64>> = report.calls.iter().map(|call| call.stdout_end_ms).collect();
                (processes, ends.and_then(|ends| ends.into_iter().max()), Some(report))
            }
            None => (records::processes(&outcome), outcome.stdout.end_us.map(|us| us / 1000), None),
        };
        let cases = match planned.tooth.as_deref() {
            // Those of a project that is broken on purpose are none of its own.
            Some(Tooth::Edited { .. }) if judgement.verdict == Verdict::Passed => Cases::default(),
            _ => Cases::new(judgement.counts, reading.cases),
        };
        CheckReport {
            argv: program.argv,
            cwd: Some(records::shown_cwd(&places, keep)),
            exit: outcome.exit,
            started: Some(timestamp(started)),
            duration_ms: outcome.duration_us / 1000,
            stdout_end_ms,
            reader: reading.reader,
            cases,
            frames: reading.frames,
            findings: judgement.findings,
            processes,
            stdout,
            stderr,
            kept,
            notes: [
                reading.notes,
                planting::told(check, &places, judgement.verdict),
                probes::made_faults(&outcome, check, &places),
                outcome.notes,
            ]
            .concat(),
            hook,
            shared,
            ..records::empty(check, judgement.verdict, judgement.reason)
        }
    }
}

/// What the processes were doing when the time limit came.
pub fn at_limit(outcome: &Outcome) -> Option<String> {
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

/// Whether nothing was put into the sandbox, and nothing happened to it.
fn is_as_new(planned: &Planned, outcome: &Outcome, sandbox: &Sandbox) -> bool {
    let check = &planned.check();
    outcome.untouched
        && check.fact.is_none()
        && check.files.is_empty()
        && check.plant.is_empty()
        && check.forbid.is_empty()
        && check.cwd != Cwd::Copy
        && planned.tooth.is_none()
        && sandbox.tmpdir().is_none()
}
