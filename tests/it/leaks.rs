//! What a check leaves alive is found, named, and gone; what merely takes its time is not.

use std::process::{Command, Stdio};

use hostproof::model::{How, Kind, Severity, Stream, Verdict};

use crate::context::{
    Context, assert_ended, command_line, ends, errors, eventually, of_kind, pid, signal, skip, works,
};

/// Tells which process a script has left in the background.
const LEFT: &str = r#"echo $! > "$HOSTPROOF_PROJECT/$HOSTPROOF_CHECK.pid""#;

/// Waits until that one is no longer a copy of the shell, which has the check's output open.
const RUNS: &str = r#"until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.02; done"#;

#[test]
fn every_way_to_get_away_is_found_and_ended() {
    // Each script leaves one process, and tells its pid.
    let ways = [
        ("background", "sleep 50 </dev/null >/dev/null 2>&1 &"),
        ("session", "setsid sleep 50 </dev/null >/dev/null 2>&1 &"),
        ("hangup", "nohup sleep 50 </dev/null >/dev/null 2>&1 &"),
        ("deaf", "(trap '' TERM INT HUP; exec sleep 50) </dev/null >/dev/null 2>&1 &"),
        ("stopped", "sleep 50 </dev/null >/dev/null 2>&1 &"),
        ("bare", "env -i /bin/sleep 50 </dev/null >/dev/null 2>&1 &"),
        ("elsewhere", "(cd / && exec sleep 50) </dev/null >/dev/null 2>&1 &"),
    ];
    let check = |(id, script): &(&str, &str)| {
        let stop = if *id == "stopped" { "kill -STOP $!" } else { "" };
        format!("- id: {id}\n  cwd: sandbox\n  shell: |\n    {script}\n    {LEFT}\n    {RUNS}\n    {stop}\n")
    };
    let mut checks = ways.iter().map(check).collect::<Vec<_>>().concat();
    // The middle one of three ends before the last is known.
    checks += r#"
- id: orphan
  cwd: sandbox
  shell: |
    (setsid sh -c 'echo $$ > "$HOSTPROOF_PROJECT/orphan.pid"; exec sleep 50' </dev/null >/dev/null 2>&1 &)
    while [ ! -s "$HOSTPROOF_PROJECT/orphan.pid" ]; do sleep 0.02; done
"#;
    let context = Context::with(&checks);
    let ran = context.hp(&["run", "--jobs", "4"]);
    ran.exits(1);
    for id in ways.iter().map(|(id, _)| *id).chain(["orphan"]) {
        let check = ran.check(id);
        assert_eq!(check.verdict, Verdict::Leaked, "{id}: {}", ran.said());
        let left = context.pids(&format!("{id}.pid"));
        let leaked = of_kind(check, Kind::LeakedProcess);
        assert_eq!(leaked.iter().map(|finding| pid(finding)).collect::<Vec<_>>(), left, "{id}: {}", ran.said());
        assert!(leaked[0].process.as_ref().is_some_and(|process| process.pipes.is_empty()), "{id}");
        assert!(of_kind(check, Kind::HeldPipe).is_empty(), "{id}");
        assert_ended(&left);
    }
    let process = |id: &str| of_kind(ran.check(id), Kind::LeakedProcess)[0].process.clone().expect("a process");
    assert!(process("session").own_session && process("orphan").own_session && !process("background").own_session);
    assert_eq!(process("stopped").state.as_deref(), Some("stopped"));
    assert_eq!(process("bare").argv, ["/bin/sleep", "50"]);
    // Where it sits is what it holds.
    let held = of_kind(ran.check("background"), Kind::HeldDirectory);
    assert_eq!((held[0].path.as_deref(), held[0].how), (Some("work"), Some(How::Cwd)), "{}", held[0].message);
    assert!(of_kind(ran.check("elsewhere"), Kind::HeldDirectory).is_empty());
}

