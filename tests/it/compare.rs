//! `hostproof compare`, and `run --baseline`: what differs between runs, and which fact of the machine explains it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::process::{Command, Stdio};

use hostproof::model::{Comparison, Kind, Likeness, RunForm, Standing};
use rustix::process::geteuid;

use crate::context::{Context, Ran, eventually, fifo, repository, signal, skip, works};
use crate::schema::fits;

const HOSTPROOF: &str = env!("CARGO_BIN_EXE_hostproof");

/// Runs hostproof behind another command, such as one that changes the umask.
fn behind(context: &Context, command: &[&str], program: &str, arguments: &[&str]) -> Ran {
    let mut behind = Command::new(command[0]);
    context.dress(&mut behind);
    behind.args(&command[1..]).arg(program).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = context.finish(behind.spawn().expect("the command"));
    context.assert_nothing_left();
    ran
}

/// Compares files as JSON.
fn compared(context: &Context, files: &[&str]) -> Comparison {
    let ran = context.hp(&[&["compare"], files, &["--json"]].concat());
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.said()));
    let schema = fs::read_to_string(repository().join("schemas/comparison.schema.json")).expect("the schema");
    let schema = serde_json::from_str(&schema).expect("JSON");
    fits(&value, &schema, &schema, "comparison").expect("the comparison is as the schema says");
    let comparison: Comparison = serde_json::from_value(value).unwrap_or_else(|_| panic!("{}", ran.said()));
    let code = match comparison.outcome {
        Likeness::Same => 0,
        Likeness::Different => 1,
        Likeness::Unknown => 3,
    };
    assert_eq!(ran.code, Some(code), "{}", ran.said());
    comparison
}

/// The fact that is named first for the first difference, and the line of the frame where it failed.
fn first(comparison: &Comparison) -> (String, Option<u64>) {
    assert_eq!(comparison.outcome, Likeness::Different, "{comparison:#?}");
    let first = comparison.first.as_ref().expect("a difference");
    let check = comparison.checks.iter().find(|check| check.id == first.check).expect("the check");
    let cause = check.causes.first().expect("a cause");
    assert!(cause.weight > 60 && !cause.because.is_empty(), "{cause:?}");
    (cause.fact.clone(), first.frame.as_ref().map(|frame| frame.line))
}

/// A test of one case with this body, in which the third line of the file is the first of the body.
fn test_file(imports: &str, body: &str) -> String {
    let body = body.replace('\n', "\n        ");
    format!(
        "import {imports}, unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n        {body}\n\nunittest.main(verbosity=2)\n"
    )
}

