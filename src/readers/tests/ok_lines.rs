//! Plain lines and tallies.

use super::*;

fn reading(exit: i32, output: &str) -> Reading {
    let context = Context { argv: &[], ..context(exit) };
    read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context)
}

/// Planned, ran, passed, failed, skipped, unknown.
fn counts(exit: i32, output: &str) -> [Option<u64>; 6] {
    let reading = reading(exit, output);
    assert_eq!(reading.reader.as_deref(), Some("ok-lines"), "{output}");
    let Counts { planned, ran, passed, failed, skipped, unknown } = reading.counts;
    [planned, ran, passed, failed, skipped, unknown]
}

const fn full(ran: u64, passed: u64, failed: u64, skipped: u64) -> [Option<u64>; 6] {
    [None, Some(ran), Some(passed), Some(failed), Some(skipped), Some(0)]
}

#[test]
fn tallies() {
    for (output, expected) in [
        ("all green (57 checks)", full(57, 57, 0, 0)),
        ("all green (1 check)", full(1, 1, 0, 0)),
        ("All green (3 tests).", full(3, 3, 0, 0)),
        ("All 57 tests passed!", full(57, 57, 0, 0)),
        ("57 checks passed", full(57, 57, 0, 0)),
        ("21 passed", full(21, 21, 0, 0)),
        ("3 passed, 2 failed", full(5, 3, 2, 0)),
        ("3 passed, 2 failed, 4 skipped", full(9, 3, 2, 4)),
        ("2 failed, 3 passed", full(5, 3, 2, 0)),
        ("3 passed, 1 failed, 1 error", full(5, 3, 2, 0)),
        ("Results: 3 passed, 0 failed", full(3, 3, 0, 0)),
        ("PASS: 3 FAIL: 1", full(4, 3, 1, 0)),
        ("PASS=3 FAIL=0 SKIP=2", full(5, 3, 0, 2)),
        ("passed: 3, failed: 0, total: 3", full(3, 3, 0, 0)),
        ("3/3 passed", full(3, 3, 0, 0)),
        ("3/5 checks passed", full(5, 3, 2, 0)),
        ("Ran 5 tests: ok", full(5, 5, 0, 0)),
        ("Ran 5 checks, all ok", full(5, 5, 0, 0)),
        ("1 failed: no such file", [None, None, None, Some(1), None, None]),
        ("0 passed", full(0, 0, 0, 0)),
        ("=== Results: 5 passed, 0 failed ===", full(5, 5, 0, 0)),
        ("✅ Passed: 5  ❌ Failed: 1", full(6, 5, 1, 0)),
        ("Passed: 5 | Failed: 0 | Skipped: 1", full(6, 5, 0, 1)),
        ("Tests: 5, Failures: 1", full(5, 4, 1, 0)),
        ("Tests run: 5, Failures: 1, Errors: 1, Skipped: 1", full(5, 2, 2, 1)),
        ("5 tests, 1 failure", full(5, 4, 1, 0)),
        ("5 tests: 4 passed, 1 failed", full(5, 4, 1, 0)),
        ("Total: 5, Passed: 4, Failed: 1", full(5, 4, 1, 0)),
        ("Total: 5, Passed: 3, Failed: 1", [Some(5), Some(4), Some(3), Some(1), Some(0), Some(1)]),
        ("Passed: 3/5", full(5, 3, 2, 0)),
        ("2 of 5 tests failed", full(5, 3, 2, 0)),
        ("Passed: 5\nFailed: 0", full(5, 5, 0, 0)),
        ("Total: 6\nPassed: 4\n\nFailed: 1\nSkipped: 1", full(6, 4, 1, 1)),
        ("Tests passed: 5\nTests failed: 2", full(7, 5, 2, 0)),
        ("Tests: 5\nFailures: 1", full(5, 4, 1, 0)),
        ("  5 passing\n  1 failing\n", full(6, 5, 1, 0)),
        (" 5 pass\n 0 fail", full(5, 5, 0, 0)),
        ("✓ a\n✗ b\n1 passed, 1 failed", full(2, 1, 1, 0)),
        ("✓ loaded\n✓ a\n✗ b\n1 passed, 1 failed", full(2, 1, 1, 0)),
        ("✓ a\n✓ b\n✓ All tests passed!", full(2, 2, 0, 0)),
    ] {
        assert_eq!(counts(0, output), expected, "{output}");
    }
}

#[test]
fn prose_is_no_tally() {
    for output in [
        "5 passed away",
        "we have 5 passed",
        "5 passed: see the log",
        "the 3 tests passed quickly",
        "[INFO] 3 passed",
        "ok then, let us begin",
        "ok",
        "OK",
        "FAILED to connect, trying again",
        "FAILED to connect, trying again\nFAILED to connect, trying again",
        "a looks ok\nb looks ok",
        "6/5 passed",
        "99999999999999999999999 passed",
        "PASS",
        "Total: 5",
        "5 tests",
        "5 tests in 3 files",
        "Skipped: 1",
        "✓ installed\n✓ built",
        "✗ no config, using defaults\n✓ built",
        "tests: 5 passed away",
        "passed: yes",
        "All tests passed to the next stage",
        "Some tests failed",
        "",
    ] {
        let reading = reading(0, output);
        assert_eq!((reading.reader.as_deref(), reading.counts), (None, Counts::default()), "{output}");
    }
}

#[test]
fn lines_of_cases() {
    let output =
        "ok one\nok - two, with words\nnot ok three\nPASS four\nFAIL: five\nSKIP six\nok 7 - seven # SKIP no net\n";
    assert_eq!(counts(1, output), [None, Some(7), Some(3), Some(2), Some(2), None]);
    let reading = reading(1, output);
    let names: Vec<_> = reading.cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["one", "two, with words", "three", "four", "five", "six", "seven"]);
    assert_eq!(reading.cases[6].reason.as_deref(), Some("no net"));
    assert_eq!(reading.notes.len(), 1);
}

