//! `plant`: what stands at predictable paths before a check starts, and is gone after it.

use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::process::Stdio;

use hostproof::model::{Kind, Verdict};
use rustix::process::Signal;

use crate::context::{Context, assert_ended, errors, eventually, of_kind, signal, skip};

/// A path that no other test, and no other run of this one, has.
fn outside(context: &Context, name: &str) -> String {
    context.state().parent().expect("a folder").join(name).display().to_string()
}

#[test]
fn each_thing_is_there_when_the_check_starts_and_gone_when_it_is_over() {
    let context = Context::new();
    let far = outside(&context, "far.pid");
    context.file(
        "look.py",
        r#"
import os, stat, sys
far, sandbox = sys.argv[1:]
os.chdir(sandbox + "/work")
assert stat.S_ISFIFO(os.lstat("deep/er/log").st_mode)
assert os.listdir("folder") == []
assert open("content").read() == "one\ntwo\n"
assert os.readlink("link") == sandbox + "/elsewhere"
pid = int(open(far).read())
try:
    os.kill(pid, 0)
except ProcessLookupError:
    print("nobody is there")
"#,
    );
    context.checks(&format!(
        "- id: all\n  run: [python3, $project/look.py, {far}, $sandbox]\n  cwd: sandbox\n  \
         plant: {{deep/er/log: fifo, $sandbox/work/folder: directory, content: {{file: \"one\\ntwo\\n\"}},\n    \
         link: {{symlink: $sandbox/elsewhere}}, {far}: dead-pid}}\n  \
         expect: {{stdout: [{{contains: nobody is there}}]}}"
    ));
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).only().findings, [], "{}", ran.said());
    assert!(!Path::new(&far).exists());
}

#[test]
fn a_lock_is_held_by_somebody_until_the_check_is_over() {
    let context = Context::new();
    context.file(
        "lock.py",
        r#"
import fcntl, os, struct
def is_free(take, path):
    with open(path, "r+") as file:
        try:
            take(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
assert not is_free(fcntl.flock, "flock") and is_free(fcntl.lockf, "flock")
assert not is_free(fcntl.lockf, "fcntl") and is_free(fcntl.flock, "fcntl")
with open("fcntl") as file:
    told = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack("hhqqi", fcntl.F_WRLCK, 0, 0, 0, 0))
holder = struct.unpack("hhqqi", told)[4]
os.kill(holder, 0)
with open(os.environ["HOSTPROOF_PROJECT"] + "/pids", "w") as pids:
    pids.write("%d\n" % holder)
"#,
    );
    context.checks(
        "- {id: lock, run: [python3, $project/lock.py], cwd: sandbox, plant: {flock: held-lock, fcntl: {held-lock: fcntl}}}",
    );
    let ran = context.hp(&["run"]);
    ran.exits(0);
    assert_ended(&context.pids("pids"));
}

#[test]
fn what_others_have_is_never_replaced() {
    let context = Context::new();
    context.file("mine", "content");
    context.checks(
        "- {id: taken, shell: 'touch ran', plant: {first/of/all: directory, mine: fifo}}\n\
         - {id: next, shell: 'test ! -e first'}",
    );
    let ran = context.hp(&["run", "--jobs", "1"]);
    let check = ran.exits(1).check("taken");
    assert_eq!(check.verdict, Verdict::Broken);
    let reason = check.reason.clone().unwrap_or_default();
    assert!(reason.starts_with("plant: ") && reason.contains("mine is there already"), "{reason}");
    assert_eq!((context.read("mine").as_str(), context.project().join("first").exists()), ("content", false));
    assert!(!context.project().join("ran").exists());
    assert_eq!(ran.check("next").verdict, Verdict::Passed);
}

