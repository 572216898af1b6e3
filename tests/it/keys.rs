//! What a manifest can ask for: each key of a check does what it says.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use hostproof::model::{Exit, Kind, Severity, Verdict};

use crate::context::{Context, errors, fifo, of_kind, repository};

#[test]
fn run_takes_words_as_they_are_and_shell_takes_a_script() {
    let mut context = Context::with(
        r#"
- {id: words, run: [printf, '%s|', $project, "$HOME", "a b", '', $projects], expect: {stdout: [{matches: '^/.*\|\$HOME\|a b\|\|\$projects\|$'}]}}
- {id: script, shell: 'echo "$HOSTPROOF_PROJECT" "$HOSTPROOF_SANDBOX" "$HOSTPROOF_CHECK" > said'}
- {id: bash, interpreter: bash, shell: '[[ $BASH_VERSION ]]'}
- {id: python, run: [python3, -c, "import sys; assert sys.version_info[0] == 3"]}
- {id: relative, run: [./tool]}
- {id: plain, run: [./plain]}
"#,
    );
    context.program("tool", "#!/bin/sh\nexit 0\n");
    // As a shell does it, a script without a first line of its own goes to sh.
    context.program("plain", "exit 0\n");
    context.env("SECRET", "1");
    let ran = context.hp(&["run"]);
    ran.exits(0);
    let said = context.read("said");
    let [project, sandbox, id] = said.split_whitespace().collect::<Vec<_>>()[..] else { panic!("{said}") };
    assert_eq!((project, id), (context.project().to_str().expect("text"), "script"));
    assert!(sandbox.starts_with(context.base().to_str().expect("text")));
}

#[test]
fn what_cannot_start_is_broken_and_says_why() {
    let context = Context::with(
        r"
- {id: program, run: [no-such-program-here]}
- {id: file, run: [./no-such-file]}
- {id: folder, run: [./checks.d]}
- {id: script, run: [python3, gone/hook.py], expect: {exit: 2}}
- {id: mode, run: [./notes.txt]}
- {id: interpreter, run: [./old]}
- {id: windows, run: [./windows]}
",
    );
    context.file("notes.txt", "hello\n");
    context.program("old", "#!/opt/no-such-interpreter\n");
    context.program("windows", "#!/bin/sh\r\nexit 0\r\n");
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).last_line(), "0/7 checks, 7 broken");
    for (id, words) in [
        ("program", "the program no-such-program-here is not installed, or not on the check's PATH"),
        ("file", "./no-such-file is not there"),
        ("folder", "./checks.d is a folder, not a program"),
        ("script", "the script gone/hook.py is not there"),
        ("mode", "notes.txt"),
        ("interpreter", "\"/opt/no-such-interpreter\" is not there"),
        ("windows", "(the script has Windows line ends)"),
    ] {
        let check = ran.check(id);
        let reason = check.reason.as_deref().unwrap_or_default();
        assert!(check.verdict == Verdict::Broken && reason.contains(words), "{id}: {reason}");
        assert_eq!(check.exit, None, "{id}");
    }
}

#[test]
fn defaults_hold_where_a_check_says_nothing() {
    let context = Context::new();
    context.manifest(
        "a.yaml",
        r#"
version: 1
defaults: {reader: none, env: {A: default, B: default}, cwd: sandbox, expect: {exit: 3}}
checks:
  - {id: all, shell: 'test "$A$B" = defaultdefault && test "$PWD" != "$HOSTPROOF_PROJECT" && exit 3'}
  - {id: one, env: {B: own}, cwd: project, shell: 'test "$A$B" = defaultown && test "$PWD" = "$HOSTPROOF_PROJECT" && exit 3'}
  - {id: exit, expect: {exit: 0}, shell: 'exit 0'}
  - {id: linux, shell: 'exit 9', linux: {shell: 'exit 3'}}
"#,
    );
    context.manifest("b.yaml", "version: 1\nchecks:\n  - {id: other, reader: none, shell: 'test -z \"$A\"'}\n");
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).last_line(), "5/5 checks", "{}", ran.said());
}

