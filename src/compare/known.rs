//! What a run knows of checks, by their ids.

use std::collections::{HashMap, HashSet};

use globset::{Glob, GlobMatcher};

use super::Side;
use super::rows::base;
use crate::model::{CheckReport, Report};

/// The checks of one run; none of a JUnit file.
pub struct Known<'a> {
    checks: HashMap<&'a str, &'a CheckReport>,
    not_run: HashSet<&'a str>,
    /// Which checks the run was asked for.
    asked: Asked,
}

enum Asked {
    All,
    These(Vec<GlobMatcher>),
    /// Those that were red before, whichever they were.
    Failed,
}

impl<'a> Known<'a> {
    pub fn of(side: &'a Side) -> Self {
        let Some(report) = side.document.report() else {
            return Self { checks: HashMap::new(), not_run: HashSet::new(), asked: Asked::All };
        };
        // Of two of one id the first counts.
        let checks = report.checks.iter().rev().map(|check| (check.id.as_str(), check)).collect();
        let not_run = report.run.not_run.iter().map(String::as_str).collect();
        Self { checks, not_run, asked: asked(report) }
    }

    /// The report of a check that was reached.
    pub fn check(&self, id: &str) -> Option<&'a CheckReport> {
        self.checks.get(id).copied()
    }

    /// Whether the run was to run it.
    pub fn knows(&self, id: &str) -> bool {
        self.checks.contains_key(id) || self.not_run.contains(id)
    }

    /// Whether the run was asked for others alone.
    pub fn is_unasked(&self, id: &str) -> bool {
        let asked = match &self.asked {
            Asked::All => true,
            Asked::These(globs) => globs.iter().any(|glob| names(glob, id)),
            Asked::Failed => false,
        };
        !asked && !self.knows(id)
    }
}

fn names(glob: &GlobMatcher, id: &str) -> bool {
    glob.is_match(id) || glob.is_match(base(id))
}

/// What the words of a run ask for. A word that names none of its checks is none that names checks.
fn asked(report: &Report) -> Asked {
    let words = || report.run.argv.iter().skip_while(|word| *word != "run").skip(1);
    if words().any(|word| word == "--failed") {
        return Asked::Failed;
    }
    let globs: Vec<GlobMatcher> = words()
        .filter(|word| !word.starts_with('-'))
        .filter_map(|word| Some(Glob::new(word).ok()?.compile_matcher()))
        .filter(|glob| report.checks.iter().any(|check| names(glob, &check.id)))
        .collect();
    if globs.is_empty() { Asked::All } else { Asked::These(globs) }
}