#[test]
fn what_is_planted_in_the_project_is_no_residue_while_it_is_there() {
    // The one looks at the project when it is over, while the other has something planted there.
    let context = Context::with(
        r"
- {id: planted, shell: 'until test -e $HOSTPROOF_PROJECT/over; do sleep 0.02; done', plant: {state/lock: directory}, allow: [{kind: residue, match: over, because: x}]}
- {id: other, shell: 'sleep 0.2; echo > $HOSTPROOF_PROJECT/over', allow: [{kind: residue, match: over, because: x}]}
",
    );
    let ran = context.hp(&["run", "--jobs", "2"]);
    assert!(!ran.stdout.contains("state"), "{}", ran.said());
    assert!(ran.stdout.contains("over is new in the project"), "{}", ran.said());
    // It goes by its name in the project also where that lies where sandboxes do.
    assert!(!ran.stdout.contains("/over is new"), "{}", ran.said());
}

#[test]
fn what_the_check_removes_or_replaces_itself_is_its_own() {
    let context = Context::with(
        "- {id: removes, shell: 'rm log; rmdir folder', plant: {log: fifo, folder: directory}}\n\
         - {id: replaces, shell: 'echo new > draft; mv -f draft state', plant: {state: symlink}}\n\
         - {id: fills, shell: 'echo x > folder/x; echo > pid', plant: {folder: directory, pid: dead-pid}}",
    );
    let ran = context.hp(&["run", "--jobs", "1"]);
    for check in &ran.exits(0).report().checks {
        assert_eq!(errors(check), [""; 0], "{}", ran.said());
    }
    assert_eq!(context.read("state"), "new\n");
    for name in ["log", "folder", "pid"] {
        assert!(!context.project().join(name).exists(), "{name}");
    }
}

#[test]
fn what_goes_through_a_planted_link_is_told() {
    let context = Context::with(
        "- {id: writes, cwd: sandbox, shell: 'echo x > state', plant: {state: symlink}}\n\
         - {id: reads, cwd: sandbox, shell: 'cat state', plant: {state: symlink}}",
    );
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).check("writes");
    assert_eq!(errors(check), ["residue"]);
    let finding = of_kind(check, Kind::Residue)[0];
    assert_eq!(
        finding.message,
        "work/state is a symbolic link that was there before, and the file of somebody else's that it leads to was written to"
    );
    assert_eq!(ran.check("reads").findings, []);
}

