//! The programs that checks need: whether they are there, and which version.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::life::{Life, Ready};
use super::sandbox::Sandbox;
use super::slot::Slot;
use super::{faults, planting, surroundings};
use crate::model::{Check, CheckCommand, Cwd, Exit, Need};
use crate::platform::{self, Ended, LaneError};
use crate::words::shown;

/// How long a program may take to tell its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// Most say `--version`; Go and a few others want the word alone.
const FORMS: [&str; 2] = ["--version", "version"];

/// A program that was looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    Missing,
    /// With its version, if it told one.
    Here(Option<String>),
}

/// Why a check can't run here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// A program that it needs is missing.
    Broken(String),
    /// A program that it could do without is missing, or its surroundings can't be changed so.
    Skipped(String),
}

/// Whether a check can be run.
#[derive(Debug)]
pub enum Fit {
    Fits,
    Unfit(Unfit),
    /// The supervisor that asked for a version was lost.
    Lost(LaneError),
    /// The run was stopped before that was known.
    NotReached,
}

/// Where a program was found: the `PATH`, and the file. The same file may do different things for another `PATH`.
type Place = (Option<OsString>, PathBuf);

/// A program's version as it told it, if it did; `None` before it was asked. Whoever asks has the lock.
type Answer = Arc<Mutex<Option<Option<String>>>>;

/// What is known of programs, for all lanes of a run. What is missing is looked for again: a setup may install it.
#[derive(Debug, Default)]
pub struct Programs {
    answers: Mutex<HashMap<Place, Answer>>,
    told: Mutex<BTreeMap<String, Option<String>>>,
}

impl Programs {
    fn answer(&self, place: Place) -> Answer {
        Arc::clone(self.answers.lock().unwrap_or_else(PoisonError::into_inner).entry(place).or_default())
    }

    fn tell(&self, program: &str, found: &Found) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let known = told.entry(program.to_owned()).or_default();
        if let (None, Found::Here(version)) = (&known, found) {
            known.clone_from(version);
        }
    }

    /// The version of every program that was looked for; `None` for one that is missing or does not tell.
    #[must_use]
    pub fn told(self) -> BTreeMap<String, Option<String>> {
        self.told.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Life<'_> {
    /// Looks for every program that a check needs, where the check itself would find it, and in its environment. Each
    /// is asked for its version once, under the lane's supervision.
    pub fn fit(&self, check: &Check, slot: &mut Slot<'_>, programs: &Programs, stop: &AtomicBool) -> Fit {
        let in_the_way = surroundings::in_the_way(check, &self.caller, &self.plan.project);
        if let Some(why) = in_the_way.or_else(|| planting::in_the_way(check)).or_else(|| faults::in_the_way(check)) {
            return Fit::Unfit(Unfit::Skipped(why));
        }
        if check.needs.is_empty() {
            return Fit::Fits;
        }
        let sandbox = match slot.sandbox() {
            Ok(sandbox) => sandbox,
            Err(why) => return Fit::Unfit(Unfit::Broken(why)),
        };
        let mut found = BTreeMap::new();
        let mut unknown = None;
        for Need { program, .. } in &check.needs {
            match self.look_for(program, check, &sandbox, slot, programs, stop) {
                Ok(looked) => {
                    programs.tell(program, &looked);
                    found.insert(program.clone(), looked);
                }
                Err(fit) => {
                    unknown = Some(fit);
                    break;
                }
            }
        }
        // The check gets one that nothing was started in.
        let _ = platform::remove_tree(sandbox.root());
        unknown.unwrap_or_else(|| unfit(check, &found).map_or(Fit::Fits, Fit::Unfit))
    }

    fn look_for(
        &self,
        program: &str,
        check: &Check,
        sandbox: &Sandbox,
        slot: &mut Slot<'_>,
        programs: &Programs,
        stop: &AtomicBool,
    ) -> Result<Found, Fit> {
        let ask = Check {
            // What is in the project is in its copy, too.
            cwd: if check.cwd == Cwd::Sandbox { Cwd::Sandbox } else { Cwd::Project },
            home: check.home,
            env: check.env.clone(),
            inherit: check.inherit.clone(),
            timeout: PATIENCE,
            grace: Duration::ZERO,
            ..Check::new(check.id.clone(), CheckCommand::Argv(vec![program.to_owned(), FORMS[0].to_owned()]))
        };
        // There is nothing that could be in the way of such a check but the program.
        let Ok(Ready { mut job, .. }) = self.prepare(&ask, sandbox) else { return Ok(Found::Missing) };
        job.cwd = sandbox.work();
        job.roots = Vec::new();
        let path = job.env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let answer = programs.answer((path, job.program.clone()));
        let mut answer = answer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*answer {
            return Ok(Found::Here(known.clone()));
        }
        let mut told = None;
        for form in FORMS {
            if stop.load(Ordering::SeqCst) {
                return Err(Fit::NotReached);
            }
            if let Some(word) = job.argv.last_mut() {
                *word = form.into();
            }
            let outcome = match slot.run(&job) {
                Ok(outcome) => outcome,
                Err(_) if stop.load(Ordering::SeqCst) => return Err(Fit::NotReached),
                Err(error) => return Err(Fit::Lost(error)),
            };
            match outcome.ended {
                Ended::Cancelled => return Err(Fit::NotReached),
                // Nor would it tell in another form.
                Ended::Timeout => break,
                Ended::ByItself if outcome.exit == Some(Exit::Code(0)) => {
                    let said = [&outcome.stdout, &outcome.stderr].map(|captured| shown(&captured.memory));
                    told = said.iter().find_map(|text| version(text));
                    if told.is_some() {
                        break;
                    }
                }
                Ended::ByItself => {}
            }
        }
        *answer = Some(told.clone());
        Ok(Found::Here(told))
    }
}

