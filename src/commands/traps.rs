//! Traps that can be read in what a red check runs and covers, beside its findings. Of green checks nothing is read.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::lints::{self, Targets, Wanted};
use crate::model::{Check, Lint};
use crate::report::Look;
use crate::wirings::Disk;
use crate::words::shown;

/// The most that are shown of one check.
const MOST: usize = 5;

/// The lines of each of these checks, by the id that is given with it. Each file is parsed once, however many checks have it.
pub fn traps(look: Look, project: &Path, checks: &[(&str, &Check)]) -> BTreeMap<String, Vec<String>> {
    if checks.is_empty() {
        return BTreeMap::new();
    }
    // Only globs and folders want a list of all files.
    let lists = checks.iter().any(|(_, check)| !check.covers.is_empty() || !check.files.is_empty());
    let disk = if lists { Disk::open(project).0 } else { Disk::of(project, &[]) };
    let mut all = BTreeMap::new();
    let mut files_of = BTreeMap::new();
    for (id, check) in checks {
        let targets = lints::targets(project, Wanted::Hooks, &disk, std::slice::from_ref(*check), &[]);
        let names: BTreeSet<String> = targets.files.iter().map(|target| target.shown.clone()).collect();
        all.extend(targets.files.into_iter().map(|target| (target.shown.clone(), target)));
        files_of.insert((*id).to_owned(), names);
    }
    let scanned = lints::scan(&Targets { files: all.into_values().collect(), ..Targets::default() });
    let lines = |files: &BTreeSet<String>| {
        let open: Vec<&Lint> =
            scanned.lints.iter().filter(|lint| lint.allowed.is_none() && files.contains(&lint.file)).collect();
        let mut lines: Vec<String> = open.iter().take(MOST).map(|lint| line(look, lint)).collect();
        if open.len() > MOST {
            lines
                .push(format!("    note   and {} more places like these     hostproof lint --code", open.len() - MOST));
        }
        lines
    };
    files_of.iter().map(|(id, files)| (id.clone(), lines(files))).collect()
}

fn line(look: Look, lint: &Lint) -> String {
    let said = shown(format!("{}   {}", lint.place(), lint.message).as_bytes());
    look.text(&format!("    note   {said}     hostproof explain {}", lint.kind.slug()))
}
