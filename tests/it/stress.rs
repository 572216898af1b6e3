//! `run --stress`: what the machine is loaded with, and what that brings to light.

use hostproof::model::{Precedence, Verdict};
use rustix::process::Signal;

use crate::context::{Context, assert_ended, signal};

/// Waits until the load was seen at work: on each processor two threads, one of them with whatever right the system gives,
/// and something written. Writes the load's pid to `load`.
const LOOK: &str = r#"import os
import sys
import time

OWN = os.environ["HOSTPROOF_SANDBOX"].rpartition("/hp-")[0].encode()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def is_ours(pid):
    try:
        words = read(f"/proc/{pid}/cmdline").split(b"\0")
    except OSError:
        return False
    return words[1:3] == [b"__load", OWN]


def at_work(pid):
    processors = []
    for thread in os.listdir(f"/proc/{pid}/task"):
        fields = read(f"/proc/{pid}/task/{thread}/stat").rpartition(b")")[2].split()
        allowed = [line for line in read(f"/proc/{pid}/task/{thread}/status").splitlines() if b"allowed_list" in line]
        if int(fields[11]) > 0 and b"Cpus_allowed_list:\t" + fields[36] in allowed:
            processors.append(int(fields[36]))
    expected = [processor for processor in sorted(os.sched_getaffinity(0)) for _ in range(2)]
    written = int(read(f"/proc/{pid}/io").split(b"wchar: ")[1].split()[0])
    return sorted(processors) == expected and written > 3 << 20


own = next(filter(is_ours, filter(str.isdigit, os.listdir("/proc"))))
with open("load", "w", encoding="ascii") as file:
    file.write(f"{own}\n")
if "stay" in sys.argv:
    time.sleep(50)
deadline = time.monotonic() + 40
while not at_work(own):
    if time.monotonic() > deadline:
        sys.exit("the load is not at work")
    time.sleep(0.01)
"#;

#[test]
fn every_processor_and_the_disk_are_at_work_while_checks_run() {
    let context = Context::with("- {id: looks, run: [python3, look.py], reader: none}");
    context.file("look.py", LOOK);
    let ran = context.hp(&["run", "--stress"]);
    assert_eq!(ran.exits(0).only().verdict, Verdict::Passed, "{}", ran.said());
    assert_ended(&context.pids("load"));
    let stress = ran.report().host.stress.as_ref().expect("what it did");
    let processors = std::thread::available_parallelism().expect("processors").get();
    assert_eq!(stress.busy_processors, processors as u64);
    assert_eq!(stress.written.as_deref(), context.base().to_str());
    // Without the right to go first it says why.
    assert_eq!(stress.bursts == Precedence::RealTime, stress.lacks.is_empty(), "{stress:?}");
    assert!(ran.stdout.contains("\nunder stress: "), "{}", ran.said());
    let quiet = context.hp(&["try", "--", "true"]);
    assert_eq!(quiet.report().host.stress, None);
    assert!(!quiet.stdout.contains("under stress"), "{}", quiet.said());
}

#[test]
fn the_load_ends_with_a_harness_that_is_killed() {
    let context = Context::with("- {id: looks, run: [python3, look.py, stay], reader: none}");
    context.file("look.py", LOOK);
    let mut child = context.command(&["run", "--stress"]).spawn().expect("hostproof");
    let load = context.wait_for_pids("load", 1);
    signal(child.id(), Signal::KILL);
    child.wait().expect("an end");
    assert_ended(&load);
    context.eventually_nothing_left();
}

#[test]
fn what_holds_only_while_nothing_else_happens_is_flaky() {
    // The work takes a small part of the time that the test gives it, and is done in it unless it is kept from a processor.
    let context = Context::with("- {id: race, run: [python3, race.py], reader: none}");
    context.file(
        "race.py",
        r#"import threading
import time

done = threading.Event()


def work():
    for _ in range(4):
        time.sleep(0.0005)
    done.set()


for _ in range(30):
    done.clear()
    threading.Thread(target=work).start()
    time.sleep(0.006)
    assert done.is_set(), "the work is not done"
"#,
    );
    let ran = context.hp(&["run", "--until-fail", "--stress"]);
    let check = ran.exits(1).only();
    assert!(check.verdict.is_red(), "{}", ran.said());
    assert!(ran.stdout.contains("again  hostproof run race --stress --keep failed"), "{}", ran.said());
}
