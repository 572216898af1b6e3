//! Which check is next: in the order of the plan, never two with a common lock, setups before their checks.
//!
//! Variants of one check come one after the other, but for its copies, and for combinations of its matrix that may run beside
//! each other ([`Planned::beside`]).

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::plan::{Plan, Planned, Tooth};

/// What came of a setup. `Err` says why its checks can't run.
pub type SetupResult = Result<(), String>;

/// What a lane is to do next.
#[derive(Debug, PartialEq, Eq)]
pub enum Work {
    /// Run this setup, and tell.
    Setup(usize),
    /// Run this check; `Err` if its setup failed.
    Check(usize, SetupResult),
    /// Run these copies of a check at the same moment; `Err` if their setup failed.
    Together(Vec<usize>, SetupResult),
}

/// The queue that all lanes share.
pub struct Schedule<'a> {
    plan: &'a Plan,
    state: Mutex<State>,
    changed: Condvar,
    /// Once set, nothing more is handed out.
    stop: Arc<AtomicBool>,
    fail_fast: bool,
    /// The checks that may run again once they ran.
    returning: HashSet<usize>,
}

#[derive(Default)]
struct State {
    waiting: Vec<usize>,
    /// By how many that run each lock is held: copies hold theirs together.
    locked: HashMap<String, usize>,
    /// By the id of their check, the variants of which something is left.
    variants: HashMap<Arc<str>, Vec<usize>>,
    /// Those of these whose processes may still run.
    live: HashSet<usize>,
    /// Those that ran while another variant of their check did.
    accompanied: HashSet<usize>,
    /// Those that are to run again without any other variant of their check.
    alone: HashSet<usize>,
    setups: Vec<Setup>,
    /// Checks whose verdicts are known, with why others can't run after them. Only those that somebody waits for.
    judged: HashMap<usize, SetupResult>,
    /// How many run that may run again.
    away: usize,
    /// Nothing more is to be started, and no verdict is to be waited for.
    enough: bool,
}

#[derive(Clone, PartialEq, Eq)]
enum Setup {
    NotRun,
    Running,
    Done(SetupResult),
}

impl<'a> Schedule<'a> {
    /// Everything in the plan that is to run. With `fail_fast` the first red check is the last that is started.
    #[must_use]
    pub fn new(
        plan: &'a Plan,
        runnable: impl IntoIterator<Item = usize>,
        stop: Arc<AtomicBool>,
        fail_fast: bool,
    ) -> Self {
        let mut waiting: Vec<usize> = runnable.into_iter().collect();
        waiting.reverse();
        let setups = plan.setups.iter().map(|_| Setup::NotRun).collect();
        let state = State { waiting, setups, ..State::default() };
        Self { plan, state: Mutex::new(state), changed: Condvar::new(), stop, fail_fast, returning: HashSet::new() }
    }

    /// This one, with checks that may run again once they ran: while one of them runs, there may be more to do.
    #[must_use]
    pub fn returning(self, returning: HashSet<usize>) -> Self {
        Self { returning, ..self }
    }

