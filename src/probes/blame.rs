//! The case during which something came about.

use crate::model::{Case, Process};

/// What is known of a check's cases.
#[derive(Debug, Clone, Copy)]
pub struct Blame<'a> {
    pub cases: &'a [Case],
    /// Whether `cases` has every case that ran: only then does the order of times say anything.
    pub complete: bool,
}

/// How exact a process's start is known, in milliseconds: a clock tick of Linux.
const TICK: u64 = 10;

impl Blame<'_> {
    /// The case that started the process, or that made the path it holds: what the sub-runner left in the process's
    /// environment, else a case whose name the path carries, else the one that ran when the process started.
    #[must_use]
    pub fn case(&self, process: &Process, path: Option<&str>) -> Option<String> {
        self.by_hint(process).or_else(|| self.by_path(path?)).or_else(|| self.by_time(process))
    }

    /// The same for something that happened to a path at that time, in milliseconds after the check's start. Who did it may
    /// have run since long before.
    #[must_use]
    pub fn case_at(&self, process: Option<&Process>, path: &str, at_ms: u64) -> Option<String> {
        process.and_then(|process| self.by_hint(process)).or_else(|| self.by_path(path)).or_else(|| self.at(at_ms))
    }

    /// The case that a path carries the name of.
    #[must_use]
    pub fn case_of(&self, path: &str) -> Option<String> {
        self.by_path(path)
    }

    fn by_hint(&self, process: &Process) -> Option<String> {
        // pytest's form: `tests/test_x.py::test_y (call)`.
        let hint = process.case_hint.as_deref()?;
        let name = hint.rsplit_once(" (").map_or(hint, |(name, _)| name);
        Some(self.cases.iter().find(|case| case.name == name).map_or(name, |case| &case.name).to_owned())
    }

    fn by_path(&self, path: &str) -> Option<String> {
        let named = |case: &&Case| {
            let short = short_name(&case.name);
            // Shorter names are too likely to be part of something else.
            short.len() >= 6
                && path.split(['/', '\\']).any(|part| {
                    part.strip_prefix(short).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphabetic()))
                })
        };
        let mut found: Vec<&Case> = self.cases.iter().filter(named).collect();
        found.sort_by_key(|case| short_name(&case.name).len());
        let best = found.pop()?;
        // Two cases of the same name in different classes: neither is sure.
        (!found.iter().any(|case| short_name(&case.name) == short_name(&best.name))).then(|| best.name.clone())
    }

    fn by_time(&self, process: &Process) -> Option<String> {
        self.at(u64::try_from(process.started_ms?).ok()?)
    }

    /// The case whose time covers most of the tick that begins then.
    fn at(&self, started: u64) -> Option<String> {
        if !self.complete {
            return None;
        }
        let mut before = 0;
        let mut best: (u64, Option<&Case>) = (0, None);
        let mut index = 0;
        while index < self.cases.len() {
            let case = &self.cases[index];
            let at = case.at_ms?;
            // A runner that names a case before it runs tells its time. Of one that tells all at the end, the time is
            // that since the outcome before; and outcomes that arrived together say nothing about each other's times.
            let told = case.from_ms.filter(|from| *from < at);
            let whole = |case: &&Case| case.at_ms == Some(at) && case.from_ms.is_none_or(|from| from >= at);
            let together = if told.is_some() { 1 } else { self.cases[index..].iter().take_while(whole).count() };
            let overlap = at.min(started + TICK).saturating_sub(told.unwrap_or(before).max(started));
            if overlap > best.0 {
                best = (overlap, (together == 1).then_some(case));
            }
            before = at;
            index += together;
        }
        best.1.map(|case| case.name.clone())
    }
}

