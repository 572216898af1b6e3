//! What a change makes weaker. A check is weaker than it was if a run could pass it that would have been red before, by what
//! the manifest says alone: how good its test is, nobody but its readers can tell.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Map, Value};

use crate::covers::Covers;
use crate::model::{Allow, CaseCount, Check, Need, Platform, Policy, PolicyPart, ReaderChoice, SkipRule, Skips};
use crate::words::{age, counted, duration};

/// Keys that let nothing pass.
const NEUTRAL: &[&str] = &["id", "variant", "fact", "title", "lock", "tags"];

/// Keys that say with what it is run: whether it tests as much with something else is for people to see.
const SURROUNDINGS: &[&str] = &["cwd", "files", "home", "env", "inherit", "stdin"];

/// Keys with a list in which each entry asks for something more.
const ASKING: &[&str] =
    &["publishes", "events", "eventually", "watch", "unchanged", "forbid", "plant", "faults", "vary", "breaks"];

/// Keys that [`check`] compares one by one.
const COMPARED: &[&str] = &[
    "command",
    "timeout",
    "grace",
    "reader",
    "expect",
    "allow",
    "platforms",
    "hosts",
    "covers",
    "rules",
    "windows",
    "copies",
    "repeat",
    "retries",
    "needs",
];

/// What of a check is weaker than it was: phrases. `files` are those of the changed project, `require` the systems that the
/// policy asks for where a check says nothing of it.
#[must_use]
pub fn check(before: &Check, after: &Check, files: &[&Path], require: &BTreeSet<Platform>) -> Vec<String> {
    let mut found = Vec::new();
    let count = counts(before.expect.cases.as_ref(), after.expect.cases.as_ref());
    found.extend(count.clone().err());
    let counted = count.is_ok() && after.expect.cases.is_some();
    if before.command != after.command && !counted {
        found.push(
            "it runs another command, and has no count of cases (`expect: {cases: …}`) that both must reach".to_owned(),
        );
    }
    found.extend(reader(&before.reader, &after.reader, counted));
    if before.expect.exit != after.expect.exit {
        found.push(format!("it expects exit status {}, and expected {}", after.expect.exit, before.expect.exit));
    }
    found.extend(skips(before.expect.skipped.as_ref(), after.expect.skipped.as_ref()));
    for (name, old, new) in [
        ("stdout", &before.expect.stdout, &after.expect.stdout),
        ("stderr", &before.expect.stderr, &after.expect.stderr),
    ] {
        let lost = lost(old, new);
        if lost > 0 {
            found.push(format!("{lost} of what it expects of {name} is gone"));
        }
    }
    for allow in after.allow.iter().filter(|allow| !before.allow.iter().any(|old| admits(old, allow))) {
        let of = allow.matches.as_ref().map(|matches| format!(" that match {matches}")).unwrap_or_default();
        found.push(format!("it allows findings of {}{of}", allow.kind.slug()));
    }
    for (name, old, new) in [("timeout", before.timeout, after.timeout), ("grace", before.grace, after.grace)] {
        if new > old {
            found.push(format!("its {name} is {}, and was {}", duration(new), duration(old)));
        }
    }
    if after.copies < before.copies {
        found.push(format!("its copies are {}, and were {}", after.copies, before.copies));
    }
    if after.repeat < before.repeat {
        found.push(format!("it runs {} times, and ran {}", after.repeat, before.repeat));
    }
    if after.retries.is_some() && after.retries != before.retries {
        found.push("it is tried again where it is red (`retries`), or in another way than before".to_owned());
    }
    found.extend(fewer("it runs on", &everywhere(&before.platforms), &everywhere(&after.platforms)));
    found.extend(fewer("receipts of it are wanted from", &asked(before, require), &asked(after, require)));
    found.extend(uncovered(&before.covers, &after.covers, files));
    let (old, new) = (&before.windows, &after.windows);
    if old.files && !new.files || old.strict && !new.strict || old.shares_delete != new.shares_delete {
        found.push("it keeps Windows' rules less strictly, or otherwise".to_owned());
    }
    found.extend(before.needs.iter().filter_map(|need| needed(need, &after.needs)));
    found.extend(after.needs.iter().filter_map(|need| waived(need, &before.needs)));
    found.extend(by_key(&map(before), &map(after)));
    found
}

