//! Go's forms that no recording has.

use super::*;

fn reading_of(output: &str, argv: &[&str]) -> Reading {
    let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
    let context =
        Context { argv: &argv, exit: Some(Exit::Code(1)), ..Context::new(Path::new("/box"), Path::new("/box")) };
    read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context)
}

fn reading(output: &str) -> Reading {
    reading_of(output, &["go", "test", "-v", "./..."])
}

#[test]
fn a_package_alone_is_a_proof_without_a_count() {
    for line in ["ok  \tm/x\t0.003s", "ok  \tm/x\t(cached)", "ok  \tm/x\t0.003s\tcoverage: 50.0% of statements"] {
        let reading = reading(&format!("{line}\n"));
        assert_eq!(
            (reading.reader.as_deref(), reading.counts.ran, reading.counts.failed),
            (Some("go-test"), None, Some(0))
        );
    }
    for line in
        ["?   \tm/x\t[no test files]", "ok  \tm/x\t0.003s [no tests to run]", "\tm/x\t\tcoverage: 0.0% of statements"]
    {
        assert_eq!(numbers(&reading(&format!("{line}\n")).counts), (None, [0, 0, 0, 0], Some(0)), "{line}");
    }
}

#[test]
fn other_columns_are_no_packages() {
    for line in [
        "ok  \tthat is it",
        "ok\tm/x\t0.1s",
        "FAIL\tis a word",
        "?   what",
        "ok  \t\t0.1s",
        "PASS",
        "FAIL",
        "# heading",
    ] {
        assert_eq!(reading(&format!("{line}\n")).counts, Counts::default(), "{line}");
    }
}

#[test]
fn a_place_belongs_to_the_folder_that_the_command_names() {
    let output = "--- FAIL: TestX (0.00s)\n    x_test.go:3: no\nFAIL\nFAIL\tm/sub/x\t0.003s\nFAIL\n";
    for (argv, file) in [
        (&["go", "test", "./sub/x"][..], "sub/x/x_test.go"),
        (&["go", "test", "-run", "TestX/y", "./sub/x/"], "sub/x/x_test.go"),
        (&["go", "test"], "x_test.go"),
        (&["go", "test", "./a", "./sub/x"], "sub/x/x_test.go"),
        (&["go", "test", "./..."], "x_test.go"),
        (&["sh", "run.sh"], "x_test.go"),
    ] {
        assert_eq!(reading_of(output, argv).frames[0].file, file, "{argv:?}");
    }
}

#[test]
fn assertion_libraries_put_the_message_below_the_place() {
    let output = "=== RUN   TestX\n    x_test.go:9: \n        \tError Trace:\t/box/sub/x_test.go:9\n        \tError:      \tNot equal: \n        \
                  \t            \texpected: 1\n--- FAIL: TestX (0.00s)\nFAIL\nFAIL\tm/sub\t0.003s\n";
    let reading = reading(output);
    assert_eq!((reading.frames[0].line, reading.frames[0].error.as_deref()), (9, Some("Not equal:")));
}

#[test]
fn events_that_are_cut_off_leave_the_case_unknown() {
    let output = "{\"Action\":\"run\",\"Package\":\"m\",\"Test\":\"TestA\"}\n{\"Action\":\"pass\",\"Package\":\"m\",\"Test\":\"TestA\"}\n\
                  plain\n{\"Action\":\"run\",\"Package\":\"m\",\"Test\":\"TestB\"}\n{\"Action\":\"pass\",\"Pack";
    let reading = reading(output);
    assert_eq!(outcome_of(&reading, "TestB"), CaseOutcome::Unknown);
    assert_eq!((reading.counts.passed, reading.counts.unknown), (Some(1), None));
}

#[test]
fn the_same_name_in_packages_that_run_at_once_is_two_cases() {
    let event = |action: &str, package: &str| {
        format!("{{\"Action\":\"{action}\",\"Package\":\"{package}\",\"Test\":\"TestA\"}}\n")
    };
    let mut output = event("run", "m/a") + &event("run", "m/b") + &event("fail", "m/b") + &event("pass", "m/a");
    output += "{\"Action\":\"output\",\"Package\":\"m/b\",\"Output\":\"FAIL\\n\"}\n";
    for (action, package) in [("pass", "m/a"), ("fail", "m/b")] {
        writeln!(output, "{{\"Action\":\"{action}\",\"Package\":\"{package}\"}}").expect("a string");
    }
    assert_eq!(numbers(&reading(&output).counts), (None, [2, 1, 1, 0], Some(0)));
}

#[test]
fn benches_that_were_measured_passed() {
    let output = "=== RUN   TestA\n--- PASS: TestA (0.00s)\ngoos: linux\nBenchmarkAdd\nBenchmarkAdd-8   \t1000000\t 30.1 ns/op\nPASS\nok  \tm\t0.1s\n";
    let reading = reading(output);
    assert_eq!(numbers(&reading.counts), (None, [2, 2, 0, 0], Some(0)));
    assert_eq!(outcome_of(&reading, "BenchmarkAdd"), CaseOutcome::Passed);
}

#[test]
fn a_program_of_tests_that_runs_by_itself_has_no_package() {
    let output = "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- FAIL: TestB (0.00s)\nFAIL\n";
    assert_eq!(numbers(&reading(output).counts), (None, [2, 1, 1, 0], Some(0)));
}

#[test]
fn line_ends_change_nothing() {
    for name in ["go-test/mixed-v.out", "go-test/mixed-json.out"] {
        let output = String::from_utf8(recorded(name)).expect("it is text");
        assert_eq!(reading(&output.replace('\n', "\r\n")), reading(&output), "{name}");
    }
}

#[test]
fn an_outcome_behind_a_line_without_an_end_has_no_event_before_go_1_20() {
    let line = |test: &str, output: &str| {
        format!("{{\"Action\":\"output\",\"Package\":\"m/p\",\"Test\":\"{test}\",\"Output\":\"{output}\\n\"}}\n")
    };
    let whole = |output: &str, action: &str, word: &str| {
        format!(
            "{{\"Action\":\"run\",\"Package\":\"m/p\",\"Test\":\"TestZ\"}}\n{}{{\"Action\":\"output\",\"Package\":\"m/p\",\
             \"Output\":\"{word}\\n\"}}\n{{\"Action\":\"{action}\",\"Package\":\"m/p\",\"Elapsed\":0.003}}\n",
            line("TestZ", output)
        )
    };
    let counts = |output: &str| {
        let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context(0));
        numbers(&reading.counts)
    };
    let glued = |outcome: &str| format!("no newline--- {outcome}: TestZ (0.00s)");
    assert_eq!(counts(&whole(&glued("PASS"), "pass", "PASS")), (None, [1, 1, 0, 0], Some(0)));
    assert_eq!(counts(&whole(&glued("SKIP"), "pass", "PASS")), (None, [1, 0, 0, 1], Some(0)));
    assert_eq!(counts(&whole(&glued("FAIL"), "fail", "FAIL")), (None, [1, 0, 1, 0], Some(0)));
    // It died, or what looks like its end is that of another.
    assert_eq!(counts(&whole("x--- PASS: TestY (0.00s)", "pass", "PASS")), (None, [0, 0, 0, 0], Some(1)));
    let died = whole(&glued("PASS"), "fail", "exit status 2");
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, died.as_bytes(), &context(1));
    assert_eq!((reading.counts.passed, reading.counts.unknown), (Some(0), None));
}
