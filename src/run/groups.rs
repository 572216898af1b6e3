//! What is said of a check's variants together, once all of them are judged.
//!
//! # Invariants
//!
//! - **Nothing is kept for long**: of a variant that is not red, its verdict alone is; a red one's report waits for the last
//!   of its group, and is one of those that stay anyway.
//! - **Nothing is guessed**: of a check that itself is red, or was not seen to pass, no variant depends on anything.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use crate::model::{CheckReport, Finding, Frame, Kind, Severity, Verdict};
use crate::plan::{Change, Plan, Variant};

/// How a variant stands, as far as it says something of what was changed for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Green,
    Red,
    /// It was left out, or could not be run or measured.
    Unknown,
}

impl Standing {
    fn of(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Passed => Self::Green,
            Verdict::Skipped | Verdict::Broken => Self::Unknown,
            _ => Self::Red,
        }
    }
}

/// A judged variant.
#[derive(Debug, Clone, Copy)]
pub struct Member<'a> {
    pub variant: &'a Variant,
    pub standing: Standing,
    /// Where it failed, if it did.
    pub frame: Option<&'a Frame>,
}

/// What the judged variants of one check say together: findings, each with the place of the variant that it is about.
#[must_use]
pub fn conclude(members: &[Member<'_>]) -> Vec<(usize, Finding)> {
    let red = members.iter().enumerate().filter(|(_, member)| member.standing == Standing::Red);
    let found = red.filter_map(|(place, member)| {
        let (Change::Fact(fact), others) = member.variant.changes.split_last()? else { return None };
        let passes = |other: &&Member<'_>| other.variant.changes == others && other.standing == Standing::Green;
        members.iter().find(passes)?;
        let message = format!("passes, but not {}", fact.words());
        let mut finding = Finding::new(Kind::DependsOn, Severity::Error, message);
        finding.frame = member.frame.cloned();
        finding.remedy = Some("make it hold either way, or let the check itself say what it needs".to_owned());
        Some((place, finding))
    });
    found.collect()
}

/// The variants of a plan that are yet to be judged.
pub struct Groups<'a> {
    plan: &'a Plan,
    /// The group of each check in the plan; `None` for one without other variants.
    group_of: Vec<Option<usize>>,
    waiting: Mutex<Vec<Group>>,
}

struct Group {
    size: usize,
    seen: Vec<(usize, Standing)>,
    /// The reports of the red ones.
    held: Vec<(usize, CheckReport)>,
}

impl<'a> Groups<'a> {
    /// None is judged yet.
    #[must_use]
    pub fn of(plan: &'a Plan) -> Self {
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, planned) in plan.checks.iter().enumerate() {
            places.entry(&planned.variant.of).or_default().push(index);
        }
        let mut group_of = vec![None; plan.checks.len()];
        let mut groups = Vec::new();
        for places in places.into_values().filter(|places| places.len() > 1) {
            for &index in &places {
                group_of[index] = Some(groups.len());
            }
            groups.push(Group { size: places.len(), seen: Vec::new(), held: Vec::new() });
        }
        Self { plan, group_of, waiting: Mutex::new(groups) }
    }

    /// Takes in the report of a judged check. Returns those that can be told: this one, unless it waits for others of its
    /// group; and those that waited for this one.
    pub fn take(&self, index: usize, report: CheckReport) -> Vec<(usize, CheckReport)> {
        let Some(group) = self.group_of[index] else { return vec![(index, report)] };
        let mut groups = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let group = &mut groups[group];
        let standing = Standing::of(report.verdict);
        group.seen.push((index, standing));
        let mut told = Vec::new();
        if standing == Standing::Red {
            group.held.push((index, report));
        } else {
            told.push((index, report));
        }
        if group.seen.len() == group.size {
            told.extend(group.told(self.plan));
        }
        told
    }

    /// Those that wait for others which will not be judged.
    pub fn rest(&self) -> Vec<(usize, CheckReport)> {
        let mut groups = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        groups.iter_mut().flat_map(|group| group.told(self.plan)).collect()
    }
}

impl Group {
    /// The reports that it has, with what the group says of them.
    fn told(&mut self, plan: &Plan) -> Vec<(usize, CheckReport)> {
        let mut held = std::mem::take(&mut self.held);
        held.sort_by_key(|(index, _)| *index);
        if held.is_empty() {
            return held;
        }
        self.seen.sort_by_key(|(index, _)| *index);
        let report = |index: usize| held.binary_search_by_key(&index, |(index, _)| *index).ok().map(|at| &held[at].1);
        let members: Vec<Member<'_>> = self
            .seen
            .iter()
            .map(|&(index, standing)| Member {
                variant: &plan.checks[index].variant,
                standing,
                frame: report(index).and_then(|report| report.frames.first()),
            })
            .collect();
        for (place, finding) in conclude(&members) {
            let index = self.seen[place].0;
            if let Ok(at) = held.binary_search_by_key(&index, |(index, _)| *index) {
                add(&mut held[at].1, finding);
            }
        }
        held
    }
}

/// Puts a finding before all others, and into the reason.
fn add(report: &mut CheckReport, finding: Finding) {
    let before = report.reason.take().map(|reason| format!(": {reason}")).unwrap_or_default();
    report.reason = Some(format!("{}{before}", finding.message));
    report.findings.insert(0, finding);
}

#[cfg(test)]
mod tests {
    use super::Standing::{Green, Red, Unknown};
    use super::*;
    use crate::model::{Fact, Rules};

    fn concluded(members: &[(Variant, Standing)]) -> Vec<(usize, String)> {
        let member = |(variant, standing)| Member { variant, standing, frame: None };
        let members: Vec<_> = members.iter().map(|(variant, standing)| member((variant, *standing))).collect();
        conclude(&members).into_iter().map(|(place, finding)| (place, finding.message)).collect()
    }

    #[test]
    fn a_variant_depends_on_its_fact_if_the_check_without_it_passes() {
        let plain = Variant::plain("a");
        let locale = plain.with(Change::Fact(Fact::Locale));
        let umask = plain.with(Change::Fact(Fact::Umask));
        let all = |of_plain, of_locale, of_umask| {
            concluded(&[(plain.clone(), of_plain), (locale.clone(), of_locale), (umask.clone(), of_umask)])
        };
        assert_eq!(all(Green, Red, Green), [(1, "passes, but not with LANG=C".to_owned())]);
        assert_eq!(all(Green, Red, Red).len(), 2);
        assert_eq!(all(Red, Red, Green), [], "it is red either way");
        assert_eq!(all(Unknown, Red, Red), [], "whether it passes is not known");
        assert_eq!(all(Green, Unknown, Unknown), []);
    }

    #[test]
    fn a_variant_is_set_against_the_one_with_the_same_rules() {
        let native = Variant::plain("a");
        let windows = native.with(Change::Rules(Rules::Windows));
        let both = windows.with(Change::Fact(Fact::Locale));
        let all = [(native, Standing::Green), (windows, Standing::Red), (both, Standing::Red)];
        assert_eq!(concluded(&all), []);
        let [(native, _), (windows, _), (both, _)] = all;
        let all = [(native, Standing::Red), (windows, Standing::Green), (both, Standing::Red)];
        assert_eq!(concluded(&all), [(2, "passes, but not with LANG=C".to_owned())]);
    }
}
