//! Which of the listed cases never ran: pure, from the listing and the reading.
//!
//! They are named only where it is sure: where every case that ran has a name, and the names are those of the listing.

use std::collections::{HashMap, HashSet};

use crate::model::{Case, CaseOutcome, Reading};
use crate::readers::Listed;

/// How many names a note tells.
const NAMES: usize = 3;
/// How many signs in a name may be the end of what stands before it.
const SIGNS: usize = 32;

/// Adds the listed cases that never ran to the reading, as cases without an outcome, and notes those that ran without
/// being listed.
///
/// Returns how many cases the listing stands for: a listed one may have parts that count as cases.
pub fn name(reading: &mut Reading, listed: &Listed) -> u64 {
    let Some(ran) = reading.counts.ran else { return listed.number };
    let with_outcome = || reading.cases.iter().filter(|case| case.outcome != CaseOutcome::Unknown);
    if listed.names.is_empty() {
        return listed.number;
    }
    if with_outcome().count() as u64 != ran {
        if ran < listed.number {
            reading.notes.push(
                "the output does not name every case that ran: which of the listed ones never did is not known"
                    .to_owned(),
            );
        }
        return listed.number;
    }
    let mut left = Left::new(listed);
    let unmatched: Vec<&str> = with_outcome().map(|case| case.name.as_str()).filter(|name| !left.take(name)).collect();
    let unlisted: Vec<&str> = unmatched.iter().copied().filter(|name| !left.take_alike(name)).collect();
    if ran > 0 && unlisted.len() as u64 == ran {
        reading.notes.push(format!(
            "the listing names the cases otherwise than the output ({} and {}): only their numbers are compared",
            listed.names[0], unlisted[0]
        ));
        return listed.number;
    }
    let beyond = unlisted.len() as u64;
    let note = (!unlisted.is_empty()).then(|| {
        let names = unlisted[..unlisted.len().min(NAMES)].join(", ");
        let more = if unlisted.len() > NAMES { format!(" and {} more", unlisted.len() - NAMES) } else { String::new() };
        format!("ran without being listed: {names}{more}")
    });
    // What began is known already.
    let begun: HashSet<&str> = reading
        .cases
        .iter()
        .filter(|case| case.outcome == CaseOutcome::Unknown)
        .map(|case| case.name.as_str())
        .collect();
    let never = left.rest(&listed.names).into_iter().filter(|name| !begun.contains(name));
    let never: Vec<Case> = never.map(|name| Case::new(name, CaseOutcome::Unknown)).collect();
    let unknown = (begun.len() + never.len()) as u64;
    reading.notes.extend(note);
    reading.cases.extend(never);
    reading.counts.unknown = Some(unknown);
    reading.counts.planned = Some(ran + unknown);
    ran + unknown - beyond
}

/// The listed names that are still to be seen.
struct Left<'a> {
    form: &'static str,
    /// Of each name, how many were listed and how many have been seen. One name may be that of several cases, in several
    /// programs.
    numbers: HashMap<&'a str, (u64, u64)>,
}

impl<'a> Left<'a> {
    fn new(listed: &'a Listed) -> Self {
        let mut numbers: HashMap<&str, (u64, u64)> = HashMap::new();
        for name in &listed.names {
            numbers.entry(name).or_default().0 += 1;
        }
        Self { form: listed.form, numbers }
    }

    /// Takes one of that name, if one is left.
    fn take(&mut self, name: &str) -> bool {
        let Some((listed, seen)) = self.numbers.get_mut(name) else { return false };
        let is_left = *seen < *listed;
        *seen += u64::from(is_left);
        is_left
    }

    /// The same for a name that has more in it than the listing's: the program or package before it, or the part of a
    /// case after it.
    fn take_alike(&mut self, name: &str) -> bool {
        let before: &[char] = match self.form {
            "go-test" => &[' ', '.', '/'],
            "cargo-test" => &[' '],
            _ => return false,
        };
        // The rest after each of the first signs that may end what stands before.
        let ends = name.char_indices().filter(|(_, sign)| before.contains(sign)).take(SIGNS);
        let tails: Vec<&str> = [name].into_iter().chain(ends.map(|(at, sign)| &name[at + sign.len_utf8()..])).collect();
        if tails[1..].iter().any(|tail| self.take(tail)) {
            return true;
        }
        if self.form != "go-test" {
            return false;
        }
        for tail in tails {
            let parent = tail.split('/').next().filter(|parent| parent.len() < tail.len());
            if let Some(parent) = parent.filter(|parent| self.numbers.contains_key(parent)) {
                // Packages may have cases of one name: which of them it is a part of is not known.
                if let Some((listed, seen)) = self.numbers.get_mut(parent).filter(|(_, seen)| *seen == 0) {
                    *seen = *listed;
                }
                return true;
            }
        }
        false
    }

