//! What a run will run.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use super::expand::expand;
use super::matrix::{MOST_COMBINATIONS, MOST_PAIRS, combinations, pairs};
use super::select::{NATIVE, select};
use super::teeth::Tooth;
use super::variant::{Change, Variant, Wanted};
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
///
/// Of a check there may be very many variants: what they have in common is there once, and the check as a variant runs it is
/// made when it is asked for.
#[derive(Debug, Clone)]
pub struct Planned {
    pub(super) id: Box<str>,
    pub(super) base: Arc<Check>,
    /// What it is a variant of.
    pub variant: Variant,
    /// Checks that share one of these never run together.
    pub locks: Arc<[String]>,
    /// Whether it may run at the same time as others of its check of which that is so, too. Variants of which it is not come
    /// one after the other, but for copies.
    pub beside: bool,
    /// Whether its check is there in more variants than this one, whichever of them are in the plan.
    pub is_one_of_several: bool,
    /// Whether exit status 0 needs a sign that a test ran. A single command that nobody called a check needs none.
    pub needs_proof: bool,
    /// Index in [`Plan::setups`]; `None` if its file has none.
    pub setup: Option<usize>,
    /// Why it will not run here.
    pub skip: Option<Arc<str>>,
    /// What it shows of a check's teeth; `None` for a check of a run.
    pub tooth: Option<Box<Tooth>>,
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
        let files: Vec<String> = loaded.files.iter().map(|file| file.name.clone()).collect();
        let setups: Vec<Vec<Vec<String>>> = loaded.files.into_iter().map(|file| file.setup).collect();
        let (mut checks, mut go_with_check) = (Vec::new(), Vec::new());
        for one in loaded.checks {
            let setup = (!setups[one.file].is_empty()).then_some(one.file);
            let skip: Option<Arc<str>> = elsewhere(&one.check, platform).map(Into::into);
            for (planned, goes_with_check) in expand(one, wanted, &named) {
                checks.push(Planned { setup, skip: skip.clone(), ..planned });
                go_with_check.push(goes_with_check);
            }
        }
        let ids: Vec<(&str, &str)> = checks.iter().map(|one| (one.id(), &*one.variant.of)).collect();
        let mut chosen = select(&ids, &wanted.patterns)?;
        let with: HashSet<&str> = ids.iter().zip(&chosen).filter(|(_, is)| **is).map(|((_, of), _)| *of).collect();
        for ((one, goes_with_check), chosen) in checks.iter().zip(go_with_check).zip(&mut chosen) {
            *chosen |= goes_with_check && with.contains(&*one.variant.of);
        }
        let mut plan = Self { project, checks, setups, manifests: Manifests { digest: Some(loaded.digest), files } };
        plan.keep_chosen(chosen);
        Ok(plan)
    }

    /// Keeps the checks with these ids, and what they show nothing without.
    pub fn keep_ids(&mut self, is_kept: impl Fn(&str) -> bool) {
        let chosen = self.checks.iter().map(|planned| is_kept(planned.id())).collect();
        self.keep_chosen(chosen);
    }

    fn keep_chosen(&mut self, mut chosen: Vec<bool>) {
        with_company(&self.checks, &mut chosen);
        let mut chosen = chosen.into_iter();
        self.checks.retain(|_| chosen.next().unwrap_or_default());
    }

    /// Changes what all checks say.
    pub fn change(&mut self, change: impl Fn(&mut Check)) {
        // Variants of a check stand together.
        let mut last: Option<[Arc<Check>; 2]> = None;
        for planned in &mut self.checks {
            let known = last.as_ref().filter(|[before, _]| Arc::ptr_eq(before, &planned.base));
            let changed = || {
                let mut check = Check::clone(&planned.base);
                change(&mut check);
                Arc::new(check)
            };
            let after = known.map_or_else(changed, |[_, after]| Arc::clone(after));
            let before = std::mem::replace(&mut planned.base, Arc::clone(&after));
            last = Some([before, after]);
        }
    }

    /// The commands that run once before a check.
    #[must_use]
    pub fn setup(&self, planned: &Planned) -> &[Vec<String>] {
        planned.setup.and_then(|setup| self.setups.get(setup)).map_or(&[], Vec::as_slice)
    }

    /// A single command, without a manifest; once more under each of these facts.
    #[must_use]
    pub fn of_command(project: PathBuf, check: Check, vary: Vec<Fact>) -> Self {
        let loaded = LoadedCheck { rules: vec![Rules::Native], check, vary, matrix: Vec::new(), file: 0 };
        let checks = expand(loaded, &Wanted::default(), &HashSet::new());
        let checks = checks.map(|(planned, _)| Planned { needs_proof: false, ..planned }).collect();
        Self { project, checks, setups: Vec::new(), manifests: Manifests::default() }
    }
}

