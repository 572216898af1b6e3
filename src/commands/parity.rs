//! `run --parity`: the same checks in a container and here, and what differs.

use std::path::{Path, PathBuf};

use super::check_run::{Done, tool};
use super::run::once;
use super::show::Show;
use crate::cli::{HowArgs, RunArgs};
use crate::compare::{self, Side};
use crate::container::Wanted;
use crate::error::{Error, ExitCode, Result};
use crate::model::{Likeness, Report};
use crate::report;

/// Runs both, the container first, since that is what may not be to be had, and compares them.
///
/// # Errors
///
/// If one of them can't be run, or one report can't be compared.
pub fn run(args: &RunArgs, wanted: Wanted) -> Result<ExitCode> {
    let file = args.how.report.as_deref();
    if file == Some(Path::new("-")) {
        return Err(Error::Usage(
            "--parity makes two reports, which can't share standard output: name a file".to_owned(),
        ));
    }
    let contained = once(args, &HowArgs { report: file.map(of_container), ..args.how.clone() }, Some(wanted))?;
    if contained.code == ExitCode::Interrupted {
        return Ok(contained.code);
    }
    Show::Stdout.line("");
    let here = once(args, &args.how, None)?;
    if here.code == ExitCode::Interrupted {
        return Ok(here.code);
    }
    let mut sides = vec![side("host", &here.report)?, side("container", &contained.report)?];
    compare::label(&mut sides);
    let comparison = compare::compare(&sides, tool());
    let look = Show::Stdout.look();
    Show::Stdout.line("");
    for line in report::comparison(look, &comparison, args.how.verbose) {
        Show::Stdout.line(&line);
    }
    Ok(code(comparison.outcome, [&here, &contained].map(|done: &Done| done.code)))
}

/// A run that could not be measured is no ground for a comparison; what is red in both is red all the same.
fn code(outcome: Likeness, runs: [ExitCode; 2]) -> ExitCode {
    if runs.contains(&ExitCode::Incomplete) || outcome == Likeness::Unknown {
        ExitCode::Incomplete
    } else if runs.contains(&ExitCode::Red) || outcome == Likeness::Different {
        ExitCode::Red
    } else {
        ExitCode::Ok
    }
}

/// As `compare` reads it from a file.
fn side(name: &str, report: &Report) -> Result<Side> {
    compare::parse(name, &report::json(report))
        .map_err(|why| Error::Unmeasured(format!("the report of the {name} can't be compared: {why}")))
}

/// Beside the report of this machine.
fn of_container(file: &Path) -> PathBuf {
    let ending = file.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
    file.with_extension(format!("container{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_container_has_a_report_of_its_own() {
        assert_eq!(of_container(Path::new("a/report.json")), Path::new("a/report.container.json"));
        assert_eq!(of_container(Path::new("report")), Path::new("report.container"));
    }

    #[test]
    fn unmeasured_outweighs_red_and_red_the_same() {
        use ExitCode::{Incomplete, Ok, Red};
        for (outcome, runs, wanted) in [
            (Likeness::Same, [Ok, Ok], Ok),
            (Likeness::Same, [Red, Red], Red),
            (Likeness::Different, [Ok, Ok], Red),
            (Likeness::Different, [Incomplete, Red], Incomplete),
            (Likeness::Unknown, [Ok, Ok], Incomplete),
        ] {
            assert_eq!(code(outcome, runs), wanted, "{outcome:?} {runs:?}");
        }
    }
}
