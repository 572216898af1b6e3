//! XML with its long texts cut, so that no part of it is longer than what is kept of it.

use std::io::{self, BufRead, Read};

/// How much of a text, a CDATA section or an attribute's value goes through.
const LONGEST: usize = 16 * 1024;
/// The longest name, declaration or the like.
const LONGEST_MARKUP: usize = 64 * 1024;

/// Lets XML through, but for comments and the rest of long texts.
pub struct Shorten<R> {
    from: R,
    state: State,
    /// Bytes in that state so far.
    count: usize,
    /// What was let through and not taken yet.
    ready: Vec<u8>,
    taken: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Text,
    /// Behind `<`, with so many bytes of what tells a comment or a CDATA section.
    Opened,
    Tag,
    /// In an attribute's value, up to that quote.
    Value(u8),
    Instruction,
    /// Behind so many `-` of a comment's end.
    Comment(u8),
    /// Behind so many `]` of a section's end.
    Section(u8),
}

impl<R: BufRead> Shorten<R> {
    pub fn new(from: R) -> Self {
        Self { from, state: State::Text, count: 0, ready: Vec::new(), taken: 0 }
    }

    fn go(&mut self, state: State) {
        self.state = state;
        self.count = 0;
    }

    fn byte(&mut self, byte: u8) -> io::Result<()> {
        self.count += 1;
        let fits = self.count <= LONGEST;
        match self.state {
            State::Text => {
                if byte == b'<' {
                    self.go(State::Opened);
                }
                if fits || byte == b'<' {
                    self.ready.push(byte);
                }
            }
            State::Opened => {
                self.ready.push(byte);
                let start = &self.ready[self.ready.len() - self.count..];
                if start == b"!--" {
                    self.go(State::Comment(0));
                } else if start == b"![CDATA[" {
                    self.go(State::Section(0));
                } else if start == b"?" {
                    self.go(State::Instruction);
                } else if !(b"!--".starts_with(start) || b"![CDATA[".starts_with(start)) {
                    if start[0] == b'!' {
                        return Err(io::Error::other("it has a document type, and those are not read"));
                    }
                    self.go(if byte == b'>' { State::Text } else { State::Tag });
                }
            }
            State::Tag | State::Instruction => {
                self.ready.push(byte);
                match byte {
                    b'>' => self.go(State::Text),
                    b'"' | b'\'' if self.state == State::Tag => self.state = State::Value(byte),
                    _ if self.count > LONGEST_MARKUP => return Err(io::Error::other("a tag has no end")),
                    _ => {}
                }
                if let State::Value(_) = self.state {
                    self.count = 0;
                }
            }
            State::Value(quote) => {
                if byte == quote {
                    self.go(State::Tag);
                }
                if fits || byte == quote {
                    self.ready.push(byte);
                }
            }
            State::Comment(dashes) => match byte {
                b'-' => self.state = State::Comment(dashes.saturating_add(1).min(2)),
                b'>' if dashes == 2 => {
                    self.ready.extend_from_slice(b"-->");
                    self.go(State::Text);
                }
                _ => self.state = State::Comment(0),
            },
            State::Section(brackets) => {
                match byte {
                    b']' => self.state = State::Section(brackets.saturating_add(1).min(2)),
                    b'>' if brackets == 2 => {
                        // With those that went through there are enough, and one or two more are text.
                        let end: &[u8] = if fits { b">" } else { b"]]>" };
                        self.ready.extend_from_slice(end);
                        self.go(State::Text);
                        return Ok(());
                    }
                    _ => self.state = State::Section(0),
                }
                if fits {
                    self.ready.push(byte);
                }
            }
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Shorten<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.ready.len() {
            // What tells a comment may lie across two pieces.
            let keep = if self.state == State::Opened { self.count } else { 0 };
            self.ready.drain(..self.ready.len() - keep);
            self.taken = keep;
            let piece = match self.from.fill_buf() {
                Ok(piece) => piece[..piece.len().min(64 * 1024)].to_owned(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if piece.is_empty() {
                return Ok(0);
            }
            for &byte in &piece {
                self.byte(byte)?;
            }
            self.from.consume(piece.len());
        }
        let piece = &self.ready[self.taken..];
        let count = piece.len().min(into.len());
        into[..count].copy_from_slice(&piece[..count]);
        self.taken += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(text: &str, piece: usize) -> String {
        let mut out = String::new();
        Shorten::new(io::BufReader::with_capacity(piece, text.as_bytes())).read_to_string(&mut out).expect("read");
        out
    }

    #[test]
    fn what_is_short_goes_through_but_for_comments() {
        let text = "<?xml version=\"1.0\"?><a b='>' c=\"'<!--\">x &amp; y<![CDATA[<b>]] ]>]]]></a><!-- no - -- -->";
        for piece in [1, 2, 3, 1000] {
            assert_eq!(short(text, piece), text.replace(" no - -- ", ""));
        }
    }

    #[test]
    fn what_is_long_is_cut_and_what_follows_is_there() {
        let long = "x".repeat(LONGEST + 10);
        for (before, after) in
            [("<a>", "</a>"), ("<a b=\"", "\"/>"), ("<a><![CDATA[", "]]></a>"), ("<a><!--", "--></a>")]
        {
            let out = short(&format!("{before}{long}{after}"), 700);
            assert!(out.starts_with(before) && out.ends_with(after) && out.len() < LONGEST + 30, "{before}");
        }
    }

    #[test]
    fn a_document_type_is_refused() {
        let text = "<!DOCTYPE a [<!ENTITY b \"c\">]><a/>";
        let error = Shorten::new(text.as_bytes()).read_to_string(&mut String::new()).unwrap_err();
        assert!(error.to_string().contains("document type"));
    }
}
