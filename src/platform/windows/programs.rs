//! Finding a program, and what runs a file that is none.

use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::super::{Through, shebang};
use super::alias::{self, Alias};
use super::shells;
use crate::env;

/// What the system starts by itself, or by `cmd.exe`.
const STARTED: &[&str] = &["com", "exe", "bat", "cmd"];
/// The endings of those, in the order in which they are tried where `PATHEXT` does not say.
const USUAL: &str = ".COM;.EXE;.BAT;.CMD";

/// The file that a program's name stands for: as it is if it has a separator (relative to `cwd`), else looked up in
/// `path`. Each of the endings of `PATHEXT` that can be started is tried for a name that has none of them; a file of just
/// that name, as a script with a first line for its interpreter, comes last.
///
/// Shells are found where they are, though that be not on the path. An alias that only opens the Store, and a `bash` of
/// another system's (WSL), are passed over: [`passed_over`] tells of them.
#[must_use]
pub fn find_program(name: &OsStr, path: Option<&OsStr>, cwd: &Path) -> Option<PathBuf> {
    if name.is_empty() {
        return None;
    }
    if Path::new(name).components().count() > 1 || Path::new(name).is_absolute() {
        let file = cwd.join(name);
        return with_endings(&file)
            .into_iter()
            .find(|file| is_program(file))
            .or_else(|| Some(file).filter(|file| file.is_file()));
    }
    let files =
        || folders(path, cwd).map(|folder| folder.join(name)).filter(|file| !shells::is_of_another_system(file));
    files()
        .flat_map(|file| with_endings(&file))
        .find(|file| is_program(file))
        .or_else(|| files().find(|file| is_executable(file)))
        .or_else(|| shells::find(name.to_str()?, folders(path, cwd)))
}

/// What has a program's name on the path and was passed over, and why; for the end of a sentence.
#[must_use]
pub fn passed_over(name: &OsStr, path: Option<&OsStr>, cwd: &Path) -> Option<String> {
    folders(path, cwd).flat_map(|folder| with_endings(&folder.join(name))).find_map(|file| {
        let why = if alias::of(&file) == Some(Alias::OfStore) {
            "only opens the Microsoft Store"
        } else if file.is_file() && shells::is_of_another_system(&file) {
            "is that of the Windows Subsystem for Linux, another system"
        } else {
            return None;
        };
        Some(format!("{} {why}", file.display()))
    })
}

fn folders(path: Option<&OsStr>, cwd: &Path) -> impl Iterator<Item = PathBuf> {
    let folders: Vec<PathBuf> = path.map(|path| std::env::split_paths(path).collect()).unwrap_or_default();
    // An empty part of the path is no folder.
    folders.into_iter().filter(|folder| !folder.as_os_str().is_empty()).map(|folder| cwd.join(folder))
}

/// The files that a name without an ending may stand for; that of one with an ending that can be started is itself.
fn with_endings(file: &Path) -> Vec<PathBuf> {
    if has_ending(file, STARTED) {
        return vec![file.to_owned()];
    }
    let endings = env::text("PATHEXT").unwrap_or_else(|| USUAL.to_owned());
    endings_of(&endings)
        .map(|ending| {
            let mut file = file.as_os_str().to_owned();
            file.push(".");
            file.push(ending);
            PathBuf::from(file)
        })
        .collect()
}

/// Those of `PATHEXT` that can be started: others, as `.JS`, are for shells that look up what opens them.
fn endings_of(pathext: &str) -> impl Iterator<Item = String> {
    let known = |ending: &String| STARTED.contains(&ending.as_str());
    let mut endings: Vec<String> = pathext
        .split(';')
        .map(|ending| ending.trim().trim_start_matches('.').to_ascii_lowercase())
        .filter(known)
        .collect();
    if endings.is_empty() {
        endings = STARTED.iter().map(|&ending| ending.to_owned()).collect();
    }
    endings.into_iter()
}

