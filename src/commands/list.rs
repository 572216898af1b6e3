//! `hostproof list`

use serde_json::{Value, json};

use super::show::Show;
use crate::cli::ListArgs;
use crate::error::{ExitCode, Result};
use crate::plan::{Plan, Planned, Wanted};
use crate::{platform, report};

/// Shows the checks in the order in which they would run.
///
/// # Errors
///
/// If the manifests are wrong, or a pattern matches nothing.
pub fn run(args: &ListArgs) -> Result<ExitCode> {
    let loaded = super::run::load(&args.manifests)?;
    let wanted = Wanted {
        patterns: args.checks.clone(),
        rules: args.rules.as_ref().map(|said| said.rules),
        vary: args.vary.concat(),
        ..Wanted::default()
    };
    let plan = Plan::of_manifests(loaded, &wanted, platform::current())?;
    if args.json {
        let checks: Vec<Value> = plan.checks.iter().map(as_json).collect();
        // Whoever stops reading has seen enough.
        let _ = Show::json(&serde_json::to_string_pretty(&checks).unwrap_or_default());
        return Ok(ExitCode::Ok);
    }
    let width = plan.checks.iter().map(|planned| planned.id().len()).max().unwrap_or(0);
    for planned in &plan.checks {
        Show::Stdout.line(&report::list_line(Show::Stdout.look(), &planned.check(), width, planned.skip.as_deref()));
    }
    Ok(ExitCode::Ok)
}

fn as_json(planned: &Planned) -> Value {
    let check = planned.base();
    json!({
        "id": planned.id(),
        "title": check.title,
        "origin": check.origin.as_ref().map(|origin| format!("{}:{}", origin.file, origin.line)),
        "tags": check.tags,
        "skip": planned.skip.as_deref(),
    })
}
