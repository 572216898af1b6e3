//! The command line: types only. Parsing touches no system.

mod compare;
mod gate;
mod lint;
mod merge;
mod partition;
mod place;
mod receipt;
mod teeth;
mod words;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::model::{Fact, Partition};

pub use compare::CompareArgs;
pub use gate::GateArgs;
pub use lint::LintArgs;
pub use merge::MergeArgs;
pub use place::{EngineArg, PlaceArgs};
pub use receipt::{
    PushArgs, ReceiptArgs, ReceiptCommand, ReceiptFetchArgs, ReceiptListArgs, ReceiptPublishArgs, ReceiptRevokeArgs,
    ReceiptShowArgs, ReceiptVerifyArgs, VouchArgs,
};
pub use teeth::TeethArgs;
pub use words::RulesArg;
use words::{FactsParser, RulesParser};

/// Runs hook self-tests on this machine and tells what they left behind.
#[derive(Debug, Parser)]
#[command(
    name = "hostproof",
    version,
    max_term_width = 100,
    after_help = "Without a subcommand: run.\n\n\
Exit codes: 0 every check as expected, 1 some check is not, 2 usage or a manifest is wrong,\n\
3 nothing ran or could be measured, 130 interrupted."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Run(RunArgs),
    Try(TryArgs),
    Teeth(TeethArgs),
    List(ListArgs),
    Lint(LintArgs),
    Schema(SchemaArgs),
    Explain(ExplainArgs),
    Who(WhoArgs),
    Doctor(DoctorArgs),
    Hooks(HooksArgs),
    Compare(CompareArgs),
    Merge(MergeArgs),
    Receipt(ReceiptArgs),
    Gate(GateArgs),
    Init(InitArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}

/// Run the checks of checks.d, each alone in its sandbox.
#[derive(Debug, Default, Args)]
#[command(after_help = "Examples:\n  hostproof run\n  hostproof run sweep 'guard/*' --keep failed\n  \
hostproof run --report report.json --strict\n  hostproof run --junit junit.xml --fail-fast\n  hostproof run --failed\n  \
hostproof run spool --until-fail --stress --keep failed\n  hostproof run --watch\n  hostproof run --twice\n  \
hostproof run sweep --as windows\n  hostproof run sweep --vary all\n  \
hostproof run --receipt receipt.json --sign ~/.ssh/id_ed25519.pub\n  hostproof run --baseline main\n  \
hostproof run --partition hash:2/4 --report part-2.json\n  \
hostproof run --in python:3.13-slim --pull\n  hostproof run --parity hooks-ci --build ci/Dockerfile\n\n\
In GitHub Actions failures are annotated where they are, and the step gets a summary.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct RunArgs {
    /// Ids of checks, or globs; all of them if none is given.
    #[arg(value_name = "CHECK")]
    pub checks: Vec<String>,
    /// Run only those that were red, or not reached, when they were last run.
    #[arg(long)]
    pub failed: bool,
    /// Run one part of the checks, as `hash:2/4`: which part a check is in depends on its id alone. `merge` makes one report of
    /// those of all parts.
    #[arg(long, value_name = "hash:PART/OF", value_parser = partition::parse)]
    pub partition: Option<Partition>,
    /// Start no further check after the first red one.
    #[arg(long)]
    pub fail_fast: bool,
    /// Run the checks again and again until one is red, or Ctrl-C.
    #[arg(long, conflicts_with = "fail_fast")]
    pub until_fail: bool,
    /// Then wait for changes, and run what each concerns, until Ctrl-C.
    #[arg(long, conflicts_with_all = ["until_fail", "baseline", "receipt", "image", "parity"])]
    pub watch: bool,
    /// Of each matrix run only so many combinations that every two values are together in one.
    #[arg(long)]
    pub pairwise: bool,
    /// Run each check once more beside itself, as with `copies: 2`: what then fails uses something that is there only once.
    #[arg(long)]
    pub twice: bool,
    /// Tell new failures from those that were there before, and end red for new ones alone: in a report (or a JUnit file), or in
    /// a commit, which is then run first, in a folder of its own.
    #[arg(long, value_name = "REPORT|COMMIT", conflicts_with = "fail_fast")]
    pub baseline: Option<String>,
    /// Remove new files in places that `watch` names, if a process of the check was seen to write them.
    #[arg(long)]
    pub remove_residue: bool,
    #[command(flatten)]
    pub vouch: VouchArgs,
    #[command(flatten)]
    pub place: PlaceArgs,
    #[command(flatten)]
    pub manifests: ManifestArgs,
    #[command(flatten)]
    pub how: HowArgs,
}

