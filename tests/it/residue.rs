//! `watch`, `unchanged` and the project: what a check leaves outside its sandbox.

use std::fs;
use std::path::Path;

use hostproof::model::{Finding, Kind, Severity, Verdict};

use crate::context::{Context, of_kind, repository};
use crate::keys::git;

/// A project that is a repository with one commit, whose checks are not part of it.
fn project(checks: &str) -> Context {
    let context = Context::with(checks);
    let folder = context.project().to_owned();
    context.file(".gitignore", "ignored\ncache/\n");
    context.file("kept.txt", "kept\n");
    git(&context, &folder, &["init", "-q", "-b", "main", "."]);
    git(&context, &folder, &["add", "."]);
    git(&context, &folder, &["commit", "-q", "-m", "first"]);
    context
}

/// Severity and message of each.
fn told(findings: &[&Finding]) -> Vec<(Severity, String)> {
    findings.iter().map(|finding| (finding.severity, finding.message.clone())).collect()
}

fn residue_of(shell: &str) -> (Verdict, Vec<(Severity, String)>) {
    let context = project(&format!("- {{id: a, shell: '{shell}'}}"));
    let ran = context.hp(&["run"]);
    let check = ran.only();
    (check.verdict, told(&of_kind(check, Kind::Residue)))
}

#[test]
fn what_a_check_leaves_in_the_project_is_told() {
    for (shell, message) in [
        ("echo x > new.txt", "new.txt is new in the project"),
        ("echo x >> kept.txt", "kept.txt was changed in the project"),
        ("rm kept.txt", "kept.txt was removed in the project"),
        ("mkdir -p out/deep; echo x > out/deep/a; echo x > out/b", "out is new in the project, with b, deep/a"),
        ("chmod 755 kept.txt", "kept.txt was changed in the project"),
    ] {
        assert_eq!(residue_of(shell), (Verdict::Leaked, vec![(Severity::Error, message.to_owned())]), "{shell}");
    }
}

#[test]
fn what_git_ignores_and_what_is_empty_is_a_note() {
    for (shell, message) in [
        ("echo x > ignored", "ignored is new in the project (git ignores it)"),
        ("mkdir cache; echo x > cache/x", "cache is new in the project, with x (git ignores it)"),
        (": > empty", "empty is new in the project (empty)"),
        ("touch -d 2001-01-01 kept.txt", "kept.txt was changed in the project (its content is what git has)"),
        ("mkdir nothing", "nothing is new in the project (an empty folder)"),
    ] {
        assert_eq!(residue_of(shell), (Verdict::Passed, vec![(Severity::Note, message.to_owned())]), "{shell}");
    }
    for clean in
        ["cat kept.txt", "echo x > new.txt; rm new.txt", "git status --short", "echo x > $HOSTPROOF_SANDBOX/tmp/x"]
    {
        assert_eq!(residue_of(clean), (Verdict::Passed, Vec::new()), "{clean}");
    }
}

#[test]
fn head_refs_and_stash_are_gits_own_and_must_stay() {
    let as_somebody = "git -c user.name=x -c user.email=x@example.invalid";
    for (shell, expected) in [
        ("git checkout -q -b other", &["git's HEAD was moved", "git's refs/heads/other is new"][..]),
        ("$G commit -q --allow-empty -m second", &["git's refs/heads/main was moved"]),
        ("git tag v1; git pack-refs --all", &["git's refs/tags/v1 is new"]),
        ("echo y > kept.txt; $G stash -q", &["git's stash is new"]),
        ("git pack-refs --all", &[]),
    ] {
        let (verdict, found) = residue_of(&shell.replace("$G", as_somebody));
        let starts = |(severity, message): &(Severity, String), start: &str| {
            *severity == Severity::Error && message.starts_with(start)
        };
        let found: Vec<_> = found.into_iter().filter(|(severity, _)| *severity == Severity::Error).collect();
        assert_eq!(found.len(), expected.len(), "{shell}: {found:?}");
        assert!(found.iter().zip(expected).all(|(one, start)| starts(one, start)), "{shell}: {found:?}");
        assert_eq!(verdict, if expected.is_empty() { Verdict::Passed } else { Verdict::Leaked }, "{shell}");
    }
}

