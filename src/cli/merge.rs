//! The command line of `merge`.

use std::path::PathBuf;

use clap::Args;

/// Make one report of those of all parts of a run.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof merge part-*.json --output report.json\n  \
hostproof merge first.json again.json --replace --output report.json\n\n\
The reports must be of the same manifests, commit, system and version of hostproof; of parts that `run --partition` made, \
all must be there. The facts of host and source are those of the first.\n\n\
Exit codes are those of one run of all: 0 every check as expected, 1 some check is not, 2 they can't be merged, \
3 nothing ran or could be measured, 130 one of them was interrupted.")]
pub struct MergeArgs {
    /// Reports of `run --report`.
    #[arg(required = true, value_name = "REPORT")]
    pub reports: Vec<PathBuf>,
    /// Where the report goes; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Take a check that is in more than one from the last of them; else all must say the same of it.
    #[arg(long)]
    pub replace: bool,
}
