//! Running checks: which ones, in which order, and what the run's end says.

use std::fs;
use std::process::Stdio;

use hostproof::model::{Kind, Severity, Verdict};

use rustix::process::Signal;

use crate::context::{Context, assert_ended, errors, signal};

/// Cases as unittest counts them: two that pass, one that fails, one that is skipped.
const CASES: &str = r#"
import unittest


class BoardTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(1 + 1, 2)

    def test_drift(self):
        self.assertEqual("old", "new")

    def test_empty(self):
        pass

    @unittest.skip("needs a board")
    def test_remote(self):
        pass


unittest.main(verbosity=2)
"#;

/// A check per line, `id exit`.
fn exits(checks: &[(&str, i32)]) -> Context {
    let text: Vec<String> = checks.iter().map(|(id, code)| format!("- {{id: {id}, shell: 'exit {code}'}}\n")).collect();
    Context::with(&text.concat())
}

fn ids(text: &str) -> Vec<String> {
    text.lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

#[test]
fn as_expected_is_0_with_the_counts_last() {
    let context = Context::proving("- {id: board, run: [python3, test_ok.py]}");
    context.file("test_ok.py", CASES.replace("\"old\", ", "\"new\", "));
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).last_line(), "4/4 cases, 1/1 checks");
    let cases = &ran.only().cases;
    assert_eq!((cases.ran, cases.passed, cases.failed, cases.skipped), (Some(4), Some(3), Some(0), Some(1)));
    assert_eq!(ran.only().reader.as_deref(), Some("unittest"));
}

#[test]
fn one_that_is_not_makes_it_1() {
    let context = Context::proving("- {id: board, run: [python3, test_board.py]}");
    context.file("test_board.py", CASES);
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).last_line(), "4/4 cases, 0/1 checks, 1 failed");
    let frame = &ran.only().frames[0];
    assert_eq!((frame.file.as_str(), frame.line), ("test_board.py", 10));
    assert_eq!(frame.function.as_deref(), Some("test_drift"));
    assert!(frame.error.as_deref().is_some_and(|error| error.contains("'old' != 'new'")), "{frame:?}");

    let ran = exits(&[("good", 0), ("bad", 3), ("better", 0)]).hp(&["run"]);
    assert_eq!(ran.exits(1).last_line(), "2/3 checks");
    assert_eq!(errors(ran.check("bad")), ["unmet"]);
    assert_eq!(ran.check("bad").findings[0].message, "exit status 3, expected 0");
}

#[test]
fn what_is_wrong_before_a_run_is_2() {
    let context = exits(&[("good", 0)]);
    let ran = context.hp(&["run", "--no-such-option"]);
    assert!(ran.exits(2).stderr.contains("--no-such-option"));
    context.manifest("broken.yaml", "version: 1\nchecks: 5\n");
    assert!(context.hp(&["run"]).exits(2).stderr.contains("checks.d/broken.yaml:2"));
    let nothing = Context::new();
    let ran = nothing.hp(&["run"]);
    assert!(ran.exits(2).stderr.contains("checks.d"), "{}", ran.stderr);
}

#[test]
fn nothing_that_ran_is_3() {
    let context = Context::with(
        "- {id: far, shell: 'true', platforms: [windows]}\n- {id: away, shell: 'true', platforms: [macos, windows]}",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(3).last_line(), "0/2 checks, 2 checks skipped");
    assert_eq!(ran.check("far").verdict, Verdict::Skipped);
    assert_eq!(ran.check("away").reason.as_deref(), Some("runs on macos and windows only"));
}

#[test]
fn checks_of_one_lane_run_in_the_order_of_the_manifests() {
    let context = Context::new();
    let check = |id: &str| format!("  - {{id: {id}, reader: none, shell: 'echo {id} >> order'}}\n");
    context.manifest("b.yaml", &format!("version: 1\nchecks:\n{}{}", check("b/one"), check("a/late")));
    context.manifest("a.yml", &format!("version: 1\nchecks:\n{}{}", check("z"), check("m")));
    let ran = context.hp(&["run", "--jobs", "1"]);
    ran.exits(0);
    assert_eq!(context.read("order").lines().collect::<Vec<_>>(), ["z", "m", "b/one", "a/late"]);
    let reported: Vec<&str> = ran.report().checks.iter().map(|check| check.id.as_str()).collect();
    assert_eq!(reported, ["z", "m", "b/one", "a/late"]);
    assert_eq!(ran.check("b/one").origin.as_deref(), Some("checks.d/b.yaml:3"));
    assert_eq!(ids(&context.hp(&["list"]).exits(0).stdout), ["z", "m", "b/one", "a/late"]);
}

