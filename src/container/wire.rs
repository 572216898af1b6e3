//! What is said between the two ends, one JSON object a line.
//!
//! To the inside: one [`Request`], then `stop` to end what runs, then the end of the stream, at which it ends at once. From
//! it: [`Message`]s, of which the last has the request's token.

use std::borrow::Cow;
use std::io::{self, BufRead};
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::ExitCode;
use crate::model::{CheckReport, HostFacts};
use crate::platform;
use crate::run::Ran;

/// The line that ends a run as Ctrl-C does.
pub const STOP: &str = "stop";

/// No line is longer: the report of a check is one, and none has more.
pub const LINE: usize = 256 << 20;

/// Reads a line, and keeps its first `most` bytes, without its end; what follows them is passed over. Tells how many bytes
/// the line has, its end included: 0 at the end of the stream.
///
/// # Errors
///
/// If the stream can't be read.
pub fn read_line(from: &mut impl BufRead, line: &mut Vec<u8>, most: usize) -> io::Result<usize> {
    line.clear();
    let mut length = 0;
    loop {
        let there = match from.fill_buf() {
            Ok(there) => there,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let end = memchr::memchr(b'\n', there);
        let part = &there[..end.unwrap_or(there.len())];
        line.extend_from_slice(&part[..part.len().min(most - line.len())]);
        let read = end.map_or(there.len(), |end| end + 1);
        from.consume(read);
        length += read;
        if end.is_some() || read == 0 {
            return Ok(length);
        }
    }
}

/// What the inside is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Request {
    /// Of the hostproof that asks: both must be the same.
    pub version: String,
    /// Comes back with the last message.
    pub token: String,
    /// What follows the program's name on the command line of the run inside.
    pub words: Vec<String>,
    /// Whether the reports of all checks are wanted.
    pub whole: bool,
    pub luggage: Packed,
}

/// What of the project is copied, relative to where it is mounted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packed {
    /// The name of the folder.
    pub name: Name,
    /// The project in it.
    pub prefix: Name,
    /// What git lists; `None` for everything, where there is no repository.
    pub files: Option<Vec<Name>>,
    /// The worktree's own folder in the repository's, which is mounted by itself; `None` if `.git` is a folder.
    pub git: Option<Name>,
}

/// A path, with `/` on every system; bytes where it is not Unicode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Name {
    Text(String),
    Bytes(Vec<u8>),
}

impl Name {
    /// Of a relative path.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let mut bytes = Vec::new();
        for part in path.components().filter(|part| *part != Component::CurDir) {
            if !bytes.is_empty() {
                bytes.push(b'/');
            }
            bytes.extend(part.as_os_str().as_encoded_bytes());
        }
        String::from_utf8(bytes).map_or_else(|error| Self::Bytes(error.into_bytes()), Self::Text)
    }

    /// The path that it is of.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match self {
            Self::Text(text) => PathBuf::from(text),
            Self::Bytes(bytes) => platform::path_of(bytes),
        }
    }
}

/// What the inside tells.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Message<'a> {
    /// All is in place, and the checks are about to run.
    Ready {
        version: Cow<'a, str>,
        jobs: u64,
        /// The ids of all checks, in their order.
        checks: Vec<Cow<'a, str>>,
        /// The digest of the manifests.
        manifests: Option<Cow<'a, str>>,
    },
    /// A check begins.
    Started(Cow<'a, str>),
    /// A check is judged.
    Ended(Cow<'a, CheckReport>),
    /// The run is over.
    Over { ran: Box<Ran>, host: Cow<'a, HostFacts> },
    /// There is none.
    Refused {
        why: Cow<'a, str>,
        /// Whether it is the user's to mend, as a manifest is.
        usage: bool,
    },
    /// Nothing was lost on the way, and nothing follows.
    End(Cow<'a, str>),
}

impl Message<'_> {
    /// Why there is no run.
    #[must_use]
    pub fn refused(error: &crate::error::Error) -> Self {
        Self::Refused { why: error.to_string().into(), usage: error.exit_code() == ExitCode::Usage }
    }

    /// As one line, without its end.
    #[must_use]
    pub fn line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What a line says; `None` if it is none of these.
    #[must_use]
    pub fn of(line: &[u8]) -> Option<Message<'static>> {
        serde_json::from_slice(line).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_through_whatever_their_bytes() {
        let name = Name::of(Path::new("./hooks/ü.py"));
        assert_eq!(name, Name::Text("hooks/ü.py".to_owned()));
        assert_eq!(name.path(), Path::new("hooks/ü.py"));
        assert_eq!(Name::of(Path::new("")).path(), Path::new(""));
        if !cfg!(windows) {
            let odd = platform::path_of(b"a\xff/b");
            assert_eq!(Name::of(&odd).path(), odd);
        }
    }

    #[test]
    fn of_a_line_without_an_end_only_the_beginning_is_kept() {
        let endless = b"stop\nxxxxxxxxxxxxxxxx\n\nlast";
        let mut from = io::BufReader::with_capacity(4, &endless[..]);
        let mut line = Vec::new();
        let mut next = || read_line(&mut from, &mut line, 6).map(|length| (length, line.clone())).expect("a line");
        let read = [next(), next(), next(), next(), next()];
        let kept = read.map(|(length, kept)| (length, String::from_utf8(kept).expect("text")));
        let wanted = [(5, "stop"), (17, "xxxxxx"), (1, ""), (4, "last"), (0, "")];
        assert_eq!(kept, wanted.map(|(length, kept)| (length, kept.to_owned())));
    }

    #[test]
    fn a_line_that_is_no_message_is_none() {
        assert!(matches!(Message::of(br#"{"end":"t"}"#), Some(Message::End(token)) if token == "t"));
        assert!(Message::of(b"exec /hostproof/hostproof: exec format error").is_none());
        assert!(Message::of(br#"{"end":"#).is_none());
    }
}
