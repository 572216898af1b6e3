//! A hook's check from its sandbox to the end of its calls.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::alone::rounds;
use super::call::Call;
use super::case::{Case, Seen};
use super::chosen::chosen;
use super::find::{Found, find};
use super::input::{Input, input};
use super::proof::watched;
use super::told::Told;
use crate::model::{Check, Cwd, EventInput, HookEvent, HookRef, Verdict};
use crate::plan::Planned;
use crate::platform::{Ended, Job, LaneError, Reads};
use crate::probes::Places;
use crate::run::life::{Half, Life, Ready, keep_what_concerns};
use crate::run::planting::Planted;
use crate::run::program::Program;
use crate::run::removal::removal;
use crate::run::residue;
use crate::run::sandbox::Sandbox;
use crate::run::settle::{Hook, Pending};
use crate::run::slot::Slot;
use crate::run::teeth::{Bite, Evidence};
use crate::run::{eventually, forbid, records};

/// Why a check's hook was not called, or not for all of its events.
enum Stopped {
    /// A sentence.
    Why(String),
    /// A supervisor was lost.
    Lost(LaneError, Vec<String>),
}

impl From<String> for Stopped {
    fn from(why: String) -> Self {
        Self::Why(why)
    }
}

/// What one event's calls are made with.
struct Setting<'s> {
    check: &'s Check,
    found: &'s Found,
    places: &'s Places,
    sandbox: &'s Sandbox,
    /// When the check's own time is over.
    deadline: Instant,
}

