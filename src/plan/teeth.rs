//! The checks that show whether checks can fail: each with `breaks` once as it is, in a copy of the project, and once with
//! each of its edits made there.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Plan, Planned, Variant};
use crate::error::{Error, Result};
use crate::model::{Break, Check, Cwd, FlakyIs, Retries};

/// What stands between the id of a check and the number of its edit.
const MARK: char = '!';

/// What a check of `teeth` is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tooth {
    /// The check as it is, in a copy. It must be green, or nothing that turns it red shows anything.
    Whole {
        /// What its edits must turn it red for: texts among them must not be in its output as it is.
        expects: Vec<String>,
    },
    /// The check with edits, which must turn it red.
    Edited {
        /// The place in the plan of the check as it is.
        of: usize,
        /// The place of the break in the check's `breaks`, from 1.
        number: usize,
        made: Break,
    },
}

impl Tooth {
    /// What to look for in the output.
    #[must_use]
    pub fn expects(&self) -> &[String] {
        match self {
            Self::Whole { expects } => expects,
            Self::Edited { made, .. } => std::slice::from_ref(&made.expect),
        }
    }
}

/// Which checks and which of their edits the command line names.
#[derive(Debug, Default)]
pub struct Named {
    /// Ids and globs of checks, those of which edits are named alone included.
    pub checks: Vec<String>,
    /// Edits that are named alone: the id of the check, and the number.
    edits: Vec<(String, usize)>,
    /// The ids that are named for such an edit and for nothing else: none of their variants is meant.
    only: HashSet<String>,
}

impl Named {
    /// Takes `sweep!2` apart.
    #[must_use]
    pub fn of(patterns: &[String]) -> Self {
        let mut named = Self::default();
        for pattern in patterns {
            let edit = pattern.rsplit_once(MARK).and_then(|(id, number)| Some((id, number.parse().ok()?)));
            named.checks.push(edit.map_or(pattern.as_str(), |(id, _)| id).to_owned());
            named.edits.extend(edit.map(|(id, number)| (id.to_owned(), number)));
        }
        let ids = named.edits.iter().map(|(id, _)| id);
        named.only = ids.filter(|id| !patterns.contains(id)).cloned().collect();
        named
    }

    /// Whether an edit is wanted: it is if no edit of its check is named alone. 0 is the check as it is, and means no other.
    fn has(&self, id: &str, number: usize) -> bool {
        let mut named = self.edits.iter().filter(|(of, _)| of == id).peekable();
        named.peek().is_none() || named.any(|(_, wanted)| *wanted == number)
    }
}

impl Plan {
    /// The plan of `teeth`: of each check that has `breaks` itself (`sweep!0`) and with each of the edits that are wanted
    /// (`sweep!1`, `sweep!2`), all of them in copies of the project. Other checks are not in it, nor is, by the same
    /// rules, any variant but the first unless it is named: what notices an edit is mostly the same there.
    ///
    /// # Errors
    ///
    /// If an edit is named that a check does not have.
    pub fn teeth(self, named: &Named) -> Result<Self> {
        for (id, number) in &named.edits {
            let check = self.checks.iter().find(|planned| planned.id() == id);
            let has = check.map_or(0, |planned| planned.base().breaks.len());
            if *number > has {
                let edits = if has == 1 { "1 edit".to_owned() } else { format!("{has} edits") };
                return Err(Error::Usage(format!(
                    "{id} has {edits} under `breaks`, so there is no {id}{MARK}{number}"
                )));
            }
        }
        let mut checks = Vec::new();
        let mut tried: HashSet<String> = HashSet::new();
        let is_tried = |planned: &Planned| {
            let mut is_first = || tried.insert(planned.variant.by_rules());
            let is_named = named.checks.iter().any(|named| named == planned.id());
            let is_meant = is_named || !named.only.contains(&*planned.variant.of);
            !planned.base().breaks.is_empty() && is_meant && (is_named || is_first())
        };
        for planned in self.checks.into_iter().filter(is_tried) {
            let of = checks.len();
            let id = planned.id();
            let breaks = planned.base().breaks.iter().enumerate().map(|(at, made)| (at + 1, made.clone()));
            let breaks: Vec<(usize, Break)> = breaks.filter(|(number, _)| named.has(id, *number)).collect();
            let expects = breaks.iter().map(|(_, made)| made.expect.clone()).collect();
            checks.push(in_copy(&planned, 0, "as it is".to_owned(), Tooth::Whole { expects }));
            for (number, made) in breaks {
                let title = format!("with {} edited: expected is {}", made.files().join(" and "), made.expect);
                checks.push(in_copy(&planned, number, title, Tooth::Edited { of, number, made }));
            }
        }
        Ok(Self { checks, ..self })
    }
}

