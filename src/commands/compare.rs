//! `hostproof compare`

use std::io::Read;
use std::path::Path;

use super::check_run::tool;
use super::show::Show;
use crate::cli::CompareArgs;
use crate::compare::{self, Side};
use crate::error::{Error, ExitCode, Result};
use crate::model::Likeness;
use crate::report::{self, Document, Target};
use crate::words::shown;
use crate::{env, platform};

/// No report is larger.
const MAX_BYTES: u64 = 256 << 20;
/// What GitHub takes for a comment has 65,536 characters.
const PAGE: usize = 60_000;

/// Compares the files.
///
/// # Errors
///
/// If one can't be read, or the page can't be written.
pub fn run(args: &CompareArgs) -> Result<ExitCode> {
    let target = args.markdown.as_deref().map(|file| Target::prepare(Document::Page, file)).transpose()?;
    let mut sides = args.files.iter().map(|file| side(file)).collect::<Result<Vec<_>>>()?;
    compare::label(&mut sides);
    let comparison = compare::compare(&sides, tool());
    let code = match comparison.outcome {
        Likeness::Same => ExitCode::Ok,
        Likeness::Different => ExitCode::Red,
        Likeness::Unknown => ExitCode::Incomplete,
    };
    let mut show = Show::Stdout;
    if let Some(target) = &target {
        let page = report::comparison_page(&comparison, PAGE);
        let page = if target.is_stdout() && env::in_github_actions() { report::defused(&page) } else { page };
        target.write(page.as_bytes())?;
        if target.is_stdout() {
            return Ok(code);
        }
    }
    if args.json {
        let json = serde_json::to_string_pretty(&comparison).unwrap_or_default();
        // Whoever stops reading has the exit code.
        let _ = Show::json(&report::plain_json(&json));
        show = Show::Stderr;
    }
    if show == Show::Stdout {
        let look = show.look();
        for line in report::comparison(look, &comparison, args.verbose) {
            show.line(&line);
        }
    }
    Ok(code)
}

/// Reads a file that is to be compared. Whatever lies at its path, nobody waits for it.
///
/// # Errors
///
/// If it can't be read, or is neither a report nor a JUnit file.
pub fn side(file: &Path) -> Result<Side> {
    read(file, "compared")
}

/// Reads a file for something to be done with it, which is said in messages.
///
/// # Errors
///
/// If it can't be read, or is neither a report nor a JUnit file.
pub fn read(file: &Path, done: &str) -> Result<Side> {
    let name = shown(file.display().to_string().as_bytes());
    let wrong = |why: &str| Error::Usage(shown(format!("{name} can't be {done}: {why}").as_bytes()));
    // A link is followed, and what it leads to must be a file.
    let real = platform::real_path(file).map_err(|error| wrong(&format!("it can't be opened: {error}")))?;
    let metadata = std::fs::metadata(&real).map_err(|error| wrong(&format!("it can't be opened: {error}")))?;
    if metadata.is_dir() {
        return Err(wrong("it is a folder; name the report in it"));
    }
    if !metadata.is_file() {
        return Err(wrong("it is a pipe, a socket or a device; write it to a file first"));
    }
    let too_large = || wrong(&format!("it has more than {} MiB, and no report is that large", MAX_BYTES >> 20));
    if metadata.len() > MAX_BYTES {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    platform::open_regular(&real)
        .and_then(|opened| opened.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(|error| wrong(&format!("it can't be read: {error}")))?;
    // It may grow meanwhile.
    if bytes.len() as u64 > MAX_BYTES {
        return Err(too_large());
    }
    compare::parse(&name, &bytes).map_err(|why| wrong(&why))
}
