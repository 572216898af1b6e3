//! Whether a hook's own script ran: from what was seen of the call, and whether its scripts are there.
//!
//! A status alone shows nothing: Python and dash end with 2 when the script is not there, which a host takes for a
//! refusal, and a shell with 127 when the program is not, which it takes for an error to go on after.

use std::path::{Path, PathBuf};

use crate::model::{Exit, Named, Script, Shell, StartProof, WiredCommand};

/// What is known of a call.
#[derive(Debug)]
pub struct Evidence<'a> {
    pub command: &'a WiredCommand,
    /// Relative to it the scripts are.
    pub project: &'a Path,
    pub exit: Option<Exit>,
    pub stderr: &'a str,
    /// Whether it answered in JSON.
    pub answered: bool,
    /// The files that were read meanwhile; `None` where the system does not tell.
    pub read: Option<&'a [PathBuf]>,
}

/// What interpreters and shells say of a file that they can't run.
const NOT_THERE: &[&str] = &[
    "can't open file",
    "can't open",
    "cannot open",
    "No such file or directory",
    "Cannot find module",
    "command not found",
    "not found",
    "No module named",
    "Permission denied",
    "bad interpreter",
    "is not recognized as an internal or external command",
];

/// The files whose being read shows that a command's scripts ran, beside the scripts themselves: of a Python module also
/// what it was compiled to.
pub fn watched(command: &WiredCommand, project: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for script in scripts(command) {
        let file = project.join(&script.path);
        if script.named == Named::Module {
            files.extend(compiled(&file));
        }
        files.push(file);
    }
    files
}

fn compiled(file: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(stem)) = (file.parent(), file.file_stem()) else { return Vec::new() };
    let begins = format!("{}.", stem.to_string_lossy());
    let entries = folder.join("__pycache__").read_dir().into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&begins)).map(|entry| entry.path()).collect()
}

/// The scripts that the command is for.
fn scripts(command: &WiredCommand) -> impl Iterator<Item = &Script> {
    command.scripts.iter().filter(|script| script.named != Named::Argument)
}

/// Those without which it is not the hook: what nothing makes up for; else those that are there.
///
/// # Errors
///
/// The one that is missing.
fn needed<'c>(command: &'c WiredCommand, project: &Path) -> Result<Vec<&'c Script>, &'c Script> {
    let is_there = |script: &&Script| project.join(&script.path).exists();
    let mut needed: Vec<&Script> = scripts(command).filter(|script| !script.fallback).collect();
    if needed.is_empty() {
        needed = scripts(command).filter(is_there).collect();
    }
    match needed.iter().find(|script| !is_there(script)) {
        Some(missing) => Err(missing),
        None if needed.is_empty() => scripts(command).next().map_or(Ok(needed), Err),
        None => Ok(needed),
    }
}

/// What shows that it ran.
///
/// # Errors
///
/// Why nothing does, in words.
pub fn proof(evidence: &Evidence<'_>) -> Result<StartProof, String> {
    let Evidence { command, project, exit, stderr, answered, read } = *evidence;
    let by_shell = !matches!(command.shell, Shell::None | Shell::File);
    if by_shell && let Some(Exit::Code(code @ (126 | 127))) = exit {
        let what = if code == 127 { "found no such program" } else { "could not run it" };
        return Err(format!("did not start: its shell {what} (exit status {code}){}", last_line(stderr)));
    }
    let needed = needed(command, project).map_err(|missing| format!("did not start: {} is not there", missing.path))?;
    let names: Vec<&str> = needed.iter().map(|script| base(&script.path)).collect();
    let says = |line: &&str| match &names[..] {
        [] => is_of_an_interpreter(line),
        names => NOT_THERE.iter().any(|words| line.contains(words)) && names.iter().any(|name| line.contains(name)),
    };
    // What a shell prints where the script is not started is none of its answers.
    if answered && (names.is_empty() || read != Some(&[])) {
        return Ok(StartProof::Answered);
    }
    if let Some(line) = stderr.lines().find(says) {
        return Err(format!("did not start: {}", line.trim()));
    }
    if names.is_empty() {
        return match &command.untold {
            Some(why) => Err(format!("nothing shows that it ran: which script it runs can't be told, since {why}")),
            None => Ok(StartProof::Command),
        };
    }
    match read {
        Some([]) => Err(format!("did not start: nobody read {} while it ran", names.join(" or "))),
        Some(_) => Ok(StartProof::Read),
        None => {
            let unreadable = needed.iter().find(|script| std::fs::File::open(project.join(&script.path)).is_err());
            unreadable
                .map_or(Ok(StartProof::Presumed), |script| Err(format!("did not start: {} can't be read", script.path)))
        }
    }
}

