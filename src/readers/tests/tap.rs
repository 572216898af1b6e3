//! TAP by hand: what recordings do not have.

use super::*;

fn reading(exit: i32, output: &str) -> Reading {
    let context = Context { argv: &[], ..context(exit) };
    read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context)
}

/// Planned, ran, passed, failed, skipped, unknown.
fn counts(output: &str) -> [Option<u64>; 6] {
    let reading = reading(0, output);
    assert_eq!(reading.reader.as_deref(), Some("tap"), "{output}");
    let Counts { planned, ran, passed, failed, skipped, unknown } = reading.counts;
    [planned, ran, passed, failed, skipped, unknown]
}

const fn planned(planned: u64, passed: u64, failed: u64, skipped: u64) -> [Option<u64>; 6] {
    let ran = passed + failed + skipped;
    [Some(planned), Some(ran), Some(passed), Some(failed), Some(skipped), Some(planned - ran)]
}

#[test]
fn plans_first_last_short_and_wrong() {
    for (output, expected) in [
        ("1..2\nok 1 - a\nnot ok 2 - b\n", planned(2, 1, 1, 0)),
        ("ok 1\nok 2\n1..2\n", planned(2, 2, 0, 0)),
        ("TAP version 13\n1..5\nok 1 - one\nok 2 - two # SKIP no network\nok 3 - three\n", planned(5, 2, 0, 1)),
        ("1..2\nok\nnot ok\n", planned(2, 1, 1, 0)),
        ("1..2\nok a\nok b\n", planned(2, 2, 0, 0)),
        ("ok a\nok b\n1..2\n", planned(2, 2, 0, 0)),
        ("1..2\nnot ok 1 - a # TODO later\nok 2\n", planned(2, 2, 0, 0)),
        // One too many fills no place of the plan.
        ("1..1\nok 1\nok 2\n", planned(2, 2, 0, 0)),
        ("1..3\nok 1\nok 7\nok 2\n", planned(4, 3, 0, 0)),
        // Out of order, and told twice.
        ("1..3\nok 3 - c\nok 1 - a\nok 3 - c\n", planned(3, 2, 0, 0)),
        ("1..2\nok 1 - a\nnot ok 1 - a\nok 2 - b\n", planned(2, 1, 1, 0)),
        ("1..2\nok 1 - a\nok 1 - another\n", planned(2, 2, 0, 0)),
        // A name may come twice, a number makes the case.
        ("1..3\nok 1 - a\nok 2 - a\nnot ok 3 - a\n", planned(3, 2, 1, 0)),
        // Prose among points with numbers is none, unless it says that something failed.
        ("ok, let us begin\nok then\n1..2\nok 1 - a\nok so far\nok 2 - b\n", planned(2, 2, 0, 0)),
        ("1..3\nok 1 - a\nnot ok at all\nok 2 - b\n", planned(3, 2, 1, 0)),
        ("TAP version 14\npragma +strict\n1..0\n", planned(0, 0, 0, 0)),
    ] {
        assert_eq!(counts(output), expected, "{output}");
        let crlf = output.replace('\n', "\r\n");
        assert_eq!(counts(&crlf), expected, "{output}");
    }
}

#[test]
fn without_a_plan_what_is_missing_is_unknown() {
    assert_eq!(counts("ok 1 - a\nnot ok 2 - b\n"), [None, Some(2), Some(1), Some(1), Some(0), None]);
    assert_eq!(counts("TAP version 13\nok a\n"), [None, Some(1), Some(1), Some(0), Some(0), None]);
    assert_eq!(counts("ok 1 - a\nBail out! no disk\n"), [None, Some(1), Some(1), Some(0), Some(0), None]);
    let cut = "ok 1 - a\n# Subtest: b\n    ok 1 - c\n    1..";
    assert_eq!(counts(cut), [None, Some(1), Some(1), Some(0), Some(0), Some(1)]);
    assert_eq!(outcome_of(&reading(1, cut), "b"), CaseOutcome::Unknown);
    // Lines of another form beside it: not TAP alone.
    assert_eq!(reading(0, "ok 1 - a\nPASS b\n").reader.as_deref(), Some("ok-lines"));
    assert_eq!(reading(0, "1..5\n").reader, None);
}