/// What of a check is otherwise than it was, and is for people to see: the keys.
#[must_use]
pub fn surroundings(before: &Check, after: &Check) -> Vec<&'static str> {
    let (before, after) = (map(before), map(after));
    SURROUNDINGS.iter().copied().filter(|key| before.get(*key) != after.get(*key)).collect()
}

/// Why a program need not be there any more that had to be, or not in a version as late.
fn needed(before: &Need, after: &[Need]) -> Option<String> {
    let name = &before.program;
    let mut same = after.iter().filter(|need| need.program == *name && !need.optional).peekable();
    if before.optional {
        return None;
    }
    if same.peek().is_none() {
        return Some(format!("{name} need not be there any more"));
    }
    let is_as_late = |need: &Need| need.at_least.as_ref() >= before.at_least.as_ref();
    (!same.any(is_as_late)).then(|| format!("{name} may be an earlier version, or any"))
}

/// Why it may be skipped where it was not: a program is missing that it has to have only now, and not by all means.
fn waived(after: &Need, before: &[Need]) -> Option<String> {
    let is_as_wide = |need: &Need| {
        need.program == after.program && need.optional && need.at_least.as_ref() >= after.at_least.as_ref()
    };
    (after.optional && !before.iter().any(is_as_wide))
        .then(|| format!("it is skipped where {} is missing or too old", after.program))
}

/// How many entries of a list are not in another one as many times.
fn lost<T: PartialEq>(before: &[T], after: &[T]) -> usize {
    let mut left: Vec<&T> = after.iter().collect();
    let mut is_lost =
        |entry: &T| left.iter().position(|known| *known == entry).map(|at| left.swap_remove(at)).is_none();
    before.iter().filter(|entry| is_lost(entry)).count()
}

/// The systems from whose hosts receipts of a check are wanted.
#[must_use]
pub fn asked(check: &Check, require: &BTreeSet<Platform>) -> BTreeSet<Platform> {
    if check.hosts.is_empty() { require.clone() } else { check.hosts.iter().copied().collect() }
}

fn everywhere(platforms: &[Platform]) -> BTreeSet<Platform> {
    let all = [Platform::Linux, Platform::Windows, Platform::Macos];
    if platforms.is_empty() { all.into() } else { platforms.iter().copied().collect() }
}

fn fewer(what: &str, before: &BTreeSet<Platform>, after: &BTreeSet<Platform>) -> Option<String> {
    let lost: Vec<&str> = before.difference(after).map(|platform| platform.name()).collect();
    (!lost.is_empty()).then(|| format!("{what} {} no longer", lost.join(" and ")))
}

/// Whether as many cases have to run as before; why not.
fn counts(before: Option<&CaseCount>, after: Option<&CaseCount>) -> Result<(), String> {
    let least = |count: &CaseCount| match count {
        CaseCount::Exactly(number) | CaseCount::AtLeast(number) => Some(*number),
        CaseCount::Listed(_) => None,
    };
    match (before, after) {
        (None, _) => Ok(()),
        (Some(_), None) => Err("it expects no number of cases any more".to_owned()),
        (Some(old), Some(new)) => {
            match (least(old), least(new)) {
                (Some(old), Some(new)) if new < old => Err(format!("it expects {new} cases, and expected {old}")),
                (Some(_), Some(_)) => Ok(()),
                (None, None) if old == new => Ok(()),
                _ => Err("its number of cases comes from elsewhere, so that it can't be told whether it is smaller"
                    .to_owned()),
            }
        }
    }
}

