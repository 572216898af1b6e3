//! Facts about the project from git, through its command line.

mod history;
mod identity;
pub mod objects;
pub mod remote;
mod unlike;

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::{fs, thread};

use crate::model::SourceState;
use crate::{env, platform};

pub use history::{default_branch, is_shallow, meeting, remotes};
pub use identity::{Identity, identity, same_address};
pub use unlike::{Unlike, Unlikeness, Work, work};

/// The project's state now. `None` where there is no repository, or no git.
#[must_use]
pub fn state(project: &Path) -> Option<SourceState> {
    let status = git(project, &["status", "--porcelain", "--untracked-files=normal", "-z"])?;
    let line = |arguments: &[&str]| {
        git(project, arguments).and_then(|bytes| String::from_utf8(bytes).ok()).map(|text| text.trim().to_owned())
    };
    Some(SourceState {
        commit: line(&["rev-parse", "--verify", "--quiet", "HEAD"]),
        tree: line(&["rev-parse", "--verify", "--quiet", "HEAD^{tree}"]),
        dirty: !status.is_empty(),
    })
}

/// The top of the repository that the folder is in.
#[must_use]
pub fn top(folder: &Path) -> Option<PathBuf> {
    path(folder, &["rev-parse", "--show-toplevel"])
}

/// The folder that git takes its hooks from, `core.hooksPath` included.
#[must_use]
pub fn hooks_folder(project: &Path) -> Option<PathBuf> {
    path(project, &["rev-parse", "--git-path", "hooks"]).map(|folder| project.join(folder))
}

/// The path that a git command prints.
fn path(folder: &Path, arguments: &[&str]) -> Option<PathBuf> {
    let printed = git(folder, arguments)?;
    let line = printed.strip_suffix(b"\n").unwrap_or(&printed);
    (!line.is_empty()).then(|| platform::path_of(line))
}

/// The files that git tracks in the project, and those that it neither tracks nor ignores; relative to the project.
/// `None` where there is no repository, or no git.
#[must_use]
pub fn files(project: &Path) -> Option<Vec<PathBuf>> {
    listed(project).ok()
}

/// The same, or why there is no list. What is not merged yet has several versions, and is one file all the same.
///
/// # Errors
///
/// A sentence, with git's own words.
pub fn listed(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let bytes = ask(folder, &["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .map_err(|refusal| refusal.sentence())?;
    let mut seen = BTreeSet::new();
    let names = bytes.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Ok(names.filter(|name| seen.insert(*name)).map(platform::path_of).collect())
}

/// A file in a commit's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeFile {
    /// Relative to the project, with `/`.
    pub path: PathBuf,
    /// The same, as git has it on every system.
    pub name: Vec<u8>,
    pub kind: TreeKind,
    /// Names its content.
    pub object: String,
    /// In bytes; `None` for a submodule.
    pub size: Option<u64>,
}

/// What git keeps of a file's mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeKind {
    File,
    Executable,
    /// A symbolic link, whose content is where it leads.
    Link,
    /// Another repository.
    Submodule,
}

/// The files below the project in a commit, or in any tree that git knows by that name.
///
/// # Errors
///
/// If git knows no such name, or can't tell: a sentence, with git's own words.
pub fn tree(project: &Path, revision: &str) -> Result<Vec<TreeFile>, String> {
    // The whole tree's name, and of it what is below the folder.
    let tree = tree_of(project, revision)?;
    let bytes = ask(project, &["ls-tree", "-r", "-l", "-z", &tree]).map_err(|refusal| refusal.sentence())?;
    Ok(bytes.split(|&byte| byte == 0).filter_map(tree_file).collect())
}

/// The name of a commit's tree, that of the whole repository.
///
/// # Errors
///
/// If git knows no such commit.
pub fn tree_of(project: &Path, revision: &str) -> Result<String, String> {
    object(project, revision, "tree")
}

/// The whole name of a commit.
///
/// # Errors
///
/// If git knows no such commit.
pub fn commit(project: &Path, revision: &str) -> Result<String, String> {
    object(project, revision, "commit")
}

