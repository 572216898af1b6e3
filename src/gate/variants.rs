//! What variants of a check a change takes away: what it was run with, or judged by, and is no longer. By the manifests alone
//! no setting is better than another, so each that is gone lets something pass.

use std::collections::BTreeSet;

use crate::model::Rules;
use crate::plan::{Change, Variant};
use crate::words::first_of;

/// How many settings or facts are named.
const NAMED: usize = 3;

/// What is gone: phrases. Both are of one check. How many copies there are is a key of the check itself.
#[must_use]
pub fn lost<'v>(
    before: impl IntoIterator<Item = &'v Variant>,
    after: impl IntoIterator<Item = &'v Variant>,
) -> Vec<String> {
    let (before, after) = (Parts::of(before), Parts::of(after));
    let mut found = Vec::new();
    let mut tell = |lost: Vec<String>, words: &dyn Fn(&str) -> String| {
        if !lost.is_empty() {
            found.push(words(&first_of(&lost, NAMED)));
        }
    };
    let gone = |before: &BTreeSet<String>, after: &BTreeSet<String>| before.difference(after).cloned().collect();
    tell(gone(&before.rules, &after.rules), &|these| format!("it is judged by {these} rules no longer (`as`)"));
    tell(gone(&before.settings, &after.settings), &|these| format!("it is run with {these} no longer (`matrix`)"));
    tell(gone(&before.facts, &after.facts), &|these| format!("it is run under {these} no longer (`vary`)"));
    found
}

/// What the variants of a check have of everything, in words.
#[derive(Default)]
struct Parts {
    rules: BTreeSet<String>,
    settings: BTreeSet<String>,
    facts: BTreeSet<String>,
}

impl Parts {
    fn of<'v>(variants: impl IntoIterator<Item = &'v Variant>) -> Self {
        let mut parts = Self::default();
        for variant in variants {
            let mut rules = Rules::Native;
            for change in &*variant.changes {
                match change {
                    Change::Rules(own) => rules = *own,
                    Change::Setting(_) => drop(parts.settings.insert(change.words())),
                    Change::Fact(fact) => drop(parts.facts.insert(fact.name().to_owned())),
                    Change::OneTmpdir | Change::Copy(_) => {}
                }
            }
            parts.rules.insert(rules.name().to_owned());
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Fact;

    /// The variants of a check by these rules, with these settings and facts.
    fn variants(rules: &[Rules], settings: &[(&str, Option<&str>)], facts: &[Fact]) -> Vec<Variant> {
        let by = |rules: &Rules| match rules {
            Rules::Native => Variant::plain("a"),
            Rules::Windows => Variant::plain("a").with(Change::Rules(Rules::Windows)),
        };
        let mut all: Vec<Variant> = rules.iter().map(by).collect();
        if !settings.is_empty() {
            let set = |one: &Variant, (name, value): &(&str, Option<&str>)| one.with(Change::setting(name, *value));
            all = all.iter().flat_map(|one| settings.iter().map(move |setting| set(one, setting))).collect();
        }
        let base = all[0].clone();
        all.extend(facts.iter().map(|fact| base.with(Change::Fact(*fact))));
        all
    }

    #[test]
    fn each_setting_fact_and_rule_that_is_gone_is_told() {
        let (native, both) = ([Rules::Native], [Rules::Native, Rules::Windows]);
        let fresh = [("F", Some("0.1")), ("F", Some("5")), ("F", None)];
        let whole = variants(&both, &fresh, &[Fact::Locale, Fact::Umask]);
        let said = |after: &[Variant]| lost(&whole, after);
        assert_eq!(said(&whole), [""; 0]);
        assert_eq!(
            said(&variants(&both, &fresh[1..], &[Fact::Locale, Fact::Umask])),
            ["it is run with F=0.1 no longer (`matrix`)"]
        );
        assert_eq!(
            said(&variants(&native, &[], &[Fact::Umask])),
            [
                "it is judged by windows rules no longer (`as`)",
                "it is run with F=0.1, F=5, F=null no longer (`matrix`)",
                "it is run under locale no longer (`vary`)"
            ]
        );
        // What is added takes nothing away, and other copies are told by the check's own key.
        let more = variants(&both, &[&fresh[..], &[("F", Some("7"))]].concat(), &Fact::ALL);
        assert_eq!(said(&more), [""; 0]);
        let copies = [Variant::plain("a"), Variant::plain("a").with(Change::Copy(1))];
        assert_eq!(lost(&copies, &copies[..1]), [""; 0]);
    }
}
