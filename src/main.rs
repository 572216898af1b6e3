//! Arguments in, exit code out.

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use hostproof::cli::Cli;
use hostproof::report::Look;
use hostproof::{commands, platform};

fn main() -> ExitCode {
    // A supervisor is told by one word and never parses a command line.
    if std::env::args_os().nth(1).is_some_and(|word| word == platform::SUPERVISE) {
        return if platform::supervise().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    platform::expect_children();
    match commands::dispatch(Cli::parse()) {
        Ok(code) => code.into(),
        Err(error) => {
            // Without a standard error there is still the exit code.
            let text = Look::of(&std::io::stderr()).text(&error.to_string());
            let _ = writeln!(std::io::stderr(), "hostproof: {text}");
            error.exit_code().into()
        }
    }
}