#[test]
fn what_else_is_gits_own_must_stay_too() {
    let context = project(
        r"
- {id: looked, shell: 'touch kept.txt; git status --short >/dev/null'}
- {id: config, shell: git config core.hooksPath hooks}
- {id: hook, shell: 'echo exit 0 > .git/hooks/pre-commit'}
- {id: staged, shell: git rm -q --cached kept.txt}
",
    );
    // Each by itself: of what is over in no time it would not be known which of them it was.
    let ran = context.hp(&["run", "looked"]);
    let looked = told(&of_kind(ran.check("looked"), Kind::Residue));
    assert!(looked.iter().all(|(severity, _)| *severity == Severity::Note), "{looked:?}");
    let error = |words: &str| vec![(Severity::Error, words.to_owned())];
    for (id, found) in [
        ("config", error("git's config was changed")),
        ("hook", error("git's hooks/pre-commit is new")),
        ("staged", error("git's index was changed: something else is staged than before")),
    ] {
        let ran = context.hp(&["run", id]);
        assert_eq!(told(&of_kind(ran.exits(1).check(id), Kind::Residue)), found, "{}", ran.said());
    }
}

#[test]
fn worktrees_that_are_registered_and_what_is_under_way_must_stay_as_they_are() {
    let side =
        "git checkout -q -b side; $G commit -q --allow-empty -m side; git checkout -q main; git branch -D -q side";
    for (shell, expected) in [
        (
            "git worktree add -q --detach $TMPDIR/wt; rm -r $TMPDIR/wt",
            Some("git's worktrees/wt is new: a linked worktree at "),
        ),
        ("git worktree add -q --detach $TMPDIR/wt; git worktree remove $TMPDIR/wt", None),
        (
            "git checkout -q --detach; $G commit -q --allow-empty -m side; s=$(git rev-parse HEAD); git checkout -q main; \
             $G merge -q --no-ff --no-commit $s",
            Some("git's MERGE_HEAD is new: a merge is under way"),
        ),
        ("git bisect start >/dev/null", Some("git's BISECT_LOG is new: a bisection is under way")),
        (": > .git/index.lock", Some("git's index.lock is new: until it is removed, git writes nothing there")),
        (": > .git/index.lock; (sleep 0.1; rm .git/index.lock) >/dev/null 2>&1 &", None),
        (
            "mkdir -p .git/objects/info; echo /x > .git/objects/info/alternates",
            Some("git's objects/info/alternates is new"),
        ),
        (side, None),
    ] {
        let (_, found) = residue_of(&shell.replace("$G", "git -c user.name=x -c user.email=x@example.invalid"));
        let errors: Vec<_> = found.iter().filter(|(severity, _)| *severity == Severity::Error).collect();
        match expected {
            None => assert!(errors.is_empty(), "{shell}: {errors:?}"),
            Some(start) => assert!(errors.iter().any(|(_, told)| told.starts_with(start)), "{shell}: {found:?}"),
        }
    }
}

#[test]
fn a_repository_in_the_project_must_stay_as_it_is() {
    let context = project(
        "- {id: commit, shell: 'git -C clone $G commit -q --allow-empty -m second'}\n\
         - {id: ignored, shell: 'git -C cache/clone $G commit -q --allow-empty -m second'}\n\
         - {id: new, shell: git init -q fixture}\n\
         - {id: looked, shell: git -C clone status --short}"
            .replace("$G", "-c user.name=x -c user.email=x@example.invalid")
            .as_str(),
    );
    for folder in ["clone", "cache/clone"] {
        let folder = context.project().join(folder);
        fs::create_dir_all(&folder).expect("a folder");
        git(&context, &folder, &["init", "-q", "-b", "main", "."]);
        git(&context, &folder, &["commit", "-q", "--allow-empty", "-m", "first"]);
    }
    for (id, severity, start, end) in [
        ("commit", Severity::Error, "git's refs/heads/main in clone was moved: ", " now"),
        ("ignored", Severity::Note, "git's refs/heads/main in cache/clone was moved: ", " now (git ignores it)"),
        ("new", Severity::Error, "fixture is new in the project, a repository of git's", ""),
    ] {
        let ran = context.hp(&["run", id]);
        let found = told(&of_kind(ran.check(id), Kind::Residue));
        let [(its, message)] = &found[..] else { panic!("{id}: {found:?}") };
        assert!(*its == severity && message.starts_with(start) && message.ends_with(end), "{id}: {found:?}");
    }
    let ran = context.hp(&["run", "looked"]);
    assert_eq!(told(&of_kind(ran.exits(0).check("looked"), Kind::Residue)), []);
}

