//! `matrix`: a check with every combination of settings, and which of them break it. What of a check its id means.

use hostproof::model::{CheckReport, Kind, Verdict};

use crate::context::{Context, Ran, of_kind};

fn ids(ran: &Ran) -> Vec<(&str, Verdict)> {
    ran.report().checks.iter().map(|check| (check.id.as_str(), check.verdict)).collect()
}

fn depends<'a>(ran: &'a Ran, id: &str) -> &'a str {
    &of_kind(ran.check(id), Kind::DependsOn)[0].message
}

#[test]
fn the_setting_that_breaks_it_is_named() {
    let context = Context::with(
        "- id: guard\n  matrix: {FRESH: [\"0.1\", 5, 300], MODE: [strict, null]}\n  env: {MODE: none}\n  \
         shell: 'test \"$FRESH\" != 0.1 || exit 3; case ${MODE-unset} in strict|unset) ;; *) exit 4 ;; esac'\n",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(
        ids(&ran),
        [
            ("guard[FRESH=0.1,MODE=strict]", Verdict::Failed),
            ("guard[FRESH=0.1,MODE=null]", Verdict::Failed),
            ("guard[FRESH=5,MODE=strict]", Verdict::Passed),
            ("guard[FRESH=5,MODE=null]", Verdict::Passed),
            ("guard[FRESH=300,MODE=strict]", Verdict::Passed),
            ("guard[FRESH=300,MODE=null]", Verdict::Passed),
        ],
        "{}",
        ran.said()
    );
    for id in ["guard[FRESH=0.1,MODE=strict]", "guard[FRESH=0.1,MODE=null]"] {
        let told = "passes, but not with FRESH=0.1 (2 combinations that have it are red, and none passes)";
        assert_eq!(depends(&ran, id), told);
        assert!(ran.check(id).reason.as_deref().is_some_and(|reason| reason.starts_with(told)), "{}", ran.said());
    }
    assert_eq!(ran.check("guard[FRESH=5,MODE=null]").variant.as_deref(), Some("FRESH=5,MODE=null"));
    // One of them is run alone by its id, and is not set against others then.
    let ran = context.hp(&["run", "guard[FRESH=0.1,MODE=null]"]);
    assert_eq!(ids(&ran), [("guard[FRESH=0.1,MODE=null]", Verdict::Failed)]);
    assert_eq!(of_kind(ran.only(), Kind::DependsOn).len(), 0);
}

#[test]
fn two_settings_that_break_it_together_are_named_whatever_else_is_set() {
    let context = Context::with(
        "- id: pair\n  matrix: {A: [0, 1], B: [0, 1], C: [0, 1]}\n  shell: 'test \"$A$B\" != 11'\n  vary: [locale]\n",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).last_line(), "7/9 checks", "{}", ran.said());
    for id in ["pair[A=1,B=1,C=0]", "pair[A=1,B=1,C=1]"] {
        assert_eq!(depends(&ran, id), "passes, but not with A=1 and B=1 together");
    }
    // What vary adds is on top of the first.
    assert_eq!(ran.check("pair[A=0,B=0,C=0][locale]").verdict, Verdict::Passed);
}

#[test]
fn pairs_are_enough_to_find_it_in_a_large_one() {
    let variables: Vec<String> = (0..12).map(|number| format!("V{number}: [a, b, c, d]")).collect();
    let context = Context::with(&format!(
        "- id: large\n  matrix: {{{}}}\n  shell: 'test \"$V3\" != c || test \"$V7\" != d'\n",
        variables.join(", ")
    ));
    let refused = context.hp(&["run"]);
    assert!(refused.exits(2).stderr.contains("with --pairwise every two values"), "{}", refused.said());
    let many: Vec<String> = (0..400).map(|number| number.to_string()).collect();
    let beyond =
        Context::with(&format!("- {{id: beyond, shell: 'true', matrix: {{A: [{0}], B: [{0}]}}}}", many.join(", ")));
    let refused = beyond.hp(&["run", "--pairwise"]);
    assert!(refused.exits(2).stderr.contains("at least 160000 combinations"), "{}", refused.said());
    let ran = context.hp(&["run", "--pairwise"]);
    let all = ran.exits(1).report().checks.len();
    assert!((16..100).contains(&all), "{all} of 16,777,216: {}", ran.said());
    let red: Vec<&str> = ids(&ran).into_iter().filter(|(_, it)| *it == Verdict::Failed).map(|(id, _)| id).collect();
    assert!(!red.is_empty());
    for id in red {
        assert!(id.contains("V3=c") && id.contains("V7=d"), "{id}");
        assert!(depends(&ran, id).starts_with("passes"), "{}", depends(&ran, id));
    }
}

