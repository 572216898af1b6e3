//! Standard output and standard error: the one place that writes to them.

use std::io::{self, Write};

use crate::env;
use crate::report::{self, Look};

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

    /// Writes a line for people. Where GitHub's runner reads along, nothing in it is a command to that.
    pub fn line(self, text: &str) {
        if env::in_github_actions() { self.write(&report::defused(text)) } else { self.write(text) }
    }

    /// Writes a line that is meant as a command to GitHub's runner.
    pub fn command(self, command: &str) {
        self.write(command);
    }

    /// Says on standard error what went wrong.
    pub fn error(error: &impl ToString) {
        Self::Stderr.line(&format!("hostproof: {}", Self::Stderr.look().text(&error.to_string())));
    }

    /// Writes a JSON document, or a line of JSON, to standard output.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn json(json: &str) -> io::Result<()> {
        let json = if env::in_github_actions() { report::defused_json(json) } else { json.to_owned() };
        let mut stdout = io::stdout();
        stdout.write_all(format!("{json}\n").as_bytes())?;
        stdout.flush()
    }

    /// Writes bytes to standard output as they are.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn bytes(bytes: &[u8]) -> io::Result<()> {
        let mut stdout = io::stdout();
        stdout.write_all(bytes)?;
        stdout.flush()
    }

    /// Somebody who stopped reading misses nothing that the exit code doesn't tell.
    fn write(self, text: &str) {
        let text = format!("{text}\n");
        let _ = match self {
            Self::Stdout => io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()),
            Self::Stderr => io::stderr().write_all(text.as_bytes()),
        };
    }
}
