//! Any bytes as a check's output, for any reader: no panic, no numbers that contradict each other, no count above what
//! was printed.
#![no_main]

use std::path::Path;

use hostproof::model::{Exit, ReaderChoice, ReaderName, Stream};
use hostproof::readers::{Context, Source, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let [which, split, output @ ..] = input else { return };
    let choice = match ReaderName::ALL.get(usize::from(which >> 2)) {
        Some(name) if which & 2 == 0 => ReaderChoice::Named(*name),
        _ => ReaderChoice::Auto,
    };
    let (stdout, stderr) = output.split_at(output.len() * usize::from(*split) / 255);
    let sources = [(Stream::Stdout, stdout), (Stream::Stderr, stderr)]
        .map(|(stream, bytes)| Source { stream, bytes: Box::new(bytes), marks: &[] });
    let argv = ["python3", "-m", "pytest"].map(str::to_owned);
    let planned = ["t.py::a", "t.py::b", "c"].map(str::to_owned);
    let context = Context {
        argv: &argv,
        planned: if which & 1 == 0 { &planned } else { &[] },
        exit: Some(Exit::Code(i32::from(which & 1))),
        ..Context::new(Path::new("/box"), Path::new("/box"))
    };
    let reading = read(&choice, sources.into(), &context).expect("a slice can be read");
    assert!(reading.counts.agree(), "{:?}", reading.counts);
    let printed = printed(output).saturating_add(planned.len() as u64);
    for count in [reading.counts.ran, reading.counts.passed, reading.counts.failed, reading.counts.skipped] {
        assert!(count.unwrap_or(0) <= printed, "{:?} of {printed}", reading.counts);
    }
});

/// The most that an output can tell of: every number in it, and a case for every byte.
fn printed(output: &[u8]) -> u64 {
    let digits = output.split(|byte| !byte.is_ascii_digit());
    let numbers = digits.filter_map(|digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok());
    numbers.fold(output.len() as u64, u64::saturating_add)
}
