//! `hostproof run`

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};

use super::baseline::Before;
use super::check_run::{self, CheckRun, Contained, Done};
use super::parity;
use super::show::Show;
use super::watch;
use crate::cli::{EngineArg, HowArgs, PlaceArgs, RulesArg, RunArgs};
use crate::container::{self, EngineKind};
use crate::error::{Error, ExitCode, Result};
use crate::model::Platform;
use crate::plan::{Plan, Planned, Wanted};
use crate::run::Until;
use crate::{manifest, memory, plan, platform};

/// Loads the manifests and runs what was asked for.
///
/// # Errors
///
/// If the manifests are wrong, a pattern matches nothing, or nothing can be measured here.
pub fn run(args: &RunArgs) -> Result<ExitCode> {
    if let Some(image) = &args.place.parity {
        return parity::run(args, wanted(&args.place, image));
    }
    if args.watch {
        return watch::run(args);
    }
    let container = args.place.image.as_deref().map(|image| wanted(&args.place, image));
    Ok(once(args, &args.how, container)?.code)
}

/// What was asked for, of the manifests as they are now.
pub struct Asked {
    pub plan: Plan,
    /// The name of the folder of manifests.
    folder: OsString,
    /// What is to be said of the plan.
    remark: Option<String>,
}

/// Loads the manifests, and takes of their checks what was asked for on a platform.
///
/// # Errors
///
/// If the manifests are wrong, or a pattern matches nothing.
pub fn asked(args: &RunArgs, platform: Platform) -> Result<Asked> {
    let loaded = load_for(&args.manifests, platform)?;
    let folder = loaded.directory.file_name().map(OsStr::to_owned).unwrap_or_default();
    let red = if args.failed { Some(memory::red(&plan::project(&loaded)?)?) } else { None };
    let rules = args.how.rules.as_ref().map(|said| said.rules);
    // What was red by rules that only the command line named is run by them again.
    let also: Vec<String> = red.iter().filter(|_| rules.is_none()).flat_map(|red| red.keys().cloned()).collect();
    let wanted = Wanted {
        patterns: args.checks.clone(),
        also,
        rules,
        vary: args.how.vary.concat(),
        copies: copies(args),
        pairwise: args.pairwise,
    };
    let mut plan = Plan::of_manifests(loaded, &wanted, platform)?;
    by_rules(&mut plan, args.how.rules.as_ref());
    let mut remark = None;
    if let Some(red) = red {
        plan.keep_ids(|id| red.contains_key(id));
        if plan.checks.is_empty() {
            let these = if args.checks.is_empty() { "no check" } else { "none of these checks" };
            remark = Some(format!("{these} was red when it was last run; without --failed they run"));
        }
    }
    if let Some(partition) = args.partition {
        plan.keep(partition);
        if plan.checks.is_empty() && remark.is_none() {
            remark =
                Some(format!("no check is in part {} of {}: the others have them all", partition.part, partition.of));
        }
    }
    Ok(Asked { plan, folder, remark })
}

/// Runs what was asked for, once, in that container or here.
///
/// # Errors
///
/// If the manifests are wrong, a pattern matches nothing, or nothing can be measured there.
pub fn once(args: &RunArgs, how: &HowArgs, container: Option<container::Wanted>) -> Result<Done> {
    let platform = if container.is_some() { Platform::Linux } else { platform::current() };
    // A run of all says all that there is to remember.
    let all = args.checks.is_empty()
        && !args.failed
        && args.partition.is_none()
        && args.how.rules.is_none()
        && args.manifests.manifests.is_none();
    run_asked(asked(args, platform)?, all, args, how, container)
}