    /// What was not seen, in the order of the listing.
    fn rest(mut self, names: &[String]) -> Vec<&str> {
        let mut rest = Vec::new();
        for name in names {
            match self.numbers.get_mut(name.as_str()) {
                Some((_, seen)) if *seen > 0 => *seen -= 1,
                _ => rest.push(name.as_str()),
            }
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Counts;

    fn listed(form: &'static str, names: &[&str]) -> Listed {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Listed { number: names.len() as u64, names, form }
    }

    /// A reading of these cases; those with a `?` began and have no outcome.
    fn reading(names: &[&str]) -> Reading {
        let cases = names.iter().map(|name| {
            let outcome = if name.ends_with('?') { CaseOutcome::Unknown } else { CaseOutcome::Passed };
            Case::new(name.trim_end_matches('?'), outcome)
        });
        let cases: Vec<Case> = cases.collect();
        let ran = cases.iter().filter(|case| case.outcome == CaseOutcome::Passed).count() as u64;
        let counts =
            Counts { ran: Some(ran), passed: Some(ran), failed: Some(0), skipped: Some(0), ..Counts::default() };
        Reading { counts, cases, ..Reading::default() }
    }

    /// The names without an outcome, the two numbers that depend on them, and how many notes there are.
    fn unknown(form: &'static str, names: &[&str], ran: &[&str]) -> (Vec<String>, [Option<u64>; 2], usize) {
        let mut reading = reading(ran);
        name(&mut reading, &listed(form, names));
        let unknown = reading.cases.iter().filter(|case| case.outcome == CaseOutcome::Unknown);
        let unknown = unknown.map(|case| case.name.clone()).collect();
        (unknown, [reading.counts.planned, reading.counts.unknown], reading.notes.len())
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn what_was_listed_and_not_seen_never_ran() {
        assert_eq!(unknown("pytest", &["a", "b", "c"], &["b"]), (names(&["a", "c"]), [Some(3), Some(2)], 0));
        assert_eq!(unknown("pytest", &["a", "b", "c"], &["c", "a", "b"]), (vec![], [Some(3), Some(0)], 0));
        // One that began is not told twice.
        assert_eq!(unknown("pytest", &["a", "b", "c"], &["a", "b?"]), (names(&["b", "c"]), [Some(3), Some(2)], 0));
        // None of them ran: their names are as sure.
        assert_eq!(unknown("pytest", &["a", "b"], &[]), (names(&["a", "b"]), [Some(2), Some(2)], 0));
    }

    #[test]
    fn one_name_may_be_that_of_several_cases() {
        assert_eq!(unknown("cargo-test", &["a", "b", "a"], &["a", "b"]), (names(&["a"]), [Some(3), Some(1)], 0));
        assert_eq!(unknown("cargo-test", &["a", "b", "a"], &["a", "b", "a"]), (vec![], [Some(3), Some(0)], 0));
    }

    #[test]
    fn what_ran_unlisted_is_noted_and_keeps_the_sums() {
        assert_eq!(unknown("pytest", &["a", "b"], &["a", "x"]), (names(&["b"]), [Some(3), Some(1)], 1));
        // Names of another kind are not compared.
        assert_eq!(unknown("pytest", &["t.py::a", "t.py::b"], &["T.a"]), (vec![], [None, None], 1));
    }

    #[test]
    fn without_all_names_none_is_told() {
        let mut seen = reading(&["a"]);
        seen.counts.ran = Some(2);
        let before = seen.counts;
        name(&mut seen, &listed("pytest", &["a", "b", "c"]));
        assert_eq!((seen.cases.len(), seen.counts, seen.notes.len()), (1, before, 1));
        let mut seen = reading(&["a"]);
        name(&mut seen, &Listed { number: 3, ..Listed::default() });
        assert_eq!((seen.cases.len(), seen.notes.len()), (1, 0));
    }

    #[test]
    fn names_may_have_a_package_before_and_a_part_after_them() {
        let go = |ran: &[&str]| unknown("go-test", &["TestA", "TestB", "TestA"], ran);
        assert_eq!(go(&["TestA", "TestA/sub", "TestA/sub/x"]), (names(&["TestB", "TestA"]), [Some(5), Some(2)], 0));
        assert_eq!(go(&["example.com/m/p.TestA", "q TestA", "q TestB"]), (vec![], [Some(3), Some(0)], 0));
        assert_eq!(go(&["TestA/x", "TestA/y"]).0, names(&["TestB"]));
        assert_eq!(unknown("cargo-test", &["a", "m::a"], &["bin m::a"]).0, names(&["a"]));
    }
}