    /// Waits for something to do. `None` when all is done or the run was stopped: whoever
    /// waits here waits for another check to be settled, and that comes soon after a stop.
    pub fn next(&self) -> Option<Work> {
        let mut state = self.lock();
        loop {
            if self.stop.load(Ordering::SeqCst) || state.enough || (state.waiting.is_empty() && state.away == 0) {
                return None;
            }
            if let Some(work) = self.choose(&mut state) {
                return Some(work);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn choose(&self, state: &mut State) -> Option<Work> {
        // The first in order is the last in the vector.
        for at in (0..state.waiting.len()).rev() {
            let index = state.waiting[at];
            let planned = &self.plan.checks[index];
            let setup = planned.setup.map(|setup| (setup, state.setups[setup].clone()));
            let result = match setup {
                None => Ok(()),
                Some((_, Setup::Done(result))) => result,
                Some((_, Setup::Running)) => continue,
                Some((setup, Setup::NotRun)) => {
                    state.setups[setup] = Setup::Running;
                    return Some(Work::Setup(setup));
                }
            };
            if planned.locks.iter().any(|lock| state.locked.contains_key(lock)) || !self.may_join(state, index) {
                continue;
            }
            let Some(before) = before(planned, state) else { continue };
            let result = result.and(before);
            if !planned.variant.is_copy() {
                state.waiting.remove(at);
                self.hand_out(state, index);
                return Some(Work::Check(index, result));
            }
            let is_beside = |other: &usize| self.plan.checks[*other].variant.runs_with(&planned.variant);
            let mut together: Vec<usize> = state.waiting.iter().copied().filter(is_beside).collect();
            together.sort_unstable();
            state.waiting.retain(|index| !together.contains(index));
            for &index in &together {
                self.hand_out(state, index);
            }
            return Some(Work::Together(together, result));
        }
        None
    }

    /// Whether a check may start while those variants of it run that do.
    fn may_join(&self, state: &State, index: usize) -> bool {
        let joins = |index: &usize| self.plan.checks[*index].beside && !state.alone.contains(index);
        let others = state.variants.get(&*self.plan.checks[index].variant.of);
        others.is_none_or(|others| joins(&index) && others.iter().all(joins))
    }

    fn hand_out(&self, state: &mut State, index: usize) {
        let planned = &self.plan.checks[index];
        for lock in &*planned.locks {
            *state.locked.entry(lock.clone()).or_default() += 1;
        }
        let variants = state.variants.entry(Arc::clone(&planned.variant.of)).or_default();
        let others: Vec<usize> = variants.iter().copied().filter(|other| state.live.contains(other)).collect();
        if planned.beside && !others.is_empty() {
            state.accompanied.extend(others);
            state.accompanied.insert(index);
        }
        variants.push(index);
        state.live.insert(index);
        state.judged.remove(&index);
        state.away += usize::from(self.returning.contains(&index));
    }

    /// A setup is over.
    pub fn setup_done(&self, setup: usize, result: SetupResult) {
        self.lock().setups[setup] = Setup::Done(result);
        self.changed.notify_all();
    }

    /// A check is judged; `Err` if it is red, with why what depends on it can't run.
    pub fn judged(&self, index: usize, verdict: SetupResult) {
        let is_awaited = matches!(self.plan.checks[index].tooth.as_deref(), Some(Tooth::Whole { .. }));
        if self.fail_fast || is_awaited {
            let mut state = self.lock();
            state.enough |= self.fail_fast && verdict.is_err();
            state.judged.insert(index, verdict);
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits for the verdict on a check, if it decides whether another one is started.
    pub fn wait_for_verdict(&self, index: usize) {
        let mut state = self.lock();
        while self.fail_fast && !state.enough && !state.judged.contains_key(&index) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// No verdict will come any more.
    pub fn close(&self) {
        self.lock().enough = true;
        self.changed.notify_all();
    }

    /// The processes of a check have ended.
    pub fn ended(&self, index: usize) {
        self.lock().live.remove(&index);
    }

    /// Whether another variant of its check was there when a check ran. That is forgotten with the answer.
    pub fn was_accompanied(&self, index: usize) -> bool {
        self.lock().accompanied.remove(&index)
    }

    /// Nothing of a check is left; what shared its locks may start.
    pub fn check_done(&self, index: usize) {
        self.leave(&mut self.lock(), index);
        self.changed.notify_all();
    }

    /// Nothing of a check is left, and it is to run again, after all that wait now; `alone`: without other variants of its
    /// check.
    pub fn again(&self, index: usize, alone: bool) {
        let mut state = self.lock();
        self.leave(&mut state, index);
        if alone {
            state.alone.insert(index);
        }
        state.waiting.insert(0, index);
        if self.fail_fast {
            // So far it is not red.
            state.judged.insert(index, Ok(()));
        }
        drop(state);
        self.changed.notify_all();
    }

    fn leave(&self, state: &mut State, index: usize) {
        let planned = &self.plan.checks[index];
        for lock in &*planned.locks {
            if let Some(held) = state.locked.get_mut(lock) {
                *held -= 1;
                if *held == 0 {
                    state.locked.remove(lock);
                }
            }
        }
        if let Some(variants) = state.variants.get_mut(&*planned.variant.of) {
            variants.retain(|other| *other != index);
            if variants.is_empty() {
                state.variants.remove(&*planned.variant.of);
            }
        }
        state.live.remove(&index);
        state.alone.remove(&index);
        state.away -= usize::from(self.returning.contains(&index));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What came of the check that this one is an edited form of; `None` while that is not known.
fn before(planned: &Planned, state: &State) -> Option<SetupResult> {
    match planned.tooth.as_deref() {
        Some(Tooth::Edited { of, .. }) => state.judged.get(of).cloned(),
        _ => Some(Ok(())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Break, Check, CheckCommand};
    use crate::plan::{Change, Variant};

    fn plan(checks: &[(&str, &[&str], Option<usize>)]) -> Plan {
        let checks = checks
            .iter()
            .map(|(id, locks, setup)| {
                let check = Check::new(*id, CheckCommand::Argv(vec!["x".into()]));
                let locks = locks.iter().map(|&lock| lock.to_owned()).collect();
                let mut planned = Planned::new(Arc::new(check), Variant::plain(id));
                (planned.locks, planned.setup) = (locks, *setup);
                planned
            })
            .collect();
        Plan { project: "/".into(), checks, setups: vec![Vec::new()], manifests: crate::model::Manifests::default() }
    }

    #[test]
    fn checks_come_in_order_and_a_lock_keeps_one_back() {
        let plan = plan(&[("a", &["port"], None), ("b", &["port", "db"], None), ("c", &[], None)]);
        let schedule = Schedule::new(&plan, 0..3, Arc::default(), false);
        assert_eq!(schedule.next(), Some(Work::Check(0, Ok(()))));
        assert_eq!(schedule.next(), Some(Work::Check(2, Ok(()))), "b waits for the lock of a");
        schedule.check_done(0);
        assert_eq!(schedule.next(), Some(Work::Check(1, Ok(()))));
        assert_eq!(schedule.next(), None);
    }

    #[test]
    fn a_setup_runs_once_and_its_failure_reaches_every_check_of_its_file() {
        let plan = plan(&[("a", &[], Some(0)), ("b", &[], Some(0)), ("c", &[], None)]);
        let schedule = Schedule::new(&plan, 0..3, Arc::default(), false);
        assert_eq!(schedule.next(), Some(Work::Setup(0)));
        assert_eq!(schedule.next(), Some(Work::Check(2, Ok(()))), "c needs no setup");
        schedule.setup_done(0, Err("it failed".into()));
        assert_eq!(schedule.next(), Some(Work::Check(0, Err("it failed".into()))));
        assert_eq!(schedule.next(), Some(Work::Check(1, Err("it failed".into()))));
    }

    #[test]
    fn a_lane_that_waits_is_woken_by_the_end_of_another_check() {
        let plan = plan(&[("a", &["l"], None), ("b", &["l"], None)]);
        let schedule = Schedule::new(&plan, 0..2, Arc::default(), false);
        assert_eq!(schedule.next(), Some(Work::Check(0, Ok(()))));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| schedule.next());
            schedule.check_done(0);
            assert_eq!(waiting.join().expect("no panic"), Some(Work::Check(1, Ok(()))));
        });
    }

    #[test]
    fn nothing_follows_the_first_red_check_and_verdicts_are_waited_for() {
        let plan = plan(&[("a", &[], None), ("b", &[], None), ("c", &[], None)]);
        let schedule = Schedule::new(&plan, 0..3, Arc::default(), true);
        assert_eq!(schedule.next(), Some(Work::Check(0, Ok(()))));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| schedule.wait_for_verdict(0));
            schedule.judged(0, Ok(()));
            waiting.join().expect("no panic");
        });
        assert_eq!(schedule.next(), Some(Work::Check(1, Ok(()))));
        schedule.judged(1, Err("red".into()));
        schedule.wait_for_verdict(1);
        assert_eq!(schedule.next(), None);

        let schedule = Schedule::new(&plan, 0..3, Arc::default(), false);
        schedule.judged(0, Err("red".into()));
        schedule.wait_for_verdict(2);
        assert!(schedule.next().is_some(), "without --fail-fast a verdict changes nothing");
    }

    #[test]
    fn a_check_that_returns_is_waited_for_and_comes_after_the_others() {
        let plan = plan(&[("a", &[], None), ("b", &[], None)]);
        let schedule = Schedule::new(&plan, 0..2, Arc::default(), false).returning([0].into());
        assert_eq!(schedule.next(), Some(Work::Check(0, Ok(()))));
        schedule.again(0, false);
        assert_eq!(schedule.next(), Some(Work::Check(1, Ok(()))));
        assert_eq!(schedule.next(), Some(Work::Check(0, Ok(()))));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| schedule.next());
            schedule.again(0, false);
            assert_eq!(waiting.join().expect("no panic"), Some(Work::Check(0, Ok(()))));
        });
        schedule.check_done(0);
        assert_eq!(schedule.next(), None);
    }

