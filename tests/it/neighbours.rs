//! What one check does is no other check's trouble, nor the harness's.

use std::fs;
use std::process::{Command, Stdio};

use hostproof::model::{Kind, Severity, Verdict};

use crate::context::{Context, errors, of_kind};

#[test]
fn a_sandbox_is_empty_whatever_the_one_before_had_in_it() {
    let context = Context::with(
        r#"
- {id: a, cwd: sandbox, files: {secret: secret}, shell: 'test -e secret'}
- {id: b, cwd: copy, shell: 'test -e secret'}
- {id: touched, cwd: sandbox, shell: 'touch left "$TMPDIR/left" "$HOME/left"'}
- {id: untouched, run: ['true']}
- {id: slow, run: [sleep, '0.3']}
- {id: c, cwd: sandbox, shell: 'test -z "$(ls -A . "$TMPDIR" "$HOME" | grep -v :$ | grep .)"'}
- {id: d, cwd: copy, shell: 'test -e secret'}
"#,
    );
    context.file("secret", "x");
    for jobs in ["1", "2"] {
        let ran = context.hp(&["run", "--jobs", jobs]);
        assert_eq!(ran.exits(0).last_line(), "7/7 checks", "{}", ran.said());
    }
}

#[test]
fn a_check_that_removes_its_lanes_folder_breaks_no_other() {
    let context = Context::with(
        r#"
- {id: remover, shell: 'rm -rf "${HOSTPROOF_SANDBOX%/*}"'}
- {id: squatter, shell: 'for n in 1 2 3 4 5 6 7 8 9; do mkdir -p "$HOSTPROOF_SANDBOX/../$n"; done'}
- {id: next, run: ['true']}
- {id: last, cwd: sandbox, run: ['true']}
"#,
    );
    let ran = context.hp(&["run", "--jobs", "1"]);
    assert_eq!(ran.exits(0).last_line(), "4/4 checks", "{}", ran.said());
}

#[test]
fn a_sandbox_that_was_moved_is_found_and_removed_there() {
    let context = Context::with(r#"- {id: mover, shell: 'touch "$TMPDIR/x"; mv "$HOSTPROOF_SANDBOX" moved'}"#);
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    let [residue] = of_kind(check, Kind::Residue)[..] else { panic!("{}", ran.said()) };
    assert_eq!(residue.severity, Severity::Error);
    assert!(residue.path.as_ref().is_some_and(|path| path.ends_with("/moved")), "{residue:?}");
    assert!(!context.project().join("moved").exists());
}

#[test]
fn what_a_check_puts_where_output_is_kept_is_left_alone() {
    let context = Context::with(
        r#"
- id: link
  shell: |
    ln -s "$PWD/precious" "$HOSTPROOF_SANDBOX/stdout"
    mkfifo "$HOSTPROOF_SANDBOX/stderr"
    head -c 300000 /dev/zero
    head -c 300000 /dev/zero >&2
    exit 1
"#,
    );
    context.file("precious", "mine");
    for keep in ["never", "failed"] {
        let ran = context.hp_keeping(&["run", "--keep", keep]);
        let check = ran.exits(1).only();
        assert_eq!(
            (check.stdout.bytes, check.stderr.bytes, context.read("precious").as_str()),
            (300_000, 300_000, "mine")
        );
        if keep == "failed" {
            for output in [&check.stdout, &check.stderr] {
                let file = output.file.as_ref().expect("kept output");
                assert_eq!(fs::metadata(file).expect("a file").len(), 300_000, "{file}");
            }
        }
    }
}

#[test]
fn a_kept_sandbox_stays_though_its_lane_is_at_the_next_check() {
    let context =
        Context::with("- {id: red, shell: 'touch \"$TMPDIR/x\"; exit 1'}\n- {id: slow, run: [sleep, '0.5']}\n");
    let ran = context.hp_keeping(&["run", "--keep", "failed", "--jobs", "1"]);
    let kept = ran.exits(1).check("red").kept.clone().expect("a kept sandbox");
    assert!(std::path::Path::new(&kept).join("tmp/x").exists(), "{kept}");
}

#[test]
fn children_that_came_with_the_process_are_not_ended() {
    // A shell that executes hostproof in its own place leaves it its children.
    let context = Context::with("- {id: killer, shell: 'kill -9 $PPID; sleep 30'}\n");
    let mut command = Command::new("sh");
    context.dress(&mut command);
    command.args([
        "-c",
        r#"sleep 20 >/dev/null 2>&1 & echo $! > pids; exec "$0" run"#,
        env!("CARGO_BIN_EXE_hostproof"),
    ]);
    let ran = context.finish(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("sh"));
    let innocent = context.pids("pids")[0];
    let lives = fs::read_to_string(format!("/proc/{innocent}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(lives, "{}", ran.stdout);
    assert!(!ran.stdout.contains("sleep 20"), "{}", ran.stdout);
    crate::context::signal(innocent, rustix::process::Signal::KILL);
}

#[test]
fn a_folder_that_resists_is_swept_by_a_later_run_once_it_does_not() {
    let context = Context::with("- {id: quick, run: ['true']}\n");
    // What a killed run leaves whose supervisor was killed, too: a folder with a lock that nobody holds.
    let left = context.base().join("hp-left00");
    fs::create_dir_all(left.join("1/tmp")).expect("folders");
    fs::write(left.join("lock"), "").expect("a lock");
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).only().verdict, Verdict::Passed);
    assert_eq!(errors(ran.only()), Vec::<&str>::new());
}
