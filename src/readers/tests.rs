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

fn pytest(name: &str) -> Reading {
    let context = Context { cwd: Path::new("/box"), ..context(1) };
    read_as(ReaderChoice::Auto, Stream::Stdout, &recorded(&format!("pytest/{name}.txt")), &context)
}

#[test]
fn pytest_counts() {
    let mixed = [20, 4, 14, 2];
    for (name, expected) in [
        ("mixed", (Some(20), mixed, Some(0))),
        ("mixed-v", (Some(20), mixed, Some(0))),
        ("mixed-v-s", (Some(20), mixed, Some(0))),
        ("mixed-vv-rA", (Some(20), mixed, Some(0))),
        ("mixed-colour", (Some(20), mixed, Some(0))),
        ("mixed-rerun", (Some(20), mixed, Some(0))),
        ("mixed-xdist", (Some(20), mixed, Some(0))),
        ("mixed-xdist-v", (Some(20), mixed, Some(0))),
        ("mixed-q-long", (None, mixed, Some(0))),
        ("mixed-q-short", (None, mixed, Some(0))),
        ("mixed-q-line", (None, mixed, Some(0))),
        ("mixed-q-native", (None, mixed, Some(0))),
        ("mixed-q-no", (None, mixed, Some(0))),
        ("mixed-q-auto", (None, mixed, Some(0))),
        ("mixed-q-rN", (None, mixed, Some(0))),
        ("mixed-qq", (None, mixed, Some(0))),
        ("mixed-x", (Some(20), [2, 1, 1, 0], Some(18))),
        ("green", (Some(6), [6, 6, 0, 0], Some(0))),
        ("green-q", (None, [6, 6, 0, 0], Some(0))),
        ("green-v", (Some(6), [6, 6, 0, 0], Some(0))),
        ("green-k", (Some(4), [4, 4, 0, 0], Some(0))),
        ("none", (Some(0), [0, 0, 0, 0], Some(0))),
        ("none-q", (None, [0, 0, 0, 0], Some(0))),
        ("dies", (Some(4), [2, 1, 1, 0], Some(2))),
        ("dies-v", (Some(4), [2, 1, 1, 0], Some(2))),
        ("dies-q", (None, [2, 1, 1, 0], Some(1))),
        ("dies-xdist-v", (Some(4), [4, 2, 2, 0], Some(0))),
        ("collect", (Some(8), [2, 0, 2, 0], Some(6))),
        ("collect-v-go", (Some(7), [7, 6, 1, 0], Some(0))),
        ("module-skip", (Some(7), [7, 6, 0, 1], Some(0))),
        ("subtests", (Some(2), [2, 1, 1, 0], Some(0))),
        ("subtests-v", (Some(2), [2, 1, 1, 0], Some(0))),
        ("unittest-cases", (Some(22), [22, 7, 11, 4], Some(0))),
        ("unittest-cases-v", (Some(22), [22, 7, 11, 4], Some(0))),
        ("internal", (Some(6), [5, 5, 0, 0], Some(1))),
    ] {
        let reading = pytest(name);
        assert_eq!(reading.reader, Some("pytest"), "{name}");
        assert_eq!(numbers(&reading.counts), expected, "{name}: {:#?} {:#?}", reading.counts, reading.notes);
    }
}

#[test]
fn pytest_names_every_case_where_the_output_does() {
    for name in ["mixed-v", "mixed-v-s", "mixed-vv-rA", "mixed-xdist-v"] {
        let reading = pytest(name);
        for (case, outcome) in [
            ("TestThing::test_words[a b]", CaseOutcome::Passed),
            ("TestThing::test_words[c::d]", CaseOutcome::Failed),
            ("TestThing::test_words[e - f]", CaseOutcome::Failed),
            ("TestThing::test_words[g PASSED h]", CaseOutcome::Failed),
            ("test_late", CaseOutcome::Failed),
            ("test_early", CaseOutcome::Failed),
            ("test_skip", CaseOutcome::Skipped),
            ("test_xfail", CaseOutcome::Passed),
            ("test_prints", CaseOutcome::Failed),
        ] {
            assert_eq!(outcome_of(&reading, &format!("tests/test_py.py::{case}")), outcome, "{name}: {case}");
        }
        assert_eq!(reading.cases.len(), 20, "{name}: {:#?}", reading.cases);
        assert_eq!(reading.notes, [""; 0], "{name}");
    }
    let reading = pytest("mixed-v");
    let reasons: Vec<_> = reading.cases.iter().filter_map(|case| case.reason.as_deref()).collect();
    assert_eq!(reasons, ["not here", "never (anywhere)"]);
    assert_eq!(outcome_of(&pytest("dies-v"), "tests/test_py_dies.py::test_c"), CaseOutcome::Unknown);
    let reading = pytest("module-skip");
    assert_eq!(reading.cases[0].reason.as_deref(), Some("no database"));
    assert_eq!(reading.cases[0].name, "tests/test_py_module_skip.py:3");
}

type Seen<'a> = (&'a str, u64, Option<&'a str>, Option<&'a str>, Option<&'a str>);

fn frames(reading: &Reading) -> Vec<Seen<'_>> {
    reading
        .frames
        .iter()
        .map(|frame| {
            let (function, error) = (frame.function.as_deref(), frame.error.as_deref());
            (frame.file.as_str(), frame.line, function, error, frame.case.as_deref())
        })
        .collect()
}

const T: &str = "tests/test_py.py";
const H: &str = "tests/helpers.py";
const NONE_AND_INT: &str = "TypeError: unsupported operand type(s) for +: 'NoneType' and 'int'";
const NOT_DICT: &str = "TypeError: the JSON object must be str, bytes or bytearray, not dict";