#[test]
fn combinations_run_at_once_unless_they_share_a_lock() {
    // Each waits for another one, so that one after the other they would never end.
    let check = |key: &str, tries: &str| {
        format!(
            "- id: pair\n  matrix: {{N: [1, 2]}}\n  timeout: 60s\n  cwd: sandbox\n  inherit: [MEET]\n  \
             env: {{TRIES: {tries:?}}}{key}\n  shell: |\n    \
             touch \"$MEET/$N\"\n    i=0\n    \
             until test $(ls \"$MEET\" | wc -l) = 2; do sleep 0.02; i=$((i+1)); test $i -lt $TRIES || exit 3; done\n"
        )
    };
    let run = |key: &str, tries: &str, jobs: &str| {
        let mut context = Context::with(&check(key, tries));
        let meet = tempfile::tempdir().expect("a folder");
        context.env("MEET", meet.path());
        let ran = context.hp(&["run", "--jobs", jobs]);
        ids(&ran).into_iter().map(|(_, verdict)| verdict).collect::<Vec<_>>()
    };
    assert_eq!(run("", "2500", "2"), [Verdict::Passed, Verdict::Passed]);
    // The first of two that come one after the other never meets the second.
    assert_eq!(run("\n  lock: [pair]", "5", "2"), [Verdict::Failed, Verdict::Passed]);
    assert_eq!(run("", "5", "1"), [Verdict::Failed, Verdict::Passed]);
}

#[test]
fn what_combinations_do_to_each_other_is_not_laid_to_their_settings() {
    // Those with A=0 wait for each other; whoever finds the lock taken is red, but alone.
    let mut context = Context::with(
        "- id: takes\n  matrix: {A: [0, 1]}\n  timeout: 60s\n  cwd: sandbox\n  inherit: [MEET]\n  shell: |\n    \
         test -e \"$MEET/over\" && exit 0\n    touch \"$MEET/$A\"\n    \
         until test $(ls \"$MEET\" | grep -c '^[01]$') = 2; do sleep 0.02; done\n    \
         if mkdir \"$MEET/taken\"; then until test -e \"$MEET/refused\"; do sleep 0.02; done; exit 0; fi\n    \
         touch \"$MEET/refused\" \"$MEET/over\"\n    exit 4\n",
    );
    let meet = tempfile::tempdir().expect("a folder");
    context.env("MEET", meet.path());
    let ran = context.hp(&["run", "--jobs", "2"]);
    assert_eq!(ran.exits(1).last_line(), "1/2 checks", "{}", ran.said());
    let red = ran.report().checks.iter().find(|check| check.verdict == Verdict::Failed).expect("a red one").clone();
    let told = &of_kind(&red, Kind::Collision)[0].message;
    assert!(told.starts_with("red beside other combinations of it, and passes when it runs again alone"), "{told}");
    assert_eq!(of_kind(&red, Kind::DependsOn).len(), 0, "{}", ran.said());
    assert!(ran.stdout.contains("collision"), "{}", ran.stdout);
}

