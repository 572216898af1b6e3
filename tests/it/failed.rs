//! `--failed` and `--fail-fast`.

use std::fs;
use std::path::PathBuf;

use hostproof::model::{Report, Stop};

use crate::context::{Context, Ran, fifo};

const CHECKS: &str = "
- {id: a/good, shell: 'echo >>ran-good'}
- {id: a/bad, shell: 'test -e mended'}
- {id: b/bad, shell: 'test -e mended'}
- {id: far, shell: 'true', platforms: [windows]}
";

fn ids(ran: &Ran) -> Vec<&str> {
    ran.report().checks.iter().map(|check| check.id.as_str()).collect()
}

fn memories(context: &Context) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(context.state().join("hostproof")) else { return Vec::new() };
    entries.flatten().map(|entry| entry.path()).collect()
}

#[test]
fn those_that_were_red_run_again_until_they_are_not() {
    let context = Context::with(CHECKS);
    context.hp(&["run"]).exits(1);
    let ran = context.hp(&["run", "--failed"]);
    assert_eq!(ids(ran.exits(1)), ["a/bad", "b/bad"]);
    // With patterns: those of them.
    assert_eq!(ids(context.hp(&["run", "--failed", "a/*"]).exits(1)), ["a/bad"]);
    // What is run alone changes what is known of it alone.
    context.file("mended", "");
    context.hp(&["run", "a/bad"]).exits(0);
    assert_eq!(ids(context.hp(&["run", "--failed"]).exits(0)), ["b/bad"]);
    // Nothing is red any more.
    let ran = context.hp(&["run", "--failed"]);
    assert_eq!(ran.exits(3).last_line(), "0/0 checks");
    assert!(ran.stdout.contains("no check was red when it was last run; without --failed they run"), "{}", ran.stdout);
    assert!(ran.report().checks.is_empty());
    let ran = context.hp(&["run", "--failed", "a/*"]);
    assert!(ran.exits(3).stdout.contains("none of these checks was red"), "{}", ran.stdout);
    assert_eq!(context.read("ran-good"), "\n", "what was not red ran again");
    // One that is red now is known to be from then on.
    fs::remove_file(context.project().join("mended")).expect("a file");
    context.hp(&["run", "b/bad"]).exits(1);
    assert_eq!(ids(context.hp(&["run", "--failed"]).exits(1)), ["b/bad"]);
}

#[test]
fn what_was_not_reached_counts_as_red_and_what_is_gone_does_not() {
    let context =
        Context::with("- {id: one, shell: 'exit 1'}\n- {id: two, shell: 'true'}\n- {id: three, shell: 'true'}");
    context.hp(&["run", "--fail-fast", "--jobs", "1"]).exits(1);
    context.checks("- {id: one, shell: 'true'}\n- {id: two, shell: 'true'}");
    assert_eq!(ids(context.hp(&["run", "--failed"]).exits(0)), ["one", "two"]);
}

#[test]
fn each_project_has_a_memory_of_its_own_and_try_none() {
    let context = Context::with(CHECKS);
    context.hp(&["try", "--", "false"]).exits(1);
    context.hp(&["list"]).exits(0);
    assert_eq!(memories(&context), Vec::<PathBuf>::new());
    context.hp(&["run"]).exits(1);
    context.file("other/checks.d/a.yaml", "version: 1\nchecks: [{id: far, reader: none, run: [x]}]\n");
    context.hp(&["run", "--manifests", "other/checks.d"]).exits(1);
    let memories = memories(&context);
    assert_eq!(memories.len(), 2, "{memories:?}");
    // Where the project was found is where it is looked for, from a folder in it, too.
    fs::create_dir(context.project().join("deep")).expect("a folder");
    let mut command = context.command(&["run", "--failed"]);
    command.current_dir(context.project().join("deep")).stdout(std::process::Stdio::piped());
    assert_eq!(ids(context.finish(command.spawn().expect("hostproof")).exits(1)), ["a/bad", "b/bad"]);
}

