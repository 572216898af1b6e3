//! Lines of a repository's files, searched by git itself.

use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use super::command;

/// No more is read of what was found, in bytes.
const MOST: u64 = 1 << 20;

/// What follows a word in the lines of text files, whatever its case: up to two hundred bytes of each line. Of a commit, or
/// of any tree that git knows by that name; else of the files that git tracks or would track. Nothing where there is no git.
#[must_use]
pub fn behind(project: &Path, word: &str, revision: Option<&str>) -> Vec<String> {
    let expression = format!("{word}.{{1,200}}");
    let mut git = command(project, |_| false);
    git.args(["grep", "-h", "-I", "-i", "-o", "-E", "--no-color", "--no-line-number", "--no-column"])
        .args(["--no-textconv", "--no-recurse-submodules"]);
    git.args(revision.is_none().then_some("--untracked")).args(["-e", &expression]);
    let child = git.args(revision).args(["--", "."]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return Vec::new() };
    let mut bytes = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        // What was read until then is what is known.
        let _ = stdout.take(MOST).read_to_end(&mut bytes);
    }
    // It has ended, or has more to say than anybody reads.
    let _ = (child.kill(), child.wait());
    let text = String::from_utf8_lossy(&bytes);
    text.lines().filter_map(|line| line.get(word.len()..)).map(str::to_owned).collect()
}
