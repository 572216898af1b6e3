//! Whole outputs, as the sub-runners really printed them (`fixtures/readers`).

use std::path::Path;

use proptest::prelude::*;

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

#[test]
fn an_outcome_comes_when_its_line_does() {
    let bytes = b"test_a (m.C.test_a) ... ok\ntest_b (m.C.test_b) ... x\nok\ntest_c (m.C.test_c) ... ";
    let marks = [(27, 1_000), (54, 2_999), (57, 3_000), (200, 4_000)].map(|(offset, at_us)| Mark { offset, at_us });
    let source = Source { stream: Stream::Stderr, bytes: Box::new(&bytes[..]), marks: &marks };
    let reading = read(ReaderChoice::Unittest, vec![source], &context(0)).expect("a slice can be read");
    let seen: Vec<_> = reading.cases.iter().map(|case| (case.name.as_str(), case.at_ms)).collect();
    assert_eq!(seen, [("m.C.test_a", Some(1)), ("m.C.test_b", Some(3)), ("m.C.test_c", Some(4))]);
}

#[test]
fn the_surest_reader_wins() {
    // Lines of cases by unittest, a tally by the script around it.
    let mut output = recorded("unittest/dies-v.txt");
    output.extend_from_slice(b"\nok a\nall green (2 checks)\n");
    let reading = read_as(ReaderChoice::Auto, Stream::Stdout, &output, &context(0));
    assert_eq!((reading.reader, reading.counts.ran), (Some("ok-lines"), Some(2)));
    // Two tallies: the more particular form.
    let mut output = recorded("unittest/green.txt");
    output.extend_from_slice(b"ok a\nall green (2 checks)\n");
    let reading = read_as(ReaderChoice::Auto, Stream::Stdout, &output, &context(0));
    assert_eq!((reading.reader, reading.counts.ran), (Some("unittest"), Some(4)));
    // Dots are unittest's on stderr, pytest's on stdout.
    for (stream, reader) in [(Stream::Stdout, "pytest"), (Stream::Stderr, "unittest")] {
        assert_eq!(read_as(ReaderChoice::Auto, stream, b"..F", &context(0)).reader, Some(reader));
    }
}

#[test]
fn without_a_reader_a_red_exit_still_shows_its_frames() {
    let output =
        b"starting\nTraceback (most recent call last):\n  File \"/box/hook.py\", line 3, in main\nOSError: no\n";
    for (exit, frames) in [(Some(Exit::Code(1)), 1), (Some(Exit::Signal(9)), 1), (None, 1), (Some(Exit::Code(0)), 0)] {
        for choice in [ReaderChoice::None, ReaderChoice::Auto, ReaderChoice::Pytest] {
            let reading = read_as(choice, Stream::Stderr, output, &Context { exit, ..context(0) });
            assert_eq!(reading.frames.len(), frames, "{choice:?} {exit:?}");
            assert_eq!(reading.counts, Counts::default());
        }
    }
}

#[test]
fn a_named_reader_says_that_it_found_nothing() {
    let reading = read_as(ReaderChoice::Unittest, Stream::Stdout, b"ok a\nok b\n", &context(0));
    assert_eq!((reading.reader, reading.counts, reading.notes.len()), (Some("unittest"), Counts::default(), 1));
    let reading = read_as(ReaderChoice::None, Stream::Stdout, b"ok a\nok b\n", &context(0));
    assert_eq!((reading.reader, reading.counts, reading.notes.len()), (None, Counts::default(), 0));
}

#[test]
fn streams_are_read_stdout_first_whatever_their_order() {
    let (out, err) = (recorded("unittest/green-v.txt"), b"test_x (m.C.test_x) ... ".to_vec());
    let sources = [(Stream::Stderr, &err), (Stream::Stdout, &out)].map(|(stream, bytes)| Source {
        stream,
        bytes: Box::new(bytes.as_slice()),
        marks: &[],
    });
    let reading = read(ReaderChoice::Auto, sources.into(), &context(0)).expect("a slice can be read");
    assert_eq!(reading.cases.last().map(|case| case.name.as_str()), Some("m.C.test_x"));
}

#[test]
fn lists_are_bounded_and_numbers_are_not() {
    let mut output = String::new();
    for i in 0..cases::MOST_CASES + 5 {
        output.push_str(&format!("ok {}{i}\n", if i == 0 { "x".repeat(5_000) } else { String::new() }));
    }
    for i in 0..cases::MOST_FRAMES + 5 {
        output.push_str(&format!("Traceback (most recent call last):\n  File \"a.py\", line {i}, in f\nE: {i}\n"));
    }
    let reading = read_as(ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context(1));
    assert_eq!(reading.counts.ran, Some(cases::MOST_CASES as u64 + 5));
    assert_eq!((reading.cases.len(), reading.frames.len()), (cases::MOST_CASES, cases::MOST_FRAMES));
    assert!(reading.cases[0].name.chars().count() <= cases::LONGEST_TEXT + 1);
    assert_eq!(reading.notes.len(), 3, "{:?}", reading.notes);
}

fn every_recording() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/readers");
    let mut files: Vec<_> = ["unittest", "pytest"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("recorded"))
        .map(|entry| entry.expect("recorded").path())
        .collect();
    files.sort();
    files.into_iter().map(|file| (file.display().to_string(), std::fs::read(&file).expect("recorded"))).collect()
}

