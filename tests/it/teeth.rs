//! `breaks` and `hostproof teeth`: a check that can fail is told from one that can't.

use std::fs;

use hostproof::model::{Kind, Severity, Verdict};

use crate::context::{Context, Ran, errors, of_kind};

const GUARD: &str = "\
import os

def claim(path):
    # One of many gets it.
    os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    return True
";

const TEST: &str = r#"
import os, sys, tempfile, unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import guard

class Claims(unittest.TestCase):
    def setUp(self):
        self.path = os.path.join(tempfile.mkdtemp(), "pid")

    def test_one_gets_it(self):
        self.assertTrue(guard.claim(self.path))

    def test_a_second_one_does_not(self):
        guard.claim(self.path)
        try:
            guard.claim(self.path)
        except FileExistsError:
            return
        sys.exit("two have claimed " + os.path.basename(self.path))

unittest.main()
"#;

/// A project with the guard and its test, and one check with these `breaks`.
fn guarded(breaks: &str) -> Context {
    let context = Context::proving(&format!(
        "- id: guard\n  run: [python3, hooks/test_guard.py]\n  breaks:\n{}",
        breaks.trim_matches('\n')
    ));
    context.file("hooks/guard.py", GUARD);
    context.file("hooks/test_guard.py", TEST);
    context
}

fn ids(ran: &Ran) -> Vec<(&str, Verdict)> {
    ran.report().checks.iter().map(|check| (check.id.as_str(), check.verdict)).collect()
}

fn reason<'a>(ran: &'a Ran, id: &str) -> &'a str {
    ran.check(id).reason.as_deref().unwrap_or_default()
}

#[test]
fn an_edit_that_is_noticed_is_right_whatever_it_is_noticed_by() {
    let context = guarded(
        r#"
    - {file: hooks/guard.py, replace: " | os.O_EXCL", with: "", expect: two have claimed pid}
    - {file: hooks/guard.py, replace: return True, with: return False, expect: test_one_gets_it}
    - {file: hooks/guard.py, replace: return True, with: return False, expect: unmet}
    - edits:
        - {file: hooks/guard.py, replace: "| os.O_EXCL", with: "| FLAG"}
        - {file: hooks/guard.py, replace: "import os\n", with: "import os\nFLAG = 0\n"}
      expect: two have claimed
"#,
    );
    let ran = context.hp(&["teeth"]);
    assert_eq!(ran.exits(0).last_line(), "2/2 cases, 5/5 checks", "{}", ran.said());
    let all = ["guard!0", "guard!1", "guard!2", "guard!3", "guard!4"].map(|id| (id, Verdict::Passed));
    assert_eq!(ids(&ran), all);
    assert!(ran.stdout.contains("red as expected: test_one_gets_it\n"), "{}", ran.stdout);
    // What was expected is shown as such, and the counts of a broken project are none of its own.
    let noticed = ran.check("guard!2");
    assert_eq!((noticed.variant.as_deref(), noticed.cases.ran, noticed.cases.list.len()), (Some("!2"), None, 0));
    let unmet = of_kind(noticed, Kind::Unmet)[0];
    assert_eq!(unmet.severity, Severity::Note);
    assert_eq!(unmet.allowed.as_deref(), Some("breaks, number 2: test_one_gets_it is expected"));
    assert_eq!(context.read("hooks/guard.py"), GUARD, "the project itself was edited");
    // A run does not make them, and remembers nothing of them.
    let ran = context.hp(&["run"]);
    assert_eq!(ids(&ran), [("guard", Verdict::Passed)]);
    // One of them alone, with the check as it is.
    assert_eq!(ids(context.hp(&["teeth", "guard!3"]).exits(0)).len(), 2);
    let ran = context.hp(&["teeth", "guard!5"]);
    assert!(ran.exits(2).stderr.contains("guard has 4 edits under `breaks`, so there is no guard!5"), "{}", ran.stderr);
}

