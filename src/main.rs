//! Arguments in, exit code out.

use std::process::ExitCode;

use clap::Parser;
use hostproof::cli::Cli;
use hostproof::{commands, platform, probes};

fn main() -> ExitCode {
    // A supervisor is told by one word and never parses a command line.
    if std::env::args_os().nth(1).is_some_and(|word| word == platform::SUPERVISE) {
        return if platform::supervise(probes::windows_rules::judge).is_ok() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        };
    }
    platform::expect_children();
    match commands::dispatch(Cli::parse()) {
        Ok(code) => code.into(),
        Err(error) => {
            commands::tell(&error);
            error.exit_code().into()
        }
    }
}
