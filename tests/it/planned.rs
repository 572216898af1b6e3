//! What was to run against what ran, and the frame of what was held.

use std::fs;

use hostproof::model::{CaseOutcome, CheckReport, Kind, Severity, Verdict};

use crate::context::{Context, errors, of_kind, repository};

fn unknown(check: &CheckReport) -> Vec<&str> {
    let unknown = check.cases.list.iter().filter(|case| case.outcome == CaseOutcome::Unknown);
    unknown.map(|case| case.name.as_str()).collect()
}

/// A stand-in for pytest: what the real one printed for the same suite.
fn pytest(context: &Context) {
    let recorded =
        |name: &str| fs::read_to_string(repository().join("fixtures/outputs/pytest").join(name)).expect("a recording");
    context.file("dies.txt", recorded("planned-dies-q.txt"));
    context.file("model.json", recorded("planned-dies-q.json"));
    context.program(
        "pytest",
        r#"#!/usr/bin/env python3
import json, os, sys
if "--collect-only" in sys.argv:
    print("\n".join(json.load(open("model.json"))["planned"]))
    print("\n5 tests collected in 0.01s")
    open(os.path.join(os.environ["HOSTPROOF_SANDBOX"], "listed"), "w").write(os.environ["HOSTPROOF_CHECK"])
else:
    assert open(os.path.join(os.environ["HOSTPROOF_SANDBOX"], "listed")).read() == os.environ["HOSTPROOF_CHECK"]
    sys.stdout.write(open("dies.txt").read())
"#,
    );
}

#[test]
fn a_command_lists_what_must_run_and_those_that_never_did_are_named() {
    let context =
        Context::proving("- {id: dies, run: [./pytest, -q], expect: {cases: {list: [./pytest, --collect-only, -q]}}}");
    pytest(&context);
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!((check.verdict, errors(check)), (Verdict::Failed, vec!["short-count"]), "{}", ran.said());
    assert_eq!((check.cases.planned, check.cases.ran, check.cases.unknown), (Some(5), Some(2), Some(3)));
    let file = "tests/test_planned_b.py";
    assert_eq!(unknown(check), ["test_two[1]", "test_three", "test_four"].map(|name| format!("{file}::{name}")));
    let passed: Vec<&str> = check.cases.list[..2].iter().map(|case| case.name.as_str()).collect();
    assert_eq!(passed, ["test_one", "test_two[0]"].map(|name| format!("{file}::{name}")));
    assert!(ran.stdout.contains(&format!("never ran, or never ended: {file}::test_two[1], ")), "{}", ran.stdout);
    assert_eq!(ran.last_line(), "2/5 cases, 0/1 checks, 3 never ran");
}

#[test]
fn a_listing_that_fails_makes_the_check_broken_and_shows_its_last_words() {
    let context = Context::proving(
        r"
- {id: fails, shell: 'touch ran', expect: {cases: {list: [sh, -c, 'echo no board here >&2; exit 4']}}}
- {id: silent, shell: 'touch ran', expect: {cases: {list: ['true']}}}
- {id: empty, shell: 'touch ran', expect: {cases: {list: [printf, '\nno tests collected in 0.1s\n']}}}
- {id: missing, shell: 'touch ran', expect: {cases: {list: [no-such-program-here]}}}
- {id: slow, shell: 'touch ran', timeout: 200ms, expect: {cases: {list: [sleep, '50']}}}
- {id: bytes, shell: 'touch ran', expect: {cases: {list: [printf, '\377\376 what\n']}}}
",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).last_line(), "0/6 checks, 6 broken", "{}", ran.said());
    for (id, words) in [
        ("fails", "exit status 4; its last line: no board here"),
        ("silent", "its output is in no form that is known"),
        ("empty", "it lists no cases (read as a listing of pytest)"),
        ("missing", "the program no-such-program-here is not installed"),
        ("slow", "it was ended at its time limit"),
        ("bytes", "its output is in no form that is known"),
    ] {
        let reason = ran.check(id).reason.as_deref().unwrap_or_default();
        assert!(reason.starts_with("listing the cases: ") && reason.contains(words), "{id}: {reason}");
    }
    assert_eq!(context.read("ran"), "");
    assert!(!context.project().join("ran").exists());
}

#[test]
fn what_a_listing_leaves_alive_is_told_and_ended() {
    let context = Context::proving(
        r#"
- id: leaves
  grace: 0s
  reader: ok-lines
  shell: 'echo ok one; echo ok two; echo "all green (2 checks)"'
  expect:
    cases:
      list: [sh, -c, '(cd / && exec sleep 51) >/dev/null 2>&1 & until grep -q sleep /proc/$!/comm; do sleep 0.02; done; echo case one; echo case two']
      reader: {lines: '^case (.+)$'}
"#,
    );
    let ran = context.hp(&["run"]);
    let check = ran.exits(0).only();
    let [left] = of_kind(check, Kind::LeakedProcess)[..] else { panic!("{}", ran.said()) };
    assert_eq!(left.severity, Severity::Warning);
    assert!(
        left.message.starts_with("listing the cases: sh -c ") && left.message.contains("sleep 51"),
        "{}",
        left.message
    );
    assert_eq!((check.cases.planned, check.cases.ran), (Some(2), Some(2)));
}

#[test]
fn skips_are_allowed_by_their_reasons() {
    let context = Context::proving(
        r"
- {id: meant, run: [python3, test_board.py], expect: {skipped: [{matches: needs PostgreSQL, most: 2}, {matches: gh}]}}
- {id: more, run: [python3, test_board.py], expect: {skipped: [{matches: needs PostgreSQL, most: 1}, {matches: gh}]}}
- {id: quiet, run: [python3, test_board.py, -q], expect: {skipped: [{matches: '.'}]}}
",
    );
    context.file(
        "test_board.py",
        "import sys, unittest\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n    \
         @unittest.skip('needs PostgreSQL')\n    def test_b(self): pass\n    \
         @unittest.skip('needs PostgreSQL')\n    def test_c(self): pass\n    \
         @unittest.skip('no gh')\n    def test_d(self): pass\n\nunittest.main(verbosity=0 if '-q' in sys.argv else 2)\n",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).check("meant").verdict, Verdict::Passed, "{}", ran.said());
    let said = |id| of_kind(ran.check(id), Kind::SkippedCases)[0].message.clone();
    assert!(said("more").ends_with("test_c (needs PostgreSQL)"), "{}", said("more"));
    assert!(said("quiet").starts_with("3 cases were skipped and the output does not say why"), "{}", said("quiet"));
}