#[test]
fn one_that_is_not_is_toothless() {
    let context = guarded(
        r#"
    - {file: hooks/guard.py, replace: One of many gets it, with: "", expect: unmet}
    - {file: hooks/guard.py, replace: return True, with: return False, expect: two have claimed pid}
    - {file: hooks/guard.py, replace: return True, with: return False, expect: test_a_second_one_does_not}
    - {file: hooks/guard.py, replace: return True, with: return False, expect: held-directory}
"#,
    );
    let ran = context.hp(&["teeth"]);
    assert!(ran.exits(1).last_line().ends_with("2/2 cases, 1/5 checks"), "{}", ran.said());
    for (id, words) in [
        ("guard!1", "green with hooks/guard.py edited (breaks, number 1): unmet, which is expected, was not seen"),
        (
            "guard!2",
            "red with hooks/guard.py edited (breaks, number 2), and not for two have claimed pid, but: 1 failed",
        ),
        ("guard!3", "and not for test_a_second_one_does_not, but: 1 failed"),
        ("guard!4", "and not for held-directory, but: 1 failed"),
    ] {
        let toothless = of_kind(ran.check(id), Kind::Toothless);
        assert!(toothless.len() == 1 && toothless[0].message.contains(words), "{id}: {toothless:?}");
    }
    assert_eq!(errors(ran.check("guard!1")), ["toothless"]);
    assert_eq!(errors(ran.check("guard!4")), ["toothless", "unmet"]);
    assert!(ran.stdout.contains("again  hostproof teeth 'guard!1' --keep failed"), "{}", ran.stdout);
    assert!(ran.stdout.contains("hostproof explain toothless"), "{}", ran.stdout);
    assert!(context.hp(&["explain", "toothless"]).exits(0).stdout.contains("`breaks`"));
}

#[test]
fn an_edit_that_no_longer_applies_is_no_proof() {
    let context = guarded(
        r#"
    - {file: hooks/guard.py, replace: "os.O_CREATE | os.O_EXCL", with: "", expect: unmet}
    - {file: hooks/guard.py, replace: path, with: file, expect: unmet}
    - {file: hooks/guard.py, replace: path, with: file, all: true, expect: unmet}
    - {file: hooks/gone.py, replace: path, with: file, expect: unmet}
    - {file: out, replace: path, with: file, expect: unmet}
    - {file: hooks, replace: path, with: file, expect: unmet}
"#,
    );
    let elsewhere = tempfile::NamedTempFile::new().expect("a file");
    std::os::unix::fs::symlink(elsewhere.path(), context.project().join("out")).expect("a link");
    let ran = context.hp(&["teeth"]);
    ran.exits(1);
    for (id, words) in [
        (
            "guard!1",
            "breaks: hooks/guard.py: `os.O_CREATE | os.O_EXCL` is not there; nearest is line 5: \
`os.close(os.open(path, os.O_CREAT | os.O_EXCL))`",
        ),
        ("guard!2", "breaks: hooks/guard.py: `path` is there 2 times, in lines 3, 5; write more of it, or `all: true`"),
        ("guard!4", "breaks: hooks/gone.py: it is not in a copy of the project: it is gone, or git ignores it"),
        ("guard!5", "breaks: out: it leads out of the copy, to "),
        ("guard!6", "breaks: hooks: it is not a regular file"),
    ] {
        assert!(
            ran.check(id).verdict == Verdict::Broken && reason(&ran, id).contains(words),
            "{id}: {}",
            reason(&ran, id)
        );
    }
    // A name that is changed wherever it stands changes nothing.
    assert_eq!(errors(ran.check("guard!3")), ["toothless"]);
}

#[test]
fn an_edit_that_nothing_reads_is_no_proof() {
    let context = guarded(
        r"
    - {file: hooks/guard.py, replace: return True, with: return False, expect: unmet}
    - {file: hooks/other.py, replace: x, with: y, expect: unmet}
",
    );
    context.file("hooks/other.py", "x\n");
    // As a package that is installed in editable form is found: by a path that was written down once.
    let original = context.project().join("hooks").display().to_string();
    let elsewhere = TEST.replace("os.path.dirname(os.path.abspath(__file__))", &format!("{original:?}"));
    context.file("hooks/test_guard.py", elsewhere);
    // A copy that is made beside it reads the originals, too.
    let ran = context.hp(&["teeth", "--jobs", "1"]);
    ran.exits(1);
    let words = "hooks/guard.py was edited in the copy, and nothing read it there, and its original in the project was";
    assert!(reason(&ran, "guard!1").starts_with(words), "{}", ran.said());
    let words = "hooks/other.py was edited in the copy, and nothing read it there: what the check runs";
    assert!(reason(&ran, "guard!2").starts_with(words), "{}", ran.said());
    assert_eq!(ran.last_line(), "2/2 cases, 1/3 checks, 2 broken");
}

