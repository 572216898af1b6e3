//! `hostproof completions`

use clap::CommandFactory;

use super::show::Show;
use crate::cli::{Cli, CompletionsArgs};
use crate::error::ExitCode;

/// Prints the completions for a shell.
pub fn run(args: &CompletionsArgs) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "hostproof", &mut script);
    Show::Stdout.line(String::from_utf8_lossy(&script).trim_end());
    ExitCode::Ok
}
