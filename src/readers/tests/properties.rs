//! What holds of any output.

use proptest::prelude::*;

use super::*;
use crate::model::LineRules;

fn every_recording() -> Vec<(String, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/outputs");
    let mut files: Vec<_> = [
        "unittest",
        "pytest",
        "cargo-test",
        "nextest",
        "go-test",
        "node-test",
        "node",
        "jest",
        "vitest",
        "tap",
        "bats",
        "shell",
    ]
    .iter()
    .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("recorded"))
    .map(|entry| entry.expect("recorded").path())
    .filter(|file| file.extension().is_some_and(|end| end != "json"))
    .collect();
    files.sort();
    files.into_iter().map(|file| (file.display().to_string(), std::fs::read(&file).expect("recorded"))).collect()
}

/// What must hold of any reading.
fn is_sound(reading: &Reading) {
    assert!(reading.counts.agree(), "{reading:?}");
}

fn own_lines() -> ReaderChoice {
    let text = |text: &str| Some(text.to_owned());
    ReaderChoice::Lines(LineRules {
        pass: text("ok (.*)"),
        fail: text("(?i)fail"),
        skip: text("skip"),
        planned: text(r"(\d+) passed"),
    })
}

fn choices() -> impl Iterator<Item = ReaderChoice> {
    [ReaderChoice::Auto, ReaderChoice::None]
        .into_iter()
        .chain(ReaderName::ALL.map(ReaderChoice::Named))
        .chain([own_lines()])
}

#[test]
fn no_prefix_of_a_recording_is_greener_than_the_whole() {
    for (name, bytes) in every_recording() {
        // pytest calls a case passed when its subtests have failed, and takes that back at the very end.
        // A case of node's prints the runner's own lines; only the tally tells.
        let takes_back = name.contains("unittest-cases") || name.contains("prints-");
        if takes_back || Path::new(&name).extension().is_some_and(|end| end == "json") {
            continue;
        }
        let whole = read_as(&ReaderChoice::Auto, Stream::Stdout, &bytes, &context(0));
        let (Some(reader), Some(passed)) = (whole.reader.as_deref(), whole.counts.passed) else { continue };
        let named = ReaderName::ALL.into_iter().find(|name| name.name() == reader.replace("vitest", "jest"));
        let Some(choice) = named.map(ReaderChoice::Named) else { continue };
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

#[test]
fn names_by_position_make_no_recording_greener() {
    let names = |file: &str| {
        let model = String::from_utf8(recorded(file)).expect("text");
        let model: serde_json::Value = serde_json::from_str(&model).expect("JSON");
        let planned = model["planned"].as_array().expect("a list");
        planned.iter().map(|name| name.as_str().expect("text").to_owned()).collect::<Vec<_>>()
    };
    for name in ["planned", "planned-q", "planned-q-rs", "planned-dies", "planned-dies-q", "planned-x-q"] {
        let planned = names(&format!("pytest/{name}.json"));
        let bytes = recorded(&format!("pytest/{name}.txt"));
        for end in 0..=bytes.len().min(1_500) {
            let read = |planned: &[String]| {
                read_as(&ReaderChoice::Auto, Stream::Stdout, &bytes[..end], &Context { planned, ..context(0) })
            };
            let (bare, placed) = (read(&[]), read(&planned));
            is_sound(&placed);
            assert!(placed.counts.passed <= bare.counts.passed.max(Some(0)), "{name} {end}: {placed:?} {bare:?}");
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
        "TAP version 13",
        "# Subtest: a",
        "    # Subtest: b",
        "ok 1 - a # SKIP x",
        "not ok 2 - a.js",
        "  ---",
        "  duration_ms: 1.5",
        "  type: 'suite'",
        "  stack: |-",
        "  ...",
        "# tests 2\n# suites 0\n# pass 1\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0",
        "ℹ tests 1\nℹ suites 1\nℹ pass 1\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0",
        "▶ a",
        "✔ a (1.5ms)",
        "✖ a (1.5ms) # soon",
        "✖ failing tests:",
        "test at a.js:1:2",
        "    at f (/box/a (1).js:3:4)",
        "    at async node:internal/x:1:2 {",
        "TypeError [X]: é",
        "    ^^",
        "/box/a.js:3",
        "PASS a.test.js",
        " FAIL  a.test.js > b",
        "  ● a › b",
        "  ✓ a (2 ms)",
        "  ○ skipped a",
        "  ● Test suite failed to run",
        "Test Suites: 1 failed, 2 total\nTests:       1 failed, 3 total",
        " RUN  v3.2.7 /box",
        " ✓ a.test.js (3 tests | 1 skipped) 5ms",
        "   × b 2ms",
        " Test Files  1 failed (1)\n      Tests  1 failed | 2 passed (3)",
        "⎯⎯ Failed Suites 9 ⎯⎯",
        " ❯ f a.test.js:1:2",
        "running 3 tests",
        "test a ... ",
        "test a::b ... ok",
        "test src/lib.rs - f (line 3) ... FAILED",
        "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        "test result: FAILED. 1 passed; 999999999999 failed; 9 ignored; 0 measured; 0 filtered out",
        "failures:",
        "---- a::b stdout ----",
        "thread 'a::b' (7) panicked at src/lib.rs:9:9:",
        "thread 'a' panicked at 'x', src/lib.rs:9:9",
        "stack backtrace:",
        "   0: core::f",
        "             at ./src/lib.rs:9:9",
        "error[E0425]: x",
        " --> src/lib.rs:3:5",
        "a::b --- FAILED",
        ".. 3/9",
        "error: test failed, to rerun pass `--lib`",
        "    Starting 9 tests across 2 binaries (3 tests skipped)",
        "        PASS [   0.005s] ( 1/12) a t::b",
        "  TRY 1 FAIL [   0.005s] (───) a t::b",
        "     Summary [   0.041s] 3/9 tests run: 2 passed (1 flaky, 1 leaky), 1 failed, 18446744073709551615 skipped",
        "     Summary [   0.041s] 3 tests run: 1 passed, 1 failed, 1 timed out, 7 skipped",
        "  stderr ───",
        "=== RUN   TestX",
        "    --- FAIL: TestX/y (0.00s)",
        "--- PASS: TestX (0.00s)",
        "    x_test.go:12: ",
        "ok  \tm/x\t0.01s",
        "FAIL\tm/x [build failed]",
        "panic: x [recovered]",
        "goroutine 7 [running]:",
        "m.TestX(...)",
        "\t/p/x.go:12 +0x1d",
        "# m/x",
        "x.go:1:2: no",
        "{\"Action\":\"run\",\"Package\":\"m\",\"Test\":\"TestX\"}",
        "{\"Action\":\"pass\",\"Package\":\"m\",\"Test\":\"TestX\"}",
        "{\"Action\":\"fail\",\"Package\":\"m\"}",
        "PASS",
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
            let planned = ["t.py::t", "t.py::u", "a.py::b"].map(str::to_owned);
            is_sound(&read_as(&choice, stream, alike.as_bytes(), &Context { planned: &planned, ..context(0) }));
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
