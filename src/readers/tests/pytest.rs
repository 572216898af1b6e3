//! pytest 9.2 with xdist and rerunfailures, and pytest 5.4.

use super::*;

fn pytest(name: &str) -> Reading {
    let context = Context { cwd: Path::new("/box"), ..context(1) };
    read_as(&ReaderChoice::Auto, Stream::Stdout, &recorded(&format!("pytest/{name}.txt")), &context)
}

#[test]
fn counts() {
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
        ("old", (Some(19), [19, 4, 13, 2], Some(0))),
        ("old-v", (Some(19), [19, 4, 13, 2], Some(0))),
        ("old-native", (Some(19), [19, 4, 13, 2], Some(0))),
        ("old-q-short", (None, [19, 4, 13, 2], Some(0))),
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
        assert_eq!(reading.reader.as_deref(), Some("pytest"), "{name}");
        assert_eq!(numbers(&reading.counts), expected, "{name}: {:#?} {:#?}", reading.counts, reading.notes);
    }
}

#[test]
fn names_every_case_where_the_output_does() {
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
fn frames_are_the_same_in_every_form() {
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
    // Python 3.8 knows no exception groups.
    for name in ["old", "old-v", "old-native", "old-q-short"] {
        assert_eq!(frames(&pytest(name)), MIXED[..13], "{name}");
    }
}

#[test]
fn line_form_has_places_and_the_summary_names_them() {
    let reading = pytest("mixed-q-line");
    let mut expected: Vec<_> =
        MIXED[3..].iter().map(|&(file, line, _, error, case)| (file, line, None, error, case)).collect();
    expected[0].2 = Some("test_nofixture");
    // The place that this form gives is the deepest of all, which is the library's.
    expected.retain(|frame| frame.3 != Some(NOT_DICT));
    assert_eq!(frames(&reading), expected);
}

#[test]
fn frames_without_the_short_summary_have_titles() {
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
fn tells_what_it_could_not_load() {
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
    assert_eq!(reading.reader.as_deref(), Some("pytest"));
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
fn sessions_add_up() {
    let mut both = recorded("pytest/green-q.txt");
    both.extend(recorded("pytest/mixed-q-short.txt"));
    both.extend(recorded("pytest/green.txt"));
    both.extend(recorded("pytest/green-v.txt"));
    both.extend(recorded("pytest/green-q.txt"));
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, &both, &context(1));
    assert_eq!(numbers(&reading.counts), (None, [44, 28, 14, 2], Some(0)));
}

#[test]
fn a_session_that_a_case_ran_and_printed_is_not_the_checks() {
    // One recorded session as the captured output of a failed case of another.
    let outer = String::from_utf8(recorded("pytest/mixed.txt")).expect("text");
    for inner in ["mixed-colour", "green", "mixed-x"] {
        let inner = String::from_utf8(recorded(&format!("pytest/{inner}.txt"))).expect("text");
        let output = outer.replace("== 9 passed in 0.01s ==\n", &inner);
        assert_ne!(output, outer);
        let context = Context { cwd: Path::new("/box"), ..context(1) };
        let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context);
        assert_eq!(numbers(&reading.counts), (Some(20), [20, 4, 14, 2], Some(0)));
    }
}

#[test]
fn a_case_that_prints_a_summary_does_not_end_the_session() {
    let outer = String::from_utf8(recorded("pytest/mixed-v-s.txt")).expect("text");
    let output = outer.replace("test_prints == 9 passed in 0.01s ==", "test_prints \n== 9 passed in 0.01s ==");
    assert_ne!(output, outer);
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context(1));
    assert_eq!(numbers(&reading.counts), (Some(20), [20, 4, 14, 2], Some(0)));
    assert_eq!(outcome_of(&reading, "tests/test_py.py::test_prints"), CaseOutcome::Failed);
}

#[test]
fn the_summary_wins_over_lines_that_others_wrote_into() {
    let output = String::from_utf8(recorded("pytest/green-v.txt")).expect("text");
    let output = output.replace("test_many[2] PASSED", "test_many[2] <worker 2>PASSED");
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context(0));
    assert_eq!(numbers(&reading.counts), (Some(6), [6, 6, 0, 0], Some(0)));
}

#[test]
fn one_title_in_two_files_is_told_apart_by_the_frame() {
    let output = "FF                                 [100%]\n=== FAILURES ===\n___ test_x ___\na/test_a.py:3: in test_x\n    assert 0\n\
                  E   assert 0\n___ test_x ___\nb/test_b.py:4: in test_x\n    assert 0\nE   assert 0\n\
                  === short test summary info ===\nFAILED b/test_b.py::test_x - assert 0\nFAILED a/test_a.py::test_x - assert 0\n\
                  2 failed in 0.01s\n";
    let reading = read_as(
        &ReaderChoice::Auto,
        Stream::Stdout,
        output.as_bytes(),
        &Context { cwd: Path::new("/box"), ..context(1) },
    );
    let cases: Vec<_> = reading.frames.iter().map(|frame| frame.case.as_deref()).collect();
    assert_eq!(cases, [Some("a/test_a.py::test_x"), Some("b/test_b.py::test_x")]);
}

