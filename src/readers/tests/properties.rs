//! What holds of any output.

use proptest::prelude::*;

use super::*;

fn every_recording() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/outputs");
    let mut files: Vec<_> = ["unittest", "pytest", "tap", "bats", "shell"]
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

fn choices() -> impl Iterator<Item = ReaderChoice> {
    [ReaderChoice::Auto, ReaderChoice::None].into_iter().chain(ReaderName::ALL.map(ReaderChoice::Named))
}

#[test]
fn no_prefix_of_a_recording_is_greener_than_the_whole() {
    for (name, bytes) in every_recording() {
        // pytest calls a case passed when its subtests have failed, and takes that back at the very end.
        if name.contains("unittest-cases") {
            continue;
        }
        let whole = read_as(&ReaderChoice::Auto, Stream::Stdout, &bytes, &context(0));
        let (Some(reader), Some(passed)) = (whole.reader.as_deref(), whole.counts.passed) else { continue };
        let Some(found) = ReaderName::ALL.into_iter().find(|found| found.name() == reader) else { continue };
        let choice = ReaderChoice::Named(found);
        // The status is written at once; half of it (`OK` of `OK (skipped=1)`) says something else.
        let status = bytes[..bytes.len() - 1].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        // Every cut where cases run, and every line of the rest.
        for end in (1..=status).filter(|end| *end < 700 || (*end < 12_000 && bytes[end - 1] == b'\n')) {
            let reading = read_as(&choice, Stream::Stdout, &bytes[..end], &context(0));
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
        "1..0 # SKIP x",
        "ok 1 - a",
        "not ok 2 - a",
        "not ok 3 - b # TODO",
        " # SKIP x",
        "ok 18446744073709551615",
        "TAP version 14",
        "# Subtest: a",
        "    ",
        "  ---",
        "  ...",
        "  at: f (a.js:1:1)",
        "  stack: |",
        "Bail out! x",
        "}",
        "#   Failed test 'a'",
        "#   at t/a.t line 3.",
        "# (in test file t.bats, line 5)",
        "# (from function `f' in file a.bash, line 2,",
        "#   `false' failed",
        " ✓ a",
        "   a2/3 ✗ b",
        "   b3/3",
        "3 tests, 9 failures, 9 not run",
        "t/a.t .. ",
        "skipped: x",
        "Failed 9/3 subtests",
        "Files=1, Tests=9",
        "t/a.t (Wstat: 0 Tests: 9 Failed: 10)",
        "  Parse errors: Bad plan.  You planned 9 tests but ran 1.",
        "Passed: 3",
        "Failed: 9",
        "Total: 5",
        "Tests: 5, Failures: 9",
        "t.sh: line 3: x: command not found",
        "x at a.pl line 3.",
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
        for choice in choices() {
            is_sound(&read_as(&choice, stream, text.as_bytes(), &context(1)));
            is_sound(&read_as(&choice, stream, alike.as_bytes(), &context(0)));
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
        for choice in choices() {
            is_sound(&read_as(&choice, Stream::Stdout, &mixed, &context(1)));
        }
    }
}
