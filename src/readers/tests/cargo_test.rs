//! libtest's forms that no recording has.

use super::*;

fn reading(output: &str) -> Reading {
    read_as(&ReaderChoice::Named(ReaderName::CargoTest), Stream::Stdout, output.as_bytes(), &context(101))
}

fn frames(reading: &Reading) -> Vec<(String, u64, Option<String>)> {
    reading.frames.iter().map(|frame| (frame.file.clone(), frame.line, frame.case.clone())).collect()
}

const OK3: &str = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";

#[test]
fn a_tally_wins_over_a_line_that_another_thread_printed_into() {
    let output =
        format!("\nrunning 3 tests\ntest a ... ok<worker 2> b begins\n\ntest b ... ok\ntest c ... ok\n\n{OK3}\n");
    let reading = reading(&output);
    assert_eq!(numbers(&reading.counts), (Some(3), [3, 3, 0, 0], Some(0)));
    assert_eq!(outcome_of(&reading, "a"), CaseOutcome::Passed);
    assert_eq!(reading.notes.len(), 1, "{:?}", reading.notes);
}

#[test]
fn line_ends_and_bytes_of_any_kind_change_nothing() {
    let output = recorded("cargo-test/mixed-together.txt");
    let named = ReaderChoice::Named(ReaderName::CargoTest);
    let plain = read_as(&named, Stream::Stdout, &output, &context(101));
    let text = String::from_utf8(output).expect("it is text");
    let dos = text.replace('\n', "\r\n");
    assert_eq!(read_as(&named, Stream::Stdout, dos.as_bytes(), &context(101)), plain);
    let bytes = text.replace("before it differs", "\u{1}").into_bytes();
    let bytes: Vec<u8> = bytes.into_iter().map(|byte| if byte == 1 { 0xff } else { byte }).collect();
    assert_eq!(read_as(&named, Stream::Stdout, &bytes, &context(101)), plain);
}

#[test]
fn a_tally_that_contradicts_itself_is_none() {
    for line in [
        "test result: ok. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out",
        "test result: FAILED. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        "test result: ok. 3 passed",
    ] {
        let reading = reading(&format!("running 3 tests\ntest a ... ok\n\n{line}\n"));
        assert_eq!(numbers(&reading.counts), (Some(3), [1, 1, 0, 0], Some(2)), "{line}");
    }
}

#[test]
fn fewer_than_announced_leave_the_rest_unknown() {
    let output = "running 5 tests\ntest a ... ok\ntest b ... ok\ntest c ... ok\n\n".to_owned() + OK3;
    assert_eq!(numbers(&reading(&output).counts), (Some(5), [3, 3, 0, 0], Some(2)));
}

#[test]
fn the_same_name_in_two_binaries_is_two_cases() {
    let one = "running 1 test\ntest tests::a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n";
    let reading = reading(&one.repeat(2));
    assert_eq!(numbers(&reading.counts), (Some(2), [2, 2, 0, 0], Some(0)));
    assert_eq!(reading.cases.len(), 2);
}

#[test]
fn benches_are_cases_and_names_may_be_aligned() {
    let output = "running 3 tests\ntest add      ... bench:          11.53 ns/iter (+/- 0.71)\ntest old ... bench: 1,234 ns/iter (+/- 5)\n\
                  test tests::a ... ignored\n\ntest result: ok. 0 passed; 0 failed; 1 ignored; 2 measured; 0 filtered out; finished in 4.31s\n";
    let reading = reading(output);
    assert_eq!(numbers(&reading.counts), (Some(3), [3, 2, 0, 1], Some(0)));
    assert_eq!(outcome_of(&reading, "add"), CaseOutcome::Passed);
    assert_eq!(reading.notes, Vec::<String>::new());
}

