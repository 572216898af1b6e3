//! Where checks are run.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where the checks are run, if that is not on this machine.
#[derive(Debug, Default, Args)]
pub struct PlaceArgs {
    /// Run the checks in a container of this image; no network, the project read-only and a copy of it to work on.
    #[arg(long = "in", value_name = "IMAGE", value_parser = image, group = "place", conflicts_with_all = ["keep", "baseline"])]
    pub image: Option<String>,
    /// Run them in a container of this image and here, and tell what differs and which facts explain it. `--report FILE` is
    /// then the report of this machine, and FILE with `.container` before its ending the other.
    #[arg(
        long,
        value_name = "IMAGE",
        value_parser = image,
        group = "place",
        conflicts_with_all = ["keep", "baseline", "events", "junit", "receipt", "fail_fast"]
    )]
    pub parity: Option<String>,
    /// The engine that runs it; by default whichever answers.
    #[arg(long, value_enum, value_name = "ENGINE", requires = "place")]
    pub engine: Option<EngineArg>,
    /// Build the image from this file first, with the project as its context.
    #[arg(long, value_name = "FILE", requires = "place")]
    pub build: Option<PathBuf>,
    /// Fetch the image from its registry first. Without it nothing is fetched.
    #[arg(long, requires = "place", conflicts_with = "build")]
    pub pull: bool,
    /// Give the container the engine's network.
    #[arg(long, requires = "place")]
    pub network: bool,
    /// Leave out the engine's init: hostproof itself is process 1.
    #[arg(long, requires = "place")]
    pub no_init: bool,
    /// Mount an empty file system in memory there, as `/tmp` in an image that can't be written to; more than once.
    #[arg(long, value_name = "DIR", value_parser = folder, requires = "place")]
    pub tmpfs: Vec<String>,
    /// The static hostproof for Linux that runs inside; by default this one, if it is such.
    #[arg(long, value_name = "FILE", requires = "place")]
    pub binary: Option<PathBuf>,
}

/// A container engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    Docker,
    Podman,
}

/// The name of an image, which engines take for an option if it begins as one.
fn image(text: &str) -> Result<String, String> {
    let help = "name one as the engine does: python:3.13-slim, localhost/hooks:1";
    let why = match text.chars().find(|c| c.is_whitespace() || c.is_control()) {
        _ if text.is_empty() => "it is empty",
        Some(_) => "no image has a space in its name",
        None if text.starts_with('-') => "no image's name begins with a dash",
        None => return Ok(text.to_owned()),
    };
    Err(format!("{why}; {help}"))
}

/// A folder in the container, which engines take with options behind a colon.
fn folder(text: &str) -> Result<String, String> {
    let help = "name a folder of the container by its whole path: --tmpfs /tmp";
    if !text.starts_with('/') {
        return Err(format!("it does not begin with a slash; {help}"));
    }
    if text.contains([':', ',']) || text.chars().any(char::is_control) {
        return Err(format!("no engine takes one with a colon or a comma in it; {help}"));
    }
    let parts: Vec<&str> = text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    match parts[..] {
        [] => Err(format!("that would hide the whole image; {help}")),
        ["proc" | "sys" | "dev", ..] => Err(format!("the engine itself has something there; {help}")),
        ["hostproof", ..] => Err(format!("hostproof itself lies there; {help}")),
        _ if parts.contains(&"..") => Err(format!("`..` is no way to a folder that is yet to be made; {help}")),
        _ => Ok(text.to_owned()),
    }
}