/// What must hold of any reading.
fn is_sound(reading: &Reading) {
    let Counts { planned, ran, passed, failed, skipped, unknown } = reading.counts;
    if let (Some(ran), Some(passed)) = (ran, passed) {
        assert!(passed <= ran, "{reading:?}");
    }
    if let (Some(ran), Some(passed), Some(failed), Some(skipped)) = (ran, passed, failed, skipped) {
        assert_eq!(ran, passed + failed + skipped, "{reading:?}");
    }
    if let (Some(planned), Some(ran), Some(unknown)) = (planned, ran, unknown) {
        assert_eq!(planned, ran + unknown, "{reading:?}");
    }
}

const CHOICES: [ReaderChoice; 5] =
    [ReaderChoice::Auto, ReaderChoice::None, ReaderChoice::Pytest, ReaderChoice::Unittest, ReaderChoice::OkLines];

#[test]
fn no_prefix_of_a_recording_is_greener_than_the_whole() {
    for (name, bytes) in every_recording() {
        // pytest calls a case passed when its subtests have failed, and takes that back at the very end.
        if name.contains("unittest-cases") {
            continue;
        }
        let whole = read_as(ReaderChoice::Auto, Stream::Stdout, &bytes, &context(0));
        let (Some(reader), Some(passed)) = (whole.reader, whole.counts.passed) else { continue };
        let choice = if reader == "pytest" { ReaderChoice::Pytest } else { ReaderChoice::Unittest };
        // The status is written at once; half of it (`OK` of `OK (skipped=1)`) says something else.
        let status = bytes[..bytes.len() - 1].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        // Every cut where cases run, and every line of the rest.
        for end in (1..=status).filter(|end| *end < 700 || (*end < 12_000 && bytes[end - 1] == b'\n')) {
            let reading = read_as(choice, Stream::Stdout, &bytes[..end], &context(0));
            is_sound(&reading);
            let seen = reading.counts.passed.unwrap_or(0);
            assert!(
                seen <= passed,
                "{name}: {seen} > {passed}: {}",
                String::from_utf8_lossy(&bytes[end.saturating_sub(300)..end])
            );
        }
    }
}

/// Text made of what readers look for.
fn alike() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "ok",
        "not ok",
        "FAIL",
        "PASSED",
        "a::b",
        "t.py::t ",
        "test_x (m.C.test_x)",
        " ... ",
        "=",
        "_ _ ",
        "E   x",
        "======================================================================",
        "FAIL: t (m.C)",
        "ERROR: x",
        ": ",
        "----------------------------------------------------------------------",
        "Ran 3 tests in 0.1s",
        "OK",
        "1..3",
        "FAILED (failures=9)",
        "OK (skipped=9)",
        "99999999999999999999",
        "18446744073709551615",
        " passed",
        " failed",
        ", ",
        "=== 3 passed, 9 errors in 0.1s ===",
        "=== FAILURES ===",
        "=== ERRORS ===",
        "___ a ___",
        "[100%]",
        "=== short test summary info ===",
        "FAILED t.py::t - m",
        "ERROR t.py",
        "=== test session starts ===",
        "collected 2 items / 1 error",
        "2 failed in 1s",
        "..F.E",
        "t.py .F",
        "18446744073709551615 passed in 1s",
        "18446744073709551615 passed, 18446744073709551615 failed",
        "SKIPPED [9] t.py:1: x",
        "Traceback (most recent call last):",
        "  File \"a.py\", line 1, in f",
        "KeyError: é",
        "  | ",
        "  + ",
        "é",
        "\r",
        "all green (18446744073709551615 checks)",
        "SUBFAILED(i=1) t.py::t",
        "[",
        "]",
        " ",
        "  ",
        "\n",
        "\n",
        "\n",
        "INTERNALERROR> x",
        "!!! stop !!!",
        "--- Captured stdout call ---",
        "gw0 [7]",
        "[gw0] PASSED t.py::t",
    ]);
    prop::collection::vec(words, 0..60).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC*", alike in alike(), on_err in any::<bool>()) {
        let stream = if on_err { Stream::Stderr } else { Stream::Stdout };
        for choice in CHOICES {
            is_sound(&read_as(choice, stream, text.as_bytes(), &context(1)));
            is_sound(&read_as(choice, stream, alike.as_bytes(), &context(0)));
        }
    }

    #[test]
    fn recordings_that_are_cut_and_mixed_are_read_without_a_panic(
        first in any::<prop::sample::Index>(), second in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(), step in 1usize..40,
    ) {
        let all = every_recording();
        let (first, second) = (&first.get(&all).1, &second.get(&all).1);
        let first = &first[..cut.index(first.len() + 1)];
        let mut mixed = Vec::new();
        let mut rest = second.chunks(step);
        for line in first.split_inclusive(|&byte| byte == b'\n') {
            mixed.extend_from_slice(line);
            mixed.extend_from_slice(rest.next().unwrap_or_default());
        }
        for choice in CHOICES {
            is_sound(&read_as(choice, Stream::Stdout, &mixed, &context(1)));
        }
    }
}
