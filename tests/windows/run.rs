//! Runs: counts, frames, exit codes, what is left, time limits, and ends from outside.

use std::process::Stdio;

use hostproof::model::{How, Kind, Verdict};

use crate::context::{Context, assert_ended, errors, is_wine, of_kind, skipped_under_wine};

/// A program of Python's that starts `sleeper` and tells its process id: `KEYWORDS` are those of `Popen`.
const LEAVES: &str = r"
import subprocess, sys, time
nowhere = dict.fromkeys(['stdin', 'stdout', 'stderr'], subprocess.DEVNULL)
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(50)'], **{**nowhere, KEYWORDS})
with open(r'PIDS', 'a') as pids:
    pids.write('%d\n' % child.pid)
";

/// A project with one check that leaves such a child.
fn leaving(keywords: &str) -> Context {
    let context = Context::with("- {id: leaves, cwd: sandbox, grace: 100ms, run: [python, $project/leaves.py]}");
    let pids = context.project().join("pids").display().to_string();
    context.file("leaves.py", LEAVES.replace("KEYWORDS", keywords).replace("PIDS", &pids));
    context
}

#[test]
fn counts_the_frame_and_the_exit_code_are_those_of_the_check() {
    let context = Context::proving(
        "- {id: green, run: [python, test_it.py, T.test_a]}\n- {id: red, run: [python, test_it.py], expect: {cases: 3}}",
    );
    context.file(
        "test_it.py",
        "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n    \
         def test_b(self):\n        self.assertEqual(1, 2)\n\nunittest.main(verbosity=2)\n",
    );
    let ran = context.hp(&["run"]);
    let [green, red] = &ran.exits(1).report().checks[..] else { panic!("{}", ran.said()) };
    assert_eq!((green.verdict, green.cases.passed), (Verdict::Passed, Some(1)), "{}", ran.said());
    assert_eq!((red.verdict, errors(red)), (Verdict::Failed, vec!["unmet", "short-count"]), "{}", ran.said());
    assert_eq!((red.cases.ran, red.cases.failed), (Some(2), Some(1)), "{}", ran.said());
    let frame = red.frames.first().expect("a frame");
    assert_eq!((frame.file.as_str(), frame.line), ("test_it.py", 6), "{frame:?}");
    assert_eq!(context.hp(&["run", "green"]).exits(0).last_line(), "1/1 cases, 1/1 checks");
    context.hp(&["run", "no-such-check"]).exits(2);
}

#[test]
fn a_program_that_is_not_there_breaks_its_check_with_its_name() {
    let ran = Context::with("- {id: lost, run: [no-such-program-here]}").hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!(check.verdict, Verdict::Broken, "{}", ran.said());
    assert!(ran.stdout.contains("no-such-program-here"), "{}", ran.said());
}

#[test]
fn what_is_left_is_named_and_ended() {
    let context = leaving("'creationflags': subprocess.DETACHED_PROCESS");
    let ran = context.hp(&["run"]);
    let pids = context.wait_for_pids("pids", 1);
    let [leaked] = of_kind(ran.exits(1).only(), Kind::LeakedProcess)[..] else { panic!("{}", ran.said()) };
    let process = leaked.process.as_ref().expect("a process");
    assert_eq!(process.pid, pids[0]);
    assert!(process.argv.iter().any(|word| word.contains("time.sleep(50)")), "{:?}", process.argv);
    assert_ended(&pids);
}

#[test]
fn a_held_directory_has_its_holder() {
    let context = leaving("'cwd': __import__('os').mkdir('d') or 'd'");
    let ran = context.hp(&["run"]);
    let pids = context.wait_for_pids("pids", 1);
    let [held] = of_kind(ran.exits(1).only(), Kind::HeldDirectory)[..] else { panic!("{}", ran.said()) };
    assert_eq!((held.how, held.path.as_deref()), (Some(How::Cwd), Some(r"work\d")), "{}", ran.said());
    assert_eq!(held.process.as_ref().map(|process| process.pid), Some(pids[0]));
    assert_ended(&pids);
}

#[test]
fn a_pipe_that_stays_open_is_held_and_nobody_waits_for_it() {
    let context = leaving("'stdout': None");
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    let pids = context.wait_for_pids("pids", 1);
    assert_eq!(errors(check), ["held-directory", "held-pipe", "leaked-process"], "{}", ran.said());
    assert_ended(&pids);
}

#[test]
fn the_time_limit_ends_all_of_a_check() {
    let context = leaving("'creationflags': 0");
    let script = context.read("leaves.py") + "time.sleep(50)\n";
    context.file("leaves.py", script);
    let manifest = context.read("checks.d/checks.yaml").replace("grace: 100ms", "timeout: 10s");
    context.file("checks.d/checks.yaml", manifest);
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).only().verdict, Verdict::TimedOut, "{}", ran.said());
    assert_ended(&context.wait_for_pids("pids", 1));
}

#[test]
fn when_hostproof_is_killed_all_of_its_checks_end_and_no_sandbox_stays() {
    let context = leaving("'creationflags': subprocess.DETACHED_PROCESS");
    let script = context.read("leaves.py") + "time.sleep(50)\n";
    context.file("leaves.py", script);
    let mut command = context.command(&["run"]);
    let mut hostproof = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("hostproof");
    let pids = context.wait_for_pids("pids", 1);
    assert!(!context.sandboxes().is_empty(), "it is under way");
    hostproof.kill().expect("killed");
    hostproof.wait().expect("its end");
    assert_ended(&pids);
    context.eventually_nothing_left();
}

#[test]
fn an_interrupt_ends_all_of_a_run() {
    if skipped_under_wine("Ctrl-Break", "it sends none to a process group") {
        return;
    }
    let context = leaving("'creationflags': subprocess.DETACHED_PROCESS");
    let script = context.read("leaves.py") + "time.sleep(50)\n";
    context.file("leaves.py", script);
    // Python sends what std can't, from the same console.
    context.file(
        "interrupt.py",
        "import os, signal, subprocess, sys, time\n\
         group = subprocess.CREATE_NEW_PROCESS_GROUP\n\
         hostproof = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, creationflags=group)\n\
         while not os.path.exists('pids') or not os.path.getsize('pids'): time.sleep(0.02)\n\
         hostproof.send_signal(signal.CTRL_BREAK_EVENT)\n\
         sys.exit(hostproof.wait(60))\n",
    );
    let hostproof = context.command(&["run"]);
    let mut python = std::process::Command::new("python");
    python.arg("interrupt.py").arg(hostproof.get_program()).args(hostproof.get_args());
    python.envs(hostproof.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(context.project());
    assert_eq!(python.status().expect("python").code(), Some(130));
    assert_ended(&context.wait_for_pids("pids", 1));
    context.assert_nothing_left();
}

#[test]
fn a_report_tells_that_wine_stands_for_windows() {
    let ran = Context::with("- {id: nothing, run: [cmd, /d, /c, ver]}").hp(&["run"]);
    let host = serde_json::to_value(&ran.exits(0).report().host).expect("JSON");
    assert_eq!(host["os"], "windows");
    assert_eq!(host.to_string().to_lowercase().contains("wine"), is_wine(), "{host}");
}
