//! The command line of comparisons.

use std::path::PathBuf;

use clap::Args;

/// Set reports of runs side by side: what differs, and which facts explain it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof compare host.json container.json\n  \
hostproof compare linux.json windows.json pytest.xml --markdown - >>\"$GITHUB_STEP_SUMMARY\"\n  \
hostproof compare a.json b.json --json | jq '.facts[0]'\n\n\
Reports are what `run --report FILE` writes; JUnit files may be of any test runner.\n\n\
Exit codes: 0 the same, 1 something is green in one and red, skipped or missing in another (or red in one and skipped \
or missing in another), 2 a file can't be read, 3 nothing could be compared, or not all of it.")]
pub struct CompareArgs {
    /// Reports and JUnit files, two or more.
    #[arg(required = true, num_args = 2.., value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Print a JSON document.
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,
    /// Write Markdown for a pull request to this file; `-` is standard output, with nothing else on it.
    #[arg(long, value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    /// Show every case, cause and fact.
    #[arg(short, long)]
    pub verbose: bool,
}
