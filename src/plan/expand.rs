//! From a check of a manifest to its variants.

use std::collections::HashSet;
use std::sync::Arc;

use super::matrix;
use super::variant::{Change, ONE_TMPDIR, Variant, Wanted};
use crate::manifest::{LoadedCheck, MOST_COPIES};
use crate::model::{Check, CheckCommand, Cwd, Fact, ReaderChoice, Rules};

/// A variant of a check.
pub struct Expanded {
    pub id: String,
    /// The check without what was changed for the variant.
    check: Arc<Check>,
    pub variant: Variant,
    pub locks: Vec<String>,
    /// Whether it may run at the same time as others of its check of which that is so, too.
    pub beside: bool,
    /// Whether its check is there in more variants than this one.
    pub is_one_of_several: bool,
    /// Index of its manifest.
    pub file: usize,
    /// Whether only the command line's own list of facts has it: then it goes with its check.
    pub goes_with_check: bool,
}

impl Expanded {
    /// The check as it will run. It is made of those that are to run alone: there may be very many others.
    #[must_use]
    pub fn check(&self) -> Check {
        changed(&self.check, &self.id, &self.variant)
    }
}

/// The variants of a check, the one first that the others are set against: by each of its rules with each
/// of its settings, then the first of these under each of its facts, and beside itself. A variant that is
/// `named` exactly is there whether the check says so or not.
pub fn expand(loaded: LoadedCheck, wanted: &Wanted, named: &HashSet<&str>) -> Vec<Expanded> {
    let LoadedCheck { check, rules, vary, matrix, file } = loaded;
    let plain = Variant::plain(&check.id);
    let by = |rules: Rules| if rules == Rules::Native { plain.clone() } else { plain.with(Change::Rules(rules)) };
    // Where nothing is named, no id is to be made for the question.
    let is_named = |variant: &Variant| !named.is_empty() && named.contains(variant.id().as_str());
    let mut all: Vec<Variant> = wanted.rules.map_or(rules, |only| vec![only]).into_iter().map(by).collect();
    let windows = by(Rules::Windows);
    if matrix.is_empty() && is_named(&windows) && !all.contains(&windows) {
        all.push(windows);
    }
    if !matrix.is_empty() {
        let combinations = if wanted.pairwise { matrix::pairwise(&matrix) } else { matrix::all(&matrix) };
        let with = |one: Variant| {
            let set =
                |settings: &Vec<Change>| settings.iter().fold(one.clone(), |one, setting| one.with(setting.clone()));
            combinations.iter().map(set).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(with).collect();
    }
    let base = all.first().cloned().unwrap_or_else(|| plain.clone());
    let mut goes_with_check = vec![false; all.len()];
    for fact in Fact::ALL {
        let under = base.with(Change::Fact(fact));
        let own = vary.contains(&fact) || is_named(&under);
        if own || wanted.vary.contains(&fact) {
            all.push(under);
            goes_with_check.push(!own);
        }
    }
    let copies = copies(&check, &base, wanted, named);
    for (shares, number) in [false, true].into_iter().flat_map(|shares| (1..=copies).map(move |at| (shares, at))) {
        let beside = if shares { base.with(Change::OneTmpdir) } else { base.clone() };
        let copy = beside.with(Change::Copy(number));
        let own = check.copies > 1 || is_named(&copy);
        all.push(copy);
        goes_with_check.push(!own);
    }
    let check = Arc::new(Check { copies: copies.max(1), ..check });
    // One path has one thing planted at it at a time.
    let planted = check.plants_outside().map(|path| format!("planted {path}"));
    let locks: Vec<String> = check.lock.iter().cloned().chain(planted).collect();
    let is_one_of_several = all.len() > 1;
    let is_measured_alone = is_measured_alone(&check);
    let beside = |variant: &Variant| {
        // What copies are set against ran without any other.
        variant.is_combination() && !is_measured_alone && (copies == 0 || *variant != base)
    };
    let variants = all.into_iter().zip(goes_with_check);
    variants
        .map(|(variant, goes_with_check)| Expanded {
            id: variant.id(),
            check: Arc::clone(&check),
            beside: beside(&variant),
            is_one_of_several,
            variant,
            locks: locks.clone(),
            file,
            goes_with_check,
        })
        .collect()
}

/// Whether a run of a check would be judged by what another one does meanwhile: how often it is red by itself is counted; or
/// it is looked at places outside its sandbox, which all runs of it have in common.
fn is_measured_alone(check: &Check) -> bool {
    let is_counted = check.repeat > 1 || check.retries.is_some();
    let is_watched = !check.watch.is_empty() || !check.unchanged.is_empty();
    let writes = !check.publishes.is_empty() || !check.eventually.is_empty();
    is_counted || is_watched || check.cwd == Cwd::Project && (writes || matches!(check.reader, ReaderChoice::Junit(_)))
}

/// How many copies of a check run at once; 0 for none. A hook has none: its calls run one after the other. Nor has what has
/// something planted that is there once for all.
fn copies(check: &Check, base: &Variant, wanted: &Wanted, named: &HashSet<&str>) -> u32 {
    if matches!(check.command, CheckCommand::Hook(_)) || check.plants_outside().next().is_some() {
        return 0;
    }
    let (id, shared) = (base.compared_with(), format!("[{ONE_TMPDIR}]"));
    let number = |named: &&str| {
        let behind = named.strip_prefix(&id)?;
        behind.strip_prefix(&shared).unwrap_or(behind).strip_prefix('#')?.parse::<u32>().ok()
    };
    // Of a number that is no number of copies nothing is made: it is one of a check that is not there.
    let named = named.iter().filter_map(number).filter(|number| *number <= MOST_COPIES);
    let copies = named.chain([check.copies, wanted.copies]).max().unwrap_or(0);
    if copies > 1 { copies } else { 0 }
}

/// A check with the changes of a variant.
fn changed(check: &Check, id: &str, variant: &Variant) -> Check {
    let mut check = Check { id: id.to_owned(), variant: variant.name(), ..check.clone() };
    // Without such a change, the system's own.
    check.rules = Rules::Native;
    for change in &variant.changes {
        match change {
            Change::Rules(rules) => check.rules = *rules,
            Change::Fact(fact) => check.fact = Some(*fact),
            Change::Setting { name, value } => {
                check.env.insert(name.clone(), value.clone());
            }
            Change::OneTmpdir => {}
            // Whether it meets the others is not to be tried until it does not.
            Change::Copy(_) => check.retries = None,
        }
    }
    check
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(rules: &[Rules], vary: &[Fact], wanted: &Wanted) -> Vec<String> {
        let check = Check::new("a", CheckCommand::Argv(vec!["x".into()]));
        let loaded = LoadedCheck { check, rules: rules.to_vec(), vary: vary.to_vec(), matrix: Vec::new(), file: 0 };
        expand(loaded, wanted, &wanted.named()).into_iter().map(|expanded| expanded.id).collect()
    }

    #[test]
    fn a_check_is_there_by_each_of_its_rules_and_under_each_of_its_facts() {
        let none = Wanted::default();
        assert_eq!(ids(&[Rules::Native], &[], &none), ["a"]);
        assert_eq!(ids(&[Rules::Native, Rules::Windows], &[Fact::Locale], &none), ["a", "a@windows", "a[locale]"]);
        assert_eq!(ids(&[Rules::Windows], &[Fact::Locale], &none), ["a@windows", "a@windows[locale]"]);
    }

    #[test]
    fn the_command_line_adds_what_it_names() {
        let wanted = |patterns: &[&str], rules, vary: &[Fact]| Wanted {
            patterns: patterns.iter().map(|&pattern| pattern.to_owned()).collect(),
            rules,
            vary: vary.to_vec(),
            ..Wanted::default()
        };
        let native = [Rules::Native];
        assert_eq!(ids(&native, &[], &wanted(&["a@windows", "a[umask]"], None, &[])), ["a", "a@windows", "a[umask]"]);
        assert_eq!(ids(&native, &[Fact::Umask], &wanted(&[], None, &[Fact::Locale])), ["a", "a[locale]", "a[umask]"]);
        let windows = wanted(&[], Some(Rules::Windows), &[]);
        assert_eq!(ids(&native, &[Fact::Umask], &windows), ["a@windows", "a@windows[umask]"]);
    }

    #[test]
    fn a_check_with_copies_is_there_alone_beside_itself_and_with_one_tmpdir() {
        let with = |copies, wanted: &Wanted| {
            let check = Check { copies, ..Check::new("a", CheckCommand::Argv(vec!["x".into()])) };
            let loaded =
                LoadedCheck { check, rules: vec![Rules::Native], vary: Vec::new(), matrix: Vec::new(), file: 0 };
            expand(loaded, wanted, &wanted.named())
                .into_iter()
                .map(|one| (one.id, one.goes_with_check))
                .collect::<Vec<_>>()
        };
        let all = |goes_with_check| {
            let copies = ["a#1", "a#2", "a[one-tmpdir]#1", "a[one-tmpdir]#2"];
            let alone = [("a".to_owned(), false)];
            alone.into_iter().chain(copies.map(|id| (id.to_owned(), goes_with_check))).collect::<Vec<_>>()
        };
        assert_eq!(with(2, &Wanted::default()), all(false));
        assert_eq!(with(1, &Wanted { copies: 2, ..Wanted::default() }), all(true));
        let named = with(1, &Wanted { also: vec!["a[one-tmpdir]#2".into()], ..Wanted::default() });
        assert_eq!(named.len(), 5, "one alone shows nothing");
        assert_eq!(with(1, &Wanted { also: vec!["a#100000".into()], ..Wanted::default() }).len(), 1);
    }

    #[test]
    fn combinations_may_run_beside_each_other_unless_that_would_be_taken_for_what_they_do() {
        let beside = |change: fn(&mut Check)| {
            let mut check = Check::new("a", CheckCommand::Argv(vec!["x".into()]));
            change(&mut check);
            let matrix = vec![("F".to_owned(), vec![Some("1".to_owned()), None])];
            let loaded = LoadedCheck { check, rules: vec![Rules::Native], vary: vec![Fact::Uid], matrix, file: 0 };
            let variants = expand(loaded, &Wanted::default(), &HashSet::new()).into_iter();
            variants.map(|one| (one.id, one.beside)).filter(|(_, beside)| *beside).map(|(id, _)| id).collect()
        };
        let none = [""; 0];
        let is = |change, ids: &[&str]| assert_eq!(Vec::<String>::from_iter::<Vec<String>>(beside(change)), ids);
        is(|_| {}, &["a[F=1]", "a[F=null]"]);
        is(|it| it.copies = 2, &["a[F=null]"]);
        is(|it| it.repeat = 2, &none);
        is(|it| it.watch.push("/tmp/a_*".into()), &none);
        is(|it| it.publishes.push("a.json".into()), &none);
        is(
            |it| {
                it.publishes.push("a.json".into());
                it.cwd = Cwd::Copy;
            },
            &["a[F=1]", "a[F=null]"],
        );
    }
}
