//! Whole outputs, as the sub-runners really printed them (`fixtures/outputs`).

mod bats;
mod cargo_test;
mod go_test;
mod nextest;
mod node_test;
mod ok_lines;
mod properties;
mod pytest;
mod tap;
mod unittest;

use std::fmt::Write as _;
use std::path::Path;

use super::*;
use crate::model::{CaseOutcome, Counts, Exit, Mark, ReaderChoice, ReaderName, Reading, Stream};

/// A command that speaks of both Python's runners.
fn argv() -> &'static [String] {
    static ARGV: std::sync::LazyLock<[String; 3]> =
        std::sync::LazyLock::new(|| ["python3", "-m", "pytest"].map(str::to_owned));
    &*ARGV
}

pub fn context(exit: i32) -> Context<'static> {
    let exit = Some(Exit::Code(exit));
    Context { argv: argv(), exit, ..Context::new(Path::new("/box"), Path::new("/box/tests")) }
}

fn recorded(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/outputs").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn read_as(choice: &ReaderChoice, stream: Stream, bytes: &[u8], context: &Context<'_>) -> Reading {
    read(choice, vec![Source { stream, bytes: Box::new(bytes), marks: &[] }], context).expect("a slice can be read")
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
fn an_outcome_comes_when_its_line_does() {
    let bytes = b"test_a (m.C.test_a) ... ok\ntest_b (m.C.test_b) ... x\nok\ntest_c (m.C.test_c) ... ";
    let marks = [(27, 1_000), (54, 2_999), (57, 3_000), (200, 4_000)].map(|(offset, at_us)| Mark { offset, at_us });
    let source = Source { stream: Stream::Stderr, bytes: Box::new(&bytes[..]), marks: &marks };
    let reading =
        read(&ReaderChoice::Named(ReaderName::Unittest), vec![source], &context(0)).expect("a slice can be read");
    let seen: Vec<_> = reading.cases.iter().map(|case| (case.name.as_str(), case.at_ms)).collect();
    assert_eq!(seen, [("m.C.test_a", Some(1)), ("m.C.test_b", Some(3)), ("m.C.test_c", Some(4))]);
}

#[test]
fn the_surest_reader_wins() {
    // Lines of cases by unittest, a tally by the script around it.
    let mut output = recorded("unittest/dies-v.txt");
    output.extend_from_slice(b"\nok a\nall green (2 checks)\n");
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, &output, &context(0));
    assert_eq!((reading.reader.as_deref(), reading.counts.ran), (Some("ok-lines"), Some(2)));
    // Two tallies: the more particular form.
    let mut output = recorded("unittest/green.txt");
    output.extend_from_slice(b"ok a\nall green (2 checks)\n");
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, &output, &context(0));
    assert_eq!((reading.reader.as_deref(), reading.counts.ran), (Some("unittest"), Some(4)));
    // Dots are unittest's on stderr, pytest's on stdout.
    for (stream, reader) in [(Stream::Stdout, "pytest"), (Stream::Stderr, "unittest")] {
        assert_eq!(read_as(&ReaderChoice::Auto, stream, b"..F", &context(0)).reader.as_deref(), Some(reader));
    }
}

#[test]
fn a_letter_alone_is_nobodys_progress() {
    for text in ["x", "E\n", "s\nand so on\n", "F"] {
        for stream in [Stream::Stdout, Stream::Stderr] {
            let reading = read_as(&ReaderChoice::Auto, stream, text.as_bytes(), &context(0));
            assert_eq!((reading.reader.as_deref(), reading.counts), (None, Counts::default()), "{text}");
        }
    }
}

#[test]
fn without_a_reader_a_red_exit_still_shows_its_frames() {
    let output =
        b"starting\nTraceback (most recent call last):\n  File \"/box/hook.py\", line 3, in main\nOSError: no\n";
    for (exit, frames) in [(Some(Exit::Code(1)), 1), (Some(Exit::Signal(9)), 1), (None, 1), (Some(Exit::Code(0)), 0)] {
        for choice in [ReaderChoice::None, ReaderChoice::Auto, ReaderChoice::Named(ReaderName::Pytest)] {
            let reading = read_as(&choice, Stream::Stderr, output, &Context { exit, ..context(0) });
            assert_eq!(reading.frames.len(), frames, "{choice:?} {exit:?}");
            assert_eq!(reading.counts, Counts::default());
        }
    }
}

