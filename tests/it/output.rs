//! Whatever a check prints: it is taken as it comes, in bounded memory, and never steers a terminal.

use std::process::{Command, Stdio};

use hostproof::model::{Kind, Severity, Verdict};

use crate::context::{Context, errors, of_kind};

/// Runs hostproof, and tells the most memory that it, or anything it waited for, ever had, in KiB.
const MEASURE: &str = r#"
import resource, subprocess, sys

code = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    file.write("%d" % resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"#;

#[test]
fn output_without_end_or_newline_is_taken_in_bounded_memory() {
    let context = Context::with(
        r"
- id: flood
  reader: auto
  shell: |
    head -c 200000000 /dev/zero | tr '\0' z
    printf 'the end'
  expect: {stdout: [{matches: 'zthe end$'}, {not_contains: Traceback}]}
  allow: [{kind: no-proof, because: it only floods}]
",
    );
    let hostproof = context.command(&["run"]);
    let mut command = Command::new("python3");
    context.dress(&mut command);
    command.args(["-c", MEASURE, "memory"]).arg(hostproof.get_program()).args(hostproof.get_args());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("python3");
    let ran = context.finish(child);
    let check = ran.exits(0).only();
    context.assert_nothing_left();
    assert_eq!((check.stdout.bytes, check.stdout.cut), (200_000_007, true));
    assert!(
        check.stdout.tail.ends_with("zzthe end") && check.stdout.tail.len() < 100_000,
        "{}",
        check.stdout.tail.len()
    );
    let most: u64 = context.read("memory").parse().expect("a number");
    assert!(most < 100_000, "{most} KiB for 200 MB");
}

#[test]
fn bytes_that_are_no_text_are_told_as_escapes() {
    let context = Context::with(
        r#"- {id: bytes, shell: "printf 'a\\000b\\377\\n\\033[31mred\\033[0m\\tend\\n\\033]0;title\\007'; exit 1"}"#,
    );
    let ran = context.hp(&["run"]);
    let output = &ran.exits(1).only().stdout;
    assert_eq!((output.bytes, output.cut), (32, false), "{output:?}");
    assert!(output.tail.starts_with("a\\x00b\\xff\nred\tend\n"), "{output:?}");
    assert!(!output.tail.contains('\u{1b}'));
}

#[test]
fn nothing_from_a_check_steers_the_terminal() {
    let context = Context::with(
        r#"
- id: output
  title: "\e[31mtitle\e]0;owned\a"
  shell: "printf '\\033[2J\\033]0;owned\\007\\233K\\342\\200\\256gnp\\n'; printf 'dead\\rbeef\\n\\033[1m' >&2; exit 1"
  expect: {stdout: [{contains: "\e[5mnever"}]}
- id: argv
  grace: 0s
  cwd: sandbox
  shell: |
    name=$(printf 'dir\033[31m\nx')
    mkdir "$name"
    (cd "$name" && exec sh -c 'sleep 50; :' "$name" </dev/null >/dev/null 2>&1) &
    until [ "$(tr '\0' ' ' < /proc/$!/cmdline | head -c 11)" = 'sh -c sleep' ]; do sleep 0.02; done
- {id: frames, reader: unittest, run: [python3, test_frames.py]}
- {id: program, run: ["no\e[31msuch"]}
- {id: kills, shell: "printf '1..1\\nnot ok 1 \\033[31mred\\n'; exit 1", reader: auto}
"#,
    );
    context.file(
        "test_frames.py",
        "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        '\\x1b[31mdoc'\n        \
         raise ValueError('\\x1b[31mred\\x1b]0;owned\\x07 \\x9b1m')\n\nunittest.main(verbosity=2)\n",
    );
    for arguments in [&["run"][..], &["run", "--verbose"], &["list"]] {
        let ran = context.hp(arguments);
        for text in [&ran.stdout, &ran.stderr] {
            let steers = |c: &char| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c);
            let found: Vec<char> = text.chars().filter(steers).collect();
            assert!(found.is_empty(), "{arguments:?} {found:?}: {text}");
        }
    }
    let ran = context.hp(&["run", "argv"]);
    assert_eq!(ran.only().verdict, Verdict::Leaked);
    assert!(!of_kind(ran.only(), Kind::HeldDirectory).is_empty(), "{}", ran.said());
}

#[test]
fn a_binary_is_output_like_any_other() {
    let context = Context::with(
        "- {id: binary, reader: auto, run: [cat, /bin/sh], expect: {stdout: [{contains: ELF}]}, allow: [{kind: no-proof, because: a program is no test}]}",
    );
    let ran = context.hp(&["run", "--verbose"]);
    let size = std::fs::metadata("/bin/sh").expect("sh").len();
    assert_eq!((ran.exits(0).only().stdout.bytes, ran.only().stdout.cut), (size, true));
    assert_eq!(ran.only().cases.ran, None);
}

