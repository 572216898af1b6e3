//! `forbid`: programs that nothing of a check may run.

#[cfg(target_os = "linux")]
use std::os::unix::fs::PermissionsExt;

use hostproof::model::{Finding, Kind, Severity, Verdict};

#[cfg(target_os = "linux")]
use crate::context::variable;
use crate::context::{Context, Ran, errors, of_kind};

/// A program of everybody's that does something which can be seen.
const PROGRAM: &str = "touch";

fn calls(ran: &Ran) -> Vec<&Finding> {
    of_kind(ran.only(), Kind::ForbiddenCommand)
}

fn run(script: &str, forbid: &str) -> (Context, Ran) {
    let context = Context::new();
    context.file("script", script);
    context.checks(&format!("- {{id: a, cwd: sandbox, run: [sh, $project/script], forbid: [{forbid}]}}"));
    let ran = context.hp(&["run"]);
    (context, ran)
}

fn real() -> String {
    ["/usr/bin/touch", "/bin/touch"].into_iter().find(|file| std::path::Path::new(file).exists()).expect("touch").into()
}

#[test]
fn a_call_by_name_is_not_run_and_told_with_its_words_and_who_made_it() {
    let (context, ran) = run("touch \"$HOSTPROOF_PROJECT/made\" 'a b'\nexit 0\n", PROGRAM);
    let check = ran.exits(1).only();
    assert_eq!((check.verdict, errors(check)), (Verdict::Failed, vec!["forbidden-command"]));
    let [call] = calls(&ran)[..] else { panic!("{}", ran.said()) };
    let process = call.process.as_ref().expect("a process");
    assert_eq!(process.argv[1..], [context.project().join("made").display().to_string(), "a b".to_owned()]);
    assert!(process.argv[0].ends_with("touch"), "{:?}", process.argv);
    assert!(process.parents[0].argv.join(" ").contains("script"), "{:?}", process.parents);
    assert!(call.message.starts_with("touch was called by pid "), "{}", call.message);
    assert!(call.message.ends_with("'a b'; it was not run"), "{}", call.message);
    assert!(!context.project().join("made").exists());
    assert!(check.stderr.tail.contains("touch is forbidden to this check"), "{}", check.stderr.tail);
}

/// However it is brought to be executed.
#[cfg(target_os = "linux")]
#[test]
fn a_copy_and_the_interpreter_of_a_script_count() {
    let real = real();
    for (script, forbid) in [
        (format!("cp {real} other; ./other made"), PROGRAM.to_owned()),
        (format!("cp {real} touch; ./touch made"), PROGRAM.to_owned()),
        (format!("printf '#!{real} -c\\n' > made; chmod +x made; ./made"), PROGRAM.to_owned()),
        (format!("{real} made"), real.clone()),
    ] {
        let (_, ran) = run(&format!("{script}\nexit 0\n"), &forbid);
        let [call] = calls(&ran)[..] else { panic!("{script}: {}", ran.said()) };
        assert!(call.message.starts_with("touch was called by ") && call.message.ends_with("; it was not run"));
    }
    // A program of that name that does something else stands in for it.
    let (_, ran) = run("printf '#!/bin/sh\\n' > touch; chmod +x touch; ./touch made\nexit 0\n", PROGRAM);
    assert!(calls(&ran).is_empty(), "{}", ran.said());
}

