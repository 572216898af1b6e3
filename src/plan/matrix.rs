//! The combinations of a matrix: all, or so few that every two values of two variables are together in one.

use super::variant::Change;

/// Variables, each with its values; `None` where it is not set.
pub type Matrix = [(String, Vec<Option<String>>)];

/// How many combinations of a matrix run at most, unless they are chosen by pairs.
pub const MOST_COMBINATIONS: usize = 100_000;

/// In how many pairs of values the combinations are looked for that are chosen by pairs.
pub const MOST_PAIRS: usize = 5_000_000;

/// How many pairs there are of values of two variables.
#[must_use]
pub fn pairs(matrix: &Matrix) -> usize {
    let mut sum = 0_usize;
    let with_earlier = |(_, values): &(String, Vec<Option<String>>)| {
        let pairs = sum.saturating_mul(values.len());
        sum += values.len();
        pairs
    };
    matrix.iter().map(with_earlier).fold(0, usize::saturating_add)
}

/// How many combinations there are; `None` if that is beyond counting.
#[must_use]
pub fn combinations(matrix: &Matrix) -> Option<usize> {
    matrix.iter().try_fold(1_usize, |number, (_, values)| number.checked_mul(values.len()))
}

/// The settings of a matrix, each there once: of each variable, with each of its values.
pub struct Settings(Vec<Vec<Change>>);

impl Settings {
    /// Those of a matrix.
    #[must_use]
    pub fn of(matrix: &Matrix) -> Self {
        let values = |(name, values): &(String, Vec<Option<String>>)| {
            values.iter().map(|value| Change::setting(name, value.as_deref())).collect()
        };
        Self(matrix.iter().map(values).collect())
    }

    /// Every combination, the last variable changing first.
    pub fn all(&self) -> impl Iterator<Item = Vec<Change>> + '_ {
        let number: usize = self.0.iter().map(Vec::len).product();
        (0..number).map(|number| {
            let mut left = number;
            let last_first = self.0.iter().rev().map(|values| {
                let setting = values[left % values.len()].clone();
                left /= values.len();
                setting
            });
            let mut combination: Vec<Change> = last_first.collect();
            combination.reverse();
            combination
        })
    }

    /// Combinations in which every two values of two variables are together at least once.
    pub fn pairwise(&self) -> impl Iterator<Item = Vec<Change>> + '_ {
        let sizes: Vec<usize> = self.0.iter().map(Vec::len).collect();
        let combination = |row: Vec<usize>| self.0.iter().zip(row).map(|(values, at)| values[at].clone()).collect();
        rows(&sizes).into_iter().map(combination)
    }
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
    let mut missing = Pairs::of(sizes);
    let mut rows = Vec::new();
    while let Some((one, other)) = missing.first() {
        let mut row: Vec<Place> = vec![one, other];
        for at in (0..sizes.len()).filter(|at| *at != one.0 && *at != other.0) {
            let new = |place: Place| row.iter().filter(|known| missing.has(**known, place)).count();
            // Of several as good the first.
            let best = places(at).max_by_key(|place| (new(*place), usize::MAX - place.1));
            row.extend(best);
        }
        row.sort_unstable();
        for (number, &a) in row.iter().enumerate() {
            for &b in &row[number + 1..] {
                missing.remove(a, b);
            }
        }
        rows.push(row.into_iter().map(|(_, value)| value).collect());
    }
    rows
}

/// Pairs of values of two variables, a bit each, in the order of the one and then the other.
struct Pairs {
    /// The values of all variables, in their order.
    places: Vec<Place>,
    /// Where the values of each variable begin among these, and where all end.
    starts: Vec<usize>,
    /// Where the pairs of each value with those of later variables begin, and where all end.
    begins: Vec<usize>,
    bits: Vec<u64>,
    /// Every pair before it is gone.
    first: usize,
}

impl Pairs {
    /// All of them.
    fn of(sizes: &[usize]) -> Self {
        let places: Vec<Place> =
            sizes.iter().enumerate().flat_map(|(at, size)| (0..*size).map(move |value| (at, value))).collect();
        let sums = |sizes: &mut dyn Iterator<Item = usize>| {
            std::iter::once(0)
                .chain(sizes.scan(0, |sum, size| {
                    *sum += size;
                    Some(*sum)
                }))
                .collect::<Vec<usize>>()
        };
        let starts = sums(&mut sizes.iter().copied());
        let begins = sums(&mut places.iter().map(|(at, _)| places.len() - starts[at + 1]));
        let number = begins.last().copied().unwrap_or(0);
        let mut bits = vec![u64::MAX; number / 64];
        if number % 64 > 0 {
            bits.push((1 << (number % 64)) - 1);
        }
        Self { places, starts, begins, bits, first: 0 }
    }

    /// Where the pair of two values of different variables is.
    fn index(&self, a: Place, b: Place) -> usize {
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        self.begins[self.starts[a.0] + a.1] + self.starts[b.0] + b.1 - self.starts[a.0 + 1]
    }

    fn has(&self, a: Place, b: Place) -> bool {
        let index = self.index(a, b);
        self.bits[index / 64] >> (index % 64) & 1 == 1
    }

    fn remove(&mut self, a: Place, b: Place) {
        let index = self.index(a, b);
        self.bits[index / 64] &= !(1 << (index % 64));
    }

    /// The first that is there.
    fn first(&mut self) -> Option<(Place, Place)> {
        while self.bits.get(self.first)? == &0 {
            self.first += 1;
        }
        let index = self.first * 64 + self.bits[self.first].trailing_zeros() as usize;
        // The last value that has any pair which begins there.
        let one = self.begins.partition_point(|begin| *begin <= index) - 1;
        let later = self.starts[self.places[one].0 + 1];
        Some((self.places[one], self.places[later + index - self.begins[one]]))
    }
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
        let settings = Settings::of(&matrix);
        let told: Vec<String> =
            settings.all().map(|settings| settings.iter().map(Change::words).collect::<Vec<_>>().join(",")).collect();
        assert_eq!(told, ["A=1,B=x", "A=1,B=null", "A=2,B=x", "A=2,B=null"]);
        assert_eq!((combinations(&matrix), settings.pairwise().count()), (Some(4), 4));
        assert_eq!(Settings::of(&matrix[..1]).pairwise().count(), 2);
    }

    #[test]
    fn large_ones_get_small() {
        assert!(rows(&[3; 13]).len() <= 27, "{}", rows(&[3; 13]).len());
        assert!(rows(&[10; 6]).len() <= 200, "{}", rows(&[10; 6]).len());
        assert!(rows(&[5; 20]).len() <= 80, "{}", rows(&[5; 20]).len());
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