#[test]
fn a_helper_in_a_removed_worktree_is_named() {
    let context = Context::with(&format!(
        r#"
- id: worktree
  cwd: sandbox
  env: {{GIT_CONFIG_GLOBAL: /dev/null, GIT_CONFIG_SYSTEM: /dev/null, GIT_CONFIG_NOSYSTEM: "1"}}
  shell: |
    set -e
    git init -q trunk
    cd trunk
    git -c user.name=x -c user.email=x@example.invalid commit -q --allow-empty -m start
    git worktree add -q -b task ../task >&2
    (cd ../task && exec sleep 50 </dev/null >/dev/null 2>&1) &
    {LEFT}
    {RUNS}
    git worktree remove --force ../task
    test ! -e ../task
"#
    ));
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!((check.verdict, errors(check)), (Verdict::Leaked, vec!["held-directory", "leaked-process"]));
    let [held] = of_kind(check, Kind::HeldDirectory)[..] else { panic!("{}", ran.said()) };
    assert_eq!((held.path.as_deref(), held.how, held.deleted), (Some("work/task"), Some(How::Cwd), Some(true)));
    assert_eq!(vec![pid(held)], context.pids("worktree.pid"));
    assert!(ran.stdout.contains("work/task is the current directory of pid"), "{}", ran.stdout);
}

/// A child that holds a file open, and takes its time to go when it is told to: until its parent is gone, and then some.
const SLOW: &str = r#"
import os, signal, subprocess, sys, tempfile, time

if len(sys.argv) > 2:
    parent = os.getppid()
    seconds = float(sys.argv[2])

    def slowly(*_):
        end = time.monotonic() + 50
        while os.getppid() == parent and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(seconds)
        os._exit(0)

    signal.signal(signal.SIGTERM, slowly)
    held = open(sys.argv[1], "wb")
    os.chdir("/")
    print("up", flush=True)
    os.close(1)
    signal.pause()
else:
    with tempfile.TemporaryDirectory() as folder:
        argv = [sys.executable, __file__, os.path.join(folder, "data"), sys.argv[1]]
        child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert child.stdout.readline() == b"up\n"
        child.terminate()
"#;

#[test]
fn told_to_end_is_not_ended() {
    let context = Context::with(
        r#"
- {id: patient, run: [python3, slow.py, "2"], grace: 50s}
- {id: strict, run: [python3, slow.py, "40"], grace: 0s}
"#,
    );
    context.file("slow.py", SLOW);
    let ran = context.hp(&["run", "--jobs", "2"]);
    ran.exits(1);
    let patient = ran.check("patient");
    assert_eq!((patient.verdict, errors(patient)), (Verdict::Passed, vec![]), "{}", ran.said());
    let [late] = of_kind(patient, Kind::LateExit)[..] else { panic!("{}", ran.said()) };
    assert_eq!(late.severity, Severity::Note);
    assert!(late.message.contains("/data was held open by it"), "{}", late.message);
    assert!(patient.processes[0].ended_ms.is_some_and(|ms| ms > 0));

    let strict = ran.check("strict");
    assert_eq!((strict.verdict, errors(strict)), (Verdict::Leaked, vec!["held-file", "leaked-process"]));
    let held = of_kind(strict, Kind::HeldFile)[0];
    assert_eq!((held.how, held.deleted), (Some(How::Descriptor), Some(true)));
    assert!(held.path.as_deref().is_some_and(|path| path.starts_with("tmp/") && path.ends_with("/data")));
}

#[test]
fn a_mapped_file_is_held_without_a_descriptor() {
    let context = Context::with("- {id: mapped, cwd: sandbox, run: [python3, $project/map.py]}");
    // The module mmap keeps a descriptor of its own, so the C library is asked.
    context.file(
        "map.py",
        r#"
import ctypes, os, time

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
with open("addon.so", "wb") as file:
    file.write(bytes(4096))
read, write = os.pipe()
if os.fork() == 0:
    file = os.open("addon.so", os.O_RDONLY)
    assert libc.mmap(None, 4096, 1, 2, file, 0) != ctypes.c_void_p(-1).value
    os.close(file)
    os.chdir("/")
    null = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(null, stream)
    os.write(write, b"x")
    time.sleep(50)
    os._exit(0)
os.read(read, 1)
"#,
    );
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!((check.verdict, errors(check)), (Verdict::Leaked, vec!["held-file", "leaked-process"]));
    let [held] = of_kind(check, Kind::HeldFile)[..] else { panic!("{}", ran.said()) };
    assert_eq!(
        (held.path.as_deref(), held.how, held.deleted),
        (Some("work/addon.so"), Some(How::Mapping), Some(false))
    );
}

