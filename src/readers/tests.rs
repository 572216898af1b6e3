//! Whole outputs, as the sub-runners really printed them (`fixtures/readers`).

use std::path::Path;

use super::*;
use crate::model::{CaseOutcome, Counts, Exit, ReaderChoice, Stream};

fn context(exit: i32) -> Context<'static> {
    Context { project: Path::new("/box"), cwd: Path::new("/box/tests"), exit: Some(Exit::Code(exit)) }
}

fn recorded(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/readers").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn read_as(choice: ReaderChoice, stream: Stream, bytes: &[u8], context: &Context<'_>) -> Reading {
    read(choice, vec![Source { stream, bytes: Box::new(bytes), marks: &[] }], context).expect("a slice can be read")
}

fn unittest(name: &str) -> Reading {
    read_as(ReaderChoice::Auto, Stream::Stderr, &recorded(&format!("unittest/{name}.txt")), &context(1))
}

/// Ran, passed, failed, skipped; the sum is checked, planned and unknown are given back.
fn numbers(counts: &Counts) -> (Option<u64>, [u64; 4], Option<u64>) {
    let known = [counts.ran, counts.passed, counts.failed, counts.skipped].map(|count| count.expect("known"));
    assert_eq!(known[0], known[1..].iter().sum::<u64>(), "{counts:?}");
    if let (Some(planned), Some(unknown)) = (counts.planned, counts.unknown) {
        assert_eq!(planned, known[0] + unknown, "{counts:?}");
    }
    (counts.planned, known, counts.unknown)
}

fn outcome_of(reading: &Reading, name: &str) -> CaseOutcome {
    let mut found = reading.cases.iter().filter(|case| case.name == name);
    let case = found.next().unwrap_or_else(|| panic!("{name} in {:?}", reading.cases));
    assert!(found.next().is_none(), "{name} twice");
    case.outcome
}

#[test]
fn unittest_counts() {
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
        assert_eq!(reading.reader, Some("unittest"), "{name}");
        assert_eq!(numbers(&reading.counts), expected, "{name}: {reading:#?}");
    }
}

#[test]
fn unittest_names_every_case_it_can() {
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
fn unittest_frames_are_the_deepest_of_the_last_exception() {
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
                (78, "test_fail_then_teardown", "AssertionError: and the cleanup, too",
                 Some("__main__.Subs.test_fail_then_teardown")),
                (64, "test_message", "AssertionError: in a message", Some("__main__.Subs.test_message")),
                (60, "test_subs", "AssertionError: 1 != 0", Some("__main__.Subs.test_subs")),
                (60, "test_subs", "AssertionError: 1 != 0", Some("__main__.Subs.test_subs")),
            ],
            "{name}"
        );
    }
}

#[test]
fn unittest_that_dies_leaves_the_case_without_an_outcome() {
    let reading = unittest("dies-v");
    assert_eq!(outcome_of(&reading, "__main__.Dies.test_c"), CaseOutcome::Unknown);
    assert_eq!(outcome_of(&reading, "__main__.Dies.test_a"), CaseOutcome::Passed);
    assert_eq!(reading.cases.len(), 3);
    assert_eq!(reading.notes.len(), 1);
}

#[test]
fn unittest_fixtures_and_modules_have_names_and_frames() {
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
fn unittest_tallies_add_up() {
    let mut both = recorded("unittest/green-v.txt");
    both.extend(recorded("unittest/mixed-v.txt"));
    both.extend(recorded("unittest/green.txt"));
    let reading = read_as(ReaderChoice::Auto, Stream::Stderr, &both, &context(1));
    assert_eq!(numbers(&reading.counts), (None, [24, 12, 8, 4], Some(0)));
    assert_eq!(reading.cases.len(), 20);
    both.extend(recorded("unittest/dies-v.txt"));
    let reading = read_as(ReaderChoice::Auto, Stream::Stderr, &both, &context(0));
    assert_eq!(numbers(&reading.counts), (None, [26, 13, 9, 4], Some(1)));
}
