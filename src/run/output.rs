//! A captured stream: read again from its start, and shown in part.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::model::Output;
use crate::platform::Captured;
use crate::words::shown;

/// How much of a stream's end a report has.
const TAIL: u64 = 16 * 1024;

/// The stream from its start. One reader at a time: those of a file share their place in it.
///
/// # Errors
///
/// If the file that has it cannot be read, or has less than was written.
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

/// Leaves the whole stream in a new file of that name in a kept sandbox, or beside it if the check has put something
/// there under that name. `None` if it can't be written.
#[must_use]
pub fn keep(captured: &Captured, sandbox: &Path, name: &str) -> Option<String> {
    let beside = sandbox.with_extension(name);
    let create = |file: PathBuf| Some((File::options().write(true).create_new(true).open(&file).ok()?, file));
    let (mut kept, file) = create(sandbox.join(name)).or_else(|| create(beside))?;
    io::copy(&mut open(captured).ok()?, &mut kept).ok()?;
    Some(file.display().to_string())
}

/// The file at its start.
fn spilled<'a>(mut file: &'a File, captured: &Captured) -> io::Result<&'a File> {
    if file.metadata()?.len() != captured.bytes && captured.lost.is_none() {
        return Err(io::Error::other("the file with the output was changed by somebody else"));
    }
    file.rewind()?;
    Ok(file)
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
        let file = std::sync::Arc::new(tempfile::tempfile().expect("a file"));
        std::io::Write::write_all(&mut &*file, b"abc").expect("written");
        let captured = Captured { bytes: 3, file: Some(std::sync::Arc::clone(&file)), ..Captured::default() };
        let read = || open(&captured).and_then(|mut stream| io::read_to_string(&mut stream));
        assert_eq!((read().ok(), read().ok()), (Some("abc".to_owned()), Some("abc".to_owned())));
        file.set_len(1).expect("cut");
        assert!(read().is_err_and(|error| error.to_string().ends_with("changed by somebody else")));
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
