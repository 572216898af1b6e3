//! Node's own test runner: what no recording shows.

use super::*;

fn reading(exit: i32, output: &str) -> Reading {
    read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &Context { argv: &[], ..context(exit) })
}

const TALLY: &str =
    "# tests 2\n# suites 0\n# pass 2\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 1.5\n";

fn point(name: &str) -> String {
    format!("# Subtest: {name}\nok 1 - {name}\n  ---\n  duration_ms: 1.5\n  ...\n")
}

#[test]
fn runs_in_a_row_add_up() {
    let run = format!("TAP version 13\n{}{}1..2\n{TALLY}", point("a"), point("b"));
    assert_eq!(numbers(&reading(0, &run.repeat(3)).counts), (None, [6, 6, 0, 0], Some(0)));
    let spec = format!("✔ a (1.5ms)\n✔ b (1.5ms)\n{}", TALLY.replace('#', "ℹ"));
    assert_eq!(numbers(&reading(0, &spec.repeat(2)).counts), (None, [4, 4, 0, 0], Some(0)));
    assert_eq!(numbers(&reading(0, &format!("{run}{spec}")).counts), (None, [4, 4, 0, 0], Some(0)));
}

#[test]
fn a_run_that_dies_leaves_a_case_unknown() {
    let run = format!("TAP version 13\n{}# Subtest: b\n", point("a"));
    let seen = reading(0, &run);
    assert_eq!(numbers(&seen.counts), (None, [1, 1, 0, 0], Some(1)));
    assert_eq!(outcome_of(&seen, "b"), CaseOutcome::Unknown);
    let second = format!("TAP version 13\n{}{}1..2\n{TALLY}{run}", point("a"), point("b"));
    assert_eq!(numbers(&reading(0, &second).counts), (None, [3, 3, 0, 0], Some(1)));
}

#[test]
fn tallies_that_fit_no_lines_are_unclear() {
    let text = format!("✔ a (1.5ms)\n{0}✔ b (1.5ms)\n✔ c (1.5ms)\n✔ d (1.5ms)\n{0}", TALLY.replace('#', "ℹ"));
    let seen = reading(0, &text);
    assert_eq!(seen.counts, Counts::default());
    assert!(!seen.notes.is_empty());
}

#[test]
fn other_runners_signs_are_not_nodes() {
    for text in
        ["✔ works\n✔ works, too (12ms)\n", "  ✖ 1 problem (1 error, 0 warnings)\n", "ok 1 - a\nok 2 - b\n1..2\n"]
    {
        assert_ne!(reading(0, text).reader.as_deref(), Some("node-test"), "{text}");
    }
}
