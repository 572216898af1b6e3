//! `hostproof lint`

use super::show::Show;
use crate::cli::LintArgs;
use crate::error::{ExitCode, Result};

/// Checks every manifest and says how many checks they have.
///
/// # Errors
///
/// Every error of every manifest, with its place.
pub fn run(args: &LintArgs) -> Result<ExitCode> {
    let loaded = super::run::load(&args.manifests)?;
    let files = loaded.files.len();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let checks = loaded.checks.len();
    Show::Stdout.line(&format!("{checks} check{} in {files} file{}: no errors", plural(checks), plural(files)));
    Ok(ExitCode::Ok)
}
