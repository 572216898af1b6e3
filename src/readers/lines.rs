//! A captured stream as lines of text, in bounded memory.

use std::borrow::Cow;
use std::io::{self, BufRead};

use crate::model::Stream;

/// The longest line that a reader sees; the rest of a longer one is passed over.
const LONGEST: usize = 64 * 1024;

/// A moment at which output arrived: every byte before `offset` was there by then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Mark {
    /// In bytes from the stream's start.
    pub offset: u64,
    /// In microseconds after the check's start.
    pub at_us: u64,
}

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
    pub text: Cow<'a, str>,
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
    /// Calls `each` for every line. Lines end at LF, CR LF, or at the end of the stream.
    ///
    /// # Errors
    ///
    /// What reading the captured bytes says.
    pub fn for_each_line(mut self, mut each: impl FnMut(&Line<'_>)) -> io::Result<()> {
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
            if line.last() == Some(&b'\n') {
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
            each(&Line { stream: self.stream, text, at: Arrival { first_us, last_us } });
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

/// Removes terminal control sequences from a text. An escape that begins no whole sequence in its line stays, so that
/// nothing that follows it is lost.
#[must_use]
pub fn strip_escapes(text: &str) -> Cow<'_, str> {
    const ESCAPE: char = '\u{1b}';
    if !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut stripped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(ESCAPE) {
        let (before, sequence) = rest.split_at(at);
        stripped.push_str(before);
        let length = sequence_length(sequence);
        if length == 0 {
            stripped.push(ESCAPE);
        }
        rest = &sequence[length.max(ESCAPE.len_utf8())..];
    }
    stripped.push_str(rest);
    Cow::Owned(stripped)
}

/// How many bytes the control sequence has (ECMA-48) that begins the text; 0 if it is not whole.
fn sequence_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(1) {
        // CSI: parameters, intermediates, a final byte.
        Some(b'[') => {
            let body = bytes[2..].iter().take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
            if matches!(bytes.get(2 + body), Some(0x40..=0x7e)) { 3 + body } else { 0 }
        }
        // OSC and other strings: up to BEL or ST.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let line = text.find('\n').unwrap_or(text.len());
            let bell = text[..line].find('\u{7}').map(|at| at + 1);
            let terminator = text[2..line].find("\u{1b}\\").map(|at| at + 4);
            [bell, terminator].into_iter().flatten().min().unwrap_or(0)
        }
        // Two or three characters, such as a choice of character set.
        Some(b'(' | b')' | b'#' | b'%') if matches!(bytes.get(2), Some(0x20..=0x7e)) => 3,
        Some(0x30..=0x7e) => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8], marks: &[Mark]) -> Vec<(String, Arrival)> {
        let mut seen = Vec::new();
        Source { stream: Stream::Stdout, bytes: Box::new(bytes), marks }
            .for_each_line(|line| seen.push((line.text.to_string(), line.at)))
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
    fn whole_sequences_go_and_nothing_else() {
        for (text, stripped) in [
            ("a\u{1b}[1;31mb\u{1b}[0m", "ab"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;never ended\nnext", "\u{1b}]0;never ended\nnext"),
            ("\u{1b}[31", "\u{1b}[31"),
            ("\u{1b}(B\u{1b}=x", "x"),
            ("é\u{1b}é", "é\u{1b}é"),
        ] {
            assert_eq!(strip_escapes(text), stripped, "{text:?}");
        }
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
