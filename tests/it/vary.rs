//! Checks that run again under changed surroundings: what each fact changes, and what is said of it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hostproof::model::{Fact, Kind, Verdict};
use rustix::process::geteuid;

use crate::context::{Context, Ran, as_nobody, by, errors, of_kind, skip, works};

/// A check that passes as it is, and not under that fact.
fn sensitive(fact: Fact, shm: &str) -> String {
    let script = match fact {
        Fact::Uid => "test -w /etc",
        Fact::Locale => "test \"$(printf ü | wc -m)\" -eq 1",
        Fact::CodePage => "python3 -c 'print(chr(0x2713))'",
        Fact::TimezoneEast => "test \"$(date -d @1700000000 +%d)\" = 14",
        Fact::TimezoneWest => "test \"$(date -d @1700040000 +%d)\" = 15",
        Fact::Umask => "echo x > f && test \"$(stat -c %A f | cut -c5)\" = r",
        Fact::NoHome => "cd \"${HOME:?}\"",
        Fact::RealHome => "case $HOME in \"$HOSTPROOF_SANDBOX\"/*) ;; *) exit 1; esac",
        Fact::LongPath => {
            "python3 -c 'import os, socket; socket.socket(socket.AF_UNIX).bind(os.environ[\"TMPDIR\"] + \"/s\")'"
        }
        Fact::SpacedPath => "ls $TMPDIR",
        Fact::NonAsciiPath => "printf %s \"$TMPDIR\" | LC_ALL=C grep -q '^[!-~]*$'",
        Fact::SymlinkedPath => "test \"$(realpath \"$TMPDIR\")\" = \"$TMPDIR\"",
        Fact::ClosedStdin => "test -e /proc/self/fd/0",
        Fact::Pty => "test ! -t 1",
        Fact::SmallShm => &format!("test -e {shm}"),
        Fact::FullDisk => "echo x > \"$TMPDIR/x\"",
        Fact::OneSlowCore => "test \"$(nice)\" -lt 19 || test \"$(nproc)\" -ne 1",
    };
    let name = fact.name();
    format!("- id: {name}\n  cwd: sandbox\n  vary: [{name}]\n  shell: |\n    {script}\n")
}

#[test]
fn each_fact_is_changed_alone_and_named() {
    let shm = tempfile::Builder::new().prefix("hostproof-it").tempfile_in("/dev/shm").expect("a file in /dev/shm");
    let shm = shm.path().to_str().expect("text");
    let mut context = Context::with(&Fact::ALL.map(|fact| sensitive(fact, shm)).concat());
    context.env("TZ", "UTC");
    fs::set_permissions(context.base(), fs::Permissions::from_mode(0o755)).expect("a base that all may enter");
    let ran = context.hp(&["run"]);
    ran.exits(1);
    for fact in Fact::ALL {
        let id = format!("{}[{}]", fact.name(), fact.name());
        assert_eq!(ran.check(fact.name()).verdict, Verdict::Passed, "{}", ran.said());
        let changed = ran.check(&id);
        let for_root = matches!(fact, Fact::Uid | Fact::SmallShm | Fact::FullDisk);
        if for_root && changed.verdict == Verdict::Skipped {
            // Root of a container may lack the right to mount.
            let reason = changed.reason.as_deref().unwrap_or_default();
            let refused = ["Operation not permitted", "only root can", "No space left on device"];
            assert!(refused.iter().any(|why| reason.contains(why)), "{id}: {reason}");
            continue;
        }
        assert_eq!(changed.verdict, Verdict::Failed, "{id}: {}", ran.said());
        assert_eq!(errors(changed), ["depends-on", "unmet"], "{id}: {}", ran.said());
        let finding = of_kind(changed, Kind::DependsOn)[0];
        assert_eq!(finding.message, format!("passes, but not {}", fact.words()), "{id}");
        assert_eq!(changed.variant.as_deref(), Some(fact.name()));
        assert!(changed.reason.as_deref().is_some_and(|reason| reason.starts_with(&finding.message)), "{id}");
    }
}

#[test]
fn a_check_that_holds_under_every_fact_stays_green() {
    let context = Context::with("- {id: a, cwd: sandbox, vary: all, shell: 'echo \"$TMPDIR\"'}");
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).report().checks.len(), 1 + Fact::ALL.len(), "{}", ran.said());
    for check in &ran.report().checks {
        assert!(matches!(check.verdict, Verdict::Passed | Verdict::Skipped), "{}", ran.said());
        // What is skipped says why, and nothing is skipped but what a system can refuse.
        let refusable = matches!(check.variant.as_deref(), Some("uid" | "small-shm" | "full-disk"));
        assert!(check.verdict == Verdict::Passed || (refusable && check.reason.is_some()), "{}", ran.said());
    }
}

