//! `hostproof run`

use super::check_run::{self, CheckRun};
use crate::cli::RunArgs;
use crate::error::{ExitCode, Result};
use crate::plan::Plan;
use crate::{manifest, platform};

/// Loads the manifests and runs what was asked for.
///
/// # Errors
///
/// If the manifests are wrong, a pattern matches nothing, or nothing can be measured here.
pub fn run(args: RunArgs) -> Result<ExitCode> {
    let loaded = load(&args.manifests)?;
    let plan = Plan::of_manifests(loaded, &args.checks, platform::current())?;
    check_run::run(&CheckRun { plan, how: args.how, by_id: true, manifests: args.manifests.manifests })
}

/// Loads the manifests that the arguments name.
///
/// # Errors
///
/// If they are wrong, or there are none.
pub fn load(args: &crate::cli::ManifestArgs) -> Result<manifest::Loaded> {
    let start = check_run::current_folder()?;
    let colour = super::show::Show::Stderr.look().colour;
    manifest::load(&manifest::Options {
        start: &start,
        directory: args.manifests.as_deref(),
        platform: platform::current(),
        colour,
    })
}
