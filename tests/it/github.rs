//! What GitHub's runner is told: annotations and the summary of the step.

use std::fs;

use crate::context::{Context, Ran, fifo};

/// A project in a subfolder of a repository that GitHub checked out.
fn context(checks: &str) -> Context {
    let mut context = Context::with(checks);
    let workspace = context.project().parent().expect("a folder").to_owned();
    let summary = context.project().join("summary.md");
    context.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", workspace).env("GITHUB_STEP_SUMMARY", summary);
    context
}

/// The lines that the runner takes for a command, as it looks for them: after blanks, or in the older form anywhere.
fn commands(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.trim_start().starts_with("::") || line.contains("##[")).collect()
}

fn annotations(ran: &Ran) -> Vec<&str> {
    assert_eq!(commands(&ran.stderr), [""; 0]);
    commands(&ran.stdout)
}

fn folder(context: &Context) -> String {
    context.project().file_name().expect("a name").to_string_lossy().into_owned()
}

const BOARD: &str = "
import unittest

class T(unittest.TestCase):
    def test_a(self): self.fail('50 % of,\\n::error::all')

unittest.main(verbosity=2)
";

#[test]
fn a_failure_is_annotated_where_it_is() {
    let context = context(
        "- {id: board, reader: auto, run: [python3, test_board.py]}\n- {id: words, shell: 'exit 3'}\n- {id: good, shell: 'true'}\n- {id: gone, run: [./nope]}",
    );
    context.file("test_board.py", BOARD);
    let ran = context.hp(&["run", "--jobs", "1"]);
    let folder = folder(&context);
    let project = fs::canonicalize(context.project()).expect("the project");
    assert_eq!(
        annotations(ran.exits(1)),
        [
            &format!(
                "::error file={folder}/test_board.py,line=5,title=board%3A __main__.T.test_a::AssertionError: 50 %25 of,"
            ),
            &format!(
                "::error file={folder}/checks.d/checks.yaml,line=5,title=words%3A unmet::exit status 3, expected 0"
            ),
            &format!(
                "::error file={folder}/checks.d/checks.yaml,line=7,title=gone::./nope is not there: looked in {}",
                project.display()
            ),
        ]
    );
    assert_eq!(ran.last_line(), "0/1 cases, 1/4 checks, 1 failed, 1 broken".replace("0/1", "1/1"));
    // Elsewhere nobody is told.
    let mut context = context;
    context.env("GITHUB_ACTIONS", "");
    let summary = context.read("summary.md");
    assert_eq!(annotations(&context.hp(&["run"])), [""; 0]);
    assert_eq!(context.read("summary.md"), summary);
}

#[test]
fn a_leak_is_annotated_at_its_check() {
    let context = context(
        "- {id: leaks, grace: 0s, cwd: sandbox, shell: 'sleep 50 & until grep -q sleep /proc/$!/comm; do sleep 0.02; done'}",
    );
    let ran = context.hp(&["run"]);
    let found = annotations(ran.exits(1));
    assert_eq!(found.len(), 3, "{found:?}");
    for (line, kind) in found.iter().zip(["held-directory", "held-pipe", "leaked-process"]) {
        let place = format!("::error file={}/checks.d/checks.yaml,line=4,title=leaks%3A {kind}::", folder(&context));
        assert!(line.starts_with(&place) && line.contains("%0Amend: "), "{line}");
    }
}

#[test]
fn no_more_than_github_shows_and_those_that_did_not_fit_are_counted() {
    let many: Vec<String> = (0..13).map(|n| format!("- {{id: bad-{n}, shell: 'exit 1'}}")).collect();
    let context = context(&many.join("\n"));
    let ran = context.hp(&["run"]);
    let found = annotations(ran.exits(1));
    assert_eq!(found.iter().filter(|line| line.starts_with("::error ")).count(), 10);
    let notice = found.last().expect("a notice");
    assert!(notice.starts_with("::notice title=hostproof::3 of 13 errors have no annotation here"), "{notice}");
    assert!(notice.ends_with(" 0/13 checks"), "{notice}");
    assert_eq!(found.len(), 11);
}

#[test]
fn the_first_failure_of_every_check_comes_before_the_second_of_any() {
    let context = context("- {id: many, reader: auto, run: [python3, test_many.py]}\n- {id: other, shell: 'exit 1'}");
    let cases: Vec<String> = (0..12).map(|n| format!("    def test_{n}(self): self.fail('no')\n")).collect();
    let cases = cases.concat();
    context.file("test_many.py", format!("import unittest\n\nclass T(unittest.TestCase):\n{cases}\nunittest.main()\n"));
    let ran = context.hp(&["run"]);
    let found = annotations(ran.exits(1));
    assert!(found[0].contains("title=many%3A") && found[1].contains("title=other%3A"), "{found:?}");
    assert!(found.last().is_some_and(|line| line.contains("::3 of 13 errors")), "{found:?}");
}

