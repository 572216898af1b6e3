//! Which of many combinations that were red beside others run again alone.
//!
//! Of those of a check that failed in one way so many run that each of their settings is tried twice: hundreds of combinations
//! with a few dozen settings need a few dozen runs. Where all of these fail in that way alone, too, the others are taken at
//! their word. Where one does not, every one of them runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::ways::Way;
use crate::plan::{Change, Variant};

/// How often each setting is tried.
const TRIES: u32 = 2;

/// What is to become of a combination that was red beside others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// It runs again alone.
    Run,
    /// That depends on others that are still to run.
    Later,
    /// It need not: so many others that failed in its way do so alone, too.
    Spared(usize),
}

/// All of them, by the way in which they failed.
#[derive(Debug, Default)]
pub struct Samples {
    groups: Vec<Group>,
    by_way: HashMap<(String, Way), usize>,
    /// The groups of those of which nothing is told yet.
    group_of: BTreeMap<usize, usize>,
}

#[derive(Debug)]
struct Group {
    way: Way,
    members: Vec<usize>,
    /// Those that run, once that is decided, as far as nothing is told of them yet.
    chosen: Option<BTreeSet<usize>>,
    alike: usize,
    /// One of them did not fail in that way alone.
    is_refuted: bool,
}

impl Samples {
    /// Takes in one that failed in a way beside others.
    pub fn add(&mut self, index: usize, of: &str, way: Way) {
        let groups = &mut self.groups;
        let group = *self.by_way.entry((of.to_owned(), way.clone())).or_insert_with(|| {
            groups.push(Group { way, members: Vec::new(), chosen: None, alike: 0, is_refuted: false });
            groups.len() - 1
        });
        let group_of = &mut self.groups[group];
        group_of.members.push(index);
        // What comes after the choice is no part of it, and so runs.
        if let Some(chosen) = &mut group_of.chosen {
            chosen.insert(index);
        }
        self.group_of.insert(index, group);
    }

    /// What is to become of one now. All that are like it have run beside others by then.
    pub fn turn<'a>(&mut self, index: usize, variant: impl Fn(usize) -> &'a Variant) -> Turn {
        let Some(group) = self.group_of.get(&index).map(|&group| &mut self.groups[group]) else { return Turn::Run };
        let members = &group.members;
        let chosen = group.chosen.get_or_insert_with(|| choose(members, variant));
        match () {
            () if group.is_refuted || chosen.contains(&index) => Turn::Run,
            () if !chosen.is_empty() => Turn::Later,
            () => Turn::Spared(group.alike),
        }
    }

    /// One is told; `alone` is the way in which it failed alone, if it did.
    pub fn told(&mut self, index: usize, alone: Option<&Way>) {
        let Some(group) = self.group_of.remove(&index).map(|group| &mut self.groups[group]) else { return };
        let is_alike = alone == Some(&group.way);
        if group.chosen.as_mut().is_some_and(|chosen| chosen.remove(&index)) {
            group.alike += usize::from(is_alike);
            group.is_refuted |= !is_alike;
        }
    }
}

/// So many, in their order, that each setting of any is that of two.
fn choose<'a>(members: &[usize], variant: impl Fn(usize) -> &'a Variant) -> BTreeSet<usize> {
    let mut tried: HashMap<&Change, u32> = HashMap::new();
    let mut chosen = BTreeSet::new();
    for &index in members {
        let changes = &variant(index).changes;
        if changes.iter().any(|change| tried.get(change).is_none_or(|&times| times < TRIES)) {
            chosen.insert(index);
            for change in &**changes {
                *tried.entry(change).or_default() += 1;
            }
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::super::records;
    use super::*;
    use crate::model::{Check, CheckCommand, Verdict};

    fn way(reason: &str) -> Way {
        let check = Check::new("a", CheckCommand::Argv(vec!["x".into()]));
        Way::of(&records::empty(&check, Verdict::Failed, Some(reason.to_owned())))
    }

    /// A hundred combinations of two variables with ten values each.
    fn hundred() -> Vec<Variant> {
        let setting = |name: &str, value: usize| Change::setting(name, Some(&value.to_string()));
        (0..100).map(|at| Variant::plain("a").with(setting("A", at / 10)).with(setting("B", at % 10))).collect()
    }

    /// Those that run, in turn, where `fails` says in which way each does so alone.
    fn run(samples: &mut Samples, variants: &[Variant], fails: impl Fn(usize) -> Option<Way>) -> Vec<usize> {
        let (mut waiting, mut ran): (std::collections::VecDeque<usize>, _) =
            ((0..variants.len()).collect(), Vec::new());
        while let Some(index) = waiting.pop_front() {
            match samples.turn(index, |index| &variants[index]) {
                Turn::Run => {
                    ran.push(index);
                    samples.told(index, fails(index).as_ref());
                }
                Turn::Later => waiting.push_back(index),
                Turn::Spared(alike) => assert!(alike >= 2 && alike <= ran.len(), "{alike} of {}", ran.len()),
            }
        }
        ran
    }

    #[test]
    fn each_setting_is_tried_and_the_rest_is_spared() {
        let (mut samples, variants) = (Samples::default(), hundred());
        (0..100).for_each(|index| samples.add(index, "a", way("x")));
        let ran = run(&mut samples, &variants, |_| Some(way("x")));
        assert!(ran.len() < 45, "{ran:?}");
        for digit in 0..10 {
            assert!(ran.iter().filter(|index| **index / 10 == digit).count() >= 2, "{ran:?}");
            assert!(ran.iter().filter(|index| **index % 10 == digit).count() >= 2, "{ran:?}");
        }
    }

    #[test]
    fn what_fails_otherwise_alone_spares_nobody() {
        let variants = hundred();
        for alone in [None, Some(way("y"))] {
            let mut samples = Samples::default();
            (0..100).for_each(|index| samples.add(index, "a", way("x")));
            let ran = run(&mut samples, &variants, |index| if index == 0 { alone.clone() } else { Some(way("x")) });
            assert_eq!(ran.len(), 100);
        }
    }

    #[test]
    fn one_way_says_nothing_of_another() {
        let (mut samples, variants) = (Samples::default(), hundred());
        (0..100).for_each(|index| samples.add(index, "a", way(if index % 10 == 7 { "y" } else { "x" })));
        let ran = run(&mut samples, &variants, |index| Some(way(if index % 10 == 7 { "y" } else { "x" })));
        assert_eq!(ran.iter().filter(|index| **index % 10 == 7).count(), 10, "each has a setting of its own");
    }
}