/// Runs what was asked for, or a part of it. `all` says that it is all that the project has.
///
/// # Errors
///
/// If nothing can be measured there.
pub fn run_asked(
    asked: Asked,
    all: bool,
    args: &RunArgs,
    how: &HowArgs,
    container: Option<container::Wanted>,
) -> Result<Done> {
    let Asked { plan, folder, remark } = asked;
    let baseline = match &args.baseline {
        None => None,
        Some(named) => match Before::find(named, args, &plan)? {
            Some(before) => Some(before),
            None => return Err(Error::Interrupted("interrupted in the run of the baseline".to_owned())),
        },
    };
    let is_here = container.is_none();
    // Where there is nothing to run, there is nothing to start.
    let container = container.filter(|_| !plan.checks.is_empty());
    let container = container.map(|wanted| Contained { wanted, words: words(args, &plan, &folder) });
    let check_run = CheckRun {
        container,
        compared: args.place.parity.is_some(),
        how: how.clone(),
        subcommand: Some("run"),
        manifests: args.manifests.manifests.clone(),
        until: until(args),
        remove_residue: args.remove_residue,
        baseline,
        partition: args.partition,
        took: memory::took(&plan.project),
        vouch: args.vouch.clone(),
        remark,
        plan,
    };
    let done = check_run::run(&check_run)?;
    let plan = &check_run.plan;
    let ran: BTreeSet<&str> = plan.checks.iter().map(Planned::id).collect();
    // What was red elsewhere is not red here. Where nothing can be remembered, no run is worse for it; --failed will say so.
    if is_here
        && !ran.is_empty()
        && let Err(error) =
            memory::remember(&plan.project, &ran, memory::Seen { red: done.red.clone(), took: done.took.clone() }, all)
        && args.failed
    {
        Show::error(&error);
    }
    Ok(done)
}

/// In how many copies each check runs at least.
#[must_use]
pub fn copies(args: &RunArgs) -> u32 {
    if args.twice { 2 } else { 1 }
}

/// Says to every check what the command line says of the rules.
pub fn by_rules(plan: &mut Plan, said: Option<&RulesArg>) {
    if let Some(said) = said {
        plan.change(|check| said.add_to(&mut check.windows));
    }
}

/// The container that the arguments ask for.
fn wanted(args: &PlaceArgs, image: &str) -> container::Wanted {
    container::Wanted {
        image: image.to_owned(),
        engine: args.engine.map(|engine| match engine {
            EngineArg::Docker => EngineKind::Docker,
            EngineArg::Podman => EngineKind::Podman,
        }),
        build: args.build.clone(),
        pull: args.pull,
        network: args.network,
        init: !args.no_init,
        tmpfs: args.tmpfs.clone(),
        binary: args.binary.clone(),
    }
}

/// How far the run goes.
#[must_use]
pub fn until(args: &RunArgs) -> Until {
    match (args.fail_fast, args.until_fail) {
        (true, _) => Until::FirstRed,
        (false, true) => Until::OneFails,
        (false, false) => Until::AllRan,
    }
}

/// The command line of the run in a container: what was chosen here, by name.
fn words(args: &RunArgs, plan: &Plan, folder: &OsStr) -> Vec<String> {
    let mut words: Vec<String> = vec!["run".into(), "--manifests".into(), folder.to_string_lossy().into_owned()];
    words.extend(args.how.jobs.map(|jobs| format!("--jobs={jobs}")));
    words.extend(args.how.rules.as_ref().map(|rules| format!("--as={}", rules.text())));
    words.extend(args.how.strict.then(|| "--strict".to_owned()));
    words.extend(args.how.stress.then(|| "--stress".to_owned()));
    words.extend(args.fail_fast.then(|| "--fail-fast".to_owned()));
    words.extend(args.until_fail.then(|| "--until-fail".to_owned()));
    words.extend(args.twice.then(|| "--twice".to_owned()));
    words.extend(args.remove_residue.then(|| "--remove-residue".to_owned()));
    words.extend(args.how.vary.iter().flatten().map(|fact| format!("--vary={}", fact.name())));
    words.extend(args.pairwise.then(|| "--pairwise".to_owned()));
    words.extend(plan.checks.iter().map(Planned::name));
    words
}

/// Loads the manifests that the arguments name.
///
/// # Errors
///
/// If they are wrong, or there are none.
pub fn load(args: &crate::cli::ManifestArgs) -> Result<manifest::Loaded> {
    load_for(args, platform::current())
}

/// The same, as they are for a platform.
///
/// # Errors
///
/// If they are wrong, or there are none.
pub fn load_for(args: &crate::cli::ManifestArgs, platform: Platform) -> Result<manifest::Loaded> {
    let start = check_run::current_folder()?;
    let colour = Show::Stderr.look().colour;
    manifest::load(&manifest::Options { start: &start, directory: args.manifests.as_deref(), platform, colour })
}