#[test]
fn old_panics_have_their_place_behind_the_message() {
    let output = "running 2 tests\ntest t::a ... FAILED\ntest t::b ... FAILED\n\nfailures:\n\n---- t::a stdout ----\n\
                  thread 't::a' panicked at 'assertion failed: `(left == right)`\n  left: `4`,\n right: `5`: it's off', src/lib.rs:9:9\n\
                  note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\n---- t::b stdout ----\n\
                  thread 't::b' panicked at 'no', src/a b: c.rs:3:5\n\n\nfailures:\n    t::a\n    t::b\n\n\
                  test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let reading = reading(output);
    let case = |name: &str| Some(name.to_owned());
    // Relative to where the check ran.
    assert_eq!(
        frames(&reading),
        [("tests/src/lib.rs".to_owned(), 9, case("t::a")), ("tests/src/a b: c.rs".to_owned(), 3, case("t::b"))]
    );
    assert_eq!(reading.frames[1].error.as_deref(), Some("no"));
}

#[test]
fn letters_of_old_quiet_runs_count_and_the_list_names_the_failed() {
    let output = "running 4 tests\n.F.i\nfailures:\n\n---- t::b stdout ----\nthread 't::b' panicked at 'no', src/lib.rs:3:5\n\n\n\
                  failures:\n    t::b\n\ntest result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out\n";
    let whole = reading(output);
    assert_eq!(numbers(&whole.counts), (Some(4), [4, 2, 1, 1], Some(0)));
    assert_eq!(outcome_of(&whole, "t::b"), CaseOutcome::Failed);
    assert_eq!(frames(&whole), [("tests/src/lib.rs".to_owned(), 3, Some("t::b".to_owned()))]);
    let cut = reading("running 4 tests\n.F");
    assert_eq!(numbers(&cut.counts), (Some(4), [2, 1, 1, 0], Some(2)));
}

#[test]
fn a_binary_that_dies_after_its_last_case_is_told() {
    let reading = reading("running 2 tests\ntest a ... ok\ntest b ... ok\n");
    assert_eq!(numbers(&reading.counts), (Some(2), [2, 2, 0, 0], Some(0)));
    assert!(reading.notes[0].contains("after its last case"), "{:?}", reading.notes);
}

#[test]
fn what_follows_an_unfinished_block_counts_only_where_it_is_shown_to_be_a_binary() {
    let blocks = "running 2 tests\ntest a ... ok\ntest b ... \nrunning 1 test\ntest c ... ok\n\n\
                  test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n";
    assert_eq!(numbers(&reading(blocks).counts), (Some(3), [1, 1, 0, 0], Some(2)));
    let died = "Caused by:\n  process didn't exit successfully: `/t/x-1 --test-threads=1` (signal: 6, SIGABRT: process abort signal)\n";
    let counts = reading(&format!(
        "{blocks}error: test failed, to rerun pass `--lib`\n\n{died}error: 1 target failed:\n    `--lib`\n"
    ));
    assert_eq!(numbers(&counts.counts), (Some(3), [2, 2, 0, 0], Some(1)));
    assert!(counts.notes.iter().any(|note| note.contains("SIGABRT")), "{:?}", counts.notes);
}

#[test]
fn a_run_within_a_case_is_a_part_of_it() {
    let inner = "running 3 tests\ntest x ... ok\ntest y ... ok\ntest z ... ok\n\n".to_owned() + OK3;
    let output = format!(
        "running 2 tests\ntest a ... ok\ntest b ... {inner}ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n"
    );
    assert_eq!(numbers(&reading(&output).counts), (Some(2), [2, 2, 0, 0], Some(0)));
}

#[test]
fn announcing_alone_is_no_libtest_unless_the_command_speaks_of_it() {
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, b"running 3 tests\n", &context(0));
    assert_eq!((reading.reader, reading.counts), (None, Counts::default()));
}

#[test]
fn a_binary_that_died_leaves_cases_unknown_though_cargo_may_have_stopped_there() {
    let output = "running 1 test\ntest x ... ok\n\n\
                  test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n\n\
                  running 3 tests\ntest a ... ok\ntest b ... \n\
                  error: test failed, to rerun pass `--test it`\n\nCaused by:\n  \
                  process didn't exit successfully: `/t/it-1` (signal: 6, SIGABRT: process abort signal)\n";
    assert_eq!(numbers(&reading(output).counts), (None, [2, 2, 0, 0], Some(2)));
}