#[test]
fn what_is_planted_is_gone_whatever_ends_hostproof_or_who_planted_it() {
    let context = Context::new();
    let far = outside(&context, "far.lock");
    let waits = |then: &str| {
        format!("- id: waits\n  plant: {{{far}: {{held-lock: fcntl}}, near/log: fifo}}\n  shell: |\n    {then}\n")
    };
    // Who planted it is killed by the check: the check's own end takes it away.
    context.file(
        "kill.py",
        "import fcntl, os, struct, sys\nfile = open(sys.argv[1])\n\
         told = fcntl.fcntl(file, fcntl.F_GETLK, struct.pack('hhqqi', fcntl.F_WRLCK, 0, 0, 0, 0))\n\
         os.kill(struct.unpack('hhqqi', told)[4], 9)\n",
    );
    context.checks(&waits(&format!("python3 kill.py {far}; echo $$ > pids")));
    let ran = context.hp(&["run"]);
    assert_eq!(errors(ran.exits(0).only()), [""; 0], "{}", ran.said());
    assert!(!Path::new(&far).exists() && !context.project().join("near").exists());
    // hostproof is killed, and in the second case who planted has been before.
    for before in ["", &format!("python3 kill.py {far}")] {
        let _ = fs::remove_file(context.project().join("pids"));
        context.checks(&waits(&format!("{before}\n    echo $$ > pids\n    while [ ! -e go ]; do sleep 0.1; done")));
        let mut child =
            context.command(&["run"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("hostproof");
        let pids = context.wait_for_pids("pids", 1);
        assert!(Path::new(&far).exists());
        let fifo = fs::symlink_metadata(context.project().join("near/log")).expect("a pipe");
        assert!(fifo.file_type().is_fifo());
        signal(child.id(), Signal::KILL);
        child.wait().expect("an end");
        assert_ended(&pids);
        context.eventually_nothing_left();
        eventually("what was planted is gone", || {
            !Path::new(&far).exists() && !context.project().join("near").exists()
        });
    }
}

#[test]
fn checks_that_plant_at_one_path_take_turns() {
    let context = Context::new();
    let far = outside(&context, "shared");
    let check = |id: &str| format!("- {{id: {id}, shell: 'test -p {far}; sleep 0.2', plant: {{{far}: fifo}}}}\n");
    context.checks(&(check("a") + &check("b") + &check("c")));
    context.hp(&["run", "--jobs", "3"]).exits(0);
}

#[test]
fn a_hook_finds_what_is_planted_too() {
    let context = Context::new();
    context.stop_hook("test -d \"$CLAUDE_PROJECT_DIR/state\" || exit 2\n");
    context.manifest(
        "hook.yaml",
        "version: 1\nchecks:\n- {id: hook, hook: {file: .claude/settings.json}, events: [{expect: allow}], plant: {state: directory}}",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).only().verdict, Verdict::Passed);
    assert!(!context.project().join("state").exists());
}

#[test]
fn what_can_not_be_planted_is_skipped_by_name() {
    let context = Context::with("- {id: secret, shell: '! cat key', cwd: sandbox, plant: {key: unreadable}}");
    let ran = context.hp(&["run"]);
    let check = ran.only();
    if rustix::process::geteuid().is_root() {
        assert_eq!(check.verdict, Verdict::Skipped);
        let reason = check.reason.clone().unwrap_or_default();
        assert!(reason.starts_with("an unreadable file can't be planted at key: root reads every file"), "{reason}");
    } else {
        assert_eq!(check.verdict, Verdict::Passed, "{}", ran.said());
    }
}

#[test]
fn who_runs_as_nobody_finds_what_is_planted_as_its_own() {
    if !rustix::process::geteuid().is_root() {
        return skip("only root can become another user");
    }
    let context = Context::with(
        "- {id: a, cwd: sandbox, shell: 'echo x >> lock && echo x > state/x', vary: [uid], \
         plant: {lock: held-lock, state: directory}}",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).check("a[uid]").verdict, Verdict::Passed, "{}", ran.said());
}

#[test]
fn what_is_no_plant_is_refused() {
    for (plant, why) in [
        ("{a: fifos}", "did you mean `fifo`?"),
        ("{a: {held-lock: dotlock}}", "dotlock"),
        ("{a/: fifo}", "is no place to plant something at"),
        ("{../a: fifo}", "has `..` in it"),
        ("{a: {symlink: b, file: c}}", "one thing planted at it alone"),
        ("{a: {}}", "what is planted"),
    ] {
        let context = Context::with(&format!("- {{id: a, run: ['true'], plant: {plant}}}"));
        let ran = context.hp(&["lint"]);
        assert!(ran.exits(2).stderr.contains(why), "{plant}: {}", ran.said());
    }
}

#[test]
fn what_is_red_says_what_was_planted_for_it() {
    let context = Context::with(
        "- {id: red, cwd: sandbox, shell: 'exit 1', plant: {log: fifo, $sandbox/tmp/lock: held-lock}}\n\
         - {id: green, cwd: sandbox, shell: 'exit 0', plant: {log: fifo}}\n",
    );
    let ran = context.hp(&["run"]);
    let notes = &ran.exits(1).check("red").notes;
    let told = ["a file with a lock on it was planted at tmp/lock", "a named pipe was planted at work/log"];
    assert_eq!(notes, &told, "{}", ran.said());
    assert!(ran.stdout.contains(told[0]), "{}", ran.stdout);
    assert!(ran.check("green").notes.is_empty());
}