fn object(project: &Path, revision: &str, kind: &str) -> Result<String, String> {
    let named = format!("{revision}^{{{kind}}}");
    // Never an option, whatever it begins with.
    ask(project, &["rev-parse", "--verify", "--quiet", "--end-of-options", &named])
        .map(|printed| String::from_utf8_lossy(&printed).trim().to_owned())
        .map_err(|_| format!("git knows no commit called {revision}"))
}

/// Makes a repository of a commit in a new folder, checked out there. It takes its objects from the original, which is not
/// written to, and runs no hooks.
///
/// # Errors
///
/// What git says, in a sentence.
pub fn check_out(top: &Path, commit: &str, folder: &Path) -> Result<(), String> {
    const NO_HOOKS: [&str; 2] = ["-c", "core.hooksPath=/dev/null"];
    let [option, hooks] = NO_HOOKS.map(OsStr::new);
    let cloning = ["clone", "--quiet", "--shared", "--no-checkout"].map(OsStr::new);
    let clone = [&[option, hooks], &cloning[..], &[top.as_os_str(), folder.as_os_str()]].concat();
    let switch = [&[option, hooks], &["checkout", "--quiet", "--detach", commit].map(OsStr::new)[..]].concat();
    for (place, arguments) in [(top, clone), (folder, switch)] {
        let output = output(place, &arguments).map_err(|error| Refusal::NotRun(error).sentence())?;
        if !output.status.success() {
            return Err(Refusal::Said(words(&output)).sentence());
        }
    }
    Ok(())
}

/// One entry of `ls-tree -l`: mode, type, object and size, a tab, and the path.
fn tree_file(line: &[u8]) -> Option<TreeFile> {
    let tab = line.iter().position(|&byte| byte == b'\t')?;
    let facts = str::from_utf8(&line[..tab]).ok()?;
    let mut facts = facts.split_whitespace();
    let kind = match facts.next()? {
        "100755" => TreeKind::Executable,
        "120000" => TreeKind::Link,
        "160000" => TreeKind::Submodule,
        _ => TreeKind::File,
    };
    let object = facts.nth(1)?.to_owned();
    let size = facts.next()?.parse().ok();
    let name = line[tab + 1..].to_vec();
    Some(TreeFile { path: platform::path_of(&name), name, kind, object, size })
}

/// The content of a file in a tree, as git keeps it.
///
/// # Errors
///
/// What git says, in a sentence.
pub fn content(project: &Path, object: &str) -> Result<Vec<u8>, String> {
    ask(project, &["cat-file", "blob", object]).map_err(|refusal| refusal.sentence())
}

/// A value of git's configuration, and where it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// `local`, `worktree`, `global`, `system` or `command`.
    pub scope: String,
    /// The file, as git names it: relative ones to the top of the repository.
    pub file: Option<PathBuf>,
    pub key: String,
    pub value: String,
}

/// The values of git's configuration whose keys match the expression, in the order in which git takes them. None where
/// there is no git, or no such value.
#[must_use]
pub fn settings(project: &Path, expression: &str) -> Vec<Setting> {
    let arguments = ["config", "--null", "--show-scope", "--show-origin", "--get-regexp", expression];
    let bytes = git(project, &arguments).unwrap_or_default();
    let parts: Vec<&[u8]> = bytes.split(|&byte| byte == 0).collect();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (entries, _) = parts.as_chunks::<3>();
    let setting = |[scope, origin, pair]: &[&[u8]; 3]| {
        // A key without a value is true.
        let end = pair.iter().position(|&byte| byte == b'\n');
        Setting {
            scope: text(scope),
            file: origin.strip_prefix(b"file:").map(platform::path_of),
            key: text(&pair[..end.unwrap_or(pair.len())]),
            value: end.map_or_else(|| "true".to_owned(), |end| text(&pair[end + 1..])),
        }
    };
    entries.iter().map(setting).collect()
}