#[test]
fn ones_own_directory_may_go_though_windows_would_refuse_it() {
    let context = Context::with("- {id: own, cwd: sandbox, run: [python3, $project/own.py]}");
    // Nobody else stands in it, and it stays for a while: what is gone before anybody looks can't be seen.
    context.file(
        "own.py",
        "import os, time\nos.mkdir('here')\nos.chdir('here')\nos.rmdir('../here')\n\
         file = open('../data', 'w')\nos.remove('../data')\ntime.sleep(3)\n",
    );
    let ran = context.hp(&["run"]);
    let check = ran.exits(0).only();
    assert_eq!((check.verdict, errors(check)), (Verdict::Passed, vec![]), "{}", ran.said());
    let mut notes = of_kind(check, Kind::RefusedByWindows);
    notes.sort_by_key(|note| note.how);
    let told: Vec<_> = notes.iter().map(|note| (note.path.as_deref(), note.severity, note.winerror)).collect();
    let note = |path| (Some(path), Severity::Note, Some(32));
    assert_eq!(told, [note("work/here"), note("work/data")], "{:?}", check.findings);
    // Who opened a file, and how, can't be told afterwards.
    let ends = ["Windows refuses that", "unless it was opened with delete sharing"];
    assert!(notes.iter().zip(ends).all(|(note, end)| note.message.ends_with(end)), "{:?}", check.findings);
    assert!(of_kind(check, Kind::LeakedProcess).is_empty());
}

#[test]
fn a_child_on_the_checks_output_is_not_waited_for() {
    let context = Context::with(
        r#"
- id: both
  cwd: sandbox
  shell: |
    (sleep 50; touch "$HOSTPROOF_PROJECT/slept") &
    echo '{"continue": true}'
- {id: stdout, shell: "sleep 50 2>/dev/null & echo out"}
- {id: stderr, shell: "sleep 50 >/dev/null & echo err >&2"}
"#,
    );
    let ran = context.hp(&["run", "--jobs", "3"]);
    ran.exits(1);
    assert_eq!(context.read("slept"), "", "the answer came only after the child's end");
    assert!(!context.project().join("slept").exists());
    for (id, streams, said) in [
        ("both", &[Stream::Stdout, Stream::Stderr][..], "{\"continue\": true}\n"),
        ("stdout", &[Stream::Stdout], "out\n"),
        ("stderr", &[Stream::Stderr], "err\n"),
    ] {
        let check = ran.check(id);
        assert_eq!(check.verdict, Verdict::Leaked, "{}", ran.said());
        let held = of_kind(check, Kind::HeldPipe);
        assert!(!held.is_empty(), "{id}: {}", ran.said());
        assert_eq!(held[0].process.as_ref().map(|process| &process.pipes[..]), Some(streams), "{id}");
        let words = streams.iter().map(|stream| if *stream == Stream::Stdout { "stdout" } else { "stderr" });
        let words = words.collect::<Vec<_>>().join(" and ");
        assert!(held[0].message.contains(&format!("the check's {words} ")), "{}", held[0].message);
        assert_eq!(check.stdout_end_ms.is_none(), streams.contains(&Stream::Stdout), "{id}");
        assert_eq!(check.stdout.tail.clone() + &check.stderr.tail, said);
    }
}

#[test]
fn many_short_children_on_a_busy_machine_are_no_leak() {
    let context = Context::with(
        r"
- id: busy
  grace: 50s
  shell: |
    for i in 1 2 3 4; do (j=0; while [ $j -lt 20000 ]; do j=$((j+1)); done) & done
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do true & done
    wait
    (sleep 0.2) &
- id: quiet
  shell: |
    for i in 1 2 3 4 5 6 7 8 9 10; do sh -c true; done
",
    );
    let ran = context.hp(&["run", "--jobs", "2"]);
    ran.exits(0);
    let others: Vec<_> = ran.report().checks.iter().flat_map(|check| &check.findings).collect();
    assert!(others.iter().all(|finding| finding.kind == Kind::LateExit), "{others:?}");
    assert!(of_kind(ran.check("quiet"), Kind::LateExit).is_empty());
}

#[test]
fn a_check_has_empty_input_and_not_hostproofs() {
    let context = Context::with("- {id: refs, shell: 'echo refs: $(wc -l)'}");
    let mut command = context.command(&["run"]);
    // A pipe that stays open, as of a terminal at which nobody types.
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hostproof");
    let stdin = child.stdin.take();
    let ran = context.finish(child);
    drop(stdin);
    assert_eq!(ran.exits(0).only().stdout.tail, "refs: 0\n");
    context.assert_nothing_left();
}

