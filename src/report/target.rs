//! Where a document goes.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::platform;

/// A document that a run writes: what errors call it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    Report,
    Junit,
    Receipt,
    Revocation,
    /// Markdown.
    Page,
    Sarif,
}

impl Document {
    fn cannot_write(self) -> &'static str {
        match self {
            Self::Report => "cannot write the report to",
            Self::Junit => "cannot write the JUnit file to",
            Self::Receipt => "cannot write the receipt to",
            Self::Revocation => "cannot write the revocation to",
            Self::Page => "cannot write the page to",
            Self::Sarif => "cannot write the SARIF file to",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Report => "report",
            Self::Junit => "JUnit file",
            Self::Receipt => "receipt",
            Self::Revocation => "revocation",
            Self::Page => "page",
            Self::Sarif => "SARIF file",
        }
    }
}

/// Where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    document: Document,
    /// `None` is standard output; what people read goes to standard error then.
    file: Option<PathBuf>,
}

impl Target {
    /// Sees to it that a document can be written there, before anything runs.
    ///
    /// A symbolic link is followed, so that the file it leads to is replaced and not the link.
    ///
    /// # Errors
    ///
    /// If the path is something that a file can't replace (a pipe, a device, a folder), or its folder can't be written.
    pub fn prepare(document: Document, path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self { document, file: None });
        }
        let failed = |error| Error::file(document.cannot_write(), path, error);
        let file = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => platform::real_path(path).map_err(failed)?,
            _ => path.to_owned(),
        };
        if let Ok(metadata) = fs::metadata(&file)
            && !metadata.is_file()
        {
            let what = if metadata.is_dir() { "a folder" } else { "a pipe or a device" };
            let text = format!(
                "the {} can't go to {}: it is {what}; name a file, or - for standard output",
                document.name(),
                path.display()
            );
            return Err(Error::Usage(text));
        }
        temporary(&file).map_err(failed)?;
        Ok(Self { document, file: Some(file) })
    }

    /// Whether it takes standard output.
    #[must_use]
    pub fn is_stdout(&self) -> bool {
        self.file.is_none()
    }

    /// The file it goes to.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Writes the document: to a temporary file beside it, then renamed, so that nobody reads half of it.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        self.write_with(|out| out.write_all(bytes))
    }

    /// The same, as it comes: of a large document nobody has to hold the whole.
    ///
    /// # Errors
    ///
    /// What the system says, or whoever writes.
    pub fn write_with(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let what = self.document.cannot_write();
        let Some(path) = &self.file else {
            let mut stdout = BufWriter::new(io::stdout());
            let written = write(&mut stdout).and_then(|()| stdout.flush());
            return written.map_err(|error| Error::file(what, Path::new("-"), error));
        };
        let failed = |error| Error::file(what, path, error);
        let mut buffer = BufWriter::new(temporary(path).map_err(failed)?);
        write(&mut buffer).map_err(failed)?;
        let file = buffer.into_inner().map_err(|error| failed(error.into_error()))?;
        file.persist(path).map(|_| ()).map_err(|error| failed(error.error))
    }
}

fn temporary(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    platform::new_file(folder, ".hostproof-report-")
}
