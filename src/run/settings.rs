//! Which settings of a matrix break a check: told from which combinations are red, and which are not.
//!
//! A setting breaks it if no combination that has it passes; where none does that alone, two of them together. It is said of
//! what ran: with fewer combinations than all, others might pass.

use std::collections::{BTreeMap, HashMap};

use super::groups::{Member, Standing};
use crate::plan::Change;
use crate::words::counted;

/// How many causes are named of one combination; where more are as likely, none is.
const NAMED: usize = 3;

/// How many combinations that have something are red, and whether one passes.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    red: u64,
    green: bool,
}

impl Count {
    fn of(counts: &mut Self, standing: Standing) {
        counts.red += u64::from(standing == Standing::Red);
        counts.green |= standing == Standing::Green;
    }

    fn breaks(self) -> bool {
        self.red > 0 && !self.green
    }
}

/// Says of each red combination what breaks it, by its place among the members; nothing where none passes. All are by the same
/// rules, and have nothing else changed.
#[must_use]
pub fn conclude(members: &[(usize, &Member<'_>)]) -> Vec<(usize, String)> {
    if !members.iter().any(|(_, member)| member.standing == Standing::Green) {
        return Vec::new();
    }
    let mut single: HashMap<&Change, Count> = HashMap::new();
    let mut pairs: HashMap<[&Change; 2], Count> = HashMap::new();
    for (_, member) in members {
        for setting in member.variant.settings() {
            Count::of(single.entry(setting).or_default(), member.standing);
        }
        for pair in pairs_of(member) {
            Count::of(pairs.entry(pair).or_default(), member.standing);
        }
    }
    let red = members.iter().filter(|(_, member)| member.standing == Standing::Red);
    red.map(|(place, member)| (*place, cause(member, &single, &pairs))).collect()
}

fn pairs_of<'a>(member: &Member<'a>) -> Vec<[&'a Change; 2]> {
    let settings: Vec<&Change> = member.variant.settings().collect();
    let with_later = |(at, one): (usize, &&'a Change)| {
        let one = *one;
        settings[at + 1..].iter().map(move |other| [one, *other]).collect::<Vec<_>>()
    };
    settings.iter().enumerate().flat_map(with_later).collect()
}

fn cause(member: &Member<'_>, single: &HashMap<&Change, Count>, pairs: &HashMap<[&Change; 2], Count>) -> String {
    let alone: Vec<String> = member
        .variant
        .settings()
        .filter_map(|setting| Some((setting, single.get(setting).filter(|count| count.breaks())?)))
        .map(|(setting, count)| {
            let red = counted(count.red, "combination");
            let are = if count.red == 1 { "is" } else { "are" };
            format!(
                "{} ({red} that {} it {are} red, and none passes)",
                setting.words(),
                if count.red == 1 { "has" } else { "have" }
            )
        })
        .collect();
    if !alone.is_empty() {
        return format!("passes, but not with {}", alone.join(", nor with "));
    }
    // Those that are seen most often are the likeliest.
    let mut by_count: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for pair in pairs_of(member) {
        if let Some(count) = pairs.get(&pair).filter(|count| count.breaks()) {
            by_count.entry(count.red).or_default().push(format!(
                "{} and {} together",
                pair[0].words(),
                pair[1].words()
            ));
        }
    }
    match by_count.pop_last() {
        Some((_, likeliest)) if likeliest.len() <= NAMED => {
            format!("passes, but not with {}", likeliest.join(", or with "))
        }
        _ => {
            let all: Vec<String> = member.variant.settings().map(Change::words).collect();
            format!("passes with other settings, but not with {} together", all.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SharedUse;
    use crate::plan::Variant;

    /// What is said of the red ones among combinations of settings, each written as `A=1,B=2`.
    fn said(of: &[(&str, Standing)]) -> Vec<(usize, String)> {
        let shared = SharedUse::default();
        let variants: Vec<Variant> = of
            .iter()
            .map(|(settings, _)| {
                settings.split(',').fold(Variant::plain("a"), |variant, setting| {
                    let (name, value) = setting.split_once('=').expect("a setting");
                    variant.with(Change::setting(name, Some(value)))
                })
            })
            .collect();
        let members: Vec<Member<'_>> = variants
            .iter()
            .zip(of)
            .map(|(variant, (_, standing))| Member { variant, standing: *standing, frame: None, shared: &shared })
            .collect();
        conclude(&members.iter().enumerate().collect::<Vec<_>>())
    }

    #[test]
    fn one_setting_that_no_combination_passes_with_breaks_it() {
        use Standing::{Green, Red, Unknown};
        let said_of = said(&[("F=1,M=a", Red), ("F=1,M=b", Red), ("F=5,M=a", Green), ("F=5,M=b", Green)]);
        let words = "passes, but not with F=1 (2 combinations that have it are red, and none passes)";
        assert_eq!(said_of, [(0, words.to_owned()), (1, words.to_owned())]);
        assert_eq!(said(&[("F=1,M=a", Red), ("F=5,M=a", Red)]), [], "none passes");
        assert_eq!(said(&[("F=1,M=a", Red), ("F=5,M=a", Unknown)]), [], "whether one passes is not known");
    }

    #[test]
    fn two_settings_break_it_together_where_neither_does_alone() {
        use Standing::{Green, Red};
        let all = |third: &str, standing| {
            [("F=1,M=a", standing), ("F=1,M=b", Green), ("F=5,M=a", Green), ("F=5,M=b", Green)]
                .map(|(settings, standing)| (format!("{settings},T={third}"), standing))
        };
        let of = [all("x", Red), all("y", Red)].concat();
        let of: Vec<(&str, Standing)> = of.iter().map(|(settings, standing)| (settings.as_str(), *standing)).collect();
        let said_of = said(&of);
        assert_eq!(said_of.len(), 2);
        assert!(said_of.iter().all(|(_, words)| words == "passes, but not with F=1 and M=a together"), "{said_of:?}");
    }

    #[test]
    fn where_more_is_needed_all_are_named() {
        use Standing::{Green, Red};
        let standing = |all: &str| if all == "1,1,1" { Red } else { Green };
        let mut of = Vec::new();
        for number in 0..8 {
            let [a, b, c] = [number & 1, number >> 1 & 1, number >> 2 & 1];
            of.push((format!("A={a},B={b},C={c}"), standing(&format!("{a},{b},{c}"))));
        }
        let of: Vec<(&str, Standing)> = of.iter().map(|(settings, standing)| (settings.as_str(), *standing)).collect();
        assert_eq!(said(&of), [(7, "passes with other settings, but not with A=1, B=1, C=1 together".to_owned())]);
    }
}