/// What is executed is the loader, the interpreter or the box; what runs is what is given to it.
#[cfg(target_os = "linux")]
#[test]
fn what_is_given_to_another_program_to_run_counts() {
    let real = real();
    let file = std::fs::read("/bin/sh").expect("a program");
    let at = |start: &[u8]| file.windows(start.len()).position(|bytes| bytes == start).expect("the path of a loader");
    let loader: Vec<u8> = file[at(b"/lib")..].iter().copied().take_while(|&byte| byte != 0).collect();
    let loader = String::from_utf8(loader).expect("a path");
    // A program that is a script, first in PATH and none of the check's own.
    let tools = tempfile::tempdir().expect("a folder");
    let script = tools.path().join("deploy");
    std::fs::write(&script, "#!/usr/bin/env bash\necho \"deployed $1\"\n").expect("a script");
    let mark = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&script, mark).expect("a program");
    let (folder, script) = (tools.path().display(), script.display());
    let path = format!("{}:{folder}", variable("PATH").expect("a PATH").display());
    let memory = format!(
        "import os; f = os.memfd_create(\"x\", 0); os.write(f, open(\"{real}\", \"rb\").read()); os.execve(f, [\"x\", \"made\"], {{}})"
    );
    for (line, forbid) in [
        (format!("{loader} {real} made"), PROGRAM),
        (format!("{loader} --argv0 x {real} made"), PROGRAM),
        (format!("python3 -c '{memory}' 2>/dev/null"), PROGRAM),
        (format!("exec 3<{real}; /proc/self/fd/3 made"), PROGRAM),
        (format!("bash -e {script} made"), "deploy"),
        (format!("cd {folder}; sh deploy made"), "deploy"),
    ] {
        let mut context = Context::new();
        context.env("PATH", &path);
        context.file("script", format!("({line})\ntest ! -e made && echo 'not made'\nexit 0\n"));
        context.checks(&format!("- {{id: a, cwd: sandbox, run: [bash, $project/script], forbid: [{forbid}]}}"));
        let ran = context.hp(&["run"]);
        let [call] = calls(&ran)[..] else { panic!("{line}: {}", ran.said()) };
        assert!(call.message.ends_with("made; it was not run"), "{}", call.message);
        assert_eq!(ran.only().stdout.tail, "not made\n", "{line}");
    }
    for line in [
        format!("{loader} --list {real} >/dev/null"),
        format!("{loader} /bin/cat {real} >/dev/null"),
        format!("bash -c 'cat \"$0\"' {script} >/dev/null"),
        format!("cat {script} >/dev/null"),
    ] {
        let mut context = Context::new();
        context.env("PATH", &path);
        context.file("script", format!("{line}\nexit 0\n"));
        context.checks("- {id: a, cwd: sandbox, run: [bash, $project/script], forbid: [touch, deploy]}");
        let ran = context.hp(&["run"]);
        assert!(calls(&ran).is_empty(), "{line}: {}", ran.said());
    }
}

#[test]
fn an_absolute_path_counts_and_so_do_another_path_and_a_link() {
    let real = real();
    for script in [
        format!("{real} made"),
        "PATH=/usr/bin:/bin; touch made".to_owned(),
        format!("ln -s {real} other; ./other made"),
        format!("env -i {real} made"),
        format!("python3 -c 'import subprocess; subprocess.run([\"{real}\", \"made\"])' 2>/dev/null"),
        format!(
            "python3 -c 'import os; os.execve(os.open(\"{real}\", os.O_RDONLY), [\"touch\", \"made\"], {{}})' 2>/dev/null"
        ),
    ] {
        let (_, ran) = run(&format!("{script}\ntest ! -e made && echo 'not made'\nexit 0\n"), PROGRAM);
        let [call] = calls(&ran)[..] else { panic!("{script}: {}", ran.said()) };
        assert!(call.message.ends_with("made; it was not run"), "{}", call.message);
        assert_eq!(ran.only().stdout.tail, "not made\n", "{script}");
    }
}

#[test]
fn a_call_deep_below_names_its_line_of_parents() {
    let script = "sh -c 'sh -c \"(setsid sh -c \\\"touch made; :\\\")\"; :'\nexit 0\n";
    let (_, ran) = run(script, PROGRAM);
    let [call] = calls(&ran)[..] else { panic!("{}", ran.said()) };
    let process = call.process.as_ref().expect("a process");
    assert!(process.parents.len() >= 3, "{:?}", process.parents);
    assert!(process.parents.iter().all(|parent| !parent.argv.iter().any(|word| word == "__supervise")));
}

#[test]
fn what_is_observed_is_run_and_told_once() {
    let (_, ran) = run("touch made && test -e made && echo made\n", "{program: touch, observe: true}");
    let [call] = calls(&ran)[..] else { panic!("{}", ran.said()) };
    assert!(call.message.ends_with("touch made; it was run"), "{}", call.message);
    assert_eq!(ran.only().stdout.tail, "made\n");
    let (_, ran) = run(&format!("{} made && test -e made && echo made\n", real()), "{program: touch, observe: true}");
    assert_eq!((calls(&ran).len(), ran.only().stdout.tail.as_str()), (1, "made\n"), "{}", ran.said());
}

