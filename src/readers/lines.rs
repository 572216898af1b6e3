//! A captured stream as lines of text, in bounded memory.

use std::borrow::Cow;
use std::io::{self, BufRead};

use crate::model::{Mark, Stream};
use crate::words::strip_escapes;

/// The longest line that a reader sees; the rest of a longer one is passed over.
const LONGEST: usize = 64 * 1024;

/// A captured stream, ready to be read from its start.
pub struct Source<'a> {
    pub stream: Stream,
    pub bytes: Box<dyn BufRead + 'a>,
    /// In the order of their offsets.
    pub marks: &'a [Mark],
}

/// One line of output as text: without terminal escapes, without its line end, bytes that are not UTF-8 replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line<'a> {
    pub stream: Stream,
    /// Its place among all lines that are read, 1-based.
    pub number: u64,
    pub text: Cow<'a, str>,
    /// A line end followed; the last line of a stream may lack it.
    pub ended: bool,
    pub at: Arrival,
}

/// When a piece of output arrived, in microseconds after the check's start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Arrival {
    /// Its first byte.
    pub first_us: Option<u64>,
    /// Its last one.
    pub last_us: Option<u64>,
}

impl Source<'_> {
    /// Calls `each` for every line, and counts them on. Lines end at LF, CR LF, or at the end of the stream.
    ///
    /// # Errors
    ///
    /// What reading the captured bytes says.
    pub fn for_each_line(mut self, number: &mut u64, mut each: impl FnMut(&Line<'_>)) -> io::Result<()> {
        let mut line = Vec::new();
        let mut offset = 0u64;
        let mut mark = 0;
        loop {
            line.clear();
            let read = read_line(&mut *self.bytes, &mut line)?;
            if read == 0 {
                return Ok(());
            }
            let first_us = self.marks.get(mark).map(|at| at.at_us);
            offset += read;
            while self.marks.get(mark).is_some_and(|at| at.offset < offset) {
                mark += 1;
            }
            let ended = line.last() == Some(&b'\n');
            if ended {
                line.pop();
            }
            if line.last() == Some(&b'\r') {
                line.pop();
            }
            let text = String::from_utf8_lossy(&line);
            let text = match strip_escapes(&text) {
                Cow::Borrowed(_) => text,
                Cow::Owned(stripped) => Cow::Owned(stripped),
            };
            let last_us = self.marks.get(mark).map(|at| at.at_us);
            *number += 1;
            each(&Line { stream: self.stream, number: *number, text, ended, at: Arrival { first_us, last_us } });
            // The byte that comes next is the first of the next line.
            while self.marks.get(mark).is_some_and(|at| at.offset <= offset) {
                mark += 1;
            }
        }
    }
}

/// Reads up to and including the next LF; keeps at most [`LONGEST`] bytes of it. Returns how many bytes it took.
fn read_line(bytes: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<u64> {
    let mut taken = 0u64;
    loop {
        let buffer = match bytes.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            return Ok(taken);
        }
        let end = buffer.iter().position(|&byte| byte == b'\n').map_or(buffer.len(), |at| at + 1);
        let found = buffer[end - 1] == b'\n';
        let room = LONGEST.saturating_sub(line.len());
        line.extend_from_slice(&buffer[..end.min(room)]);
        bytes.consume(end);
        taken += end as u64;
        if found {
            return Ok(taken);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], marks: &[Mark]) -> Vec<(String, Arrival)> {
        let mut seen = Vec::new();
        Source { stream: Stream::Stdout, bytes: Box::new(bytes), marks }
            .for_each_line(&mut 0, |line| seen.push((line.text.to_string(), line.at)))
            .expect("a slice can be read");
        seen
    }

    #[test]
    fn lines_end_at_lf_crlf_and_the_end() {
        let seen = lines(b"a\r\nb\n\nlast", &[]);
        let texts: Vec<_> = seen.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(texts, ["a", "b", "", "last"]);
    }

    #[test]
    fn what_is_not_utf8_is_replaced_and_escapes_are_gone() {
        let seen = lines(b"\x1b[31mFAILED\x1b[0m x\xff\n", &[]);
        assert_eq!(seen[0].0, "FAILED x\u{fffd}");
    }

    #[test]
    fn a_line_without_end_costs_no_memory_and_the_next_is_read() {
        let mut bytes = vec![b'x'; 3 * LONGEST];
        bytes.extend_from_slice(b"\nnext\n");
        let seen = lines(&bytes, &[]);
        assert_eq!(seen[0].0.len(), LONGEST);
        assert_eq!(seen[1].0, "next");
    }

    #[test]
    fn a_line_arrives_from_its_first_byte_to_its_last() {
        let marks = [Mark { offset: 3, at_us: 10 }, Mark { offset: 4, at_us: 20 }, Mark { offset: 8, at_us: 30 }];
        let arrival = |first, last| Arrival { first_us: Some(first), last_us: Some(last) };
        let seen = lines(b"abc\nabc\n", &marks);
        assert_eq!(seen, [("abc".to_owned(), arrival(10, 20)), ("abc".to_owned(), arrival(30, 30))]);
    }
}