/// Run one command as a check, without a manifest.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof try -- python3 hooks/test_sweep.py\n  \
hostproof try --cases 57 --timeout 2m -- pytest -q tests/hooks\n  hostproof try --cwd sandbox -- sh -c 'sleep 5 & echo done'")]
pub struct TryArgs {
    /// End it, and everything it started, after this time.
    #[arg(long, value_name = "TIME", value_parser = crate::manifest::parse_duration)]
    pub timeout: Option<std::time::Duration>,
    /// How long its processes may outlive it.
    #[arg(long, value_name = "TIME", value_parser = crate::manifest::parse_duration)]
    pub grace: Option<std::time::Duration>,
    /// Files that must appear whole, by a rename; relative to where it starts, or below $project or $sandbox.
    #[arg(long, value_name = "GLOB", value_parser = crate::manifest::parse_publish_glob)]
    pub publishes: Vec<String>,
    /// Where it starts.
    #[arg(long, value_enum, default_value_t)]
    pub cwd: CwdArg,
    /// Which home directory it sees.
    #[arg(long, value_enum, default_value_t)]
    pub home: HomeArg,
    /// The exit status that is expected of it.
    #[arg(long, value_name = "STATUS", default_value_t = 0)]
    pub exit: i32,
    /// How many cases it must run.
    #[arg(long, value_name = "NUMBER")]
    pub cases: Option<u64>,
    /// A file that is its standard input.
    #[arg(long, value_name = "FILE")]
    pub stdin: Option<PathBuf>,
    /// Give it the whole environment of the caller.
    #[arg(long)]
    pub inherit_all: bool,
    #[command(flatten)]
    pub how: HowArgs,
    /// Run it again and again until it is red, or Ctrl-C.
    #[arg(long)]
    pub until_fail: bool,
    /// The command and its arguments.
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// How checks are run and what is told of them.
#[derive(Debug, Clone, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of the command line")]
pub struct HowArgs {
    /// How many checks run at once; by default as many as there are processors.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Write the report, as JSON, to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write the results in JUnit's form to this file; `-` is standard output.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Tell what happens while it happens, as JSON lines on standard output.
    #[arg(long)]
    pub events: bool,
    /// By whose rules to judge, whatever the checks say: `windows` refuses what Windows would not remove or rename. After a
    /// colon, how: `windows:faithful,strict`; `directories` leaves files out.
    #[arg(long = "as", value_parser = RulesParser, value_name = "RULES")]
    pub rules: Option<RulesArg>,
    /// Run each check once more under each of these changes of its surroundings: `all`, or names as `locale,umask`.
    #[arg(long, value_parser = FactsParser, value_name = "FACTS", value_delimiter = ',')]
    pub vary: Vec<Vec<Fact>>,
    /// Meanwhile load the machine: every processor busy and taken away at random times, and the disk written to.
    #[arg(long)]
    pub stress: bool,
    /// Which sandboxes to leave in place, with the whole output.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub keep: KeepArg,
    /// Count warnings, such as a probe that could not look, as errors.
    #[arg(long)]
    pub strict: bool,
    /// Show every finding, also of checks that are not red, and every name.
    #[arg(short, long)]
    pub verbose: bool,
}

/// Which sandboxes to keep.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum KeepArg {
    #[default]
    Never,
    Failed,
    Always,
}

/// Where a tried command starts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum CwdArg {
    /// In the current directory.
    #[default]
    Project,
    /// In a copy of it.
    Copy,
    /// In an empty directory.
    Sandbox,
}

/// Which home a tried command sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum HomeArg {
    /// An empty one.
    #[default]
    Sandbox,
    /// The caller's.
    Real,
}

/// Where the manifests are.
#[derive(Debug, Default, Args)]
pub struct ManifestArgs {
    /// The folder of manifests; by default the nearest checks.d, here or above.
    #[arg(long, value_name = "DIR")]
    pub manifests: Option<PathBuf>,
}

/// Show the checks.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof list\n  hostproof list 'guard/*' --json")]
pub struct ListArgs {
    /// Ids of checks, or globs; all of them if none is given.
    #[arg(value_name = "CHECK")]
    pub checks: Vec<String>,
    #[command(flatten)]
    pub manifests: ManifestArgs,
    /// The checks as `run` has them by these rules.
    #[arg(long = "as", value_parser = RulesParser, value_name = "RULES")]
    pub rules: Option<RulesArg>,
    /// The checks as `run` has them with these facts.
    #[arg(long, value_parser = FactsParser, value_name = "FACTS", value_delimiter = ',')]
    pub vary: Vec<Vec<Fact>>,
    /// Print a JSON array.
    #[arg(long)]
    pub json: bool,
}

/// Print a JSON Schema.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof schema >manifest.schema.json\n  hostproof schema report")]
pub struct SchemaArgs {
    /// Of which document.
    #[arg(value_enum, default_value_t)]
    pub document: Document,
}