impl Planned {
    /// A variant of a check, on its own.
    #[must_use]
    pub fn new(base: Arc<Check>, variant: Variant) -> Self {
        Self {
            id: variant.id().into(),
            base,
            variant,
            locks: Arc::default(),
            beside: false,
            is_one_of_several: false,
            needs_proof: true,
            setup: None,
            skip: None,
            tooth: None,
        }
    }

    /// Its id, unique in the run.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The check that it is a variant of: what no variant changes is its own as well. That is all but `id`, `variant`, `env`,
    /// `rules`, `fact` and `retries`.
    #[must_use]
    pub fn base(&self) -> &Check {
        &self.base
    }

    /// By whose rules it is judged.
    #[must_use]
    pub fn rules(&self) -> Rules {
        let own = self.variant.changes.iter().find_map(|change| match change {
            Change::Rules(rules) => Some(*rules),
            _ => None,
        });
        own.unwrap_or(self.base.rules)
    }

    /// The check as it runs.
    #[must_use]
    pub fn check(&self) -> Check {
        let mut check = Check { id: self.id().to_owned(), rules: self.rules(), ..Check::clone(&self.base) };
        check.variant = self.variant.name().or(check.variant);
        for change in &*self.variant.changes {
            match change {
                Change::Fact(fact) => check.fact = Some(*fact),
                Change::Setting(set) => drop(check.env.insert(set.name.clone(), set.value.clone())),
                // Whether it meets the others is not to be tried until it does not.
                Change::Copy(_) => check.retries = None,
                Change::Rules(_) | Change::OneTmpdir => {}
            }
        }
        check
    }

    /// What chooses it alone on a command line: its id, or `sweep@native` where that of the check itself means all of its
    /// variants.
    #[must_use]
    pub fn name(&self) -> String {
        let id = self.id();
        if self.is_one_of_several && *id == *self.variant.of { format!("{id}{NATIVE}") } else { id.to_owned() }
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
fn with_company(checks: &[Planned], chosen: &mut [bool]) {
    let company = |one: &Variant| (one.compared_with(), one.has_one_tmpdir());
    let copies = checks.iter().zip(&*chosen).filter(|(one, chosen)| **chosen && one.variant.is_copy());
    let named: HashSet<(String, bool)> = copies.map(|(one, _)| company(&one.variant)).collect();
    let alone: HashSet<&str> = named.iter().map(|(id, _)| id.as_str()).collect();
    for (one, chosen) in checks.iter().zip(chosen) {
        *chosen |=
            if one.variant.is_copy() { named.contains(&company(&one.variant)) } else { alone.contains(one.id()) };
    }
}

fn elsewhere(check: &Check, platform: Platform) -> Option<String> {
    if check.platforms.is_empty() || check.platforms.contains(&platform) {
        return None;
    }
    let names: Vec<_> = check.platforms.iter().map(|platform| platform.name()).collect();
    Some(format!("runs on {} only", names.join(" and ")))
}