#[test]
fn the_environment_is_clean_unless_asked_for() {
    let mut context = Context::with(
        r#"
- {id: clean, shell: 'test -z "$SECRET$WANTED" && test -n "$PATH" && test "$LC_TIME" = C && test "$https_proxy$NO_PROXY" = http://p/x'}
- {id: names, inherit: [WANTED], shell: 'test "$WANTED" = yes && test -z "$SECRET"'}
- {id: all, inherit: all, shell: 'test "$SECRET" = hush'}
- {id: set, env: {MODE: strict, WHERE: "$project/x:$sandbox", LC_TIME: null}, shell: 'test "$MODE" = strict && test "$WHERE" = "$HOSTPROOF_PROJECT/x:$HOSTPROOF_SANDBOX" && test -z "${LC_TIME+set}"'}
- {id: project, shell: 'test "$CLAUDE_PROJECT_DIR" = "$PWD" && test "$HOSTPROOF_PROJECT" = "$PWD"'}
"#,
    );
    context.env("SECRET", "hush").env("WANTED", "yes").env("LC_TIME", "C");
    context.env("https_proxy", "http://p/").env("NO_PROXY", "x");
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).last_line(), "5/5 checks", "{}", ran.said());
}

#[test]
fn git_of_a_hook_does_not_reach_a_check() {
    let mut context = Context::with(
        r#"
- {id: clean, shell: 'env | grep ^GIT_ && exit 1; exit 0'}
- {id: all, inherit: all, shell: 'env | grep ^GIT_ && exit 1; exit 0'}
- id: fixture
  cwd: sandbox
  env: {GIT_CONFIG_GLOBAL: /dev/null, GIT_CONFIG_NOSYSTEM: "1"}
  shell: |
    set -e
    git init -q .
    touch file
    git add file
    git -c user.name=x -c user.email=x@example.invalid commit -q -m inner
"#,
    );
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        context.dress(&mut command);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.args(["-c", "user.name=x", "-c", "user.email=x@example.invalid"]).args(arguments);
        let output = command.output().expect("git");
        assert!(output.status.success(), "git {arguments:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    git(&["init", "-q"]);
    git(&["commit", "-q", "--allow-empty", "-m", "outer"]);
    let before = (git(&["log", "--format=%s"]), git(&["status", "--porcelain"]));
    // What git sets for the hooks that it runs.
    let folder = context.project().join(".git");
    context.env("GIT_DIR", &folder).env("GIT_INDEX_FILE", folder.join("index")).env("GIT_PREFIX", "");
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).last_line(), "3/3 checks", "{}", ran.said());
    context.env("GIT_DIR", "").env("GIT_INDEX_FILE", "");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        context.dress(&mut command);
        command.env_remove("GIT_DIR").env_remove("GIT_INDEX_FILE").env_remove("GIT_PREFIX");
        String::from_utf8(command.args(arguments).output().expect("git").stdout).expect("text")
    };
    assert_eq!((git(&["log", "--format=%s"]), git(&["status", "--porcelain"])), before);
    assert_eq!(ran.report().source.start, ran.report().source.end);
    assert!(ran.report().source.start.as_ref().is_some_and(|state| state.commit.is_some() && state.dirty));
}

#[test]
fn a_check_has_an_empty_home_or_the_callers() {
    let mut context = Context::with(
        r#"
- {id: empty, shell: 'test -z "$(ls -A "$HOME")" && touch "$HOME/mine" && test "$USERPROFILE" = "$HOME"'}
- {id: fresh, shell: 'test ! -e "$HOME/mine"'}
- {id: real, home: real, shell: 'test -e "$HOME/dotfile"'}
"#,
    );
    let home = context.file("house/dotfile", "").parent().expect("a folder").to_owned();
    context.env("HOME", &home);
    let ran = context.hp(&["run", "--jobs", "1"]);
    assert_eq!(ran.exits(0).last_line(), "3/3 checks", "{}", ran.said());
}