impl<'a> Life<'a> {
    /// Takes a hook's check from its sandbox to the end of its calls.
    pub fn begin_hook(&self, index: usize, hook: &HookRef, sandbox: Sandbox, slot: &mut Slot<'_>) -> Half<'a> {
        let planned = &self.plan.checks[index];
        let check = &planned.check();
        let started = SystemTime::now();
        let mut report = match self.call_all(planned, hook, &sandbox, slot) {
            Ok((told, places, bite, outside)) => {
                let Told { report, reading, left, processes, outcome, argv, .. } = told;
                let mut pending = Pending {
                    index,
                    planned,
                    program: Program { file: argv.first().map(Into::into).unwrap_or_default(), argv },
                    places,
                    outcome,
                    reading,
                    listed: None,
                    left,
                    hook: Some(Hook { report, processes }),
                    // What its calls wrote is told in what is said of them.
                    evidence: planned
                        .tooth
                        .as_ref()
                        .map(|_| Evidence { read: bite.map(|bite| bite.read(&self.copied)), said: Vec::new() }),
                    unsatisfied: Vec::new(),
                    lost: Vec::new(),
                    sandbox,
                    started,
                    grace_over: Instant::now() + check.grace,
                    handle: slot.handle(),
                    spare: slot.spare(),
                };
                self.look_outside(&outside, &mut pending, slot);
                return Half::Pending(Box::new(pending));
            }
            Err(Stopped::Why(why)) => records::not_run(check, Verdict::Broken, why),
            Err(Stopped::Lost(error, argv)) => records::lost(check, argv, &error),
        };
        report.findings.extend(removal(&sandbox));
        Half::Told(Box::new(report))
    }

    fn call_all(
        &self,
        planned: &Planned,
        hook: &HookRef,
        sandbox: &Sandbox,
        slot: &mut Slot<'_>,
    ) -> Result<(Told, Places, Option<Bite>, residue::Before), Stopped> {
        let check = &planned.check();
        let wired = self.reading.wired(self.plan);
        let (places, bite) = {
            let copies = check.cwd == Cwd::Copy || planned.tooth.is_some();
            let _copying = copies.then(|| self.reading.by_any(self.plan));
            self.stage(planned, sandbox)?
        };
        let outside = residue::Before::now(self, check, sandbox, &places, slot)?;
        let found = match wired.in_project(&places.project, hook) {
            Some(own) => find(hook, &own)?,
            None => find(hook, &wired.wirings)?,
        };
        let wiring = places.project.join(hook.file.trim_start_matches("./"));
        let bite = bite.map(|bite| bite.afresh(&wiring));
        // Its time begins when its scripts are its own.
        let commands = found.wirings.iter().flat_map(|wiring| &wiring.commands);
        let files: Vec<_> = commands.flat_map(|command| watched(command, &places.project)).collect();
        let _alone = self.reading.alone(&files);
        let deadline = Instant::now() + check.timeout;
        let setting = Setting { check, found: &found, places: &places, sandbox, deadline };
        let plants = Planted::before(check, sandbox, &places)?;
        let mut told = Told::new(&found, check);
        for (at, event) in check.events.iter().enumerate() {
            if Instant::now() >= deadline {
                told.case(Case::never(event, at, "the check's own time limit was over before"));
                continue;
            }
            let ended = self.call_for(event, at, &setting, slot, &mut told)?;
            if told.is_cancelled() {
                break;
            }
            if at + 1 == check.events.len() {
                told.left.extend(eventually::unmet(check, &places, ended, &self.stop));
            }
        }
        told.left.extend(plants.after(&places));
        Ok((told, places, bite, outside))
    }

    /// Calls the hook for one event, all of its commands at once. Returns when the first processes had ended.
    fn call_for(
        &self,
        event: &HookEvent,
        at: usize,
        setting: &Setting<'_>,
        slot: &mut Slot<'_>,
        told: &mut Told,
    ) -> Result<Instant, Stopped> {
        let Setting { check, found, places, sandbox, .. } = *setting;
        let file = match &event.input {
            EventInput::File(name) => Some(self.input(check, Path::new(name), &places.project)?),
            EventInput::Sample(_) => None,
        };
        let input = input(event, at + 1, found, file, &places.project, sandbox)?;
        let mut case = Case::new(event, at, told.is_cold());
        let wirings = match chosen(&found.wirings, input.json.as_ref(), told.is_cold()) {
            Ok(wirings) => wirings,
            Err(why) => {
                told.case(case.without(why));
                return Ok(Instant::now());
            }
        };
        let mut calls = Vec::new();
        for wiring in wirings {
            let call = Call::of(wiring, &input.args, &places.project, sandbox)?;
            let files = call.watched.clone();
            calls.push((call, files));
        }
        let mut ended = Instant::now();
        // One that is to wait makes all wait.
        let in_turn = calls.iter().any(|(call, _)| call.wiring.flow.in_turn);
        for round in rounds(calls, in_turn) {
            ended = self.call_at_once(round, &input, setting, slot, &mut case)?;
        }
        told.case(case);
        Ok(ended)
    }

    /// Calls commands at once. Returns when the first processes had ended.
    fn call_at_once(
        &self,
        calls: Vec<Call<'_>>,
        input: &Input,
        setting: &Setting<'_>,
        slot: &mut Slot<'_>,
        case: &mut Case,
    ) -> Result<Instant, Stopped> {
        let Setting { check, places, .. } = *setting;
        let mut ready: Vec<(Call<'_>, Ready)> = Vec::new();
        for call in calls {
            match self.made_ready(&call, input, setting) {
                Ok(one) => ready.push((call, one)),
                Err(why) => case.not_started(&call, &why),
            }
        }
        let files: Vec<_> = ready.iter().flat_map(|(call, _)| call.watched.clone()).collect();
        let watch = Reads::watch(&files).ok();
        let jobs: Vec<Job> = ready.iter().map(|(_, one)| one.job.clone()).collect();
        let (started, began) = (SystemTime::now(), Instant::now());
        let outcomes = slot.run_all(&jobs);
        let read: Option<Vec<PathBuf>> = watch.map(|reads| reads.seen().into_iter().map(|(file, _)| file).collect());
        let (mut ended, mut longest) = (began, 0);
        for ((call, one), outcome) in ready.into_iter().zip(outcomes) {
            let mut outcome = outcome.map_err(|error| Stopped::Lost(error, one.program.argv.clone()))?;
            keep_what_concerns(&mut outcome, places, started);
            forbid::take(check, &places.sandbox, &mut outcome, started);
            longest = longest.max(outcome.duration_us);
            if outcome.ended == Ended::ByItself {
                ended = ended.max(began + Duration::from_micros(outcome.duration_us));
            }
            let (argv, read) = (one.program.argv, read.as_deref());
            case.seen(Seen { call: &call, argv, outcome, read, places, check });
        }
        case.duration_us += longest;
        Ok(ended)
    }

    /// A call as a job, with its host's environment, folder and time limit.
    fn made_ready(&self, call: &Call<'_>, input: &Input, setting: &Setting<'_>) -> Result<Ready, String> {
        let Setting { check, places, sandbox, deadline, .. } = *setting;
        let own = check.env.clone();
        let env = call.env.iter().map(|(name, value)| (name.clone(), Some(value.clone()))).chain(own).collect();
        let left = deadline.saturating_duration_since(Instant::now());
        let limit = call.wiring.limit.as_ref().map(|limit| Duration::from_millis(limit.ms));
        let as_check = Check {
            command: call.started_as.clone(),
            env,
            stdin: None,
            timeout: limit.map_or(left, |limit| limit.min(left)),
            ..check.clone()
        };
        let cwd = call.command.cwd.as_ref().map_or_else(|| places.cwd.clone(), |below| places.project.join(below));
        let places = Places { cwd, ..places.clone() };
        let mut ready = self.prepare_in(&as_check, sandbox, places.clone()).or_else(|why| {
            let second = call.without_bash().ok_or(why)?;
            self.prepare_in(&Check { command: second, ..as_check.clone() }, sandbox, places)
        })?;
        ready.job.stdin.clone_from(&input.stdin);
        Ok(ready)
    }
}