#[test]
fn patterns_choose() {
    let context = exits(&[("guard/lock", 0), ("guard/spawn", 0), ("sweep", 0), ("sweep.d/x", 1)]);
    let ran = |patterns: &[&str]| {
        let ran = context.hp(&[&["run"], patterns].concat());
        (ran.code, ran.report().checks.iter().map(|check| check.id.clone()).collect::<Vec<_>>())
    };
    assert_eq!(ran(&["guard/*"]), (Some(0), vec!["guard/lock".into(), "guard/spawn".into()]));
    assert_eq!(ran(&["sweep"]), (Some(0), vec!["sweep".into()]));
    assert_eq!(ran(&["sweep*"]), (Some(1), vec!["sweep".into(), "sweep.d/x".into()]));
    assert_eq!(ran(&["sweep", "guard/lock"]), (Some(0), vec!["guard/lock".into(), "sweep".into()]));

    let ran = context.hp(&["run", "sweeep"]);
    assert_eq!(ran.exits(2).stderr, "hostproof: no check matches sweeep; did you mean sweep?\n");
    assert_eq!(ran.stdout, "");
    let ran = context.hp(&["run", "sweep", "nothing-like-it"]);
    assert!(ran.exits(2).stderr.contains("hostproof list"), "{}", ran.stderr);
}

#[test]
fn without_a_subcommand_it_runs_and_finds_the_project_above() {
    let context = Context::with("- {id: here, shell: 'pwd > where'}");
    assert_eq!(context.hp(&[]).exits(0).last_line(), "1/1 checks");
    fs::create_dir_all(context.project().join("deep/er")).expect("folders");
    let mut command = context.command(&["run"]);
    command.current_dir(context.project().join("deep/er"));
    let child = command.stdout(std::process::Stdio::piped()).spawn().expect("hostproof");
    context.finish(child).exits(0);
    assert_eq!(context.read("where").trim_end(), context.project().display().to_string());
    // Another folder of manifests makes another project.
    let other = exits(&[("other", 0)]);
    let folder = other.project().join("checks.d").display().to_string();
    assert_eq!(context.hp(&["run", "--manifests", &folder]).exits(0).only().id, "other");
}

#[test]
fn a_check_that_needs_what_is_missing_is_broken_or_skipped() {
    let context = Context::with(
        r#"
- {id: needs, shell: 'touch ran', needs: [no-such-program-here]}
- {id: could, shell: 'touch ran', needs: [{program: no-such-program-here, optional: true}]}
- {id: newer, shell: 'touch ran', needs: ["python3>=9.0"]}
- {id: fits, shell: 'true', needs: ["python3>=3.0", git]}
"#,
    );
    let ran = context.hp(&["run"]);
    ran.exits(1);
    let said = |id: &str| (ran.check(id).verdict, ran.check(id).reason.clone().unwrap_or_default());
    let missing = "needs no-such-program-here, which is not installed or not on PATH";
    assert_eq!(said("needs"), (Verdict::Broken, missing.to_owned()));
    assert_eq!(said("could"), (Verdict::Skipped, missing.to_owned()));
    let (verdict, reason) = said("newer");
    assert_eq!(verdict, Verdict::Broken);
    assert!(reason.starts_with("needs python3 9.0 or newer, found 3."), "{reason}");
    assert_eq!(said("fits").0, Verdict::Passed);
    assert!(!context.project().join("ran").exists());
    let programs = &ran.report().host.programs;
    assert_eq!(programs["no-such-program-here"], None);
    assert!(programs["python3"].as_deref().is_some_and(|version| version.starts_with("3.")));
}

/// Holds a folder that only one process can make, and says if it was there.
const EXCLUSIVE: &str = "mkdir held || exit 9\n    sleep 0.2\n    rmdir held";

#[test]
fn checks_that_share_a_lock_never_overlap() {
    let checks = ["a", "b", "c", "d"]
        .map(|id| format!("- id: {id}\n  lock: [port, own-{id}]\n  shell: |\n    {EXCLUSIVE}\n"))
        .concat();
    let context = Context::with(&checks);
    let ran = context.hp(&["run", "--jobs", "4"]);
    assert_eq!(ran.exits(0).last_line(), "4/4 checks");
}

#[test]
fn other_checks_run_at_once_as_far_as_jobs_allow() {
    // Each waits for the other: alone, neither would end.
    let meet = |other: &str, own: &str| {
        format!("- {{id: {own}, timeout: 60s, shell: 'touch {own}; until [ -e {other} ]; do sleep 0.02; done'}}\n")
    };
    let context = Context::with(&(meet("two", "one") + &meet("one", "two")));
    context.hp(&["run", "--jobs", "2"]).exits(0);

    let checks = ["a", "b", "c"].map(|id| format!("- id: {id}\n  shell: |\n    {EXCLUSIVE}\n")).concat();
    let ran = Context::with(&checks).hp(&["run", "-j", "1"]);
    assert_eq!((ran.exits(0).last_line(), ran.report().run.jobs), ("3/3 checks", 1));
}