/// What stands for something in a glob stands for itself.
#[test]
fn what_is_beside_a_planted_path_is_no_part_of_it() {
    let context = project(
        "- {id: a, plant: {'$project/a[1]': {file: x}, '$project/*.x': directory}, shell: 'echo x > a1; echo x > b.x; echo x > \"*.x/c\"'}",
    );
    let ran = context.hp(&["run"]);
    let found = told(&of_kind(ran.only(), Kind::Residue));
    let new = |name: &str| (Severity::Error, format!("{name} is new in the project"));
    assert_eq!(found, [new("a1"), new("b.x")], "{}", ran.said());
}

#[test]
fn each_of_several_checks_answers_for_its_own_residue() {
    let context = project(
        "- {id: first, shell: 'echo x > a; sleep 0.1'}\n- {id: second, shell: 'sleep 0.1; echo x > b; sleep 0.1'}\n\
         - {id: third, shell: 'sleep 0.1; cat a b'}",
    );
    let ran = context.hp(&["run", "--jobs", "1"]);
    ran.exits(1);
    for (id, file) in [("first", Some("a")), ("second", Some("b")), ("third", None)] {
        let found = of_kind(ran.check(id), Kind::Residue);
        let paths: Vec<_> = found.iter().filter_map(|finding| finding.path.as_deref()).collect();
        assert_eq!(paths, file.into_iter().collect::<Vec<_>>(), "{id}: {}", ran.said());
    }
}

#[test]
fn what_one_of_two_checks_did_is_told_of_the_run() {
    let meet =
        |own: &str, other: &str| format!("touch /tmp/$KEY.{own}; until [ -e /tmp/$KEY.{other} ]; do sleep 0.01; done");
    let key = format!("hostproof-meet-{}", std::process::id());
    let (one, two) = (meet("a", "b").replace("$KEY", &key), meet("b", "a").replace("$KEY", &key));
    let context = project(&format!(
        "- {{id: writes, shell: '{one}; echo x > new.txt; sleep 0.2'}}\n- {{id: waits, shell: '{two}; sleep 0.4'}}"
    ));
    let ran = context.hp(&["run", "--jobs", "2"]);
    for name in ["a", "b"] {
        fs::remove_file(format!("/tmp/{key}.{name}")).expect("what the checks met at");
    }
    ran.exits(3);
    let all: Vec<_> = ran.report().checks.iter().flat_map(|check| of_kind(check, Kind::Residue)).collect();
    assert_eq!(told(&all), [], "{}", ran.said());
    let of_run: Vec<_> = ran.report().findings.iter().filter(|finding| finding.kind == Kind::Residue).collect();
    let [finding] = of_run[..] else { panic!("{}", ran.said()) };
    assert!(finding.message.starts_with("new.txt is new in the project, while"), "{}", finding.message);
    assert!(finding.message.contains("writes") && finding.message.contains("waits"), "{}", finding.message);
}

#[test]
fn a_watched_place_must_be_as_it_was() {
    let key = format!("hostproof-watched-{}", std::process::id());
    let (file, folder) = (format!("/tmp/{key}.log"), format!("/tmp/{key}.d"));
    let context = Context::with(&format!(
        "- {{id: file, watch: ['/tmp/{key}.*'], shell: 'echo x > {file}'}}\n\
         - {{id: again, watch: ['/tmp/{key}.*'], shell: 'echo x >> {file}'}}\n\
         - {{id: gone, watch: ['/tmp/{key}.*'], shell: 'rm {file}'}}\n\
         - {{id: folder, watch: ['/tmp/{key}.*'], shell: 'mkdir -p {folder}/deep; echo x > {folder}/deep/x'}}\n\
         - {{id: clean, watch: ['/tmp/{key}.*'], shell: 'cat {folder}/deep/x'}}\n\
         - {{id: unwatched, shell: 'rm -r {folder}'}}\n\
         - {{id: project, watch: [state], shell: 'mkdir state; : > state/empty'}}"
    ));
    let ran = context.hp(&["run", "--jobs", "1"]);
    ran.exits(1);
    for (id, start) in [
        ("file", format!("{file} is new")),
        ("again", format!("{file} was changed")),
        ("gone", format!("{file} was removed")),
        ("folder", format!("{folder} is new, with deep/x")),
        ("project", "state is new, with empty".to_owned()),
    ] {
        let found = of_kind(ran.check(id), Kind::Residue);
        let [finding] = found[..] else { panic!("{id}: {}", ran.said()) };
        assert!(
            finding.severity == Severity::Error && finding.message.starts_with(&start),
            "{id}: {}",
            finding.message
        );
        assert_eq!(ran.check(id).verdict, Verdict::Leaked, "{id}");
    }
    for id in ["clean", "unwatched"] {
        assert_eq!(told(&of_kind(ran.check(id), Kind::Residue)), [], "{id}");
    }
}