/// A document that has a schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Document {
    #[default]
    Manifest,
    Report,
    /// One line of `run --events`.
    Events,
    /// What `doctor --json` prints.
    Doctor,
    /// What `hooks --json` prints.
    Hooks,
    /// What `lint --code --json` prints.
    Lints,
    /// The statement in a receipt's envelope.
    Receipt,
    /// What `receipt verify --json` prints.
    Verification,
    /// What `gate --json` prints.
    Gate,
    /// The statement in a revocation's envelope.
    Revocation,
    /// What `compare --json` prints.
    Comparison,
}

/// Tell what a kind of finding or of fault means, why a host cares, and how to mend it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hostproof explain\n  hostproof explain held-directory\n  hostproof explain script-missing"
)]
pub struct ExplainArgs {
    /// The kind, as `held-directory`; a list of all if none is given.
    pub kind: Option<String>,
}

/// Show which commands hosts and git call here, and which check covers each.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof hooks\n  hostproof hooks --strict\n  hostproof hooks --at main\n  \
hostproof hooks --json | jq '.wirings[] | select(.covered_by == [])'\n  \
hostproof run --report report.json; hostproof hooks --report report.json\n\n\
Nothing is run. A check covers a command if its `covers` names a file that the command runs or the file that wires it, \
or if its own command or its `files` name that script.\n\n\
Read are the settings of Claude Code (plugins, agents and skills included), Codex, Gemini CLI, Copilot, Cursor, Windsurf \
and Cline; git's hooks, husky, lefthook, pre-commit and prek; session-boundary.json; and what a manifest names under \
`gate: {wirings: [...]}`.\n\n\
Exit codes: 0 all was read and nothing is broken, 1 something is broken (with --strict also: uncovered, or a warning), \
2 a manifest is wrong, 3 something could not be read.")]
pub struct HooksArgs {
    #[command(flatten)]
    pub manifests: ManifestArgs,
    /// Read the files of this commit (or branch, or tag) instead of those on disk; checks are taken as they are now.
    #[arg(long, value_name = "COMMIT")]
    pub at: Option<String>,
    /// A report of `run --report`: tells limits that are shorter than what a check took.
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Count uncovered commands and warnings as errors.
    #[arg(long)]
    pub strict: bool,
    /// Print a JSON document.
    #[arg(long)]
    pub json: bool,
    /// Show whole commands, what runs them, and the files that were read.
    #[arg(short, long)]
    pub verbose: bool,
}

/// Find this project's self-tests and wired hooks, run each once, and write checks.d.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hostproof init --dry-run\n  hostproof init --timeout 10m\n  hostproof init --pre-push\n\nNothing that exists is overwritten. What a self-test left behind is proposed as a commented `allow`, \
never taken."
)]
pub struct InitArgs {
    /// Only show what would be written.
    #[arg(long)]
    pub dry_run: bool,
    /// Write a pre-push hook that asks the gate before git pushes a branch, and nothing else.
    #[arg(long)]
    pub pre_push: bool,
    /// How long each self-test may take.
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = crate::manifest::parse_duration)]
    pub timeout: std::time::Duration,
}

/// Tell who holds a file or a directory, or anything in it, and how.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hostproof who build/\n  hostproof who --wait /tmp/fixture; rm -r /tmp/fixture\n\n\
A process that may do more than you, such as each of root's, can be looked into by root alone.\n\n\
Exit codes: 0 nobody, 1 somebody, or something is mounted there, 2 no such path, 3 nobody was found, but some processes \
could not be looked into."
)]
pub struct WhoArgs {
    /// Files and directories.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Print a JSON document.
    #[arg(long)]
    pub json: bool,
    /// Wait until nobody does.
    #[arg(long)]
    pub wait: bool,
    /// Faster: leave out files that are mapped into memory and not open.
    #[arg(long)]
    pub no_mappings: bool,
}

/// Tell what this machine lets hostproof see and do, and what would help.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hostproof doctor\n  hostproof doctor --json\n\nEverything is tried, nothing is guessed; it takes \
a moment, and leaves nothing behind.\n\nExit codes: 0 checks can be run here, 1 something is missing that every run needs."
)]
pub struct DoctorArgs {
    /// Print a JSON document.
    #[arg(long)]
    pub json: bool,
}

/// Print what lets a shell complete the command line.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  hostproof completions bash >~/.local/share/bash-completion/completions/hostproof\n  \
hostproof completions zsh >~/.zfunc/_hostproof\n  hostproof completions fish >~/.config/fish/completions/hostproof.fish"
)]
pub struct CompletionsArgs {
    /// For which shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Print a man page.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  hostproof man run | man -l -\n  hostproof man --dir ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Of a subcommand; of hostproof if none is given.
    #[arg(value_name = "SUBCOMMAND", conflicts_with = "dir")]
    pub subcommand: Option<String>,
    /// Write all of them to this folder.
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
