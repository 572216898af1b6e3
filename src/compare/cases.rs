//! The cases of one check in all runs.

use std::collections::HashMap;

use super::names::{keys, parts};
use super::rows::Row;
use crate::model::{CaseComparison, ComparedCount, Standing};

/// The cases of a row.
#[derive(Debug, Default)]
pub struct Cases {
    pub count: ComparedCount,
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
    let words: Vec<Vec<Vec<String>>> =
        row.entries.iter().map(|entry| entry.cases.iter().map(|(name, _)| parts(name)).collect()).collect();
    let keys = keys(&words);
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
    let mut all = Cases::default();
    for key in order {
        let places = &found[key];
        let standing = |(entry, place): (&super::rows::Entry<'_>, &Option<usize>)| match place {
            Some(index) => entry.cases[*index].1,
            // A check that did not run says so as a whole.
            None if entry.whole && !entry.cases.is_empty() => Standing::Missing,
            None => Standing::Unknown,
        };
        let standings: Vec<Standing> = row.entries.iter().zip(places).map(standing).collect();
        match differ(&standings) {
            None => all.count.unknown += 1,
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
