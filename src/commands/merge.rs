//! `hostproof merge`

use std::io;

use super::check_run::exit_code;
use super::compare;
use super::show::Show;
use crate::cli::MergeArgs;
use crate::compare::Document as Read;
use crate::error::{Error, ExitCode, Result};
use crate::merge::{self, Merged, Outcome, Part};
use crate::report::{self, Document, Target};
use crate::run::{Combinations, Reports};
use crate::words::shown;

/// Merges the reports, and tells what of them is red.
///
/// # Errors
///
/// If one can't be read, they are none of one plan, or the report can't be written.
pub fn run(args: &MergeArgs) -> Result<ExitCode> {
    let target = Target::prepare(Document::Report, &args.output)?;
    // One report after the other: all that is kept of each is what it says of its checks, and that is put aside.
    let (reports, mut combinations) = (Reports::default(), Combinations::default());
    let (mut parts, mut number) = (Vec::new(), 0);
    for file in &args.reports {
        let side = compare::read(file, "merged")?;
        let Read::Report(mut report) = side.document else {
            let name = shown(side.file.as_bytes());
            let why = format!("{name} can't be merged: it is a JUnit file; name what run --report wrote");
            return Err(Error::Usage(why));
        };
        let checks = std::mem::take(&mut report.checks);
        let outcomes = checks.iter().map(Outcome::of).collect();
        for check in checks {
            combinations.note(number, &check);
            reports.put(number, check);
            number += 1;
        }
        parts.push(Part { name: side.file, report: *report, checks: outcomes });
    }
    let Merged { mut report, checks } =
        merge::merge(parts, args.replace).map_err(|why| Error::Usage(shown(why.as_bytes())))?;
    report.run.argv = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let said = combinations.conclude(&checks);
    let one = |place: &usize| {
        let mut check = reports.get(*place)?;
        if let Some(check) = &mut check {
            Combinations::say(check, said.get(place).map(String::as_str));
        }
        Ok(check)
    };
    let all = || checks.iter().filter_map(|place| one(place).transpose());
    target.write_with(|out| report::write_json(out, &report, all()))?;
    let show = if target.is_stdout() { Show::Stderr } else { Show::Stdout };
    let lost = |error: io::Error| Error::Unmeasured(format!("what was read of the reports is gone: {error}"));
    let red = || all().filter(|check| check.as_ref().map_or(true, |check| check.verdict.is_red()));
    let mut width = 0;
    for check in red() {
        width = width.max(check.map_err(lost)?.id.chars().count());
    }
    for check in red() {
        show.line(&report::check_line(show.look(), &check.map_err(lost)?, width));
    }
    let gap = if width > 0 { "\n" } else { "" };
    show.line(&format!("{gap}{}", report::last_line(&report.totals, report.run.stopped)));
    Ok(exit_code(&report.totals, &report.findings, report.run.stopped))
}