fn reader(before: &ReaderChoice, after: &ReaderChoice, counted: bool) -> Option<String> {
    if before == after {
        return None;
    }
    match after {
        ReaderChoice::None => Some("nothing reads its cases any more (`reader: none`)".to_owned()),
        ReaderChoice::Lines(_) => Some("its cases are counted by other expressions".to_owned()),
        // Where there were none before, any are more.
        _ if counted || *before == ReaderChoice::None => None,
        _ => Some("another reader reads its cases, and it has no count of them that both must reach".to_owned()),
    }
}

fn skips(before: Option<&Skips>, after: Option<&Skips>) -> Option<String> {
    match (before, after) {
        (None, _) | (_, Some(Skips::AtMost(0))) => None,
        (Some(_), None) => Some("any number of its cases may be skipped".to_owned()),
        (Some(Skips::AtMost(old)), Some(Skips::AtMost(new))) => {
            (new > old).then(|| format!("{new} of its cases may be skipped, and {old} were allowed"))
        }
        (Some(Skips::ByReason(old)), Some(Skips::ByReason(new))) => {
            let more = more_skipped(old, new)?;
            Some(format!("more of its cases may be skipped: those for the reason {}", more.matches))
        }
        (Some(_), Some(_)) => {
            Some("which of its cases may be skipped is said in another way, so that it can't be compared".to_owned())
        }
    }
}

/// A rule that allows more than those before did. Each of those stands for one, however often a reason is said.
fn more_skipped<'r>(before: &[SkipRule], after: &'r [SkipRule]) -> Option<&'r SkipRule> {
    let most = |rule: &&SkipRule| rule.most.unwrap_or(u64::MAX);
    let mut left: Vec<&SkipRule> = before.iter().collect();
    let mut rules: Vec<&SkipRule> = after.iter().collect();
    // The widest first, each for the narrowest that is as wide.
    rules.sort_by_key(|rule| std::cmp::Reverse(most(rule)));
    left.sort_by_key(most);
    rules.into_iter().find(|rule| {
        let stands_for = |known: &&SkipRule| known.matches == rule.matches && most(known) >= most(rule);
        left.iter().position(stands_for).map(|at| left.remove(at)).is_none()
    })
}

/// Whether what one entry allows another one allowed before, for whichever reason.
fn admits(old: &Allow, new: &Allow) -> bool {
    let bare = |allow: &Allow| Allow { because: String::new(), ..allow.clone() };
    let of_all = Allow { matches: None, ..bare(new) };
    bare(old) == bare(new) || bare(old) == of_all
}

fn uncovered(before: &[String], after: &[String], files: &[&Path]) -> Option<String> {
    if after.is_empty() || before == after {
        return None;
    }
    let (old, new) = (Covers::of(before), Covers::of(after));
    let mut lost = files.iter().filter(|file| (before.is_empty() || old.has(file)) && !new.has(file));
    let first = lost.next()?;
    let more = lost.count();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!("it covers {}{more} no longer", first.display()))
}

