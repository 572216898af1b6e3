//! Names of cases, by which the same case is found again in what another sub-runner, reporter or system calls it.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::ends::Ends;
use crate::model::Standing;

/// Endings of source files, and pytest's name of the program itself: they tell nothing that the rest does not.
const EMPTY: [&str; 14] =
    ["py", "rs", "js", "ts", "mjs", "cjs", "mts", "cts", "jsx", "tsx", "go", "sh", "bats", "__main__"];

/// The parts of a name, without what reporters write between them: `tests/test_x.py::T::test_a[1/2]`,
/// `tests.test_x.T::test_a[1/2]` and `tests\test_x.py::T::test_a[1/2]` are one. A parameter stays as it is.
pub fn parts(name: &str) -> Vec<String> {
    let parameter = name.find('[').unwrap_or(name.len());
    let (head, parameter) = name.split_at(parameter);
    let mut words: Vec<&str> =
        head.split(['/', '\\', '.', ':', '>', '›']).map(str::trim).filter(|word| !word.is_empty()).collect();
    let last = words.pop();
    words.retain(|word| !EMPTY.contains(word));
    let mut parts: Vec<String> = words.into_iter().map(str::to_owned).collect();
    parts.push(format!("{}{parameter}", last.unwrap_or_default()));
    parts
}

/// Whether one of the two is the other's end.
pub fn fit(one: &[String], other: &[String]) -> bool {
    one.ends_with(other) || other.ends_with(one)
}

/// Whether a place or a reason that is told of one case is about another, by their names. The same name comes first: where
/// `any_same`, none that only fits is meant.
pub fn is_about(known: &str, case: &str, any_same: bool) -> bool {
    known == case || (!any_same && fit(&parts(known), &parts(case)))
}

/// A key for each case of each run, which is the same for the same case. A name that is the end of exactly one longer name of
/// other runs is that one. Where a run has two names that are one but for what reporters write between their parts, names
/// are matched as they are. Of cases of one name, those are the same that ended alike.
pub fn keys(runs: &[&[(&str, Standing)]]) -> Vec<Vec<String>> {
    let names: Vec<Vec<Vec<String>>> =
        runs.iter().map(|run| run.iter().map(|(name, _)| parts(name)).collect()).collect();
    let mut keys = by_parts(&names);
    let mut clashing: HashSet<String> = HashSet::new();
    for (run, keys) in runs.iter().zip(&keys) {
        let mut first: HashMap<&str, &str> = HashMap::new();
        for ((name, _), key) in run.iter().zip(keys) {
            if *first.entry(key).or_insert(name) != *name {
                clashing.insert(key.clone());
            }
        }
    }
    for (run, keys) in runs.iter().zip(&mut keys) {
        for ((name, _), key) in run.iter().zip(keys).filter(|(_, key)| clashing.contains(*key)) {
            *key = format!("={name}");
        }
    }
    number(runs, &mut keys);
    keys
}

/// Keys by the parts of names alone.
fn by_parts(runs: &[Vec<Vec<String>>]) -> Vec<Vec<String>> {
    let sets: Vec<HashSet<&Vec<String>>> = runs.iter().map(|run| run.iter().collect()).collect();
    let mut ends = Ends::new();
    for name in runs.iter().flatten() {
        ends.add(name, name);
    }
    let whole = |name: &Vec<String>| -> String {
        let everywhere = sets.iter().all(|set| set.is_empty() || set.contains(name));
        let only = ends.longer(name).only().filter(|_| !everywhere);
        // Where one run has both, they are two.
        let other = only.filter(|other| !sets.iter().any(|set| set.contains(name) && set.contains(*other)));
        other.unwrap_or(name).join("/")
    };
    runs.iter().map(|run| run.iter().map(whole).collect()).collect()
}

/// The cases of one key: for each run how each ended, and its place.
type Namesakes = BTreeMap<usize, Vec<(Standing, usize)>>;

/// Numbers the cases that share a key: first those that as many have in every run, by how they ended, then the others.
fn number(runs: &[&[(&str, Standing)]], keys: &mut [Vec<String>]) {
    let mut groups: HashMap<&str, Namesakes> = HashMap::new();
    for (side, (run, keys)) in runs.iter().zip(&*keys).enumerate() {
        for (index, ((_, standing), key)) in run.iter().zip(keys).enumerate() {
            groups.entry(key).or_default().entry(side).or_default().push((*standing, index));
        }
    }
    let mut numbered = Vec::new();
    for sides in groups.into_values().filter(|sides| sides.values().any(|cases| cases.len() > 1)) {
        let count = |cases: &[(Standing, usize)], wanted| cases.iter().filter(|(is, _)| *is == wanted).count();
        let shared = |wanted| sides.values().map(|cases| count(cases, wanted)).min().unwrap_or(0);
        let shared = [Standing::Green, Standing::Red, Standing::Skipped, Standing::Missing].map(|is| (is, shared(is)));
        for (side, cases) in &sides {
            let mut left = BTreeMap::from(shared);
            let mut sorted: Vec<(bool, Standing, usize)> = Vec::new();
            for (standing, index) in cases {
                let left = left.entry(*standing).or_default();
                sorted.push((*left == 0, *standing, *index));
                *left = left.saturating_sub(1);
            }
            sorted.sort_unstable();
            numbered.extend(sorted.iter().enumerate().skip(1).map(|(time, (.., index))| (*side, *index, time + 1)));
        }
    }
    for (side, index, time) in numbered {
        keys[side][index] = format!("{}#{time}", keys[side][index]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reporters_write_one_name_in_many_ways() {
        let pytest = parts("tests/test_x.py::T::test_a[1/2.5]");
        assert_eq!(pytest, ["tests", "test_x", "T", "test_a[1/2.5]"]);
        assert_eq!(parts("tests.test_x.T::test_a[1/2.5]"), pytest);
        assert_eq!(parts(r"tests\test_x.py::T::test_a[1/2.5]"), pytest);
        assert_eq!(parts("__main__.T.test_a"), ["T", "test_a"]);
        assert_eq!(parts("board > moves > once"), ["board", "moves", "once"]);
        assert_eq!(parts(""), [""]);
    }

    fn of(runs: &[&[&str]]) -> Vec<Vec<String>> {
        let runs: Vec<Vec<_>> =
            runs.iter().map(|run| run.iter().map(|&name| (name, Standing::Green)).collect()).collect();
        keys(&runs.iter().map(|run| &run[..]).collect::<Vec<_>>())
    }

    #[test]
    fn a_short_name_is_the_one_long_name_that_it_ends() {
        let found = of(&[&["__main__.T.test_a", "__main__.U.test_a"], &["test_x.T::test_a", "test_x.U::test_a"]]);
        assert_eq!(found[0], found[1]);
        // Two that it could be are none.
        let found = of(&[&["test_a"], &["T.test_a", "U.test_a"]]);
        assert_eq!(found[0], ["test_a"]);
        // A run that has both has two cases.
        let found = of(&[&["test_a", "T.test_a"], &["T.test_a"]]);
        assert_eq!(found[0], ["test_a", "T/test_a"]);
    }

    #[test]
    fn the_second_of_a_name_is_another_case() {
        assert_eq!(of(&[&["a", "a"], &["a"]]), [vec!["a", "a#2"], vec!["a"]]);
    }
}
