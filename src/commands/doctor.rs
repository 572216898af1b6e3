//! `hostproof doctor`

use super::check_run::tool;
use super::show::Show;
use crate::cli::DoctorArgs;
use crate::error::ExitCode;
use crate::model::{Ability, EXAMINATION_SCHEMA, Examination};
use crate::{platform, report, run};

/// Tries what there is to try, and tells it.
pub fn run(args: &DoctorArgs) -> ExitCode {
    let look = Show::Stdout.look();
    let seen = platform::abilities();
    let host = platform::host_facts(&platform::sandbox_base()).seen_by(&seen);
    let abilities: Vec<Ability> = seen.into_iter().chain(run::tools()).chain([report::terminal(look)]).collect();
    let ready = !abilities.iter().any(Ability::forbids_runs);
    let examination = Examination { schema: EXAMINATION_SCHEMA.to_owned(), tool: tool(), ready, host, abilities };
    if args.json {
        // Whoever stops reading has the exit code.
        let _ = Show::json(&serde_json::to_string_pretty(&examination).unwrap_or_default());
    } else {
        Show::Stdout.line(&report::doctor(look, &examination));
    }
    if ready { ExitCode::Ok } else { ExitCode::Red }
}