#[test]
fn setup_runs_once_before_its_files_checks() {
    let context = Context::new();
    context.manifest(
        "built.yaml",
        r#"
version: 1
setup: [[sh, -c, 'echo built >> built'], [sh, -c, 'echo more >> built']]
defaults: {reader: none}
checks:
  - {id: one, shell: 'test "$(cat built)" = "$(printf "built\nmore")"'}
  - {id: two, shell: 'test "$(cat built)" = "$(printf "built\nmore")"'}
"#,
    );
    context.manifest("other.yaml", "version: 1\nchecks:\n  - {id: other, reader: none, shell: 'true'}\n");
    context.hp(&["run", "--jobs", "3"]).exits(0);
    assert_eq!(context.read("built"), "built\nmore\n");
    // Not for checks of other files.
    context.hp(&["run", "other"]).exits(0);
    assert_eq!(context.read("built"), "built\nmore\n");
}

#[test]
fn a_setup_that_fails_breaks_its_files_checks() {
    let context = Context::new();
    context.manifest(
        "a.yaml",
        r"
version: 1
setup: [[sh, -c, 'echo no compiler here >&2; exit 4'], [touch, second]]
checks:
  - {id: one, shell: 'touch ran'}
  - {id: two, shell: 'touch ran'}
",
    );
    context.manifest("b.yaml", "version: 1\nchecks:\n  - {id: other, reader: none, shell: 'true'}\n");
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).last_line(), "1/3 checks, 2 broken");
    for id in ["one", "two"] {
        let reason = ran.check(id).reason.as_deref().unwrap_or_default();
        assert_eq!(ran.check(id).verdict, Verdict::Broken);
        assert!(reason.starts_with("setup: sh -c ") && reason.contains("exit status 4"), "{reason}");
        assert!(reason.ends_with("its last line: no compiler here"), "{reason}");
    }
    assert_eq!(ran.check("other").verdict, Verdict::Passed);
    assert!(!context.project().join("ran").exists() && !context.project().join("second").exists());
}

#[test]
fn an_interrupt_while_needs_are_looked_for_gives_no_verdicts() {
    let context = Context::with(
        "- {id: a, needs: ['./slow>=1.0'], shell: 'touch ran'}\n- {id: b, needs: [./slow], shell: 'touch ran'}",
    );
    context.program("slow", &format!("#!/bin/sh\necho $$ > {}/pids\nsleep 50\n", context.project().display()));
    let mut command = context.command(&["run", "--jobs", "1"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hostproof");
    let pids = context.wait_for_pids("pids", 1);
    signal(child.id(), Signal::INT);
    let ran = context.finish(child);
    assert_eq!(ran.exits(130).last_line(), "0/2 checks, 2 not reached");
    assert_eq!((ran.report().checks.len(), ran.report().totals.checks.not_run), (0, 2));
    assert_ended(&pids);
    context.assert_nothing_left();
    assert!(!context.project().join("ran").exists());
}

#[test]
fn needs_are_looked_up_where_the_check_looks_and_after_the_setup() {
    let mut context = Context::new();
    context.manifest(
        "a.yaml",
        r#"
version: 1
setup: [[sh, -c, 'mkdir built && cp tool built/tool']]
defaults: {reader: none}
checks:
  - {id: own, env: {PATH: "$project/built:/usr/bin:/bin"}, needs: ["tool>=2.0"], shell: 'tool'}
  - {id: callers, needs: [tool], shell: 'touch ran'}
"#,
    );
    // It is asked in the check's environment, which has nothing of a git that hostproof runs under.
    context.program("tool", "#!/bin/sh\ntest -z \"$GIT_DIR\" && echo tool 2.1\n");
    context.env("GIT_DIR", "/nowhere");
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).check("own").verdict, Verdict::Passed, "{}", ran.said());
    assert_eq!(ran.check("callers").verdict, Verdict::Broken);
    assert_eq!(ran.report().host.programs["tool"].as_deref(), Some("2.1"));
    assert!(!context.project().join("ran").exists());
}

#[test]
fn a_program_is_asked_for_its_version_once_and_not_for_long() {
    let checks = ["a", "b", "c"].map(|id| {
        format!("- {{id: {id}, needs: [./tool], shell: 'true'}}\n- {{id: {id}-slow, needs: ['./slow>=1.0'], shell: 'true'}}\n")
    });
    let context = Context::with(&checks.concat());
    let asked = |name: &str| format!("#!/bin/sh\necho \"$@\" >> {}/{name}.asked\n", context.project().display());
    context.program("tool", &(asked("tool") + "echo 1.2.3\n"));
    context.program("slow", &(asked("slow") + "exec sleep 50\n"));
    let ran = context.hp(&["run", "--jobs", "4"]);
    assert_eq!(ran.exits(1).last_line(), "3/6 checks, 3 broken");
    assert_eq!((context.read("tool.asked"), context.read("slow.asked")), ("--version\n".into(), "--version\n".into()));
    let reason = ran.check("a-slow").reason.clone().unwrap_or_default();
    assert_eq!(reason, "needs ./slow 1.0 or newer, and ./slow does not tell its version");
}

