//! `hostproof merge`

use super::check_run::exit_code;
use super::compare;
use super::show::Show;
use crate::cli::MergeArgs;
use crate::compare::Document as Read;
use crate::error::{Error, ExitCode, Result};
use crate::merge::{self, Part};
use crate::report::{self, Document, Target};
use crate::words::shown;

/// Merges the reports, and tells what of them is red.
///
/// # Errors
///
/// If one can't be read, they are none of one plan, or the report can't be written.
pub fn run(args: &MergeArgs) -> Result<ExitCode> {
    let target = Target::prepare(Document::Report, &args.output)?;
    let parts = args.reports.iter().map(|file| {
        let side = compare::read(file, "merged")?;
        match side.document {
            Read::Report(report) => Ok(Part { name: side.file, report: *report }),
            Read::Junit(_) => {
                let name = shown(side.file.as_bytes());
                Err(Error::Usage(format!("{name} can't be merged: it is a JUnit file; name what run --report wrote")))
            }
        }
    });
    let parts = parts.collect::<Result<Vec<_>>>()?;
    let mut merged = merge::merge(parts, args.replace).map_err(|why| Error::Usage(shown(why.as_bytes())))?;
    merged.run.argv = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    target.write(&report::json(&merged))?;
    let show = if target.is_stdout() { Show::Stderr } else { Show::Stdout };
    let red = || merged.checks.iter().filter(|check| check.verdict.is_red());
    let width = red().map(|check| check.id.chars().count()).max().unwrap_or(0);
    for check in red() {
        show.line(&report::check_line(show.look(), check, width));
    }
    let gap = if red().next().is_some() { "\n" } else { "" };
    show.line(&format!("{gap}{}", report::last_line(&merged.totals, merged.run.stopped)));
    Ok(exit_code(&merged.totals, &merged.findings, merged.run.stopped))
}