#[test]
fn one_that_dies_after_the_last_case_is_told_as_that() {
    let context = Context::proving("- {id: late, run: [python3, test_late.py]}");
    context.file(
        "test_late.py",
        "import atexit, os, signal, unittest\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n    \
         def test_b(self): pass\n\natexit.register(lambda: os.kill(os.getpid(), signal.SIGSEGV))\nunittest.main()\n",
    );
    let ran = context.hp(&["run"]);
    let said = "all 2 cases passed, then it was ended by signal 11 (SIGSEGV), expected exit status 0";
    assert_eq!(ran.exits(1).only().findings[0].message, said);
    assert!(ran.stdout.contains(said), "{}", ran.stdout);
}

/// A self-test that refuses to remove what a process stands in, as Windows does.
const REFUSES: &str = r#"
import os, shutil, subprocess, sys, tempfile, time, unittest


def remove(place):
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{name}/cwd").startswith(place):
                raise OSError(16, os.strerror(16), place)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            pass
    shutil.rmtree(place)


class SweepTest(unittest.TestCase):
    def test_detached(self):
        place = tempfile.mkdtemp()
        subprocess.Popen(["sleep", "52"], cwd=place, start_new_session=True, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        tick()
        remove(place)

    def test_other(self):
        self.assertEqual(1, 2)


def tick():
    """Starts are known to a tick of the system's clock: without some ticks between, two cases look like one."""
    now = lambda: time.clock_gettime(time.CLOCK_BOOTTIME)
    end = now() + 3 / os.sysconf("SC_CLK_TCK")
    while now() < end:
        time.sleep(0.001)


unittest.main(verbosity=2)
"#;

#[test]
fn the_frame_that_tripped_over_a_held_directory_stands_with_its_holder() {
    let context = Context::proving("- {id: sweep, grace: 0s, run: [python3, hooks/test_sweep.py]}");
    context.file("hooks/test_sweep.py", REFUSES);
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    let [held] = of_kind(check, Kind::HeldDirectory)[..] else { panic!("{}", ran.said()) };
    let frame = held.frame.as_ref().expect("a frame");
    assert_eq!(
        (frame.file.as_str(), frame.line, frame.function.as_deref()),
        ("hooks/test_sweep.py", 9, Some("remove"))
    );
    assert_eq!(check.reason.as_deref(), Some("stopped by a held directory"));
    let sandbox = regex::Regex::new(r"\[base\]/(?:hp-\w+|\[lane\])/\w+/").expect("an expression");
    let shown = context.shown(&ran);
    insta::assert_snapshot!(sandbox.replace_all(&shown, "[sandbox]/"), @r#"
    exit 1
    --- stdout
    hostproof [version]  host [system]  1 check, 1 lane

     RED   sweep          2  [time]  stopped by a held directory

    RED sweep    hooks/test_sweep.py:9 in remove
        OSError: [Errno 16] Device or resource busy: '[sandbox]/tmp/tmp[random]'
            9 |                 raise OSError(16, os.strerror(16), place)
        tmp/tmp[random] is the current directory of pid [pid] (sleep 52)
            it was alive after the grace (own session, no pipe held); started  [time] after the check began; during __main__.SweepTest.test_detached
        hooks/test_sweep.py:24 in test_other
            AssertionError: 1 != 2
               24 |         self.assertEqual(1, 2)
        mend   give the detached child a cwd that outlives the test (cwd=… where it is started)     hostproof explain held-directory
        mend   end it in the test that starts it, and wait for it     hostproof explain leaked-process
        again  hostproof run sweep --keep failed
        hand   cd [project] && python3 hooks/test_sweep.py
        note   hooks/test_sweep.py:30:23   Windows has no os.sysconf, and nothing here asks for the system     hostproof explain posix-only

    2/2 cases, 0/1 checks, 2 failed
    --- stderr
    "#);
}

#[test]
fn frames_in_copies_have_the_names_of_the_project() {
    let context = Context::with(
        r"
- {id: copy, cwd: copy, run: [python3, hooks/test_x.py]}
- {id: files, cwd: sandbox, files: {there/test_y.py: hooks/test_x.py}, run: [python3, there/test_y.py]}
- {id: folder, cwd: sandbox, files: {there: hooks}, shell: 'cd there && python3 $HOSTPROOF_SANDBOX/work/there/test_x.py'}
",
    );
    context.file("hooks/test_x.py", "def check():\n    int('x')\n\n\ncheck()\n");
    let ran = context.hp(&["run"]);
    ran.exits(1);
    for id in ["copy", "files", "folder"] {
        let frames: Vec<_> = ran.check(id).frames.iter().map(|frame| (frame.file.as_str(), frame.line)).collect();
        assert_eq!(frames, [("hooks/test_x.py", 2)], "{id}: {}", ran.said());
    }
}
