//! From a path to text, whatever lies at the path: every kind of file is answered at once, none is waited for.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;

use super::find::Candidate;
use super::limits::MAX_BYTES;
use super::problem::Problem;
use crate::platform;

const BOM: &str = "\u{feff}";

/// A manifest that could be read.
#[derive(Debug)]
pub struct Contents {
    /// As they are in the file.
    pub bytes: Vec<u8>,
    /// Without the byte order mark.
    pub text: String,
}

/// Why one could not, with as much of its text as can be shown.
#[derive(Debug)]
pub struct Unreadable {
    pub text: String,
    pub problem: Box<Problem>,
}

impl From<Problem> for Unreadable {
    fn from(problem: Problem) -> Self {
        Self { text: String::new(), problem: Box::new(problem) }
    }
}

/// Reads a manifest. `directory` is the folder that it must not lead out of.
pub fn read(candidate: &Candidate, directory: &Path) -> Result<Contents, Unreadable> {
    if candidate.path.file_name().is_some_and(|name| name.to_str().is_none()) {
        return Err(Problem::of_file("the name of this manifest is not UTF-8").help("rename it").into());
    }
    stays_inside(&candidate.path, directory)?;
    contents(read_bytes(&candidate.path)?)
}

/// Makes text of a manifest's bytes.
pub fn contents(bytes: Vec<u8>) -> Result<Contents, Unreadable> {
    let text = decode(&bytes)?;
    Ok(Contents { bytes, text })
}

fn cannot_read(source: &io::Error) -> Problem {
    Problem::of_file(format!("this manifest cannot be read: {source}")).help("make it readable, or remove it")
}

fn stays_inside(path: &Path, directory: &Path) -> Result<(), Problem> {
    let metadata = path.symlink_metadata().map_err(|source| cannot_read(&source))?;
    if !metadata.is_symlink() {
        return Ok(());
    }
    let target = platform::real_path(path).map_err(|source| {
        Problem::of_file(format!("this manifest is a symbolic link that leads nowhere: {source}"))
            .help("mend the link, or remove it")
    })?;
    let directory = platform::real_path(directory).map_err(|source| cannot_read(&source))?;
    if target.starts_with(&directory) {
        return Ok(());
    }
    Err(Problem::of_file(format!("this manifest is a symbolic link out of its folder, to {}", target.display()))
        .help("put the file itself there: what is checked must come with the project"))
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    // To open a FIFO would block, and to open a device can do anything; so it is looked at first, and once more when it
    // is open, since it may have been replaced in between.
    must_be_file(&path.metadata().map_err(|source| cannot_read(&source))?)?;
    let file = File::open(path).map_err(|source| cannot_read(&source))?;
    let metadata = file.metadata().map_err(|source| cannot_read(&source))?;
    must_be_file(&metadata)?;
    let mut bytes = Vec::new();
    if metadata.len() <= MAX_BYTES {
        // It may grow meanwhile.
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|source| cannot_read(&source))?;
    }
    if metadata.len() > MAX_BYTES || bytes.len() as u64 > MAX_BYTES {
        return Err(Problem::of_file("this manifest is larger than 1 MiB")
            .help("split it into several files; texts that a check needs belong into files of their own"));
    }
    Ok(bytes)
}

fn must_be_file(metadata: &Metadata) -> Result<(), Problem> {
    if metadata.is_file() {
        return Ok(());
    }
    let kind = if metadata.is_dir() { "a folder" } else { "a FIFO, a socket or a device" };
    Err(Problem::of_file(format!("this manifest is {kind}, not a file")).help("rename or remove it"))
}

fn decode(bytes: &[u8]) -> Result<String, Unreadable> {
    if let Some(encoding) = other_encoding(bytes) {
        return Err(Problem::of_file(format!("this manifest is in {encoding}; manifests are UTF-8"))
            .help("save it as UTF-8; in PowerShell: (Get-Content FILE) | Set-Content -Encoding utf8 FILE")
            .into());
    }
    let text = match str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let at = error.valid_up_to();
            // Up to the first wrong byte, the lossy text is the same as the file.
            let text = String::from_utf8_lossy(bytes).into_owned();
            let problem =
                Problem::at(at..at + 1, format!("this manifest is not UTF-8: byte {:#04x} at offset {at}", bytes[at]))
                    .help("save it as UTF-8");
            return Err(Unreadable { text, problem: Box::new(problem) });
        }
    };
    let text = text.strip_prefix(BOM).unwrap_or(text);
    let refuse = |problem| Unreadable { text: text.to_owned(), problem: Box::new(problem) };
    if text.starts_with(BOM) {
        return Err(refuse(
            Problem::at(0..BOM.len(), "this manifest begins with more than one byte order mark (U+FEFF)")
                .help("save it as UTF-8 without a byte order mark"),
        ));
    }
    if let Some(at) = text.find('\0') {
        return Err(refuse(
            Problem::at(at..at + 1, format!("this manifest has a NUL byte at offset {at}"))
                .help("it may not be a text file, or was cut off while it was written"),
        ));
    }
    Ok(text.to_owned())
}

/// Which of the encodings with zero bytes it is, by its byte order mark, or by where the zeros are: each of the first
/// characters of YAML is ASCII.
pub fn other_encoding(bytes: &[u8]) -> Option<&'static str> {
    // UTF-32 first: its mark begins with that of UTF-16.
    let marks: [(&[u8], &str); 4] = [
        (&[0xff, 0xfe, 0, 0], "UTF-32 (little endian)"),
        (&[0, 0, 0xfe, 0xff], "UTF-32 (big endian)"),
        (&[0xff, 0xfe], "UTF-16 (little endian)"),
        (&[0xfe, 0xff], "UTF-16 (big endian)"),
    ];
    if let Some((_, name)) = marks.into_iter().find(|(mark, _)| bytes.starts_with(mark)) {
        return Some(name);
    }
    let head = &bytes[..bytes.len().min(256)];
    let zeros = |size: usize, at: usize| {
        let group = head.chunks_exact(size);
        group.len() >= 2 && group.clone().filter(|group| group[at] == 0).count() * 10 >= group.len() * 7
    };
    if zeros(4, 1) && zeros(4, 2) {
        return Some(if zeros(4, 0) { "UTF-32 (big endian)" } else { "UTF-32 (little endian)" });
    }
    match (zeros(2, 0), zeros(2, 1)) {
        (false, true) => Some("UTF-16 (little endian)"),
        (true, false) => Some("UTF-16 (big endian)"),
        _ => None,
    }
}