#[test]
fn a_check_starts_in_the_project_a_copy_or_the_sandbox() {
    let context = Context::with(
        r#"
- {id: project, shell: 'test -e tracked && test "$PWD" = "$HOSTPROOF_PROJECT"'}
- id: copy
  cwd: copy
  shell: |
    set -e
    test "$PWD" = "$HOSTPROOF_PROJECT"
    test "$(cat tracked)" = changed
    test -e untracked
    test ! -e ignored
    test "$(readlink link)" = tracked
    test "$(git log --format=%s)" = start
    echo spoiled > tracked
- {id: sandbox, cwd: sandbox, shell: 'test -z "$(ls -A)" && test "$PWD" = "$HOSTPROOF_SANDBOX/work"'}
- {id: after, shell: 'test "$(cat tracked)" = changed'}
"#,
    );
    context.file("tracked", "start\n");
    context.file(".gitignore", "ignored\n");
    std::os::unix::fs::symlink("tracked", context.project().join("link")).expect("a link");
    for arguments in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "start"]] {
        let mut command = Command::new("git");
        context.dress(&mut command);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.args(["-c", "user.name=x", "-c", "user.email=x@example.invalid"]).args(arguments);
        assert!(command.status().expect("git").success());
    }
    context.file("tracked", "changed\n");
    context.file("untracked", "");
    context.file("ignored", "");
    let ran = context.hp(&["run", "--jobs", "1"]);
    assert_eq!(ran.exits(0).last_line(), "4/4 checks", "{}", ran.said());
}

#[test]
fn files_are_put_into_the_sandbox() {
    let context = Context::with(
        r#"
- id: files
  cwd: sandbox
  files: {hooks: src/hooks, deep/er/event.json: fixtures/event.json}
  shell: |
    set -e
    test "$(cat hooks/inner/a)" = a
    test -x hooks/run
    test "$(cat deep/er/event.json)" = '{}'
    echo b > hooks/inner/a
- {id: missing, cwd: sandbox, files: {x: nowhere}, shell: 'true'}
"#,
    );
    context.file("src/hooks/inner/a", "a\n");
    context.program("src/hooks/run", "");
    context.file("fixtures/event.json", "{}\n");
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).check("files").verdict, Verdict::Passed, "{}", ran.said());
    assert_eq!(context.read("src/hooks/inner/a"), "a\n");
    let missing = ran.check("missing");
    assert_eq!(missing.verdict, Verdict::Broken);
    assert!(missing.reason.as_deref().is_some_and(|reason| reason.contains("nowhere")), "{:?}", missing.reason);
}

#[test]
fn input_comes_from_a_file() {
    let context = Context::with(
        r"
- {id: event, stdin: fixtures/event.json, run: [cat], expect: {stdout: [{contains: PostToolUse}]}}
- {id: missing, stdin: fixtures/gone.json, run: [cat]}
- {id: pipe, stdin: fixtures/pipe, run: [cat]}
",
    );
    context.file("fixtures/event.json", "{\"hook_event_name\": \"PostToolUse\"}\n");
    let pipe = context.project().join("fixtures/pipe");
    fifo(&pipe);
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).check("event").verdict, Verdict::Passed, "{}", ran.said());
    for id in ["missing", "pipe"] {
        let reason = ran.check(id).reason.as_deref().unwrap_or_default();
        assert!(ran.check(id).verdict == Verdict::Broken && reason.starts_with("stdin: fixtures/"), "{id}: {reason}");
    }
}