#[test]
fn a_stand_in_of_the_tests_own_is_another_program() {
    let context = Context::new();
    context.program("tests/bin/touch", "#!/bin/sh\necho stand-in\n");
    context.checks(
        "- {id: a, cwd: sandbox, forbid: [touch], shell: 'mkdir bin; printf \"#!/bin/sh\\necho own\\n\" > bin/touch; \
         chmod +x bin/touch; PATH=$PWD/bin:$PATH touch x; PATH=$HOSTPROOF_PROJECT/tests/bin:$PATH touch x'}",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).only().findings, [], "{}", ran.said());
    assert_eq!(ran.only().stdout.tail, "own\nstand-in\n");
}

#[test]
fn whoever_takes_the_stubs_away_is_seen_all_the_same_and_it_is_said() {
    let script = "rm -r \"$HOSTPROOF_SANDBOX/forbidden\"\ntouch made; test ! -e made\n";
    let (_, ran) = run(script, PROGRAM);
    let [call] = calls(&ran)[..] else { panic!("{}", ran.said()) };
    assert!(call.message.ends_with("touch made; it was not run"), "{}", call.message);
    let blind: Vec<&str> = ran.report().findings.iter().map(|finding| finding.message.as_str()).collect();
    assert!(blind.iter().any(|why| why.contains("what the stubs wrote down can't be read")), "{blind:?}");
}

#[test]
fn the_case_that_called_is_named() {
    let context = Context::new();
    context.file(
        "test.py",
        "import subprocess, time, unittest\nclass T(unittest.TestCase):\n  def test_a(self):\n    time.sleep(.3)\n  \
         def test_b(self):\n    time.sleep(.1)\n    subprocess.run(['touch', 'x'])\n    time.sleep(.3)\n  \
         def test_c(self):\n    time.sleep(.3)\nunittest.main(verbosity=2)\n",
    );
    context.manifest(
        "checks.yaml",
        "version: 1\nchecks:\n- {id: a, cwd: sandbox, run: [python3, $project/test.py], forbid: [touch]}",
    );
    let ran = context.hp(&["run"]);
    let [call] = calls(&ran)[..] else { panic!("{}", ran.said()) };
    assert!(call.case.as_deref().is_some_and(|case| case.contains("test_b")), "{:?}", call.case);
}

#[test]
fn a_hook_may_not_either() {
    let context = Context::new();
    context.stop_hook("touch made\nexit 0\n");
    context.manifest(
        "hook.yaml",
        "version: 1\nchecks:\n- {id: hook, hook: {file: .claude/settings.json}, events: [{name: stop, expect: allow}], forbid: [touch]}",
    );
    let ran = context.hp(&["run"]);
    let [call] = calls(&ran)[..] else { panic!("{}", ran.said()) };
    assert_eq!(call.case.as_deref(), Some("stop"));
    assert!(!context.project().join("made").exists());
}

#[test]
fn without_the_filter_the_stub_sees_what_looks_for_the_name_and_it_is_said() {
    let inner = Context::new();
    inner.checks(&format!("- {{id: a, cwd: sandbox, forbid: [touch], shell: 'touch made; {} other; exit 0'}}", real()));
    // Under another listener there can be none.
    let mut outer = Context::new();
    outer.env("INNER", inner.project().join("checks.d"));
    outer.checks(
        "- {id: outer, as: windows, inherit: [INNER], cwd: sandbox, expect: {exit: 1}, shell: '\"$HOSTPROOF\" run --manifests \"$INNER\" --verbose'}",
    );
    let ran = outer.hp(&["run"]);
    let said = &ran.only().stdout.tail;
    assert!(said.contains("touch was called by pid"), "{said}");
    assert!(said.contains("could not see every call of a forbidden command: another listener is in place"), "{said}");
    assert_eq!(said.matches("was called by").count(), 1, "{said}");
}

#[test]
fn what_is_no_name_of_a_program_is_refused_and_a_meant_call_allowed() {
    for (forbid, why) in [("[bin/tmux]", "is not the name of a program"), ("[{observe: true}]", "`program` is missing")]
    {
        let context = Context::with(&format!("- {{id: a, run: ['true'], forbid: {forbid}}}"));
        let ran = context.hp(&["lint"]);
        assert!(ran.exits(2).stderr.contains(why), "{}", ran.said());
    }
    let context = Context::with(
        "- {id: a, cwd: sandbox, forbid: [touch], shell: 'touch --version || :', \
         allow: [{kind: forbidden-command, match: 'touch --version', because: asks}]}",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).only().findings[0].severity, Severity::Note, "{}", ran.said());
}