#[test]
fn a_named_reader_says_that_it_found_nothing() {
    let reading = read_as(&ReaderChoice::Named(ReaderName::Unittest), Stream::Stdout, b"ok a\nok b\n", &context(0));
    assert_eq!(
        (reading.reader.as_deref(), reading.counts, reading.notes.len()),
        (Some("unittest"), Counts::default(), 1)
    );
    let reading = read_as(&ReaderChoice::None, Stream::Stdout, b"ok a\nok b\n", &context(0));
    assert_eq!((reading.reader.as_deref(), reading.counts, reading.notes.len()), (None, Counts::default(), 0));
}

#[test]
fn streams_are_read_stdout_first_whatever_their_order() {
    let (out, err) = (recorded("unittest/green-v.txt"), b"test_x (m.C.test_x) ... ".to_vec());
    let sources = [(Stream::Stderr, &err), (Stream::Stdout, &out)].map(|(stream, bytes)| Source {
        stream,
        bytes: Box::new(bytes.as_slice()),
        marks: &[],
    });
    let reading = read(&ReaderChoice::Auto, sources.into(), &context(0)).expect("a slice can be read");
    assert_eq!(reading.cases.last().map(|case| case.name.as_str()), Some("m.C.test_x"));
}

#[test]
fn lists_are_bounded_and_numbers_are_not() {
    let mut output = String::new();
    for i in 0..cases::MOST_CASES + 5 {
        writeln!(output, "ok {}a{i}", if i == 0 { "x".repeat(5_000) } else { String::new() }).expect("a string");
    }
    for i in 0..cases::MOST_FRAMES + 5 {
        writeln!(output, "Traceback (most recent call last):\n  File \"a.py\", line {i}, in f\nE: {i}")
            .expect("a string");
    }
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output.as_bytes(), &context(1));
    assert_eq!(reading.counts.ran, Some(cases::MOST_CASES as u64 + 5));
    assert_eq!((reading.cases.len(), reading.frames.len()), (cases::MOST_CASES, cases::MOST_FRAMES));
    assert!(reading.cases[0].name.chars().count() <= cases::LONGEST_TEXT + 1);
    assert_eq!(reading.notes.len(), 3, "{:?}", reading.notes);
}

#[test]
fn progress_letters_count_only_if_the_command_speaks_of_the_runner() {
    for output in [b"xxxx\n", b"....\n", b"...F\n"] {
        let quiet = Context { argv: &["sh".to_owned(), "-c".to_owned()], ..context(0) };
        let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, output, &quiet);
        assert_eq!((reading.reader.as_deref(), reading.counts), (None, Counts::default()), "{output:?}");
    }
    let reading = read_as(&ReaderChoice::Auto, Stream::Stdout, b"...\n", &context(0));
    assert_eq!((reading.reader.as_deref(), reading.counts.ran), (Some("pytest"), Some(3)));
}

#[test]
fn the_forms_of_javascript_are_the_same_with_crlf() {
    for (name, exit) in [
        ("node-test/mixed-tap.out", 1),
        ("node-test/mixed-spec.out", 1),
        ("node-test/hooks-spec.out", 1),
        ("jest/mixed.err", 1),
        ("vitest/mixed-verbose.out", 1),
        ("vitest/late.err", 1),
        ("node/together.err", 1),
    ] {
        let bytes = recorded(name);
        let text = String::from_utf8_lossy(&bytes).replace('\n', "\r\n");
        let read = |bytes: &[u8]| read_as(&ReaderChoice::Auto, Stream::Stdout, bytes, &context(exit));
        assert_eq!(read(text.as_bytes()), read(&bytes), "{name}");
    }
}