fn map(check: &Check) -> Map<String, Value> {
    match serde_json::to_value(check) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// What the keys say that are not compared above. Of one that nothing is known of, any difference may be one for the worse.
fn by_key(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<String> {
    let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let others = keys
        .into_iter()
        .filter(|key| ![NEUTRAL, SURROUNDINGS, COMPARED].iter().any(|keys| keys.contains(&key.as_str())));
    let lost = |key: &String| {
        let (old, new) = (before.get(key), after.get(key));
        if old == new {
            return None;
        }
        let entries = |value: Option<&Value>| match value {
            None | Some(Value::Null) => Some(Vec::new()),
            Some(Value::Array(list)) => Some(list.clone()),
            // A map from names to what is asked for.
            Some(Value::Object(map)) => {
                Some(map.iter().map(|(name, value)| serde_json::json!([name, value])).collect())
            }
            Some(_) => None,
        };
        match (entries(old), entries(new)) {
            (Some(old), Some(new)) if ASKING.contains(&key.as_str()) => {
                let lost = lost(&old, &new);
                (lost > 0).then(|| format!("{lost} of what it has under `{key}` is gone"))
            }
            _ => Some(format!("`{key}` is another, and whether that is weaker can't be told")),
        }
    };
    others.filter_map(lost).collect()
}

/// What of a policy is weaker than it was. `signers` are the texts of both files of allowed signers; the second is `None`
/// if the changed project has none.
#[must_use]
pub fn policy(before: &Policy, after: Option<&Policy>, signers: (&str, Option<&str>)) -> Vec<(PolicyPart, String)> {
    let Some(after) = after else {
        return vec![(PolicyPart::Require, "the policy is gone: no gate could say anything".to_owned())];
    };
    let mut found = Vec::new();
    let lost = fewer("it requires receipts from", &before.require, &after.require);
    found.extend(lost.map(|lost| (PolicyPart::Require, lost)));
    if after.max_age > before.max_age {
        let text = format!("receipts may be {} old, and might be {}", age(after.max_age), age(before.max_age));
        found.push((PolicyPart::MaxAge, text));
    }
    let gone = before.wirings.iter().filter(|wiring| !after.wirings.contains(wiring));
    found.extend(gone.map(|wiring| {
        (PolicyPart::Wirings, format!("what {} wires is looked at no longer, or in another way", wiring.file))
    }));
    let lines = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        lines.map(str::to_owned).collect()
    };
    match signers.1 {
        None => found.push((PolicyPart::Signers, format!("{} is gone, or no file", after.signers))),
        Some(now) => {
            let new = lines(now).difference(&lines(signers.0)).count();
            if new > 0 {
                let text = format!("{} has {} more, or other ones", after.signers, counted(new, "line"));
                found.push((PolicyPart::Signers, text));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::model::{
        CheckCommand, Expect, FlakyIs, Kind, LineRules, Listing, ListingForm, Origin, ReaderName, Retries, SkipRule,
        TextRule,
    };

    /// What is changed of a check.
    type Edit = fn(&mut Check);

    fn before() -> Check {
        let rule = SkipRule { matches: "board".into(), most: Some(2) };
        Check {
            expect: Expect {
                cases: Some(CaseCount::Exactly(57)),
                skipped: Some(Skips::ByReason(vec![rule])),
                stdout: vec![TextRule::Contains("green".into())],
                ..Expect::default()
            },
            allow: vec![Allow { because: "login".into(), ..allow(Some("agent")) }],
            copies: 3,
            repeat: 3,
            publishes: vec!["state/*.json".into()],
            platforms: vec![Platform::Linux, Platform::Windows],
            covers: vec!["hooks/**".into()],
            needs: vec![need("python3", &[3, 11], false), need("gh", &[], true)],
            ..Check::new("sweep", argv(&["python3", "test.py"]))
        }
    }

    fn need(program: &str, at_least: &[u64], optional: bool) -> Need {
        let at_least = (!at_least.is_empty()).then(|| at_least.to_vec());
        Need { program: program.to_owned(), at_least, optional }
    }

    fn argv(words: &[&str]) -> CheckCommand {
        CheckCommand::Argv(words.iter().map(|&word| word.to_owned()).collect())
    }

    fn allow(matches: Option<&str>) -> Allow {
        Allow {
            kind: Kind::LeakedProcess,
            ends_within: None,
            matches: matches.map(str::to_owned),
            because: String::new(),
        }
    }

    fn found(change: impl FnOnce(&mut Check)) -> Vec<String> {
        let mut after = before();
        change(&mut after);
        let files = ["hooks/a.py", "hooks/b.py", "test.py"].map(Path::new);
        check(&before(), &after, &files, &[Platform::Linux, Platform::Windows].into())
    }

    #[test]
    fn what_lets_more_pass_is_weaker() {
        let all: [(&str, Edit); 31] = [
            ("python3 need not be there any more", |it| drop(it.needs.remove(0))),
            ("python3 need not be there any more", |it| it.needs[0].optional = true),
            ("it is skipped where python3 is missing or too old", |it| it.needs[0].optional = true),
            ("python3 may be an earlier version", |it| it.needs[0].at_least = Some(vec![3, 9])),
            ("it is skipped where jq is missing", |it| it.needs.push(need("jq", &[], true))),
            ("more of its cases may be skipped: those for the reason board", |it| {
                let rule = SkipRule { matches: "board".into(), most: Some(2) };
                it.expect.skipped = Some(Skips::ByReason(vec![rule.clone(), rule]));
            }),
            ("its copies are 2, and were 3", |it| it.copies = 2),
            ("it runs 2 times, and ran 3", |it| it.repeat = 2),
            ("tried again where it is red", |it| it.retries = Some(Retries { count: 2, flaky: FlakyIs::default() })),
            ("expects 15 cases, and expected 57", |it| it.expect.cases = Some(CaseCount::Exactly(15))),
            ("expects 15 cases", |it| it.expect.cases = Some(CaseCount::AtLeast(15))),
            ("no number of cases", |it| it.expect.cases = None),
            ("comes from elsewhere", |it| {
                let listing = Listing { argv: vec!["true".into()], form: ListingForm::Auto };
                it.expect.cases = Some(CaseCount::Listed(listing));
            }),
            ("another command, and has no count", |it| {
                it.command = argv(&["true"]);
                it.expect.cases = None;
            }),
            ("`reader: none`", |it| it.reader = ReaderChoice::None),
            ("other expressions", |it| it.reader = ReaderChoice::Lines(LineRules::default())),
            ("exit status 1, and expected 0", |it| it.expect.exit = 1),
            ("any number of its cases may be skipped", |it| it.expect.skipped = None),
            ("said in another way", |it| it.expect.skipped = Some(Skips::AtMost(1))),
            ("those for the reason board", |it| {
                it.expect.skipped = Some(Skips::ByReason(vec![SkipRule { matches: "board".into(), most: Some(3) }]));
            }),
            ("1 of what it expects of stdout is gone", |it| it.expect.stdout.clear()),
            ("allows findings of leaked-process that match tmux", |it| it.allow.push(allow(Some("tmux")))),
            ("allows findings of leaked-process", |it| it.allow = vec![allow(None)]),
            ("its timeout is 11m, and was 10m", |it| it.timeout = Duration::from_secs(660)),
            ("its grace is 2s, and was 1s", |it| it.grace = Duration::from_secs(2)),
            ("runs on windows no longer", |it| it.platforms = vec![Platform::Linux]),
            ("wanted from linux no longer", |it| it.hosts = vec![Platform::Windows]),
            ("covers hooks/b.py no longer", |it| it.covers = vec!["hooks/a.py".into()]),
            ("Windows' rules less strictly", |it| it.windows.files = false),
            ("1 of what it has under `publishes` is gone", |it| it.publishes.clear()),
            ("covers hooks/a.py and 1 more no longer", |it| it.covers = vec!["test.py".into()]),
        ];
        for (why, change) in all {
            let found = found(change);
            assert!(found.iter().any(|said| said.contains(why)), "{found:?} does not say {why}");
        }
    }

    #[test]
    fn what_asks_for_more_or_runs_otherwise_is_not() {
        let all: [(&str, Edit); 17] = [
            ("a later version", |it| it.needs[0].at_least = Some(vec![3, 12])),
            ("one that must be there", |it| it.needs.push(need("jq", &[1], false))),
            ("one that must be there always", |it| it.needs[1].optional = false),
            ("the same", |_| {}),
            ("more cases", |it| it.expect.cases = Some(CaseCount::AtLeast(58))),
            ("no skips", |it| it.expect.skipped = Some(Skips::AtMost(0))),
            ("fewer skips", |it| {
                it.expect.skipped = Some(Skips::ByReason(vec![SkipRule { matches: "board".into(), most: Some(1) }]));
            }),
            ("another command with as many cases", |it| it.command = argv(&["pytest"])),
            ("another reader", |it| it.reader = ReaderChoice::Named(ReaderName::Pytest)),
            ("one more text", |it| it.expect.stdout.push(TextRule::NotContains("red".into()))),
            ("no allow", |it| it.allow.clear()),
            ("another reason", |it| it.allow[0].because = "once".into()),
            ("a shorter limit", |it| it.timeout = Duration::from_secs(5)),
            ("everywhere", |it| it.platforms.clear()),
            ("one host more", |it| it.hosts = vec![Platform::Linux, Platform::Windows, Platform::Macos]),
            ("everything", |it| it.covers.clear()),
            ("what it is run with", |it| {
                it.title = Some("x".into());
                it.env.insert("A".into(), None);
                it.tags.push("y".into());
            }),
        ];
        for (what, change) in all {
            assert_eq!(found(change), [""; 0], "{what}");
        }
    }

    #[test]
    fn every_key_of_a_check_has_its_place() {
        let known: Vec<&str> = [NEUTRAL, SURROUNDINGS, ASKING, COMPARED].concat();
        for key in map(&before()).keys() {
            assert_eq!(known.iter().filter(|known| *known == key).count(), 1, "{key} is in none or more of the lists");
        }
        let mut after = map(&before());
        after.insert("later".to_owned(), Value::from(true));
        let found = by_key(&map(&before()), &after);
        assert_eq!(found, ["`later` is another, and whether that is weaker can't be told"]);
    }

    #[test]
    fn what_it_is_run_with_is_told() {
        let mut after = before();
        after.env.insert("MODE".into(), Some("lax".into()));
        after.stdin = Some("other.json".into());
        after.tags.push("x".into());
        assert_eq!(surroundings(&before(), &after), ["env", "stdin"]);
        assert_eq!(surroundings(&before(), &before()), [""; 0]);
    }

    #[test]
    fn a_policy_is_weaker_with_fewer_hosts_more_signers_or_more_time() {
        let policy_of = |change: fn(&mut Policy)| {
            let mut policy = Policy {
                require: [Platform::Linux, Platform::Windows].into(),
                signers: "signers".into(),
                max_age: Policy::DEFAULT_MAX_AGE,
                accept: Vec::new(),
                wirings: vec![crate::model::WiringSource { file: "a.yaml".into(), commands: None }],
                origin: Origin { file: "checks.d/a.yaml".into(), line: 1 },
            };
            change(&mut policy);
            policy
        };
        let before = policy_of(|_| {});
        let parts = |after: Option<&Policy>, signers: Option<&str>| {
            let found = policy(&before, after, ("# who\nme key1\n", signers));
            found.into_iter().map(|(part, _)| part.name()).collect::<Vec<_>>()
        };
        let same = Some("me key1\n# others\n");
        assert_eq!(parts(Some(&before), same), [""; 0]);
        assert_eq!(parts(None, same), ["require"]);
        assert_eq!(
            parts(
                Some(&policy_of(|it| {
                    it.require.remove(&Platform::Windows);
                })),
                same
            ),
            ["require"]
        );
        assert_eq!(parts(Some(&policy_of(|it| it.max_age *= 2)), same), ["max_age"]);
        assert_eq!(parts(Some(&policy_of(|it| it.max_age /= 2)), same), [""; 0]);
        assert_eq!(parts(Some(&policy_of(|it| it.wirings.clear())), same), ["wirings"]);
        assert_eq!(parts(Some(&before), Some("me key1\nyou key2\n")), ["signers"]);
        assert_eq!(parts(Some(&before), Some("me namespaces=\"x\" key1\n")), ["signers"]);
        assert_eq!(parts(Some(&before), Some("")), [""; 0]);
        assert_eq!(parts(Some(&before), None), ["signers"]);
    }
}
