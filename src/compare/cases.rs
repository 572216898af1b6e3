//! The cases of one check in all runs.

use std::collections::HashMap;

use super::names::keys;
use super::rows::Row;
use crate::model::{CaseComparison, ComparedCount, Standing};

/// The cases of a row.
#[derive(Debug, Default)]
pub struct Cases {
    pub count: ComparedCount,
    /// For each run the first of its red cases of which no other run tells.
    pub red_alone: Vec<Option<String>>,
    /// Those that differ, in the order of the run that has them first.
    pub different: Vec<CaseComparison>,
    /// For each of them the name that each run has for it.
    pub names: Vec<Vec<Option<String>>>,
}

/// Whether standings that are known differ; `None` if fewer than two are known.
pub fn differ(standings: &[Standing]) -> Option<bool> {
    let mut known = standings.iter().filter(|standing| **standing != Standing::Unknown);
    let first = known.next()?;
    let mut others = known.peekable();
    others.peek()?;
    Some(others.any(|other| other != first))
}

/// Finds every case of a row in all runs.
pub fn cases(row: &Row<'_>) -> Cases {
    let runs: Vec<&[(&str, Standing)]> = row.entries.iter().map(|entry| &entry.cases[..]).collect();
    let keys = keys(&runs);
    let mut order: Vec<&String> = Vec::new();
    let mut found: HashMap<&String, Vec<Option<usize>>> = HashMap::new();
    for (side, keys) in keys.iter().enumerate() {
        for (index, key) in keys.iter().enumerate() {
            let places = found.entry(key).or_insert_with(|| {
                order.push(key);
                vec![None; row.entries.len()]
            });
            places[side] = Some(index);
        }
    }
    let mut all = Cases { red_alone: vec![None; row.entries.len()], ..Cases::default() };
    for key in order {
        let places = &found[key];
        let told = || row.entries.iter().zip(places).filter_map(|(entry, place)| Some(entry.cases[(*place)?].1));
        // It may as well not be there: that what is not named is green tells where it is not green alone.
        let all_green = told().all(|standing| standing == Standing::Green);
        let standing = |(entry, place): (&super::rows::Entry<'_>, &Option<usize>)| match place {
            Some(index) => entry.cases[*index].1,
            None if entry.unnamed == Standing::Green && all_green => Standing::Unknown,
            None => entry.unnamed,
        };
        let standings: Vec<Standing> = row.entries.iter().zip(places).map(standing).collect();
        match differ(&standings) {
            None => {
                all.count.unknown += 1;
                for ((entry, place), red) in row.entries.iter().zip(places).zip(&mut all.red_alone) {
                    let case = place.map(|index| entry.cases[index]);
                    let name = case.filter(|(_, standing)| *standing == Standing::Red).map(|(name, _)| name.to_owned());
                    *red = red.take().or(name);
                }
            }
            Some(false) => all.count.same += 1,
            Some(true) => {
                all.count.different += 1;
                let name = |(entry, place): (&super::rows::Entry<'_>, &Option<usize>)| {
                    place.map(|index| entry.cases[index].0.to_owned())
                };
                let names: Vec<Option<String>> = row.entries.iter().zip(places).map(name).collect();
                let name = names.iter().flatten().next().cloned().unwrap_or_default();
                all.different.push(CaseComparison { name, standings });
                all.names.push(names);
            }
        }
    }
    all
}
