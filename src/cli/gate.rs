//! The command line of the gate.

use std::path::PathBuf;

use clap::Args;

use super::ManifestArgs;

/// Tell whether a change may be merged: what it touches has receipts, nothing is weaker.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof gate --base origin/main\n  \
hostproof gate --base origin/main --receipts receipts/ --json\n  hostproof gate --pre-push origin\n\n\
The policy is that of the base, under `gate:` in its manifests:\n  \
gate: {require: [linux, windows], signers: .github/allowed_signers, max_age: 14d}\n\n\
Each check that the change concerns wants a receipt from a host of each of these systems: green, with all its cases, with \
the same inputs, not too old, and signed by somebody whom the base allows. Nothing of the change is run.\n\n\
Exit codes: 0 yes, 1 no, 2 there is no policy in the base, or a manifest or the usage is wrong.")]
pub struct GateArgs {
    /// What the change is to be merged into: a branch, a tag or a commit.
    #[arg(long, value_name = "REF", required_unless_present = "pre_push")]
    pub base: Option<String>,
    /// The change.
    #[arg(long, value_name = "REF", default_value = "HEAD")]
    pub head: String,
    /// Receipts: files, or folders with files *.json.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub receipts: Vec<PathBuf>,
    /// As git's pre-push hook: read what is pushed to this remote from standard input. A branch is a change to the remote's
    /// default branch, and wants what this system can give; a push to that branch wants everything.
    #[arg(long, value_name = "REMOTE", conflicts_with_all = ["base", "head", "json"])]
    pub pre_push: Option<String>,
    #[command(flatten)]
    pub manifests: ManifestArgs,
    /// Print a JSON document.
    #[arg(long)]
    pub json: bool,
}