#[test]
fn root_is_named_where_a_test_expects_to_be_refused() {
    let context = Context::proving("- {id: perm, cwd: sandbox, run: [python3, $project/test_perm.py]}");
    context.file(
        "test_perm.py",
        test_file(
            "os",
            "open('secret', 'w').close()\nos.chmod('secret', 0)\nwith self.assertRaises(PermissionError):\n    open('secret')",
        ),
    );
    let command =
        ["env", "HOME=/", "PATH=/usr/bin:/bin", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    let python = ["-c", "import unittest"];
    if !geteuid().is_root() || !works(&[&command[..], &["python3"], &python].concat()) {
        return skip("only root can become another user");
    }
    context.hp(&["run", "--report", "root.json"]).exits(1);
    for folder in [context.base(), context.project()] {
        chown(folder, Some(65534), Some(65534)).expect("chown");
    }
    let program = context.file("bin/hostproof", fs::read(HOSTPROOF).expect("hostproof"));
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("chmod");
    behind(&context, &command, program.to_str().expect("text"), &["run", "--report", "nobody.json"]).exits(0);
    let comparison = compared(&context, &["nobody.json", "root.json"]);
    assert_eq!(first(&comparison), ("uid".to_owned(), Some(6)), "{comparison:#?}");
    let first = comparison.first.as_ref().expect("a difference");
    assert_eq!(first.standings, [Standing::Green, Standing::Red]);
    assert_eq!((first.run.as_str(), first.case.as_deref()), ("root", Some("__main__.T.test_a")));

    // People get the same, the answer first.
    let shown = context.hp(&["compare", "nobody.json", "root.json"]);
    let lines: Vec<&str> = shown.exits(1).stdout.lines().collect();
    assert_eq!(
        lines[2],
        "DIFFERENT perm, first in __main__.T.test_a: green in nobody, red in root",
        "{}",
        shown.said()
    );
    assert!(shown.stdout.contains("    likely  uid: 65534 in nobody, 0 (root) in root\n"), "{}", shown.said());
    assert_eq!(shown.last_line(), "different: 1 of 1 check, 1 of 1 case");
}

#[test]
fn the_umask_is_named_where_a_mode_is_not_as_expected() {
    let context = Context::proving("- {id: mode, cwd: sandbox, run: [python3, $project/test_mode.py]}");
    context.file(
        "test_mode.py",
        test_file(
            "os",
            "os.close(os.open('out', os.O_CREAT | os.O_WRONLY, 0o644))\n\
             self.assertEqual(oct(os.stat('out').st_mode & 0o777), '0o644')",
        ),
    );
    for (umask, code) in [("022", 0), ("077", 1)] {
        let script = format!("umask {umask}; exec \"$@\"");
        behind(&context, &["sh", "-c", &script, "sh"], HOSTPROOF, &["run", "--report", &format!("{umask}.json")])
            .exits(code);
    }
    let comparison = compared(&context, &["022.json", "077.json"]);
    assert_eq!(first(&comparison), ("umask".to_owned(), Some(5)), "{comparison:#?}");
}

#[test]
fn the_time_zone_is_named_where_days_differ() {
    let mut context = Context::proving("- {id: day, run: [python3, test_day.py]}");
    context.file(
        "test_day.py",
        test_file(
            "datetime as dt",
            "at = 1756418400\n\
             self.assertEqual(dt.datetime.fromtimestamp(at, dt.timezone.utc).date(), dt.datetime.fromtimestamp(at).date())",
        ),
    );
    // In both, the language is another one, too: that explains nothing.
    for (zone, language, file, code) in
        [("UTC0", "C.UTF-8", "west.json", 0), ("XST-3", "C", "east.json", 1), ("UTC0", "C", "third.json", 0)]
    {
        context.env("TZ", zone).env("LANG", language);
        context.hp(&["run", "--report", file]).exits(code);
    }
    let comparison = compared(&context, &["west.json", "east.json"]);
    assert_eq!(first(&comparison), ("time zone".to_owned(), Some(5)), "{comparison:#?}");
    // A third run shows that the language alone parts nothing.
    let comparison = compared(&context, &["west.json", "east.json", "third.json"]);
    assert_eq!(first(&comparison).0, "time zone");
    let cause =
        |fact: &str| comparison.checks[0].causes.iter().find(|cause| cause.fact == fact).expect("the fact").splits;
    assert_eq!((cause("time zone"), cause("locale")), (Some(true), Some(false)));
}

#[test]
fn a_long_sandbox_path_is_named_where_a_socket_has_no_room() {
    let mut context = Context::proving("- {id: socket, run: [python3, test_socket.py], inherit: [LONG]}");
    context.file(
        "test_socket.py",
        test_file(
            "os, socket, tempfile",
            "folder = tempfile.mkdtemp(prefix='check-')\n\
             socket.socket(socket.AF_UNIX).bind(os.path.join(folder, 'control.socket'))",
        ),
    );
    context.hp(&["run", "--report", "short.json"]).exits(0);
    let long = context.base().join("l".repeat(70));
    fs::create_dir(&long).expect("a folder");
    context.env("HOSTPROOF_TMPDIR", &long);
    let ran = context.hp_keeping(&["run", "--report", "long.json"]);
    fs::remove_dir(&long).expect("an empty folder");
    ran.exits(1);
    let comparison = compared(&context, &["short.json", "long.json"]);
    assert_eq!(first(&comparison), ("length of the temporary folder's path".to_owned(), Some(5)), "{comparison:#?}");
}

#[test]
fn the_settings_of_the_home_are_named_where_they_start_a_daemon() {
    let mut context = Context::with(
        r#"
- id: tool
  home: real
  grace: 0s
  shell: |
    if grep -qs daemon "$HOME/.toolrc"; then
      (cd / && exec setsid sleep 50) </dev/null >/dev/null 2>&1 &
      until grep -q sleep /proc/$!/comm; do sleep 0.02; done
    fi
"#,
    );
    context.file("developer/.toolrc", "daemon\n");
    context.file("ci/.keep", "");
    for (home, code) in [("developer", 1), ("ci", 0)] {
        let path = context.project().join(home);
        context.env("HOME", path);
        context.hp(&["run", "--report", &format!("{home}.json")]).exits(code);
    }
    let comparison = compared(&context, &["ci.json", "developer.json"]);
    assert_eq!(first(&comparison).0, "settings in HOME", "{comparison:#?}");
    let told = comparison.first.as_ref().expect("a difference").finding.as_ref().expect("a finding");
    assert_eq!(told.kind, Kind::LeakedProcess);
    assert!(told.process.as_ref().is_some_and(|process| process.argv[0] == "sleep"), "{told:?}");
}

#[test]
fn a_missing_program_is_named() {
    let mut context = Context::proving("- {id: uses, run: [python3, test_uses.py]}");
    context.file("test_uses.py", test_file("subprocess", "subprocess.run(['hostproof-its-tool'], check=True)"));
    context.program("tools/hostproof-its-tool", "#!/bin/sh\n");
    let path = std::env::join_paths(
        std::iter::once(context.project().join("tools"))
            .chain(std::env::split_paths(&crate::context::variable("PATH").expect("PATH"))),
    )
    .expect("a path");
    context.hp(&["run", "--report", "without.json"]).exits(1);
    context.env("PATH", path);
    context.hp(&["run", "--report", "with.json"]).exits(0);
    let comparison = compared(&context, &["with.json", "without.json"]);
    assert_eq!(first(&comparison).0, "program hostproof-its-tool", "{comparison:#?}");
}

#[test]
fn the_story_is_told_with_case_frame_and_holder() {
    let context =
        Context::proving("- {id: sweep, run: [python3, fixtures/sweep/unmended/test_sweep.py], expect: {cases: 57}}");
    context.copy("fixtures/sweep/unmended");
    context.copy("fixtures/sweep/common");
    context.hp(&["run", "--report", "native.json"]).exits(1);
    let ran = context.hp(&["run", "--as", "windows", "--report", "windows.json", "--junit", "windows.xml"]);
    if ran.stdout.contains("not enforced") {
        return skip("this system can't keep Windows' rules");
    }
    let comparison = compared(&context, &["native.json", "windows.json"]);
    // One row: there is no variant that both have.
    let [check] = &comparison.checks[..] else { panic!("{comparison:#?}") };
    assert_eq!(
        check.sides.iter().map(|side| side.id.as_deref()).collect::<Vec<_>>(),
        [Some("sweep"), Some("sweep@windows")]
    );
    assert_eq!((check.cases.len(), check.cases_compared), (43, 57));
    assert_eq!(first(&comparison).0, "rules");
    let first = comparison.first.as_ref().expect("a difference");
    assert!(first.case.as_deref().is_some_and(|case| case.ends_with("test_detached_launch")), "{first:?}");
    let frame = first.frame.as_ref().expect("a frame");
    assert_eq!(
        (frame.file.as_str(), frame.function.as_deref()),
        ("fixtures/sweep/common/suite.py", Some("test_detached_launch"))
    );
    let finding = first.finding.as_ref().expect("a finding");
    assert_eq!(finding.kind, Kind::RefusedByWindows);
    let holder = finding.process.as_ref().expect("a holder");
    assert!(holder.argv.iter().any(|word| word.ends_with("sweep_detached.py")), "{:?}", holder.argv);
    let shown = context.hp(&["compare", "native.json", "windows.json"]).stdout.clone();
    for part in
        ["test_detached_launch", "suite.py:", "sweep_detached.py", "rules: native in native, windows in windows"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }

    // What only JUnit tells is the same in the cases that it names.
    let comparison = compared(&context, &["windows.json", "windows.xml"]);
    assert_eq!(comparison.sides[1].form, RunForm::Junit);
    assert_eq!((comparison.totals.cases.different, comparison.totals.cases.unknown), (0, 0), "{comparison:#?}");
    let comparison = compared(&context, &["native.json", "windows.xml"]);
    assert_eq!(comparison.totals.cases.different, 43, "{comparison:#?}");
}

#[test]
fn the_same_is_the_same_and_what_is_skipped_is_not() {
    let context = Context::with("- {id: a, shell: 'true'}\n- {id: b, shell: 'true'}");
    context.hp(&["run", "--report", "whole.json"]).exits(0);
    let comparison = compared(&context, &["whole.json", "whole.json"]);
    assert_eq!((comparison.outcome, comparison.totals.checks.same), (Likeness::Same, 2));
    context.hp(&["run", "a", "--report", "part.json"]).exits(0);
    let comparison = compared(&context, &["whole.json", "part.json"]);
    assert_eq!(comparison.checks[1].sides[1].standing, Standing::Missing);
    context.checks("- {id: a, shell: 'true'}\n- {id: b, shell: 'true', platforms: [windows]}");
    context.hp(&["run", "--report", "skips.json"]).exits(0);
    let comparison = compared(&context, &["whole.json", "skips.json"]);
    assert_eq!(comparison.checks[1].sides[1].standing, Standing::Skipped);
    context.checks("- {id: c, shell: 'true'}");
    context.hp(&["run", "--report", "other.json"]).exits(0);
    let nothing = context.hp(&["compare", "whole.json", "other.json"]);
    assert_eq!(nothing.exits(3).last_line(), "nothing could be compared: no check is in two of them");
    // What is there is the same, and some of it is not there.
    let junit = |tests| format!("<testsuite tests='{tests}'><testcase name='a'/><testcase name='b'/></testsuite>");
    context.file("all.xml", junit(2));
    context.file("part.xml", junit(3));
    let unknown = context.hp(&["compare", "all.xml", "part.xml"]);
    let last = "not known: what a run leaves out may differ; 2 cases the same";
    assert_eq!(unknown.exits(3).last_line(), last, "{}", unknown.said());
    let page = context.hp(&["compare", "all.xml", "part.xml", "--markdown", "-"]);
    let head = "### hostproof: <code>all</code> and <code>part</code> not known to be the same\n";
    assert!(page.exits(3).stdout.starts_with(head), "{}", page.said());
}

#[test]
fn a_page_is_bounded_and_nothing_in_it_is_a_sign() {
    let names: Vec<String> = (0..2000).map(|n| format!("ok - <b>|`x`* {n} {}", "long ".repeat(20))).collect();
    let context = Context::proving("- {id: many, run: [sh, say.sh]}\n- {id: one, run: [sh, -c, 'echo ok - one']}");
    context.file("names", names.join("\n") + "\n");
    context.file("say.sh", "cat names\n");
    context.hp(&["run", "--report", "a.json"]).exits(0);
    context.file("names", names.join("\n").replace("ok - ", "not ok - ") + "\n");
    context.hp(&["run", "--report", "b.json"]).exits(1);
    let ran = context.hp(&["compare", "a.json", "b.json", "--markdown", "-"]);
    assert!(ran.exits(1).stdout.len() < 65_536, "{}", ran.stdout.len());
    assert!(ran.stdout.starts_with("### hostproof: <code>a</code> and <code>b</code> different\n"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("<b>") && ran.stdout.contains("&#60;b&#62;&#124;"), "{}", ran.stdout);
    assert!(ran.stdout.contains("<code>one</code>") && ran.stdout.trim_end().ends_with("**"), "{}", ran.stdout);
    let to_file = context.hp(&["compare", "a.json", "b.json", "--markdown", "page.md"]);
    assert!(to_file.exits(1).stdout.contains("DIFFERENT many"), "{}", to_file.said());
    assert_eq!(context.read("page.md"), ran.stdout);
}

#[test]
fn what_can_not_be_compared_is_told_with_place_and_remedy() {
    let context = Context::with("- {id: a, shell: 'true'}");
    context.hp(&["run", "--report", "good.json"]).exits(0);
    let good = context.read("good.json");
    context.file("half.json", &good[..good.len() / 2]);
    context.file("other.json", good.replace("hostproof.report/1", "hostproof.report/9"));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    context.file("deep.json", format!("{{\"schema\": \"hostproof.report/1\", \"host\": {deep}}}"));
    context.file("latin.json", [b"{\"schema\": \"caf\xe9\"}".as_slice()].concat());
    let large = fs::File::create(context.project().join("large.json")).expect("a file");
    large.set_len(300 << 20).expect("a large file");
    fifo(&context.project().join("pipe"));
    symlink("nowhere", context.project().join("dangling")).expect("a link");
    symlink("good.json", context.project().join("link.json")).expect("a link");
    fs::create_dir(context.project().join("folder")).expect("a folder");
    for (file, words) in [
        ("half.json", "ends in the middle"),
        ("other.json", "take a newer one"),
        ("deep.json", "no report that can be read"),
        ("latin.json", "no report that can be read"),
        ("large.json", "more than 256 MiB"),
        ("pipe", "write it to a file first"),
        ("dangling", "can't be opened"),
        ("gone.json", "can't be opened"),
        ("folder", "it is a folder"),
        ("/dev/zero", "a pipe, a socket or a device"),
        ("checks.d/checks.yaml", "neither a report"),
    ] {
        let ran = context.hp(&["compare", "good.json", file]);
        assert!(ran.exits(2).stderr.starts_with(&format!("hostproof: {file} can't be compared: ")), "{}", ran.said());
        assert!(ran.stderr.contains(words), "{file}: {}", ran.stderr);
    }
    context.hp(&["compare", "good.json", "link.json"]).exits(0);
    context.hp(&["compare", "good.json"]).exits(2);
}

/// A repository with two commits: in the first, `old` is red; in the second, `new` is, too.
fn history() -> Context {
    let context = Context::with("- {id: old, shell: 'exit 1'}\n- {id: new, shell: 'test ! -e broken'}");
    git(&context, &["init", "-q"]);
    commit(&context);
    context.file("broken", "");
    context.file("checks.d/more.yaml", "version: 1\nchecks:\n- {id: later, shell: 'exit 1', reader: none}\n");
    commit(&context);
    context
}

fn git(context: &Context, arguments: &[&str]) {
    let mut git = Command::new("git");
    context.dress(&mut git);
    git.args(["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]).args(arguments);
    assert!(git.status().expect("git").success(), "{arguments:?}");
}

fn commit(context: &Context) {
    git(context, &["add", "."]);
    git(context, &["commit", "-q", "-m", "x"]);
}

#[test]
fn new_failures_are_told_from_old_ones_by_a_commit_and_by_a_report() {
    let context = history();
    let ran = context.hp(&["run", "--baseline", "HEAD~1"]);
    let since = ran.exits(1).report().run.baseline.as_ref().expect("what is new");
    let ids: Vec<&str> = since.new.iter().map(|worse| worse.id.as_str()).collect();
    assert_eq!((ids, &since.old[..]), (vec!["new", "later"], &["old".to_owned()][..]), "{}", ran.said());
    assert!(since.commit.as_ref().is_some_and(|commit| commit.len() >= 40), "{since:?}");
    assert!(ran.stdout.contains("2 new failures since HEAD~1"), "{}", ran.said());
    // Nothing of it is left in the repository.
    assert!(!context.project().join(".git/worktrees").exists());

    // What was red before makes no run red; without a baseline it does.
    context.hp(&["run", "old", "--report", "before.json", "--junit", "before.xml"]).exits(1);
    for before in ["before.json", "before.xml", "HEAD"] {
        let ran = context.hp(&["run", "old", "--baseline", before]);
        assert!(ran.exits(0).stdout.contains("nothing new is red since"), "{}", ran.said());
        assert_eq!(ran.last_line(), "0/1 checks");
    }
    context.file("broken", "");
    let ran = context.hp(&["run", "new", "--baseline", "HEAD~1"]);
    assert!(ran.exits(1).stdout.contains("1 new failure since HEAD~1"), "{}", ran.said());
    fs::remove_file(context.project().join("broken")).expect("a file");
    let ran = context.hp(&["run", "new", "--baseline", "HEAD"]);
    assert!(ran.exits(0).stdout.contains("mended: new"), "{}", ran.said());
}

#[test]
fn a_baseline_is_run_in_a_copy_that_has_what_the_commit_has() {
    let context = history();
    context.file("checks.d/more.yaml", "version: 1\nchecks:\n- {id: copied, shell: 'test ! -e broken && git log -1 >/dev/null', cwd: copy, reader: none}\n");
    commit(&context);
    git(&context, &["rm", "-q", "broken"]);
    commit(&context);
    context.file("broken", "");
    let ran = context.hp(&["run", "copied", "--baseline", "HEAD"]);
    let since = ran.exits(1).report().run.baseline.as_ref().expect("what is new");
    assert_eq!(since.new.iter().map(|worse| worse.why.as_str()).collect::<Vec<_>>(), ["red now, and was green"]);
}

#[test]
fn a_baseline_that_is_none_is_told_before_anything_runs() {
    let context = history();
    context.checks("- {id: old, shell: 'touch ran'}");
    for (named, words) in [
        ("no-such-thing", "there is no such file, and git knows no commit called no-such-thing"),
        ("checks.d", "it is a folder"),
        ("--help", "git knows no commit called --help"),
    ] {
        let ran = context.hp(&["run", &format!("--baseline={named}")]);
        assert!(ran.exits(2).stderr.contains(words), "{named}: {}", ran.stderr);
    }
    assert!(!context.project().join("ran").exists());
    context.hp(&["run", "--baseline", "HEAD", "--fail-fast"]).exits(2);
}

#[test]
fn a_baseline_leaves_nothing_whatever_ends_hostproof() {
    let context = history();
    context.file(
        "checks.d/more.yaml",
        "version: 1\nchecks:\n- {id: waits, reader: none, shell: 'echo $$ >>$MARK; sleep 50', env: {MARK: MARK}}\n",
    );
    let mark = context.project().join("mark");
    let manifest = context.read("checks.d/more.yaml").replace("MARK: MARK", &format!("MARK: {}", mark.display()));
    context.file("checks.d/more.yaml", manifest);
    commit(&context);
    for kill in [rustix::process::Signal::KILL, rustix::process::Signal::INT] {
        let _ = fs::remove_file(&mark);
        let mut command = context.command(&["run", "waits", "--baseline", "HEAD"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hostproof");
        context.wait_for_pids("mark", 1);
        assert!(context.sandboxes().iter().any(|lane| lane.join("baseline/checks.d").is_dir()));
        signal(child.id(), kill);
        let code = child.wait().expect("an end").code();
        context.eventually_nothing_left();
        assert_eq!(code, if kill == rustix::process::Signal::INT { Some(130) } else { None });
    }
    eventually("the repository is as it was", || !context.project().join(".git/worktrees").exists());
}
