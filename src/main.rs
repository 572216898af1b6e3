//! Arguments in, exit code out.

use std::process::ExitCode;

use clap::Parser;
use hostproof::cli::Cli;
use hostproof::{commands, platform, probes};

fn main() -> ExitCode {
    // This program's other lives are told by one word, and never parse a command line.
    if let Some(status) = platform::act_as_stub() {
        return status.into();
    }
    let word = std::env::args_os().nth(1);
    if let Some(ended) = word.as_ref().and_then(|word| platform::serve(word, probes::windows_rules::JUDGE)) {
        return if ended.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    platform::expect_children();
    if let Some(code) = word.and_then(|word| commands::serve(&word)) {
        return code.into();
    }
    match commands::dispatch(Cli::parse()) {
        Ok(code) => code.into(),
        Err(error) => {
            commands::tell(&error);
            error.exit_code().into()
        }
    }
}
