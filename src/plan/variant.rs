//! What the variants of a check are.

use crate::model::{Fact, Rules};

/// What a check that runs is a variant of. A check without others of its kind is the only variant of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The id of the check in its manifest.
    pub of: String,
    /// What was changed for it; nothing for the check as its manifest has it.
    pub changes: Vec<Change>,
}

/// What distinguishes one variant of a check from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is judged by these rules, other than those of the system.
    Rules(Rules),
    /// This is otherwise about its surroundings.
    Fact(Fact),
}

impl Variant {
    /// The check as its manifest has it.
    #[must_use]
    pub fn plain(of: &str) -> Self {
        Self { of: of.to_owned(), changes: Vec::new() }
    }

    /// This one with a further change.
    #[must_use]
    pub fn with(&self, change: Change) -> Self {
        let mut changes = self.changes.clone();
        changes.push(change);
        Self { of: self.of.clone(), changes }
    }

    /// The id of the variant that it is set against: the check by the same rules, with nothing else changed.
    #[must_use]
    pub fn compared_with(&self) -> String {
        let rules = self.changes.iter().filter(|change| matches!(change, Change::Rules(_))).cloned().collect();
        let base = Self { of: self.of.clone(), changes: rules };
        base.of.clone() + &base.suffix()
    }

    /// What is written behind the check's id for it, as `@windows` or `[locale]`; empty for the check itself.
    #[must_use]
    pub fn suffix(&self) -> String {
        let parts = self.changes.iter().map(|change| match change {
            Change::Rules(rules) => format!("@{}", rules.name()),
            Change::Fact(fact) => format!("[{}]", fact.name()),
        });
        parts.collect()
    }

    /// Its name in the report: the suffix without what only sets it off. `None` for the check itself.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        match &self.changes[..] {
            [] => None,
            [Change::Rules(rules)] => Some(rules.name().to_owned()),
            [Change::Fact(fact)] => Some(fact.name().to_owned()),
            _ => Some(self.suffix()),
        }
    }
}

/// What a command line asks for, whatever the manifests say.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// Ids, or globs; everything if there are none.
    pub patterns: Vec<String>,
    /// Ids of variants that are to be there, whether their checks say so or not.
    pub also: Vec<String>,
    /// The rules by which every check is judged, in place of its own.
    pub rules: Option<Rules>,
    /// Facts under which every check that is asked for runs, too.
    pub vary: Vec<Fact>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_is_compared_with_the_check_by_the_same_rules() {
        let plain = Variant::plain("a");
        let windows = plain.with(Change::Rules(Rules::Windows));
        assert_eq!(plain.with(Change::Fact(Fact::Locale)).compared_with(), "a");
        assert_eq!(windows.with(Change::Fact(Fact::Locale)).compared_with(), "a@windows");
        assert_eq!(windows.compared_with(), "a@windows");
    }
}
