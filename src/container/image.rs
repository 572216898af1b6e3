//! The image: built, fetched, and what the engine knows of it.

use std::io;
use std::path::Path;
use std::process::Stdio;

use serde::Deserialize;

use super::engine::Engine;
use crate::error::{Error, Result};
use crate::words::quoted;

/// An image that the engine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// As it was named.
    pub name: String,
    /// `sha256:` and the digest over its configuration.
    pub id: String,
    /// By which registries have it, as far as the engine knows.
    pub digest: Option<String>,
    /// The processor that it is for, as engines call it: `amd64`, `arm64`.
    pub architecture: String,
}

/// As both engines tell it.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Told {
    id: String,
    os: String,
    architecture: String,
    #[serde(default)]
    repo_digests: Option<Vec<String>>,
}

impl Image {
    /// The image of that name, which is fetched by nobody.
    ///
    /// # Errors
    ///
    /// If it is not here, or not for Linux.
    pub fn of(engine: &Engine, name: &str) -> Result<Self> {
        let program = engine.kind.name();
        let text = engine.ask(&["image", "inspect", name]).map_err(|why| {
            Error::Usage(format!(
                "{program} has no image {name} here: {why}\nhelp: hostproof fetches none unasked: --pull does, or {program} pull {}; \
                 --build FILE builds it",
                quoted(name)
            ))
        })?;
        let read =
            |why: String| Error::Unmeasured(format!("{program} tells of image {name} in an unknown form: {why}"));
        let told: Vec<Told> = serde_json::from_str(&text).map_err(|error| read(error.to_string()))?;
        let told = told.into_iter().next().ok_or_else(|| read("nothing".to_owned()))?;
        if told.os != "linux" {
            return Err(Error::Usage(format!(
                "image {name} is for {}: hostproof runs checks in containers of Linux alone",
                told.os
            )));
        }
        // podman leaves the name of the digest out.
        let id = if told.id.contains(':') { told.id } else { format!("sha256:{}", told.id) };
        let digests = told.repo_digests.unwrap_or_default();
        let digest = digests.iter().find_map(|digest| Some(digest.split_once('@')?.1.to_owned()));
        Ok(Self { name: name.to_owned(), id, digest, architecture: told.architecture })
    }
}

/// Builds an image from a file, with the project as its context. What the engine says goes to standard error.
///
/// # Errors
///
/// If there is no such file, or the engine fails.
pub fn build(engine: &Engine, file: &Path, context: &Path, name: &str) -> Result<()> {
    if !file.is_file() {
        return Err(Error::Usage(format!("--build names {}, which is not a file", file.display())));
    }
    let mut command = engine.command(["build", "--tag", name, "--file"]);
    aloud(command.arg(file).arg(context), engine, "build", name)
}

/// Fetches an image from its registry, whether it is here or not.
///
/// # Errors
///
/// If the engine fails.
pub fn pull(engine: &Engine, name: &str) -> Result<()> {
    aloud(&mut engine.command(["pull", name]), engine, "pull", name)
}

fn aloud(command: &mut std::process::Command, engine: &Engine, verb: &str, name: &str) -> Result<()> {
    let program = engine.kind.name();
    let status = command
        .stdout(Stdio::from(io::stderr()))
        .status()
        .map_err(|error| Error::Unmeasured(format!("{program} {verb} cannot be run: {error}")))?;
    if status.success() {
        return Ok(());
    }
    Err(Error::Unmeasured(format!("{program} could not {verb} {name} ({status}); it says why above")))
}
