//! The text of the errors as a whole.

use super::project::Project;
use crate::error::Error;
use crate::manifest::{Options, load};
use crate::model::Platform;

#[test]
fn all_errors_of_two_files_in_one_go() {
    let errors = Project::with(
        "version: 1
checks:
  - id: sweep
    run: [python3, hooks/test_sweep.py]
    tiemout: 5s
    expect: {exit: zero, cases: 57}
  - id: spool
    run: [sh, 5]
    grace: 10
    run: [x]
",
    )
    .file("b.yaml", "")
    .file("c.yaml", "version: 1\nchecks:\n  - {id: fine, run: [x]}\n")
    .errors();
    insta::assert_snapshot!(errors, @r#"
    error: unknown key `tiemout`
     --> checks.d/a.yaml:5:5
      |
    5 |     tiemout: 5s
      |     ^^^^^^^ not known here
      |
      = help: did you mean `timeout`?
      = help: known here: id, title, run, shell, interpreter, hook, events, cwd, files, home, env, inherit, stdin, timeout, grace, reader, expect, allow, eventually, breaks, publishes, forbid, plant, faults, watch, unchanged, as, copies, repeat, retries, matrix, vary, platforms, hosts, linux, windows, macos, needs, covers, lock, tags

    error: expected an integer, found the text "zero"
     --> checks.d/a.yaml:6:20
      |
    6 |     expect: {exit: zero, cases: 57}
      |                    ^^^^

    error: expected a text, found `5`
     --> checks.d/a.yaml:8:15
      |
    8 |     run: [sh, 5]
      |               ^
      |
      = help: put it into quotes: "5"

    error: 10 has no unit
     --> checks.d/a.yaml:9:12
      |
    9 |     grace: 10
      |            ^^
      |
      = help: write 10s for seconds; there are ms, s, m and h

    error: the key `run` is here twice, first at line 8, column 5
      --> checks.d/a.yaml:10:5
       |
    10 |     run: [x]
       |     ^^^ again
       |
      ::: checks.d/a.yaml:8:5
       |
     8 |     run: [sh, 5]
       |     --- first
       |
       = help: remove one of them: only one could count

    error: this manifest is empty
    --> checks.d/b.yaml
     = help: the least that one has: `version: 1`, and `checks:` with a list of checks, each with an `id` and a `run`

    6 errors in 2 files
    "#);
}

#[test]
fn styles_are_only_for_terminals() {
    let project = Project::with("version: 2");
    let start = project.path("");
    let errors = |colour| match load(&Options { start: &start, directory: None, platform: Platform::Linux, colour }) {
        Err(Error::Manifest(text)) => text,
        other => panic!("{other:?}"),
    };
    assert!(errors(true).contains("\u{1b}["));
    assert!(!errors(false).contains('\u{1b}'));
}

#[test]
fn control_characters_are_shown_and_do_nothing() {
    let errors =
        Project::with("version: 1\nchecks:\n  - \"id\\e[31m\u{9b}\u{202e}\u{200b}\": x\n    # \u{1b}[2J\n").errors();
    assert!(!errors.chars().any(|character| (character.is_control() && character != '\n') || character == '\u{202e}'));
    let errors = Project::with("version: 1\nchecks: []\n\"a\\e[31mb\": 1\n").errors();
    assert!(errors.contains("unknown key `a␛[31mb`"), "{errors}");
}

#[test]
fn long_lines_are_cut_and_keep_their_columns() {
    let words = "abcdefgh, ".repeat(5_000);
    let errors = Project::with(format!("version: 1\nchecks:\n  - id: a\n    run: [{words}5, {words}]\n")).errors();
    assert!(errors.contains("--> checks.d/a.yaml:4:50011\n"), "{errors}");
    assert!(errors.contains("abcdefgh, 5, abcdefgh"), "{errors}");
    assert!(errors.lines().all(|line| line.chars().count() < 140), "{errors}");

    let errors =
        Project::with(format!("version: 1\nchecks:\n  - id: \"{}\"\n    run: [x]\n", "A ".repeat(5_000))).errors();
    assert!(errors.len() < 2_000, "{errors}");
}