#[test]
fn exit_and_text_are_as_expected_or_unmet() {
    let context = Context::with(
        r#"
- {id: exit, shell: 'exit 2', expect: {exit: 2}}
- {id: other, shell: 'exit 2', expect: {exit: 1}}
- {id: signal, shell: 'kill -KILL $$'}
- id: text
  shell: 'printf "one\ntwo (2 checks)\n"; echo careful >&2'
  expect:
    stdout: [{contains: one}, {matches: '^two \(\d+ checks\)$'}, {not_contains: Traceback}]
    stderr: [{contains: careful}]
- id: lacks
  shell: 'echo Traceback; echo fine >&2'
  expect:
    stdout: [{contains: one}, {matches: '^\d+$'}, {not_contains: Traceback}]
    stderr: [{not_contains: fine}]
"#,
    );
    let ran = context.hp(&["run"]);
    ran.exits(1);
    assert_eq!(ran.check("exit").verdict, Verdict::Passed);
    assert_eq!(ran.check("text").verdict, Verdict::Passed, "{}", ran.said());
    assert_eq!(ran.check("other").findings[0].message, "exit status 2, expected 1");
    assert_eq!(ran.check("signal").exit, Some(Exit::Signal(9)));
    assert_eq!(ran.check("signal").findings[0].message, "ended by signal 9 (SIGKILL), expected exit status 0");
    let unmet: Vec<&str> = ran.check("lacks").findings.iter().map(|finding| finding.message.as_str()).collect();
    assert_eq!(
        unmet,
        [
            "stdout does not contain \"one\"",
            "nothing in stdout matches \"^\\\\d+$\"",
            "stdout contains \"Traceback\"",
            "stderr contains \"fine\""
        ]
    );
}

#[test]
fn cases_are_counted_and_none_is_taken_for_granted() {
    let run = "run: [python3, test_board.py]";
    let context = Context::proving(&format!(
        r#"
- {{id: exact, {run}, expect: {{cases: 3, skipped: 1}}}}
- {{id: least, {run}, expect: {{cases: ">=2"}}}}
- {{id: short, {run}, expect: {{cases: 5}}}}
- {{id: bound, {run}, expect: {{cases: ">=4"}}}}
- {{id: long, {run}, expect: {{cases: 2}}}}
- {{id: skipped, {run}, expect: {{skipped: 0}}}}
- {{id: silent, shell: 'true'}}
- {{id: counted, shell: 'true', expect: {{cases: 4}}}}
- {{id: waived, shell: 'true', reader: none}}
- {{id: dies, run: [python3, test_dies.py], expect: {{cases: 3}}}}
"#
    ));
    let module = |body: &str| {
        format!(
            "import os, unittest\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): {body}\n    \
             @unittest.skip('no board')\n    def test_c(self): pass\n\nunittest.main(verbosity=2)\n"
        )
    };
    context.file("test_board.py", module("pass"));
    context.file("test_dies.py", module("os._exit(0)"));
    let ran = context.hp(&["run"]);
    ran.exits(1);
    for (id, verdict, kinds) in [
        ("exact", Verdict::Passed, &[][..]),
        ("least", Verdict::Passed, &[]),
        ("short", Verdict::Failed, &["short-count"]),
        ("bound", Verdict::Failed, &["short-count"]),
        ("long", Verdict::Failed, &["long-count"]),
        ("skipped", Verdict::Failed, &["skipped-cases"]),
        ("silent", Verdict::Failed, &["no-proof"]),
        ("counted", Verdict::Failed, &["no-proof"]),
        ("waived", Verdict::Passed, &[]),
        ("dies", Verdict::Failed, &["short-count"]),
    ] {
        let check = ran.check(id);
        assert_eq!((check.verdict, &errors(check)[..]), (verdict, kinds), "{id}: {}", ran.said());
    }
    assert_eq!((ran.check("short").cases.planned, ran.check("short").cases.unknown), (Some(5), Some(2)));
    // Unknown is null, never 0.
    assert_eq!((ran.check("silent").cases.ran, ran.check("silent").cases.planned), (None, None));
    assert_eq!((ran.check("counted").cases.ran, ran.check("counted").cases.planned), (None, Some(4)));
    assert_eq!((ran.check("dies").cases.ran, ran.check("dies").cases.passed), (Some(1), Some(1)));
}

