//! From a check's command to a file that can be executed.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::substitute::substitute;
use crate::model::{CheckCommand, Interpreter};
use crate::platform::{self, Through};

/// A command, ready to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub file: PathBuf,
    pub argv: Vec<String>,
}

/// Where a command is looked up.
#[derive(Debug, Clone, Copy)]
pub struct Lookup<'a> {
    /// The check's own `PATH`.
    pub path: Option<&'a OsStr>,
    pub cwd: &'a Path,
    pub project: &'a Path,
    pub sandbox: &'a Path,
    /// What was found on this `PATH` before; `None` if it is not the one that most checks have.
    pub known: Option<&'a Known>,
}

/// Programs by name, as a `PATH` of absolute folders has them. Only what was found is remembered: what is missing may
/// yet be installed by a setup.
#[derive(Debug, Default)]
pub struct Known(Mutex<HashMap<String, PathBuf>>);

impl Known {
    fn get(&self, name: &str) -> Option<PathBuf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    fn put(&self, name: &str, file: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), file.to_owned());
    }
}

impl Lookup<'_> {
    /// Finds the program of a command.
    ///
    /// # Errors
    ///
    /// A sentence that says what is missing and where it was looked for.
    pub fn find(&self, command: &CheckCommand) -> Result<Program, String> {
        match command {
            CheckCommand::Argv(argv) => {
                let argv: Vec<String> = argv.iter().map(|word| substitute(word, self.project, self.sandbox)).collect();
                let (file, argv) = self.find_argv(argv)?;
                self.check_script(&file, &argv)?;
                self.through(file, argv)
            }
            // A hook is looked up as what its host makes of it.
            CheckCommand::Hook(_) => Err("a hook is no program".to_owned()),
            CheckCommand::Shell { script, interpreter } => {
                let (name, options): (&str, &[&str]) = match interpreter {
                    Interpreter::Sh => ("sh", &["-c"]),
                    Interpreter::Bash => ("bash", &["-c"]),
                    Interpreter::Pwsh => ("pwsh", &["-NoProfile", "-NonInteractive", "-Command"]),
                    Interpreter::Powershell => ("powershell", &["-NoProfile", "-NonInteractive", "-Command"]),
                    Interpreter::Cmd => ("cmd", &["/d", "/s", "/c"]),
                };
                let file = self.find_name(name).ok_or_else(|| self.missing(name))?;
                let words = [name].into_iter().chain(options.iter().copied()).chain([script.as_str()]);
                Ok(Program { file, argv: words.map(str::to_owned).collect() })
            }
        }
    }

    /// The file that a program's name stands for.
    pub fn find_name(&self, name: &str) -> Option<PathBuf> {
        if let Some(file) = self.known.and_then(|known| known.get(name)) {
            return Some(file);
        }
        let file = platform::find_program(OsStr::new(name), self.path, self.cwd)?;
        if let Some(known) = self.known.filter(|_| Path::new(name).components().count() == 1) {
            known.put(name, &file);
        }
        Some(file)
    }

    /// Python by name: `python3`, else a `python` that is 3, else the launcher `py -3`.
    fn find_argv(&self, mut argv: Vec<String>) -> Result<(PathBuf, Vec<String>), String> {
        let name = argv.first().cloned().unwrap_or_default();
        if let Some(file) = self.find_name(&name) {
            return Ok((file, argv));
        }
        if name == "python3" {
            if let Some(file) = self.find_name("python").filter(|file| is_python3(file)) {
                return Ok((file, argv));
            }
            if let Some(file) = self.find_name("py") {
                argv.splice(..1, ["py".to_owned(), "-3".to_owned()]);
                return Ok((file, argv));
            }
        }
        Err(self.missing(&name))
    }

    /// A script that the system does not run by itself, by its interpreter.
    fn through(&self, file: PathBuf, argv: Vec<String>) -> Result<Program, String> {
        let interpreter = |name: &str| {
            let (file, words) = self.find_argv(vec![name.to_owned()]).ok()?;
            Some(Through { file, words })
        };
        Ok(match platform::run_through(&file, &interpreter)? {
            None => Program { file, argv },
            Some(Through { file: interpreter, words }) => {
                let script = file.to_string_lossy().into_owned();
                let argv = words.into_iter().chain([script]).chain(argv.into_iter().skip(1)).collect();
                Program { file: interpreter, argv }
            }
        })
    }

    fn missing(&self, name: &str) -> String {
        if name.contains('/') || name.contains('\\') {
            if self.cwd.join(name).is_dir() {
                return format!("{name} is a folder, not a program: looked in {}", self.cwd.display());
            }
            return format!("{name} is not there: looked in {}", self.cwd.display());
        }
        let path = self.path.map_or_else(|| "PATH is not set".to_owned(), |path| path.to_string_lossy().into_owned());
        let passed = platform::passed_over(OsStr::new(name), self.path, self.cwd);
        let passed = passed.map(|passed| format!("; {passed}")).unwrap_or_default();
        format!("the program {name} is not installed, or not on the check's PATH ({path}){passed}")
    }

    /// An interpreter that is given a script which is not there fails in a way that is easily taken for an answer:
    /// Python exits with 2, which a hook's host reads as a refusal.
    fn check_script(&self, file: &Path, argv: &[String]) -> Result<(), String> {
        let interpreter = file.file_name().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
        let interpreter = interpreter.strip_suffix(".exe").unwrap_or(&interpreter);
        let stem = interpreter.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        if !matches!(stem, "python" | "node" | "sh" | "bash" | "dash" | "zsh" | "ruby" | "perl") {
            return Ok(());
        }
        let Some(script) = argv.get(1).filter(|word| !word.starts_with('-') && !word.is_empty()) else { return Ok(()) };
        if self.cwd.join(script).exists() {
            return Ok(());
        }
        // node takes a module's name without its ending, and two subcommands.
        if stem == "node" && (script == "inspect" || self.cwd.join(format!("{script}.js")).exists()) {
            return Ok(());
        }
        Err(format!("the script {script} is not there: looked in {}", self.cwd.display()))
    }
}

