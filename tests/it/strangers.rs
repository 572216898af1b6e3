//! Processes outside the check's tree that hold something of its sandbox while it is removed.

use std::process::{Child, Command};

use hostproof::model::{CheckReport, Finding, How, Kind, Severity, Verdict};
use rustix::process::Signal;

use crate::context::{Context, eventually, signal};

/// Does as it is told through a socket: has a child of its own sit in a folder, or rise from it.
const HELPER: &str = r#"
import os, signal, socket, subprocess, sys, time

signal.alarm(60)
server = socket.socket(socket.AF_UNIX)
server.bind("listening")
server.listen()
os.rename("listening", "socket")
child = None
while True:
    connection, _ = server.accept()
    order, argument = connection.recv(4096).decode().split(" ", 1)
    if order == "sit":
        here, there = os.pipe()
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            os.chdir(argument)
            os.write(there, b"x")
            while True:
                time.sleep(50)
        os.read(here, 1)
    elif order == "spawn":
        # As a terminal's server does it: with the variables of who asks.
        child = subprocess.Popen(["sleep", "50"], env=dict(os.environ, HOSTPROOF_SANDBOX=argument)).pid
        with open("guest", "w") as file:
            file.write(str(child))
    elif order == "rise":
        os.kill(child, 9)
        os.waitpid(child, 0)
    elif order == "rise-after":
        connection.sendall(b"done")
        while os.path.exists("/proc/" + argument):
            time.sleep(0.01)
        time.sleep(0.2)
        os.kill(child, 9)
        os.waitpid(child, 0)
        continue
    connection.sendall(b"done")
"#;

/// What checks ask it with.
const ASK: &str = r#"
import os, socket, sys, time

def ask(order, argument=""):
    client = socket.socket(socket.AF_UNIX)
    client.connect("socket")
    client.sendall((order + " " + argument).encode())
    client.recv(4)

folder = os.environ["TMPDIR"] + "/d"
os.mkdir(folder)
"#;

struct Helper(Child);

impl Helper {
    fn start(context: &Context) -> Self {
        let mut command = Command::new("python3");
        context.dress(&mut command);
        let script = context.file("helper.py", HELPER);
        // Without the mark that processes of hostproof carry.
        let helper = command.arg(script).env_remove("HOSTPROOF_TMPDIR").spawn().expect("the helper");
        eventually("the helper listens", || context.project().join("socket").exists());
        Self(helper)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        signal(self.0.id(), Signal::KILL);
        self.0.wait().expect("the helper's end");
    }
}

fn told(check: &CheckReport) -> &Finding {
    let of_folders = |finding: &&Finding| matches!(finding.kind, Kind::HeldDirectory | Kind::RefusedByWindows);
    let notes: Vec<_> = check.findings.iter().filter(of_folders).collect();
    let [note] = notes[..] else { panic!("{:#?}", check.findings) };
    note
}

#[test]
fn one_that_sits_in_a_folder_while_it_is_removed_is_named() {
    let context = Context::with("- {id: removes, run: [python3, removes.py]}");
    let removes = "os.rmdir(folder)\ntime.sleep(0.5)\nask('rise')\nos.mkdir(folder)\nos.rmdir(folder)\n";
    context.file("removes.py", format!("{ASK}ask('sit', folder)\n{removes}"));
    let helper = Helper::start(&context);
    let ran = context.hp(&["run"]);
    let check = ran.exits(0).only();
    assert_eq!(check.verdict, Verdict::Passed, "{}", ran.said());
    let note = told(check);
    assert_eq!((note.severity, note.how, note.deleted), (Severity::Note, Some(How::Cwd), Some(true)));
    assert_eq!(note.path.as_deref(), Some("tmp/d"), "{}", note.message);
    let process = note.process.as_ref().expect("who it was");
    assert!(process.argv[1].ends_with("helper.py") && process.started_ms.is_some(), "{process:?}");
    assert_eq!(process.parents.first().map(|parent| parent.pid), Some(helper.0.id()), "{process:?}");
}

#[test]
fn one_that_rises_before_the_removal_is_not_accused() {
    let context = Context::with("- {id: removes, run: [python3, removes.py]}");
    let removes = "ask('rise')\nos.rmdir(folder)\ntime.sleep(0.2)\n";
    context.file("removes.py", format!("{ASK}ask('sit', folder)\n{removes}"));
    let _helper = Helper::start(&context);
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).only().findings, [], "{}", ran.said());
}

#[test]
fn a_removal_is_not_forgotten_because_looks_have_to_pause() {
    let context = Context::with("- {id: removes, run: [python3, removes.py]}");
    let removes = r"
for number in range(3000):
    name = folder + str(number)
    os.mkdir(name)
    os.rmdir(name)
ask('sit', folder)
ask('rise-after', str(os.getpid()))
os.rmdir(folder)
os._exit(0)
";
    context.file("removes.py", format!("{ASK}{removes}"));
    let _helper = Helper::start(&context);
    let ran = context.hp(&["run"]);
    let note = told(ran.exits(0).only());
    assert_eq!((note.severity, note.deleted), (Severity::Note, Some(true)), "{}", note.message);
    assert_eq!(note.path.as_deref(), Some("tmp/d"), "{}", note.message);
}

#[test]
fn one_that_stays_is_told_once() {
    let context = Context::with("- {id: removes, grace: 100ms, run: [python3, removes.py]}");
    context.file("removes.py", format!("{ASK}ask('sit', folder)\nos.rmdir(folder)\ntime.sleep(0.3)\n"));
    let _helper = Helper::start(&context);
    let ran = context.hp(&["run"]);
    let held = told(ran.exits(1).only());
    assert_eq!((held.severity, held.deleted), (Severity::Error, Some(true)), "{}", held.message);
}

#[test]
fn what_shares_a_lock_waits_for_the_end_of_what_strangers_started() {
    let context = Context::with(
        r"
- {id: asks, lock: [port], run: [python3, asks.py]}
- {id: next, lock: [port], shell: '! grep State /proc/$(cat guest)/status | grep -v Z'}
- {id: other, shell: 'until [ -e guest ]; do sleep 0.02; done; sleep 0.5'}
",
    );
    context.file("asks.py", format!("{ASK}ask('spawn', os.environ['HOSTPROOF_SANDBOX'])\n"));
    let _helper = Helper::start(&context);
    let ran = context.hp(&["run", "--jobs", "2"]);
    assert_eq!(ran.exits(1).check("asks").verdict, Verdict::Leaked, "{}", ran.said());
    assert_eq!(ran.check("next").verdict, Verdict::Passed, "{}", ran.said());
}
