//! `faults`: system calls that fail, or take their time, when they are asked to.

use std::time::Duration;

use hostproof::model::{Kind, Verdict};

use crate::context::{Context, Ran, errors, of_kind};

/// Runs a Python script in an empty folder under faults.
fn run(faults: &str, script: &str) -> Ran {
    let context = Context::new();
    context.file("script.py", format!("import errno, os, signal, subprocess, sys, time\n{script}"));
    context.checks(&format!("- {{id: a, cwd: sandbox, run: [python3, $project/script.py], faults: [{faults}]}}"));
    context.hp(&["run"])
}

/// What tells a script which error a call failed with.
const FAILS: &str = "
def fails(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]
    return None
";

#[track_caller]
fn assert_holds(faults: &str, script: &str) {
    let ran = run(faults, &format!("{FAILS}{script}"));
    let check = ran.only();
    assert_eq!(
        (check.verdict, errors(check).len()),
        (Verdict::Passed, 0),
        "{script}\n{}\n{}",
        ran.said(),
        check.stderr.tail
    );
}

#[test]
fn the_call_that_is_asked_for_fails_and_no_other() {
    assert_holds(
        "{call: rename, path: '*.pid', nth: 2, errno: EIO}",
        "for name in 'abcd': open(name, 'w').close()\n\
         assert fails(os.rename, 'none', 'x.pid') == 'ENOENT'\n\
         assert fails(os.rename, 'a', 'b') is None\n\
         assert fails(os.rename, 'b', 'x.pid') is None\n\
         assert fails(os.replace, 'c', 'x.pid') == 'EIO'\n\
         assert fails(os.replace, 'c', 'x.pid') is None\n\
         assert fails(os.rename, 'x.pid', 'y') is None\n",
    );
    assert_holds(
        "{call: open, path: state/*.json, errno: EACCES}, {call: open, path: log, nth: all, errno: EMFILE}",
        "os.mkdir('state')\n\
         assert fails(open, 'state/a.json', 'w') == 'EACCES'\n\
         assert fails(open, 'state/a.json', 'w') is None\n\
         assert fails(open, 'a.json', 'w') is None\n\
         for _ in range(3): assert fails(open, os.path.abspath('log')) == 'EMFILE'\n",
    );
    assert_holds(
        "{call: unlink, path: $sandbox/work/lock, errno: EPERM}",
        "open('lock', 'w').close()\n\
         assert fails(os.unlink, 'lock') == 'EPERM' and os.path.exists('lock')\n\
         assert fails(os.unlink, 'lock') is None and not os.path.exists('lock')\n",
    );
    assert_holds(
        "{call: write, path: log, nth: 2, errno: ENOSPC}",
        "log = open('log', 'wb', buffering=0)\n\
         assert fails(log.write, b'one') is None\n\
         assert fails(log.write, b'two') == 'ENOSPC'\n\
         assert fails(os.writev, log.fileno(), [b'th', b'ree']) is None\n\
         assert open('log').read() == 'onethree'\n",
    );
    assert_holds(
        "{call: kill, path: '*sleep*', errno: EPERM}",
        "child = subprocess.Popen(['sleep', '60'])\n\
         while 'sleep' not in os.readlink('/proc/%d/exe' % child.pid): pass\n\
         assert fails(os.kill, os.getpid(), 0) is None\n\
         assert fails(os.kill, child.pid, signal.SIGTERM) == 'EPERM'\n\
         assert fails(os.kill, child.pid, signal.SIGTERM) is None\n\
         child.wait()\n",
    );
    assert_holds(
        "{call: exec, path: 'true', nth: 2, errno: E2BIG}",
        // By name, it would be looked for in the next folder of PATH.
        "import shutil\ntrue = shutil.which('true')\n\
         assert fails(subprocess.run, [true]) is None\n\
         assert fails(subprocess.run, [true]) == 'E2BIG'\n\
         assert fails(subprocess.run, [true]) is None\n",
    );
}