/// Says what its streams are, asks for something in vain, and leaves a process with one of them.
const AT_TERMINAL: &str = r#"
import os, subprocess, sys

streams = [stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)]
print("streams", streams, os.environ.get("TERM"))
print("to stderr", file=sys.stderr)
if all(streams):
    print("size", os.get_terminal_size(), flush=True)
    with open("/dev/tty", "w") as terminal:
        print("said to the terminal", file=terminal)
print("read", repr(sys.stdin.read()), flush=True)
if "leave" in sys.argv:
    subprocess.Popen(["sleep", "20"], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
"#;

#[test]
fn at_a_terminal_the_streams_stay_apart_and_nobody_is_waited_for() {
    let check = |id: &str, more: &str, word: &str| {
        format!("- {{id: {id}, cwd: sandbox, files: {{t.py: t.py}}, vary: [pty], run: [python3, t.py{word}]{more}}}\n")
    };
    let checks = [check("a", "", ""), check("left", "", ", leave"), check("fed", ", stdin: in", "")];
    let context = Context::with(&checks.concat());
    context.file("t.py", AT_TERMINAL);
    context.file("in", "fed\n");
    let ran = context.hp(&["run"]);
    let tail = |id: &str| ran.check(id).stdout.tail.clone();
    assert_eq!(tail("a"), "streams [False, False, False] None\nread ''\n", "{}", ran.said());
    let wanted = "streams [True, True, True] xterm\nsize os.terminal_size(columns=80, lines=24)\n\
                  said to the terminal\nread ''\n";
    assert_eq!(tail("a[pty]"), wanted, "{}", ran.said());
    assert_eq!(ran.check("a[pty]").stderr.tail, "to stderr\n");
    assert_eq!(ran.check("a[pty]").verdict, Verdict::Passed, "{}", ran.said());
    assert_eq!(tail("fed[pty]"), "streams [False, True, True] xterm\nread 'fed\\n'\n", "{}", ran.said());
    // Whoever keeps a terminal open is named as one who keeps a pipe open is.
    for id in ["left", "left[pty]"] {
        let held = of_kind(ran.check(id), Kind::HeldPipe);
        let argv = held.first().and_then(|finding| finding.process.as_ref()).map(|process| process.argv.join(" "));
        assert_eq!(argv.as_deref(), Some("sleep 20"), "{id}: {}", ran.said());
    }
}

#[test]
fn who_is_not_root_mounts_in_a_namespace_of_its_own() {
    let context = Context::with(
        "- {id: shm, cwd: sandbox, vary: [small-shm], shell: 'test \"$(stat -f -c %b /dev/shm)\" != 16384'}\n\
         - {id: disk, cwd: sandbox, vary: [full-disk], shell: 'echo x > \"$TMPDIR/x\"'}\n\
         - {id: who, cwd: sandbox, vary: [full-disk, uid], shell: 'id -u; id -g; grep CapEff /proc/self/status'}\n\
         - {id: left, cwd: sandbox, vary: [small-shm], shell: 'cd $TMPDIR; setsid sleep 20 >/dev/null 2>&1 &'}\n",
    );
    let Some((command, hostproof)) = as_nobody(&context) else { return skip("only root can become another user") };
    if !works(&[&command[..], &["unshare", "--user", "--mount", "true"]].concat()) {
        return skip("users without rights get no namespace of their own here");
    }
    let ran = by(&context, &command, &hostproof, &["run"]);
    for id in ["shm[small-shm]", "disk[full-disk]"] {
        assert_eq!(errors(ran.check(id)), ["depends-on", "unmet"], "{id}: {}", ran.said());
    }
    assert_eq!(ran.check("who[full-disk]").stdout.tail, ran.check("who").stdout.tail, "nothing else is changed");
    assert_eq!(ran.check("who[uid]").reason.as_deref(), Some("only root can be another user"));
    let held = |id| of_kind(ran.check(id), Kind::HeldDirectory).len();
    assert_eq!((held("left"), held("left[small-shm]")), (1, 1), "it is seen into: {}", ran.said());
}

#[test]
fn nothing_is_claimed_of_what_is_red_anyway_or_was_not_seen() {
    let context = Context::with(
        "- {id: red, vary: [locale, umask], shell: 'exit 1'}\n- {id: green, vary: [locale], shell: 'test \"$LC_ALL\" != C'}",
    );
    let ran = context.hp(&["run"]);
    for id in ["red", "red[locale]", "red[umask]"] {
        assert_eq!(errors(ran.check(id)), ["unmet"], "{}", ran.said());
    }
    assert_eq!(errors(ran.check("green[locale]")), ["depends-on", "unmet"], "{}", ran.said());
    let alone = context.hp(&["run", "green[locale]"]);
    assert_eq!(errors(alone.exits(1).only()), ["unmet"], "the check itself was not run: {}", alone.said());
    let fast = context.hp(&["run", "--fail-fast", "--jobs", "1"]);
    assert_eq!(fast.exits(1).report().run.not_run.len(), 4, "what was held back is told: {}", fast.said());
}

#[test]
fn what_cannot_be_changed_is_skipped_with_the_reason() {
    let context = Context::with(
        "- {id: own, env: {LC_ALL: C.UTF-8}, vary: [locale], shell: 'exit 0'}\n\
         - {id: home, home: real, vary: [real-home], shell: 'exit 0'}",
    );
    let ran = context.hp(&["run"]);
    ran.exits(0);
    for (id, why) in [
        ("own[locale]", "the check itself says what LC_ALL is"),
        ("home[real-home]", "the check has the real HOME as it is"),
    ] {
        let check = ran.check(id);
        assert_eq!((check.verdict, check.reason.as_deref()), (Verdict::Skipped, Some(why)), "{}", ran.said());
    }
    if geteuid().is_root() {
        fs::set_permissions(context.project(), fs::Permissions::from_mode(0o700)).expect("a project for its owner");
        let ran = context.hp(&["run", "own[uid]"]);
        let reason = ran.only().reason.clone().unwrap_or_default();
        assert!(reason.starts_with("nobody cannot enter "), "{}", ran.said());
    }
}

#[test]
fn the_command_line_names_facts_and_variants() {
    let context = Context::with("- {id: a, vary: [umask], shell: 'test \"$LC_ALL\" != C'}\n- {id: b, shell: 'exit 0'}");
    let ids = |ran: &Ran| ran.report().checks.iter().map(|check| check.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&context.hp(&["run"])), ["a", "a[umask]", "b"]);
    let ran = context.hp(&["run", "a", "--vary", "locale,timezone"]);
    assert_eq!(ids(&ran), ["a", "a[locale]", "a[timezone-east]", "a[timezone-west]", "a[umask]"], "{}", ran.said());
    assert_eq!(ids(&context.hp(&["run", "--failed"])), ["a[locale]"]);
    assert_eq!(ids(&context.hp(&["run", "b[locale]"])), ["b[locale]"]);
    assert!(context.hp(&["list"]).exits(0).stdout.contains("a[umask]"));
    assert!(context.hp(&["list", "--vary", "locale", "b"]).exits(0).stdout.contains("b[locale]"));
    let tried = context.hp(&["try", "--vary", "locale", "--", "sh", "-c", "test \"$LC_ALL\" != C"]);
    assert_eq!(errors(tried.exits(1).check("try[locale]")), ["depends-on", "unmet"], "{}", tried.said());
    assert!(context.hp(&["run", "--vary", "home"]).exits(2).stderr.contains("no-home"));
}

