//! Which files of the project a command runs, by its text alone.

use std::collections::HashMap;
use std::path::Path;

use super::files::{Entry, Files};
use super::limits::{MAX_COMMAND, MAX_NESTING};
use super::paths::{base, folder, join};
use super::programs::{Interpreter, READERS, WRAPPERS, interpreter};
use super::shell::{Flavour, Next, Piece, Simple, Word, commands, windows_commands};
use crate::model::{Named, Script};

/// Stands for the project's folder at the beginning of a path. No path has it: it is in the private part of Unicode, and
/// a command that has it is not taken apart.
const HERE: char = '\u{e000}';
/// The same for the home directory.
const HOME: char = '\u{e001}';

/// Where a command is started.
#[derive(Clone)]
pub struct Around<'a> {
    pub files: &'a dyn Files,
    /// Variables that are folders of the project, relative to it.
    pub folders: Vec<(&'static str, String)>,
    /// Relative to the project; `None` if it is not known.
    pub cwd: Option<String>,
    /// The file that the command is in, where it is a script itself.
    pub file: Option<String>,
    /// Whether the top of the repository is the project.
    pub is_top: bool,
}

/// What was told of a command.
#[derive(Debug, Default)]
pub struct Told {
    pub scripts: Vec<Script>,
    /// Why not all of them, if so.
    pub untold: Option<String>,
    /// Paths that a shell would split at spaces, as they are written.
    pub unquoted: Vec<String>,
}

/// Of a command for a POSIX shell.
pub fn in_shell(command: &str, around: &Around<'_>) -> Told {
    let mut reader = Reader::new(around);
    reader.script(command, 0);
    reader.told
}

/// Of program and arguments.
pub fn in_argv(argv: &[String], around: &Around<'_>) -> Told {
    let mut reader = Reader::new(around);
    let words: Vec<Arg> = argv.iter().map(|word| reader.known(word)).collect();
    reader.run(&words, false, 0);
    reader.told
}

/// Of a command for a shell of Windows.
pub fn in_windows_shell(command: &str, flavour: Flavour, around: &Around<'_>) -> Told {
    let mut reader = Reader::new(around);
    reader.windows(command, flavour, 0);
    reader.told
}

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// To a name in the project.
    In(String),
    Out,
    Unknown,
}

impl Place {
    fn of(name: Option<String>) -> Self {
        name.map_or(Self::Out, Self::In)
    }

    fn inside(self) -> Option<String> {
        if let Self::In(name) = self { Some(name) } else { None }
    }
}

/// A word's text, or what it takes to know it.
type Arg = Result<String, String>;

struct Reader<'a> {
    around: &'a Around<'a>,
    /// `None` for those that are set to something that is not known.
    variables: HashMap<String, Option<String>>,
    cwd: Option<String>,
    /// Whether programs are looked for where the command starts, too.
    looks_here: bool,
    told: Told,
}

impl<'a> Reader<'a> {
    fn new(around: &'a Around<'a>) -> Self {
        let mut variables = HashMap::new();
        for (name, folder) in &around.folders {
            variables.insert((*name).to_owned(), Some(format!("{HERE}/{folder}").trim_end_matches('/').to_owned()));
        }
        variables.insert("HOME".to_owned(), Some(HOME.to_string()));
        if let Some(file) = &around.file {
            variables.insert("0".to_owned(), Some(format!("{HERE}/{file}")));
        }
        Self { around, variables, cwd: around.cwd.clone(), looks_here: false, told: Told::default() }
    }

    fn untold(&mut self, why: impl Into<String>) {
        self.told.untold.get_or_insert_with(|| why.into());
    }

    fn script(&mut self, text: &str, nesting: usize) {
        if text.len() > MAX_COMMAND || nesting > MAX_NESTING || text.contains([HERE, HOME]) {
            return self.untold("it is too long, or nested too deeply, to be taken apart");
        }
        let commands = match commands(text) {
            Ok(commands) => commands,
            Err(why) => return self.untold(why),
        };
        let mut tested = false;
        for command in &commands {
            self.simple(command, tested, nesting);
            let program = command.words.first().and_then(Word::literal);
            tested = command.next == Next::And
                && program
                    .is_some_and(|name| matches!(&*name, "[" | "[[" | "test" | "command" | "type" | "which" | "hash"));
        }
    }