#[test]
fn calls_are_counted_over_the_whole_tree() {
    assert_holds(
        "{call: rename, path: done, nth: 3, errno: EXDEV}",
        "for n in range(4):\n\
        \x20 code = 'import os; open(\"x\", \"w\").close(); os.rename(\"x\", \"done\")'\n\
        \x20 failed = subprocess.run([sys.executable, '-c', code], stderr=subprocess.DEVNULL).returncode\n\
        \x20 assert bool(failed) == (n == 2), (n, failed)\n",
    );
}

#[test]
fn a_call_that_fails_by_itself_is_not_counted() {
    assert_holds(
        "{call: rename, path: b, errno: EIO}",
        // `mv` first asks for a rename that replaces nothing, and takes any failure of that for a sign that something is there.
        "for name in 'ab': open(name, 'w').close()\n\
         assert subprocess.run(['mv', '-f', 'a', 'b']).returncode == 1\n\
         assert subprocess.run(['mv', '-f', 'a', 'b']).returncode == 0\n",
    );
    assert_holds(
        "{call: unlink, path: a, errno: EIO}",
        "os.mkdir('a')\n\
         assert fails(os.unlink, 'a') == 'EISDIR'\n\
         os.rmdir('a'); open('a', 'w').close()\n\
         assert fails(os.unlink, 'a') == 'EIO'\n",
    );
    assert_holds(
        "{call: link, path: b, errno: EIO}",
        "for name in 'ab': open(name, 'w').close()\n\
         assert fails(os.link, 'a', 'b') == 'EEXIST'\n\
         assert fails(os.link, 'none', 'b') in ('ENOENT', 'EEXIST')\n\
         os.unlink('b')\n\
         assert fails(os.link, 'none', 'b') == 'ENOENT'\n\
         assert fails(os.link, 'a', 'b') == 'EIO'\n",
    );
}

#[test]
fn a_name_that_is_made_by_a_link_can_fail() {
    assert_holds(
        "{call: link, path: x.pid, nth: all, errno: EPERM}, {call: link, path: $sandbox/work/own, errno: EIO}",
        "for name in ('a', 'own'): open(name, 'w').close()\n\
         here = os.open('.', os.O_RDONLY)\n\
         assert fails(os.link, 'a', 'x.pid') == 'EPERM'\n\
         assert fails(lambda: os.link('a', 'x.pid', src_dir_fd=here, dst_dir_fd=here)) == 'EPERM'\n\
         assert fails(os.symlink, 'a', 'x.pid') == 'EPERM'\n\
         assert fails(lambda: os.symlink('nowhere', 'x.pid', dir_fd=here)) == 'EPERM'\n\
         assert fails(os.symlink, 'x.pid', 'b') is None\n\
         assert fails(os.link, 'own', 'c') == 'EIO'\n\
         assert fails(os.link, 'own', 'c') is None\n",
    );
}

#[test]
fn a_file_is_opened_by_a_link_to_it_too() {
    assert_holds(
        "{call: open, path: real/f, nth: all, errno: EIO}, {call: open, path: loop, errno: EMFILE}",
        "os.mkdir('real'); os.symlink('real', 'folder'); os.symlink('folder/f', 'file'); os.symlink('loop', 'loop')\n\
         for name in ('real/f', 'folder/f', 'file'): assert fails(open, name, 'w') == 'EIO', name\n\
         assert fails(open, 'loop') == 'EMFILE'\n\
         assert fails(open, 'loop') == 'ELOOP'\n",
    );
}

