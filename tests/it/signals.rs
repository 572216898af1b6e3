//! However a run is ended, everything that it started ends with it.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use hostproof::model::Verdict;
use rustix::process::Signal;

use crate::context::{Context, assert_ended, ends, eventually, signal};

/// Sets how signals are handled, and becomes hostproof.
const START: &str = r#"
import os, signal, sys

how, argv = sys.argv[1], sys.argv[2:]
some = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM]
for number in some + [signal.SIGPIPE, signal.SIGUSR1]:
    signal.signal(number, signal.SIG_DFL if how == "default" else signal.SIG_IGN)
if how == "blocked":
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD])
os.execv(argv[0], argv)
"#;

/// Starts hostproof with its signals `default`, `ignored`, or ignored and `blocked`: the tests themselves may have been
/// started with any of these.
fn start(context: &Context, how: &str, arguments: &[&str]) -> Child {
    let hostproof = context.command(arguments);
    let mut command = Command::new("python3");
    context.dress(&mut command);
    command.args(["-c", START, how]).arg(hostproof.get_program()).args(hostproof.get_args());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("python3")
}

/// Waits to be told to end, with a detached child that is deaf; tells the pids of both, and of its supervisor.
const WAITS: &str = r#"
    setsid sh -c 'trap "" TERM INT HUP; echo $$ >> "$HOSTPROOF_PROJECT/pids"; while [ ! -e go ]; do sleep 0.1; done' </dev/null >/dev/null 2>&1 &
    echo $PPID > "$HOSTPROOF_CHECK.supervisor"
    echo $$ >> pids
    i=0; while [ ! -e go ] && [ $i -lt 500 ]; do sleep 0.1; i=$((i+1)); done
"#;

fn waits(id: &str) -> String {
    format!("- id: {id}\n  shell: |{WAITS}")
}

#[test]
fn a_killed_run_leaves_nothing() {
    let context = Context::with(&(waits("one") + &waits("two")));
    let mut child = start(&context, "default", &["run", "--jobs", "2"]);
    let mut pids = context.wait_for_pids("pids", 4);
    pids.extend(context.wait_for_pids("one.supervisor", 1));
    pids.extend(context.wait_for_pids("two.supervisor", 1));
    // One more while it is tried what can be seen here.
    assert!(context.sandboxes().len() >= 2);
    signal(child.id(), Signal::KILL);
    child.wait().expect("an end");
    assert_ended(&pids);
    context.eventually_nothing_left();
}

#[test]
fn the_first_interrupt_ends_every_check_and_reports_what_ran() {
    for number in [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT] {
        let context =
            Context::with(&format!("- {{id: first, shell: 'true'}}\n{}- {{id: last, shell: 'true'}}", waits("waits")));
        let child = start(&context, "default", &["run", "--jobs", "1"]);
        let pids = context.wait_for_pids("pids", 2);
        signal(child.id(), number);
        let ran = context.finish(child);
        ran.exits(130);
        assert_ended(&pids);
        context.assert_nothing_left();
        assert!(ran.stdout.contains("interrupted: everything that ran was ended"), "{}", ran.said());
        assert_eq!(ran.last_line(), "1/3 checks, 1 broken, 1 not reached");
        let report = ran.report();
        assert!(report.run.interrupted);
        assert_eq!((report.totals.checks.planned, report.totals.checks.not_run), (3, 1));
        assert_eq!(ran.check("first").verdict, Verdict::Passed);
        assert_eq!(
            (ran.check("waits").verdict, ran.check("waits").reason.as_deref()),
            (Verdict::Broken, Some("interrupted"))
        );
    }
}

#[test]
fn the_second_interrupt_ends_the_run_at_once() {
    let context = Context::with(&waits("waits"));
    let mut child = start(&context, "default", &["run"]);
    let pids = context.wait_for_pids("pids", 2);
    // A supervisor that does not answer: after one interrupt the run waits for it.
    let supervisor = context.wait_for_pids("waits.supervisor", 1)[0];
    signal(supervisor, Signal::STOP);
    // Only what has stopped is woken by the end of its group's last tie.
    let state = || Command::new("ps").args(["-o", "stat=", "-p", &supervisor.to_string()]).output().expect("ps").stdout;
    eventually("the supervisor stops", || state().starts_with(b"T"));
    signal(child.id(), Signal::INT);
    // Signals of a kind that come together are one, so as a user does it: again, until it ends.
    eventually("hostproof ends", || {
        signal(child.id(), Signal::INT);
        ends(child.id(), Duration::ZERO)
    });
    assert_eq!(child.wait().expect("an end").code(), Some(130));
    // Its end wakes the supervisor, whose process group has lost its last tie to the session.
    assert_ended(&pids);
    assert_ended(&[supervisor]);
    context.eventually_nothing_left();
}

#[test]
fn what_hostproof_ignores_no_check_ignores() {
    for how in ["default", "ignored", "blocked"] {
        let context = Context::with("- {id: signals, run: [grep, '^Sig[BI]', /proc/self/status]}");
        let ran = context.finish(start(&context, how, &["run"]));
        assert_eq!(ran.exits(0).only().stdout.tail, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n", "{how}");
    }
}

#[test]
fn a_signal_that_was_ignored_at_the_start_stays_ignored() {
    // As under nohup, or in the background of a script.
    let context = Context::with(&waits("waits"));
    let child = start(&context, "ignored", &["run", "--jobs", "1"]);
    let pids = context.wait_for_pids("pids", 2);
    for number in [Signal::HUP, Signal::INT, Signal::INT, Signal::QUIT, Signal::TERM] {
        signal(child.id(), number);
    }
    context.file("go", "");
    let ran = context.finish(child);
    assert_eq!(ran.exits(0).only().verdict, Verdict::Passed, "{}", ran.said());
    assert_ended(&pids);
    context.assert_nothing_left();
}

#[test]
fn an_interrupt_during_a_setup_ends_it() {
    let context = Context::new();
    context.manifest(
        "a.yaml",
        "version: 1\nsetup: [[sh, -c, 'echo $$ > pids; sleep 50']]\nchecks:\n  - {id: a, shell: 'touch ran'}\n",
    );
    let child = start(&context, "default", &["run"]);
    let pids = context.wait_for_pids("pids", 1);
    signal(child.id(), Signal::INT);
    let ran = context.finish(child);
    ran.exits(130);
    assert_ended(&pids);
    context.assert_nothing_left();
    assert!(!context.project().join("ran").exists());
}