#[test]
fn the_end_of_the_output_is_told_apart_from_the_exit() {
    let context = Context::with(
        r"
- {id: before, shell: 'echo early; exec >/dev/null; sleep 1'}
- {id: after, shell: '(sleep 1) & echo early', grace: 50s}
- {id: never, shell: 'sleep 50 & echo early', grace: 0s}
",
    );
    let ran = context.hp(&["run"]);
    ran.exits(1);
    let (before, after) = (ran.check("before"), ran.check("after"));
    assert!(before.stdout_end_ms.is_some_and(|end| end < before.duration_ms), "{before:?}");
    assert!(after.stdout_end_ms.is_some_and(|end| end > after.duration_ms), "{after:?}");
    assert_eq!(ran.check("never").stdout_end_ms, None);
    assert_eq!((before.verdict, after.verdict), (Verdict::Passed, Verdict::Passed));
}

#[test]
fn both_streams_are_taken_whole_while_they_come_at_once() {
    let context = Context::with("- {id: streams, run: [python3, streams.py]}");
    context.file(
        "streams.py",
        "import os\nfor number in range(3000):\n    os.write(1 + number % 2, b'%d ' % number * 60)\n",
    );
    let ran = context.hp_keeping(&["run", "--keep", "always"]);
    let kept = std::path::Path::new(ran.exits(0).only().kept.as_deref().expect("a sandbox")).to_owned();
    for (name, first) in [("stdout", 0), ("stderr", 1)] {
        let whole = std::fs::read_to_string(kept.join(name)).expect("the output");
        let expected: String = (first..3000).step_by(2).map(|number| format!("{number} ").repeat(60)).collect();
        assert!(whole == expected, "{name} is not what was written");
    }
}

/// Runs hostproof where none of its files may grow beyond 100 KB; what checks write goes through pipes.
fn run_with_little_room(context: &Context) -> crate::context::Ran {
    let mut command = std::process::Command::new("sh");
    context.dress(&mut command);
    command.args(["-c", r#"ulimit -f 200; exec "$0" run --report "$1""#, env!("CARGO_BIN_EXE_hostproof")]);
    command.arg(context.report_file());
    let piped = std::process::Stdio::piped;
    let ran = context.finish(command.stdout(piped()).stderr(piped()).spawn().expect("sh"));
    context.assert_nothing_left();
    ran
}

#[test]
fn lost_output_satisfies_no_rule() {
    let context = Context::with(
        r"
- id: full
  shell: |
    printf 'early, Traceback\\n'
    head -c 300000 /dev/zero
    printf 'all green'
    echo fine >&2
  expect: {stdout: [{contains: early}, {contains: green}, {not_contains: Traceback}], stderr: [{matches: ^fine$}]}
",
    );
    let ran = run_with_little_room(&context);
    ran.exits(1);
    let said = |id: &str| {
        let unmet = of_kind(ran.check(id), Kind::Unmet);
        unmet.into_iter().map(|finding| finding.message.clone()).collect::<Vec<_>>()
    };
    let [green, traceback] = &said("full")[..] else { panic!("{}", ran.said()) };
    assert!(green.starts_with("stdout could not be read whole ("), "{green}");
    assert!(green.ends_with("): whether it contains \"green\" is not known"), "{green}");
    assert_eq!(traceback, "stdout contains \"Traceback\"");
    assert_eq!(ran.check("full").verdict, Verdict::Failed);
}

#[test]
fn counts_of_lost_output_are_not_known() {
    let context = Context::proving(
        r"
- id: lossy
  shell: |
    head -c 300000 /dev/zero
    printf '...\\n----------------------------------------------------------------------\\nRan 3 tests in 0.1s\\n\\nOK\\n' >&2
  reader: unittest
  expect: {cases: 3}
",
    );
    let ran = run_with_little_room(&context);
    let check = ran.exits(1).only();
    assert_eq!((check.verdict, errors(check)), (Verdict::Broken, vec!["no-proof", "probe-blind"]), "{}", ran.said());
    assert_eq!((check.cases.ran, check.cases.planned), (None, Some(3)));
    let reason = check.reason.as_deref().unwrap_or_default();
    assert!(reason.starts_with("the output was lost: stdout: "), "{reason}");
    assert_eq!(of_kind(check, Kind::ProbeBlind)[0].severity, Severity::Error);
}
