//! unittest of Python 3.8, 3.11 and 3.13.

use super::*;

fn unittest(name: &str) -> Reading {
    read_as(&ReaderChoice::Auto, Stream::Stderr, &recorded(&format!("unittest/{name}.txt")), &context(1))
}

#[test]
fn counts() {
    for (name, expected) in [
        ("green", (None, [4, 3, 0, 1], Some(0))),
        ("green-q", (None, [4, 3, 0, 1], Some(0))),
        ("green-v", (None, [4, 3, 0, 1], Some(0))),
        ("green-v-py38", (None, [4, 3, 0, 1], Some(0))),
        ("green-v-py313", (None, [4, 3, 0, 1], Some(0))),
        ("mixed-v", (None, [16, 6, 8, 2], Some(0))),
        ("mixed-b-v", (None, [16, 6, 8, 2], Some(0))),
        ("mixed-v-py38", (None, [16, 6, 8, 2], Some(0))),
        ("mixed-v-py313", (None, [16, 6, 8, 2], Some(0))),
        // Quiet, skipped subtests cannot be told from skipped cases.
        ("mixed-q", (None, [16, 4, 8, 4], Some(0))),
        ("mixed", (None, [16, 4, 8, 4], Some(0))),
        ("fixtures", (None, [5, 1, 2, 2], None)),
        ("fixtures-v", (None, [6, 1, 2, 3], None)),
        ("fixtures-v-py313", (None, [6, 1, 2, 3], None)),
        ("import", (None, [5, 3, 1, 1], Some(0))),
        ("import-v", (None, [5, 3, 1, 1], Some(0))),
        ("empty", (None, [0, 0, 0, 0], Some(0))),
        ("empty-py313", (None, [0, 0, 0, 0], Some(0))),
        ("dies", (None, [2, 1, 1, 0], Some(1))),
        ("dies-v", (None, [2, 1, 1, 0], Some(1))),
    ] {
        let reading = unittest(name);
        assert_eq!(reading.reader.as_deref(), Some("unittest"), "{name}");
        assert_eq!(numbers(&reading.counts), expected, "{name}: {reading:#?}");
    }
}

#[test]
fn names_every_case_it_can() {
    for name in ["mixed-v", "mixed-v-py38", "mixed-v-py313", "mixed-b-v"] {
        let reading = unittest(name);
        for (case, outcome) in [
            ("Mixed.test_chained", CaseOutcome::Failed),
            ("Mixed.test_doc", CaseOutcome::Passed),
            ("Mixed.test_doc_fails", CaseOutcome::Failed),
            ("Mixed.test_error", CaseOutcome::Failed),
            ("Mixed.test_expected", CaseOutcome::Passed),
            ("Mixed.test_fail", CaseOutcome::Failed),
            ("Mixed.test_pass", CaseOutcome::Passed),
            ("Mixed.test_prints", CaseOutcome::Passed),
            ("Mixed.test_prints_unended", CaseOutcome::Passed),
            ("Mixed.test_skip", CaseOutcome::Skipped),
            ("Mixed.test_unexpected", CaseOutcome::Failed),
            ("Subs.test_fail_then_teardown", CaseOutcome::Failed),
            ("Subs.test_fine", CaseOutcome::Passed),
            ("Subs.test_message", CaseOutcome::Failed),
            ("Subs.test_skips", CaseOutcome::Skipped),
            ("Subs.test_subs", CaseOutcome::Failed),
        ] {
            assert_eq!(outcome_of(&reading, &format!("__main__.{case}")), outcome, "{name}: {case}");
        }
        assert_eq!(reading.cases.len(), 16, "{name}");
        let skipped = reading.cases.iter().find(|case| case.name == "__main__.Mixed.test_skip").expect("seen above");
        assert_eq!(skipped.reason.as_deref(), Some("it's not here"), "{name}");
        assert_eq!(reading.notes, [""; 0], "{name}");
    }
}

#[test]
fn frames_are_the_deepest_of_the_last_exception() {
    for name in ["mixed", "mixed-q", "mixed-v", "mixed-v-py38", "mixed-v-py313", "mixed-b-v"] {
        let reading = unittest(name);
        let seen: Vec<_> = reading
            .frames
            .iter()
            .map(|frame| {
                assert_eq!(frame.file, "tests/test_mixed.py", "{name}");
                let (function, error) = (frame.function.as_deref(), frame.error.as_deref());
                (frame.line, function.unwrap_or_default(), error.unwrap_or_default(), frame.case.as_deref())
            })
            .collect();
        assert_eq!(
            seen,
            [
                (31, "test_chained", "RuntimeError: second", Some("__main__.Mixed.test_chained")),
                (11, "shallow", "KeyError: 'absent'", Some("__main__.Mixed.test_error")),
                (11, "shallow", "KeyError: 'cleanup'", Some("__main__.Subs.test_fail_then_teardown")),
                (53, "test_doc_fails", "AssertionError: documented", Some("__main__.Mixed.test_doc_fails")),
                (22, "test_fail", "AssertionError: 1 != 2", Some("__main__.Mixed.test_fail")),
                (
                    78,
                    "test_fail_then_teardown",
                    "AssertionError: and the cleanup, too",
                    Some("__main__.Subs.test_fail_then_teardown")
                ),
                (64, "test_message", "AssertionError: in a message", Some("__main__.Subs.test_message")),
                (60, "test_subs", "AssertionError: 1 != 0", Some("__main__.Subs.test_subs")),
                (60, "test_subs", "AssertionError: 1 != 0", Some("__main__.Subs.test_subs")),
            ],
            "{name}"
        );
    }
}