#[test]
fn wrong_facts_are_refused_with_the_nearest() {
    let context = Context::with("- {id: a, vary: [locales], shell: 'exit 0'}");
    let ran = context.hp(&["lint"]);
    assert!(ran.exits(2).stderr.contains("did you mean `locale`?"), "{}", ran.said());
    context.checks("- {id: a, vary: locale, shell: 'exit 0'}");
    assert!(context.hp(&["lint"]).exits(2).stderr.contains("write it as a list: [locale]"));
    context.checks("- {id: a, allow: [{kind: depends-on, because: x}], shell: 'exit 0'}");
    assert!(context.hp(&["lint"]).exits(2).stderr.contains("`depends-on` cannot be allowed"));
}

#[test]
fn the_frame_of_the_red_one_is_told_everywhere() {
    let context = Context::proving("- {id: names, run: [python3, test_names.py], vary: [locale]}");
    context.file(
        "test_names.py",
        "import os\nimport unittest\n\n\nclass Names(unittest.TestCase):\n    def test_umlaut(self):\n        \
         self.assertNotEqual(os.environ.get('LC_ALL'), 'C')\n\n\nunittest.main()\n",
    );
    let junit = context.project().join("junit.xml");
    let ran = context.hp(&["run", "--junit", junit.to_str().expect("text")]);
    let finding = of_kind(ran.exits(1).check("names[locale]"), Kind::DependsOn)[0];
    let frame = finding.frame.as_ref().unwrap_or_else(|| panic!("no frame: {}", ran.said()));
    assert_eq!((frame.file.as_str(), frame.line), ("test_names.py", 7));
    assert!(ran.stdout.contains("passes, but not with LANG=C"), "{}", ran.said());
    assert!(ran.stdout.contains("hostproof explain depends-on"), "{}", ran.said());
    let junit = context.read("junit.xml");
    assert!(junit.contains("hostproof: depends-on") && junit.contains("passes, but not with LANG=C"), "{junit}");
}
