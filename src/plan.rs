//! From manifests to what this run will run, in order.

use std::path::PathBuf;

use globset::Glob;

use crate::error::{Error, Result};
use crate::manifest::Loaded;
use crate::model::{Check, Manifests, Platform};

/// What a run will run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Absolute, without symbolic links.
    pub project: PathBuf,
    pub checks: Vec<Planned>,
    /// Argvs to run once before the first check of the same index in [`Planned::setup`].
    pub setups: Vec<Vec<Vec<String>>>,
    pub manifests: Manifests,
}

/// One check of a run.
#[derive(Debug, Clone)]
pub struct Planned {
    pub check: Check,
    /// Index in [`Plan::setups`]; `None` if its file has none.
    pub setup: Option<usize>,
    /// Why it will not run here.
    pub skip: Option<String>,
    /// Whether exit status 0 needs a sign that a test ran. A single command that nobody called a check needs none.
    pub needs_proof: bool,
}

impl Plan {
    /// The checks that match one of the patterns (all, without patterns), in the order of the manifests.
    ///
    /// # Errors
    ///
    /// If a pattern matches no check, or is no glob, or the project is gone.
    pub fn of_manifests(loaded: Loaded, patterns: &[String], platform: Platform) -> Result<Self> {
        let ids: Vec<String> = loaded.checks.iter().map(|loaded| loaded.check.id.clone()).collect();
        let wanted = select(&ids, patterns)?;
        let files: Vec<String> = loaded.files.iter().map(|file| file.name.clone()).collect();
        let has_setup: Vec<bool> = loaded.files.iter().map(|file| !file.setup.is_empty()).collect();
        let checks = loaded
            .checks
            .into_iter()
            .zip(wanted)
            .filter(|(_, wanted)| *wanted)
            .map(|(loaded, _)| Planned {
                skip: elsewhere(&loaded.check, platform),
                setup: has_setup[loaded.file].then_some(loaded.file),
                check: loaded.check,
                needs_proof: true,
            })
            .collect();
        let project = std::fs::canonicalize(&loaded.project)
            .map_err(|error| Error::file("cannot open the project", &loaded.project, error))?;
        Ok(Self {
            project,
            checks,
            setups: loaded.files.into_iter().map(|file| file.setup).collect(),
            manifests: Manifests { digest: Some(loaded.digest), files },
        })
    }

    /// A single command, without a manifest.
    #[must_use]
    pub fn of_command(project: PathBuf, check: Check) -> Self {
        let planned = Planned { check, setup: None, skip: None, needs_proof: false };
        Self { project, checks: vec![planned], setups: Vec::new(), manifests: Manifests::default() }
    }
}

fn elsewhere(check: &Check, platform: Platform) -> Option<String> {
    if check.platforms.is_empty() || check.platforms.contains(&platform) {
        return None;
    }
    let names: Vec<_> = check.platforms.iter().map(|platform| platform.name()).collect();
    Some(format!("runs on {} only", names.join(" and ")))
}

/// Which ids are wanted. An exact id wins over a glob of the same text.
fn select(ids: &[String], patterns: &[String]) -> Result<Vec<bool>> {
    let mut wanted = vec![patterns.is_empty(); ids.len()];
    for pattern in patterns {
        let mut found = false;
        if let Some(exact) = ids.iter().position(|id| id == pattern) {
            wanted[exact] = true;
            found = true;
        } else {
            let glob = Glob::new(pattern)
                .map_err(|error| Error::Usage(format!("{pattern} is neither a check's id nor a glob: {error}")))?
                .compile_matcher();
            for (id, wanted) in ids.iter().zip(&mut wanted) {
                if glob.is_match(id) {
                    *wanted = true;
                    found = true;
                }
            }
        }
        if !found {
            return Err(Error::Usage(format!("no check matches {pattern}{}", nearest(ids, pattern))));
        }
    }
    Ok(wanted)
}

fn nearest(ids: &[String], pattern: &str) -> String {
    let scored = ids.iter().map(|id| (strsim::damerau_levenshtein(id, pattern), id));
    match scored.min() {
        Some((distance, id)) if distance <= pattern.len().div_ceil(3) => format!("; did you mean {id}?"),
        _ => "; hostproof list shows them all".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(patterns: &[&str]) -> Result<Vec<bool>> {
        let ids = ["guard/lock", "guard/spawn", "sweep", "sweep-[x]"].map(str::to_owned);
        select(&ids, &patterns.iter().map(|&pattern| pattern.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn patterns_choose_by_id_and_by_glob() {
        assert_eq!(chosen(&[]).expect("all"), [true; 4]);
        assert_eq!(chosen(&["guard/*", "sweep"]).expect("three"), [true, true, true, false]);
        assert_eq!(chosen(&["sweep-[x]"]).expect("the exact one"), [false, false, false, true]);
    }

    #[test]
    fn a_pattern_without_a_match_names_the_nearest() {
        let error = chosen(&["sweeep"]).expect_err("no such check").to_string();
        assert!(error.contains("did you mean sweep?"), "{error}");
        let error = chosen(&["zzz"]).expect_err("no such check").to_string();
        assert!(error.contains("hostproof list"), "{error}");
    }
}
