//! What several reports say together of a matrix: combinations that ran in different parts, or again, are set against each
//! other anew.

use std::collections::{BTreeMap, HashMap};

use super::groups::{self, Member, Standing};
use super::settings;
use crate::model::{CheckReport, Finding, Kind, SharedUse};
use crate::plan::{Change, Variant};

/// The combinations among the checks of reports.
#[derive(Debug, Default)]
pub struct Combinations {
    /// By their places.
    seen: BTreeMap<usize, (Variant, Standing)>,
}

impl Combinations {
    /// Takes in what a check says, if it is a combination.
    pub fn note(&mut self, place: usize, check: &CheckReport) {
        if let Some(variant) = combination(&check.id) {
            let standing = Standing::of(check, &variant);
            self.seen.insert(place, (variant, standing));
        }
    }

    /// What is said of the red ones among the chosen, by their places. Those of one check by the same rules are set against
    /// each other.
    #[must_use]
    pub fn conclude(&self, chosen: &[usize]) -> BTreeMap<usize, String> {
        let nothing = SharedUse::default();
        let mut by_check: HashMap<&str, Vec<(usize, Member<'_>)>> = HashMap::new();
        for place in chosen {
            if let Some((variant, standing)) = self.seen.get(place) {
                let member = Member { variant, standing: *standing, frame: None, shared: &nothing };
                by_check.entry(&variant.of).or_default().push((*place, member));
            }
        }
        let of_check = |members: Vec<(usize, Member<'_>)>| {
            settings::conclude(&members.iter().map(|(place, member)| (*place, member)).collect::<Vec<_>>())
        };
        by_check.into_values().flat_map(of_check).collect()
    }

    /// Says that of a combination, in place of what was said before; nothing if that is `None`.
    pub fn say(check: &mut CheckReport, what: Option<&str>) {
        if combination(&check.id).is_none() {
            return;
        }
        let is_old = |finding: &mut Finding| finding.kind == Kind::DependsOn;
        for old in check.findings.extract_if(.., is_old) {
            let rest = check.reason.take().map(|reason| match reason.strip_prefix(&old.message) {
                Some(rest) => rest.trim_start_matches(": ").to_owned(),
                None => reason,
            });
            check.reason = rest.filter(|rest| !rest.is_empty());
        }
        if let Some(what) = what {
            let finding = groups::breaks(what.to_owned(), check.frames.first());
            groups::add(check, finding);
        }
    }
}

/// The settings in an id that ends with them; what they are settings of is the rest.
fn combination(id: &str) -> Option<Variant> {
    let (of, settings) = id.strip_suffix(']')?.rsplit_once('[')?;
    settings.split(',').try_fold(Variant::plain(of), |variant, setting| {
        let (name, value) = setting.split_once('=')?;
        Some(variant.with(Change::setting(name, Some(value))))
    })
}

#[cfg(test)]
mod tests {
    use super::super::records;
    use super::*;
    use crate::model::{Check, CheckCommand, Verdict};

    fn report(id: &str, verdict: Verdict) -> CheckReport {
        let check = Check::new(id, CheckCommand::Argv(vec!["x".into()]));
        records::empty(&check, verdict, verdict.is_red().then(|| "exit status 1".to_owned()))
    }

    #[test]
    fn parts_are_set_against_each_other() {
        use Verdict::{Failed, Passed};
        let all = [("a[F=1,M=x]", Failed), ("a[F=1,M=y]", Failed), ("a[F=2,M=x]", Passed), ("a@windows[F=1]", Failed)];
        let others = [("a[locale]", Failed), ("a[F=2,M=x][locale]", Failed), ("b", Failed)];
        let mut combinations = Combinations::default();
        for (place, (id, verdict)) in all.iter().chain(&others).enumerate() {
            combinations.note(place, &report(id, *verdict));
        }
        let told = combinations.conclude(&[0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(told.keys().copied().collect::<Vec<_>>(), [0, 1]);
        assert!(told[&0].starts_with("passes, but not with F=1 (2 combinations"), "{told:?}");
        assert!(combinations.conclude(&[0, 1, 3]).is_empty(), "none passes");
    }

    #[test]
    fn what_was_said_before_is_replaced() {
        let mut check = report("a[F=1]", Verdict::Failed);
        groups::add(&mut check, groups::breaks("passes, but not with F=1".to_owned(), None));
        assert_eq!(check.reason.as_deref(), Some("passes, but not with F=1: exit status 1"));
        Combinations::say(&mut check, Some("passes, but not with F=1 (2)"));
        assert_eq!(check.reason.as_deref(), Some("passes, but not with F=1 (2): exit status 1"));
        assert_eq!(check.findings.len(), 1);
        Combinations::say(&mut check, None);
        assert_eq!((check.reason.as_deref(), check.findings.len()), (Some("exit status 1"), 0));
    }
}