#[test]
fn a_short_plan_leaves_cases_without_an_outcome() {
    assert_eq!(counts(0, "4 planned\nok a\nok b\n"), [Some(4), Some(2), Some(2), Some(0), Some(0), Some(2)]);
    assert_eq!(counts(0, "1..3\nPASS a\nPASS b\n"), [Some(3), Some(2), Some(2), Some(0), Some(0), Some(1)]);
}

#[test]
fn the_tally_wins_over_the_lines_and_the_gap_is_noted() {
    let output = format!("{}all green (57 checks)\n", "ok some case\n".repeat(15));
    assert_eq!(counts(0, &output), full(57, 57, 0, 0));
    assert_eq!(reading(0, &output).notes.len(), 1);
    let output = "ok a\nnot ok b\nall green (2 checks)\n";
    assert_eq!(counts(0, output), full(2, 1, 1, 0));
    // As many, and one of them failed, whatever the tally says.
    let output = "ok a\nok b\nFAIL c\nResults: 3 passed, 0 failed\n";
    assert_eq!(counts(0, output), full(3, 2, 1, 0));
    assert_eq!(reading(0, output).notes.len(), 1);
    // One line more than the tally has: it may be what a case prints.
    assert_eq!(counts(0, "ok a\nok b\nFAIL: forbidden\n2 passed, 0 failed\n"), full(2, 2, 0, 0));
    let output = "ok a\nok b\nall green (2 checks)\n";
    assert_eq!(counts(0, output), full(2, 2, 0, 0));
    assert_eq!(reading(0, output).notes, [""; 0]);
}

#[test]
fn several_tallies() {
    assert_eq!(counts(0, "3 passed\n4 passed\n7 passed\n"), full(7, 7, 0, 0));
    assert_eq!(counts(0, "ok a\nok b\n2 passed\nok c\n1 passed\n"), full(3, 3, 0, 0));
    assert_eq!(counts(0, "3 passed, 1 failed\n4 passed, 0 failed\n"), full(8, 7, 1, 0));
}

#[test]
fn all_skipped_is_told_and_is_no_pass() {
    assert_eq!(counts(0, "SKIP: no such-tool here\n"), full(1, 0, 0, 1));
    let skipped = reading(0, "SKIP: no such-tool here\n");
    assert_eq!(skipped.cases[0].reason.as_deref(), Some("no such-tool here"));
    // It says so, and yet it failed: nothing is known.
    assert_eq!(reading(1, "SKIP: no such-tool here\n").reader, None);
    assert_eq!(counts(0, "ok a\nSKIP: b needs a network\n1 passed\n"), full(2, 1, 0, 1));
}

#[test]
fn a_proof_without_a_number_leaves_the_counts_unknown() {
    for output in ["all ok", "All tests passed!", "All green."] {
        assert_eq!(counts(0, output), [None; 6], "{output}");
        assert_eq!(reading(0, output).notes.len(), 1);
    }
    assert_eq!(counts(0, "ok a\nok b\nall ok\n"), full(2, 2, 0, 0));
    assert_eq!(counts(0, "case 1 ok\ncase 3: ok\ncase 4 ... FAIL\nall ok\n"), full(3, 2, 1, 0));
    assert_eq!(counts(0, "the disk looks ok\nall ok\n"), [None; 6]);
}

#[test]
fn a_proof_that_is_taken_back_is_none() {
    assert_eq!(reading(0, "All tests passed!\nSome tests failed!\n").reader, None);
}

#[test]
fn marks_are_cases_where_the_command_speaks_of_tests() {
    let argv = ["sh".to_owned(), "hooks/selftest.sh".to_owned()];
    let context = Context { argv: &argv, ..context(1) };
    let seen = read_as(&ReaderChoice::Auto, Stream::Stdout, "✓ a\n❌ b\n✅ c\n".as_bytes(), &context);
    assert_eq!(numbers(&seen.counts), (None, [3, 2, 1, 0], None));
    assert_eq!(outcome_of(&seen, "b"), CaseOutcome::Failed);
    let named = ReaderChoice::Named(ReaderName::OkLines);
    let seen = read_as(&named, Stream::Stdout, "✓ a\n✗ b\n".as_bytes(), &Context { argv: &[], ..context });
    assert_eq!(numbers(&seen.counts).1, [2, 1, 1, 0]);
}

#[test]
fn a_script_that_dies_shows_where() {
    let output = "ok a\nok b\nTraceback (most recent call last):\n  File \"/box/hooks/t.py\", line 7, in test_c\n    x()\nOSError: [Errno 16] busy\n";
    let reading = reading(1, output);
    assert_eq!(reading.counts.ran, Some(2));
    let frame = &reading.frames[0];
    assert_eq!(
        (frame.file.as_str(), frame.line, frame.error.as_deref()),
        ("hooks/t.py", 7, Some("OSError: [Errno 16] busy"))
    );
}

#[test]
fn outcomes_in_brackets_are_cases() {
    let output = "Hook tests\n  [PASS] one thing\n  [PASS] another\n  [FAIL] a third\n  [SKIP] no gh\nSTATUS: FAILED\n";
    let reading = reading(1, output);
    let counts = reading.counts;
    assert_eq!((counts.ran, counts.passed, counts.failed, counts.skipped), (Some(4), Some(2), Some(1), Some(1)));
    assert_eq!(outcome_of(&reading, "a third"), CaseOutcome::Failed);
    let log = "[ OK ] Started the service\n";
    assert_eq!(self::reading(0, log).reader, None, "one line of a log");
}
