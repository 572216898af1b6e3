//! The command line of receipts.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::ManifestArgs;

/// Whether a run is vouched for, and by whom.
#[derive(Debug, Default, Args)]
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

/// Show the receipts of `run --receipt`, judge them, share them, or take them back.
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
    Publish(ReceiptPublishArgs),
    Fetch(ReceiptFetchArgs),
    List(ReceiptListArgs),
    Revoke(ReceiptRevokeArgs),
}

/// Show what a receipt or a revocation says, whoever vouches for it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof receipt show receipt.json\n  \
hostproof receipt show receipt.json --json | jq .predicate.totals\n\n\
By hand, without hostproof:\n  hostproof receipt show receipt.json --signature >receipt.sig\n  \
hostproof receipt show receipt.json --pae |\n    \
ssh-keygen -Y verify -n hostproof-receipt -f allowed_signers -I me@example.org -s receipt.sig")]
pub struct ReceiptShowArgs {
    /// The receipt: its file, or the beginning of the digest of one that is kept in refs/hostproof/receipts.
    #[arg(value_name = "FILE|DIGEST")]
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
They are compared with the commit that is checked out; what is not committed makes no difference. \
Revocations in refs/hostproof/receipts count, and those among the files.\n\n\
Exit codes: 0 each is signed by an allowed signer, and each check in it is green and has the same inputs, 1 not so, \
2 a manifest is wrong, or nobody is allowed.")]
pub struct ReceiptVerifyArgs {
    /// Receipts: files, or beginnings of the digests of those that are kept in refs/hostproof/receipts.
    #[arg(required = true, value_name = "FILE|DIGEST")]
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

/// Keep receipts and revocations in refs/hostproof/receipts, here and in a remote.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof receipt publish receipt.json\n  \
hostproof receipt publish *.json --remote upstream\n  hostproof receipt publish receipt.json --no-push\n\n\
What is kept here goes with them, and what the remote has comes here. Whoever publishes at the same time loses nothing. \
No branch, no tag and no file of the work tree is touched.\n\n\
Exit codes: 0 all of them are there, 2 a file is none, or there is no such remote, 3 git can't.")]
pub struct ReceiptPublishArgs {
    /// Receipts and revocations.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub to: PushArgs,
}

/// Where receipts are pushed to.
#[derive(Debug, Args)]
pub struct PushArgs {
    /// The remote; by default `origin`, or the only one.
    #[arg(long, value_name = "NAME", conflicts_with = "no_push")]
    pub remote: Option<String>,
    /// Keep them here alone, for a later publish or a push by hand.
    #[arg(long)]
    pub no_push: bool,
}

/// Bring the receipts and revocations of a remote here.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof receipt fetch\n  hostproof receipt fetch --remote upstream\n\n\
Nothing that is kept here is lost.\n\n\
Exit codes: 0 all of them are here, 2 there is no such remote, 3 git can't.")]
pub struct ReceiptFetchArgs {
    /// The remote; by default `origin`, or the only one.
    #[arg(long, value_name = "NAME")]
    pub remote: Option<String>,
}

/// List what is kept here in refs/hostproof/receipts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof receipt list\n  hostproof receipt fetch && hostproof receipt list\n\n\
It is what they say of themselves; `hostproof receipt verify` tells what that is worth.")]
pub struct ReceiptListArgs {}

/// Take a receipt back, for everybody: it counts for nothing any more.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hostproof receipt revoke receipt.json --because 'the disk of that machine was failing'\n  \
hostproof receipt revoke 3f2a9c0d41be --sign ~/.ssh/id_ed25519.pub\n  \
hostproof receipt revoke receipt.json --output revocation.json\n\n\
Whoever is allowed to sign receipts may revoke any. Nobody can take a revocation back; a run makes another receipt.\n\n\
Exit codes: 0 it is revoked, 2 there is no such receipt, remote or key, 3 git can't."
)]
pub struct ReceiptRevokeArgs {
    /// The receipt: its file, or its digest as `receipt list` has it, of which the beginning is enough for one that is kept
    /// here.
    #[arg(value_name = "FILE|DIGEST")]
    pub receipt: PathBuf,
    /// Why, in a sentence.
    #[arg(long, value_name = "TEXT")]
    pub because: Option<String>,
    /// The SSH key to sign with, as `run --sign` takes it; by default the one that git signs with.
    #[arg(long, value_name = "KEY")]
    pub sign: Option<String>,
    /// Write the revocation to this file, and publish nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["remote", "no_push"])]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub to: PushArgs,
}