#[test]
fn that_dies_leaves_the_case_without_an_outcome() {
    let reading = unittest("dies-v");
    assert_eq!(outcome_of(&reading, "__main__.Dies.test_c"), CaseOutcome::Unknown);
    assert_eq!(outcome_of(&reading, "__main__.Dies.test_a"), CaseOutcome::Passed);
    assert_eq!(reading.cases.len(), 3);
    assert_eq!(reading.notes.len(), 1);
}

#[test]
fn fixtures_and_modules_have_names_and_frames() {
    let reading = unittest("fixtures-v");
    assert_eq!(outcome_of(&reading, "__main__.BrokenClass.setUpClass"), CaseOutcome::Failed);
    let frame = &reading.frames[0];
    assert_eq!((frame.line, frame.function.as_deref()), (7, Some("setUpClass")));
    let reading = unittest("import");
    assert_eq!(outcome_of(&reading, "unittest.loader._FailedTest.test_broken_import"), CaseOutcome::Failed);
    let frame = &reading.frames[0];
    assert_eq!((frame.file.as_str(), frame.line), ("tests/test_broken_import.py", 1));
    assert_eq!(frame.error.as_deref(), Some("ModuleNotFoundError: No module named 'no_such_module_of_ours'"));
}

#[test]
fn tallies_add_up() {
    let mut both = recorded("unittest/green-v.txt");
    both.extend(recorded("unittest/mixed-v.txt"));
    both.extend(recorded("unittest/green.txt"));
    let reading = read_as(&ReaderChoice::Auto, Stream::Stderr, &both, &context(1));
    assert_eq!(numbers(&reading.counts), (None, [24, 12, 8, 4], Some(0)));
    assert_eq!(reading.cases.len(), 20);
    both.extend(recorded("unittest/dies-v.txt"));
    let reading = read_as(&ReaderChoice::Auto, Stream::Stderr, &both, &context(0));
    assert_eq!(numbers(&reading.counts), (None, [26, 13, 9, 4], Some(1)));
}

/// A suite whose only failure has another program's output as its message.
fn with_message(message: &str) -> String {
    let (double, single) = ("=".repeat(70), "-".repeat(70));
    format!(
        "F.\n{double}\nFAIL: test_x (m.C.test_x)\n{single}\nTraceback (most recent call last):\n  \
         File \"/box/t.py\", line 9, in test_x\n    self.assertEqual(code, 0, output)\nAssertionError: 1 != 0 : {message}\n\n\
         {single}\nRan 2 tests in 0.001s\n\nFAILED (failures=1)\n"
    )
}

#[test]
fn a_tally_in_the_message_of_a_failure_is_not_the_suites() {
    let inner = String::from_utf8(recorded("unittest/green.txt")).expect("text");
    let reading = read_as(&ReaderChoice::Auto, Stream::Stderr, with_message(&inner).as_bytes(), &context(1));
    assert_eq!(numbers(&reading.counts), (None, [2, 1, 1, 0], Some(0)));
}

#[test]
fn of_a_failure_the_first_traceback_counts() {
    let inner = "x\nTraceback (most recent call last):\n  File \"/box/hook.py\", line 1, in g\nOSError: no\n";
    let reading = read_as(&ReaderChoice::Auto, Stream::Stderr, with_message(inner).as_bytes(), &context(1));
    let lines: Vec<_> = reading.frames.iter().map(|frame| (frame.line, frame.case.as_deref())).collect();
    assert_eq!(lines, [(9, Some("m.C.test_x"))]);
}