#[test]
fn who_bails_out_leaves_cases_behind() {
    let output = "1..3\nok 1 - a\nBail out! no disk\n";
    assert_eq!(counts(output), planned(3, 1, 0, 0));
    assert!(reading(1, output).notes.iter().any(|note| note.contains("no disk")));
    // After the last one, nobody knows what else there was to come.
    assert_eq!(counts("1..1\nok 1 - a\nBail out!\n"), [None, Some(1), Some(1), Some(0), Some(0), None]);
    assert_eq!(counts("1..2\n# Subtest: a\n    Bail out! deep\n"), planned(2, 0, 0, 0));
}

#[test]
fn all_skipped_is_one_skipped_case() {
    for output in ["1..0 # SKIP no database\n", "TAP version 14\n1..0 # skipped: no database\n"] {
        assert_eq!(counts(output), [None, Some(1), Some(0), Some(0), Some(1), Some(0)]);
        assert_eq!(reading(0, output).cases[0].reason.as_deref(), Some("no database"));
    }
}

#[test]
fn streams_in_a_row_add_up() {
    for (output, expected) in [
        ("1..2\nok 1\nok 2\n1..3\nok 1\nok 2\nnot ok 3\n", planned(5, 4, 1, 0)),
        ("ok 1\nok 2\n1..2\nok 1\nok 2\nok 3\n1..3\n", planned(5, 5, 0, 0)),
        ("1..2\nok 1\nok 2\nok 1\n1..1\n", planned(3, 3, 0, 0)),
        ("ok - a\n1..1\nok - b\n1..1\n", planned(2, 2, 0, 0)),
        // The first died.
        ("TAP version 13\n1..5\nok 1\nTAP version 13\n1..1\nok 1\n", planned(6, 2, 0, 0)),
        ("1..5\nok 1\n1..1\nok 1\n", planned(6, 2, 0, 0)),
        ("1..0 # SKIP no x\n1..1\nok 1\n", planned(2, 1, 0, 1)),
    ] {
        assert_eq!(counts(output), expected, "{output}");
    }
    // One of them does not say how many it had.
    let cut = "ok 1 - a\nTAP version 13\n1..1\nok 1\n";
    assert_eq!(counts(cut), [None, Some(2), Some(2), Some(0), Some(0), None]);
}

#[test]
fn subtests_are_parts_of_their_point() {
    for output in [
        "1..2\n# Subtest: a\n    1..2\n    ok 1 - b\n    ok 2 - c\nok 1 - a\nok 2 - d\n",
        "1..2\n    # Subtest: a\n    ok 1 - b\n    1..1\nok 1 - a\nok 2 - d\n",
        "1..2\n    ok 1 - b\n    1..1\nok 1 - a\nok 2 - d\n",
        "1..2\nok 1 - a {\n    1..1\n    ok 1 - b\n}\nok 2 - d\n",
        "1..2\n# Subtest: a\n    # Subtest: b\n        not ok 1 - c # TODO x\n        1..1\n    ok 1 - b\n    1..1\nok 1 - a\nok 2 - d\n",
    ] {
        assert_eq!(counts(output), planned(2, 2, 0, 0), "{output}");
        let names: Vec<_> = reading(0, output).cases.into_iter().map(|case| case.name).collect();
        assert_eq!(names, ["a", "d"], "{output}");
    }
    // A point that says ok, and its part does not.
    let lies = "1..1\n# Subtest: a\n    not ok 1 - b\n    1..1\nok 1 - a\n";
    assert_eq!(counts(lies), planned(1, 0, 1, 0));
    assert_eq!(reading(0, lies).notes, ["a says ok, and its part b failed"]);
    // What a program printed is no subtest.
    assert_eq!(counts("1..1\n    not ok 1 - b\n    1..1\nok 1 - a\n"), planned(1, 1, 0, 0));
}

