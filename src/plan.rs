//! From manifests to what this run will run, in order.

mod partition;
mod teeth;

use std::path::PathBuf;

use globset::Glob;

use crate::error::{Error, Result};
use crate::manifest::{Loaded, LoadedCheck};
use crate::model::{Check, Manifests, Platform, Rules};
use crate::platform;

pub use teeth::{Tooth, Wanted};

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
    /// Checks that share one of these never run together.
    pub locks: Vec<String>,
    /// Index in [`Plan::setups`]; `None` if its file has none.
    pub setup: Option<usize>,
    /// Why it will not run here.
    pub skip: Option<String>,
    /// Whether exit status 0 needs a sign that a test ran. A single command that nobody called a check needs none.
    pub needs_proof: bool,
    /// What it shows of a check's teeth; `None` for a check of a run.
    pub tooth: Option<Tooth>,
}

impl Plan {
    /// The checks that match one of the patterns (all, without patterns), in the order of the manifests; judged by those
    /// rules, or else by what each check says. A variant that is named exactly, there or in `also`, is there whether its
    /// check says so or not.
    ///
    /// # Errors
    ///
    /// If a pattern matches no check, or is no glob, or the project is gone.
    pub fn of_manifests(
        loaded: Loaded,
        patterns: &[String],
        also: &[String],
        rules: Option<Rules>,
        platform: Platform,
    ) -> Result<Self> {
        let project = project(&loaded)?;
        let named = |id: &String| patterns.contains(id) || also.contains(id);
        let variants: Vec<Variant> =
            loaded.checks.into_iter().flat_map(|loaded| variants(loaded, named, rules)).collect();
        let ids: Vec<(&str, &str)> =
            variants.iter().map(|variant| (variant.check.id.as_str(), variant.of.as_str())).collect();
        let wanted = select(&ids, patterns)?;
        let files: Vec<String> = loaded.files.iter().map(|file| file.name.clone()).collect();
        let has_setup: Vec<bool> = loaded.files.iter().map(|file| !file.setup.is_empty()).collect();
        let checks = variants
            .into_iter()
            .zip(wanted)
            .filter(|(_, wanted)| *wanted)
            .map(|(variant, _)| Planned {
                skip: elsewhere(&variant.check, platform),
                setup: has_setup[variant.file].then_some(variant.file),
                locks: variant.locks,
                check: variant.check,
                needs_proof: true,
                tooth: None,
            })
            .collect();
        Ok(Self {
            project,
            checks,
            setups: loaded.files.into_iter().map(|file| file.setup).collect(),
            manifests: Manifests { digest: Some(loaded.digest), files },
        })
    }

    /// The commands that run once before a check.
    #[must_use]
    pub fn setup(&self, planned: &Planned) -> &[Vec<String>] {
        planned.setup.and_then(|setup| self.setups.get(setup)).map_or(&[], Vec::as_slice)
    }

    /// A single command, without a manifest.
    #[must_use]
    pub fn of_command(project: PathBuf, check: Check) -> Self {
        let planned =
            Planned { locks: check.lock.clone(), check, setup: None, skip: None, needs_proof: false, tooth: None };
        Self { project, checks: vec![planned], setups: Vec::new(), manifests: Manifests::default() }
    }
}

/// The folder of the project, without links on the way.
///
/// # Errors
///
/// If it is gone.
pub fn project(loaded: &Loaded) -> Result<PathBuf> {
    platform::real_path(&loaded.project).map_err(|error| Error::file("cannot open the project", &loaded.project, error))
}

/// A check as it will run, and what it is one of.
struct Variant {
    check: Check,
    /// The id of the check in its manifest.
    of: String,
    locks: Vec<String>,
    file: usize,
}