#[test]
fn a_check_that_waits_for_input_is_seen_waiting() {
    if std::fs::read_to_string("/proc/self/syscall").is_err() {
        return skip("this kernel does not tell what a process waits on");
    }
    let context = Context::with(
        r"
- id: waits
  timeout: 3s
  cwd: sandbox
  shell: |
    mkfifo never
    exec cat <> never
",
    );
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!((check.verdict, errors(check)), (Verdict::TimedOut, vec!["timeout"]));
    let message = &check.findings[0].message;
    assert!(message.contains("(cat) was sleeping, waiting to read stdin"), "{message}");
}

#[test]
fn a_daemon_with_nothing_but_a_socket_is_found() {
    let context = Context::with("- {id: agent, cwd: sandbox, run: [python3, $project/agent.py]}");
    context.file(
        "agent.py",
        r#"
import os, socket, time

os.mkdir("keys")
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        with open(os.environ["HOSTPROOF_PROJECT"] + "/agent.pid", "w") as file:
            file.write("%d\n" % os.getpid())
        server = socket.socket(socket.AF_UNIX)
        server.bind("keys/socket")
        server.listen()
        os.chdir("/")
        os.write(write, b"x")
        for descriptor in (0, 1, 2, read, write):
            os.close(descriptor)
        time.sleep(50)
    os._exit(0)
os.wait()
os.read(read, 1)
"#,
    );
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!(
        (check.verdict, errors(check)),
        (Verdict::Leaked, vec!["held-file", "leaked-process"]),
        "{}",
        ran.said()
    );
    let held = of_kind(check, Kind::HeldFile)[0];
    assert_eq!((held.path.as_deref(), held.how), (Some("work/keys/socket"), Some(How::Socket)), "{}", held.message);
    let leaked = of_kind(check, Kind::LeakedProcess)[0];
    let process = leaked.process.as_ref().expect("a process");
    assert_eq!(vec![process.pid], context.pids("agent.pid"));
    assert!(process.own_session && process.pipes.is_empty() && process.parents.is_empty());
    assert!(leaked.message.contains("own session, no pipe held"), "{}", leaked.message);
    assert_ended(&[process.pid]);
}

#[test]
fn a_server_that_heeds_the_end_of_its_input_is_not_named() {
    let context = Context::with("- {id: servers, run: [python3, client.py], grace: 4s}");
    context.file(
        "client.py",
        r#"
import os, subprocess, sys

SERVER = "import sys, time; print('up', flush=True); %s"
null = subprocess.DEVNULL
for wait in ("sys.stdin.read()", "time.sleep(50)"):
    child = subprocess.Popen(
        [sys.executable, "-c", SERVER % wait], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=null, cwd="/"
    )
    assert child.stdout.readline() == b"up\n"
os._exit(0)
"#,
    );
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    let [leaked] = of_kind(check, Kind::LeakedProcess)[..] else { panic!("{}", ran.said()) };
    assert!(leaked.message.contains("time.sleep(50)"), "{}", leaked.message);
    assert_eq!(errors(check), ["leaked-process"]);
}

#[test]
fn a_time_limit_ends_the_whole_tree() {
    let context = Context::with(&format!(
        r#"
- id: shell
  timeout: 2s
  shell: |
    sleep 50 &
    {LEFT}
    wait
    echo late
- id: detached
  timeout: 2s
  shell: |
    setsid sh -c 'trap "" TERM; while :; do sleep 1; done' </dev/null >/dev/null 2>&1 &
    {LEFT}
    sleep 50
- id: inner-pipe
  timeout: 2s
  shell: |
    said=$(sleep 50 & echo $! > "$HOSTPROOF_PROJECT/inner-pipe.pid"; wait; echo late)
    echo "$said"
"#
    ));
    let ran = context.hp(&["run", "--jobs", "3"]);
    ran.exits(1);
    for id in ["shell", "detached", "inner-pipe"] {
        let check = ran.check(id);
        assert_eq!((check.verdict, errors(check)), (Verdict::TimedOut, vec!["timeout"]), "{}", ran.said());
        assert_eq!((check.exit, check.stdout.tail.as_str()), (None, ""));
        assert_ended(&context.pids(&format!("{id}.pid")));
    }
    let said = &ran.check("shell").findings[0].message;
    assert!(said.starts_with("ended at the time limit of 2s: pid "), "{said}");
    assert!(said.contains("(sleep 50) was"), "{said}");
}