/// A value of git's configuration: the one that counts. With `is_path`, `~` is what git takes it for.
#[must_use]
pub fn value(project: &Path, key: &str, is_path: bool) -> Option<String> {
    let kind = if is_path { "--type=path" } else { "--no-type" };
    let bytes = git(project, &["config", "--null", kind, "--get", key])?;
    let text = String::from_utf8(bytes.strip_suffix(b"\0").unwrap_or(&bytes).to_vec()).ok()?;
    (!text.is_empty()).then_some(text)
}

/// The files that git tracks in the project, relative to it; `None` if it is in no repository, or has no git.
///
/// # Errors
///
/// If there is one and git can't or won't tell of it: a sentence, with git's own words.
pub fn tracked(project: &Path) -> Result<Option<Vec<PathBuf>>, String> {
    match ask(project, &["ls-files", "--cached", "-z"]) {
        Ok(bytes) => {
            // What is not merged yet is there once for each version.
            let names: BTreeSet<&[u8]> = bytes.split(|&byte| byte == 0).filter(|name| !name.is_empty()).collect();
            Ok(Some(names.into_iter().map(platform::path_of).collect()))
        }
        Err(refusal) if is_in_none(&refusal, project) => Ok(None),
        Err(refusal) => Err(refusal.sentence()),
    }
}

/// Whether git tracks a file. `false` where there is no repository, or no git.
#[must_use]
pub fn is_tracked(file: &Path) -> bool {
    let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else { return false };
    let arguments = ["--literal-pathspecs", "ls-files", "--error-unmatch", "-z", "--"].map(OsStr::new);
    output(folder, &[&arguments[..], &[name]].concat()).is_ok_and(|output| output.status.success())
}

/// Those of these paths that git ignores; `None` where there is no repository, or no git. What is tracked is not ignored.
#[must_use]
pub fn ignored(project: &Path, paths: &[PathBuf]) -> Option<HashSet<PathBuf>> {
    let mut asked = command(project, |_| false);
    asked.args(["check-ignore", "-z", "--stdin"]);
    let mut child = asked.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut stdin = child.stdin.take()?;
    let output = thread::scope(|scope| {
        // It answers while it is asked.
        scope.spawn(move || {
            for path in paths {
                // Who does not read it all says why by its status.
                let written = stdin.write_all(path.as_os_str().as_encoded_bytes());
                if written.and_then(|()| stdin.write_all(b"\0")).is_err() {
                    break;
                }
            }
        });
        child.wait_with_output()
    });
    let output = output.ok()?;
    // 1: none of them is.
    let answered = matches!(output.status.code(), Some(0 | 1));
    let names = output.stdout.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    answered.then(|| names.map(platform::path_of).collect())
}

/// The files of the project that are not as git's index has them, and those that it neither has nor ignores.
#[must_use]
pub fn unlike(project: &Path) -> Option<HashSet<PathBuf>> {
    let bytes = git(project, &["ls-files", "--modified", "--others", "--exclude-standard", "-z"])?;
    let names = bytes.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Some(names.map(|name| project.join(platform::path_of(name))).collect())
}

/// The folders of the project in which git ignores everything, and the files that it ignores beside what it does not.
#[must_use]
pub fn ignored_places(project: &Path) -> Option<HashSet<PathBuf>> {
    let listing = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
    let bytes = git(project, &listing)?;
    let names = bytes.split(|&byte| byte == 0).filter(|name| !name.is_empty());
    Some(names.map(|name| project.join(platform::path_of(name.strip_suffix(b"/").unwrap_or(name)))).collect())
}

/// Whether git, or its absence, says that a folder is in no repository.
fn is_in_none(refusal: &Refusal, folder: &Path) -> bool {
    match refusal {
        Refusal::NotRun(error) => error.kind() == ErrorKind::NotFound && !folder.ancestors().any(has_git),
        // It looked everywhere above, too.
        Refusal::Said(words) => words.contains("not a git repository (or any") && !has_git(folder),
    }
}

fn has_git(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(".git")).is_ok()
}

/// The repository that a folder is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    pub top: PathBuf,
    /// The folder, relative to the top.
    pub prefix: PathBuf,
}