/// The first thing in a text that looks like a version: numbers with dots between them.
pub fn version(text: &str) -> Option<String> {
    let is_version = |word: &&str| word.contains('.') && word.split('.').all(|part| !part.is_empty());
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .map(|word| word.trim_matches('.'))
        .find(is_version)
        .map(str::to_owned)
}

/// Whether a check can run with what was found.
#[must_use]
fn unfit(check: &Check, found: &BTreeMap<String, Found>) -> Option<Unfit> {
    // What breaks it counts before what merely skips it.
    let (optional, needed): (Vec<&Need>, Vec<&Need>) = check.needs.iter().partition(|need| need.optional);
    let lack = |need: &&Need| lacking(need, found.get(&need.program));
    needed.iter().find_map(lack).map(Unfit::Broken).or_else(|| optional.iter().find_map(lack).map(Unfit::Skipped))
}

fn lacking(need: &Need, found: Option<&Found>) -> Option<String> {
    let program = &need.program;
    let version = match found {
        Some(Found::Here(version)) => version,
        Some(Found::Missing) | None => return Some(format!("needs {program}, which is not installed or not on PATH")),
    };
    let least = need.at_least.as_ref()?;
    let wanted = least.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
    let Some(version) = version else {
        return Some(format!("needs {program} {wanted} or newer, and {program} does not tell its version"));
    };
    let numbers: Vec<u64> = version.split('.').map(|part| part.parse().unwrap_or(u64::MAX)).collect();
    (numbers < *least).then(|| format!("needs {program} {wanted} or newer, found {version}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_say() {
        for (text, wanted) in [
            ("Python 3.11.7\n", Some("3.11.7")),
            ("git version 2.47.3 (Apple Git-1)\n", Some("2.47.3")),
            ("v20.20.2\n", Some("20.20.2")),
            ("go version go1.22.1 linux/amd64\n", Some("1.22.1")),
            ("jq-1.6\n", Some("1.6")),
            ("no number here.\n", None),
            ("version 5\n", None),
        ] {
            assert_eq!(version(text).as_deref(), wanted, "{text:?}");
        }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let need = |at_least: &[u64]| Need { program: "p".into(), at_least: Some(at_least.to_vec()), optional: false };
        let here = Found::Here(Some("3.11.7".into()));
        assert_eq!(lacking(&need(&[3, 9]), Some(&here)), None);
        assert_eq!(lacking(&need(&[3, 11, 7]), Some(&here)), None);
        assert!(lacking(&need(&[3, 12]), Some(&here)).is_some());
        assert!(lacking(&need(&[3]), Some(&Found::Here(None))).is_some());
        assert!(lacking(&need(&[3]), Some(&Found::Missing)).is_some());
    }
}
