//! `hostproof try -- COMMAND`

use std::collections::BTreeMap;

use super::check_run::{self, CheckRun};
use crate::cli::{CwdArg, HomeArg, TryArgs, VouchArgs};
use crate::error::{Error, ExitCode, Result};
use crate::model::{CaseCount, Check, CheckCommand, Cwd, Expect, Home, Inherit, WindowsRules};
use crate::plan::Plan;
use crate::platform;
use crate::run::Until;

/// Runs one command as a check whose project is the current directory.
///
/// # Errors
///
/// If nothing can be measured here.
pub fn run(args: TryArgs) -> Result<ExitCode> {
    let here = check_run::current_folder()?;
    let project = platform::real_path(&here).map_err(|error| Error::file("cannot open", &here, error))?;
    let mut windows = WindowsRules::default();
    if let Some(said) = &args.how.rules {
        said.add_to(&mut windows);
    }
    let check = Check {
        cwd: match args.cwd {
            CwdArg::Project => Cwd::Project,
            CwdArg::Copy => Cwd::Copy,
            CwdArg::Sandbox => Cwd::Sandbox,
        },
        home: match args.home {
            HomeArg::Sandbox => Home::Sandbox,
            HomeArg::Real => Home::Real,
        },
        inherit: if args.inherit_all { Inherit::All } else { Inherit::Names(Vec::new()) },
        stdin: args.stdin,
        publishes: args.publishes,
        timeout: args.timeout.unwrap_or(Check::DEFAULT_TIMEOUT),
        grace: args.grace.unwrap_or(Check::DEFAULT_GRACE),
        expect: Expect { exit: args.exit, cases: args.cases.map(CaseCount::Exactly), ..Expect::default() },
        rules: args.how.rules.as_ref().map(|said| said.rules).unwrap_or_default(),
        windows,
        ..Check::new("try", CheckCommand::Argv(args.command))
    };
    let plan = Plan::of_command(project, check, args.how.vary.concat());
    let done = check_run::run(&CheckRun {
        plan,
        container: None,
        compared: false,
        how: args.how,
        subcommand: None,
        manifests: None,
        until: if args.until_fail { Until::OneFails } else { Until::AllRan },
        remove_residue: false,
        baseline: None,
        partition: None,
        took: BTreeMap::new(),
        vouch: VouchArgs::default(),
        remark: None,
    })?;
    Ok(done.code)
}
