//! What a hook reads, and the arguments that git gives it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::agent_sample::{self, Around};
use super::find::{Found, is_manager};
use super::git_sample::{self, GitSample};
use crate::model::{EventInput, HookEvent, Host};
use crate::run::sandbox::Sandbox;

/// Where samples are written, in the sandbox.
const FOLDER: &str = "events";

/// What a hook is called with.
#[derive(Debug)]
pub struct Input {
    /// A regular file.
    pub stdin: Option<PathBuf>,
    pub args: Vec<String>,
    /// What its host says of the event, where that is JSON.
    pub json: Option<Value>,
}

/// What of git's arguments and input a manager gives its hooks.
fn managed(sample: GitSample, found: &Found) -> GitSample {
    let GitSample { args, stdin } = sample;
    match found.host() {
        Host::Lefthook => GitSample { args, stdin: String::new() },
        Host::PreCommit | Host::Prek => {
            let is_of_message = found.event().ends_with("-msg");
            GitSample { args: args.into_iter().take(usize::from(is_of_message)).collect(), stdin: String::new() }
        }
        _ => GitSample { args, stdin },
    }
}

/// Puts together what the hook is called with for an event: `file` is the fixture that it names, looked up and seen to be a
/// regular file.
///
/// # Errors
///
/// A sentence that says what is in the way.
pub fn input(
    event: &HookEvent,
    number: usize,
    found: &Found,
    file: Option<PathBuf>,
    project: &Path,
    sandbox: &Sandbox,
) -> Result<Input, String> {
    let of_git = matches!(found.host(), Host::Git | Host::Husky) || is_manager(found.host());
    let sample = of_git.then(|| git_sample::sample(found.event(), project, sandbox)).transpose();
    // Managers have read git's lines themselves, and pre-commit gives its hooks files, or the message.
    let sample = sample.map(|sample| sample.map(|sample| managed(sample, found)));
    if let Some(file) = file {
        // Who gives the input may leave the arguments to what git is known to give.
        let given = sample.ok().flatten().map(|sample| sample.args).unwrap_or_default();
        let json = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        return Ok(Input { stdin: Some(file), args: event.args.clone().unwrap_or(given), json });
    }
    let EventInput::Sample(own) = &event.input else { return Err("its file is not there".to_owned()) };
    let (text, args, json) = if let Some(sample) = sample? {
        if own != "{}" {
            return Err(format!("git sends {} no JSON: name a file under `stdin`", found.event()));
        }
        (sample.stdin, sample.args, None)
    } else if matches!(found.host(), Host::SessionReceiver | Host::Other) {
        (String::new(), Vec::new(), None)
    } else {
        let own: Value = serde_json::from_str(own).map_err(|error| format!("stdin: {error}"))?;
        let around = Around { project, sandbox: sandbox.root() };
        let json = agent_sample::sample(found, &own, &around);
        (json.to_string(), Vec::new(), Some(json))
    };
    let folder = sandbox.root().join(FOLDER);
    let path = folder.join(format!("{number}.txt"));
    let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, text));
    written.map_err(|error| format!("the event can't be written: {error}"))?;
    Ok(Input { stdin: Some(path), args: event.args.clone().unwrap_or(args), json })
}