/// File, line, function, error and case of each failure of `test_py.py`, errors first.
const MIXED: [Seen<'static>; 14] = [
    (T, 24, Some("late"), Some("RuntimeError: late and broken"), Some("tests/test_py.py::test_late")),
    (T, 24, Some("late"), Some("RuntimeError: late and broken"), Some("tests/test_py.py::test_late_and_wrong")),
    (T, 29, Some("early"), Some("OSError: early and broken"), Some("tests/test_py.py::test_early")),
    (
        T,
        44,
        Some("test_nofixture"),
        Some("fixture 'nothing_of_that_name' not found"),
        Some("tests/test_py.py::test_nofixture"),
    ),
    (T, 14, Some("test_wrong"), Some("AssertionError: assert 2 == 5"), Some("tests/test_py.py::TestThing::test_wrong")),
    (
        T,
        18,
        Some("test_words"),
        Some("AssertionError: assert 'c::d' == 'a b'"),
        Some("tests/test_py.py::TestThing::test_words[c::d]"),
    ),
    (
        T,
        18,
        Some("test_words"),
        Some("AssertionError: assert 'e - f' == 'a b'"),
        Some("tests/test_py.py::TestThing::test_words[e - f]"),
    ),
    (
        T,
        18,
        Some("test_words"),
        Some("AssertionError: assert 'g PASSED h' == 'a b'"),
        Some("tests/test_py.py::TestThing::test_words[g PASSED h]"),
    ),
    (
        T,
        37,
        Some("test_late_and_wrong"),
        Some("AssertionError: assert 1 == 2"),
        Some("tests/test_py.py::test_late_and_wrong"),
    ),
    (H, 5, Some("check"), Some(NONE_AND_INT), Some("tests/test_py.py::test_deep")),
    (H, 9, Some("lib_check"), Some(NOT_DICT), Some("tests/test_py.py::test_library")),
    (T, 60, Some("test_chained"), Some("ValueError: while handling"), Some("tests/test_py.py::test_chained")),
    (T, 90, Some("test_prints"), Some("AssertionError: after printing"), Some("tests/test_py.py::test_prints")),
    (T, 94, Some("test_group"), Some("ExceptionGroup: two (2 sub-exceptions)"), Some("tests/test_py.py::test_group")),
];

#[test]
fn pytest_frames_are_the_same_in_every_form() {
    for name in [
        "mixed",
        "mixed-v",
        "mixed-v-s",
        "mixed-vv-rA",
        "mixed-colour",
        "mixed-rerun",
        "mixed-q-long",
        "mixed-q-short",
        "mixed-q-native",
        "mixed-q-auto",
        "mixed-qq",
    ] {
        assert_eq!(frames(&pytest(name)), MIXED, "{name}");
    }
    for name in ["mixed-xdist", "mixed-xdist-v"] {
        let reading = pytest(name);
        let (mut seen, mut expected) = (frames(&reading), MIXED.to_vec());
        seen.sort_unstable();
        expected.sort_unstable();
        assert_eq!(seen, expected, "{name}");
    }
    assert_eq!(frames(&pytest("mixed-q-no")), []);
}

#[test]
fn pytest_line_form_has_places_and_the_summary_names_them() {
    let reading = pytest("mixed-q-line");
    let mut expected: Vec<_> =
        MIXED[3..].iter().map(|&(file, line, _, error, case)| (file, line, None, error, case)).collect();
    expected[0].2 = Some("test_nofixture");
    // The place that this form gives is the deepest of all, which is the library's.
    expected.retain(|frame| frame.3 != Some(NOT_DICT));
    assert_eq!(frames(&reading), expected);
}

#[test]
fn pytest_frames_without_the_short_summary_have_titles() {
    let reading = pytest("mixed-q-rN");
    let cases: Vec<_> = reading.frames.iter().map(|frame| frame.case.as_deref().unwrap_or_default()).collect();
    assert_eq!(
        cases[..6],
        [
            "test_late",
            "test_late_and_wrong",
            "test_early",
            "test_nofixture",
            "TestThing.test_wrong",
            "TestThing.test_words[c::d]"
        ]
    );
}

#[test]
fn pytest_tells_what_it_could_not_load() {
    let reading = pytest("collect");
    assert_eq!(
        frames(&reading),
        [
            ("tests/test_py_syntax.py", 1, None, Some("SyntaxError: invalid syntax"), Some("tests/test_py_syntax.py")),
            (
                "tests/test_broken_import.py",
                1,
                Some("<module>"),
                Some("ModuleNotFoundError: No module named 'no_such_module_of_ours'"),
                Some("tests/test_broken_import.py")
            ),
        ]
    );
    let reading = pytest("conftest");
    assert_eq!(reading.reader, Some("pytest"));
    assert_eq!(reading.counts, Counts::default());
    assert_eq!(
        frames(&reading),
        [(
            "conftest.py",
            1,
            Some("<module>"),
            Some("ModuleNotFoundError: No module named 'no_such_module_of_ours'"),
            None
        )]
    );
    let reading = pytest("internal");
    assert_eq!(
        frames(&reading),
        [("conftest.py", 3, Some("pytest_runtest_protocol"), Some("RuntimeError: in a hook"), None)]
    );
    assert_eq!(pytest("usage").reader, None);
}

#[test]
fn pytest_sessions_add_up() {
    let mut both = recorded("pytest/green-q.txt");
    both.extend(recorded("pytest/mixed-q-short.txt"));
    both.extend(recorded("pytest/green.txt"));
    both.extend(recorded("pytest/green-v.txt"));
    both.extend(recorded("pytest/green-q.txt"));
    let reading = read_as(ReaderChoice::Auto, Stream::Stdout, &both, &context(1));
    assert_eq!(numbers(&reading.counts), (None, [44, 28, 14, 2], Some(0)));
}