#[test]
fn what_is_allowed_is_told_with_its_reason_and_nothing_else_is() {
    let context = Context::with(
        r#"
- id: agent
  grace: 0s
  shell: |
    (cd / && exec sleep 41) </dev/null >/dev/null 2>&1 &
    until grep -q sleep /proc/$!/comm; do sleep 0.02; done
  allow: [{kind: leaked-process, match: 'sleep 41', because: started once per login}]
- id: both
  grace: 0s
  shell: |
    for seconds in 41 42; do
      (cd / && exec sleep $seconds) </dev/null >/dev/null 2>&1 &
      until grep -q sleep /proc/$!/comm; do sleep 0.02; done
    done
  allow: [{kind: leaked-process, match: 'sleep 41', because: started once per login}]
- id: other
  shell: "exit 1"
  allow: [{kind: leaked-process, because: whatever it leaves}]
"#,
    );
    let ran = context.hp(&["run"]);
    ran.exits(1);
    let agent = ran.check("agent");
    assert_eq!(agent.verdict, Verdict::Passed, "{}", ran.said());
    let [allowed] = of_kind(agent, Kind::LeakedProcess)[..] else { panic!("{}", ran.said()) };
    assert_eq!((allowed.severity, allowed.allowed.as_deref()), (Severity::Note, Some("started once per login")));
    assert!(ran.stdout.contains("leaked-process allowed: started once per login"), "{}", ran.stdout);
    let both = ran.check("both");
    assert_eq!((both.verdict, errors(both)), (Verdict::Leaked, vec!["leaked-process"]), "{}", ran.said());
    assert!(of_kind(both, Kind::LeakedProcess)[0].message.contains("sleep 42"));
    assert_eq!(ran.check("other").verdict, Verdict::Failed);
}

#[test]
fn every_key_of_the_schema_is_tried_here() {
    // A key that is read and does nothing would be found by nobody else.
    let schema = fs::read_to_string(repository().join("schemas/manifest.schema.json")).expect("the schema");
    let schema: serde_json::Value = serde_json::from_str(&schema).expect("JSON");
    let keys = schema["definitions"]["Check"]["properties"].as_object().expect("the keys of a check");
    let tests: String = [
        "keys.rs",
        "run.rs",
        "leaks.rs",
        "terminal.rs",
        "windows.rs",
        "publishes.rs",
        "plant.rs",
        "forbid.rs",
        "faults.rs",
        "hooks.rs",
        "hook_checks.rs",
        "gate.rs",
        "vary.rs",
        "repeat.rs",
        "teeth.rs",
        "residue.rs",
        "copies.rs",
        "matrix.rs",
    ]
    .iter()
    .map(|file| fs::read_to_string(repository().join("tests/it").join(file)).unwrap_or_default())
    .collect();
    // Other systems' keys are read, and do nothing here.
    let elsewhere = ["windows", "macos"];
    let untried: Vec<&String> =
        keys.keys().filter(|key| !elsewhere.contains(&key.as_str()) && !tests.contains(&format!("{key}: "))).collect();
    assert!(untried.is_empty(), "{untried:?}");
}