#[test]
fn a_quiet_session_that_was_stopped_leaves_unknown_what_did_not_run() {
    let output = ".F\n=== FAILURES ===\n!!!! stopping after 1 failures !!!!\n1 failed, 1 passed in 0.03s\n";
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context(1));
    assert_eq!(numbers(&reading.counts), (None, [2, 1, 1, 0], None));
    assert_eq!(reading.notes, ["pytest stopped: stopping after 1 failures"]);
}

#[test]
fn a_summary_that_the_session_outlives_is_not_its_own() {
    let output =
        "=== test session starts ===\ncollected 9 items\n\nt.py .F\n=== 9 passed in 0.01s ===\n=== FAILURES ===\n";
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context(1));
    assert_eq!(numbers(&reading.counts), (Some(9), [2, 1, 1, 0], Some(7)));
}

#[test]
fn a_session_that_died_before_another_is_not_forgotten() {
    let line = "=".repeat(30);
    let header = |planned: u64| format!("{line} test session starts {line}\ncollected {planned} items\n\n");
    // What ends without a line end has the next session's beginning behind it.
    for (first, ran) in [("t_a.py ...", 3), ("t_a.py::x PASSED [ 16%]\nt_a.py::y ", 1)] {
        let output = format!("{}{first}{}t_b.py ... [100%]\n\n{line} 3 passed in 0.01s {line}\n", header(6), header(3));
        let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context(0));
        let expected = (Some(9), [3 + ran, 3 + ran, 0, 0], Some(6 - ran));
        assert_eq!(numbers(&reading.counts), expected, "{output}");
    }
    for glued in ["......                 [100%]\n3 passed in 0.01s\n", "...\n...          [100%]\n3 passed in 0.01s\n"]
    {
        let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, glued.as_bytes(), &context(0));
        assert_eq!(numbers(&reading.counts), (None, [3, 3, 0, 0], Some(1)), "{glued}");
        assert_eq!(reading.notes.len(), 1, "{glued}");
    }
}

#[test]
fn dots_behind_a_quiet_session_are_another_only_if_it_broke_off() {
    let quiet = "...                 [100%]\n3 passed in 0.01s\n";
    for (rest, expected) in [
        ("..", (None, [5, 5, 0, 0], Some(1))),
        ("...\n", (None, [3, 3, 0, 0], Some(0))),
        ("...\ndone\n", (None, [3, 3, 0, 0], Some(0))),
        ("...\n..\n3 passed in 0.01s\n", (None, [6, 6, 0, 0], Some(0))),
    ] {
        let output = format!("{quiet}{rest}");
        let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context(0));
        assert_eq!(numbers(&reading.counts), expected, "{rest:?}");
    }
}

#[test]
fn unittest_behind_pytest_has_its_own_dots() {
    let unittest = format!("{}\nRan 2 tests in 0.000s\n\nOK\n", "-".repeat(70));
    let quiet = "...                 [100%]\n3 passed in 0.01s\n";
    let output = format!("{quiet}.ok\n.\n{unittest}");
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context(0));
    assert_eq!(reading.reader.as_deref(), Some("pytest + unittest"));
    assert_eq!(numbers(&reading.counts), (None, [5, 5, 0, 0], Some(0)));
    // Where pytest died, its last line may have what unittest printed.
    let header = format!("{0} test session starts {0}\ncollected 6 items\n\n", "=".repeat(30));
    for (first, ran) in [("t_a.py ..", 0), ("t_a.py ..\nt_b.py .", 2), ("t_a.py::x PASSED [ 16%]\nt_a.py::y ", 1)] {
        let output = format!("{header}{first}..\n{unittest}");
        let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context(0));
        assert_eq!(numbers(&reading.counts), (Some(8), [2 + ran, 2 + ran, 0, 0], Some(6 - ran)), "{first}");
    }
}

#[test]
fn what_a_case_printed_and_pytest_shows_is_no_session() {
    let line = "=".repeat(30);
    let output = format!(
        "..                 [100%]\n{line} PASSES {line}\n{0} test_a {0}\n{1} Captured stdout call {1}\n1 failed in 0.1s\n\
         {line} short test summary info {line}\nPASSED t.py::test_a\nPASSED t.py::test_b\n2 passed in 0.01s\n",
        "_".repeat(30),
        "-".repeat(30),
    );
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context(0));
    assert_eq!(numbers(&reading.counts), (None, [2, 2, 0, 0], Some(0)));
}
