//! `hostproof run`

use std::collections::BTreeSet;

use super::baseline::Before;
use super::check_run::{self, CheckRun};
use super::show::Show;
use crate::cli::RunArgs;
use crate::error::{ExitCode, Result};
use crate::plan::Plan;
use crate::{manifest, memory, plan, platform};

/// Loads the manifests and runs what was asked for.
///
/// # Errors
///
/// If the manifests are wrong, a pattern matches nothing, or nothing can be measured here.
pub fn run(args: RunArgs) -> Result<ExitCode> {
    let loaded = load(&args.manifests)?;
    let red = if args.failed { Some(memory::red(&plan::project(&loaded)?)?) } else { None };
    let rules = args.how.rules.as_ref().map(|said| said.rules);
    // What was red by rules that only the command line named is run by them again.
    let also: Vec<String> = red.iter().filter(|_| rules.is_none()).flat_map(|red| red.keys().cloned()).collect();
    let mut plan = Plan::of_manifests(loaded, &args.checks, &also, rules, platform::current())?;
    if let Some(said) = &args.how.rules {
        plan.checks.iter_mut().for_each(|planned| said.add_to(&mut planned.check.windows));
    }
    let mut remark = None;
    if let Some(red) = red {
        plan.checks.retain(|planned| red.contains_key(&planned.check.id));
        if plan.checks.is_empty() {
            let these = if args.checks.is_empty() { "no check" } else { "none of these checks" };
            remark = Some(format!("{these} was red when it was last run; without --failed they run"));
        }
    }
    let baseline = match &args.baseline {
        None => None,
        Some(named) => match Before::find(named, &args, &plan)? {
            Some(before) => Some(before),
            None => return Ok(ExitCode::Interrupted),
        },
    };
    // A run of all says all that there is to remember.
    let all = args.checks.is_empty() && !args.failed && args.how.rules.is_none() && args.manifests.manifests.is_none();
    let check_run = CheckRun {
        plan,
        how: args.how,
        by_id: true,
        manifests: args.manifests.manifests,
        fail_fast: args.fail_fast,
        remove_residue: args.remove_residue,
        baseline,
        vouch: args.vouch,
        remark,
    };
    let done = check_run::run(&check_run)?;
    let plan = &check_run.plan;
    let ran: BTreeSet<&str> = plan.checks.iter().map(|planned| planned.check.id.as_str()).collect();
    // Where nothing can be remembered, no run is worse for it; --failed will say so.
    if !ran.is_empty()
        && let Err(error) = memory::remember(&plan.project, &ran, done.red, all)
        && args.failed
    {
        Show::error(&error);
    }
    Ok(done.code)
}

/// Loads the manifests that the arguments name.
///
/// # Errors
///
/// If they are wrong, or there are none.
pub fn load(args: &crate::cli::ManifestArgs) -> Result<manifest::Loaded> {
    let start = check_run::current_folder()?;
    let colour = Show::Stderr.look().colour;
    manifest::load(&manifest::Options {
        start: &start,
        directory: args.manifests.as_deref(),
        platform: platform::current(),
        colour,
    })
}