/// The last part of a case's name: `test_y` of `tests/test_x.py::TestA::test_y[1]` and of `mod.TestA.test_y`.
fn short_name(name: &str) -> &str {
    let name = name.split('[').next().unwrap_or(name);
    let name = name.rsplit("::").next().unwrap_or(name);
    name.rsplit('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CaseOutcome;

    fn case(name: &str, at_ms: u64) -> Case {
        Case {
            name: name.to_owned(),
            outcome: CaseOutcome::Passed,
            reason: None,
            from_ms: Some(at_ms),
            at_ms: Some(at_ms),
        }
    }

    fn process(started_ms: i64, hint: Option<&str>) -> Process {
        let (started_ms, case_hint) = (Some(started_ms), hint.map(str::to_owned));
        Process { started_ms, case_hint, ..Process::new(1, vec!["x".to_owned()]) }
    }

    fn blamed(cases: &[Case], process: &Process, path: Option<&str>) -> Option<String> {
        Blame { cases, complete: true }.case(process, path)
    }

    #[test]
    fn the_sub_runners_own_word_comes_first() {
        let cases = [case("t.py::test_first", 10), case("t.py::test_second", 500)];
        let by_hint = process(100, Some("t.py::test_first (call)"));
        assert_eq!(blamed(&cases, &by_hint, Some("tmp/test_second0")), Some("t.py::test_first".into()));
    }

    #[test]
    fn a_path_names_the_case_with_the_longest_name() {
        let cases = [case("m.T.test_read", 10), case("m.T.test_read_all", 20), case("m.T.test_other", 30)];
        let path = |path| blamed(&cases, &process(10_000, None), Some(path));
        assert_eq!(path("tmp/test_read_all-x7"), Some("m.T.test_read_all".into()));
        assert_eq!(path("tmp/test_read0"), Some("m.T.test_read".into()));
        assert_eq!(path("tmp/tmpab12"), None);
        assert_eq!(path("tmp/test_reader"), None);
    }

    #[test]
    fn a_path_that_two_cases_could_have_made_names_none() {
        let cases = [case("m.A.test_same", 10), case("m.B.test_same", 20)];
        assert_eq!(blamed(&cases, &process(10_000, None), Some("tmp/test_same1")), None);
    }

    #[test]
    fn time_names_the_case_that_covers_the_tick() {
        let cases = [case("a", 100), case("b", 203), case("c", 300)];
        let at = |ms| blamed(&cases, &process(ms, None), None);
        assert_eq!(at(50), Some("a".into()));
        assert_eq!(at(150), Some("b".into()));
        assert_eq!(at(200), Some("c".into()), "seven of the ten milliseconds are in c's time");
        assert_eq!(at(290), Some("c".into()));
        assert_eq!(at(310), None, "after the last case");
    }

    #[test]
    fn what_happened_is_blamed_on_the_case_of_its_time_not_of_its_doers_start() {
        let cases = [case("a", 100), case("b", 203)];
        let blame = Blame { cases: &cases, complete: true };
        assert_eq!(blame.case_at(Some(&process(0, None)), "tmp/x", 150), Some("b".into()));
        assert_eq!(blame.case_at(None, "tmp/x", 150), Some("b".into()));
        assert_eq!(blame.case_at(Some(&process(0, Some("a (call)"))), "tmp/x", 150), Some("a".into()));
    }

    #[test]
    fn outcomes_that_arrived_together_are_not_told_apart() {
        let cases = [case("a", 500), case("b", 500), case("c", 600)];
        let at = |ms| blamed(&cases, &process(ms, None), None);
        assert_eq!(at(100), None);
        assert_eq!(at(550), Some("c".into()));
    }

    #[test]
    fn a_case_that_is_named_before_it_runs_has_a_time_of_its_own() {
        let named = |name: &str, from_ms, at_ms| Case { from_ms: Some(from_ms), ..case(name, at_ms) };
        // The fast ones before and after arrived with the slow one's outcome or beginning.
        let cases = [named("a", 236, 236), named("slow", 236, 337), named("b", 337, 337), named("c", 337, 338)];
        assert_eq!(blamed(&cases, &process(280, None), None), Some("slow".into()));
        assert_eq!(blamed(&cases, &process(330, None), None), Some("slow".into()));
    }

    #[test]
    fn time_says_nothing_when_cases_are_missing() {
        let cases = [case("a", 100), case("b", 200)];
        assert_eq!(Blame { cases: &cases, complete: false }.case(&process(150, None), None), None);
    }
}
