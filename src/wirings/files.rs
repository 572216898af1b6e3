//! Where a project's files are read from: the disk, or the tree of a commit ([`super::Tree`]). Both say of each path what it
//! is, before anything is opened.

use std::fs::{self, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::hook_folders::told;
use super::limits::MAX_BYTES;
use super::listing::list;
use crate::manifest::other_encoding;
use crate::model::Platform;
use crate::{platform, source};

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    Missing,
    File {
        /// Whether it may be executed; `None` where the system has no such mark.
        executable: Option<bool>,
    },
    Folder,
    /// Anything else: a FIFO, a device, a link to nowhere.
    Other,
}

/// Why a file is not read, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    pub line: Option<u64>,
    pub message: String,
    pub remedy: String,
}

impl Refused {
    pub(super) fn new(message: impl Into<String>, remedy: &str) -> Self {
        Self { line: None, message: message.into(), remedy: remedy.to_owned() }
    }

    pub(super) fn too_large() -> Self {
        Self::new("it is larger than 1 MiB, which no person writes", "split it, or remove what made it so large")
    }
}

/// The files of a project. Names are relative to it, with `/`.
pub trait Files {
    /// Those that git tracks or would track, or all that there are; sorted.
    fn names(&self) -> &[String];

    /// What is at a path, links followed.
    fn entry(&self, name: &str) -> Entry;

    /// The bytes of a regular file that lies in the project, up to a megabyte.
    ///
    /// # Errors
    ///
    /// If there is none, or it is anything else.
    fn bytes(&self, name: &str) -> Result<Vec<u8>, Refused>;

    /// The project's folder, where its files are read from the disk.
    fn root(&self) -> Option<&Path>;

    /// Whether they are those of a repository, or of a part of one.
    fn is_repository(&self) -> bool;

    /// Folders of the project that something tells git to take its hooks from: the clone's configuration, or a line of any
    /// file with `hooksPath` in it. Some may be none, and lie anywhere.
    fn hook_folders(&self) -> Vec<String>;

    /// Its text, without a byte order mark.
    ///
    /// # Errors
    ///
    /// The same, and if it is no UTF-8.
    fn text(&self, name: &str) -> Result<String, Refused> {
        self.bytes(name).and_then(|bytes| decode(&bytes))
    }
}

/// The files as they are now.
#[derive(Debug)]
pub struct Disk {
    root: PathBuf,
    names: Vec<String>,
}

impl Disk {
    /// Of a project, with what its listing leaves out. `root` is absolute and without links.
    #[must_use]
    pub fn open(root: &Path) -> (Self, Vec<String>) {
        let listing = list(root);
        (Self { root: root.to_owned(), names: listing.files }, listing.notes)
    }

    /// Of a project whose files are listed already.
    #[must_use]
    pub fn of(root: &Path, names: &[String]) -> Self {
        Self { root: root.to_owned(), names: names.to_vec() }
    }
}

impl Files for Disk {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn entry(&self, name: &str) -> Entry {
        let path = self.root.join(name);
        match fs::metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                let marked = platform::current() != Platform::Windows;
                Entry::File { executable: marked.then(|| platform::is_executable(&path)) }
            }
            Ok(metadata) if metadata.is_dir() => Entry::Folder,
            Err(error) if is_missing(&error) && fs::symlink_metadata(&path).is_err() => Entry::Missing,
            _ => Entry::Other,
        }
    }

    fn bytes(&self, name: &str) -> Result<Vec<u8>, Refused> {
        let path = self.root.join(name);
        let cannot = |error: io::Error| match error.kind() {
            ErrorKind::NotFound => {
                Refused::new("it is a symbolic link that leads nowhere", "mend the link, or remove it")
            }
            _ => Refused::new(format!("it cannot be read: {error}"), "make it readable, or remove it"),
        };
        // It is looked at first: to open a FIFO would wait, and to open a device can do anything. The way it is opened
        // neither waits nor follows a link that came in between.
        regular(&fs::metadata(&path).map_err(cannot)?)?;
        let real = platform::real_path(&path).map_err(cannot)?;
        if !real.starts_with(&self.root) {
            let message = format!("it is a symbolic link out of the project, to {}", real.display());
            return Err(Refused::new(message, "put the file itself there: what is checked must come with the project"));
        }
        let file = platform::open_regular(&real).map_err(cannot)?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(cannot)?;
        if bytes.len() as u64 > MAX_BYTES { Err(Refused::too_large()) } else { Ok(bytes) }
    }

    fn root(&self) -> Option<&Path> {
        Some(&self.root)
    }

    fn is_repository(&self) -> bool {
        source::top(&self.root).is_some()
    }

    fn hook_folders(&self) -> Vec<String> {
        told(&self.root, None)
    }
}

fn regular(metadata: &Metadata) -> Result<(), Refused> {
    if metadata.is_file() {
        return if metadata.len() > MAX_BYTES { Err(Refused::too_large()) } else { Ok(()) };
    }
    let kind = if metadata.is_dir() { "a folder" } else { "a FIFO, a socket or a device" };
    Err(Refused::new(format!("it is {kind}, not a file"), "rename or remove it"))
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn decode(bytes: &[u8]) -> Result<String, Refused> {
    let as_utf8 = "save it as UTF-8";
    if let Some(encoding) = other_encoding(bytes) {
        return Err(Refused::new(format!("it is in {encoding}, which its host does not read"), as_utf8));
    }
    let line = |at: usize| Some(memchr::memchr_iter(b'\n', &bytes[..at]).count() as u64 + 1);
    let text = str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let message = format!("it is not UTF-8: byte {:#04x} at offset {at}", bytes[at]);
        Refused { line: line(at), ..Refused::new(message, as_utf8) }
    })?;
    if let Some(at) = text.find('\0') {
        let remedy = "it may not be a text file, or was cut off while it was written";
        return Err(Refused { line: line(at), ..Refused::new(format!("it has a NUL byte at offset {at}"), remedy) });
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())
}
