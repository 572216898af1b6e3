//! `hostproof gate`

use std::io::Read;
use std::path::PathBuf;
use std::time::SystemTime;

use super::check_run::{current_folder, tool};
use super::github;
use super::show::Show;
use crate::cli::GateArgs;
use crate::error::{Error, ExitCode, Result};
use crate::gate::change::Change;
use crate::gate::evidence::{Documents, Reader};
use crate::gate::pushed::{self, Pushed};
use crate::gate::{self, Asking};
use crate::manifest::{self, FOLDER};
use crate::model::{Gate, Platform};
use crate::receipt::key;
use crate::receipt::revocation::Revocations;
use crate::receipt::store::{Document, Store, files};
use crate::receipt::verify::{Trust, Yardstick};
use crate::{env, platform, report, source};

/// No more is read of what git tells a hook.
const MAX_LINES: u64 = 1 << 20;

/// Says whether a change may be merged.
///
/// # Errors
///
/// If the base has no policy, there are no such commits, a manifest is wrong, or what is named can't be read.
pub fn run(args: &GateArgs) -> Result<ExitCode> {
    let place = Place::find(args)?;
    let given = given(&args.receipts)?;
    if let Some(remote) = &args.pre_push {
        let told = env::text("PRE_COMMIT_REMOTE_NAME");
        return push(&place, told.as_deref().unwrap_or(remote), &given);
    }
    let base = args.base.as_deref().unwrap_or_default();
    let gate = place.ask(base, &args.head, &given, None)?;
    if args.json {
        // Whoever stops reading has the exit code.
        let json = serde_json::to_string_pretty(&gate).unwrap_or_default();
        let _ = Show::json(&report::plain_json(&json));
        github::tell_gate(&gate, &place.project, Show::Stderr);
    } else {
        place.tell(&gate, Show::Stdout);
    }
    Ok(if gate.ok { ExitCode::Ok } else { ExitCode::Red })
}

/// Of each branch that is pushed. Git shows what a hook writes to standard error.
fn push(place: &Place, remote: &str, given: &[Document]) -> Result<ExitCode> {
    let remotes = source::remotes(&place.project);
    let is_named = remotes.iter().any(|(name, _)| name == remote);
    // Whoever pushes to an address may have a remote of that address.
    let of_address = remotes
        .iter()
        .find(|(_, address)| !is_named && source::same_address(address, remote))
        .map(|(name, _)| name.as_str());
    let remote = of_address.unwrap_or(remote);
    let default = source::default_branch(&place.project, remote).ok_or_else(|| {
        let help = if is_named || of_address.is_some() {
            format!("git remote set-head {remote} --auto")
        } else {
            "push to a remote by its name: git remote add NAME ADDRESS && git fetch NAME && git remote set-head NAME --auto"
                .to_owned()
        };
        Error::Usage(format!("what the default branch of {remote} is, is not known here\nhelp: {help}"))
    })?;
    let name = default.strip_prefix(&format!("refs/remotes/{remote}/")).unwrap_or(&default);
    let mut code = ExitCode::Ok;
    for Pushed { to, head, was } in pushed()? {
        let mut gate = if to.strip_prefix("refs/heads/") == Some(name) {
            // What the remote has, not what was fetched of it last.
            let Some(was) = was else { continue };
            place.ask(&was, &head, given, None)?
        } else {
            place.ask(&default, &head, given, Some(platform::current()))?
        };
        place.begin_here(&mut gate);
        place.tell(&gate, Show::Stderr);
        if !gate.ok {
            code = ExitCode::Red;
        }
    }
    if code != ExitCode::Ok {
        Show::Stderr.line("\nnothing was pushed; git push --no-verify asks nobody");
    }
    Ok(code)
}

/// What is pushed: as pre-commit and prek tell their hooks, or else as git does.
fn pushed() -> Result<Vec<Pushed>> {
    if let Some(head) = env::text("PRE_COMMIT_TO_REF") {
        let to = env::text("PRE_COMMIT_REMOTE_BRANCH").unwrap_or_default();
        let to = if to.starts_with("refs/") { to } else { format!("refs/heads/{to}") };
        return Ok(vec![Pushed { to, head, was: env::text("PRE_COMMIT_FROM_REF") }]);
    }
    let mut lines = String::new();
    std::io::stdin()
        .take(MAX_LINES)
        .read_to_string(&mut lines)
        .map_err(|error| Error::Usage(format!("what is pushed can't be read from standard input: {error}")))?;
    pushed::branches(&lines).map_err(Error::Usage)
}

/// A project, and the folder of its manifests by its name there.
struct Place {
    project: PathBuf,
    directory: PathBuf,
}

impl Place {
    /// Its manifests need not be there: a change that removes them is one, too.
    fn find(args: &GateArgs) -> Result<Self> {
        let start = current_folder()?;
        let (project, directory) = match manifest::places(&start, args.manifests.manifests.as_deref()) {
            Ok(places) => places,
            Err(error) if args.manifests.manifests.is_some() => return Err(error),
            Err(error) => {
                let top = source::top(&start).ok_or(error)?;
                (top.clone(), top.join(FOLDER))
            }
        };
        let project =
            platform::real_path(&project).map_err(|error| Error::file("cannot open the project", &project, error))?;
        Ok(Self { project, directory })
    }

    /// Asks of one change; of what is wanted from one system alone, where that is all that can be given.
    fn ask(&self, base: &str, head: &str, given: &[Document], only: Option<Platform>) -> Result<Gate> {
        let folder = self.directory.file_name().unwrap_or_default().to_string_lossy();
        let change = Change::open(&self.project, &folder, base, head)?;
        let trust = Trust::new(key::keygen(&self.project), change.signers.clone());
        let yardstick = Yardstick::open(&self.project, &self.directory, &change.head_side.commit)?;
        let kept = Store::open(&self.project)?.documents()?;
        let revocations = Revocations::of(kept.iter().chain(given), &trust)?;
        let reader = Reader { yardstick: &yardstick, trust: &trust, revocations: &revocations, now: SystemTime::now() };
        let documents = Documents { given, kept: &kept };
        gate::ask(&self.project, &change, reader, documents, Asking { tool: tool(), only })
    }

    /// The steps on this machine begin with the commit that is here: nobody can fetch what was not pushed.
    fn begin_here(&self, gate: &mut Gate) {
        let is_out = source::state(&self.project).and_then(|state| state.commit).as_ref() == Some(&gate.head.commit);
        for steps in gate.next.iter_mut().filter(|steps| steps.host == platform::current()) {
            for command in &mut steps.commands {
                if let Some(rest) = command.strip_prefix("git fetch && ") {
                    *command = rest.to_owned();
                }
            }
            steps.commands.retain(|command| !is_out || !command.starts_with("git switch "));
        }
    }

    fn tell(&self, gate: &Gate, show: Show) {
        for line in report::gate(show.look(), gate) {
            show.line(&line);
        }
        github::tell_gate(gate, &self.project, show);
    }
}

/// The receipts in files and folders.
fn given(paths: &[PathBuf]) -> Result<Vec<Document>> {
    let mut found = Vec::new();
    for path in paths {
        found.extend(files::at(path)?.iter().map(|file| files::document(file)));
    }
    Ok(found)
}