#[test]
fn processes_that_come_and_go_are_ended() {
    let context = Context::with("- {id: respawner, run: [python3, respawn.py]}");
    // Each lives just long enough to start the next.
    context.file(
        "respawn.py",
        r"
import os, time

end = time.monotonic() + 40
null = os.open(os.devnull, os.O_RDWR)
if os.fork() == 0:
    os.setsid()
    for stream in range(3):
        os.dup2(null, stream)
    while time.monotonic() < end:
        if os.fork() != 0:
            os._exit(0)
",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).only().verdict, Verdict::Leaked, "{}", ran.said());
    assert!(errors(ran.only()).contains(&"leaked-process"));
}

#[test]
fn a_process_of_its_own_pid_namespace_is_ended() {
    if !works(&["unshare", "--fork", "--pid", "true"]) {
        return skip("no PID namespace can be made here");
    }
    // As process 1 of its namespace it heeds no TERM.
    let context = Context::with(&format!(
        r#"
- id: namespace
  shell: |
    unshare --fork --pid sh -c 'echo up > "$HOSTPROOF_PROJECT/up"; sleep 50; :' </dev/null >/dev/null 2>&1 &
    {LEFT}
    while [ ! -s "$HOSTPROOF_PROJECT/up" ]; do sleep 0.02; done
"#
    ));
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).only().verdict, Verdict::Leaked, "{}", ran.said());
    assert!(of_kind(ran.only(), Kind::LeakedProcess).len() >= 2, "{}", ran.said());
    assert_ended(&context.pids("namespace.pid"));
}

#[test]
fn a_check_that_ends_its_supervisor_gets_nowhere() {
    let context = Context::with(&format!(
        r#"
- id: killer
  shell: |
    setsid sleep 50 </dev/null >/dev/null 2>&1 &
    {LEFT}
    kill -9 $PPID
    sleep 50
- {{id: next, shell: "true"}}
- {{id: last, shell: "true"}}
"#
    ));
    let ran = context.hp(&["run", "--jobs", "1"]);
    let killer = ran.exits(1).check("killer");
    assert_eq!(killer.verdict, Verdict::Broken);
    let reason = killer.reason.as_deref().unwrap_or_default();
    assert!(reason.contains("supervisor was ended from outside (signal: 9"), "{reason}");
    let named: Vec<u32> = of_kind(killer, Kind::LeakedProcess).iter().map(|finding| pid(finding)).collect();
    let left = context.pids("killer.pid");
    assert!(named.contains(&left[0]), "{}", ran.said());
    assert_ended(&left);
    // The other checks get another supervisor.
    assert_eq!((ran.check("next").verdict, ran.check("last").verdict), (Verdict::Passed, Verdict::Passed));
}

#[test]
fn an_outsider_that_got_the_output_is_named_and_lives() {
    let context = Context::with("- {id: gives, run: [python3, give.py], grace: 100ms}");
    // The helper is no descendant of the check, and keeps what it is given until somebody ends it.
    let helper = context.file(
        "helper.py",
        r#"
import socket, sys, time

server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
server.settimeout(50)
connection, _ = server.accept()
kept = socket.recv_fds(connection, 1, 1)
connection.sendall(b"x")
time.sleep(50)
"#,
    );
    context.file(
        "give.py",
        r#"
import os, socket

client = socket.socket(socket.AF_UNIX)
client.connect("socket")
socket.send_fds(client, [b"x"], [1])
client.recv(1)
print("given")
"#,
    );
    if !works(&["python3", "-c", "import socket; socket.send_fds"]) {
        return skip("this Python can't pass descriptors");
    }
    let mut command = Command::new("python3");
    context.dress(&mut command);
    // Without the mark that processes of hostproof carry.
    let mut helper = command.arg(helper).arg("socket").env_remove("HOSTPROOF_TMPDIR").spawn().expect("the helper");
    eventually("the helper listens", || context.project().join("socket").exists());
    // A socket file is there before it listens.
    eventually("the helper listens", || {
        std::fs::read_to_string("/proc/net/unix").is_ok_and(|table| {
            table.lines().any(|line| line.ends_with(" socket") && line.split_whitespace().nth(3) == Some("00010000"))
        })
    });
    let ran = context.hp(&["run"]);
    let alive = !ends(helper.id(), std::time::Duration::ZERO);
    let line = command_line(helper.id());
    signal(helper.id(), rustix::process::Signal::KILL);
    helper.wait().expect("the helper's end");

    let check = ran.exits(1).only();
    assert_eq!((check.verdict, errors(check)), (Verdict::Leaked, vec!["held-pipe"]), "{}", ran.said());
    let [held] = of_kind(check, Kind::HeldPipe)[..] else { panic!("{}", ran.said()) };
    assert_eq!(pid(held), helper.id(), "{}", held.message);
    assert!(held.message.contains("stdout is still open"), "{}", held.message);
    assert!(alive && line.contains("helper.py"), "a stranger was ended");
    assert_eq!(check.stdout.tail, "given\n");
}