#[test]
fn what_the_system_copies_is_written_and_what_it_queues_is_a_signal() {
    for copy in [
        "os.sendfile(to, os.open('from', os.O_RDONLY), 0, 4)",
        "os.copy_file_range(os.open('from', os.O_RDONLY), to, 4)",
        "os.splice(pipe(), to, 4)",
    ] {
        assert_holds(
            "{call: write, path: to, errno: ENOSPC}",
            &format!(
                "with open('from', 'w') as file: file.write('text')\n\
                 to = os.open('to', os.O_WRONLY | os.O_CREAT)\n\
                 def pipe():\n\
                 \x20 ends = os.pipe(); os.write(ends[1], b'text'); return ends[0]\n\
                 if hasattr(os, 'splice') or 'splice' not in {copy:?}:\n\
                 \x20 assert fails(lambda: {copy}) == 'ENOSPC'\n\
                 \x20 assert fails(lambda: {copy}) is None and os.path.getsize('to') == 4\n\
                 else: assert fails(os.write, to, b'text') == 'ENOSPC'\n"
            ),
        );
    }
    assert_holds(
        "{call: kill, path: '*sleep*', errno: EPERM}",
        "child = subprocess.Popen(['sleep', '60'])\n\
         while 'sleep' not in os.readlink('/proc/%d/exe' % child.pid): pass\n\
         import ctypes; libc = ctypes.CDLL(None, use_errno=True)\n\
         def queue():\n\
         \x20 if libc.sigqueue(child.pid, signal.SIGTERM, ctypes.c_void_p(0)): raise OSError(ctypes.get_errno(), '')\n\
         assert fails(queue) == 'EPERM'\n\
         assert fails(queue) is None\n\
         child.wait()\n",
    );
}

#[test]
fn a_group_is_known_by_its_leader() {
    assert_holds(
        "{call: kill, path: '*sleep*', errno: EPERM}",
        "child = subprocess.Popen(['sleep', '60'], start_new_session=True)\n\
         while 'sleep' not in os.readlink('/proc/%d/exe' % child.pid): pass\n\
         assert fails(os.killpg, os.getpgid(0), 0) is None\n\
         assert fails(os.killpg, child.pid, signal.SIGTERM) == 'EPERM'\n\
         assert fails(os.killpg, child.pid, signal.SIGTERM) is None\n\
         child.wait()\n",
    );
}

#[test]
fn what_is_made_is_told() {
    let ran = run(
        "{call: rename, path: '*.pid', errno: EIO}",
        "open('a', 'w').close()\ntry: os.rename('a', 'x.pid')\nexcept OSError: pass\n",
    );
    let notes = &ran.exits(0).only().notes;
    assert!(
        notes
            .iter()
            .any(|note| note.starts_with("the 1st rename of *.pid failed with EIO, as asked for: work/x.pid by pid ")),
        "{notes:?}"
    );
}

#[test]
fn a_fault_that_was_never_made_proves_nothing() {
    for (faults, script, told) in [
        (
            "{call: rename, path: '*.pid', errno: EIO}",
            "",
            "the 1st rename of *.pid never failed with EIO: no rename of *.pid was seen",
        ),
        (
            "{call: unlink, path: a, nth: 2, delay: 10ms}",
            "open('a', 'w').close(); os.unlink('a')\n",
            "the 2nd unlink of a was never delayed by 10ms: only 1 call of it was seen",
        ),
    ] {
        let ran = run(faults, script);
        let check = ran.exits(1).only();
        assert_eq!((check.verdict, errors(check)), (Verdict::Failed, vec!["idle-fault"]), "{}", ran.said());
        assert_eq!(of_kind(check, Kind::IdleFault)[0].message, told);
    }
}

#[test]
fn who_is_delayed_waits_and_nobody_else_does() {
    let ran = run(
        "{call: open, path: slow, delay: 1500ms}",
        "began = time.monotonic()\n\
         child = subprocess.Popen([sys.executable, '-c', 'open(\"slow\", \"w\")'])\n\
         quick = 0\n\
         while child.poll() is None:\n\
        \x20 open('quick', 'w').close(); os.unlink('quick'); quick += 1\n\
         took = time.monotonic() - began\n\
         assert took >= 1.5, took\n\
         assert quick > 100, quick\n",
    );
    assert_eq!(ran.exits(0).only().findings, [], "{}", ran.only().stderr.tail);
    // What is ended while it waits keeps nobody waiting.
    let ran = run(
        "{call: open, path: slow, delay: 9m}",
        "subprocess.run([sys.executable, '-c', 'open(\"slow\")'], timeout=1)\n",
    );
    assert!(
        ran.only().duration_ms < u64::try_from(Duration::from_secs(60).as_millis()).expect("a number"),
        "{}",
        ran.said()
    );
    assert_eq!(ran.only().verdict, Verdict::Failed);
}

