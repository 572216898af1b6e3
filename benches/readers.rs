//! Whether reading stays linear and in bounded memory: 10 MB and 100 MB of each reader's worst output.
//!
//! Each reading is a process of its own, whose peak of memory the system tells. The output is made while it is read.
//! A time is judged by its ratio: ten times the output may take at most [`MOST_GROWTH`] times ten as long.
//! Exits with 1 if a bound is passed. Linux only: elsewhere no peak is known.

#![expect(clippy::print_stdout, reason = "its result")]

use std::fs;
use std::io::{self, BufReader, Read};
use std::path::Path;
use std::process::{Command, ExitCode};

use hostproof::model::{Exit, ReaderChoice, ReaderName, Stream};
use hostproof::readers::{Context, Source, read};

const SMALL: u64 = 10_000_000;
const LARGE: u64 = 100_000_000;
const MOST_GROWTH: f64 = 1.5;
const MOST_MEMORY_KIB: u64 = 64 * 1024;

/// What is printed before, again and again (`#` is a number that grows, `~` a long word), and at the end.
struct Shape {
    name: &'static str,
    head: &'static str,
    body: &'static str,
    tail: &'static str,
}

const fn shape(name: &'static str, head: &'static str, body: &'static str, tail: &'static str) -> Shape {
    Shape { name, head, body, tail }
}

/// Forms that readers look for, each without an end.
const SHAPES: &[Shape] = &[
    shape("one line", "", "x#", "\n"),
    shape("one line of dots", "", ".", "\n"),
    shape("lines of dots", "", "..F.s.E.x.\n", ""),
    shape("terminal escapes", "", "\u{1b}[31mFAILED\u{1b}[0m \u{1b}[1", "\n"),
    shape("spaces", "", "                ", "x\n"),
    shape("ok lines", "1..9\n", "ok # - case #\n", "# tests 9\n# pass 9\n# fail 0\n"),
    shape(
        "not ok with YAML",
        "TAP version 13\n",
        "not ok # - case #\n  ---\n  message: 'x#'\n  stack: |-\n    f (/box/t.js:1:#)\n  ...\n",
        "",
    ),
    shape("nested TAP", "", "        # Subtest: s#\n            ok 1 - c#\n            1..1\n        ok 1 - s#\n", ""),
    shape("long names", "1..9\n", "ok # - ~ #\n", ""),
    shape(
        "unittest",
        "",
        "test_# (m.C.test_#) ... ok\n",
        "\n----------------------------------------------------------------------\nRan 9 tests in 0.1s\n\nOK\n",
    ),
    shape(
        "unittest failures",
        "",
        "======================================================================\nFAIL: test_# (m.C.test_#)\n----------------------------------------------------------------------\nTraceback (most recent call last):\n  File \"/box/t.py\", line #, in test_#\n    x\nAssertionError: #\n\n",
        "Ran 9 tests in 0.1s\n\nFAILED (failures=9)\n",
    ),
    shape(
        "pytest -v",
        "=== test session starts ===\ncollected 9 items\n",
        "t.py::test_# PASSED [  1%]\n",
        "=== 9 passed in 0.1s ===\n",
    ),
    shape(
        "pytest failures",
        "=== test session starts ===\ncollected 9 items\n=== FAILURES ===\n",
        "____ test_# ____\n\n    def test_#():\n>       assert # == 0\nE       assert # == 0\n\nt.py:#: AssertionError\n",
        "=== 9 failed in 0.1s ===\n",
    ),
    shape(
        "pytest summary",
        "=== short test summary info ===\n",
        "FAILED t.py::test_# - assert # == 0\nSKIPPED [#] t.py:#: no\n",
        "=== 9 failed in 0.1s ===\n",
    ),
    shape(
        "one traceback",
        "Traceback (most recent call last):\n",
        "  File \"/box/t.py\", line #, in f#\n    f()\n",
        "RecursionError: deep\n",
    ),
    shape(
        "chained tracebacks",
        "",
        "Traceback (most recent call last):\n  File \"/box/t.py\", line #, in f\nKeyError: #\n\nDuring handling of the above exception, another exception occurred:\n\n",
        "",
    ),
    shape(
        "libtest",
        "running 9 tests\n",
        "test tests::t# ... ok\n",
        "\ntest result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n",
    ),
    shape(
        "libtest binaries",
        "",
        "running 1 test\ntest t# ... FAILED\n\nfailures:\n\n---- t# stdout ----\nthread 't#' (1) panicked at src/lib.rs:#:9:\nboom #\n\nfailures:\n    t#\n\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n",
        "",
    ),
    shape("unfinished libtest", "", "running 1 test\ntest t# ... ", "\n"),
    shape(
        "a Rust backtrace",
        "thread 'main' panicked at src/main.rs:1:1:\nboom\nstack backtrace:\n",
        "   #: krate::f#\n             at ./src/main.rs:#:5\n",
        "note: run with `RUST_BACKTRACE=full`\n",
    ),
    shape(
        "nextest",
        "    Starting 9 tests across 1 binary\n",
        "        PASS [   0.001s] krate tests::t#\n",
        "------------\n     Summary [   0.1s] 9 tests run: 9 passed, 0 skipped\n",
    ),
    shape("go test -v", "", "=== RUN   Test#\n--- PASS: Test# (0.00s)\n", "PASS\nok  \tpkg\t0.1s\n"),
    shape(
        "go test -json",
        "",
        "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"T#\"}\n{\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"T#\",\"Output\":\"x#\\n\"}\n{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"T#\",\"Elapsed\":0}\n",
        "{\"Action\":\"pass\",\"Package\":\"p\",\"Elapsed\":0}\n",
    ),
    shape("goroutines", "panic: boom\n\n", "goroutine # [running]:\nmain.f#(0x1)\n\t/box/main.go:# +0x1d\n", ""),
    shape("node:test", "", "\u{2714} case # (0.1ms)\n", "\u{2139} tests 9\n\u{2139} pass 9\n\u{2139} fail 0\n"),
    shape("node stacks", "", "Error: boom #\n    at f# (/box/t.js:#:1)\n    at node:internal/x:#:1\n", ""),
    shape("jest", "PASS t.test.js\n", "  \u{2713} case # (1 ms)\n", "\nTests:       9 passed, 9 total\n"),
    shape(
        "jest failures",
        "FAIL t.test.js\n",
        "  \u{25cf} suite \u{203a} case #\n\n    expect(received)\n\n      at Object.<anonymous> (t.test.js:#:1)\n\n",
        "\nTests:       9 failed, 9 total\n",
    ),
    shape(
        "vitest",
        "",
        " \u{2713} t#.test.ts (1 test) 1ms\n",
        " Test Files  9 passed (9)\n      Tests  9 passed (9)\n",
    ),
    shape("shell errors", "", "./t.sh: line #: foo#: command not found\n", ""),
    shape("tallies", "", "# passed, # failed\n", ""),
];

