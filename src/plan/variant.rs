//! What the variants of a check are.

use std::collections::HashSet;
use std::sync::Arc;

use crate::model::{Fact, Rules};

/// What stands in the ids of copies that have the same `TMPDIR`.
pub const ONE_TMPDIR: &str = "one-tmpdir";

/// What a check that runs is a variant of. A check without others of its kind is the only variant of itself.
///
/// Of a check there may be very many: what they have in common is there once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// The id of the check in its manifest.
    pub of: Arc<str>,
    /// What was changed for it; nothing for the check as its manifest has it.
    pub changes: Arc<[Change]>,
}

/// What distinguishes one variant of a check from another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Change {
    /// It is judged by these rules, other than those of the system.
    Rules(Rules),
    /// A variable of its environment is set, or is not.
    Setting(Arc<Setting>),
    /// This is otherwise about its surroundings.
    Fact(Fact),
    /// It runs beside copies of itself that all have the same `TMPDIR`.
    OneTmpdir,
    /// It is that one of the copies that run at the same moment, from 1.
    Copy(u32),
}

/// A variable of a check's environment.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Setting {
    pub name: String,
    /// `None` if it is not set.
    pub value: Option<String>,
}

impl Variant {
    /// The check as its manifest has it.
    #[must_use]
    pub fn plain(of: &str) -> Self {
        Self { of: of.into(), changes: Arc::default() }
    }

    /// This one with a further change.
    #[must_use]
    pub fn with(&self, change: Change) -> Self {
        self.with_all(&[change])
    }

    /// This one with further changes.
    #[must_use]
    pub fn with_all(&self, further: &[Change]) -> Self {
        Self { of: Arc::clone(&self.of), changes: self.changes.iter().chain(further).cloned().collect() }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}{}", self.of, self.suffix())
    }

    /// The id of the variant that it is set against under a fact and beside itself: the check by the same rules, with the same
    /// settings.
    #[must_use]
    pub fn compared_with(&self) -> String {
        self.id_of(|change| matches!(change, Change::Rules(_) | Change::Setting(_)))
    }

    /// The id that all variants by the same rules have in common.
    #[must_use]
    pub fn by_rules(&self) -> String {
        self.id_of(|change| matches!(change, Change::Rules(_)))
    }

    /// The id of the variant with some of its changes.
    fn id_of(&self, is_kept: impl Fn(&Change) -> bool) -> String {
        let changes = self.changes.iter().filter(|change| is_kept(change)).cloned().collect();
        Self { of: Arc::clone(&self.of), changes }.id()
    }

    /// The variables that are set for it.
    pub fn settings(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(|change| matches!(change, Change::Setting(_)))
    }

    /// Whether it is a combination of a matrix, and nothing more.
    #[must_use]
    pub fn is_combination(&self) -> bool {
        matches!(self.changes.last(), Some(Change::Setting(_)))
    }

    /// Whether it runs at the same moment as others of its check.
    #[must_use]
    pub fn is_copy(&self) -> bool {
        matches!(self.changes.last(), Some(Change::Copy(_)))
    }

    /// Whether it has its `TMPDIR` with those that run beside it.
    #[must_use]
    pub fn has_one_tmpdir(&self) -> bool {
        self.changes.contains(&Change::OneTmpdir)
    }

    /// Whether it and the other one run at the same moment.
    #[must_use]
    pub fn runs_with(&self, other: &Self) -> bool {
        match (self.changes.split_last(), other.changes.split_last()) {
            (Some((Change::Copy(_), own)), Some((Change::Copy(_), others))) => self.of == other.of && own == others,
            _ => false,
        }
    }

    /// What is written behind the check's id for it, as `@windows` or `[locale]`; empty for the check itself.
    #[must_use]
    pub fn suffix(&self) -> String {
        let settings: Vec<String> = self.settings().map(Change::words).collect();
        let is_first = |at: usize| !matches!(at.checked_sub(1).map(|at| &self.changes[at]), Some(Change::Setting(_)));
        let parts = self.changes.iter().enumerate().map(|(at, change)| match change {
            Change::Rules(rules) => format!("@{}", rules.name()),
            // All of them stand together.
            Change::Setting(_) if is_first(at) => format!("[{}]", settings.join(",")),
            Change::Setting(_) => String::new(),
            Change::Fact(fact) => format!("[{}]", fact.name()),
            Change::OneTmpdir => format!("[{ONE_TMPDIR}]"),
            Change::Copy(number) => format!("#{number}"),
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
            changes if changes.len() == self.settings().count() => {
                Some(self.settings().map(Change::words).collect::<Vec<_>>().join(","))
            }
            _ => Some(self.suffix()),
        }
    }
}

impl Change {
    /// A variable with that value; `None` if it is not set.
    #[must_use]
    pub fn setting(name: &str, value: Option<&str>) -> Self {
        Self::Setting(Arc::new(Setting { name: name.to_owned(), value: value.map(str::to_owned) }))
    }

    /// In a few words: `FRESH=0.1`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Rules(rules) => rules.name().to_owned(),
            Self::Setting(set) => format!("{}={}", set.name, set.value.as_deref().unwrap_or("null")),
            Self::Fact(fact) => fact.words().to_owned(),
            Self::OneTmpdir => "one TMPDIR for all".to_owned(),
            Self::Copy(number) => format!("copy {number}"),
        }
    }
}

impl Wanted {
    /// The ids among the patterns, and those of variants that are to be there.
    pub(super) fn named(&self) -> HashSet<&str> {
        self.patterns.iter().chain(&self.also).map(String::as_str).collect()
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
    /// How many copies of every check that is asked for run at once at least; as many as the check says if that is less.
    pub copies: u32,
    /// Whether of each matrix only so many combinations run that every two values are together in one.
    pub pairwise: bool,
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
        assert_eq!(windows.with(Change::OneTmpdir).with(Change::Copy(2)).compared_with(), "a@windows");
        let set = |variant: &Variant, name: &str, value: Option<&str>| variant.with(Change::setting(name, value));
        let one = set(&windows, "FRESH", Some("0.1"));
        let both = set(&one, "MODE", None).with(Change::Fact(Fact::Locale));
        assert_eq!(both.suffix(), "@windows[FRESH=0.1,MODE=null][locale]");
        assert_eq!(
            (both.compared_with().as_str(), both.by_rules().as_str()),
            ("a@windows[FRESH=0.1,MODE=null]", "a@windows")
        );
        assert_eq!(set(&plain, "FRESH", Some("5")).name().as_deref(), Some("FRESH=5"));
    }

    #[test]
    fn copies_run_together_with_their_like() {
        let plain = Variant::plain("a");
        let shared = plain.with(Change::OneTmpdir);
        let [one, two] = [1, 2].map(|number| plain.with(Change::Copy(number)));
        assert_eq!((two.suffix().as_str(), two.name().as_deref()), ("#2", Some("#2")));
        assert_eq!(shared.with(Change::Copy(1)).suffix(), "[one-tmpdir]#1");
        assert!(one.runs_with(&two) && one.is_copy() && !one.has_one_tmpdir());
        assert!(!one.runs_with(&plain) && !one.runs_with(&shared.with(Change::Copy(2))));
        assert!(!one.runs_with(&Variant::plain("b").with(Change::Copy(2))));
    }
}