#[test]
fn without_a_memory_it_says_so_and_runs_nothing() {
    let mut context = Context::with("- {id: ran, shell: 'touch ran; exit 1'}");
    let refused = |context: &Context, words: &str| {
        let ran = context.hp(&["run", "--failed"]);
        assert!(ran.exits(2).stderr.contains(words), "{words}: {}", ran.stderr);
        assert!(!context.project().join("ran").exists(), "{words}");
    };
    refused(&context, "is remembered in ");
    context.hp(&["run"]).exits(1);
    fs::remove_file(context.project().join("ran")).expect("a file");
    let memory = memories(&context).pop().expect("a memory");
    for damage in ["", "{", "[]", r#"{"schema": "hostproof.memory/9", "project": "", "red": {}}"#] {
        fs::write(&memory, damage).expect("the memory");
        refused(&context, "can't be read, so --failed has nothing to go by");
    }
    // Nothing is waited for.
    fs::remove_file(&memory).expect("the memory");
    fifo(&memory);
    refused(&context, "not a regular file");
    // A run that can't be remembered is no worse for it.
    context.env("XDG_STATE_HOME", "/dev/null");
    assert_eq!(context.hp(&["run"]).exits(1).stderr, "");
    fs::remove_file(context.project().join("ran")).expect("a file");
    refused(&context, "can't be read");
    // One that is damaged is written anew.
    context.env("XDG_STATE_HOME", context.state());
    fs::remove_file(&memory).expect("the pipe");
    fs::write(&memory, "{").expect("the memory");
    context.hp(&["run"]).exits(1);
    context.hp(&["run", "--failed"]).exits(1);
}

#[test]
fn no_folder_of_the_user_and_no_file_of_the_project_is_touched() {
    let mut context = Context::with(CHECKS);
    let home = tempfile::tempdir().expect("a home");
    context.env("HOME", home.path()).env("XDG_STATE_HOME", "relative/state");
    context.hp(&["run"]).exits(1);
    assert!(!context.project().join("relative").exists(), "a relative folder is not to be used");
    assert!(home.path().join(".local/state/hostproof").is_dir());
    let mut names: Vec<_> =
        fs::read_dir(context.project()).expect("the project").flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    assert_eq!(names, ["checks.d", "ran-good"]);
}

#[test]
fn nothing_is_started_after_the_first_red_check() {
    let context = Context::with(
        "- {id: good, shell: 'true'}\n- {id: bad, shell: 'exit 1'}\n- {id: third, shell: 'touch third'}\n- {id: last, shell: 'touch last'}",
    );
    // More than once: a verdict that comes too late would let one more begin.
    for _ in 0..3 {
        let ran = context.hp(&["run", "--fail-fast", "--jobs", "1"]);
        assert_eq!(ran.exits(1).last_line(), "1/4 checks, 2 not reached (--fail-fast)");
        assert_eq!(ids(&ran), ["good", "bad"]);
        let run = &ran.report().run;
        assert_eq!((run.stopped, run.interrupted), (Some(Stop::FailFast), false));
        assert_eq!(run.not_run, ["third", "last"]);
        assert_eq!(ran.report().totals.checks.not_run, 2);
        assert!(ran.stdout.contains("\nstopped after the first red check, as --fail-fast asks\n"), "{}", ran.stdout);
        assert!(!context.project().join("third").exists() && !context.project().join("last").exists());
    }
    let ran = context.hp(&["run", "--jobs", "1"]);
    assert_eq!((ids(&ran).len(), ran.report().run.stopped), (4, None));
}

#[test]
fn what_leaks_or_cannot_start_is_red_too_and_a_lock_is_no_way_around() {
    let context = Context::with(
        "- {id: leaks, lock: [l], grace: 0s, shell: 'sleep 50 & until grep -q sleep /proc/$!/comm; do sleep 0.02; done'}\n- {id: next, lock: [l], shell: 'touch next'}",
    );
    let ran = context.hp(&["run", "--fail-fast", "--jobs", "2"]);
    assert_eq!(ran.exits(1).last_line(), "0/2 checks, 1 leaked, 1 not reached (--fail-fast)");
    assert!(!context.project().join("next").exists());
    context.checks("- {id: gone, run: [./no-such-program]}\n- {id: next, shell: 'touch next'}");
    context.hp(&["run", "--fail-fast", "--jobs", "1"]).exits(1);
    assert!(!context.project().join("next").exists());
}

#[test]
fn those_that_run_when_one_is_red_are_finished() {
    let context = Context::with(
        r"
- {id: bad, shell: 'until test -e slow-began; do sleep 0.02; done; exit 1'}
- {id: slow, shell: 'touch slow-began; sleep 2; touch slow-ended'}
- {id: last, shell: 'touch last'}
",
    );
    let ran = context.hp(&["run", "--fail-fast", "--jobs", "2"]);
    assert_eq!(ran.exits(1).last_line(), "1/3 checks, 1 not reached (--fail-fast)");
    assert!(context.project().join("slow-ended").exists() && !context.project().join("last").exists());
}

#[test]
fn a_red_last_check_stops_nothing() {
    let context = Context::with("- {id: good, shell: 'true'}\n- {id: bad, shell: 'exit 1'}");
    let ran = context.hp(&["run", "--fail-fast", "--jobs", "1", "--report", "-"]);
    let report: Report = serde_json::from_str(&ran.exits(1).stdout).expect("a report");
    assert_eq!((report.run.stopped, report.totals.checks.not_run), (None, 0));
}