    #[test]
    fn copies_are_handed_out_together_and_keep_others_back_until_all_are_done() {
        let mut plan = plan(&[("a#1", &["l"], None), ("b", &["l"], None), ("a#2", &["l"], None)]);
        for (index, number) in [(0, 1), (2, 2)] {
            plan.checks[index].variant = Variant::plain("a").with(Change::Copy(number));
        }
        let schedule = Schedule::new(&plan, 0..3, Arc::default(), false).returning([0, 2].into());
        let together = || Some(Work::Together(vec![0, 2], Ok(())));
        assert_eq!(schedule.next(), together());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| schedule.next());
            schedule.again(0, false);
            schedule.again(2, false);
            assert_eq!(waiting.join().expect("no panic"), Some(Work::Check(1, Ok(()))), "both were away");
        });
        schedule.check_done(1);
        assert_eq!(schedule.next(), together());
        schedule.check_done(0);
        schedule.check_done(2);
        assert_eq!(schedule.next(), None);
    }

    #[test]
    fn variants_come_one_after_the_other_but_for_those_that_may_run_beside_each_other() {
        let mut plan = plan(&[("a[1]", &[], None), ("a[2]", &[], None), ("a[locale]", &[], None), ("b", &[], None)]);
        for (index, beside) in [(0, true), (1, true), (2, false)] {
            plan.checks[index].variant = Variant::plain("a");
            plan.checks[index].beside = beside;
        }
        let schedule = Schedule::new(&plan, 0..4, Arc::default(), false).returning([0, 1].into());
        let next = || match schedule.next() {
            Some(Work::Check(index, Ok(()))) => Some(index),
            None => None,
            other => panic!("{other:?}"),
        };
        assert_eq!((next(), next(), next()), (Some(0), Some(1), Some(3)), "a[locale] waits for both");
        schedule.ended(0);
        assert!(schedule.was_accompanied(0) && !schedule.was_accompanied(0) && !schedule.was_accompanied(3));
        schedule.again(0, true);
        schedule.check_done(3);
        schedule.ended(1);
        schedule.check_done(1);
        assert_eq!(next(), Some(2));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(next);
            schedule.check_done(2);
            assert_eq!(waiting.join().expect("no panic"), Some(0), "alone");
        });
        assert!(!schedule.was_accompanied(0));
        schedule.check_done(0);
        assert_eq!(next(), None);
    }

    #[test]
    fn an_edited_check_waits_for_what_is_said_of_it_as_it_is() {
        let mut plan = plan(&[("a!0", &[], None), ("a!1", &[], None), ("b", &[], None)]);
        plan.checks[0].tooth = Some(Box::new(Tooth::Whole { expects: Vec::new() }));
        let made = Break { edits: Vec::new(), expect: "unmet".into() };
        plan.checks[1].tooth = Some(Box::new(Tooth::Edited { of: 0, number: 1, made }));
        for verdict in [Ok(()), Err("it is red as it is".to_owned())] {
            let schedule = Schedule::new(&plan, 0..3, Arc::default(), false);
            assert_eq!(schedule.next(), Some(Work::Check(0, Ok(()))));
            assert_eq!(schedule.next(), Some(Work::Check(2, Ok(()))));
            std::thread::scope(|scope| {
                let waiting = scope.spawn(|| schedule.next());
                schedule.judged(0, verdict.clone());
                assert_eq!(waiting.join().expect("no panic"), Some(Work::Check(1, verdict)));
            });
        }
    }

    #[test]
    fn a_stop_ends_the_waiting() {
        let plan = plan(&[("a", &["l"], None), ("b", &["l"], None)]);
        let stop = Arc::<AtomicBool>::default();
        let schedule = Schedule::new(&plan, 0..2, Arc::clone(&stop), false);
        assert!(schedule.next().is_some());
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| schedule.next());
            stop.store(true, Ordering::SeqCst);
            schedule.check_done(0);
            assert_eq!(waiting.join().expect("no panic"), None);
        });
    }
}
