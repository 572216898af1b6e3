//! The commands of a script in their order, and what they name.

use std::collections::HashMap;

use super::super::files::{Entry, Files};
use super::super::limits::{MAX_COMMAND, MAX_NESTING};
use super::super::paths::join;
use super::super::programs::READERS;
use super::super::shell::{Flavour, Next, Piece, Simple, Word, commands, windows_commands};
use crate::model::{Named, Script};

/// Stands for the project's folder at the beginning of a path. No path has it: it is in the private part of Unicode, and
/// a command that has it is not taken apart.
pub(super) const HERE: char = '\u{e000}';
/// The same for the home directory.
pub(super) const HOME: char = '\u{e001}';

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
pub(super) enum Place {
    /// To a name in the project.
    In(String),
    Out,
    Unknown,
}

impl Place {
    fn of(name: Option<String>) -> Self {
        name.map_or(Self::Out, Self::In)
    }

    pub(super) fn inside(self) -> Option<String> {
        if let Self::In(name) = self { Some(name) } else { None }
    }
}

/// Whether a script may be missing without harm: another program makes up for it, its failing is passed over, or it is
/// looked for first. Where the command refuses then, it may not. `tested`: the command before looks for something.
fn may_be_missing(command: &Simple, then: &[Simple], tested: bool) -> bool {
    if command.next != Next::Or {
        return tested || command.guarded;
    }
    let runs = |word: &Word| word.literal().is_none_or(|name| !READERS.contains(&&*name));
    let made_up = then.first().and_then(|next| next.words.first()).is_some_and(runs);
    made_up || !then.iter().any(refuses)
}

/// Whether a command ends the script, and not with 0.
fn refuses(command: &Simple) -> bool {
    let word = |at: usize| command.words.get(at).and_then(Word::literal);
    matches!(word(0).as_deref(), Some("exit" | "return" | "false")) && word(1).as_deref() != Some("0")
}

/// A word's text, or what it takes to know it.
pub(super) type Arg = Result<String, String>;

pub(super) struct Reader<'a> {
    pub(super) around: &'a Around<'a>,
    /// `None` for those that are set to something that is not known.
    pub(super) variables: HashMap<String, Option<String>>,
    pub(super) cwd: Option<String>,
    /// Whether programs are looked for where the command starts, too.
    pub(super) looks_here: bool,
    /// What the command that is looked at reads, where it says so.
    pub(super) input: Option<Arg>,
    pub(super) told: Told,
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
        Self { around, variables, cwd: around.cwd.clone(), looks_here: false, input: None, told: Told::default() }
    }

    pub(super) fn untold(&mut self, why: impl Into<String>) {
        self.told.untold.get_or_insert_with(|| why.into());
    }

    pub(super) fn script(&mut self, text: &str, nesting: usize) {
        if text.len() > MAX_COMMAND || nesting > MAX_NESTING {
            return self.untold("it is too long, or nested too deeply, to be taken apart");
        }
        // What stands for a folder in what a command hands on was put there by this reader.
        if nesting == 0 && text.contains([HERE, HOME]) {
            return self.untold("it has a character that stands for nothing");
        }
        let commands = match commands(text) {
            Ok(commands) => commands,
            Err(why) => return self.untold(why),
        };
        let mut tested = false;
        for (at, command) in commands.iter().enumerate() {
            self.simple(command, may_be_missing(command, &commands[at + 1..], tested), nesting);
            let program = command.words.first().and_then(Word::literal);
            tested = command.next == Next::And
                && program
                    .is_some_and(|name| matches!(&*name, "[" | "[[" | "test" | "command" | "type" | "which" | "hash"));
        }
    }

    fn simple(&mut self, command: &Simple, fallback: bool, nesting: usize) {
        for (name, word) in &command.sets {
            let value = self.value(word).ok();
            self.variables.insert(name.clone(), value);
        }
        if command.words.first().is_some_and(|word| word.plain() != Some("[[")) {
            command.words.iter().for_each(|word| self.unquoted(word));
        }
        self.substitutions(command, nesting);
        let words: Vec<Arg> = command.words.iter().map(|word| self.value(word)).collect();
        self.input = command.input.as_ref().map(|file| self.value(file));
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

    pub(super) fn windows(&mut self, text: &str, flavour: Flavour, nesting: usize) {
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

    pub(super) fn is_file(&self, name: &str) -> bool {
        matches!(self.around.files.entry(name), Entry::File { .. })
    }

    pub(super) fn file(&mut self, path: &str, named: Named, by: Option<&str>, fallback: bool) {
        match self.place(path) {
            Place::In(name) => {
                let exists = self.around.files.entry(&name) != Entry::Missing;
                self.push(Script { path: name, named, by: by.map(str::to_owned), fallback, exists });
            }
            Place::Out if named == Named::Sourced => {}
            Place::Out => self.untold(format!("{} is out of the project", path.replace(HOME, "~"))),
            Place::Unknown => self.untold("where it starts is not known"),
        }
    }

    pub(super) fn push(&mut self, script: Script) {
        if !self.told.scripts.iter().any(|known| known.path == script.path) {
            self.told.scripts.push(script);
        }
    }

    /// Where a path leads.
    pub(super) fn place(&self, path: &str) -> Place {
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