#[test]
fn checks_that_leak_at_once_are_told_apart() {
    let ids = ["one", "two", "three", "four"];
    let check = |id| {
        format!(
            r#"
- id: {id}
  cwd: sandbox
  shell: |
    for i in 1 2 3; do
      setsid sleep 50 </dev/null >/dev/null 2>&1 &
      echo $! >> "$HOSTPROOF_PROJECT/{id}.pid"
    done
    touch "$HOSTPROOF_PROJECT/{id}.up"
    for other in one two three four; do
      while [ ! -e "$HOSTPROOF_PROJECT/$other.up" ]; do sleep 0.02; done
    done
"#
        )
    };
    let checks = ids.map(check).concat();
    let context = Context::with(&checks);
    let ran = context.hp(&["run", "--jobs", "4"]);
    ran.exits(1);
    for id in ids {
        let mut named: Vec<u32> = of_kind(ran.check(id), Kind::LeakedProcess).iter().map(|f| pid(f)).collect();
        let mut left = context.pids(&format!("{id}.pid"));
        named.sort_unstable();
        left.sort_unstable();
        assert_eq!(named, left, "{id}: {}", ran.said());
        assert_ended(&left);
    }
    assert_eq!(ran.last_line(), "0/4 checks, 4 leaked");
}

#[test]
fn what_was_removed_under_a_holder_is_told_at_a_time_limit_too() {
    // The one that runs when the limit comes holds its folder by right; that one was removed over another is told.
    let context = Context::with(
        r#"
- id: stuck
  timeout: 3s
  cwd: sandbox
  shell: |
    mkdir right gone
    (cd right && exec sleep 50) &
    (cd gone && exec sleep 50) &
    until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.02; done
    rmdir gone
    wait
"#,
    );
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!((check.verdict, errors(check)), (Verdict::TimedOut, vec!["timeout"]), "{}", ran.said());
    let [held] = of_kind(check, Kind::RefusedByWindows)[..] else { panic!("{:?}", check.findings) };
    assert_eq!((held.path.as_deref(), held.severity), (Some("work/gone"), Severity::Note), "{}", held.message);
}

#[test]
fn who_cannot_say_nobody_of_what_it_cannot_see() {
    let as_another = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    if !rustix::process::geteuid().is_root() || !works(&[&as_another[..], &["true"]].concat()) {
        return skip("only root can become another user");
    }
    let context = Context::new();
    let folder = context.project().join("held");
    std::fs::create_dir(&folder).expect("a folder");
    for folder in [context.project(), &folder] {
        std::os::unix::fs::chown(folder, Some(65534), Some(65534)).expect("chown");
    }
    let program = context.file("bin/hostproof", std::fs::read(env!("CARGO_BIN_EXE_hostproof")).expect("hostproof"));
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("chmod");
    let ask = || {
        let mut command = Command::new(as_another[0]);
        context.dress(&mut command);
        command.args(&as_another[1..]).arg(&program).args(["who", "held"]);
        context.finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("setpriv"))
    };
    // Root's: it may be looked into by root alone, and holds the folder.
    let mut holder = Command::new("sleep").arg("50").current_dir(&folder).spawn().expect("sleep");
    let ran = ask();
    let by_root = context.hp(&["who", "held"]);
    holder.kill().expect("the holder's end");
    holder.wait().expect("the holder's end");
    assert!(ran.exits(3).stdout.starts_with("nobody that could be looked into holds "), "{}", ran.said());
    assert!(ran.stderr.starts_with("could not look into ") && ran.stderr.contains("; root can"), "{}", ran.said());
    assert!(by_root.exits(1).stdout.contains("held is the current directory of pid "), "{}", by_root.said());
    assert!(context.hp(&["who", "held"]).exits(0).stdout.starts_with("nobody holds "));
}