#[test]
fn of_many_red_combinations_so_many_run_again_as_there_are_settings() {
    let mut context = Context::with(
        "- id: many\n  matrix: {A: [0, 1, 2, 3, 4, 5, 6, 7], B: [0, 1, 2, 3, 4, 5, 6, 7], C: [x, y]}\n  inherit: [RUNS]\n  \
         shell: |\n    mktemp \"$RUNS/XXXXXXXX\" >/dev/null\n    test $C = y\n",
    );
    let runs = tempfile::tempdir().expect("a folder");
    context.env("RUNS", runs.path());
    let ran = context.hp(&["run", "--jobs", "4"]);
    assert_eq!(ran.exits(1).last_line(), "64/128 checks", "{}", ran.said());
    let again = std::fs::read_dir(runs.path()).expect("a folder").count() - 128;
    assert!((16..45).contains(&again), "{again} of 64 ran again");
    let red = |check: &&CheckReport| check.verdict == Verdict::Failed;
    let report = ran.report();
    for check in report.checks.iter().filter(red) {
        assert!(depends(&ran, &check.id).starts_with("passes, but not with C=x (64 combinations"), "{}", ran.said());
    }
    let is_spared = |note: &String| note.starts_with("it did not run again without other combinations beside it: ");
    let spared = report.checks.iter().filter(red).filter(|check| check.notes.iter().any(is_spared)).count();
    // One may have had nobody beside it.
    assert!(spared >= 20 && spared + again <= 64, "{spared} say so, and {again} ran again");
}

#[test]
fn the_id_of_a_check_means_all_that_is_declared_of_it() {
    let context = Context::with(
        "- {id: a, as: [native, windows], vary: [locale], copies: 2, shell: 'test \"$HOSTPROOF_CHECK\" != a'}\n\
         - {id: b, matrix: {F: [1, 2]}, shell: 'exit 0'}\n- {id: c, shell: 'exit 1'}\n",
    );
    let of = |arguments: &[&str]| {
        let ran = context.hp(&[&["run"], arguments].concat());
        ids(&ran).into_iter().map(|(id, _)| id.to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of(&["a"]), "a a@windows a[locale] a#1 a#2 a[one-tmpdir]#1 a[one-tmpdir]#2");
    for (name, ids) in [
        ("a@native", "a"),
        ("a@windows", "a@windows"),
        ("a[locale]", "a[locale]"),
        ("a#1", "a a#1 a#2"),
        ("b", "b[F=1] b[F=2]"),
        ("b[F=2]", "b[F=2]"),
        ("c", "c"),
    ] {
        assert_eq!(of(&[name]), ids, "{name}");
    }
    // What is red is named so that it runs alone; one without variants by its id.
    let said = context.hp(&["run"]).stdout;
    assert!(said.contains("again  hostproof run a@native --keep failed"), "{said}");
    assert!(said.contains("again  hostproof run c --keep failed"), "{said}");
    assert_eq!(of(&["--failed"]), "a c");
    assert_eq!(of(&["a", "--failed"]), "a");
    let listed = context.hp(&["list", "a"]);
    assert_eq!(listed.stdout.lines().count(), 7, "{}", listed.stdout);
}

#[test]
fn reports_that_were_put_aside_are_whole_and_in_order() {
    let values = |name: &str| format!("{name}: [{}]", (0..15).map(|n| n.to_string()).collect::<Vec<_>>().join(", "));
    let context = Context::with(&format!(
        "- id: loud\n  cwd: sandbox\n  matrix: {{{}, {}}}\n  shell: |\n    \
         head -c 16000 /dev/zero | tr '\\0' x; echo \" $A $B\"; head -c 16000 /dev/zero | tr '\\0' x >&2; test $A != 3\n",
        values("A"),
        values("B")
    ));
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).last_line(), "210/225 checks", "{}", ran.stdout);
    let report = ran.report();
    for (at, check) in report.checks.iter().enumerate() {
        let (a, b) = (at / 15, at % 15);
        assert_eq!(check.id, format!("loud[A={a},B={b}]"));
        assert!(
            check.stdout.tail.ends_with(&format!("x {a} {b}\n")) && check.stderr.tail.ends_with('x'),
            "{}",
            check.id
        );
        assert_eq!(of_kind(check, Kind::DependsOn).len(), usize::from(a == 3), "{}", check.id);
    }
}
