//! `run --baseline`: what was red before, read from a report or found out by a run of an older commit.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use super::check_run::tool;
use super::compare;
use super::show::Show;
use crate::cli::RunArgs;
use crate::compare::{Document, News, Side};
use crate::error::{Error, ExitCode, Result};
use crate::manifest::FOLDER;
use crate::model::{Baseline, CheckReport, HostFacts, Place, Report, RunFacts, SCHEMA, SourceFacts, Stop, Worse};
use crate::plan::{Plan, Planned, Wanted};
use crate::run::{self, Keep, Observer, Options, Until};
use crate::words::shown;
use crate::{manifest, platform, source};

/// What a run is set against.
pub struct Before {
    pub side: Side,
    /// The commit, if it was run for this.
    pub commit: Option<String>,
}

impl Before {
    /// Reads the report, or runs the commit. `None` if the user ended that.
    ///
    /// # Errors
    ///
    /// If it is neither, the report can't be read, or the commit can't be run.
    pub fn find(named: &str, args: &RunArgs, plan: &Plan) -> Result<Option<Self>> {
        let file = Path::new(named);
        if std::fs::symlink_metadata(file).is_ok() {
            let side = compare::side(file)?;
            return Ok(Some(Self { side: Side { label: named.to_owned(), ..side }, commit: None }));
        }
        let refused = |why: String| Error::Usage(shown(format!("--baseline {named}: {why}").as_bytes()));
        let repository = source::repository(&plan.project).map_err(refused)?;
        let Some(source::Repository { top, prefix }) = repository else {
            return Err(refused("there is no such file, and the project is in no git repository".to_owned()));
        };
        let commit = source::commit(&top, named).map_err(|why| refused(format!("there is no such file, and {why}")))?;
        let checkout = Checkout { top, prefix, commit };
        Ok(checkout.run(args, plan, &refused)?.map(|report| {
            let side =
                Side { label: named.to_owned(), file: named.to_owned(), document: Document::Report(Box::new(report)) };
            Self { side, commit: Some(checkout.commit.clone()) }
        }))
    }

    /// What is new in a run, as its report has it.
    pub fn baseline(&self, news: News) -> Baseline {
        let News { new, old, mended, unknown } = news;
        Baseline {
            of: self.side.label.clone(),
            commit: self.commit.clone(),
            new: new.into_iter().map(|(id, why)| Worse { id, why }).collect(),
            old,
            mended,
            unknown,
        }
    }
}

/// A commit of the project that is to be run.
struct Checkout {
    top: PathBuf,
    /// The project, relative to the top.
    prefix: PathBuf,
    commit: String,
}

impl Checkout {
    /// Runs it in a folder that its supervisor removes, whatever ends this process. The original's repository is not
    /// written to: a worktree of it would be left there if this process were killed.
    fn run(&self, args: &RunArgs, plan: &Plan, refused: &dyn Fn(String) -> Error) -> Result<Option<Report>> {
        platform::prepare()?;
        let lane = platform::start_lane()?;
        let copy = lane.folder().join("baseline");
        source::check_out(&self.top, &self.commit, &copy).map_err(refused)?;
        let short = &self.commit[..self.commit.len().min(12)];
        let directory = self.manifests(args, &copy)?;
        if !directory.is_dir() {
            return Err(refused(format!("commit {short} has no {FOLDER} to run")));
        }
        let loaded = manifest::load(&manifest::Options {
            start: &copy,
            directory: Some(&directory),
            platform: platform::current(),
            colour: Show::Stderr.look().colour,
        })?;
        let ids: HashSet<&str> = plan.checks.iter().map(Planned::id).collect();
        let rules = args.how.rules.as_ref().map(|said| said.rules);
        let also = ids.iter().map(|&id| id.to_owned()).collect();
        let wanted = Wanted { also, rules, ..Wanted::default() };
        let mut before = Plan::of_manifests(loaded, &wanted, platform::current())?;
        super::run::by_rules(&mut before, args.how.rules.as_ref());
        before.checks.retain(|planned| ids.contains(planned.id()));
        let options = Options {
            remove_residue: false,
            jobs: args.how.jobs.map_or_else(super::check_run::processors, usize::from),
            keep: Keep::Never,
            strict: args.how.strict,
            until: Until::AllRan,
            whole: true,
            took: BTreeMap::new(),
        };
        let ran = run::run(&before, &options, &Silent)?;
        if ran.stopped == Some(Stop::Interrupted) {
            return Ok(None);
        }
        let checks = ran.checks.iter().collect::<io::Result<_>>();
        let checks = checks.map_err(|error| Error::Unmeasured(format!("the reports can't be read back: {error}")))?;
        Ok(Some(report(before, ran, checks)))
    }

    /// The folder of the manifests in the copy.
    fn manifests(&self, args: &RunArgs, copy: &Path) -> Result<PathBuf> {
        let Some(named) = &args.manifests.manifests else { return Ok(copy.join(&self.prefix).join(FOLDER)) };
        let real = platform::real_path(named).map_err(|error| Error::file("cannot open", named, error))?;
        let top = platform::real_path(&self.top).map_err(|error| Error::file("cannot open", &self.top, error))?;
        let below = real.strip_prefix(&top).map_err(|_| {
            Error::Usage(format!("{} is not in the repository, so no commit has it: name a report", named.display()))
        })?;
        Ok(copy.join(below))
    }
}

/// Of a run that only serves to be compared with.
fn report(plan: Plan, ran: run::Ran, checks: Vec<CheckReport>) -> Report {
    Report {
        schema: SCHEMA.to_owned(),
        tool: tool(),
        run: RunFacts {
            id: String::new(),
            argv: Vec::new(),
            started: String::new(),
            duration_ms: 0,
            jobs: 0,
            interrupted: false,
            stopped: ran.stopped,
            not_run: ran.not_run,
            baseline: None,
            partition: None,
        },
        place: Place::host(),
        host: HostFacts::default(),
        source: SourceFacts::default(),
        manifests: plan.manifests,
        totals: ran.totals,
        checks,
        findings: ran.findings,
    }
}

/// Of a baseline only the outcome is told.
struct Silent;

impl Observer for Silent {
    fn check_started(&self, _id: &str) {}
    fn check_ended(&self, _report: &CheckReport) {}
}

/// The exit code of a red run: green if nothing is worse than before, and all is known.
pub fn exit_code(code: ExitCode, baseline: &Baseline, could_look: bool) -> ExitCode {
    if code != ExitCode::Red || !baseline.new.is_empty() || !baseline.unknown.is_empty() {
        return code;
    }
    if could_look { ExitCode::Ok } else { ExitCode::Incomplete }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_worse_or_not_known_is_red() {
        let old = Baseline { old: vec!["a".to_owned()], ..Baseline::default() };
        assert_eq!(exit_code(ExitCode::Red, &old, true), ExitCode::Ok);
        assert_eq!(exit_code(ExitCode::Red, &old, false), ExitCode::Incomplete);
        assert_eq!(exit_code(ExitCode::Interrupted, &old, true), ExitCode::Interrupted);
        let unknown = Baseline { unknown: vec!["a".to_owned()], ..old.clone() };
        assert_eq!(exit_code(ExitCode::Red, &unknown, true), ExitCode::Red);
        let new = Baseline { new: vec![Worse { id: "b".to_owned(), why: "red".to_owned() }], ..old };
        assert_eq!(exit_code(ExitCode::Red, &new, true), ExitCode::Red);
    }
}