    fn simple(&mut self, command: &Simple, tested: bool, nesting: usize) {
        for (name, word) in &command.sets {
            let value = self.value(word).ok();
            self.variables.insert(name.clone(), value);
        }
        if command.words.first().is_some_and(|word| word.plain() != Some("[[")) {
            command.words.iter().for_each(|word| self.unquoted(word));
        }
        self.substitutions(command, nesting);
        let words: Vec<Arg> = command.words.iter().map(|word| self.value(word)).collect();
        let fallback = command.next == Next::Or || command.guarded || tested;
        self.run(&words, fallback, nesting);
    }

    /// The commands whose output is put into this one. They run in a shell of their own, which leaves this one as it is.
    fn substitutions(&mut self, command: &Simple, nesting: usize) {
        let words = command.sets.iter().map(|(_, word)| word).chain(&command.words);
        for piece in words.flat_map(|word| &word.0) {
            if let Piece::Command { script, .. } = piece
                && self.printed(script).is_err()
            {
                let (cwd, variables) = (self.cwd.clone(), self.variables.clone());
                self.script(script, nesting + 1);
                (self.cwd, self.variables) = (cwd, variables);
            }
        }
    }

    fn windows(&mut self, text: &str, flavour: Flavour, nesting: usize) {
        if text.len() > MAX_COMMAND || nesting > MAX_NESTING || text.contains([HERE, HOME]) {
            return self.untold("it is too long, or nested too deeply, to be taken apart");
        }
        self.looks_here = flavour == Flavour::Cmd;
        match windows_commands(text, flavour) {
            Ok(commands) => {
                for words in commands {
                    let words: Vec<Arg> = words.iter().map(|word| self.known(word)).collect();
                    self.run(&words, false, nesting);
                }
            }
            Err(why) => self.untold(why),
        }
    }

    /// A word in which nothing but `${NAME}` is to be replaced, as hosts do in an argv.
    fn known(&self, word: &str) -> Arg {
        let (mut text, mut rest) = (String::new(), word);
        while let Some(at) = rest.find("${") {
            let Some(end) = rest[at..].find('}') else { break };
            text.push_str(&rest[..at]);
            text.push_str(&self.variable(&rest[at + 2..at + end])?);
            rest = &rest[at + end + 1..];
        }
        text.push_str(rest);
        Ok(text)
    }

    fn variable(&self, name: &str) -> Arg {
        if name == "PWD" {
            let cwd = self.cwd.as_ref().ok_or("where it starts is not known")?;
            return Ok(format!("{HERE}/{cwd}"));
        }
        self.variables.get(name).cloned().flatten().ok_or_else(|| format!("what ${name} is, is not known"))
    }

    fn value(&self, word: &Word) -> Arg {
        let mut value = String::new();
        for (at, piece) in word.0.iter().enumerate() {
            match piece {
                Piece::Text { text, quoted } => {
                    let home = at == 0 && !quoted && (text == "~" || text.starts_with("~/"));
                    if home {
                        value.push(HOME);
                        value.push_str(&text[1..]);
                    } else {
                        value.push_str(text);
                    }
                }
                Piece::Parameter { name, default, .. } => match (self.variable(name), default) {
                    (Ok(known), _) => value.push_str(&known),
                    (Err(_), Some(default)) if !self.variables.contains_key(name) => {
                        value.push_str(&self.value(default)?);
                    }
                    (Err(why), _) => return Err(why),
                },
                Piece::Command { script, .. } => value.push_str(&self.printed(script)?),
                Piece::Unknown { text, .. } => return Err(format!("what {text} is, is not known")),
            }
        }
        Ok(value)
    }

    /// What a few commands print that are used to find a folder.
    fn printed(&self, script: &str) -> Arg {
        let unknown = || format!("what $({}) prints is not known", script.trim());
        let commands = commands(script)?;
        let words = |command: &Simple| -> Result<Vec<String>, String> {
            command.words.iter().map(|word| self.value(word)).collect()
        };
        let first = words(commands.first().ok_or_else(unknown)?)?;
        let first: Vec<&str> = first.iter().map(String::as_str).collect();
        let second = commands.get(1).and_then(|command| command.words.first()).and_then(Word::literal);
        match (&first[..], second.as_deref()) {
            (["git", .., "rev-parse", "--show-toplevel"], _) if self.around.is_top => Ok(HERE.to_string()),
            (["pwd", ..], _) => self.variable("PWD"),
            (["cd", path] | ["cd", "--" | "-P", path], Some("pwd"))
            | (["realpath", path] | ["readlink", "-f", path], None) => Ok((*path).to_owned()),
            (["dirname", path] | ["dirname", "--", path], None) => match folder(path) {
                "" => Ok(".".to_owned()),
                folder => Ok(folder.to_owned()),
            },
            _ => Err(unknown()),
        }
    }