/// A check once by each of the rules that it is to be judged by.
fn variants(loaded: LoadedCheck, is_named: impl Fn(&String) -> bool, only: Option<Rules>) -> Vec<Variant> {
    let LoadedCheck { check, rules: mut all, file } = loaded;
    if let Some(only) = only {
        all = vec![only];
    }
    let named = format!("{}@{}", check.id, Rules::Windows.name());
    if is_named(&named) && !all.contains(&Rules::Windows) {
        all.push(Rules::Windows);
    }
    let of = check.id.clone();
    let several = all.len() > 1;
    all.into_iter()
        .map(|rules| {
            let mut check = Check { rules, ..check.clone() };
            if rules != Rules::Native {
                check.id = format!("{of}@{}", rules.name());
                check.variant = Some(rules.name().to_owned());
            }
            // What a check writes into its project it expects to find as it left it.
            let own = several.then(|| format!("variants of {of}"));
            Variant { locks: check.lock.iter().cloned().chain(own).collect(), check, of: of.clone(), file }
        })
        .collect()
}

fn elsewhere(check: &Check, platform: Platform) -> Option<String> {
    if check.platforms.is_empty() || check.platforms.contains(&platform) {
        return None;
    }
    let names: Vec<_> = check.platforms.iter().map(|platform| platform.name()).collect();
    Some(format!("runs on {} only", names.join(" and ")))
}

/// Which ids are wanted, each given with that of the check that it is a variant of. An exact id wins over a glob of the
/// same text; the id of a check that is there in variants only means all of them.
fn select(ids: &[(&str, &str)], patterns: &[String]) -> Result<Vec<bool>> {
    let mut wanted = vec![patterns.is_empty(); ids.len()];
    for pattern in patterns {
        let mut found = false;
        if let Some(exact) = ids.iter().position(|(id, _)| id == pattern) {
            wanted[exact] = true;
            found = true;
        } else if ids.iter().any(|(_, of)| of == pattern) {
            for ((_, of), wanted) in ids.iter().zip(&mut wanted) {
                *wanted |= of == pattern;
            }
            found = true;
        } else {
            let glob = Glob::new(pattern)
                .map_err(|error| Error::Usage(format!("{pattern} is neither a check's id nor a glob: {error}")))?
                .compile_matcher();
            for ((id, _), wanted) in ids.iter().zip(&mut wanted) {
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

fn nearest(ids: &[(&str, &str)], pattern: &str) -> String {
    let scored = ids.iter().map(|(id, _)| (strsim::damerau_levenshtein(id, pattern), id));
    match scored.min() {
        Some((distance, id)) if distance <= pattern.len().div_ceil(3) => format!("; did you mean {id}?"),
        _ => "; hostproof list shows them all".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(patterns: &[&str]) -> Result<Vec<bool>> {
        let ids = ["guard/lock", "guard/spawn", "sweep", "sweep-[x]"].map(|id| (id, id));
        select(&ids, &patterns.iter().map(|&pattern| pattern.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn patterns_choose_by_id_and_by_glob() {
        assert_eq!(chosen(&[]).expect("all"), [true; 4]);
        assert_eq!(chosen(&["guard/*", "sweep"]).expect("three"), [true, true, true, false]);
        assert_eq!(chosen(&["sweep-[x]"]).expect("the exact one"), [false, false, false, true]);
    }

    #[test]
    fn a_check_with_variants_only_means_all_of_them() {
        let ids = [("a", "a"), ("a@windows", "a"), ("b@windows", "b"), ("b@other", "b")];
        let chosen = |pattern: &str| select(&ids, &[pattern.to_owned()]).expect("a match");
        assert_eq!(chosen("a"), [true, false, false, false]);
        assert_eq!(chosen("b"), [false, false, true, true]);
        assert_eq!(chosen("*@windows"), [false, true, true, false]);
    }

    #[test]
    fn a_pattern_without_a_match_names_the_nearest() {
        let error = chosen(&["sweeep"]).expect_err("no such check").to_string();
        assert!(error.contains("did you mean sweep?"), "{error}");
        let error = chosen(&["zzz"]).expect_err("no such check").to_string();
        assert!(error.contains("hostproof list"), "{error}");
    }
}
