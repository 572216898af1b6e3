//! What git gives its hooks: arguments, and lines on stdin, by githooks(5).

use std::fs;
use std::path::Path;

use crate::run::sandbox::Sandbox;
use crate::source;

/// Arguments and input.
#[derive(Debug, Default)]
pub struct GitSample {
    pub args: Vec<String>,
    pub stdin: String,
}

/// The name of an object that is none: what git says of a branch that is not there yet.
const NONE: &str = "0000000000000000000000000000000000000000";
const REF: &str = "refs/heads/main";

/// What git gives a hook, in a project that is its repository: names of commits are that of the one that is checked out.
///
/// # Errors
///
/// For a hook that speaks with git, and one whose sample can't be written.
pub fn sample(event: &str, project: &Path, sandbox: &Sandbox) -> Result<GitSample, String> {
    let state = source::state(project);
    let head = state.and_then(|state| state.commit).unwrap_or_else(|| NONE.to_owned());
    let file = |name: &str, text: &str| {
        let path = sandbox.tmp().join(name);
        let written = fs::write(&path, text);
        written.map(|()| path.to_string_lossy().into_owned()).map_err(|error| format!("{name}: {error}"))
    };
    let message = || file("COMMIT_EDITMSG", "A sample message\n");
    let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let (args, stdin) = match event {
        "applypatch-msg" | "commit-msg" => (vec![message()?], String::new()),
        "prepare-commit-msg" => (vec![message()?, "message".to_owned()], String::new()),
        "pre-rebase" => (words(&["origin/main"]), String::new()),
        "post-checkout" => (words(&[&head, &head, "1"]), String::new()),
        "post-merge" => (words(&["0"]), String::new()),
        "pre-push" => {
            (words(&["origin", "https://example.invalid/project.git"]), format!("{REF} {head} {REF} {NONE}\n"))
        }
        "pre-receive" | "post-receive" => (Vec::new(), format!("{NONE} {head} {REF}\n")),
        "update" => (words(&[REF, NONE, &head]), String::new()),
        "post-update" => (words(&[REF]), String::new()),
        "reference-transaction" => (words(&["prepared"]), format!("{NONE} {head} {REF}\n")),
        "push-to-checkout" => (words(&[&head]), String::new()),
        "post-rewrite" => (words(&["amend"]), format!("{head} {head}\n")),
        "sendemail-validate" => {
            let patch = "From: a@example.invalid\nSubject: [PATCH] A sample\n\n---\n";
            (vec![file("0001-a-sample.patch", patch)?], String::new())
        }
        "fsmonitor-watchman" => (words(&["2", "0"]), String::new()),
        "post-index-change" => (words(&["1", "0"]), String::new()),
        "proc-receive" => {
            return Err("git and proc-receive answer each other: give it a file under `stdin`".to_owned());
        }
        _ => (Vec::new(), String::new()),
    };
    Ok(GitSample { args, stdin })
}
