//! `hostproof teeth`

use std::collections::BTreeMap;

use super::check_run::{self, CheckRun};
use crate::cli::{TeethArgs, VouchArgs};
use crate::error::{ExitCode, Result};
use crate::plan::{Named, Plan, Wanted};
use crate::platform;
use crate::run::Until;

/// Runs the checks that have `breaks`, as they are and with each edit. What is remembered of runs stays as it is.
///
/// # Errors
///
/// If the manifests are wrong, a pattern matches nothing, or nothing can be measured here.
pub fn run(args: TeethArgs) -> Result<ExitCode> {
    let loaded = super::run::load(&args.manifests)?;
    let named = Named::of(&args.checks);
    let rules = args.how.rules.as_ref().map(|said| said.rules);
    let wanted = Wanted { patterns: named.checks.clone(), rules, ..Wanted::default() };
    let mut plan = Plan::of_manifests(loaded, &wanted, platform::current())?.teeth(&named)?;
    super::run::by_rules(&mut plan, args.how.rules.as_ref());
    let these = if args.checks.is_empty() { "no check has" } else { "none of these checks has" };
    let none = format!("{these} `breaks`, so there is nothing to try: edits that must turn it red");
    let done = check_run::run(&CheckRun {
        remark: plan.checks.is_empty().then_some(none),
        plan,
        container: None,
        compared: false,
        how: args.how,
        subcommand: Some("teeth"),
        manifests: args.manifests.manifests,
        until: Until::AllRan,
        remove_residue: false,
        baseline: None,
        partition: None,
        took: BTreeMap::new(),
        vouch: VouchArgs::default(),
    })?;
    Ok(done.code)
}