#[test]
fn what_writes_beside_its_copy_is_told_to_work_on_the_original() {
    let mut context = guarded("");
    context.checks(
        "- id: guard\n  shell: 'echo x >\"$ORIGINAL/log\"; exit 0'\n  inherit: [ORIGINAL]\n  \
         breaks: [{file: hooks/guard.py, replace: return True, with: return False, expect: unmet}]\n",
    );
    assert!(
        std::process::Command::new("git")
            .args(["init", "-q"])
            .current_dir(context.project())
            .status()
            .is_ok_and(|it| it.success())
    );
    let original = context.project().to_owned();
    context.env("ORIGINAL", &original);
    let ran = context.hp(&["teeth"]);
    ran.exits(1);
    let words = "it works on the project itself, and not on the copy that is edited: log is new in the project";
    assert_eq!(reason(&ran, "guard!0"), words, "{}", ran.said());
    assert!(reason(&ran, "guard!1").contains(words), "{}", ran.said());
}

#[test]
fn what_is_red_or_says_it_without_an_edit_shows_nothing_of_one() {
    let context = Context::with(
        r"
- id: red
  shell: 'cat a; test -e ignored'
  breaks: [{file: a, replace: a, with: b, expect: unmet}]
- id: says
  shell: 'cat a; grep -q a a'
  breaks: [{file: a, replace: a, with: b, expect: says this}]
- {id: none, shell: 'true'}
",
    );
    context.file("a", "a says this\n");
    context.file("ignored", "");
    context.file(".gitignore", "ignored\n");
    assert!(
        std::process::Command::new("git")
            .args(["init", "-q"])
            .current_dir(context.project())
            .status()
            .expect("git")
            .success()
    );
    let ran = context.hp(&["teeth"]);
    ran.exits(1);
    let verdicts = [
        ("red!0", Verdict::Failed),
        ("red!1", Verdict::Broken),
        ("says!0", Verdict::Broken),
        ("says!1", Verdict::Broken),
    ];
    assert_eq!(ids(&ran), verdicts, "{}", ran.said());
    assert_eq!(
        reason(&ran, "red!1"),
        "without an edit, in a copy of the project, it is failed already (red!0): exit status 1, expected 0"
    );
    assert!(reason(&ran, "says!0").starts_with("its output has \"says this\" as it is"), "{}", ran.said());
    assert!(ran.check("red!1").started.is_none(), "it was started");
    let ran = context.hp(&["teeth", "none"]);
    assert_eq!(ran.exits(3).last_line(), "0/0 checks");
    assert!(ran.stdout.contains("none of these checks has `breaks`"), "{}", ran.stdout);
}

#[test]
fn every_place_that_a_check_gets_its_files_from_is_the_edited_copy() {
    let context = Context::with(
        r#"
- id: files
  cwd: sandbox
  files: {tool/a: src/a, src: src}
  shell: 'cat tool/a src/a; test "$(cat tool/a src/a "$HOSTPROOF_PROJECT/src/a" | grep -c bad)" = 0 && test "$PWD" = "$HOSTPROOF_SANDBOX/work"'
  breaks: [{file: src/a, replace: good, with: bad, expect: unmet}]
- id: unread
  cwd: sandbox
  files: {src: src}
  shell: 'test -e src/a'
  breaks: [{file: src/a, replace: good, with: bad, expect: unmet}]
- id: input
  stdin: src/a
  shell: 'grep good'
  breaks: [{file: src/a, replace: good, with: bad, expect: unmet}]
"#,
    );
    context.file("src/a", "good\n");
    let ran = context.hp(&["teeth"]);
    assert_eq!(ran.exits(1).last_line(), "5/6 checks, 1 broken", "{}", ran.said());
    assert!(reason(&ran, "unread!1").contains("nothing read it there"), "{}", ran.said());
}

