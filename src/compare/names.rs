//! Names of cases, by which the same case is found again in what another sub-runner, reporter or system calls it.

use std::collections::{HashMap, HashSet};

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

/// A key for each name of each run, which is the same for the same case. A name that is the end of exactly one longer name
/// of other runs is that one; the second case of a name in a run is another case than the first.
pub fn keys(runs: &[Vec<Vec<String>>]) -> Vec<Vec<String>> {
    let sets: Vec<HashSet<&Vec<String>>> = runs.iter().map(|run| run.iter().collect()).collect();
    let mut by_end: HashMap<&str, Vec<&Vec<String>>> = HashMap::new();
    let mut seen = HashSet::new();
    for name in runs.iter().flatten().filter(|name| seen.insert(*name)) {
        by_end.entry(name.last().map_or("", String::as_str)).or_default().push(name);
    }
    let whole = |name: &Vec<String>| -> String {
        let everywhere = sets.iter().all(|set| set.is_empty() || set.contains(name));
        let end = name.last().map_or("", String::as_str);
        let mut longer = by_end
            .get(end)
            .into_iter()
            .flatten()
            .filter(|other| !everywhere && other.len() > name.len() && other.ends_with(name));
        let only = longer.next().filter(|_| longer.next().is_none());
        // Where one run has both, they are two.
        let other = only.filter(|other| !sets.iter().any(|set| set.contains(name) && set.contains(**other)));
        other.map_or(name, |other| *other).join("/")
    };
    let numbered = |run: &Vec<Vec<String>>| {
        let mut times: HashMap<String, usize> = HashMap::new();
        let number = |name: &Vec<String>| {
            let key = whole(name);
            let time = times.entry(key.clone()).or_default();
            *time += 1;
            if *time == 1 { key } else { format!("{key}#{time}") }
        };
        run.iter().map(number).collect()
    };
    runs.iter().map(numbered).collect()
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
        keys(&runs.iter().map(|run| run.iter().map(|name| parts(name)).collect()).collect::<Vec<_>>())
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
