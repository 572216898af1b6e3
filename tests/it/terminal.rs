//! The whole of what a person sees.

use insta::assert_snapshot;

use crate::context::{Context, Ran};

/// Cases as unittest tells them.
const BOARD: &str = "
import unittest


class BoardTest(unittest.TestCase):
    def test_add(self):
        self.assertEqual(1 + 1, 2)

    def test_drift(self):
        self.assertEqual(ANSWER, 'drift')


unittest.main(verbosity=2)
";

fn board(answer: &str) -> String {
    BOARD.replace("ANSWER", &format!("'{answer}'"))
}

#[test]
fn a_green_run() {
    let context = Context::proving(
        r"
- {id: board, run: [python3, test_board.py], expect: {cases: 2}}
- {id: guard/lock, shell: 'echo ok', reader: none}
- {id: registry, shell: 'exit 0', platforms: [windows]}
",
    );
    context.file("test_board.py", board("drift"));
    let ran = context.hp(&["run", "--jobs", "1"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 0
    --- stdout
    hostproof [version]  host [system]  3 checks, 1 lane

     skip  registry            -        -  runs on windows only
     ok    board             2/2  [time]
     ok    guard/lock          -  [time]

    2/2 cases, 2/3 checks, 1 check skipped
    --- stderr
    "#);
}

#[test]
fn a_red_case() {
    let context = Context::proving("- {id: board, run: [python3, test_board.py], expect: {cases: 5}}");
    context.file("test_board.py", board("none"));
    let ran = context.hp(&["run"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 1
    --- stdout
    hostproof [version]  host [system]  1 check, 1 lane

     RED   board        2/5  [time]  1 failed

    RED board    test_board.py:10 in test_drift
        AssertionError: 'none' != 'drift'
           10 |         self.assertEqual('none', 'drift')
        2 of 5 expected cases ran, 3 never did
        more   hostproof explain short-count
        again  hostproof run board --keep failed
        hand   cd [project] && python3 test_board.py

    2/5 cases, 0/1 checks, 1 failed, 3 never ran
    --- stderr
    "#);
}

#[test]
fn the_story() {
    let context =
        Context::proving("- {id: sweep, run: [python3, fixtures/sweep/unmended/test_sweep.py], expect: {cases: 57}}");
    context.copy("fixtures/sweep/unmended");
    context.copy("fixtures/sweep/common");
    let ran = context.hp(&["run"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 1
    --- stdout
    hostproof [version]  host [system]  1 check, 1 lane

     RED   sweep      57/57  [time]  left a held directory behind

    RED sweep
        tmp/tmp[random] is the current directory of pid [pid] (python3 …/unmended/hooks/sweep_detached.py [project]/fixtures/sweep/unmended hooks/sweep.py), though it was already removed
            it was alive after the grace (own session, no pipe held); started  [time] after the check began; during suite.DetachTest.test_detached_launch
        mend   give the detached child a cwd that outlives the test (cwd=… where it is started)     hostproof explain held-directory
        mend   end it in the test that starts it, and wait for it     hostproof explain leaked-process
        again  hostproof run sweep --keep failed
        hand   cd [project] && python3 fixtures/sweep/unmended/test_sweep.py

    57/57 cases, 0/1 checks, 1 leaked
    --- stderr
    "#);
}

#[test]
fn a_time_limit() {
    let context = Context::with("- {id: slow, timeout: 1s, run: [sleep, '50']}");
    let ran = context.hp(&["run"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 1
    --- stdout
    hostproof [version]  host [system]  1 check, 1 lane

     RED   slow          -  [time]  ended at its time limit

    RED slow
        ended at the time limit of 1s: pid [pid] (sleep 50) was sleeping, waiting for time to pass (sleep)
        mend   find what it waits for, or give it more: timeout     hostproof explain timeout
        again  hostproof run slow --keep failed
        hand   cd [project] && sleep 50

    0/1 checks, 1 timed out
    --- stderr
    "#);
}

#[test]
fn a_check_that_cannot_start() {
    let context = Context::with("- {id: moved, run: [./hooks/moved.sh]}");
    let ran = context.hp(&["run"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 1
    --- stdout
    hostproof [version]  host [system]  1 check, 1 lane

     RED   moved          -        -  ./hooks/moved.sh is not there: looked in [project]

    RED moved
        ./hooks/moved.sh is not there: looked in [project]
        again  hostproof run moved --keep failed

    0/1 checks, 1 broken
    --- stderr
    "#);
}

#[test]
fn a_failure_without_a_frame_shows_its_last_words() {
    let context = Context::with(
        "- {id: words, shell: 'for i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; done; echo no board here >&2; exit 7'}",
    );
    let ran = context.hp(&["run"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 1
    --- stdout
    hostproof [version]  host [system]  1 check, 1 lane

     RED   words          -  [time]  exit status 7, expected 0

    RED words
        exit status 7, expected 0
        |  no board here
        more   hostproof explain unmet
        again  hostproof run words --keep failed
        hand   cd [project] && sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; done; echo no board here >&2; exit 7'

    0/1 checks
    --- stderr
    "#);
}

#[test]
fn what_is_late_or_allowed_is_a_remark() {
    let context = Context::with(
        r"
- id: allowed
  grace: 0s
  shell: |
    (cd / && exec sleep 50) </dev/null >/dev/null 2>&1 &
    until grep -q sleep /proc/$!/comm; do sleep 0.02; done
  allow: [{kind: leaked-process, match: sleep, because: started once per login}]
- id: late
  grace: 50s
  shell: |
    (cd / && exec sleep 2) &
    until grep -q sleep /proc/$!/comm; do sleep 0.02; done
",
    );
    let ran = context.hp(&["run", "--jobs", "1", "--verbose"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 0
    --- stdout
    hostproof [version]  host [system]  2 checks, 1 lane

     ok    allowed          -  [time]  leaked-process allowed: started once per login
     ok    late             -  [time]  sleep ended [ms] ms after it

    ok allowed
        pid [pid] (sleep 50) was alive after the grace (no pipe held) (allowed: started once per login)
            started  [time] after the check began

    ok late
        pid [pid] (sleep 2) ended  [time] after the check; meanwhile stdout was held open by it, stderr was held open by it (note)

    2/2 checks
    --- stderr
    "#);
}

#[test]
fn a_manifest_with_errors() {
    let context = Context::new();
    context
        .manifest("a.yaml", "version: 1\nchecks:\n  - id: sweep\n    run: [python3, test_sweep.py]\n    tiemout: 5m\n");
    context.manifest("b.yaml", "version: 1\nchecks:\n  - {id: sweep, run: [x]}\n");
    let ran = context.hp(&["run"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 2
    --- stdout
    --- stderr
    hostproof: error: unknown key `tiemout`
     --> checks.d/a.yaml:5:5
      |
    5 |     tiemout: 5m
      |     ^^^^^^^ not known here
      |
      = help: did you mean `timeout`?
      = help: known here: id, title, run, shell, interpreter, hook, events, cwd, files, home, env, inherit, stdin, timeout, grace, reader, expect, allow, eventually, breaks, publishes, forbid, plant, faults, watch, unchanged, as, copies, repeat, retries, matrix, vary, platforms, hosts, linux, windows, macos, needs, covers, lock, tags

    error: the id `sweep` is taken
     --> checks.d/b.yaml:3:10
      |
    3 |   - {id: sweep, run: [x]}
      |          ^^^^^ again
      |
     ::: checks.d/a.yaml:3:9
      |
    3 |   - id: sweep
      |         ----- first
      |
      = help: give each check an id of its own, over all files

    2 errors in 2 files
    "#);
}

#[test]
fn a_list() {
    let context = Context::with(
        r"
- {id: sweep, title: board-drift sweep hook, tags: [hooks, slow], run: [x]}
- {id: guard/spawn-lock, run: [x]}
- {id: registry, title: the registry, platforms: [windows], run: [x]}
",
    );
    let ran = context.hp(&["list"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 0
    --- stdout
    sweep             board-drift sweep hook  [hooks, slow]
    guard/spawn-lock
    registry          the registry  (runs on windows only)
    --- stderr
    "#);
    let ran = context.hp(&["list", "--json", "sweep"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 0
    --- stdout
    [
      {
        "id": "sweep",
        "origin": "checks.d/checks.yaml:4",
        "skip": null,
        "tags": [
          "hooks",
          "slow"
        ],
        "title": "board-drift sweep hook"
      }
    ]
    --- stderr
    "#);
}

#[test]
fn the_kinds_and_one_of_them() {
    let context = Context::new();
    assert_snapshot!(context.shown(&context.hp(&["explain"])), @r#"
    exit 0
    --- stdout
    depends-on          The check passes as it is, and one variant of it does not: what was changed for that variant matters.
    collision           The check passes alone, and not beside itself: of several copies that started at the same moment, some are red.
    flaky               The check ran several times, and not all runs came to the same: some are red.
    timeout             The check was not over at its time limit, and was ended with every process of its tree.
    toothless           An edit that the manifest names under `breaks` did not turn the check red, or turned it red for something else than it says.
    refused-by-windows  A directory or file was removed or renamed in a way that Windows refuses.
    forbidden-command   Something of the check called a program that the manifest forbids it.
    unmet               The exit status, or a text in stdout or stderr, is not what the manifest expects.
    short-count         Fewer cases ran than the check's own runner announced, or than the manifest expects.
    long-count          More cases ran than the manifest expects.
    skipped-cases       More cases were skipped than the manifest allows.
    no-proof            The check's command ended with status 0, and nothing in its output shows that a test ran.
    idle-fault          A fault that the manifest asks for was never made: the check made no such call, or fewer than `nth` says.
    torn-publish        A file that the manifest names under `publishes` did not appear whole, by a rename.
    illegal-name        A file or folder has a name that another system cannot have, or two of one folder have names that are one name there.
    held-directory      A process that outlives the check has a directory of the sandbox as its current directory, or has it open.
    held-file           A process that outlives the check has a file of the sandbox open, mapped into memory, or runs it as its program.
    held-pipe           After the check's end and its grace, a process still has the check's stdout or stderr open.
    leaked-process      A process that the check started is alive after the check's end and its grace (1 s unless the check sets `grace`).
    survivor            A process of the check could not be killed.
    residue             The check left something outside its sandbox, or something in its sandbox that cannot be removed.
    late-exit           A note: a process of the check outlived it, and ended by itself within the grace (1 s unless the check sets `grace`).
    probe-blind         A warning: a probe could not look where it should have.

    of wired hooks:
    script-missing      A file that a wired command runs is not in the project.
    not-executable      A file that is started by itself may not be executed.
    carriage-returns    A script has Windows line ends, which its interpreter takes for text.
    byte-order-mark     A script begins with a byte order mark.
    needs-shell         A command with `args` is one that Windows can start only through a shell.
    bad-matcher         A matcher is no regular expression.
    unknown-event       The host has no event of that name, as far as is known here.
    disabled            The file that wires the command switches all of its hooks off.
    unquoted-variable   A path in the command is not quoted.
    exit-status         A script ends with status 1 and nowhere with 2, where only 2 refuses.
    odd-limit           A time limit looks like one in another unit.
    short-limit         A time limit is shorter than what a check that covers the command took.
    duplicate           The same command is wired twice for one event.

    of sources, by lint --code:
    slash-path          A path of the system is compared with a text that has slashes, or split at them.
    slash-join          A path is built by joining texts with a slash.
    detached-cwd        A process is started to live on after the hook, and nothing says in which folder.
    session-only        A process is started in a session of its own and keeps the hook's standard output.
    background-output   Something is sent into the background and keeps the hook's standard output; in `[…] && (…) >/dev/null &` the shell around it does.
    detached-window     A process is started with `DETACHED_PROCESS`, alone or together with `CREATE_NO_WINDOW`.
    posix-only          A module, a function, a signal or a flag that only POSIX systems have, where nothing asks for the system first.
    kill-zero           `os.kill(pid, 0)` asks whether a process is alive, where nothing asks for the system first.
    tmp-literal         A file below `/tmp` is named outright.
    no-encoding         A text file is opened, or a program's output read as text, and nothing says in which encoding.
    rename-over         A new version of a file is put in its place by `os.rename`, or an old one put aside under a name that is always the same.
    in-place-write      A file of state that another process reads (by its name: state, cache, status, heartbeat, lock, pid file, or written by a function that publishes) is written in place.
    by-name             Processes are found, counted or ended by their name.
    posix-shell         A command is given to the system's shell in a form that only a POSIX shell understands: single quotes, $NAME, $(…), /dev/null, `;` between commands, NAME=value before one, `|| true`.
    ignored-cleanup     `TemporaryDirectory(ignore_cleanup_errors=True)`, or `rmtree` with `ignore_errors` of a folder in which something was started, where nothing in the same function waits for a process or ends one.
    code-page           A text is printed that has letters which Windows' code page 1252 has not.
    idle-allow          A comment `hostproof: allow …` has no reason, names a kind that there is not, or silences nothing.
    --- stderr
    "#);
    assert_snapshot!(context.shown(&context.hp(&["explain", "held-pipe"])), @r#"
    exit 0
    --- stdout
    # held-pipe

    After the check's end and its grace, a process still has the check's stdout or
    stderr open.

    ## Why a host cares

    Hosts read a hook's output to its end, and the end comes when the last process
    that can write to it is gone, not when the hook exits. A hook that starts a
    background process with its own stdout makes the host hang until that process
    ends. The host's time limit often does not help: it ends the hook, which has
    already ended, and goes on reading.

    ## How to mend it

    Give what goes on in the background none of the three streams:

        sh       worker </dev/null >/dev/null 2>&1 &
        Python   subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        node     spawn(cmd, args, {detached: true, stdio: 'ignore'}).unref()

    `nohup` alone does not do it: it redirects a terminal, never a pipe. If the
    output is wanted, send it to a log file outside of every temporary directory.

    ## Example

        held-pipe  stdout and stderr are held open by pid [pid]
            sleep 600

    ## When it is meant

    Hardly ever, since hosts hang whatever the reason. For a check of a program
    that is no hook:

        allow:
          - {kind: held-pipe, match: keep-awake, because: "no host reads this"}
    --- stderr
    "#);
    assert_snapshot!(context.shown(&context.hp(&["explain", "held-pip"])), @r#"
    exit 2
    --- stdout
    --- stderr
    hostproof: there is no kind of finding called held-pip; did you mean held-pipe?
    "#);
}

#[test]
fn one_command() {
    let context = Context::new();
    let ran = context.hp(&["try", "--", "sh", "-c", "echo done"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 0
    --- stdout
    hostproof [version]  host [system]  1 check, 1 lane

     ok    try          -  [time]  exit status 0, and nothing in the output shows that a test ran

    1/1 checks
    --- stderr
    "#);
    let ran = context.hp(&["try", "--grace", "100ms", "--cwd", "sandbox", "--", "sleep", "0"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 0
    --- stdout
    hostproof [version]  host [system]  1 check, 1 lane

     ok    try          -  [time]  exit status 0, and nothing in the output shows that a test ran

    1/1 checks
    --- stderr
    "#);
    let ran = context.hp(&["try", "--", "false"]);
    assert_snapshot!(context.shown(&ran), @r#"
    exit 1
    --- stdout
    hostproof [version]  host [system]  1 check, 1 lane

     RED   try          -  [time]  exit status 1, expected 0

    RED try
        exit status 1, expected 0
        more   hostproof explain unmet
        hand   cd [project] && false

    0/1 checks
    --- stderr
    "#);
}

#[test]
fn only_ascii_where_the_locale_has_no_more() {
    let mut context = Context::with("- {id: grün, run: [x]}");
    // An id has no such letters, and the refusal shows them.
    context.env("LANG", "C").env("LC_ALL", "C");
    let refused = context.hp(&["list"]);
    assert!(refused.exits(2).stderr.is_ascii(), "{}", refused.stderr);

    context.checks(
        r"
- id: path
  title: größe – “prüfen” …
  grace: 0s
  cwd: sandbox
  shell: |
    mkdir größe
    cd größe
    sleep 50 </dev/null >/dev/null 2>&1 &
    until grep -q sleep /proc/$!/comm; do sleep 0.02; done
- {id: error, reader: auto, run: [python3, test_error.py]}
- {id: words, shell: 'echo größe; exit 1'}
- {id: missing, run: [größe]}
",
    );
    context.file("test_error.py", board("größe"));
    for arguments in [&["run"][..], &["run", "--verbose"], &["list"], &["explain"], &["explain", "held-directory"]] {
        let ran = context.hp(arguments);
        assert!(ran.stdout.is_ascii() && ran.stderr.is_ascii(), "{arguments:?}: {}", ran.said());
    }
    assert!(context.hp(&["run", "words"]).stdout.contains("gr\\u{f6}\\u{df}e"));
    assert!(context.hp(&["list"]).stdout.contains("gr\\u{f6}\\u{df}e - \"pr\\u{fc}fen\" ..."));
    // In another locale they are shown as they are.
    context.env("LC_ALL", "C.UTF-8");
    assert!(context.hp(&["run", "words"]).stdout.contains("|  größe"));
    assert!(context.hp(&["list"]).stdout.contains("größe – “prüfen” …"));
}

/// Runs a command on a terminal of its own, and copies what it shows.
const ON_TERMINAL: &str = r"
import os, pty, sys

def read(descriptor):
    return os.read(descriptor, 65536)

sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:], read)))
";

#[test]
fn colours_are_for_terminals_that_want_them() {
    let mut context = Context::with("- {id: good, shell: 'true'}\n- {id: bad, shell: 'exit 1'}");
    let plain = context.hp(&["run"]);
    assert!(!plain.stdout.contains('\u{1b}') && !plain.stderr.contains('\u{1b}'), "{}", plain.said());

    let on_terminal = |context: &Context| {
        let mut command = std::process::Command::new("python3");
        context.dress(&mut command);
        command.args(["-c", ON_TERMINAL, env!("CARGO_BIN_EXE_hostproof"), "run"]);
        let ran = context.finish(command.stdout(std::process::Stdio::piped()).spawn().expect("python3"));
        context.assert_nothing_left();
        ran
    };
    context.env("TERM", "xterm-256color");
    let ran = on_terminal(&context);
    assert!(ran.exits(1).stdout.contains("\u{1b}[1mbad\u{1b}[0m"), "{:?}", ran.stdout);
    let colours = regex::Regex::new(r"\x1b\[[0-9;]*m").expect("an expression");
    // A place in the project is a link, with colours.
    context.checks("- {id: bad, reader: auto, run: [python3, test_board.py]}");
    context.file("test_board.py", board("none"));
    let project = std::fs::canonicalize(context.project()).expect("the project");
    let link = format!(
        "\u{1b}]8;;file://{}/test_board.py\u{1b}\\test_board.py:10 in test_drift\u{1b}]8;;\u{1b}\\",
        project.display()
    );
    let ran = on_terminal(&context);
    assert!(ran.exits(1).stdout.contains(&link), "{:?}", ran.stdout);
    context.env("FORCE_HYPERLINK", "0");
    assert!(!on_terminal(&context).stdout.contains("\u{1b}]8"));
    context.env("FORCE_HYPERLINK", "");
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        context.env("TERM", "xterm-256color").env("NO_COLOR", "").env(name, value);
        let ran = on_terminal(&context);
        assert!(ran.exits(1).stdout.contains("RED bad"), "{name}: {:?}", ran.stdout);
        // Progress is no colour, and moves the cursor where that can be moved.
        assert!(!colours.is_match(&ran.stdout), "{name}: {:?}", ran.stdout);
        assert!(name != "TERM" || !ran.stdout.contains('\u{1b}'), "{name}: {:?}", ran.stdout);
    }
}

#[test]
fn what_runs_it_again_has_all_that_it_ran_with() {
    let context = Context::new();
    context.file("event.json", "{}");
    context.manifest(
        "../other/checks.yaml",
        "version: 1\nchecks:\n  - {id: fed, reader: none, stdin: event.json, env: {MODE: a b, AT: $project/x, LANG: null}, run: ['false']}\n",
    );
    let ran = context.hp(&["run", "--manifests", "other"]);
    let project = std::fs::canonicalize(context.project()).expect("the project");
    let project = project.display();
    let again = "again  hostproof run fed --manifests other --keep failed\n";
    assert!(ran.exits(1).stdout.contains(again), "{}", ran.stdout);
    let hand = format!("&& env -u LANG AT={project}/x 'MODE=a b' false < {project}/event.json\n");
    assert!(ran.stdout.contains(&hand), "{}", ran.stdout);
}

#[test]
fn half_a_kind_is_taken_for_what_begins_like_it() {
    let ran = Context::new().hp(&["explain", "held-dir"]);
    assert!(ran.exits(2).stderr.ends_with("did you mean held-directory?\n"), "{}", ran.stderr);
}

#[test]
fn a_signal_is_called_by_its_name() {
    let context = Context::with("- {id: crash, shell: 'kill -SEGV $$'}");
    let ran = context.hp(&["run"]);
    assert!(ran.exits(1).stdout.contains("ended by signal 11 (SIGSEGV), expected"), "{}", ran.stdout);
}

#[test]
fn what_needs_its_sandbox_is_not_told_how_to_run_by_hand() {
    let context = Context::with(
        r"
- {id: filled, cwd: sandbox, files: {f: given}, shell: 'exit 1'}
- {id: copied, cwd: copy, shell: 'exit 1'}
- {id: empty, cwd: sandbox, shell: 'exit 1'}
",
    );
    context.file("given", "");
    let hands = |ran: &Ran| ran.exits(1).stdout.matches("hand   cd ").count();
    assert_eq!(hands(&context.hp(&["run", "filled", "copied"])), 0);
    assert_eq!(hands(&context.hp(&["run", "empty"])), 1);
    assert_eq!(hands(&context.hp_keeping(&["run", "filled", "--keep", "failed"])), 1);
}

#[test]
fn the_line_that_failed_is_shown_where_it_can_be_read() {
    let context = Context::with("- {id: here, reader: auto, run: [python3, tests/test_board.py]}");
    context.file("tests/test_board.py", board("none"));
    let ran = context.hp(&["run", "here"]);
    let line = "    AssertionError: 'none' != 'drift'\n       10 |         self.assertEqual('none', 'drift')\n";
    assert!(
        ran.exits(1).stdout.contains(&format!("RED here    tests/test_board.py:10 in test_drift\n{line}")),
        "{}",
        ran.stdout
    );
    // From a folder of the project a file has the name that an editor finds it by.
    let mut command = context.command(&["run", "here"]);
    command.current_dir(context.project().join("tests")).stdout(std::process::Stdio::piped());
    let ran = context.finish(command.spawn().expect("hostproof"));
    assert!(ran.exits(1).stdout.contains("RED here    test_board.py:10 in test_drift\n"), "{}", ran.stdout);
    assert_eq!(ran.only().frames[0].file, "tests/test_board.py", "the report names it as the project does");
}

#[test]
fn nothing_but_a_small_file_of_the_project_is_shown() {
    let context = Context::with("- {id: replaced, reader: auto, run: [python3, test_board.py]}");
    let elsewhere = tempfile::tempdir().expect("a folder");
    std::fs::write(elsewhere.path().join("x"), "secret\n".repeat(20)).expect("a file");
    // The check puts something else in the place of the file that it fails in.
    for replace in [
        "os.mkfifo(__file__)".to_owned(),
        format!("os.symlink('{}/x', __file__)", elsewhere.path().display()),
        "os.symlink('/dev/zero', __file__)".to_owned(),
        "open(__file__, 'w').write('big\\n' * 500000)".to_owned(),
        "open(__file__, 'w').write('\\n' * 20)".to_owned(),
        "open(__file__, 'w').write('short')".to_owned(),
        "os.mkdir(__file__)".to_owned(),
    ] {
        let path = context.project().join("test_board.py");
        let _ = std::fs::remove_file(&path);
        let module = board("none").replace("import unittest\n", "import os, traceback, unittest\n").replace(
            "unittest.main(verbosity=2)",
            &format!("try: unittest.main(verbosity=2)\nfinally:\n    os.remove(__file__)\n    {replace}\n"),
        );
        context.file("test_board.py", module);
        let ran = context.hp(&["run"]);
        assert!(
            ran.exits(1).stdout.contains(" in test_drift\n    AssertionError: 'none' != 'drift'\n    again"),
            "{replace}: {}",
            ran.stdout
        );
    }
    // What would steer the terminal is shown and does not.
    std::fs::remove_dir(context.project().join("test_board.py")).expect("a folder");
    context.file("test_board.py", board("none").replace("'drift')", "'drift')  # \u{1b}[2J\u{7}"));
    let ran = context.hp(&["run"]);
    assert!(ran.exits(1).stdout.contains("'drift')  # \\x07\n"), "{:?}", ran.stdout);
}

#[test]
fn an_error_that_says_little_has_the_words_that_came_after_it() {
    let context = Context::proving("- {id: mode, run: [python3, mode.py]}");
    context.file(
        "mode.py",
        "import sys, traceback\ntry:\n    assert sys.argv[1:]\nexcept AssertionError:\n    traceback.print_exc()\n    \
sys.exit('hook refused: settings.json has no mode')\n",
    );
    let shown = context.hp(&["run"]).exits(1).stdout.clone();
    assert!(shown.contains("AssertionError\n"), "{shown}");
    assert!(shown.contains("|  hook refused: settings.json has no mode\n"), "{shown}");
    assert_eq!(shown.matches("AssertionError").count(), 1, "{shown}");
}

#[test]
fn a_status_that_only_says_that_a_case_failed_is_not_told_below_the_case() {
    let context = Context::proving("- {id: board, run: [python3, test_board.py]}");
    context.file("test_board.py", board("none"));
    let shown = context.hp(&["run"]).exits(1).stdout.clone();
    assert!(!shown.contains("exit status") && !shown.contains("explain unmet"), "{shown}");
    let all = context.hp(&["run", "--verbose"]).exits(1).stdout.clone();
    assert!(all.contains("exit status 1, expected 0"), "{all}");
}

#[test]
fn a_failed_case_that_has_no_place_is_named() {
    let context = Context::proving("- {id: tap, run: [sh, tap.sh]}");
    let more = "echo 'ok 3 - c'; ".repeat(20);
    context.file("tap.sh", format!("echo 1..22; echo 'ok 1 - a'; echo 'not ok 2 - no lock is left'; {more} exit 1"));
    let shown = context.hp(&["run"]).exits(1).stdout.clone();
    assert!(shown.contains("\n    failed: no lock is left\n"), "{shown}");
    let context = Context::proving("- {id: board, run: [python3, test_board.py]}");
    context.file("test_board.py", board("none"));
    let shown = context.hp(&["run"]).exits(1).stdout.clone();
    assert!(!shown.contains("failed: "), "its place names it: {shown}");
}

#[test]
fn a_long_reason_is_whole_in_one_place_only() {
    let paths = ["/nowhere/in/particular"; 12].join(":");
    let context = Context::proving(&format!("- {{id: gone, run: [no-such-program], env: {{PATH: '{paths}'}}}}"));
    let shown = context.hp(&["run"]).exits(1).stdout.clone();
    assert_eq!(shown.matches(&paths).count(), 1, "{shown}");
}

#[test]
fn every_help_has_examples() {
    let context = Context::proving("- {id: green, shell: 'echo ok', reader: none}");
    for command in ["run", "try", "teeth", "list", "lint", "schema", "explain", "who", "init", "completions", "man"] {
        let help = context.hp(&[command, "--help"]).exits(0).stdout.clone();
        assert!(help.contains(&format!("Examples:\n  hostproof {command}")), "{command}: {help}");
    }
}
