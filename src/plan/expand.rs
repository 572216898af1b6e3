//! From a check of a manifest to its variants.

use std::collections::HashSet;
use std::sync::Arc;

use super::Planned;
use super::matrix::Settings;
use super::variant::{Change, ONE_TMPDIR, Variant, Wanted};
use crate::manifest::{LoadedCheck, MOST_COPIES};
use crate::model::{Check, CheckCommand, Cwd, Fact, ReaderChoice, Rules};

/// The variants of a check, the one first that the others are set against: by each of its rules with each
/// of its settings, then the first of these under each of its facts, and beside itself. A variant that is
/// `named` exactly is there whether the check says so or not.
///
/// With each stands whether only the command line asks for it, of all checks: then it is wanted if its check is.
pub fn expand(
    loaded: LoadedCheck,
    wanted: &Wanted,
    named: &HashSet<&str>,
) -> impl Iterator<Item = (Planned, bool)> + use<> {
    let LoadedCheck { check, rules, vary, matrix, .. } = loaded;
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
        let settings = Settings::of(&matrix);
        let with = |one: Variant| {
            let combinations: &mut dyn Iterator<Item = Vec<Change>> =
                if wanted.pairwise { &mut settings.pairwise() } else { &mut settings.all() };
            combinations.map(|combination| one.with_all(&combination)).collect::<Vec<_>>()
        };
        all = all.into_iter().flat_map(with).collect();
    }
    let base = all.first().cloned().unwrap_or_else(|| plain.clone());
    // Up to there the check itself asks for them.
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
    let plants = check.plants_outside().map(|path| format!("planted {path}"));
    let locks: Arc<[String]> = check.lock.iter().cloned().chain(plants).collect();
    let is_one_of_several = all.len() > 1;
    let is_measured_alone = is_measured_alone(&check);
    let as_planned = move |variant: Variant| Planned {
        // What copies are set against ran without any other.
        beside: variant.is_combination() && !is_measured_alone && (copies == 0 || variant != base),
        is_one_of_several,
        locks: Arc::clone(&locks),
        ..Planned::new(Arc::clone(&check), variant)
    };
    all.into_iter().map(as_planned).zip(goes_with_check)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(rules: &[Rules], vary: &[Fact], wanted: &Wanted) -> Vec<String> {
        let check = Check::new("a", CheckCommand::Argv(vec!["x".into()]));
        let loaded = LoadedCheck { check, rules: rules.to_vec(), vary: vary.to_vec(), matrix: Vec::new(), file: 0 };
        expand(loaded, wanted, &wanted.named()).map(|(planned, _)| planned.id().to_owned()).collect()
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
            let variants = expand(loaded, wanted, &wanted.named());
            variants.map(|(one, goes_with_check)| (one.id().to_owned(), goes_with_check)).collect::<Vec<_>>()
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
            let variants = expand(loaded, &Wanted::default(), &HashSet::new());
            variants.filter(|(one, _)| one.beside).map(|(one, _)| one.id().to_owned()).collect()
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
