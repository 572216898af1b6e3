//! What can go wrong, in words for the person who has to mend it, and the exit codes that it ends in.

use std::path::{Path, PathBuf};

/// The exit codes of the program. They are part of its interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitCode {
    /// Every check as expected.
    Ok = 0,
    /// Some check is not.
    Red = 1,
    /// Usage, a manifest or the configuration is wrong.
    Usage = 2,
    /// Nothing ran, or a run could not be measured.
    Incomplete = 3,
    /// Ended by Ctrl-C or a termination signal.
    Interrupted = 130,
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code as u8)
    }
}

/// An error that ends the program before, or instead of, a report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user asked for something that is not there, or not possible.
    #[error("{0}")]
    Usage(String),

    /// Manifests are wrong. The text is complete: every place, marked, of every file.
    #[error("{0}")]
    Manifest(String),

    /// The system refused something that hostproof itself needs.
    #[error("{what} {}: {source}", path.display())]
    File {
        /// What was tried, as `cannot read`.
        what: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },

    /// The user ended it before there was anything to report.
    #[error("{0}")]
    Interrupted(String),

    /// The run could not be measured on this system.
    #[error("{0}")]
    Unmeasured(String),
}

impl Error {
    /// For a file that could not be handled.
    pub fn file(what: &'static str, path: &Path, source: std::io::Error) -> Self {
        Self::File { what, path: path.to_owned(), source }
    }

    /// The exit code that this error ends in.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) | Self::Manifest(_) | Self::File { .. } => ExitCode::Usage,
            Self::Unmeasured(_) => ExitCode::Incomplete,
            Self::Interrupted(_) => ExitCode::Interrupted,
        }
    }
}

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;
