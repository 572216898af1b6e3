//! What a check leaves alive is found, named, and gone, on every Unix: the ways to get away that need no more than Python.

use std::process::Stdio;

use hostproof::model::{How, Kind, Verdict};
use rustix::process::Signal;

use crate::context::{Context, assert_ended, errors, of_kind, pid, signal};

/// A check that leaves processes: each does `how` and then sleeps, and its pid is known when the check goes on.
const LEAVE: &str = r#"
import os, signal, sys, time

project = os.environ["HOSTPROOF_PROJECT"]

def sleep(name, told):
    null = os.open("/dev/null", os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    os.write(told, str(os.getpid()).encode() + b"\n")
    os.close(told)
    signal.alarm(60)
    while True:
        time.sleep(50)

def leave(name, how):
    here, there = os.pipe()
    middle = os.fork()
    if middle == 0:
        os.close(here)
        if how(name, there) is not False:
            sleep(name, there)
        os._exit(0)
    os.close(there)
    pid = os.read(here, 100)
    with open(project + "/" + name + ".pid", "wb") as file:
        file.write(pid)
    if name.startswith("orphan"):
        os.waitpid(middle, 0)

def plain(name, told):
    pass

def session(name, told):
    os.setsid()

def deaf(name, told):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)

def elsewhere(name, told):
    os.chdir("/")

def orphan(name, told):
    if os.fork() == 0:
        os.setsid()
        sleep(name, told)
    return False

def executed(name, told):
    # Without the mark, in a session of its own, its parent gone, and another program.
    if os.fork() == 0:
        os.setsid()
        os.set_inheritable(told, True)
        code = "import os, sys; os.write(int(sys.argv[1]), str(os.getpid()).encode() + b'\\n'); os.close(int(sys.argv[1]));"
        code += "import signal, time; signal.alarm(60); time.sleep(50)"
        null = os.open("/dev/null", os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        os.execve(sys.executable, [sys.executable, "-c", code, str(told)], {"PATH": os.environ["PATH"]})
    return False

leave(sys.argv[1], globals()[sys.argv[2]])
"#;

fn context(checks: &[(&str, &str)]) -> Context {
    let check = |(id, how): &(&str, &str)| {
        format!("- {{id: {id}, cwd: sandbox, grace: 0s, run: [python3, $project/leave.py, {id}, {how}]}}\n")
    };
    let context = Context::with(&checks.iter().map(check).collect::<String>());
    context.file("leave.py", LEAVE);
    context
}

#[test]
fn every_way_to_get_away_is_found_and_ended() {
    let ways = [
        ("plain", "plain"),
        ("session", "session"),
        ("deaf", "deaf"),
        ("elsewhere", "elsewhere"),
        ("orphan", "orphan"),
        ("orphan-executed", "executed"),
    ];
    let context = context(&ways);
    let ran = context.hp(&["run", "--jobs", "2"]);
    ran.exits(1);
    for (id, _) in ways {
        let check = ran.check(id);
        assert_eq!(check.verdict, Verdict::Leaked, "{id}: {}", ran.said());
        let left = context.pids(&format!("{id}.pid"));
        let leaked = of_kind(check, Kind::LeakedProcess);
        assert_eq!(leaked.iter().map(|finding| pid(finding)).collect::<Vec<_>>(), left, "{id}: {}", ran.said());
        assert_ended(&left);
    }
    let process = |id: &str| of_kind(ran.check(id), Kind::LeakedProcess)[0].process.clone().expect("a process");
    assert!(process("session").own_session && process("orphan").own_session && !process("plain").own_session);
    // Where it sits is what it holds.
    let held = of_kind(ran.check("plain"), Kind::HeldDirectory);
    assert_eq!((held[0].path.as_deref(), held[0].how), (Some("work"), Some(How::Cwd)), "{}", held[0].message);
    assert!(of_kind(ran.check("elsewhere"), Kind::HeldDirectory).is_empty());
}

#[test]
fn a_check_that_leaves_nothing_is_accused_of_nothing() {
    let context = Context::with("- {id: clean, cwd: sandbox, run: [python3, $project/clean.py]}");
    let script = "import os\nfor _ in range(20):\n    child = os.fork()\n    if child == 0:\n        os._exit(0)\n    \
                  os.waitpid(child, 0)\nprint('x' * 200000)\n";
    context.file("clean.py", script);
    let ran = context.hp(&["run"]);
    let check = ran.exits(0).only();
    assert_eq!((check.verdict, errors(check)), (Verdict::Passed, Vec::new()), "{}", ran.said());
    // More than memory is for: it went through a file.
    assert_eq!(check.stdout.bytes, 200_001);
}

#[test]
fn what_outlives_a_killed_harness_is_nothing() {
    let context =
        Context::with("- {id: waits, cwd: sandbox, shell: 'echo $$ > \"$HOSTPROOF_PROJECT/pids\"; exec sleep 60'}");
    let mut child = context.command(&["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("hostproof");
    let pids = context.wait_for_pids("pids", 1);
    signal(child.id(), Signal::KILL);
    child.wait().expect("an end");
    assert_ended(&pids);
    context.eventually_nothing_left();
}