#[test]
fn blocks_and_comments_tell_where() {
    let frames = |output: &str| -> Vec<String> {
        let frames = reading(1, output).frames.into_iter();
        frames
            .map(|frame| {
                let (case, error) = (frame.case.unwrap_or_default(), frame.error.unwrap_or_default());
                format!("{}:{} ({case}): {error}", frame.file, frame.line)
            })
            .collect()
    };
    let block = "  ---\n  message: 'no'\n  at: f (/box/a.js:5:7)\n  ...\n";
    assert_eq!(frames(&format!("1..1\nnot ok 1 - a\n{block}")), ["a.js:5 (a): no"]);
    // Of one that holds, or is awaited, nothing is shown.
    assert_eq!(frames(&format!("1..1\nok 1 - a\n{block}")), [""; 0]);
    assert_eq!(frames(&format!("1..1\nnot ok 1 - a # TODO\n{block}")), [""; 0]);
    // One that is cut off ends at the next point.
    assert_eq!(frames("1..2\nnot ok 1 - a\n  ---\n  at: a.js:5:7\nok 2 - b\n"), ["tests/a.js:5 (a): "]);
    // Text in a block is no point.
    let output = "1..2\nnot ok 1 - a\n  ---\n  diff: |\n    not ok 3 - x\n    1..9\n  ...\nok 2 - b\n";
    assert_eq!(counts(output), planned(2, 1, 1, 0));
    // The whole, and the part that tells more.
    let nested = "1..1\n# Subtest: a\n    not ok 1 - b\n      ---\n      at: a.js:5:7\n      ...\n    1..1\nnot ok 1 - a\n  ---\n  at: a.js:1:1\n  ...\n";
    assert_eq!(frames(nested), ["tests/a.js:5 (a > b): "]);
}

#[test]
fn tap_and_another_runner() {
    // A script's points around a runner's own output: the runner is a part of one of them.
    let inner = String::from_utf8(recorded("unittest/green.txt")).expect("text");
    let output = format!("1..2\nok 1 - lint\n{inner}ok 2 - unit\n");
    assert_eq!(counts(&output), planned(2, 2, 0, 0));
    // One after the other.
    let output = format!("1..1\nok 1 - lint\n{inner}");
    let reading = reading(0, &output);
    assert_eq!((reading.reader.as_deref(), reading.counts.ran), (Some("tap + unittest"), Some(5)));
}

#[test]
fn a_colour_and_bytes_that_are_no_text_change_nothing() {
    let output = b"1..2\n\x1b[32mok 1 - a\x1b[0m\n\x1b[31mnot ok 2 - \xff\x1b[0m\n";
    let context = Context { argv: &[], ..context(1) };
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output, &context);
    assert_eq!(numbers(&reading.counts), (Some(2), [2, 1, 1, 0], Some(0)));
    assert_eq!(outcome_of(&reading, "\u{fffd}"), CaseOutcome::Failed);
}

#[test]
fn prove_in_the_middle_is_what_a_test_printed() {
    let output = "1..2\nok 1 - a\nt/x.t .. ok\nFiles=1, Tests=9, 0 wallclock\nok 2 - b\n";
    assert_eq!(counts(output), planned(2, 2, 0, 0));
}

#[test]
fn a_tally_beside_the_points_that_tells_of_more_failures_is_no_green() {
    let seen = reading(0, "1..2\nok 1 - a\nok 2 - b\n1 passed, 1 failed\n");
    assert_eq!((seen.counts.failed, seen.counts.passed, seen.counts.ran), (Some(1), None, None));
    assert_eq!(counts("1..2\nok 1 - a\nok 2 - b\n2 passed, 0 failed\n"), planned(2, 2, 0, 0));
}