/// Runs git in a folder as a user without a configuration.
pub fn git(context: &Context, folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    context.dress(&mut command);
    command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(["-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "protocol.file.allow=always"]);
    let output = command.args(arguments).output().expect("git");
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Runs hostproof in a folder, and sees that nothing is left.
fn hp_in(context: &Context, folder: &Path, arguments: &[&str]) -> crate::context::Ran {
    let mut command = context.command(arguments);
    command.current_dir(folder).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = context.finish(command.spawn().expect("hostproof"));
    context.assert_nothing_left();
    ran
}

/// Whoever commits in a copy, whatever its `.git` was.
const COMMITS: &str = r#"
version: 1
checks:
  - id: commits
    reader: none
    cwd: copy
    shell: |
      set -e
      export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
      test "$(git rev-parse --show-toplevel)" = "$PWD"
      test -z "$(git status --porcelain)"
      git -c user.name=x -c user.email=x@example.invalid commit -q --allow-empty -m inner
      test "$(git log --format=%s | tr '\n' ' ')" = 'inner start '
      git worktree prune
"#;

#[test]
fn a_copy_of_a_linked_worktree_stands_alone() {
    let context = Context::new();
    let (main, tree) = (context.project().join("main"), context.project().join("tree"));
    context.file("main/checks.d/a.yaml", COMMITS);
    git(&context, &main, &["init", "-q", "-b", "trunk"]);
    git(&context, &main, &["add", "."]);
    git(&context, &main, &["commit", "-q", "-m", "start"]);
    git(&context, &main, &["worktree", "add", "-q", "-b", "side", "../tree"]);
    let state = || {
        let seen: [&[&str]; 4] =
            [&["log", "--all", "--format=%H %D"], &["worktree", "list"], &["status", "--porcelain"], &["reflog"]];
        [&main, &tree].map(|folder| seen.map(|arguments| git(&context, folder, arguments)))
    };
    let before = state();
    // The worktree, and the main one, whose copy must not know of the linked one.
    for folder in [&tree, &main] {
        let ran = hp_in(&context, folder, &["run"]);
        assert_eq!(ran.exits(0).last_line(), "1/1 checks", "{}", ran.said());
        assert_eq!(state(), before);
    }
}

#[test]
fn a_copy_of_a_submodule_stands_alone() {
    let context = Context::new();
    let (other, main) = (context.project().join("other"), context.project().join("main"));
    context.file("other/checks.d/a.yaml", COMMITS);
    context.file("main/checks.d/a.yaml", COMMITS.replace("\"$PWD\"\n", "\"$PWD\"\n      cd sub\n"));
    for folder in [&other, &main] {
        git(&context, folder, &["init", "-q"]);
        git(&context, folder, &["add", "."]);
        if *folder == main {
            git(&context, folder, &["submodule", "--quiet", "add", "../other", "sub"]);
        }
        git(&context, folder, &["commit", "-q", "-m", "start"]);
    }
    let sub = main.join("sub");
    let state = || [&main, &sub].map(|folder| git(&context, folder, &["log", "--all", "--format=%H %D"]));
    let before = state();
    for folder in [&main, &sub] {
        let ran = hp_in(&context, folder, &["run"]);
        assert_eq!(ran.exits(0).last_line(), "1/1 checks", "{}", ran.said());
        assert_eq!(state(), before);
    }
}

#[test]
fn a_copy_below_the_top_of_a_repository_is_of_the_whole() {
    let context = Context::new();
    context.file("file", "");
    context.file(
        "deep/er/checks.d/a.yaml",
        r#"
version: 1
checks:
  - id: deep
    reader: none
    cwd: copy
    files: {beside: data}
    shell: |
      set -e
      test "$PWD" = "$HOSTPROOF_SANDBOX/work/deep/er" && test "$HOSTPROOF_PROJECT" = "$PWD"
      test "$(git rev-parse --show-prefix)" = deep/er/
      test -e ../../file
      test -e ../../beside
      test -z "$(git status --porcelain -uno)"
"#,
    );
    context.file("deep/er/data", "");
    git(&context, context.project(), &["init", "-q"]);
    git(&context, context.project(), &["add", "."]);
    git(&context, context.project(), &["commit", "-q", "-m", "start"]);
    let ran = hp_in(&context, &context.project().join("deep/er"), &["run"]);
    assert_eq!(ran.exits(0).last_line(), "1/1 checks", "{}", ran.said());
}

#[test]
fn where_git_refuses_there_is_no_copy_and_its_words_are_told() {
    let mut context = Context::with("- {id: copy, cwd: copy, run: [./tool]}");
    context.program("tool", "#!/bin/sh\nexit 0\n");
    git(&context, context.project(), &["init", "-q"]);
    let config = context.read(".git/config");
    let reason = |context: &Context| {
        let ran = context.hp(&["run"]);
        assert_eq!(ran.exits(1).only().verdict, Verdict::Broken, "{}", ran.said());
        ran.only().reason.clone().unwrap_or_default()
    };
    context.file(".git/config", "[core\n");
    let said = reason(&context);
    assert!(said.starts_with("cwd: copy: git says: ") && said.contains("bad config line 1"), "{said}");
    context.file(".git/config", config);
    fs::rename(context.project().join(".git/HEAD"), context.project().join(".git/away")).expect("renamed");
    let said = reason(&context);
    assert!(said.starts_with("cwd: copy: git says: ") && said.contains("not a git repository"), "{said}");
    fs::rename(context.project().join(".git/away"), context.project().join(".git/HEAD")).expect("renamed");
    context.hp(&["run"]).exits(0);

    context.env("PATH", context.project().join("checks.d"));
    let said = reason(&context);
    assert_eq!(said, "cwd: copy: the project has a .git, and git is not installed, or not on PATH");
    fs::remove_dir_all(context.project().join(".git")).expect("removed");
    context.hp(&["run"]).exits(0);
}

#[test]
fn a_copy_is_never_of_sandboxes() {
    let check = "{cwd: copy, shell: 'test -e tmp/mine && test \"$(ls tmp)\" = mine'}";
    let mut context = Context::new();
    context.manifest(
        "a.yaml",
        &format!(
            "version: 1\ndefaults: {{reader: none}}\nchecks:\n  - {}\n  - {}\n",
            check.replacen('{', "{id: a, ", 1),
            check.replacen('{', "{id: b, ", 1)
        ),
    );
    context.file("tmp/mine", "");
    context.env("HOSTPROOF_TMPDIR", context.project().join("tmp"));
    let ran = context.hp(&["run", "--jobs", "2"]);
    assert_eq!(ran.exits(0).last_line(), "2/2 checks", "{}", ran.said());
    git(&context, context.project(), &["init", "-q"]);
    let ran = context.hp(&["run", "--jobs", "2"]);
    assert_eq!(ran.exits(0).last_line(), "2/2 checks", "{}", ran.said());
    assert_eq!(fs::read_dir(context.project().join("tmp")).expect("a folder").count(), 1);
}

#[test]
fn files_are_not_written_through_links_of_a_copy() {
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("own"), "mine").expect("a file");
    for (destination, link) in [("link/in", "link"), ("link", "link"), ("folder/link/own", "folder/link")] {
        let context =
            Context::with(&format!("- {{id: copy, cwd: copy, files: {{{destination}: given}}, shell: 'true'}}"));
        context.file("given/own", "other");
        context.file("folder/file", "");
        std::os::unix::fs::symlink(outside.path(), context.project().join(link)).expect("a link");
        let check = context.hp(&["run"]);
        let check = check.exits(1).only();
        let why = format!("files: {destination} leads through {link}, which is a symbolic link in the copy");
        assert!(check.reason.as_ref().is_some_and(|reason| reason.starts_with(&why)), "{:?}", check.reason);
        assert_eq!(check.verdict, Verdict::Broken);
    }
    let context = Context::with("- {id: copy, cwd: copy, files: {folder: given}, shell: 'true'}");
    context.file("given/link/own", "other");
    context.file("folder/file", "");
    std::os::unix::fs::symlink(outside.path(), context.project().join("folder/link")).expect("a link");
    let ran = context.hp(&["run"]);
    let reason = ran.exits(1).only().reason.clone().unwrap_or_default();
    assert!(reason.contains("folder/link is a symbolic link already"), "{reason}");
    assert_eq!(fs::read_dir(outside.path()).expect("a folder").count(), 1);
    assert_eq!(fs::read_to_string(outside.path().join("own")).expect("a file"), "mine");
}

#[test]
fn what_is_not_merged_yet_is_copied_once() {
    let context = Context::with("- {id: copy, cwd: copy, shell: 'test \"$(readlink link)\" = a'}");
    std::os::unix::fs::symlink("a", context.project().join("link")).expect("a link");
    git(&context, context.project(), &["init", "-q"]);
    let blob = git(&context, context.project(), &["hash-object", "-w", "checks.d/checks.yaml"]);
    let stages = [1, 2, 3].map(|stage| format!("120000 {} {stage}\tlink\n", blob.trim())).concat();
    let stages = context.file("stages", stages);
    let mut command = Command::new("git");
    context.dress(&mut command);
    command.args(["update-index", "--index-info"]).stdin(fs::File::open(stages).expect("a file"));
    assert!(command.status().expect("git").success());
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).last_line(), "1/1 checks", "{}", ran.said());
}

