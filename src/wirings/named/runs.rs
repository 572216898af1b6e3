//! What programs do with their words: which files they run.

use std::path::Path;

use super::super::paths::{base, folder, join};
use super::super::programs::{FROM_FILE, Interpreter, READERS, RUNNERS, WRAPPERS, interpreter};
use super::super::shell::Flavour;
use super::reader::{Arg, HERE, HOME, Place, Reader};
use crate::model::{Named, Script};

impl Reader<'_> {
    /// Looks at one command. `fallback`: whether it may fail without harm.
    pub(super) fn run(&mut self, words: &[Arg], fallback: bool, nesting: usize) {
        let Some((program, rest)) = words.split_first() else { return };
        let program = match program {
            Ok(program) => program.clone(),
            Err(why) => return self.untold(why.clone()),
        };
        let text = |index: usize| rest.get(index).and_then(|word| word.as_ref().ok()).map(String::as_str);
        let lower = base(&program).to_ascii_lowercase();
        let name = lower.strip_suffix(".exe").unwrap_or(&lower);
        let is_path = program.contains('/') || program.starts_with([HERE, HOME]);
        if is_path && self.place(&program) != Place::Out {
            self.file(&program, Named::Program, None, fallback);
            return self.arguments(rest, Some(&program), fallback);
        }
        match name {
            "cd" => {
                let to = rest.iter().rfind(|word| word.as_ref().is_ok_and(|word| !word.starts_with('-')));
                self.cwd = to.and_then(|word| word.as_ref().ok()).and_then(|path| self.place(path).inside());
            }
            "export" | "readonly" | "declare" | "typeset" => {
                for word in rest.iter().flatten() {
                    if let Some((name, value)) = word.split_once('=') {
                        self.variables.insert(name.to_owned(), Some(value.to_owned()));
                    }
                }
            }
            "." | "source" => match rest.first() {
                Some(Ok(file)) => self.file(file, Named::Sourced, Some("sh"), fallback),
                Some(Err(why)) => self.untold(why.clone()),
                None => {}
            },
            "eval" => self.untold("it has an `eval`"),
            "env" => self.env(rest, fallback, nesting),
            "cmd" => {
                let at = rest.iter().position(|word| word.as_ref().is_ok_and(|word| word.eq_ignore_ascii_case("/c")));
                self.looks_here = true;
                self.run(at.map_or(&[][..], |at| &rest[at + 1..]), fallback, nesting);
            }
            "command" if matches!(text(0), Some("-v" | "-V")) => {}
            name if READERS.contains(&name) => self.code_file(name, rest, fallback),
            "find" if rest.iter().flatten().any(|word| matches!(&**word, "-exec" | "-execdir" | "-ok" | "-okdir")) => {
                self.untold("find runs it for what it finds");
            }
            name => {
                let wraps = WRAPPERS
                    .iter()
                    .find(|known| known.name == name && known.subcommand.is_none_or(|sub| text(0) == Some(sub)));
                if let Some(wrapper) = wraps {
                    let after = &rest[usize::from(wrapper.subcommand.is_some()).min(rest.len())..];
                    let skipped = options(after, wrapper.valued) + wrapper.operands;
                    let inner = &after[skipped.min(after.len())..];
                    // `uv run hooks/guard.py` runs it with Python, whatever its mode is.
                    match inner.first() {
                        Some(Ok(file)) if is_python(file) => {
                            self.file(file, Named::Script, Some("python3"), fallback);
                            self.arguments(&inner[1..], Some(file), fallback);
                        }
                        _ => self.run(inner, fallback, nesting),
                    }
                } else if let Some(known) = interpreter(name) {
                    self.interpreted(known, name, rest, fallback, nesting);
                } else {
                    if RUNNERS.contains(&name) {
                        self.code_file(name, rest, fallback);
                        self.untold(format!("what {name} runs is written elsewhere"));
                    }
                    if is_path && is_script(&program) {
                        self.untold(format!("{} is out of the project", program.replace(HOME, "~")));
                    }
                    let here = self.looks_here && self.place(&program).inside().is_some_and(|name| self.is_file(&name));
                    if here {
                        self.file(&program, Named::Program, None, fallback);
                    }
                    self.arguments(rest, here.then_some(&program), fallback);
                }
            }
        }
    }

    fn env(&mut self, rest: &[Arg], fallback: bool, nesting: usize) {
        let mut at = 0;
        while let Some(Ok(word)) = rest.get(at) {
            match &**word {
                "-u" | "--unset" | "-C" | "--chdir" => at += 1,
                "-S" | "--split-string" => {
                    let Some(Ok(script)) = rest.get(at + 1) else { return };
                    return self.script(&script.clone(), nesting + 1);
                }
                word if word.starts_with('-') => {}
                word => match word.split_once('=') {
                    Some((name, value)) if !name.contains('/') => {
                        self.variables.insert(name.to_owned(), Some(value.to_owned()));
                    }
                    _ => break,
                },
            }
            at += 1;
        }
        self.run(&rest[at.min(rest.len())..], fallback, nesting);
    }

    fn interpreted(&mut self, known: &Interpreter, name: &str, rest: &[Arg], fallback: bool, nesting: usize) {
        let is_power = known.names.contains(&"pwsh");
        let mut at = 0;
        while let Some(Ok(word)) = rest.get(at) {
            let lower = if is_power { word.to_ascii_lowercase() } else { word.clone() };
            let next = rest.get(at + 1);
            // `-lc` and `-uc`: letters of one dash, the last of which takes a value.
            let cluster = (known.shell || !known.module.is_empty()) && word.len() > 2 && !word.starts_with("--");
            let last = format!("-{}", word.chars().next_back().unwrap_or_default());
            let is = |options: &[&str]| {
                options.contains(&&*lower) || (cluster && word.starts_with('-') && options.contains(&&*last))
            };
            match &*lower {
                "run" if known.names.contains(&"deno") || name == "bun" => {}
                "-file" if is_power => {}
                "--" => {
                    at += 1;
                    break;
                }
                _ if is(known.inline) => {
                    match next {
                        Some(Ok(code)) if known.shell => self.script(&code.clone(), nesting + 1),
                        Some(Ok(code)) if is_power => self.windows(&code.clone(), Flavour::Powershell, nesting + 1),
                        Some(Err(why)) => self.untold(why.clone()),
                        _ => self.untold(format!("it has code of its own for {name}")),
                    }
                    return self.arguments(rest.get(at + 2..).unwrap_or_default(), None, fallback);
                }
                _ if is(known.module) => {
                    if let Some(Ok(module)) = next {
                        self.module(&module.clone(), name, fallback);
                    }
                    return self.arguments(rest.get(at + 2..).unwrap_or_default(), None, fallback);
                }
                option if known.preload.contains(&option) => {
                    if let Some(Ok(file)) = next
                        && file.contains('/')
                    {
                        self.file(&file.clone(), Named::Script, Some(name), fallback);
                    }
                    at += 1;
                }
                option if known.valued.contains(&option) => at += 1,
                option if option.starts_with('-') && option.len() > 1 => {}
                _ => break,
            }
            at += 1;
        }
        match rest.get(at) {
            None if rest.iter().flatten().any(|word| matches!(&**word, "--version" | "-V" | "-v" | "--help")) => {}
            None => self.standard_input(name, fallback),
            Some(Ok(word)) if word == "-" => self.standard_input(name, fallback),
            Some(Ok(word)) => {
                let word = word.clone();
                self.file(&word, Named::Script, Some(name), fallback);
                self.arguments(&rest[at + 1..], Some(&word), fallback);
            }
            Some(Err(why)) => self.untold(why.clone()),
        }
    }

    /// Code that an interpreter reads from standard input.
    fn standard_input(&mut self, by: &str, fallback: bool) {
        match self.input.take() {
            Some(Ok(file)) => self.file(&file, Named::Script, Some(by), fallback),
            Some(Err(why)) => self.untold(why),
            None => self.untold(format!("{by} runs what it is given on standard input")),
        }
    }

    /// A program's code in a file that one of its options names.
    fn code_file(&mut self, name: &str, words: &[Arg], fallback: bool) {
        let Some(known) = FROM_FILE.iter().find(|known| known.names.contains(&name)) else { return };
        for (at, word) in words.iter().enumerate() {
            let Ok(word) = word else { continue };
            let letters = word.starts_with('-') && !word.starts_with("--") && word.ends_with('f');
            let attached = word.split_once('=').filter(|(option, _)| known.long.contains(option));
            let file = if let Some((_, file)) = attached {
                Ok(file.to_owned())
            } else if letters || known.long.contains(&&**word) {
                words.get(at + 1).cloned().unwrap_or_else(|| Err(format!("nothing follows {word}")))
            } else {
                continue;
            };
            match file {
                Ok(file) if file == "-" => {}
                Ok(file) => self.file(&file, Named::Script, Some(name), fallback),
                Err(why) => self.untold(why),
            }
        }
    }

    /// A module that lies where the command starts; any other is not the project's.
    fn module(&mut self, module: &str, by: &str, fallback: bool) {
        let path = module.replace('.', "/");
        let candidates = [format!("{path}.py"), format!("{path}/__main__.py")];
        let found = candidates.iter().find(|file| self.place(file).inside().is_some_and(|name| self.is_file(&name)));
        if let Some(file) = found {
            self.file(file, Named::Module, Some(by), fallback);
        }
    }

    /// Words that name files that are there: from where the command starts, beside the script, or in a plugin's folder.
    fn arguments(&mut self, words: &[Arg], script: Option<&String>, fallback: bool) {
        let beside = script.and_then(|script| self.place(script).inside()).map(|script| folder(&script).to_owned());
        let folders: Vec<String> =
            beside.into_iter().chain(self.around.folders.iter().map(|(_, folder)| folder.clone())).collect();
        for word in words.iter().flatten().filter(|word| !word.starts_with('-') && !word.is_empty()) {
            let here = self.place(word).inside();
            let elsewhere = folders.iter().filter_map(|folder| join(folder, word));
            let found = here.into_iter().chain(elsewhere).find(|name| self.is_file(name));
            if let Some(path) = found {
                self.push(Script { path, named: Named::Argument, by: None, fallback, exists: true });
            }
        }
    }
}

/// Whether a program out of the project is a script that somebody put there, not one that is installed.
fn is_script(program: &str) -> bool {
    let name = Path::new(program);
    program.starts_with(HOME) || name.extension().is_some_and(|ending| !ending.eq_ignore_ascii_case("exe"))
}

fn is_python(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("py"))
}

/// How many words are options, with the values of those that have some.
fn options(words: &[Arg], valued: &[&str]) -> usize {
    let mut at = 0;
    while let Some(Ok(word)) = words.get(at) {
        if word == "--" {
            return at + 1;
        }
        if !word.starts_with('-') {
            break;
        }
        at += if valued.contains(&&**word) { 2 } else { 1 };
    }
    at
}