#[test]
fn what_a_check_prints_is_no_command() {
    let context = context(
        r#"
- id: sly
  shell: |
    printf '::error::printed\n   ::add-mask::x\n##[error]old\n\302\240::stop-commands::t\n'
    printf 'Traceback (most recent call last):\n  File "a.py", line 1, in f\n::ValueError: x\n' >&2
    exit 1
- {id: id, title: '::error::title ##[error]x', run: ['./::error::x ##[add-mask]y']}
"#,
    );
    for arguments in
        [&["run"][..], &["run", "--verbose"], &["run", "--report", "-"], &["run", "--junit", "-"], &["run", "--events"]]
    {
        let ran = context.hp(arguments);
        ran.exits(1);
        let ours = |line: &&str| !line.starts_with("::error file=") && !line.starts_with("::error title=");
        let all = format!("{}\n{}", ran.stdout, ran.stderr);
        let strange: Vec<&str> = commands(&all).into_iter().filter(ours).collect();
        assert_eq!(strange, [""; 0], "{arguments:?}");
        assert!(all.contains("printed"), "{arguments:?}: {all}");
    }
    assert_eq!(commands(&context.hp(&["list"]).stdout), [""; 0]);
    let json = context.hp(&["list", "--json"]).stdout;
    assert_eq!(commands(&json), [""; 0]);
    let list: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(list[1]["title"], "::error::title ##[error]x");
    let refused = context.hp(&["run", "x\n::error::y"]);
    assert_eq!(commands(&refused.exits(2).stderr), [""; 0]);
}

#[test]
fn the_summary_has_a_table_the_details_and_the_counts() {
    let context = context(
        "- {id: board, reader: auto, run: [python3, test_board.py]}\n- {id: good, shell: 'true'}\n- {id: a|b`, run: [x]}",
    );
    assert_eq!(context.hp(&["run"]).code, Some(2), "such an id is refused");
    context.checks("- {id: board, title: x, reader: auto, run: [python3, test_board.py]}\n- {id: good, shell: 'true'}\n- {id: missing, run: ['./a|b`<b>x']}");
    context.file("test_board.py", BOARD);
    context.file("summary.md", "before");
    let ran = context.hp(&["run"]);
    ran.exits(1);
    let summary = context.read("summary.md");
    assert!(summary.starts_with("before\n### hostproof on linux "), "{summary}");
    let rows: Vec<&str> = summary.lines().filter(|line| line.starts_with("| ")).collect();
    assert_eq!(rows.len(), 5, "{summary}");
    assert!(
        rows[2].starts_with("| **failed** | <code>board</code> | 1/1 | ")
            || rows[2].contains("<code>board</code> | 1 |"),
        "{summary}"
    );
    assert!(rows[3].contains("&#124;b&#96;&#60;b&#62;x"), "{summary}");
    assert!(rows[4].starts_with("| passed | <code>good</code> |"), "{summary}");
    for row in &rows {
        assert_eq!(row.matches('|').count(), 6, "{row}");
    }
    assert!(summary.contains("#### <code>board</code> (<code>checks.d/checks.yaml&#58;4</code>)\n\n- <code>test&#95;board.py&#58;5 in test&#95;a</code>: "), "{summary}");
    assert!(summary.ends_with(&format!("\n**{}**\n", ran.last_line())), "{summary}");
    // The next step's part follows.
    context.hp(&["run", "good"]).exits(0);
    assert!(context.read("summary.md").starts_with(&summary));
}

#[test]
fn a_summary_stays_in_its_limit_and_says_what_did_not_fit() {
    let many: Vec<String> = (0..40).map(|n| format!("- {{id: bad-{n}, run: ['./no-such-program-{n}']}}")).collect();
    let context = context(&many.join("\n"));
    context.file("summary.md", vec![b'x'; (1 << 20) - 3000]);
    context.hp(&["run"]).exits(1);
    let summary = context.read("summary.md");
    assert!(summary.len() <= 1 << 20, "{}", summary.len());
    assert!(
        summary.contains("\nNo room for ") && summary.contains(" of 40 rows and 40 of 40 details: "),
        "{}",
        &summary[(1 << 20) - 3000..]
    );
    assert!(summary.ends_with("\n**0/40 checks, 40 broken**\n"));
}

#[test]
fn a_summary_that_cannot_be_written_is_told_and_changes_nothing() {
    let mut context = context("- {id: good, shell: 'true'}");
    let pipe = context.project().join("pipe");
    fifo(&pipe);
    context.file("full.md", vec![b'x'; 1 << 20]);
    for (path, why) in [
        ("pipe", "it is not a regular file"),
        ("no/such/folder/summary.md", "No such file or directory"),
        ("full.md", "it is full: GitHub takes 1 MiB"),
    ] {
        context.env("GITHUB_STEP_SUMMARY", path);
        let ran = context.hp(&["run"]);
        assert_eq!(ran.exits(0).last_line(), "1/1 checks");
        let begin = format!("hostproof: the step summary can't be written to {path}: {why}");
        assert!(ran.stderr.starts_with(&begin), "{}", ran.stderr);
    }
    assert_eq!(context.read("full.md").len(), 1 << 20);
    context.env("GITHUB_STEP_SUMMARY", "");
    assert_eq!(context.hp(&["run"]).exits(0).stderr, "");
}
