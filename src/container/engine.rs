//! docker or podman, through its command line.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use super::ask::{PATIENCE, said_by};
use crate::error::{Error, Result};
use crate::run::ENGINES;

/// Whose command line it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EngineKind {
    Docker,
    Podman,
}

impl EngineKind {
    /// Of its program, and as reports have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Podman => "podman",
        }
    }
}

/// An engine that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Engine {
    /// Whose it is. podman may go by docker's name.
    pub kind: EngineKind,
    /// The program that is called.
    program: &'static str,
    pub version: String,
}

impl Engine {
    /// The wanted one, or else the first that answers. A client without an engine is none.
    ///
    /// # Errors
    ///
    /// If none answers: with what each said.
    pub fn find(wanted: Option<EngineKind>) -> Result<Self> {
        let mut lines = Vec::new();
        for (program, question) in ENGINES {
            if wanted.is_some_and(|kind| kind.name() != program) {
                continue;
            }
            match answer(question) {
                Ok(version) => {
                    let is_podman =
                        said_by(program, &["--version"], PATIENCE).is_ok_and(|said| said.contains("podman"));
                    let kind = if is_podman { EngineKind::Podman } else { EngineKind::Docker };
                    return Ok(Self { kind, program, version });
                }
                Err(why) => lines.push(format!("    {program}  {why}")),
            }
        }
        let lines = lines.join("\n");
        Err(Error::Unmeasured(format!(
            "no container engine answers\n{lines}\nhelp: install docker or podman, or start its engine"
        )))
    }

    /// A command of it, without input.
    #[must_use]
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(self.program);
        command.args(arguments).stdin(Stdio::null());
        command
    }

    /// What it prints to a command.
    ///
    /// # Errors
    ///
    /// Its own words, if it fails; that it gives no answer, if it does not in half a minute.
    pub fn ask(&self, arguments: &[&str]) -> Result<String, String> {
        said_by(self.program, arguments, PATIENCE)
    }

    /// Whether root in its containers is the caller outside, so that the caller's own number there is somebody else.
    #[must_use]
    pub fn is_rootless(&self) -> bool {
        match self.kind {
            EngineKind::Docker => {
                self.ask(&["info", "--format", "{{.SecurityOptions}}"]).is_ok_and(|said| said.contains("name=rootless"))
            }
            EngineKind::Podman => {
                self.ask(&["info", "--format", "{{.Host.Security.Rootless}}"]).is_ok_and(|said| said.trim() == "true")
            }
        }
    }

    /// Ends a container at once and removes it, whether it is there or not.
    pub fn remove(&self, container: &str) {
        // podman's `rm --force` asks first, and waits ten seconds.
        let _ = self.ask(&["kill", container]);
        let _ = self.ask(&["rm", "--force", "--volumes", container]);
    }
}

/// What only an engine that runs can answer.
fn answer(question: &[&str]) -> Result<String, String> {
    let [program, arguments @ ..] = question else { return Err(String::new()) };
    let said = said_by(program, arguments, PATIENCE)?;
    let version = said.trim();
    if version.is_empty() { Err("its client is here, and names no engine".to_owned()) } else { Ok(version.to_owned()) }
}
