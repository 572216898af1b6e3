//! The block below a test point, between `---` and `...`: where it failed, and why.

use super::place::{Place, Stack, place};
use crate::model::Frame;
use crate::readers::Context;
use crate::readers::cases::{clip, number};

/// How many lines of a message are kept.
const LINES: usize = 20;

/// Reads a block line by line. It is YAML of the simple kind that producers write, and only what is looked for is read.
#[derive(Debug, Default)]
pub struct Block {
    /// How far its lines are indented.
    pub indent: usize,
    /// The key whose deeper lines are being read.
    key: Option<(usize, Key)>,
    message: Vec<String>,
    error: Option<String>,
    kind: Option<String>,
    /// `file`, `line`, `column`, of the block itself or of its `at`.
    file: Option<String>,
    line: Option<u64>,
    column: Option<u64>,
    at: Stack,
    stack: Stack,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Message,
    Error,
    Stack,
    At,
    Other,
}

/// What a block told.
#[derive(Debug, Default)]
pub struct Told {
    pub frame: Option<Frame>,
    /// The lines of `message`, if it has several.
    pub message: Vec<String>,
}

impl Block {
    pub fn new(indent: usize) -> Self {
        Self { indent, ..Self::default() }
    }

    /// Takes a line of the block.
    pub fn line(&mut self, text: &str, context: &Context<'_>) {
        let trimmed = text.trim_start();
        if trimmed.is_empty() {
            return;
        }
        let indent = text.len() - trimmed.len();
        if let Some((_, key)) = self.key.filter(|(at, _)| indent > *at) {
            self.below(key, trimmed, text, context);
            return;
        }
        self.key = None;
        self.key(indent, trimmed, context, true);
    }

    fn key(&mut self, indent: usize, text: &str, context: &Context<'_>, top: bool) {
        let Some((key, value)) = text.split_once(':') else { return };
        let (key, value) = (key.trim_matches(['\'', '"']), value.trim());
        match key {
            "file" | "fileName" if self.file.is_none() => self.file = Some(clip(unquoted(value))),
            "line" | "lineNumber" if self.line.is_none() => self.line = number(unquoted(value)),
            "column" | "columnNumber" if self.column.is_none() => self.column = number(unquoted(value)),
            _ if !top => {}
            "type" | "name" => self.kind = Some(clip(unquoted(value))),
            "message" | "error" | "stack" | "at" | "location" => {
                let key = match key {
                    "message" => Key::Message,
                    "error" => Key::Error,
                    "stack" => Key::Stack,
                    _ => Key::At,
                };
                self.key = Some((indent, key));
                if !value.is_empty() && !value.starts_with(['|', '>']) {
                    self.below(key, value, value, context);
                }
            }
            _ => self.key = Some((indent, Key::Other)),
        }
    }

    fn below(&mut self, key: Key, trimmed: &str, text: &str, context: &Context<'_>) {
        match key {
            Key::Message if self.message.len() < LINES => {
                let line = text.get(self.indent + 2..).unwrap_or(trimmed);
                self.message.push(clip(if line.trim_start().len() < trimmed.len() { trimmed } else { line }));
            }
            Key::Error if self.error.is_none() => self.error = Some(clip(unquoted(trimmed))),
            Key::Stack => {
                if let Some(place) = place(trimmed) {
                    self.stack.take(&place, context);
                } else if self.error.is_none() && self.stack.own.is_none() && trimmed.contains("Error") {
                    self.error = Some(clip(trimmed));
                }
            }
            Key::At => match place(trimmed) {
                // `line: 7` is no place in a file of that name.
                Some(place) if !trimmed.contains(": ") => self.at.take(&place, context),
                _ => self.key(usize::MAX, trimmed, context, false),
            },
            _ => {}
        }
    }

    /// What it told.
    pub fn finish(mut self, context: &Context<'_>) -> Told {
        if let (Some(file), Some(line)) = (&self.file, self.line)
            && self.at.own.is_none()
        {
            self.at.take(&Place { function: None, file, line, column: self.column }, context);
        }
        let first = self.message.iter().map(|line| unquoted(line.trim())).find(|line| !line.is_empty());
        let error = first.map(str::to_owned).or(self.error);
        let error = match (error, self.kind.filter(|kind| kind.ends_with("Error"))) {
            (Some(error), Some(kind)) if !error.contains(&kind) => Some(clip(&format!("{kind}: {error}"))),
            (error, kind) => error.or(kind),
        };
        let frame = self.stack.own.or(self.at.own).map(|frame| Frame { error: error.clone(), ..frame });
        Told { frame, message: self.message }
    }
}

fn unquoted(text: &str) -> &str {
    let quoted = ['\'', '"'].iter().find_map(|&quote| text.strip_prefix(quote)?.strip_suffix(quote));
    quoted.unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn told(text: &str) -> (Option<(String, u64)>, Option<String>) {
        let context = Context::new(Path::new("/p"), Path::new("/p"));
        let mut block = Block::new(2);
        text.lines().for_each(|line| block.line(line, &context));
        let told = block.finish(&context);
        (told.frame.as_ref().map(|frame| (frame.file.clone(), frame.line)), told.frame.and_then(|frame| frame.error))
    }

    #[test]
    fn a_place_is_told_in_many_ways() {
        let at = |file: &str, line| Some((file.to_owned(), line));
        for (text, frame, error) in [
            ("  message: 'no'\n  file: t/a.sh\n  line: 12\n", at("t/a.sh", 12), Some("no")),
            ("  at:\n    line: 9\n    column: 5\n    file: t/a.js\n", at("t/a.js", 9), None),
            ("  at:\n    fileName: t/a.js\n    lineNumber: 9\n", at("t/a.js", 9), None),
            ("  at: helper (/p/t/a.js:5:7)\n", at("t/a.js", 5), None),
            ("  location: '/p/t/a.js:5:7'\n  error: 'boom'\n", at("t/a.js", 5), Some("boom")),
            (
                "  stack: |-\n    Error: x\n        at a (/p/node_modules/x.js:1:1)\n        at b (/p/b.js:2:2)\n",
                at("b.js", 2),
                Some("Error: x"),
            ),
            ("  expected: |-\n    file: t/a.sh\n    line: 3\n", None, None),
            ("  message: |\n    first\n    second\n  at: a.js:1:1\n", at("a.js", 1), Some("first")),
            ("  found: 1\n  wanted: 2\n", None, None),
        ] {
            assert_eq!(told(text), (frame, error.map(str::to_owned)), "{text}");
        }
    }
}