#[test]
fn a_hook_is_called_as_the_edited_copy_wires_it() {
    let context = Context::proving(
        r"
- id: hook
  hook: {file: .claude/settings.json, event: PreToolUse}
  events: [{name: a removal, stdin: {sample: {tool_name: Bash}}, expect: block}]
  breaks:
    - {file: hooks/deny.py, replace: exit(2), with: exit(0), expect: a removal}
    - {file: .claude/settings.json, replace: deny.py, with: gone.py, expect: no-proof}
",
    );
    context.file(
        ".claude/settings.json",
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "python3 \"$CLAUDE_PROJECT_DIR\"/hooks/deny.py"}]}]}}"#,
    );
    context.file("hooks/deny.py", "import sys\nprint('no', file=sys.stderr)\nsys.exit(2)\n");
    let ran = context.hp(&["teeth"]);
    assert_eq!(ran.exits(0).report().checks.len(), 3, "{}", ran.said());
}

#[cfg(target_os = "linux")]
#[test]
fn to_look_for_a_hook_is_not_to_run_it() {
    let context = Context::proving(
        r"
- id: hook
  hook: {file: .claude/settings.json, event: PreToolUse}
  events: [{name: a removal, stdin: {sample: {tool_name: Bash}}, expect: allow}]
  breaks: [{file: hooks/later.sh, replace: exit 0, with: exit 1, expect: a removal}]
",
    );
    let hook = |name: &str| format!(r#"[{{"hooks": [{{"type": "command", "command": "sh hooks/{name}.sh"}}]}}]"#);
    context.file(
        ".claude/settings.json",
        format!(r#"{{"hooks": {{"PreToolUse": {}, "PostToolUse": {}}}}}"#, hook("now"), hook("later")),
    );
    context.file("hooks/now.sh", "exit 0\n");
    context.file("hooks/later.sh", "exit 0\n");
    let ran = context.hp(&["teeth"]);
    ran.exits(1);
    assert!(reason(&ran, "hook!1").contains("nothing read it there"), "{}", ran.said());
}

/// Copies for other checks are made meanwhile, and who makes them reads the originals.
#[cfg(target_os = "linux")]
#[test]
fn that_the_original_was_read_is_told_of_whoever_the_check_is() {
    let context = Context::proving(
        r#"
- id: none
  run: [sh, -c, "echo 1..1; echo ok 1; for _ in 1 2 3 4 5; do sleep 0.1; done"]
  breaks:
    - {file: unread, replace: one, with: two, expect: unmet}
    - {file: unread, replace: one, with: three, expect: unmet}
    - {file: unread, replace: one, with: four, expect: unmet}
- id: original
  env: {PLACE: here}
  shell: 'echo 1..1; grep -q one "$ORIGINAL" && echo ok 1'
  inherit: [ORIGINAL]
  breaks: [{file: read, replace: one, with: two, expect: unmet}]
- id: sandboxed
  cwd: sandbox
  files: {here: .}
  shell: 'echo 1..1; grep -q one here/read && echo ok 1'
  breaks: [{file: ./read, replace: one, with: two, expect: unmet}]
"#,
    );
    context.file("unread", "one\n");
    context.file("read", "one\n");
    let mut context = context;
    let original = context.project().join("read");
    context.env("ORIGINAL", &original);
    let ran = context.hp(&["teeth", "--jobs", "2"]);
    ran.exits(1);
    for id in ["none!1", "none!2", "none!3"] {
        let why = reason(&ran, id);
        assert!(why.contains("nothing read it there") && !why.contains("its original"), "{id}: {why}");
    }
    assert!(reason(&ran, "original!1").contains("its original in the project was"), "{}", ran.said());
    assert_eq!(ran.check("sandboxed!1").verdict, Verdict::Passed, "{}", ran.said());
}

#[test]
fn edits_run_at_once_and_leave_nothing() {
    // Each waits for the other: one after the other they would never end.
    let context = Context::with(
        r#"
- id: both
  env: {PLACE: ""}
  inherit: [MEET]
  timeout: 60s
  shell: |
    word=$(cat word)
    test "$word" = none && exit 0
    touch "$MEET/$word"
    until test -e "$MEET/one" && test -e "$MEET/two"; do sleep 0.02; done
    exit 1
  breaks:
    - {file: word, replace: none, with: one, expect: unmet}
    - {file: word, replace: none, with: two, expect: unmet}
"#,
    );
    context.file("word", "none\n");
    let meet = tempfile::tempdir().expect("a folder");
    let mut context = context;
    context.env("MEET", meet.path());
    let ran = context.hp(&["teeth", "--jobs", "2"]);
    assert_eq!(ran.exits(0).last_line(), "3/3 checks", "{}", ran.said());
    assert_eq!(fs::read_dir(meet.path()).expect("the folder").count(), 2);
}
