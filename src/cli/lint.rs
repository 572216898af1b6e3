//! `hostproof lint`

use std::path::PathBuf;

use clap::Args;

use super::ManifestArgs;

/// Check the manifests without running anything, or read the sources of hooks for traps.
#[derive(Debug, Default, Args)]
#[command(
    after_help = "Examples:\n  hostproof lint\n  hostproof lint --manifests ci/checks.d\n  hostproof lint --code\n  \
hostproof lint --code hooks/guard.py tests\n  hostproof lint --code --all --sarif traps.sarif\n\n\
--code reads Python, shell, JavaScript, TypeScript, Rust and Go: what hosts and checks run here, what checks cover, and \
the commands that hosts give to a shell. `hostproof: allow KIND because REASON` in a comment, on the line of a finding or on \
the one before, allows it; hostproof explain KIND tells what each kind is.\n\n\
Exit codes: 0 nothing but notes, 1 a warning or an error that no comment allows, 2 usage or a manifest is wrong, \
3 something could not be looked at."
)]
pub struct LintArgs {
    #[command(flatten)]
    pub manifests: ManifestArgs,
    /// Read sources for traps that close on another host.
    #[arg(long)]
    pub code: bool,
    /// Files, and folders with all that is in them.
    #[arg(value_name = "PATH", requires = "code")]
    pub paths: Vec<PathBuf>,
    /// Every source of the project.
    #[arg(long, requires = "code", conflicts_with = "paths")]
    pub all: bool,
    /// Print a JSON document.
    #[arg(long, requires = "code")]
    pub json: bool,
    /// Write the findings as SARIF 2.1.0 to this file; `-` is standard output.
    #[arg(long, value_name = "FILE", requires = "code")]
    pub sarif: Option<PathBuf>,
}