#[test]
fn what_no_check_can_be_watched_for_is_told_once() {
    // In a namespace of its own the limit concerns nobody else.
    let limited = |command: &str| {
        let script = format!("echo 0 > /proc/sys/user/max_inotify_instances && exec {command}");
        ["unshare", "--user", "--map-root-user", "sh", "-c", &script].map(str::to_owned)
    };
    if !works(&limited("true").each_ref().map(String::as_str)) {
        return skip("no user namespace can be made here");
    }
    let context = Context::with("- {id: a, shell: 'true'}\n- {id: b, shell: 'true'}\n- {id: c, shell: 'true'}");
    let run = |strict: &str| {
        let report = context.report_file();
        let program = env!("CARGO_BIN_EXE_hostproof");
        let argv = limited(&format!("{program} run --jobs 1 --report {} {strict}", report.display()));
        let mut command = Command::new(&argv[0]);
        context.dress(&mut command);
        command.args(&argv[1..]).stdout(Stdio::piped()).stderr(Stdio::piped());
        context.finish(command.spawn().expect("unshare"))
    };
    let ran = run("");
    let report = ran.exits(0).report();
    assert!(report.checks.iter().all(|check| check.findings.is_empty()), "{}", ran.said());
    // From such a namespace other processes can't be looked into, which is told, too.
    let removals = report.findings.iter().filter(|finding| finding.message.contains("removals"));
    let [blind] = removals.collect::<Vec<_>>()[..] else { panic!("{:?}", report.findings) };
    assert_eq!((blind.kind, blind.severity), (Kind::ProbeBlind, Severity::Warning));
    assert!(blind.message.contains("removals during the run: "), "{}", blind.message);
    assert!(blind.message.ends_with(" (in a and 2 more checks)"), "{}", blind.message);
    assert!(blind.remedy.as_deref().is_some_and(|remedy| remedy.contains("fs.inotify.max_user_instances")));
    assert_eq!(ran.stdout.matches("removals during the run").count(), 1, "{}", ran.stdout);
    run("--strict").exits(3);
}

#[test]
fn a_mount_point_is_held_by_what_is_mounted() {
    let context = Context::new();
    let ran = context.hp(&["who", "/proc", "--json"]);
    let said: serde_json::Value = serde_json::from_str(&ran.exits(1).stdout).expect("JSON");
    assert_eq!(said["mounts"][0], "/proc", "{}", ran.said());
    let ran = context.hp(&["who", "/proc"]);
    assert!(ran.exits(1).stdout.contains("/proc is a mount point\n"), "{}", ran.said());
}

#[test]
fn what_is_allowed_of_many_covers_those_alone() {
    let many = |id: &str, last: &str, matches: &str| {
        format!(
            r#"
- id: {id}
  grace: 0s
  shell: |
    cd /
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
      sleep 50 </dev/null >/dev/null 2>&1 &
      until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.02; done
    done
    sleep {last} </dev/null >/dev/null 2>&1 &
    until [ "$(cat /proc/$!/comm)" = sleep ]; do sleep 0.02; done
  allow: [{{kind: leaked-process{matches}, because: they warm a cache}}]
"#
        )
    };
    let checks = many("meant", "50", ", match: sleep 50") + &many("other", "51", ", match: 'sleep 50|more like these'");
    let context = Context::with(&checks);
    let ran = context.hp(&["run", "--jobs", "2"]);
    ran.exits(1);
    let (meant, other) = (ran.check("meant"), ran.check("other"));
    assert_eq!((meant.verdict, of_kind(meant, Kind::LeakedProcess).len()), (Verdict::Passed, 25), "{}", ran.said());
    assert_eq!((other.verdict, errors(other)), (Verdict::Leaked, vec!["leaked-process"]), "{}", ran.said());
    assert_eq!(of_kind(other, Kind::LeakedProcess).len(), 25);
}
