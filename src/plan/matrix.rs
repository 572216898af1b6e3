//! The combinations of a matrix: all, or so few that every two values of two variables are together in one.

use std::collections::BTreeSet;

use super::variant::Change;

/// Variables, each with its values; `None` where it is not set.
pub type Matrix = [(String, Vec<Option<String>>)];

/// How many combinations of a matrix run at most, unless they are chosen by pairs.
pub const MOST_COMBINATIONS: usize = 100_000;

/// How many combinations there are; `None` if that is beyond counting.
#[must_use]
pub fn combinations(matrix: &Matrix) -> Option<usize> {
    matrix.iter().try_fold(1_usize, |number, (_, values)| number.checked_mul(values.len()))
}

/// Every combination, the last variable changing first.
#[must_use]
pub fn all(matrix: &Matrix) -> Vec<Vec<Change>> {
    matrix.iter().fold(vec![Vec::new()], |combinations, (name, values)| {
        let with = |before: Vec<Change>| {
            values
                .iter()
                .map(move |value| [&before[..], &[setting(name, value.as_deref())]].concat())
                .collect::<Vec<_>>()
        };
        combinations.into_iter().flat_map(with).collect()
    })
}

/// Combinations in which every two values of two variables are together at least once.
#[must_use]
pub fn pairwise(matrix: &Matrix) -> Vec<Vec<Change>> {
    let sizes: Vec<usize> = matrix.iter().map(|(_, values)| values.len()).collect();
    let combination = |row: Vec<usize>| {
        let settings = matrix.iter().zip(row).map(|((name, values), at)| setting(name, values[at].as_deref()));
        settings.collect()
    };
    rows(&sizes).into_iter().map(combination).collect()
}

fn setting(name: &str, value: Option<&str>) -> Change {
    Change::Setting { name: name.to_owned(), value: value.map(str::to_owned) }
}

/// A value of a variable, both by their places.
type Place = (usize, usize);

/// The rows of a covering array of strength 2, one value for each variable. Greedy: a row begins with the first pair that
/// is in none yet, and gets for each further variable the value that brings most of such pairs with those that it has.
fn rows(sizes: &[usize]) -> Vec<Vec<usize>> {
    let places = |at: usize| (0..sizes[at]).map(move |value| (at, value));
    if let [size] = sizes {
        return (0..*size).map(|value| vec![value]).collect();
    }
    let firsts = (0..sizes.len()).flat_map(|one| (one + 1..sizes.len()).map(move |other| (one, other)));
    let mut missing: BTreeSet<(Place, Place)> =
        firsts.flat_map(|(one, other)| places(one).flat_map(move |a| places(other).map(move |b| (a, b)))).collect();
    let mut rows = Vec::new();
    while let Some(&(one, other)) = missing.first() {
        let mut row: Vec<Place> = vec![one, other];
        for at in (0..sizes.len()).filter(|at| *at != one.0 && *at != other.0) {
            let new = |place: Place| row.iter().filter(|known| missing.contains(&in_order(**known, place))).count();
            // Of several as good the first.
            let best = places(at).max_by_key(|place| (new(*place), usize::MAX - place.1));
            row.extend(best);
        }
        row.sort_unstable();
        for (number, &a) in row.iter().enumerate() {
            for &b in &row[number + 1..] {
                missing.remove(&(a, b));
            }
        }
        rows.push(row.into_iter().map(|(_, value)| value).collect());
    }
    rows
}

fn in_order(a: Place, b: Place) -> (Place, Place) {
    if a < b { (a, b) } else { (b, a) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_last_variable_changes_first() {
        let values = |values: &[&str]| values.iter().map(|&value| Some(value.to_owned())).collect::<Vec<_>>();
        let matrix = [("A".to_owned(), values(&["1", "2"])), ("B".to_owned(), vec![Some("x".to_owned()), None])];
        let told: Vec<String> = all(&matrix)
            .iter()
            .map(|settings| settings.iter().map(Change::words).collect::<Vec<_>>().join(","))
            .collect();
        assert_eq!(told, ["A=1,B=x", "A=1,B=null", "A=2,B=x", "A=2,B=null"]);
        assert_eq!((combinations(&matrix), pairwise(&matrix).len()), (Some(4), 4));
        assert_eq!(pairwise(&matrix[..1]).len(), 2);
    }

    #[test]
    fn large_ones_get_small() {
        assert!(rows(&[3; 13]).len() <= 27, "{}", rows(&[3; 13]).len());
        assert!(rows(&[10; 6]).len() <= 200, "{}", rows(&[10; 6]).len());
    }

    proptest! {
        #[test]
        fn every_pair_is_in_a_row_and_no_row_twice(sizes in proptest::collection::vec(1_usize..6, 1..7)) {
            let rows = rows(&sizes);
            for one in 0..sizes.len() {
                for other in one + 1..sizes.len() {
                    let pairs: HashSet<(usize, usize)> = rows.iter().map(|row| (row[one], row[other])).collect();
                    prop_assert_eq!(pairs.len(), sizes[one] * sizes[other]);
                }
            }
            let values: HashSet<usize> = rows.iter().map(|row| row[0]).collect();
            prop_assert_eq!(values.len(), sizes[0]);
            prop_assert!(rows.iter().all(|row| row.len() == sizes.len()));
            prop_assert_eq!(rows.iter().collect::<HashSet<_>>().len(), rows.len());
            prop_assert!(rows.len() <= sizes.iter().product::<usize>());
        }
    }
}