#[test]
fn links_lead_to_what_is_in_the_project_or_nowhere() {
    let context = Context::with(
        r"
- {id: inside, cwd: sandbox, files: {x: inside, y: folder}, shell: 'test -f x && test ! -L x && test -f y/real'}
- {id: outside, cwd: sandbox, files: {x: outside}, shell: 'true'}
- {id: through, cwd: sandbox, files: {x: out/secret}, shell: 'true'}
- {id: dangling, cwd: sandbox, files: {x: dangling}, shell: 'true'}
- {id: pipe, cwd: sandbox, files: {x: pipe}, shell: 'true'}
- {id: read, stdin: inside, run: [cat], expect: {stdout: [{contains: mine}]}}
- {id: stdin, stdin: outside, run: [cat]}
",
    );
    let other = Context::new();
    let secret = other.file("secret", "theirs\n");
    let link = |to: &Path, name: &str| {
        std::os::unix::fs::symlink(to, context.project().join(name)).expect("a link");
    };
    context.file("deep/real", "mine\n");
    link(Path::new("deep/real"), "inside");
    link(Path::new("deep"), "folder");
    link(Path::new("gone"), "dangling");
    link(&secret, "outside");
    link(other.project(), "out");
    let pipe = context.project().join("pipe");
    fifo(&pipe);
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).last_line(), "2/7 checks, 5 broken", "{}", ran.said());
    for (id, words) in [
        ("outside", "files: outside leads out of the project, to "),
        ("through", "files: out/secret leads out of the project, to "),
        ("dangling", "files: cannot copy dangling: "),
        ("pipe", "files: pipe is neither a file nor a folder"),
        ("stdin", "stdin: outside leads out of the project, to "),
    ] {
        let reason = ran.check(id).reason.as_deref().unwrap_or_default();
        assert!(reason.starts_with(words), "{id}: {reason}");
    }
    // Whoever names a file on the command line means it.
    assert_eq!(context.hp(&["try", "--stdin", "outside", "--", "cat"]).exits(0).only().stdout.tail, "theirs\n");
}

#[test]
fn what_an_environment_cannot_have_is_refused() {
    let context = Context::new();
    for (key, words) in [
        ("inherit: [GIT_DIR]", "`GIT_DIR` is never inherited"),
        ("inherit: [LANG, GIT_INDEX_FILE]", "`GIT_INDEX_FILE` is never inherited"),
        ("env: {HOSTPROOF_SANDBOX: x}", "`HOSTPROOF_SANDBOX` is set by hostproof itself"),
        ("env: {HOSTPROOF_PROJECT: null}", "`HOSTPROOF_PROJECT` is set by hostproof itself"),
        ("env: {HOSTPROOF_CHECK: x}", "`HOSTPROOF_CHECK` is set by hostproof itself"),
    ] {
        context.checks(&format!("- {{id: a, shell: 'true', {key}}}"));
        let ran = context.hp(&["lint"]);
        assert!(ran.exits(2).stderr.contains(words), "{key}: {}", ran.said());
    }
    context.checks(
        "- {id: a, shell: 'test $GIT_DIR = x', env: {GIT_DIR: x, HOSTPROOF_TMPDIR: /tmp}, inherit: [GITHUB_SHA]}",
    );
    context.hp(&["run"]).exits(0);
}