/// An output of some size, made while it is read.
struct Output {
    shape: &'static Shape,
    left: u64,
    number: u64,
    state: State,
    ready: Vec<u8>,
    at: usize,
}

#[derive(PartialEq)]
enum State {
    Head,
    Body,
    End,
}

impl Read for Output {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.at == self.ready.len() {
            self.ready.clear();
            self.at = 0;
            match self.state {
                State::Head => {
                    self.ready.extend_from_slice(self.shape.head.as_bytes());
                    self.state = State::Body;
                }
                State::Body => {}
                State::End => return Ok(0),
            }
            while self.state == State::Body && self.ready.len() < 32 * 1024 {
                self.number += 1;
                let text = self.shape.body.replace('#', &self.number.to_string()).replace('~', &"n".repeat(900));
                self.left = self.left.saturating_sub(text.len() as u64);
                self.ready.extend_from_slice(text.as_bytes());
                if self.left == 0 {
                    self.ready.extend_from_slice(self.shape.tail.as_bytes());
                    self.state = State::End;
                }
            }
        }
        let size = into.len().min(self.ready.len() - self.at);
        into[..size].copy_from_slice(&self.ready[self.at..self.at + size]);
        self.at += size;
        Ok(size)
    }
}

/// Reads one output; prints the milliseconds of a processor, and the peak of memory in KiB.
fn one(reader: &str, shape: &str, size: u64) {
    let named = ReaderName::ALL.into_iter().find(|name| name.name() == reader).map(ReaderChoice::Named);
    let shape = SHAPES.iter().find(|known| known.name == shape).expect("a shape");
    let output = Output { shape, left: size, number: 0, state: State::Head, ready: Vec::new(), at: 0 };
    let source = Source { stream: Stream::Stdout, bytes: Box::new(BufReader::new(output)), marks: &[] };
    let context = Context { exit: Some(Exit::Code(1)), ..Context::new(Path::new("/box"), Path::new("/box")) };
    let reading = read(&named.unwrap_or_default(), vec![source], &context).expect("it can be read");
    drop(reading);
    let ms = processor_ms();
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    println!("{ms} {}", peak.trim().trim_end_matches(" kB"));
}

/// How long this process has had a processor: what else runs on the machine does not matter then.
fn processor_ms() -> u64 {
    const TICK_MS: u64 = 10;
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).map(|ticks| ticks.parse::<u64>().expect("a number") * TICK_MS).sum()
}

fn measured(reader: &str, shape: &str, size: u64) -> (f64, u64) {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).args(["one", reader, shape, &size.to_string()]).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let (ms, kib) = text.trim().split_once(' ').expect("two numbers");
    (ms.parse().expect("milliseconds"), kib.parse().expect("KiB"))
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    if let [one_, reader, shape, size] = words.as_slice()
        && one_ == "one"
    {
        one(reader, shape, size.parse().expect("a size"));
        return ExitCode::SUCCESS;
    }
    if !cfg!(target_os = "linux") || words.iter().any(|word| word == "--test") {
        return ExitCode::SUCCESS;
    }
    // `auto` feeds every reader. One alone, or one output alone: by name.
    let named = ReaderName::ALL.into_iter().map(ReaderName::name).find(|name| words.iter().any(|word| word == name));
    let reader = named.unwrap_or("auto");
    let wanted = |shape: &&Shape| words.iter().all(|word| word == reader || word == shape.name);
    let (mut worst_growth, mut worst_memory, mut wrong) = (0.0f64, 0u64, Vec::new());
    println!("{:<12} {:<22} {:>8} {:>8} {:>8}", "reader", "output", "MB/s", "growth", "MiB");
    for shape in SHAPES.iter().filter(wanted) {
        let (small, _) = measured(reader, shape.name, SMALL);
        let (large, kib) = measured(reader, shape.name, LARGE);
        // Below some milliseconds a clock says nothing.
        let growth = large / small.max(20.0) / 10.0;
        worst_growth = worst_growth.max(growth);
        worst_memory = worst_memory.max(kib);
        let line = format!(
            "{reader:<12} {:<22} {:>8.0} {growth:>8.2} {:>8}",
            shape.name,
            100_000.0 / large.max(1.0),
            kib / 1024
        );
        println!("{line}");
        if growth > MOST_GROWTH || kib > MOST_MEMORY_KIB {
            wrong.push(line);
        }
    }
    println!("worst growth {worst_growth:.2}, worst memory {} MiB", worst_memory / 1024);
    for line in &wrong {
        println!("PASSED A BOUND  {line}");
    }
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