/// The repository that the project is in; `None` if it is in none.
///
/// # Errors
///
/// If there is one and git can't or won't tell of it: a sentence, with git's own words.
pub fn repository(project: &Path) -> Result<Option<Repository>, String> {
    let line = |bytes: &[u8]| platform::path_of(bytes.strip_suffix(b"\n").unwrap_or(bytes));
    match ask(project, &["rev-parse", "--show-toplevel"]) {
        Ok(top) => {
            let prefix = ask(project, &["rev-parse", "--show-prefix"]).map_err(|refusal| refusal.sentence())?;
            Ok(Some(Repository { top: line(&top), prefix: line(&prefix) }))
        }
        Err(refusal) if is_in_none(&refusal, project) => Ok(None),
        Err(Refusal::NotRun(error)) if error.kind() == ErrorKind::NotFound => {
            Err("the project has a .git, and git is not installed, or not on PATH".to_owned())
        }
        Err(refusal) => Err(refusal.sentence()),
    }
}

/// Takes out of a copied repository's configuration what binds it to the place of the original.
///
/// # Errors
///
/// If git can't do it.
pub fn stand_alone(git_folder: &Path, was_linked: bool) -> io::Result<()> {
    // The status of git when there was nothing to unset.
    const NOT_SET: i32 = 5;
    // From outside, since git first goes where the configuration says.
    let outside = git_folder.ancestors().last().unwrap_or(git_folder);
    let change = |file: &str, arguments: &[&str]| {
        let file = git_folder.join(file);
        let mut all = [&["config", "--file"], arguments].concat().into_iter().map(OsStr::new).collect::<Vec<_>>();
        all.insert(2, file.as_os_str());
        let output = match output(outside, &all) {
            Ok(output) => output,
            // Then nobody reads it, either: a container has not what it was copied from.
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        };
        if output.status.success() || output.status.code() == Some(NOT_SET) {
            return Ok(());
        }
        Err(io::Error::other(Refusal::Said(words(&output)).sentence()))
    };
    for file in ["config", "config.worktree"] {
        let text = fs::read(git_folder.join(file)).unwrap_or_default();
        if String::from_utf8_lossy(&text).to_ascii_lowercase().contains("worktree") {
            change(file, &["--unset-all", "core.worktree"])?;
        }
    }
    // Worktrees may be linked to a repository that has none of its own.
    if was_linked { change("config", &["core.bare", "false"]) } else { Ok(()) }
}

/// Why git did not answer.
#[derive(Debug)]
enum Refusal {
    NotRun(io::Error),
    /// Its own words.
    Said(String),
}

impl Refusal {
    fn sentence(&self) -> String {
        match self {
            Self::NotRun(error) => format!("git cannot be run: {error}"),
            Self::Said(words) => format!("git says: {words}"),
        }
    }
}

/// What a git command prints; `None` if it fails.
fn git(project: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    ask(project, arguments).ok()
}

fn ask(folder: &Path, arguments: &[&str]) -> Result<Vec<u8>, Refusal> {
    let output = output(folder, arguments).map_err(Refusal::NotRun)?;
    if output.status.success() { Ok(output.stdout) } else { Err(Refusal::Said(words(&output))) }
}

/// What git said against it, in one line.
fn words(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.strip_prefix("fatal: ").unwrap_or(&text).to_owned()
}

/// Runs git.
fn output(folder: &Path, arguments: &[impl AsRef<OsStr>]) -> io::Result<Output> {
    command(folder, |_| false).args(arguments).output()
}

/// Git in a folder, without input. Variables of a git that hostproof runs under (as its hook) are gone, so that the folder
/// is meant, but for those to `keep`; nothing is locked or refreshed. Its words are looked into, and must be the ones that
/// are known.
fn command(folder: &Path, keep: impl Fn(&str) -> bool) -> Command {
    let mut command = Command::new("git");
    for (name, _) in env::all() {
        let text = name.to_string_lossy();
        if text.starts_with("GIT_") && !keep(&text) {
            command.env_remove(&name);
        }
    }
    command
        .env("LC_ALL", "C")
        .arg("--no-optional-locks")
        .arg("-C")
        .arg(folder)
        .args(["-c", "core.fsmonitor=false"])
        .stdin(Stdio::null());
    command
}
