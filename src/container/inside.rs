//! The inside, before its run: it takes the request, watches its input, and makes the copy.

use std::io::{BufReader, Stdin, stdin};
use std::path::{Path, PathBuf};

use super::wire::{LINE, Name, Packed, Request, STOP, read_line};
use crate::error::{Error, Result};
use crate::{platform, run};

/// The word that makes this program the inside of a container.
pub const INSIDE: &str = "__inside";

/// Where the container has this program.
pub const PROGRAM: &str = "/hostproof/hostproof";
/// Where it has the project's repository.
pub const PROJECT: &str = "/hostproof/project";
/// Where it has git's folder, if that is not in the project's.
pub const GIT: &str = "/hostproof/git";

/// What is to be run.
pub struct Inside {
    pub request: Request,
    /// The project in the copy.
    pub project: PathBuf,
}

/// Takes the request from standard input, which is watched from then on: at its end this process ends at once, and with it
/// the container. Copies the project.
///
/// # Errors
///
/// If nothing can be measured or written here, or the copy can't be made.
pub fn enter() -> Result<Inside> {
    let mut input = BufReader::new(stdin());
    let mut line = Vec::new();
    let length = read_line(&mut input, &mut line, LINE)
        .map_err(|error| Error::Unmeasured(format!("the request can't be read: {error}")))?;
    if length > LINE {
        return Err(Error::Unmeasured(format!("the request has more than {} MiB", LINE >> 20)));
    }
    let request: Request = serde_json::from_slice(&line).map_err(|error| {
        Error::Unmeasured(format!(
            "this is hostproof {}, and it does not understand the request: {error}",
            env!("CARGO_PKG_VERSION")
        ))
    })?;
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || watch(input))
        .map_err(|error| Error::Unmeasured(format!("cannot start a thread: {error}")))?;
    if !Path::new("/proc/self").exists() {
        return Err(Error::Unmeasured(
            "there is no /proc in the container, and without it no process can be seen\nhelp: let the engine mount it, as it \
             does unless told otherwise"
                .to_owned(),
        ));
    }
    let project = copy(&request.luggage)?;
    Ok(Inside { request, project })
}

/// Until the end of the input.
fn watch(mut input: BufReader<Stdin>) {
    let mut line = Vec::new();
    loop {
        match read_line(&mut input, &mut line, STOP.len() + 1) {
            Ok(1..) => {
                if line == STOP.as_bytes() {
                    platform::interrupt();
                }
            }
            // Whoever asked is gone.
            _ => platform::exit_at_once(),
        }
    }
}

fn copy(luggage: &Packed) -> Result<PathBuf> {
    let base = platform::sandbox_base();
    let unwritable = |error: std::io::Error| {
        let base = base.display();
        Error::Unmeasured(format!(
            "nothing can be written in {base} in the container: {error}\nhelp: --tmpfs {base} gives it a file system in memory"
        ))
    };
    let home = base.join("hostproof");
    platform::make_folder(&home).map_err(unwritable)?;
    let to = home.join(luggage.name.path());
    let source = Path::new(PROJECT);
    let git = luggage.git.as_ref().map(|own| Path::new(GIT).join(own.path()));
    let files: Option<Vec<PathBuf>> = luggage.files.as_ref().map(|files| files.iter().map(Name::path).collect());
    run::copy_listed(source, files.as_deref(), git.as_deref(), &to, &|_| false)
        .map_err(|why| Error::Unmeasured(format!("the project can't be taken along: {why}")))?;
    let project: PathBuf = to.join(luggage.prefix.path()).components().collect();
    std::fs::create_dir_all(&project).map_err(|error| Error::file("cannot make", &project, error))?;
    Ok(project)
}
