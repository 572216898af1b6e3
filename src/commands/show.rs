//! Standard output and standard error: the one place that writes to them.

use std::io::{self, Write};

use crate::report::Look;

/// Where text for people goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    Stdout,
    /// When standard output is taken by a document.
    Stderr,
}

impl Show {
    /// How text may look there.
    pub fn look(self) -> Look {
        match self {
            Self::Stdout => Look::of(&io::stdout()),
            Self::Stderr => Look::of(&io::stderr()),
        }
    }

    /// Writes a line. Somebody who stopped reading misses nothing that the exit code doesn't tell.
    pub fn line(self, text: &str) {
        let text = format!("{text}\n");
        let _ = match self {
            Self::Stdout => io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()),
            Self::Stderr => io::stderr().write_all(text.as_bytes()),
        };
    }
}
