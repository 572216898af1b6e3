//! Where checks are run.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Where the checks are run, if that is not on this machine.
#[derive(Debug, Default, Args)]
pub struct PlaceArgs {
    /// Run the checks in a container of this image; no network, the project read-only and a copy of it to work on.
    #[arg(long = "in", value_name = "IMAGE", group = "place", conflicts_with_all = ["keep", "baseline"])]
    pub image: Option<String>,
    /// Run them in a container of this image and here, and tell what differs and which facts explain it. `--report FILE` is
    /// then the report of this machine, and FILE with `.container` before its ending the other.
    #[arg(
        long,
        value_name = "IMAGE",
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
    #[arg(long, value_name = "DIR", requires = "place")]
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