#[test]
fn faults_go_with_windows_rules_and_with_published_files() {
    let context = Context::new();
    context.file(
        "script.py",
        "import os, subprocess, tempfile\nos.mkdir('state')\nopen('d', 'w').close()\n\
         try: os.replace('d', 'state/a.json')\nexcept OSError as error: print(error.errno)\n\
         os.replace('d', 'state/a.json')\n\
         with tempfile.TemporaryDirectory() as folder:\n  child = subprocess.Popen(['sleep', '60'], cwd=folder)\n",
    );
    context.checks(
        "- {id: a, as: windows, cwd: sandbox, run: [python3, $project/script.py], publishes: ['state/*.json'],\n   \
         faults: [{call: rename, path: a.json, errno: EIO}], forbid: [tmux]}",
    );
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!(check.stdout.tail, "5\n");
    assert_eq!(errors(check)[0], "refused-by-windows", "{}", ran.said());
    assert!(!errors(check).contains(&"torn-publish") && !errors(check).contains(&"idle-fault"), "{}", ran.said());
}

#[test]
fn where_the_filter_can_not_be_had_the_check_is_not_green() {
    let inner = Context::with(
        "- {id: a, cwd: sandbox, shell: 'echo > a; mv a b', faults: [{call: rename, path: b, errno: EIO}]}",
    );
    let mut outer = Context::new();
    outer.env("INNER", inner.project().join("checks.d"));
    outer.checks(
        "- {id: outer, as: windows, inherit: [INNER], cwd: sandbox, expect: {exit: 1}, shell: '\"$HOSTPROOF\" run --manifests \"$INNER\"'}",
    );
    let ran = outer.hp(&["run"]);
    let said = &ran.only().stdout.tail;
    assert!(said.contains("faults: none could be made: another listener is in place"), "{said}");
    assert_eq!(ran.only().verdict, Verdict::Passed, "{}", ran.said());
}

#[test]
fn a_hooks_calls_fail_too() {
    let context = Context::new();
    context.stop_hook("cd \"$HOSTPROOF_SANDBOX\"; echo > a; mv a b 2>/dev/null && exit 0; exit 2\n");
    context.manifest(
        "hook.yaml",
        "version: 1\nchecks:\n- id: hook\n  hook: {file: .claude/settings.json}\n  \
         events: [{expect: block}, {expect: block}]\n  faults: [{call: rename, path: b, errno: EIO}]",
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).only().findings, [], "{}", ran.said());
}

#[test]
fn what_is_no_fault_is_refused() {
    for (fault, why) in [
        ("{call: rename, path: a, errno: EOI}", "did you mean `EIO`?"),
        ("{call: rename, path: a, errno: 5}", "write its name, as `EIO`"),
        ("{call: renames, path: a, errno: EIO}", "renames"),
        ("{call: rename, errno: EIO}", "`path` is missing"),
        ("{call: rename, path: a}", "`errno` is missing"),
        ("{call: rename, path: a, errno: EIO, delay: 1s}", "both `errno` and `delay`"),
        ("{path: a, errno: EIO}", "`call` is missing"),
        ("{call: open, path: a, nth: 0, errno: EIO}", "a number from 1 on, or `all`"),
        ("{call: open, path: 'a[', errno: EIO}", "is not a glob"),
    ] {
        let context = Context::with(&format!("- {{id: a, run: ['true'], faults: [{fault}]}}"));
        let ran = context.hp(&["lint"]);
        assert!(ran.exits(2).stderr.contains(why), "{fault}: {}", ran.said());
    }
}
