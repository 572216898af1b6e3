//! `hostproof lint`

use std::path::PathBuf;

use super::check_run;
use super::github;
use super::hooks::Project;
use super::show::Show;
use crate::cli::LintArgs;
use crate::error::{Error, ExitCode, Result};
use crate::lints::{self, Scanned, Wanted};
use crate::model::{LINTS_SCHEMA, LintTotals, Lints};
use crate::report::{self, Document, Target};
use crate::wirings::{self, Disk};
use crate::words::counted;
use crate::{env, platform};

/// Checks every manifest and says how many checks they have; with `--code`, reads sources for traps.
///
/// # Errors
///
/// Every error of every manifest, with its place; a path that is not there.
pub fn run(args: &LintArgs) -> Result<ExitCode> {
    if args.code {
        return code(args);
    }
    let loaded = super::run::load(&args.manifests)?;
    let (checks, files) = (counted(loaded.checks.len(), "check"), counted(loaded.files.len(), "file"));
    Show::Stdout.line(&format!("{checks} in {files}: no errors"));
    Ok(ExitCode::Ok)
}

fn code(args: &LintArgs) -> Result<ExitCode> {
    let sarif = args.sarif.as_deref().map(|path| Target::prepare(Document::Sarif, path)).transpose()?;
    let sarif_on_stdout = sarif.as_ref().is_some_and(Target::is_stdout);
    if args.json && sarif_on_stdout {
        return Err(Error::Usage("--json and --sarif - can't share standard output: name a file".to_owned()));
    }
    let real = |path: &PathBuf| platform::real_path(path).map_err(|error| Error::file("cannot look at", path, error));
    let paths: Vec<PathBuf> = args.paths.iter().map(real).collect::<Result<_>>()?;
    let project = Project::open(&args.manifests)?;
    let wanted = match &paths[..] {
        [] if args.all => Wanted::All,
        [] => Wanted::Hooks,
        paths => Wanted::Paths(paths),
    };
    // Paths say all that there is to know.
    let (disk, mut notes) =
        if paths.is_empty() { Disk::open(&project.root) } else { (Disk::of(&project.root, &[]), Vec::new()) };
    let wired = if paths.is_empty() { wirings::read(&disk, &project.sources).wirings } else { Vec::new() };
    let targets = lints::targets(&project.root, wanted, &disk, &project.checks, &wired);
    if targets.files.is_empty() && targets.commands.is_empty() && targets.unread.is_empty() {
        notes.push("nothing runs here as a hook or as its self-test; name files or folders, or say --all".to_owned());
    }
    let Scanned { lints, unread, unclear, notes: more, totals } = lints::scan(&targets);
    notes.extend(more);
    let lints = Lints {
        schema: LINTS_SCHEMA.to_owned(),
        tool: check_run::tool(),
        project: project.root.display().to_string(),
        totals,
        lints,
        unread,
        unclear,
        notes,
    };
    if let Some(target) = &sarif {
        let mut json = serde_json::to_string_pretty(&report::sarif(&lints)).unwrap_or_default();
        json.push('\n');
        let json = if sarif_on_stdout && env::in_github_actions() { report::defused_json(&json) } else { json };
        target.write(json.as_bytes())?;
    }
    let show = if args.json || sarif_on_stdout { Show::Stderr } else { Show::Stdout };
    if args.json {
        // Whoever stops reading has the exit code.
        let _ = Show::json(&report::plain_json(&serde_json::to_string_pretty(&lints).unwrap_or_default()));
    } else {
        show.line(&report::lints(show.look(), &lints).join("\n"));
    }
    github::tell_lints(&lints, &project.root, show);
    Ok(exit_code(&lints.totals))
}

fn exit_code(totals: &LintTotals) -> ExitCode {
    if totals.errors + totals.warnings > 0 {
        ExitCode::Red
    } else if totals.unread > 0 {
        ExitCode::Incomplete
    } else {
        ExitCode::Ok
    }
}
