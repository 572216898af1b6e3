//! Git's objects and refs, written and read without a work tree or an index.
//!
//! What a ref leads to may come from anybody: every list and every object is read up to a limit.

use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Output, Stdio};
use std::thread;

use super::{Refusal, ask, command, words};

/// How many bytes git may take to list one entry of a tree: a name that is longer is none of ours.
const ENTRY: u64 = 1024;

/// An entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// As git has it: `100644`, `040000`.
    pub mode: String,
    /// Names its content.
    pub object: String,
    /// In bytes; `None` if it is no blob, or the blob is not there.
    pub size: Option<u64>,
    /// The path in the whole tree, with `/`.
    pub name: Vec<u8>,
}

/// The refs that have this name or are below it, and the object that each names.
///
/// # Errors
///
/// If git can't tell, or one of them is broken: a sentence, with git's own words.
pub fn refs(project: &Path, name: &str) -> Result<Vec<(String, String)>, String> {
    let mut git = command(project, |_| false);
    git.args(["for-each-ref", "--format=%(objectname) %(refname)", name]);
    let output = git.output().map_err(|error| Refusal::NotRun(error).sentence())?;
    let said = words(&output);
    // A broken one is left out, and git says so and succeeds.
    if !output.status.success() || said.contains("ignoring ") {
        return Err(Refusal::Said(said).sentence());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    Ok(pairs.map(|(object, name)| (name.to_owned(), object.to_owned())).collect())
}

/// What a tree, or the tree of a commit, has at its top; or, if any are named, what each of those folders has at its.
///
/// # Errors
///
/// If they are more than `most`, or git can't tell: a sentence.
pub fn entries(project: &Path, tree: &str, folders: &[String], most: usize) -> Result<Vec<Entry>, String> {
    let mut git = command(project, |_| false);
    git.args(["ls-tree", "--full-tree", "-l", "-z", tree]);
    git.args(folders.iter().map(|folder| format!("{folder}/")));
    let mut child =
        git.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| Refusal::NotRun(error).sentence())?;
    let mut listed = Vec::new();
    let limit = (most as u64).saturating_mul(ENTRY);
    let stdout = child.stdout.take().map_or(Ok(0), |stdout| stdout.take(limit + 1).read_to_end(&mut listed));
    let entries: Vec<Entry> = listed.split(|&byte| byte == 0).filter_map(entry).collect();
    if listed.len() as u64 > limit || entries.len() > most {
        end(child);
        return Err(format!("it has more than {most} entries"));
    }
    finished(child, stdout.map(|_| ()))?;
    Ok(entries)
}

/// One entry of `ls-tree -l -z`: mode, type, object and size, a tab, and the path.
fn entry(line: &[u8]) -> Option<Entry> {
    let tab = line.iter().position(|&byte| byte == b'\t')?;
    let mut facts = str::from_utf8(&line[..tab]).ok()?.split_whitespace();
    let (mode, _, object) = (facts.next()?.to_owned(), facts.next()?, facts.next()?.to_owned());
    Some(Entry { mode, object, size: facts.next()?.parse().ok(), name: line[tab + 1..].to_vec() })
}

/// The contents of blobs, each given to `each` with its place in the list; `None` for one that is not there.
///
/// # Errors
///
/// If git can't read one that is there, or one is larger than `most` bytes: a sentence.
pub fn blobs(
    project: &Path,
    objects: &[String],
    most: u64,
    mut each: impl FnMut(usize, Option<Vec<u8>>),
) -> Result<(), String> {
    if objects.is_empty() {
        return Ok(());
    }
    let mut child = command(project, |_| false)
        .args(["cat-file", "--batch"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Refusal::NotRun(error).sentence())?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let asked = objects.join("\n") + "\n";
    // It answers while it is asked. Should it end early, its words say why.
    let asking = thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(asked.as_bytes())));
    let mut stdout = stdout.map(BufReader::new);
    let mut read = Ok(());
    for index in 0..objects.len() {
        match stdout.as_mut().map(|stdout| blob(stdout, most)) {
            Some(Ok(content)) => each(index, content),
            Some(Err(error)) => read = Err(error),
            None => {}
        }
        if read.is_err() {
            break;
        }
    }
    drop(stdout);
    let finished = finished(child, read).map(|_| ());
    // What it could not be asked it has not answered, which was seen.
    let _ = asking.join();
    finished
}

