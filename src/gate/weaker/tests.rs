//! What is weaker, and what is not.

use std::time::Duration;

use super::*;
use crate::model::{
    Break, CheckCommand, Effect, Expect, Fault, FaultCall, FlakyIs, Forbid, Kind, LineRules, Listing, ListingForm,
    Origin, Plant, Planting, ReaderName, Retries, SkipRule, TextRule,
};

/// What is changed of a check.
type Edit = fn(&mut Check);

fn before() -> Check {
    let rule = SkipRule { matches: "board".into(), most: Some(2) };
    let fault =
        Fault { call: FaultCall::Rename, path: None, nth: Some(1), effect: Effect::Delay(Duration::from_millis(1)) };
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
        breaks: vec![Break { edits: Vec::new(), expect: "unmet".into() }],
        forbid: vec![Forbid { program: "tmux".into(), observe: false }],
        plant: vec![Planting { path: "guard.log".into(), plant: Plant::Fifo }],
        faults: vec![fault],
        watch: vec!["/tmp/sweep_*".into()],
        unchanged: vec![vec!["pgrep".into()]],
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
    Allow { kind: Kind::LeakedProcess, ends_within: None, matches: matches.map(str::to_owned), because: String::new() }
}

fn found(change: impl FnOnce(&mut Check)) -> Vec<String> {
    let mut after = before();
    change(&mut after);
    let files = ["hooks/a.py", "hooks/b.py", "test.py"].map(Path::new);
    check(&before(), &after, &files, &[Platform::Linux, Platform::Windows].into())
}

#[test]
fn what_lets_more_pass_is_weaker() {
    let all: [(&str, Edit); 38] = [
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
        ("1 of what it has under `breaks` is gone", |it| it.breaks.clear()),
        ("1 of what it has under `forbid` is gone", |it| it.forbid.clear()),
        ("1 of what it has under `forbid` is gone", |it| it.forbid[0].observe = true),
        ("1 of what it has under `plant` is gone", |it| it.plant.clear()),
        ("1 of what it has under `faults` is gone", |it| it.faults.clear()),
        ("1 of what it has under `watch` is gone", |it| it.watch.clear()),
        ("1 of what it has under `unchanged` is gone", |it| it.unchanged.clear()),
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
