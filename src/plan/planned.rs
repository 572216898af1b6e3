//! What a run will run.

use std::collections::HashSet;
use std::path::PathBuf;

use super::expand::{Expanded, expand};
use super::matrix::{MOST_COMBINATIONS, MOST_PAIRS, combinations, pairs};
use super::select::{NATIVE, select};
use super::teeth::Tooth;
use super::variant::{Variant, Wanted};
use crate::error::{Error, Result};
use crate::manifest::{Loaded, LoadedCheck};
use crate::model::{Check, Fact, Manifests, Platform, Rules};
use crate::platform;

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
    /// What it is a variant of.
    pub variant: Variant,
    /// Checks that share one of these never run together.
    pub locks: Vec<String>,
    /// Whether it may run at the same time as others of its check of which that is so, too. Variants of which it is not come
    /// one after the other, but for copies.
    pub beside: bool,
    /// Whether its check is there in more variants than this one, whichever of them are in the plan.
    pub is_one_of_several: bool,
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
    /// The checks that are asked for, in the order of the manifests.
    ///
    /// # Errors
    ///
    /// If a pattern matches no check, or is no glob, or the project is gone.
    pub fn of_manifests(loaded: Loaded, wanted: &Wanted, platform: Platform) -> Result<Self> {
        let project = project(&loaded)?;
        for one in &loaded.checks {
            bounded(one, wanted)?;
        }
        let named = wanted.named();
        let expanded: Vec<Expanded> =
            loaded.checks.into_iter().flat_map(|loaded| expand(loaded, wanted, &named)).collect();
        let ids: Vec<(&str, &str)> = expanded.iter().map(|one| (one.id.as_str(), one.variant.of.as_str())).collect();
        let mut chosen = select(&ids, &wanted.patterns)?;
        let with: HashSet<&str> = ids.iter().zip(&chosen).filter(|(_, is)| **is).map(|((_, of), _)| *of).collect();
        for (one, chosen) in expanded.iter().zip(&mut chosen) {
            *chosen |= one.goes_with_check && with.contains(one.variant.of.as_str());
        }
        let variants: Vec<&Variant> = expanded.iter().map(|one| &one.variant).collect();
        with_company(&variants, &mut chosen);
        let files: Vec<String> = loaded.files.iter().map(|file| file.name.clone()).collect();
        let has_setup: Vec<bool> = loaded.files.iter().map(|file| !file.setup.is_empty()).collect();
        let mut checks = Vec::with_capacity(chosen.iter().filter(|chosen| **chosen).count());
        checks.extend(expanded.into_iter().zip(chosen).filter(|(_, chosen)| *chosen).map(|(one, _)| {
            let check = one.check();
            Planned {
                skip: elsewhere(&check, platform),
                setup: has_setup[one.file].then_some(one.file),
                check,
                locks: one.locks,
                beside: one.beside,
                is_one_of_several: one.is_one_of_several,
                variant: one.variant,
                needs_proof: true,
                tooth: None,
            }
        }));
        Ok(Self {
            project,
            checks,
            setups: loaded.files.into_iter().map(|file| file.setup).collect(),
            manifests: Manifests { digest: Some(loaded.digest), files },
        })
    }

    /// Keeps the checks with these ids, and what they show nothing without.
    pub fn keep_ids(&mut self, is_kept: impl Fn(&str) -> bool) {
        let variants: Vec<&Variant> = self.checks.iter().map(|planned| &planned.variant).collect();
        let mut chosen: Vec<bool> = self.checks.iter().map(|planned| is_kept(&planned.check.id)).collect();
        with_company(&variants, &mut chosen);
        let mut chosen = chosen.into_iter();
        self.checks.retain(|_| chosen.next().unwrap_or_default());
    }

    /// The commands that run once before a check.
    #[must_use]
    pub fn setup(&self, planned: &Planned) -> &[Vec<String>] {
        planned.setup.and_then(|setup| self.setups.get(setup)).map_or(&[], Vec::as_slice)
    }

    /// A single command, without a manifest; once more under each of these facts.
    #[must_use]
    pub fn of_command(project: PathBuf, check: Check, vary: Vec<Fact>) -> Self {
        let rules = check.rules;
        let loaded = LoadedCheck { rules: vec![Rules::Native], check, vary, matrix: Vec::new(), file: 0 };
        let checks = expand(loaded, &Wanted::default(), &HashSet::new()).into_iter().map(|one| Planned {
            // Nobody chooses it by an id that says so.
            check: Check { rules, ..one.check() },
            locks: one.locks,
            beside: one.beside,
            is_one_of_several: one.is_one_of_several,
            variant: one.variant,
            setup: None,
            skip: None,
            needs_proof: false,
            tooth: None,
        });
        Self { project, checks: checks.collect(), setups: Vec::new(), manifests: Manifests::default() }
    }
}

impl Planned {
    /// What chooses it alone on a command line: its id, or `sweep@native` where that of the check itself means all of its
    /// variants.
    #[must_use]
    pub fn name(&self) -> String {
        let id = &self.check.id;
        if self.is_one_of_several && *id == self.variant.of { format!("{id}{NATIVE}") } else { id.clone() }
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

/// More combinations than anybody waits for are refused.
fn bounded(loaded: &LoadedCheck, wanted: &Wanted) -> Result<()> {
    let number = combinations(&loaded.matrix);
    let pairs = pairs(&loaded.matrix);
    let mut sizes: Vec<usize> = loaded.matrix.iter().map(|(_, values)| values.len()).collect();
    sizes.sort_unstable_by(|one, other| other.cmp(one));
    // Every two values of the largest two are in a combination of their own.
    let least: usize = sizes.iter().take(2).product();
    if wanted.pairwise && (pairs > MOST_PAIRS || least > MOST_COMBINATIONS) {
        return Err(Error::Usage(format!(
            "the matrix of {} is too large, also by pairs: {pairs} pairs of values, in at least {least} combinations, and at \
             most {MOST_PAIRS} in {MOST_COMBINATIONS} are run",
            loaded.check.id
        )));
    }
    if wanted.pairwise || number.is_some_and(|number| number <= MOST_COMBINATIONS) {
        return Ok(());
    }
    let number = number.map_or_else(|| "beyond counting".to_owned(), |number| number.to_string());
    Err(Error::Usage(format!(
        "the matrix of {} has too many combinations ({number}, and at most {MOST_COMBINATIONS} are run): with --pairwise every \
         two values are together in one of a few",
        loaded.check.id
    )))
}

/// Chooses with a copy what it runs beside, and the check alone: one without the others shows nothing.
fn with_company(variants: &[&Variant], chosen: &mut [bool]) {
    let company = |one: &Variant| (one.compared_with(), one.has_one_tmpdir());
    let copies = variants.iter().zip(&*chosen).filter(|(one, chosen)| **chosen && one.is_copy());
    let named: HashSet<(String, bool)> = copies.map(|(one, _)| company(one)).collect();
    let alone: HashSet<&str> = named.iter().map(|(id, _)| id.as_str()).collect();
    for (one, chosen) in variants.iter().zip(chosen) {
        let is_alone = || alone.contains(one.id().as_str());
        *chosen |= if one.is_copy() { named.contains(&company(one)) } else { is_alone() };
    }
}

fn elsewhere(check: &Check, platform: Platform) -> Option<String> {
    if check.platforms.is_empty() || check.platforms.contains(&platform) {
        return None;
    }
    let names: Vec<_> = check.platforms.iter().map(|platform| platform.name()).collect();
    Some(format!("runs on {} only", names.join(" and ")))
}
