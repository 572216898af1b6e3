//! The command line of `teeth`.

use clap::Args;

use super::{HowArgs, ManifestArgs};

/// Show that checks can fail: each edit of their `breaks` must turn them red.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hostproof teeth\n  hostproof teeth sweep 'guard/*'\n  hostproof teeth 'sweep!2' --keep failed\n  \
hostproof teeth --report teeth.json\n\n\
A check runs in a copy of the project as it is (sweep!0), which must be green, and with each of its edits (sweep!1, \
sweep!2), which must be red for what they expect. Checks without `breaks` are left out.\n\n\
Exit codes: 0 every edit was noticed, 1 some edit was not, or could not be made or measured, 2 usage or a manifest is \
wrong, 3 no check has `breaks`, 130 interrupted."
)]
pub struct TeethArgs {
    /// Ids of checks, or globs, or single edits as `sweep!2`; all of them if none is given.
    #[arg(value_name = "CHECK")]
    pub checks: Vec<String>,
    #[command(flatten)]
    pub manifests: ManifestArgs,
    #[command(flatten)]
    pub how: HowArgs,
}
