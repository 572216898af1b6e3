//! The programs that hostproof itself and most checks use: whether they are here, and which version.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;

use super::needs::version;
use super::program::{Lookup, Program, os_strings};
use crate::model::{Ability, CheckCommand, Exit};
use crate::platform::{self, Job, Lane};
use crate::words::shown;
use crate::{env, model};

/// How long a program may take to answer. An engine that was asleep takes seconds.
const PATIENCE: Duration = Duration::from_secs(15);

/// A program: its name, what is missing where it is, and how it is asked for its version.
const PROGRAMS: [(&str, &str, &[&str]); 6] = [
    ("git", "reports can't tell the commit, and `cwd: copy` and residue of the project need it", &["git", "--version"]),
    ("python3", "checks that run it are broken", &["python3", "--version"]),
    ("sh", "checks with `shell:` are broken", &["sh", "-c", "echo 1.0"]),
    ("bash", "checks with `interpreter: bash` are broken", &["bash", "--version"]),
    ("node", "checks that run it are broken", &["node", "--version"]),
    ("cargo", "checks that run it are broken", &["cargo", "--version"]),
];

/// An engine, and what only one that runs can answer.
pub const ENGINES: [(&str, &[&str]); 2] = [
    ("docker", &["docker", "version", "--format", "{{.Server.Version}}"]),
    ("podman", &["podman", "info", "--format", "{{.Version.Version}}"]),
];

/// What one of them said when it was asked.
enum Asked {
    Missing,
    /// The file, and its version if it told one.
    Here(Program, Option<String>),
}

/// Looks for each on this process's own `PATH`, and asks it for its version, under a supervisor.
#[must_use]
pub fn tools() -> Vec<Ability> {
    let mut lane = platform::prepare().and_then(|()| platform::start_lane()).ok();
    let mut ask = |argv: &[&str]| asked(argv, lane.as_deref_mut());
    let mut abilities: Vec<Ability> =
        PROGRAMS.iter().map(|(name, without, argv)| program(name, without, &ask(argv))).collect();
    abilities.extend(ENGINES.iter().map(|(name, argv)| engine(name, &ask(argv))));
    abilities
}

fn program(name: &'static str, without: &str, asked: &Asked) -> Ability {
    let Asked::Here(program, version) = asked else {
        return Ability::no(name, format!("not on PATH: {without}")).helped_by(format!("install {name}"));
    };
    let as_name = program.argv.first().filter(|first| *first != name);
    let as_name = as_name.map(|first| format!("as {first}, ")).unwrap_or_default();
    let file = program.file.display();
    match version {
        Some(_) if name == "sh" => Ability::yes(name, format!("{file}")),
        Some(version) => Ability::yes(name, format!("{as_name}{version}, {file}")),
        None => Ability::partly(name, format!("{as_name}{file}, which does not tell its version")),
    }
}

fn engine(name: &'static str, asked: &Asked) -> Ability {
    match asked {
        Asked::Missing => Ability::no(name, "not on PATH; only `run --in` needs one"),
        Asked::Here(_, Some(version)) => Ability::yes(name, format!("its engine, {version}, answers")),
        Asked::Here(..) => {
            Ability::partly(name, "its client is here, and no engine answers; only `run --in` needs one")
        }
    }
}

fn asked(argv: &[&str], lane: Option<&mut (dyn Lane + 'static)>) -> Asked {
    let path = env::raw("PATH");
    let nowhere = Path::new("");
    let lookup =
        Lookup { path: path.as_deref().map(OsStr::new), cwd: nowhere, project: nowhere, sandbox: nowhere, known: None };
    let argv = CheckCommand::Argv(argv.iter().map(|word| (*word).to_owned()).collect());
    let Ok(program) = lookup.find(&argv) else { return Asked::Missing };
    let said = lane.and_then(|lane| {
        let folder = lane.folder().to_owned();
        let job = Job::new(program.file.clone(), os_strings(&program.argv), &folder, PATIENCE);
        let job = Job { env: env::all().collect(), ..job };
        let outcome = lane.run(&job).ok().filter(|outcome| outcome.exit == Some(Exit::Code(0)))?;
        [model::Stream::Stdout, model::Stream::Stderr]
            .into_iter()
            .find_map(|stream| version(&shown(&outcome.captured(stream).memory)))
    });
    Asked::Here(program, said)
}