#[test]
fn whoever_wrote_in_a_watched_place_is_named() {
    let key = format!("hostproof-writer-{}", std::process::id());
    let context = Context::with(&format!(
        "- {{id: a, watch: ['/tmp/{key}'], shell: 'python3 -c \"open(\\\"/tmp/{key}\\\", \\\"w\\\").write(\\\"x\\\")\"; echo'}}"
    ));
    let ran = context.hp(&["run"]);
    fs::remove_file(format!("/tmp/{key}")).expect("the file");
    let [finding] = of_kind(ran.only(), Kind::Residue)[..] else { panic!("{}", ran.said()) };
    let writer = finding.process.as_ref().map(|process| process.argv.join(" ")).unwrap_or_default();
    assert!(writer.contains("python3 -c") && finding.message.contains("written by"), "{}", ran.said());
}

#[test]
fn what_a_command_says_must_be_the_same_before_and_after() {
    let file = std::env::temp_dir().join(format!("hostproof-unchanged-{}", std::process::id()));
    let file = file.display();
    let context = Context::with(&format!(
        "- {{id: same, unchanged: [[ls, {file}]], shell: ':'}}\n\
         - {{id: other, unchanged: [[ls, {file}], ['true']], shell: 'touch {file}'}}\n\
         - {{id: undone, unchanged: [[cat, {file}]], shell: 'echo x > {file}; : > {file}'}}\n\
         - {{id: broken, unchanged: [[no-such-program-here]], shell: 'rm {file}'}}"
    ));
    let ran = context.hp(&["run", "--jobs", "1"]);
    fs::remove_file(file.to_string()).expect("the file");
    for (id, verdict) in [
        ("same", Verdict::Passed),
        ("other", Verdict::Leaked),
        ("undone", Verdict::Passed),
        ("broken", Verdict::Broken),
    ] {
        assert_eq!(ran.check(id).verdict, verdict, "{id}: {}", ran.said());
    }
    let [finding] = of_kind(ran.check("other"), Kind::Residue)[..] else { panic!("{}", ran.said()) };
    assert!(finding.message.contains("does not say what it said before: nothing before"), "{}", finding.message);
    let reason = ran.check("broken").reason.as_deref().unwrap_or_default();
    assert!(reason.contains("unchanged: no-such-program-here"), "{reason}");
}

#[test]
fn the_top_of_the_real_home_is_looked_at() {
    let mut context = Context::with(
        "- {id: real, home: real, shell: 'echo x > ~/.rc; echo y >> ~/.old'}\n\
         - {id: own, shell: 'echo x > ~/.other'}",
    );
    context.file("home/.old", "x\n");
    let home = context.project().join("home");
    context.env("HOME", &home);
    let ran = context.hp(&["run", "--jobs", "1"]);
    let found = told(&of_kind(ran.check("real"), Kind::Residue));
    let of_home: Vec<_> = found.iter().filter(|(_, message)| message.starts_with('~')).collect();
    assert_eq!(
        of_home,
        [
            &(Severity::Warning, "~/.rc is new in the home directory (by whom is not known)".to_owned()),
            &(Severity::Note, "~/.old was changed in the home directory (by whom is not known)".to_owned()),
        ],
        "{}",
        ran.said()
    );
    assert_eq!(told(&of_kind(ran.check("own"), Kind::Residue)), []);
}

#[test]
fn what_is_declared_or_allowed_is_no_residue() {
    let context = project(
        "- {id: publishes, publishes: ['state/*.json'], shell: 'mkdir state; echo > $HOSTPROOF_SANDBOX/tmp/a && mv $HOSTPROOF_SANDBOX/tmp/a state/a.json'}\n\
         - {id: allowed, allow: [{kind: residue, match: log, because: kept}], shell: 'echo x > log'}",
    );
    let ran = context.hp(&["run", "--jobs", "1"]);
    ran.exits(0);
    assert_eq!(told(&of_kind(ran.check("publishes"), Kind::Residue)), [], "{}", ran.said());
    let [allowed] = of_kind(ran.check("allowed"), Kind::Residue)[..] else { panic!("{}", ran.said()) };
    assert_eq!((allowed.severity, allowed.allowed.as_deref()), (Severity::Note, Some("kept")));
}

