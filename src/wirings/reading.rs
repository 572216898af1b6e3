//! What was found so far, and how files are opened for the readers of their forms.

use std::collections::BTreeMap;
use std::path::Path;

use super::draft::Draft;
use super::files::{Entry, Files};
use super::hosts::Language;
use super::limits::MAX_WIRINGS;
use super::tree::{Document, Malformed, Node, Twice};
use super::{json, toml, yaml};
use crate::model::Unread;

/// The wirings of a project while they are read.
pub struct Reading<'a> {
    pub source: &'a dyn Files,
    pub drafts: Vec<Draft>,
    /// Those that were there, in the order in which they were read.
    pub files: Vec<String>,
    pub unread: Vec<Unread>,
    pub notes: Vec<String>,
    /// Keys that are there twice, by file.
    pub twice: Vec<(String, Twice)>,
    /// Hooks of the file at hand that call no program, by their type.
    pub others: BTreeMap<String, usize>,
    /// Files that the file at hand names, `None` for one out of the project, and the line.
    pub more: Vec<(Option<String>, u64)>,
}

impl<'a> Reading<'a> {
    pub fn new(source: &'a dyn Files) -> Self {
        Self {
            source,
            drafts: Vec::new(),
            files: Vec::new(),
            unread: Vec::new(),
            notes: Vec::new(),
            twice: Vec::new(),
            others: BTreeMap::new(),
            more: Vec::new(),
        }
    }

    /// Takes a wiring, unless its file has too many.
    pub fn push(&mut self, draft: Draft) {
        let so_far = self.drafts.iter().rev().take_while(|known| known.file == draft.file).count();
        if so_far < MAX_WIRINGS {
            self.drafts.push(draft);
        } else if so_far == MAX_WIRINGS && !self.unread.iter().any(|unread| unread.file == draft.file) {
            let message = format!("it wires more than {MAX_WIRINGS} commands; the rest is not read");
            self.unread(&draft.file, draft.line, &message, "split it".to_owned());
        }
    }

    /// Tells of something that could not be read.
    pub fn unread(&mut self, file: &str, line: Option<u64>, message: &str, remedy: String) {
        self.unread.push(Unread { file: file.to_owned(), line, message: message.to_owned(), remedy });
    }

    /// Tells of a value that is not what it should be.
    pub fn odd(&mut self, file: &str, node: &Node, what: &str, expected: &str) {
        let message = format!("{what} is {}, not {expected}", node.kind());
        self.unread(
            file,
            Some(node.line),
            &message,
            format!("write {expected}; its host passes it over, or refuses the file"),
        );
    }

    /// The text of a file, if there is one; what keeps it from being read is told.
    pub fn text(&mut self, file: &str) -> Option<String> {
        if self.files.iter().any(|known| known == file) || self.source.entry(file) == Entry::Missing {
            return None;
        }
        self.files.push(file.to_owned());
        match self.source.text(file) {
            Ok(text) => Some(text),
            Err(refused) => {
                self.unread(file, refused.line, &refused.message, refused.remedy);
                None
            }
        }
    }

    /// The tree of a file, if there is one.
    pub fn document(&mut self, file: &str, language: Language) -> Option<Node> {
        let text = self.text(file)?;
        let parsed = match language {
            Language::Json => self.json(file, &text),
            Language::Jsonc => json::parse(&text, true),
            Language::Toml => toml::parse(&text),
        };
        self.parsed(file, parsed)
    }

    /// The tree of a file by what its name ends in.
    pub fn any_document(&mut self, file: &str) -> Option<Node> {
        let ending = Path::new(file).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending {
            "json" => self.document(file, Language::Json),
            "jsonc" => self.document(file, Language::Jsonc),
            "toml" => self.document(file, Language::Toml),
            _ => self.yaml(file),
        }
    }

    /// The tree of a YAML file, if there is one.
    pub fn yaml(&mut self, file: &str) -> Option<Node> {
        let text = self.text(file)?;
        let parsed = yaml::parse(&text);
        self.parsed(file, parsed)
    }

    /// Comments in plain JSON are passed over, and told.
    fn json(&mut self, file: &str, text: &str) -> Result<Document, Malformed> {
        let strict = json::parse(text, false);
        let Err(why) = &strict else { return strict };
        let Ok(lenient) = json::parse(text, true) else { return strict };
        let line = why.line.map(|line| format!(", the first in line {line}")).unwrap_or_default();
        self.notes.push(format!(
            "{file} has comments or trailing commas{line}, which plain JSON has not: not every host takes them"
        ));
        Ok(lenient)
    }

    pub fn parsed(&mut self, file: &str, parsed: Result<Document, Malformed>) -> Option<Node> {
        match parsed {
            Ok(document) => {
                self.twice.extend(document.twice.into_iter().map(|twice| (file.to_owned(), twice)));
                Some(document.root)
            }
            Err(malformed) => {
                let remedy = "correct it: nothing in it is known, and its host may well pass it over".to_owned();
                self.unread(file, malformed.line, &malformed.message, remedy);
                None
            }
        }
    }
}