#[test]
fn what_a_setup_leaves_alive_is_ended_and_told() {
    let context = Context::new();
    context.manifest(
        "a.yaml",
        r"
version: 1
setup: [[sh, -c, 'sleep 97 >/dev/null 2>&1 & until grep -q sleep /proc/$!/comm; do sleep 0.02; done; echo $! > pids']]
checks:
  - {id: one, reader: none, shell: 'true'}
",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).last_line(), "1/1 checks");
    assert_ended(&context.pids("pids"));
    let [left] = &ran.report().findings[..] else { panic!("{}", ran.said()) };
    assert_eq!((left.kind, left.severity), (Kind::LeakedProcess, Severity::Warning));
    assert!(left.message.starts_with("setup: sh -c ") && left.message.contains("sleep 97"), "{}", left.message);
    assert!(left.message.ends_with("was alive after it, and was ended"), "{}", left.message);
    assert!(ran.stdout.contains("sleep 97"), "{}", ran.stdout);
    assert_eq!(context.hp(&["run", "--strict"]).code, Some(3));
}

#[test]
fn a_project_behind_a_link_is_the_one_that_it_leads_to() {
    let context = Context::with("- {id: here, shell: 'test \"$HOSTPROOF_PROJECT\" = \"$(pwd -P)\"'}");
    let other = Context::new();
    std::os::unix::fs::symlink(context.project(), other.project().join("link")).expect("a link");
    let folder = other.project().join("link/checks.d").display().to_string();
    let ran = other.hp(&["run", "--manifests", &folder]);
    assert_eq!(ran.exits(0).last_line(), "1/1 checks", "{}", ran.said());
}

#[test]
fn a_folder_for_sandboxes_is_named_from_the_root() {
    let mut context = Context::with("- {id: ran, shell: 'touch ran'}");
    context.file("place/keep", "");
    context.env("HOSTPROOF_TMPDIR", "place");
    for arguments in [&["run"][..], &["try", "--", "touch", "ran"]] {
        let ran = context.hp(arguments);
        let told = "HOSTPROOF_TMPDIR is place, which is not an absolute path";
        assert!(ran.exits(2).stderr.contains(told), "{}", ran.said());
    }
    assert!(!context.project().join("ran").exists());
}

#[test]
fn a_folder_for_sandboxes_that_is_none_is_told_by_its_variable() {
    let mut context = Context::with("- {id: ran, shell: 'touch ran'}");
    let file = context.file("file", "");
    for (place, words) in [(context.project().join("gone"), "No such file"), (file, "Not a directory")] {
        context.env("HOSTPROOF_TMPDIR", &place);
        for arguments in [&["run"][..], &["try", "--", "touch", "ran"]] {
            let ran = context.hp(arguments);
            let told = format!("HOSTPROOF_TMPDIR is {}, where no sandbox can be made: {words}", place.display());
            assert!(ran.exits(2).stderr.contains(&told), "{}", ran.said());
        }
    }
    assert!(!context.project().join("ran").exists());
}

#[test]
fn what_did_not_start_is_no_answer() {
    // Each ends as a hook that refuses would, or one that is missing.
    let context = Context::with(
        r#"
- {id: wrapped, shell: 'echo checking; python3 "$PWD/gone.py"', expect: {exit: 2}}
- {id: module, run: [python3, -m, gone_guard], expect: {exit: 1}}
- {id: optioned, run: [python3, -u, gone.py]}
- {id: program, shell: 'gone-guard --check', expect: {exit: 127}}
- {id: refused, shell: 'echo "no: not found" >&2; exit 2', expect: {exit: 2}}
- {id: meant, shell: 'python3 gone.py', expect: {exit: 2, stderr: [{contains: "can't open file"}]}}
- {id: red, shell: 'echo 1 passed; gone-tool', expect: {exit: 0}}
"#,
    );
    let ran = context.hp(&["run"]);
    ran.exits(1);
    for id in ["wrapped", "module", "optioned", "program"] {
        let check = ran.check(id);
        assert_eq!(check.verdict, Verdict::Broken, "{id}: {}", ran.said());
        assert!(check.reason.as_ref().is_some_and(|why| why.starts_with("did not start: ")), "{:?}", check.reason);
    }
    for (id, verdict) in [("refused", Verdict::Passed), ("meant", Verdict::Passed), ("red", Verdict::Failed)] {
        assert_eq!(ran.check(id).verdict, verdict, "{id}: {}", ran.said());
    }
}
