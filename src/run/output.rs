//! A captured stream: read again from its start, and shown in part.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use crate::model::Output;
use crate::platform::Captured;
use crate::words::shown;

/// How much of a stream's end a report has.
const TAIL: u64 = 16 * 1024;

/// The stream from its start.
///
/// # Errors
///
/// If the file that has it cannot be opened, or has less than was written.
pub fn open(captured: &Captured) -> io::Result<Box<dyn BufRead + '_>> {
    Ok(match &captured.file {
        Some(file) => Box::new(BufReader::with_capacity(256 * 1024, spilled(file, captured)?)),
        None => Box::new(&*captured.memory),
    })
}

/// What the report says of a stream.
#[must_use]
pub fn output(captured: &Captured, kept: Option<String>) -> Output {
    let bytes = tail(captured).unwrap_or_default();
    Output { bytes: captured.bytes, tail: shown(&bytes), cut: captured.bytes > bytes.len() as u64, file: kept }
}

/// Leaves the whole stream in a file; `None` if that can't be written.
#[must_use]
pub fn keep(captured: &Captured, file: &Path) -> Option<String> {
    if captured.file.is_none() {
        std::fs::write(file, &captured.memory).ok()?;
    }
    Some(captured.file.as_deref().unwrap_or(file).display().to_string())
}

/// The file lies in the check's reach: it may be gone, cut, or something that opening would wait for.
fn spilled(file: &Path, captured: &Captured) -> io::Result<File> {
    let told = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
    let metadata = std::fs::symlink_metadata(file).map_err(told)?;
    if !metadata.is_file() || (metadata.len() != captured.bytes && captured.lost.is_none()) {
        return Err(told(io::Error::other("it was changed by somebody else")));
    }
    File::open(file).map_err(told)
}

fn tail(captured: &Captured) -> io::Result<Vec<u8>> {
    let Some(file) = &captured.file else {
        let start = captured.memory.len().saturating_sub(usize::try_from(TAIL).unwrap_or(usize::MAX));
        return Ok(captured.memory[start..].to_vec());
    };
    let mut file = spilled(file, captured)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_what_was_written_cannot_be_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("stdout");
        let captured = Captured { bytes: 3, file: Some(file.clone()), ..Captured::default() };
        let error = || open(&captured).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error().starts_with(&format!("{}: ", file.display())), "{}", error());
        std::fs::write(&file, "abc").expect("a file");
        assert!(open(&captured).is_ok());
        std::fs::write(&file, "a").expect("a file");
        assert!(error().ends_with("changed by somebody else"), "{}", error());
        assert!(open(&Captured { lost: Some("full".to_owned()), ..captured.clone() }).is_ok());
    }

    #[test]
    fn the_end_of_a_long_stream_is_shown_and_called_cut() {
        let mut memory = vec![b'x'; 40_000];
        memory.extend_from_slice(b"the end");
        let captured = Captured { bytes: memory.len() as u64, memory, ..Captured::default() };
        let output = output(&captured, None);
        assert!(output.cut && output.tail.ends_with("the end") && output.tail.len() == 16 * 1024);
    }
}
