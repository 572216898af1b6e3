//! What a program wrote, as UTF-8, which all that reads it expects.
//!
//! What the bytes are, they tell themselves: UTF-16 by its first bytes (PowerShell writes it), and, where the system has
//! a code page, what is not UTF-8 in a line is in that. Elsewhere such bytes stay as they are.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead, Read, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use super::output;
use crate::model::{Check, Finding, Kind, Mark, Rules, Severity};
use crate::platform::{self, Captured, Outcome};
use crate::words::first_of;

/// A stream as UTF-8, with the moments at which it arrived: the very same if it was that already, or can't be read.
#[must_use]
pub fn as_utf8(captured: Captured, spill: &Path) -> Captured {
    recoded(&captured, spill).ok().flatten().unwrap_or(captured)
}

/// What stdout of a check that is judged by Windows' rules has that Python could not have written there: into a pipe it writes
/// in the code page. Nothing where it could.
#[must_use]
pub fn beyond_code_page(check: &Check, outcome: &Outcome) -> Option<Finding> {
    if check.rules != Rules::Windows {
        return None;
    }
    let beyond = not_in_cp1252(&output::output(&outcome.stdout, None).tail)?;
    let message =
        format!("stdout has {beyond}, not in cp1252: Python before 3.15 can't print that into a pipe on Windows");
    let mut finding = Finding::new(Kind::RefusedByWindows, Severity::Note, message);
    finding.remedy = Some("set the encoding of stdout, or write ASCII; `vary: [code-page]` tries it here".to_owned());
    Some(finding)
}

/// The characters of a text that the code page lacks, in words.
fn not_in_cp1252(text: &str) -> Option<String> {
    const NAMED: usize = 3;
    let beyond: BTreeSet<char> = text.chars().filter(|c| !is_in_cp1252(*c)).collect();
    let named = |c: &char| format!("{c} (U+{:04X})", u32::from(*c));
    let words: Vec<String> = beyond.iter().map(named).collect();
    (!words.is_empty()).then(|| first_of(&words, NAMED))
}

/// Whether that code page has a character.
fn is_in_cp1252(c: char) -> bool {
    c.is_ascii() || ('\u{A0}'..='\u{FF}').contains(&c) || "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ".contains(c)
}

/// How much of a stream tells what it is.
const START: u64 = 512;
/// How much is turned into text at once; an even number.
const PIECE: u64 = 64 * 1024;

/// Two bytes that make a unit of UTF-16.
type Unit = fn([u8; 2]) -> u16;

/// The order of the bytes and the length of the mark, if a stream that begins so is UTF-16. Without a mark only text
/// with nothing beyond Latin in it is known: every other byte of that is zero, which no other text has.
fn utf16(start: &[u8]) -> Option<(Unit, usize)> {
    match start {
        [0xff, 0xfe, ..] => Some((u16::from_le_bytes, 2)),
        [0xfe, 0xff, ..] => Some((u16::from_be_bytes, 2)),
        _ => {
            let units = start.chunks_exact(2);
            let latin = units.len() >= 4 && units.clone().all(|unit| unit[0] != 0 && unit[1] == 0);
            latin.then_some((u16::from_le_bytes as Unit, 0))
        }
    }
}

/// `None` if it is UTF-8, or what nothing better is known of.
fn recoded(captured: &Captured, spill: &Path) -> io::Result<Option<Captured>> {
    let mut start = Vec::new();
    output::open(captured)?.take(START).read_to_end(&mut start)?;
    if let Some((unit, mark)) = utf16(&start) {
        let mut recoder = Recoder::new(captured, spill)?;
        let mut bytes = output::open(captured)?;
        io::copy(&mut bytes.by_ref().take(mark as u64), &mut io::sink())?;
        recoder.read = mark as u64;
        let mut piece = Vec::new();
        while bytes.by_ref().take(PIECE).read_to_end(&mut piece)? > 0 {
            // A character beyond the first 65,536 has two units, which stay together.
            if let [.., first, second] = piece[..]
                && piece.len() % 2 == 0
                && (0xd800..0xdc00).contains(&unit([first, second]))
            {
                bytes.by_ref().take(2).read_to_end(&mut piece)?;
            }
            recoder.add(&piece, |piece| Cow::Owned(of_utf16(piece, unit).into_bytes()))?;
            piece.clear();
        }
        return recoder.finish().map(Some);
    }
    if !platform::HAS_CODE_PAGES || is_utf8(captured)? {
        return Ok(None);
    }
    let mut recoder = Recoder::new(captured, spill)?;
    let mut bytes = output::open(captured)?;
    let mut line = Vec::new();
    while bytes.by_ref().take(PIECE).read_until(b'\n', &mut line)? > 0 {
        recoder.add(&line, of_line)?;
        line.clear();
    }
    recoder.finish().map(Some)
}

fn of_utf16(piece: &[u8], unit: Unit) -> String {
    let units = piece.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text = char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER));
    let half = (piece.len() % 2 == 1).then_some(char::REPLACEMENT_CHARACTER);
    text.chain(half).collect()
}

/// Programs that share a stream need not agree, so each line is taken for itself.
fn of_line(line: &[u8]) -> Cow<'_, [u8]> {
    if std::str::from_utf8(line).is_ok() {
        return Cow::Borrowed(line);
    }
    platform::of_code_page(line).map_or(Cow::Borrowed(line), |text| Cow::Owned(text.into_bytes()))
}

fn is_utf8(captured: &Captured) -> io::Result<bool> {
    let mut bytes = output::open(captured)?;
    let mut line = Vec::new();
    while bytes.by_ref().take(PIECE).read_until(b'\n', &mut line)? > 0 {
        if std::str::from_utf8(&line).is_err() {
            return Ok(false);
        }
        line.clear();
    }
    Ok(true)
}