/// One of the checks that a check with `breaks` becomes.
fn in_copy(planned: &Planned, number: usize, title: String, tooth: Tooth) -> Planned {
    let check = planned.check();
    let id = format!("{}{MARK}{number}", check.id);
    let (repeat, retries) = match tooth {
        Tooth::Whole { .. } => (check.repeat, check.retries),
        // A check that runs several times is red if one of the runs is.
        Tooth::Edited { .. } => {
            (1, (check.repeat > 1).then(|| Retries { count: check.repeat - 1, flaky: FlakyIs::Pass }))
        }
    };
    // Nothing is said of it together with others.
    let variant = Variant::plain(&id);
    let check = Check {
        id,
        variant: Some(format!("{}{MARK}{number}", check.variant.as_deref().unwrap_or_default())),
        title: Some(title),
        cwd: if check.cwd == Cwd::Project { Cwd::Copy } else { check.cwd },
        copies: 1,
        repeat,
        retries,
        ..check
    };
    Planned {
        // Each has a copy of its own: only what it has in common with others keeps it back.
        locks: check.lock.clone().into(),
        setup: planned.setup,
        skip: planned.skip.clone(),
        needs_proof: planned.needs_proof,
        tooth: Some(Box::new(tooth)),
        ..Planned::new(Arc::new(check), variant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CheckCommand, Edit, Fact, Manifests, Rules};
    use crate::plan::Change;

    fn plan() -> Plan {
        let edit = Edit { file: "a".into(), replace: "x".into(), with: String::new(), all: false };
        let made = |expect: &str| Break { edits: vec![edit.clone()], expect: expect.into() };
        let check = |id: &str, breaks| Check { breaks, ..Check::new(id, CheckCommand::Argv(vec!["x".into()])) };
        let checks = vec![
            planned(check("none", vec![]), &[]),
            planned(check("a", vec![made("one"), made("two")]), &[]),
            planned(check("b", vec![made("three")]), &[]),
        ];
        Plan { project: "/".into(), checks, setups: vec![], manifests: Manifests::default() }
    }

    fn planned(check: Check, changes: &[Change]) -> Planned {
        let variant = Variant::plain(&check.id).with_all(changes);
        let locks = ["planted x".to_owned()].into();
        Planned { locks, beside: true, is_one_of_several: true, ..Planned::new(Arc::new(check), variant) }
    }

    fn ids(patterns: &[&str]) -> Result<Vec<String>> {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        let plan = plan().teeth(&Named::of(&patterns))?;
        Ok(plan.checks.iter().map(|planned| planned.id().to_owned()).collect())
    }

    #[test]
    fn each_edit_is_a_check_after_the_check_as_it_is() {
        assert_eq!(ids(&[]).expect("all"), ["a!0", "a!1", "a!2", "b!0", "b!1"]);
        assert_eq!(ids(&["a!2", "b"]).expect("some"), ["a!0", "a!2", "b!0", "b!1"]);
        assert_eq!(ids(&["a!0"]).expect("none"), ["a!0", "b!0", "b!1"]);
        let error = ids(&["b!2"]).expect_err("no such edit").to_string();
        assert_eq!(error, "b has 1 edit under `breaks`, so there is no b!2");
    }

    #[test]
    fn one_red_run_of_several_is_enough_for_an_edit_and_facts_are_left_alone() {
        let mut plan = plan();
        let check = Check { repeat: 20, ..plan.checks[1].check() };
        plan.checks[1] = planned(check.clone(), &[]);
        plan.checks[2] = planned(check, &[Change::Fact(Fact::Locale)]);
        let plan = plan.teeth(&Named::default()).expect("a plan");
        let tries = plan.checks.iter().map(|planned| {
            let Check { repeat, retries, .. } = planned.base();
            (planned.id(), *repeat, retries.map(|retries| (retries.count, retries.flaky)))
        });
        let edited = Some((19, FlakyIs::Pass));
        assert_eq!(tries.collect::<Vec<_>>(), [("a!0", 20, None), ("a!1", 1, edited), ("a!2", 1, edited)]);
    }

    #[test]
    fn an_edit_that_is_named_is_that_of_the_check_and_of_none_of_its_variants() {
        let mut plan = plan();
        plan.checks[2] = planned(plan.checks[1].check(), &[Change::Rules(Rules::Windows)]);
        let ids = |patterns: &[&str]| {
            let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
            let plan = plan.clone().teeth(&Named::of(&patterns)).expect("a plan");
            plan.checks.iter().map(|planned| planned.id().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(ids(&["a!2"]), ["a!0", "a!2"]);
        assert_eq!(ids(&["a!2", "a@windows!1"]), ["a!0", "a!2", "a@windows!0", "a@windows!1"]);
        let all = ["a!0", "a!1", "a!2", "a@windows!0", "a@windows!1", "a@windows!2"];
        assert_eq!(ids(&["a"]), all);
    }

    #[test]
    fn copies_do_not_keep_each_other_back() {
        let plan = plan().teeth(&Named::default()).expect("a plan");
        assert!(plan.checks.iter().all(|planned| planned.locks.is_empty() && planned.base().cwd == Cwd::Copy));
        let Some(Tooth::Edited { of, number, .. }) = plan.checks[4].tooth.as_deref() else { panic!("no edit") };
        assert_eq!((*of, *number, plan.checks[*of].id()), (3, 1, "b!0"));
    }
}