/// Whether that is what an interpreter or a shell says, and hardly a hook, of something that it can't run.
fn is_of_an_interpreter(line: &str) -> bool {
    let of_shell = ["sh: ", "/bin/sh: ", "bash: ", "/bin/bash: ", "dash: "].iter().any(|name| line.starts_with(name));
    ["can't open file", "Cannot find module", "No module named"].iter().any(|words| line.contains(words))
        || (of_shell && ["not found", "No such file or directory"].iter().any(|words| line.ends_with(words)))
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The last line that it wrote to stderr, as the end of a sentence.
pub fn last_line(stderr: &str) -> String {
    let line = stderr.lines().rev().find(|line| !line.trim().is_empty());
    line.map(|line| format!(": {}", line.trim())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::On;

    fn command(scripts: &[&str], shell: Shell, untold: Option<&str>) -> WiredCommand {
        let script = |path: &&str| Script {
            path: (*path).to_owned(),
            named: Named::Script,
            by: Some("python3".to_owned()),
            fallback: false,
            exists: true,
        };
        WiredCommand {
            command: String::new(),
            argv: None,
            shell,
            on: On::Anywhere,
            cwd: None,
            scripts: scripts.iter().map(script).collect(),
            untold: untold.map(str::to_owned),
        }
    }

    #[test]
    fn a_status_alone_shows_nothing() {
        let project = tempfile::tempdir().expect("a folder");
        std::fs::write(project.path().join("a.py"), "x").expect("a script");
        let read = vec![project.path().join("a.py")];
        let told = |scripts: &[&str], code: i32, stderr: &str, answered: bool, read: Option<&[PathBuf]>| {
            let command = command(scripts, Shell::Bash, None);
            let exit = Some(Exit::Code(code));
            proof(&Evidence { command: &command, project: project.path(), exit, stderr, answered, read }).ok()
        };
        assert_eq!(told(&["a.py"], 2, "", false, Some(&read)), Some(StartProof::Read));
        assert_eq!(told(&["a.py"], 2, "", false, Some(&[])), None);
        assert_eq!(told(&["a.py"], 2, "", false, None), Some(StartProof::Presumed));
        assert_eq!(told(&["gone.py"], 2, "", true, Some(&read)), None);
        assert_eq!(told(&["a.py"], 0, "", true, Some(&[])), None);
        assert_eq!(told(&["a.py"], 2, "python3: can't open file 'a.py': [Errno 13]", false, None), None);
        assert_eq!(told(&["a.py"], 2, "guard: b.py not found", false, None), Some(StartProof::Presumed));
        assert_eq!(told(&["a.py"], 127, "sh: python3: not found", false, Some(&read)), None);
        assert_eq!(told(&[], 2, "", false, Some(&[])), Some(StartProof::Command));
        assert_eq!(told(&[], 2, "python3: can't open file '/h/x.py'", false, Some(&[])), None);
        assert_eq!(told(&[], 0, "", true, None), Some(StartProof::Answered));
        let unknown = command(&[], Shell::Bash, Some("what $X is, is not known"));
        let exit = Some(Exit::Code(2));
        let evidence =
            Evidence { command: &unknown, project: project.path(), exit, stderr: "", answered: false, read: None };
        assert!(proof(&evidence).is_err_and(|why| why.contains("$X")));
    }
}
