//! nextest's forms that no recording has.

use super::*;

fn reading(output: &str) -> Reading {
    read_as(&ReaderChoice::Auto, Stream::Stderr, output.as_bytes(), &context(100))
}

const STARTING: &str =
    "────────────\n Nextest run ID 1 with nextest profile: default\n    Starting 4 tests across 1 binary\n";

#[test]
fn without_a_summary_the_rest_is_unknown() {
    let output =
        format!("{STARTING}        PASS [   0.010s] (1/4) a t::one\n        SLOW [>  1.000s] (───) a t::two\n");
    let reading = reading(&output);
    assert_eq!(reading.reader.as_deref(), Some("nextest"));
    assert_eq!(numbers(&reading.counts), (Some(4), [1, 1, 0, 0], Some(3)));
    assert_eq!(outcome_of(&reading, "a t::two"), CaseOutcome::Unknown);
}

#[test]
fn a_summary_sums_up_all_that_is_not_passed() {
    let output = format!(
        "{STARTING}────────────\n     Summary [   1.200s] 3/4 tests run: 1 passed (1 leaky, 1 flaky), 1 failed (1 due to being leaky), 1 timed out, 7 skipped\n"
    );
    assert_eq!(numbers(&reading(&output).counts), (Some(11), [10, 1, 2, 7], Some(1)));
}

#[test]
fn lines_without_a_place_in_the_run_and_old_failures_are_read() {
    let output = "    Starting 2 tests across 1 binary (1 skipped)\n        PASS [   0.010s] a t::one\n  TRY 1 FAIL [   0.010s] a t::two\n\n\
                  --- STDERR:              a t::two ---\nthread 't::two' panicked at 'no', src/lib.rs:3:5\n\n  TRY 2 FAIL [   0.010s] a t::two\n";
    let cut = reading(output);
    assert_eq!(numbers(&cut.counts), (Some(3), [2, 1, 0, 1], Some(1)));
    let whole = reading(&format!(
        "{output}     Summary [   0.1s] 2 tests run: 1 passed, 1 failed, 1 skipped\n  TRY 2 FAIL [   0.010s] a t::two\nerror: test run failed\n"
    ));
    assert_eq!(numbers(&whole.counts), (Some(3), [3, 1, 1, 1], Some(0)));
    assert_eq!(outcome_of(&whole, "a t::two"), CaseOutcome::Failed);
    assert_eq!((whole.frames.len(), whole.frames[0].case.as_deref()), (1, Some("a t::two")));
}

#[test]
fn two_runs_add_up_and_line_ends_change_nothing() {
    let output = String::from_utf8(recorded("nextest/mixed.err")).expect("it is text");
    let once = reading(&output);
    assert_eq!(reading(&output.replace('\n', "\r\n")), once);
    let twice = reading(&output.repeat(2));
    assert_eq!(twice.counts.ran, once.counts.ran.map(|ran| 2 * ran));
    assert_eq!(twice.cases.len(), 2 * once.cases.len());
}

#[test]
fn what_is_indented_was_captured() {
    let inner =
        "            PASS [   0.010s] (1/4) a t::one\n         Summary [   0.1s] 9 tests run: 9 passed, 0 skipped\n";
    let reading = reading(&format!("{STARTING}        FAIL [   0.010s] (1/4) a t::two\n  stderr ───\n{inner}\n"));
    assert_eq!(numbers(&reading.counts), (Some(4), [1, 0, 1, 0], Some(3)));
}