    fn unquoted(&mut self, word: &Word) {
        for piece in &word.0 {
            let written = match piece {
                Piece::Parameter { name, quoted: false, .. }
                    if name == "HOME"
                        || name == "PWD"
                        || self.around.folders.iter().any(|(known, _)| known == name) =>
                {
                    format!("${name}")
                }
                Piece::Command { script, quoted: false } if self.printed(script).is_ok() => {
                    format!("$({})", script.trim())
                }
                _ => continue,
            };
            if !self.told.unquoted.contains(&written) {
                self.told.unquoted.push(written);
            }
        }
    }

    /// Looks at one command. `fallback`: whether it may fail without harm.
    fn run(&mut self, words: &[Arg], fallback: bool, nesting: usize) {
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
            name if READERS.contains(&name) => {}
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
            // Of standard input.
            None => {}
            Some(Ok(word)) if word == "-" => {}
            Some(Ok(word)) => {
                let word = word.clone();
                self.file(&word, Named::Script, Some(name), fallback);
                self.arguments(&rest[at + 1..], Some(&word), fallback);
            }
            Some(Err(why)) => self.untold(why.clone()),
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

    fn is_file(&self, name: &str) -> bool {
        matches!(self.around.files.entry(name), Entry::File { .. })
    }

    fn file(&mut self, path: &str, named: Named, by: Option<&str>, fallback: bool) {
        match self.place(path) {
            Place::In(name) => {
                let exists = self.around.files.entry(&name) != Entry::Missing;
                self.push(Script { path: name, named, by: by.map(str::to_owned), fallback, exists });
            }
            Place::Out => {}
            Place::Unknown => self.untold("where it starts is not known"),
        }
    }

    fn push(&mut self, script: Script) {
        if !self.told.scripts.iter().any(|known| known.path == script.path) {
            self.told.scripts.push(script);
        }
    }

    /// Where a path leads.
    fn place(&self, path: &str) -> Place {
        let path = path.replace('\\', "/");
        if let Some(rest) = path.strip_prefix(HERE) {
            return Place::of(join("", rest.trim_start_matches('/')));
        }
        let drive = path.as_bytes().get(1) == Some(&b':');
        if path.starts_with(HOME) || path.starts_with('/') || drive {
            let root = self.around.files.root().and_then(|root| root.to_str()).map(|root| root.replace('\\', "/"));
            let rest = root.and_then(|root| path.strip_prefix(&root)?.strip_prefix('/').map(str::to_owned));
            return Place::of(rest.and_then(|rest| join("", &rest)));
        }
        self.cwd.as_ref().map_or(Place::Unknown, |cwd| Place::of(join(cwd, &path)))
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wirings::files::Refused;

    /// Names alone.
    struct Names(Vec<String>);

    impl Files for Names {
        fn names(&self) -> &[String] {
            &self.0
        }

        fn entry(&self, name: &str) -> Entry {
            if self.0.iter().any(|known| known == name) { Entry::File { executable: None } } else { Entry::Missing }
        }

        fn bytes(&self, _: &str) -> Result<Vec<u8>, Refused> {
            Err(Refused { line: None, message: String::new(), remedy: String::new() })
        }

        fn root(&self) -> Option<&Path> {
            Some(Path::new("/p"))
        }
    }

    /// The scripts of a command, missing ones with a `?`; or `!` and why they can't be told.
    fn told(command: &str, shell: impl Fn(&str, &Around<'_>) -> Told) -> String {
        let names = ["h/a.sh", "h/b.py", "h/c.js", "h/run.cmd", "h/start", "pkg/mod.py", "pkg/__main__.py", "pl/x.sh"];
        let names = Names(names.map(str::to_owned).to_vec());
        let folders = vec![("CLAUDE_PROJECT_DIR", String::new()), ("CLAUDE_PLUGIN_ROOT", "pl".to_owned())];
        let around = Around { files: &names, folders, cwd: Some(String::new()), file: None, is_top: true };
        let told = shell(command, &around);
        let one = |script: &Script| format!("{}{}", script.path, if script.exists { "" } else { "?" });
        let mut shown: Vec<String> = told.scripts.iter().map(one).collect();
        shown.extend(told.untold.is_some().then(|| "!".to_owned()));
        shown.join(" ")
    }

    #[test]
    fn scripts_are_found_through_what_is_around_them() {
        for (command, scripts) in [
            ("h/a.sh", "h/a.sh"),
            ("./h/a.sh x", "h/a.sh"),
            ("bash h/a.sh", "h/a.sh"),
            ("/bin/bash -eu -o pipefail h/a.sh", "h/a.sh"),
            ("python3 -u h/b.py --all", "h/b.py"),
            ("/usr/bin/env python3.11 h/b.py", "h/b.py"),
            ("env X=1 -u Y node h/c.js", "h/c.js"),
            ("node -r ./h/c.js h/none.js", "h/c.js h/none.js?"),
            ("python3 -m pkg.mod", "pkg/mod.py"),
            ("python3 -m pkg", "pkg/__main__.py"),
            ("python3 -m pytest", ""),
            ("bash -c 'sh h/a.sh && python3 h/b.py'", "h/a.sh h/b.py"),
            ("bash -lc \"bash -c 'h/a.sh'\"", "h/a.sh"),
            ("\"$CLAUDE_PROJECT_DIR\"/h/a.sh", "h/a.sh"),
            ("bash \"${CLAUDE_PLUGIN_ROOT:-.}/x.sh\"", "pl/x.sh"),
            ("bash \"${CLAUDE_PLUGIN_ROOT}/../h/a.sh\"", "h/a.sh"),
            ("\"$(git rev-parse --show-toplevel)/h/a.sh\"", "h/a.sh"),
            ("cd h && ./a.sh", "h/a.sh"),
            ("cd \"$X\" && ./a.sh", "!"),
            ("D=h; bash $D/a.sh", "h/a.sh"),
            ("export D=h && bash \"$D/a.sh\"", "h/a.sh"),
            ("bash \"$(cd h && pwd)/a.sh\"", "h/a.sh"),
            ("x=$(python3 h/b.py); echo \"$x\"", "h/b.py"),
            ("python3 h/none.py || python3 h/b.py", "h/none.py? h/b.py"),
            (". h/a.sh", "h/a.sh"),
            ("timeout -k 1 5s bash h/a.sh", "h/a.sh"),
            ("nohup setsid h/a.sh &", "h/a.sh"),
            ("uv run --with x h/b.py", "h/b.py"),
            ("uv run python h/b.py", "h/b.py"),
            ("npx tsx h/c.js", "h/c.js"),
            ("npx some-package@1", ""),
            ("\"h/run.cmd\" start", "h/run.cmd h/start"),
            ("tool --check h/b.py", "h/b.py"),
            ("echo h/a.sh", ""),
            ("command -v h/a.sh", ""),
            ("/p/h/a.sh", "h/a.sh"),
            ("/opt/a.sh", ""),
            ("~/h/a.sh", ""),
            ("bash \"$HOME/h/a.sh\"", ""),
            ("bash \"$WHERE/a.sh\"", "!"),
            ("$TOOL h/a.sh", "!"),
            ("eval \"$x\"", "!"),
            ("python3 -c 'import os'", "!"),
            ("bash <<X\nh/a.sh\nX\n", "!"),
            ("bash", ""),
            ("", ""),
        ] {
            assert_eq!(told(command, in_shell), scripts, "{command}");
        }
        let cmd = |command: &str, around: &Around<'_>| in_windows_shell(command, Flavour::Cmd, around);
        for (command, scripts) in [
            ("cmd /c h\\run.cmd start", "h/run.cmd h/start"),
            ("py -3 h\\b.py", "h/b.py"),
            ("%CLAUDE_PROJECT_DIR%\\h\\run.cmd", "h/run.cmd"),
        ] {
            assert_eq!(told(command, cmd), scripts, "{command}");
        }
    }

    #[test]
    fn paths_that_fall_apart_are_named() {
        let unquoted = |command: &str| {
            let names = Names(Vec::new());
            let folders = vec![("CLAUDE_PROJECT_DIR", String::new())];
            let around = Around { files: &names, folders, cwd: Some(String::new()), file: None, is_top: true };
            in_shell(command, &around).unquoted.join(" ")
        };
        for (command, names) in [
            ("$CLAUDE_PROJECT_DIR/a", "$CLAUDE_PROJECT_DIR"),
            ("cat ${HOME}/a $HOME/b", "$HOME"),
            ("sh $(git rev-parse --show-toplevel)/a", "$(git rev-parse --show-toplevel)"),
            ("\"$CLAUDE_PROJECT_DIR\"/a '$HOME'", ""),
            ("D=$CLAUDE_PROJECT_DIR sh", ""),
            ("tool $FLAGS", ""),
        ] {
            assert_eq!(unquoted(command), names, "{command}");
        }
    }
}