/// A stream that is written anew, in memory or in a file as it was.
struct Recoder<'a> {
    from: &'a Captured,
    /// How many of its bytes were taken.
    read: u64,
    text: Captured,
    file: Option<File>,
}

impl<'a> Recoder<'a> {
    fn new(from: &'a Captured, spill: &Path) -> io::Result<Self> {
        let file = from.file.is_some().then(|| tempfile::tempfile_in(spill)).transpose()?;
        let text = Captured { end_us: from.end_us, lost: from.lost.clone(), ..Captured::default() };
        Ok(Self { from, read: 0, text, file })
    }

    fn add(&mut self, piece: &[u8], text_of: impl Fn(&[u8]) -> Cow<'_, [u8]>) -> io::Result<()> {
        let end = self.read + piece.len() as u64;
        // Marks are in the order of the bytes, and those before this piece have their places.
        while let Some(mark) = self.from.marks.get(self.text.marks.len()).filter(|mark| mark.offset <= end) {
            let within = usize::try_from(mark.offset.saturating_sub(self.read)).unwrap_or(usize::MAX);
            let offset = self.text.bytes + text_of(&piece[..within]).len() as u64;
            self.text.marks.push(Mark { offset, at_us: mark.at_us });
        }
        let text = text_of(piece);
        match &mut self.file {
            Some(file) => file.write_all(&text)?,
            None => self.text.memory.extend_from_slice(&text),
        }
        self.text.bytes += text.len() as u64;
        self.read = end;
        Ok(())
    }

    fn finish(mut self) -> io::Result<Captured> {
        for mark in &self.from.marks[self.text.marks.len()..] {
            self.text.marks.push(Mark { offset: self.text.bytes, at_us: mark.at_us });
        }
        if let Some(mut file) = self.file {
            file.rewind()?;
            self.text.file = Some(Arc::new(file));
        }
        Ok(self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_code_page_lacks_is_named() {
        let told = not_in_cp1252("\u{2713} ok \u{1F680}\u{1F680}\n");
        assert_eq!(told.as_deref(), Some("\u{2713} (U+2713), \u{1F680} (U+1F680)"));
        assert_eq!(not_in_cp1252("größe — 5 €\n"), None);
        assert_eq!(not_in_cp1252("→↓↑⇒").as_deref(), Some("↑ (U+2191), → (U+2192), ↓ (U+2193) and 1 more"));
    }

    const TEXT: &str = "größe \u{1F98A}\r\n1 passed\n";

    fn le(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    fn read(bytes: &[u8], marks: &[u64]) -> (String, Vec<u64>) {
        let spill = tempfile::tempdir().expect("a folder");
        let marks: Vec<Mark> = marks.iter().map(|&offset| Mark { offset, at_us: offset }).collect();
        let in_memory = Captured { bytes: bytes.len() as u64, memory: bytes.to_vec(), marks, ..Captured::default() };
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(bytes).expect("written");
        let in_file = Captured { memory: Vec::new(), file: Some(Arc::new(file)), ..in_memory.clone() };
        let [memory, file] = [in_memory, in_file].map(|captured| {
            let captured = as_utf8(captured, spill.path());
            let mut bytes = Vec::new();
            output::open(&captured).expect("open").read_to_end(&mut bytes).expect("read");
            assert_eq!(captured.bytes, bytes.len() as u64);
            let offsets = captured.marks.iter().map(|mark| mark.offset).collect::<Vec<_>>();
            (String::from_utf8_lossy(&bytes).into_owned(), offsets)
        });
        assert_eq!(memory, file);
        memory
    }

    #[test]
    fn utf16_with_a_mark_is_read_in_either_order() {
        let be: Vec<u8> = TEXT.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(read(&[&[0xff, 0xfe], &le(TEXT)[..]].concat(), &[]).0, TEXT);
        assert_eq!(read(&[&[0xfe, 0xff], &be[..]].concat(), &[]).0, TEXT);
    }

    #[test]
    fn utf16_without_a_mark_is_read_where_it_is_plain() {
        assert_eq!(read(&le("1 passed\n"), &[]).0, "1 passed\n");
        for other in [&b"1 passed\n"[..], b"a\0", b"", b"\0\0\0\0\0\0\0\0", b"\0a\0b\0c\0d"] {
            assert_eq!(read(other, &[]).0.as_bytes(), other);
        }
    }

    #[test]
    fn moments_stay_with_their_characters() {
        let text = "aö\u{1F98A}b\n";
        let bytes = [&[0xff, 0xfe], &le(text)[..]].concat();
        // After the mark, `a`, `ö`, the fox, `b`, and the end.
        assert_eq!(read(&bytes, &[2, 4, 6, 10, 12, 14]).1, [0, 1, 3, 7, 8, 9]);
        assert_eq!(read("aö\n".as_bytes(), &[1, 3, 4]).1, [1, 3, 4]);
    }

    #[test]
    fn pairs_are_not_torn_between_pieces() {
        let long = "\u{1F98A}".repeat(usize::try_from(PIECE).expect("small"));
        for before in ["", "a"] {
            let text = format!("{before}{long}");
            assert_eq!(read(&[&[0xff, 0xfe], &le(&text)[..]].concat(), &[]).0, text);
        }
    }

    #[test]
    fn half_a_character_at_the_end_is_told() {
        assert_eq!(read(&[0xff, 0xfe, b'a', 0, b'b'], &[]).0, "a\u{FFFD}");
    }
}