fn has_ending(file: &Path, endings: &[&str]) -> bool {
    let ending = file.extension().and_then(OsStr::to_str).unwrap_or_default();
    endings.iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// Whether a file that has the ending of one is a program. An alias can't be asked as other files are.
fn is_program(file: &Path) -> bool {
    file.is_file() || alias::of(file) == Some(Alias::OfProgram)
}

/// Whether a plain file has the mark of a program: this system has none.
#[must_use]
pub fn is_marked_executable(_file: &Path) -> Option<bool> {
    None
}

/// Whether the file can be run, by the system or by what it names itself.
#[must_use]
pub fn is_executable(file: &Path) -> bool {
    (has_ending(file, STARTED) && is_program(file)) || has_ending(file, &["ps1"]) && file.is_file() || {
        let start = start(file);
        start.starts_with(b"MZ") || start.starts_with(b"#!")
    }
}

/// What has to run a file that the system can't start by itself; `None` for one that it can.
///
/// # Errors
///
/// Why nothing can.
pub fn run_through(file: &Path, find: &dyn Fn(&str) -> Option<Through>) -> Result<Option<Through>, String> {
    if has_ending(file, STARTED) {
        return Ok(None);
    }
    if has_ending(file, &["ps1"]) {
        let shell = ["pwsh", "powershell"].into_iter().find_map(find);
        let mut shell = shell
            .ok_or_else(|| format!("{} needs PowerShell, and neither pwsh nor powershell is there", file.display()))?;
        shell.words.extend(["-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File"].map(str::to_owned));
        return Ok(Some(shell));
    }
    let start = start(file);
    if start.starts_with(b"MZ") {
        return Ok(None);
    }
    let Some(words) = shebang(&String::from_utf8_lossy(&start)) else {
        return Err(format!(
            "{} is no program of this system (.exe, .com, .bat, .cmd, .ps1), and has no first line that names its \
             interpreter, as #!/bin/sh",
            file.display()
        ));
    };
    let (name, options) = words.split_first().ok_or_else(String::new)?;
    let mut interpreter =
        find(name).ok_or_else(|| format!("the first line of {} names {name}, which is not there", file.display()))?;
    interpreter.words.extend_from_slice(options);
    Ok(Some(interpreter))
}

/// How a file begins.
fn start(file: &Path) -> Vec<u8> {
    let mut start = Vec::new();
    // What can't be read has no beginning.
    let _ = fs::File::open(file).and_then(|file| file.take(256).read_to_end(&mut start));
    start
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these files, all with that text.
    fn folder(names: &[&str], text: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder");
        for name in names {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
            fs::write(file, text).expect("a file");
        }
        folder
    }

    /// What a name stands for, with these folders on the path, as it is seen from the first.
    fn found(name: &str, folders: &[&Path]) -> Option<String> {
        let path = std::env::join_paths(folders).expect("a path");
        let file = find_program(OsStr::new(name), Some(&path), folders[0])?;
        let below = folders.iter().find_map(|folder| file.strip_prefix(folder).ok());
        Some(below.unwrap_or(&file).to_string_lossy().replace('\\', "/"))
    }

    #[test]
    fn a_name_stands_for_what_the_system_can_start() {
        let first = folder(&["tool", "tool.txt", "page.js", "script"], "#!/bin/sh\n");
        let second = folder(&["tool.CMD", "tool.exe", "page.js", "words"], "text");
        let folders = [first.path(), second.path()];
        let found = |name| found(name, &folders).map(|name| name.to_lowercase());
        assert_eq!(found("tool").as_deref(), Some("tool.exe"), "before the script of that name");
        assert_eq!(found("tool.cmd").as_deref(), Some("tool.cmd"));
        assert_eq!(found("script").as_deref(), Some("script"), "its first line names what runs it");
        assert_eq!(found("page"), None, "nothing of ours opens it");
        assert_eq!(found("words"), None);
        assert_eq!(found("none"), None);
        assert_eq!(found(""), None);
        assert_eq!(found("./tool").as_deref(), Some("tool"), "of the folder itself");
        assert_eq!(found("./none"), None);
    }

    #[test]
    fn endings_are_those_of_the_environment_that_can_be_started() {
        assert_eq!(endings_of(".PY; .exe;BAT").collect::<Vec<_>>(), ["exe", "bat"]);
        assert_eq!(endings_of(".PY").collect::<Vec<_>>(), STARTED);
    }

    #[test]
    fn a_shell_is_of_this_system() {
        let other = folder(&["System32/bash.exe", "WindowsApps/bash.exe"], "MZ");
        let git = folder(&["cmd/git.exe", "bin/bash.exe", "bin/sh.exe"], "MZ");
        let folders = [other.path().join("System32"), other.path().join("WindowsApps"), git.path().join("cmd")];
        let folders: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
        for name in ["bash", "bash.exe", "sh"] {
            let stem = name.trim_end_matches(".exe");
            let shell = found(name, &folders).expect("a shell");
            assert!(shell.ends_with(&format!("bin/{stem}.exe")), "{shell}");
        }
        assert_eq!(found("bash", &folders[..2]), None, "unless Git is installed here");
        let path = std::env::join_paths(&folders).expect("a path");
        let why = passed_over(OsStr::new("bash"), Some(&path), other.path()).expect("a reason");
        assert!(why.contains("Linux") && why.contains("System32"), "{why}");
        assert_eq!(passed_over(OsStr::new("sh"), Some(&path), other.path()), None);
        assert!(found("cmd", &folders).is_some_and(|cmd| cmd.to_lowercase().ends_with("system32/cmd.exe")));
    }

    #[test]
    fn a_script_is_run_by_what_it_names() {
        let files = folder(&["a.exe", "b.cmd", "c.PS1"], "");
        let write = |name: &str, text: &str| fs::write(files.path().join(name), text).expect("a file");
        write("d", "#!/usr/bin/env -S python3 -u\r\nprint()\r\n");
        write("e.py", "print()\n");
        write("f", "#!/bin/zsh\n");
        write("g.scr", "MZ");
        let find = |name: &str| {
            let words = match name {
                "python3" => vec!["py".to_owned(), "-3".to_owned()],
                "powershell" => vec![name.to_owned()],
                _ => return None,
            };
            Some(Through { file: PathBuf::from(&words[0]), words })
        };
        let run = |name: &str| run_through(&files.path().join(name), &find).map(|by| by.map(|by| by.words.join(" ")));
        for name in ["a.exe", "b.cmd", "g.scr"] {
            assert_eq!(run(name), Ok(None), "{name}");
        }
        let powershell = "powershell -NoProfile -NonInteractive -ExecutionPolicy Bypass -File";
        assert_eq!(run("c.PS1"), Ok(Some(powershell.to_owned())));
        assert_eq!(run("d"), Ok(Some("py -3 -u".to_owned())));
        assert!(run("e.py").is_err_and(|why| why.contains("no first line")));
        assert!(run("f").is_err_and(|why| why.contains("zsh, which is not there")));
    }
}
