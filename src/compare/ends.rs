//! Names of cases by their ends, so that a short name finds the long ones that end with it in one walk, however many end
//! alike.

use std::collections::HashMap;

/// What stands under some names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found<T> {
    Nothing,
    /// This, under all of them.
    Only(T),
    Several,
}

impl<T: Copy + Eq> Found<T> {
    /// Both together.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nothing, found) | (found, Self::Nothing) => found,
            (Self::Only(one), Self::Only(other)) if one == other => self,
            _ => Self::Several,
        }
    }

    /// What there is, if it is one thing.
    pub fn only(self) -> Option<T> {
        if let Self::Only(one) = self { Some(one) } else { None }
    }
}

/// Things under names, which are lists of parts.
#[derive(Debug)]
pub struct Ends<'n, T> {
    /// The ends of names, the empty one first.
    ends: Vec<End<T>>,
    /// From an end, and the part before it, to the longer end.
    longer: HashMap<(usize, &'n str), usize>,
}

#[derive(Debug)]
struct End<T> {
    /// Under the name that is no longer than this.
    here: Found<T>,
    /// Under the longer ones.
    beyond: Found<T>,
}

impl<'n, T: Copy + Eq> Ends<'n, T> {
    pub fn new() -> Self {
        Self { ends: vec![End { here: Found::Nothing, beyond: Found::Nothing }], longer: HashMap::new() }
    }

    /// Puts something under a name.
    pub fn add(&mut self, name: &'n [String], thing: T) {
        let mut at = 0;
        for part in name.iter().rev() {
            self.ends[at].beyond = self.ends[at].beyond.and(Found::Only(thing));
            at = *self.longer.entry((at, part)).or_insert(self.ends.len());
            if at == self.ends.len() {
                self.ends.push(End { here: Found::Nothing, beyond: Found::Nothing });
            }
        }
        self.ends[at].here = self.ends[at].here.and(Found::Only(thing));
    }

    /// What is under longer names that end with this one.
    pub fn longer(&self, name: &[String]) -> Found<T> {
        self.walk(name).last().filter(|(length, _)| *length == name.len()).map_or(Found::Nothing, |(_, end)| end.beyond)
    }

    /// What is under the names that end with this one, or with which this one ends.
    pub fn fitting(&self, name: &[String]) -> Found<T> {
        self.walk(name).fold(Found::Nothing, |found, (length, end)| {
            let found = found.and(end.here);
            if length == name.len() { found.and(end.beyond) } else { found }
        })
    }

    /// The ends of a name that are there, each with its length.
    fn walk(&self, name: &[String]) -> impl Iterator<Item = (usize, &End<T>)> {
        let mut at = Some(0);
        name.iter().rev().zip(1..).map_while(move |(part, length)| {
            at = at.and_then(|at| self.longer.get(&(at, part.as_str())).copied());
            Some((length, &self.ends[at?]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Vec<String> {
        text.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn a_name_finds_the_longer_ones_that_it_ends() {
        let names = ["x/T/a", "y/U/a", "b", "T/a"].map(name);
        let mut ends = Ends::new();
        for (place, name) in names.iter().enumerate() {
            ends.add(name, place);
        }
        let found = |text| (ends.longer(&name(text)), ends.fitting(&name(text)));
        assert_eq!(found("a"), (Found::Several, Found::Several));
        assert_eq!(found("U/a"), (Found::Only(1), Found::Only(1)));
        assert_eq!(found("T/a"), (Found::Only(0), Found::Several), "it is there itself");
        assert_eq!(found("z/y/U/a"), (Found::Nothing, Found::Only(1)), "it is longer");
        assert_eq!(found("V/a"), (Found::Nothing, Found::Nothing));
        assert_eq!(found("b"), (Found::Nothing, Found::Only(2)));
    }

    #[test]
    fn one_thing_under_several_names_is_one() {
        let names = ["x/a", "y/a"].map(name);
        let mut ends = Ends::new();
        for name in &names {
            ends.add(name, "row");
        }
        assert_eq!(ends.fitting(&name("a")), Found::Only("row"));
    }
}