#[test]
fn what_a_case_prints_last_is_its_outcome_only_if_something_follows() {
    for (output, outcome) in [
        ("test_a (m.C.test_a) ... it looks ok", CaseOutcome::Unknown),
        ("test_a (m.C.test_a) ... it looks ok\nand more", CaseOutcome::Unknown),
        ("test_a (m.C.test_a) ... it looks ok\nand more\ntest_b (m.C.test_b) ... ok", CaseOutcome::Unknown),
        ("test_a (m.C.test_a) ... no endok\ntest_b (m.C.test_b) ... ok", CaseOutcome::Passed),
        ("test_a (m.C.test_a) ... it looks ok\nFAIL\ntest_b (m.C.test_b) ... ok", CaseOutcome::Failed),
        ("test_a (m.C.test_a) ... x\nskipped 'why'\ntest_b (m.C.test_b)\nWords. ... ok", CaseOutcome::Skipped),
        ("test_a (m.C.test_a)\nWords. ... FAIL", CaseOutcome::Failed),
    ] {
        let reading =
            read_as(&ReaderChoice::Named(ReaderName::Unittest), Stream::Stderr, output.as_bytes(), &context(0));
        assert_eq!(outcome_of(&reading, "m.C.test_a"), outcome, "{output}");
        if output.contains("test_b") {
            assert_eq!(outcome_of(&reading, "m.C.test_b"), CaseOutcome::Passed, "{output}");
        }
    }
}

#[test]
fn the_tally_wins_over_lines_that_others_wrote_into() {
    let output = "test_a (m.C.test_a) ... ok<worker 2> b begins\n\ntest_b (m.C.test_b) ... ok\n\n\
                  ----------------------------------------------------------------------\nRan 2 tests in 0.1s\n\nOK\n";
    let reading = read_as(&ReaderChoice::Auto, Stream::Stderr, output.as_bytes(), &context(0));
    assert_eq!(numbers(&reading.counts), (None, [2, 2, 0, 0], Some(0)));
    assert_eq!(outcome_of(&reading, "m.C.test_a"), CaseOutcome::Passed);
    let output = output.replace("Ran 2", "Ran 4");
    let reading = read_as(&ReaderChoice::Auto, Stream::Stderr, output.as_bytes(), &context(0));
    assert_eq!(numbers(&reading.counts), (None, [4, 4, 0, 0], Some(0)));
    assert_eq!(reading.notes.len(), 1);
}

#[test]
fn half_a_tally_says_how_many_have_no_outcome() {
    let output = "----------------------------------------------------------------------\nRan 4 tests in 0.1s\n";
    let reading = read_as(&ReaderChoice::Auto, Stream::Stderr, output.as_bytes(), &context(0));
    assert_eq!(numbers(&reading.counts), (None, [0, 0, 0, 0], Some(4)));
}

#[test]
fn a_skipped_class_is_not_hidden() {
    let output = "s\n----------------------------------------------------------------------\nRan 0 tests in 0.1s\n\nOK (skipped=1)\n";
    let reading = read_as(&ReaderChoice::Auto, Stream::Stderr, output.as_bytes(), &context(0));
    assert_eq!(numbers(&reading.counts), (None, [1, 0, 0, 1], Some(0)));
}

#[test]
fn a_suite_that_died_before_another_is_not_forgotten() {
    let end = |ran: u64| format!("\n{}\nRan {ran} tests in 0.000s\n\nOK\n", "-".repeat(70));
    let verbose = format!("test_a (m.T.test_a) ... ok\ntest_b (m.T.test_b) ... ok\n{}", end(2));
    let quiet = format!("..{}", end(2));
    for (output, expected) in [
        (format!("..{quiet}"), (None, [2, 2, 0, 0], Some(1))),
        (format!("{quiet}.."), (None, [4, 4, 0, 0], Some(1))),
        (format!("{quiet}..\n"), (None, [2, 2, 0, 0], Some(0))),
        (format!("..{verbose}"), (None, [2, 2, 0, 0], Some(1))),
        (format!("test_c (d.T.test_c) ... ok\ntest_d (d.T.test_d) ... {verbose}"), (None, [2, 2, 0, 0], Some(1))),
    ] {
        let reading = read_as(&ReaderChoice::Auto, Stream::Stderr, output.as_bytes(), &context(0));
        assert_eq!(numbers(&reading.counts), expected, "{output}");
        assert!(reading.cases.iter().all(|case| !case.name.contains("..")), "{:?}", reading.cases);
    }
}

#[test]
fn a_suite_that_a_case_ran_did_not_follow_one_that_died() {
    let end = |ran: u64| format!("\n{}\nRan {ran} tests in 0.000s\n\nOK\n", "-".repeat(70));
    let verbose = format!("test_a (m.T.test_a) ... ok\ntest_b (m.T.test_b) ... ..{0}ok\n{0}", end(2));
    for output in [format!("...{}.{}", end(2), end(2)), verbose] {
        let reading = read_as(&ReaderChoice::Auto, Stream::Stderr, output.as_bytes(), &context(0));
        assert_eq!(numbers(&reading.counts), (None, [4, 4, 0, 0], Some(0)), "{output}");
    }
}
