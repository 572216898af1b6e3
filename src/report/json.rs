//! The report as a file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::model::Report;
use crate::platform;

/// The JSON Schema of the report, generated from its types.
#[must_use]
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Report);
    schema.insert("title".to_owned(), Value::from("hostproof report, version 1"));
    schema.to_value()
}

/// Where a report goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Standard output; what people read goes to standard error then.
    Stdout,
    File(PathBuf),
}

impl Target {
    /// Sees to it that a report can be written there, before anything runs.
    ///
    /// A symbolic link is followed, so that the file it leads to is replaced and not the link.
    ///
    /// # Errors
    ///
    /// If the path is something that a file can't replace (a pipe, a device, a folder), or its folder can't be written.
    pub fn prepare(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Ok(Self::Stdout);
        }
        let file = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => {
                fs::canonicalize(path).map_err(|error| Error::file("cannot write the report to", path, error))?
            }
            _ => path.to_owned(),
        };
        if let Ok(metadata) = fs::metadata(&file)
            && !metadata.is_file()
        {
            let what = if metadata.is_dir() { "a folder" } else { "a pipe or a device" };
            let text = format!(
                "the report can't go to {}: it is {what}; name a file, or - for standard output",
                path.display()
            );
            return Err(Error::Usage(text));
        }
        temporary(&file).map_err(|error| Error::file("cannot write the report to", path, error))?;
        Ok(Self::File(file))
    }

    /// Writes the report: to a temporary file beside it, then renamed, so that nobody reads half of it.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn write(&self, report: &Report) -> Result<()> {
        let mut json = serde_json::to_vec_pretty(report).unwrap_or_default();
        json.push(b'\n');
        match self {
            Self::Stdout => io::stdout()
                .write_all(&json)
                .map_err(|error| Error::file("cannot write the report to", Path::new("-"), error)),
            Self::File(path) => {
                let failed = |error| Error::file("cannot write the report to", path, error);
                let mut file = temporary(path).map_err(failed)?;
                file.write_all(&json).map_err(failed)?;
                file.persist(path).map(|_| ()).map_err(|error| failed(error.error))
            }
        }
    }
}

fn temporary(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    platform::new_file(folder, ".hostproof-report-")
}