/// The answer to one question: a line with object, type and size, the content, and a line end.
fn blob(answers: &mut BufReader<ChildStdout>, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut head = Vec::new();
    answers.by_ref().take(ENTRY).read_until(b'\n', &mut head)?;
    let head = String::from_utf8_lossy(&head).into_owned();
    let words: Vec<&str> = head.split_whitespace().collect();
    match words[..] {
        [_, "missing"] => Ok(None),
        [_, "blob", size] => {
            let size: u64 = size.parse().map_err(io::Error::other)?;
            if size > most {
                return Err(io::Error::other(format!("an object is larger than {most} bytes")));
            }
            let mut content = Vec::new();
            answers.by_ref().take(size + 1).read_to_end(&mut content)?;
            // The line end.
            if content.pop().is_none() || content.len() as u64 != size {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(Some(content))
        }
        [] => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Err(io::Error::other(format!("what was said to be a blob is not: {}", head.trim()))),
    }
}

/// Keeps bytes as a blob, and names it.
///
/// # Errors
///
/// What git says, in a sentence.
pub fn write_blob(project: &Path, bytes: &[u8]) -> Result<String, String> {
    fed(project, &["hash-object", "-w", "--stdin"], bytes)
}

/// Keeps trees of one level each, and names them in their order.
///
/// # Errors
///
/// What git says, in a sentence.
pub fn write_trees(project: &Path, trees: &[Vec<Entry>]) -> Result<Vec<String>, String> {
    let mut input = Vec::new();
    for tree in trees {
        for Entry { mode, object, name, .. } in tree {
            let kind = if mode == FOLDER { "tree" } else { "blob" };
            input.extend_from_slice(format!("{mode} {kind} {object}\t").as_bytes());
            input.extend_from_slice(name);
            input.push(0);
        }
        input.push(0);
    }
    let names = fed(project, &["mktree", "-z", "--batch"], &input)?;
    Ok(names.lines().map(str::to_owned).collect())
}

/// The mode of a folder in a tree.
pub const FOLDER: &str = "040000";
/// The mode of a plain file in a tree.
pub const FILE: &str = "100644";

/// Keeps a commit, and names it. It is by whoever git takes the user for, or else by hostproof.
///
/// # Errors
///
/// What git says, in a sentence.
pub fn write_commit(project: &Path, tree: &str, parent: Option<&str>, message: &str) -> Result<String, String> {
    let known =
        ask(project, &["var", "GIT_AUTHOR_IDENT"]).is_ok() && ask(project, &["var", "GIT_COMMITTER_IDENT"]).is_ok();
    let own: &[&str] =
        if known { &[] } else { &["-c", "user.name=hostproof", "-c", "user.email=hostproof@localhost.invalid"] };
    let parent: Vec<&str> = parent.map_or(Vec::new(), |parent| vec!["-p", parent]);
    fed(project, &[own, &["commit-tree", "-F", "-"], &parent, &[tree]].concat(), message.as_bytes())
}

/// Lets a ref name another object, if it still names the `old` one; `None` if there must be no such ref.
///
/// # Errors
///
/// If it does not, or another process is at it, or git can't: a sentence, with git's own words.
pub fn move_ref(project: &Path, name: &str, new: &str, old: Option<&str>) -> Result<(), String> {
    ask(project, &["update-ref", "--no-deref", "-m", "hostproof receipt", name, new, old.unwrap_or_default()])
        .map(|_| ())
        .map_err(|refusal| refusal.sentence())
}

/// Takes a ref away, if there is one.
///
/// # Errors
///
/// What git says, in a sentence.
pub fn remove_ref(project: &Path, name: &str) -> Result<(), String> {
    ask(project, &["update-ref", "--no-deref", "-d", name]).map(|_| ()).map_err(|refusal| refusal.sentence())
}

/// What git prints when it is given some input, without the line end.
fn fed(project: &Path, arguments: &[impl AsRef<OsStr>], input: &[u8]) -> Result<String, String> {
    let mut child = command(project, |_| false)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| Refusal::NotRun(error).sentence())?;
    let stdin = child.stdin.take();
    thread::scope(|scope| {
        // Should it end early, its words say why.
        scope.spawn(move || stdin.map(|mut stdin| stdin.write_all(input)));
        let output = finished(child, Ok(()))?;
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    })
}

/// Waits for git's end. `read` is what came of reading its output.
fn finished(child: Child, read: io::Result<()>) -> Result<Output, String> {
    let output = child.wait_with_output().map_err(|error| Refusal::NotRun(error).sentence())?;
    let said = words(&output);
    match read {
        Err(error) if output.status.success() || said.is_empty() => Err(format!("git's answer can't be read: {error}")),
        _ if output.status.success() => Ok(output),
        _ if said.is_empty() => Err(format!("git ended with {}", output.status)),
        _ => Err(Refusal::Said(said).sentence()),
    }
}

/// Ends a git that has said enough.
fn end(mut child: Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}