/// Whether a `python` is one of version 3: by the name of what it leads to, by the library that lies beside it on Windows
/// (`python3.dll`, `python312.dll`), or by what its environment says.
fn is_python3(file: &Path) -> bool {
    let target = platform::real_path(file).unwrap_or_else(|_| file.to_owned());
    let named = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with("python3"));
    let beside = || target.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    target.file_name().is_some_and(named)
        || beside().any(|entry| named(&entry.file_name()) && entry.path().extension().is_some_and(|dll| dll == "dll"))
        || file.ancestors().skip(1).take(2).any(|folder| {
            let said = std::fs::read_to_string(folder.join("pyvenv.cfg")).unwrap_or_default();
            said.lines()
                .filter_map(|line| line.split_once('='))
                .any(|(key, value)| matches!(key.trim(), "version" | "version_info") && value.trim().starts_with("3."))
        })
}

/// Arguments as the system takes them.
pub fn os_strings(words: &[String]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_of_version_3_is_known_by_what_lies_around_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("a file");
        std::fs::create_dir(folder.path().join("Scripts")).expect("a folder");
        let [beside, below] = ["python.exe", "Scripts/python.exe"].map(|name| folder.path().join(name));
        write("python.exe", "");
        write("Scripts/python.exe", "");
        assert!(!is_python3(&beside) && !is_python3(&below), "nothing says so");
        write("pyvenv.cfg", "home = C:\\Python27\nversion = 2.7.18\n");
        assert!(!is_python3(&below));
        write("pyvenv.cfg", "home = C:\\Python311\nversion = 3.11.9\n");
        assert!(is_python3(&below));
        write("pyvenv.cfg", "");
        for library in ["python3.dll", "python312.dll"] {
            write(library, "");
            assert!(is_python3(&beside) && !is_python3(&below), "{library}");
            std::fs::remove_file(folder.path().join(library)).expect("removed");
        }
        write("python27.dll", "");
        assert!(!is_python3(&beside));
        assert!(is_python3(Path::new("/none/python3.12")));
    }
}