#[test]
fn a_place_that_names_nothing_is_refused() {
    for (place, words) in [("/", "names no file"), ("a/../b", "has `..` in it"), ("/tmp/[", "is not a glob"), ("", "")]
    {
        let context = Context::with(&format!("- {{id: a, watch: ['{place}'], run: ['true']}}"));
        let ran = context.hp(&["run"]);
        ran.exits(2);
        assert!(ran.stderr.contains(words), "{place}: {}", ran.stderr);
    }
}

#[test]
fn a_setup_may_make_what_it_wants_and_an_unchanged_project_has_no_residue() {
    let context = project("");
    context.manifest(
        "checks.yaml",
        "version: 1\nsetup: [[sh, -c, 'echo x > built']]\ndefaults: {reader: none}\nchecks:\n- {id: a, run: [cat, built]}\n",
    );
    let ran = context.hp(&["run"]);
    ran.exits(0);
    assert_eq!(told(&of_kind(ran.only(), Kind::Residue)), [], "{}", ran.said());
    assert!(ran.report().findings.iter().all(|finding| finding.kind != Kind::Residue), "{}", ran.said());
    assert!(Path::new(&context.project().join("built")).exists() && repository().exists());
}

#[test]
fn residue_is_removed_where_it_is_surely_the_checks_own() {
    let key = format!("hostproof-removed-{}", std::process::id());
    let mine = format!("/tmp/{key}.d");
    let others = format!("/tmp/{key}.theirs");
    fs::write(&others, "x\n").expect("a file that was there before");
    let context = Context::with(&format!(
        "- {{id: a, watch: ['/tmp/{key}.*'], shell: 'mkdir {mine}; echo x > {mine}/f; echo x >> {others}; ln -s f {mine}.link'}}"
    ));
    let ran = context.hp(&["run", "--remove-residue"]);
    ran.exits(1);
    let there = [&mine, &others, &format!("{mine}.link")].map(|path| fs::symlink_metadata(path).is_ok());
    fs::remove_file(&others).expect("the file");
    fs::remove_file(format!("{mine}.link")).expect("the link");
    // Who made a link is not seen, so that it stays.
    assert_eq!(there, [false, true, true], "{}", ran.said());
    let removed = of_kind(ran.only(), Kind::Residue);
    let removed: Vec<_> = removed.iter().filter(|finding| finding.message.contains("--remove-residue")).collect();
    assert_eq!(removed.len(), 2, "{}", ran.said());
}

/// Some reports from the field, by the reproductions' own words.
#[test]
fn writes_that_escape_are_told_though_the_file_is_gone_again() {
    let key = format!("hostproof-escaped-{}", std::process::id());
    let context = Context::with(&format!(
        "- {{id: gone, watch: ['/tmp/{key}.*'], run: [python3, fixed.py]}}\n\
         - {{id: stays, watch: ['/tmp/{key}.*'], run: [python3, settings.py]}}"
    ));
    context.file(
        "fixed.py",
        format!(
            "import os\np = '/tmp/{key}.bin'\nwith open(p, 'w') as f: f.write('x')\nos.unlink(p)\nprint('1 passed')\n"
        ),
    );
    context.file(
        "settings.py",
        format!("import os\nd = '/tmp/{key}.d'\nos.makedirs(d)\nopen(d + '/config.toml', 'w').write('theme')\n"),
    );
    let ran = context.hp(&["run", "--jobs", "1", "--remove-residue"]);
    let gone = ran.check("gone");
    let [finding] = of_kind(gone, Kind::Residue)[..] else { panic!("{}", ran.said()) };
    assert_eq!((gone.verdict, finding.severity), (Verdict::Passed, Severity::Note));
    assert!(
        finding.message.starts_with(&format!("/tmp/{key}.bin was made, and removed again, written by")),
        "{}",
        ran.said()
    );
    let stays = told(&of_kind(ran.check("stays"), Kind::Residue));
    assert!(stays[0].1.starts_with(&format!("/tmp/{key}.d is new, with config.toml, written by")), "{stays:?}");
    assert!(!Path::new(&format!("/tmp/{key}.d")).exists());
}
