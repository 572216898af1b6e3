//! The command line of receipts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ManifestArgs;

/// Whether a run is vouched for, and by whom.
#[derive(Debug, Clone, Default, Args)]
pub struct VouchArgs {
    /// Write a receipt to this file: what the run came to, bound to what is committed, and signed; `-` is standard output.
    /// Without --sign it is signed with the key that git signs with.
    #[arg(long, value_name = "FILE")]
    pub receipt: Option<PathBuf>,
    /// The SSH key to sign the receipt with: a file, of the private key or of the public one that an agent has the other half
    /// of, or `key::` and a public key.
    #[arg(long, value_name = "KEY", requires = "receipt", conflicts_with = "unsigned")]
    pub sign: Option<String>,
    /// Write a receipt that nobody vouches for.
    #[arg(long, requires = "receipt")]
    pub unsigned: bool,
}

/// Show receipts of `run --receipt`, or see what they are worth.
#[derive(Debug, Args)]
pub struct ReceiptArgs {
    #[command(subcommand)]
    pub command: ReceiptCommand,
}

/// What to do with receipts.
#[derive(Debug, Subcommand)]
pub enum ReceiptCommand {
    Show(ReceiptShowArgs),
    Verify(ReceiptVerifyArgs),
}

/// Show what a receipt says, whoever vouches for it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof receipt show receipt.json\n  \
hostproof receipt show receipt.json --json | jq .predicate.totals\n\n\
By hand, without hostproof:\n  hostproof receipt show receipt.json --signature >receipt.sig\n  \
hostproof receipt show receipt.json --pae |\n    \
ssh-keygen -Y verify -n hostproof-receipt -f allowed_signers -I me@example.org -s receipt.sig")]
pub struct ReceiptShowArgs {
    /// The receipt.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Print the statement in it, as JSON.
    #[arg(long, group = "form")]
    pub json: bool,
    /// Print the bytes that are signed.
    #[arg(long, group = "form")]
    pub pae: bool,
    /// Print the first signature, as ssh-keygen reads it.
    #[arg(long, group = "form")]
    pub signature: bool,
}

/// Tell who signed receipts, and whether they speak of what is checked out.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof receipt verify receipt.json\n  \
hostproof receipt verify linux.json windows.json --allowed-signers .github/allowed_signers\n\n\
They are compared with the commit that is checked out; what is not committed makes no difference.\n\n\
Exit codes: 0 each is signed by an allowed signer, and each check in it is green and has the same inputs, 1 not so, \
2 a manifest is wrong, or nobody is allowed.")]
pub struct ReceiptVerifyArgs {
    /// Receipts.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Who may sign, as ssh-keygen reads it; by default git's gpg.ssh.allowedSignersFile.
    #[arg(long, value_name = "FILE")]
    pub allowed_signers: Option<PathBuf>,
    #[command(flatten)]
    pub manifests: ManifestArgs,
    /// Print a JSON document.
    #[arg(long)]
    pub json: bool,
}
