//! Skipped cases against what the manifest allows.

use regex::Regex;

use crate::model::{Case, CaseOutcome, Skips};

/// How many cases, and how much of a reason, a sentence tells.
const NAMES: usize = 3;
const REASON: usize = 100;

/// What is to be said of the skipped cases that are not allowed; `None` if all are.
///
/// A case is for the first rule that its reason matches and that has room for it.
pub fn excess(skips: &Skips, skipped: u64, cases: &[Case]) -> Option<String> {
    let rules = match skips {
        Skips::AtMost(most) => {
            return (skipped > *most).then(|| {
                let told = told(cases.iter().filter(|case| case.outcome == CaseOutcome::Skipped));
                format!("{}, allowed {} {most}{told}", were(skipped), if *most == 1 { "is" } else { "are" })
            });
        }
        Skips::ByReason(rules) => rules,
    };
    // An expression that does not compile allows nothing.
    let rules: Vec<_> = rules.iter().filter_map(|rule| Some((Regex::new(&rule.matches).ok()?, rule.most))).collect();
    let mut taken = vec![0u64; rules.len()];
    let mut known = 0;
    let mut beyond: Vec<&Case> = Vec::new();
    for case in cases.iter().filter(|case| case.outcome == CaseOutcome::Skipped) {
        let Some(reason) = &case.reason else { continue };
        known += 1;
        let place = rules
            .iter()
            .enumerate()
            .position(|(at, (regex, most))| most.is_none_or(|most| taken[at] < most) && regex.is_match(reason));
        match place {
            Some(place) => taken[place] += 1,
            None => beyond.push(case),
        }
    }
    let without = skipped.saturating_sub(known);
    let mut parts = Vec::new();
    if !beyond.is_empty() {
        let told = told(beyond.iter().copied());
        parts.push(format!("{} for a reason that is not allowed, or is for fewer{told}", were(beyond.len() as u64)));
    }
    if without > 0 {
        parts.push(format!(
            "{} and the output does not say why (pytest -rs and unittest -v do), so that no rule is for {}",
            were(without),
            if without == 1 { "it" } else { "them" }
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn were(number: u64) -> String {
    if number == 1 { "1 case was skipped".to_owned() } else { format!("{number} cases were skipped") }
}

/// Some of the cases with their reasons, as the end of a sentence.
fn told<'a>(cases: impl Iterator<Item = &'a Case> + Clone) -> String {
    let all = cases.clone().count();
    let some: Vec<String> = cases
        .take(NAMES)
        .map(|case| match &case.reason {
            Some(reason) => format!("{} ({})", case.name, reason.chars().take(REASON).collect::<String>()),
            None => case.name.clone(),
        })
        .collect();
    match (some.is_empty(), all.saturating_sub(NAMES)) {
        (true, _) => String::new(),
        (false, 0) => format!(": {}", some.join(", ")),
        (false, more) => format!(": {} and {more} more", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SkipRule;

    fn skipped(name: &str, reason: Option<&str>) -> Case {
        let reason = reason.map(str::to_owned);
        Case { reason, ..Case::new(name, CaseOutcome::Skipped) }
    }

    fn by_reason(rules: &[(&str, Option<u64>)], number: u64, cases: &[Case]) -> Option<String> {
        let rules = rules.iter().map(|(matches, most)| SkipRule { matches: (*matches).to_owned(), most: *most });
        excess(&Skips::ByReason(rules.collect()), number, cases)
    }

    #[test]
    fn a_number_is_a_number_whatever_the_reasons() {
        let cases = [skipped("a", Some("needs gh")), skipped("b", None)];
        assert_eq!(excess(&Skips::AtMost(2), 2, &cases), None);
        let said = excess(&Skips::AtMost(0), 2, &cases);
        assert_eq!(said.as_deref(), Some("2 cases were skipped, allowed are 0: a (needs gh), b"));
        assert_eq!(excess(&Skips::AtMost(1), 9, &[]).as_deref(), Some("9 cases were skipped, allowed is 1"));
    }

    #[test]
    fn every_case_needs_a_rule_with_room_for_it() {
        let cases = [
            skipped("a", Some("needs PostgreSQL 16")),
            skipped("b", Some("needs PostgreSQL 16")),
            skipped("c", Some("no gh")),
        ];
        assert_eq!(by_reason(&[("PostgreSQL", Some(2)), ("gh", None)], 3, &cases), None);
        assert_eq!(by_reason(&[("PostgreSQL", Some(1)), ("needs|gh", None)], 3, &cases), None);
        let said = by_reason(&[("PostgreSQL", Some(1))], 3, &cases).expect("two too many");
        assert!(said.starts_with("2 cases were skipped for a reason that is not allowed"), "{said}");
        assert!(said.ends_with(": b (needs PostgreSQL 16), c (no gh)"), "{said}");
        assert!(by_reason(&[("(", None)], 3, &cases).is_some());
        assert_eq!(by_reason(&[("x", None)], 0, &[]), None);
    }

    #[test]
    fn without_a_reason_no_rule_is_for_a_case() {
        let cases = [skipped("a", None), skipped("b", Some("x"))];
        let said = by_reason(&[(".*", None)], 4, &cases).expect("three without");
        assert!(said.starts_with("3 cases were skipped and the output does not say why"), "{said}");
    }
}
