//! What a word is, as far as that is known without running anything.

use super::super::paths::folder;
use super::super::shell::{Piece, Simple, Word, commands};
use super::reader::{Arg, HERE, HOME, Reader};

impl Reader<'_> {
    /// A word in which nothing but `${NAME}` is to be replaced, as hosts do in an argv.
    pub(super) fn known(&self, word: &str) -> Arg {
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

    pub(super) fn variable(&self, name: &str) -> Arg {
        if name == "PWD" {
            let cwd = self.cwd.as_ref().ok_or("where it starts is not known")?;
            return Ok(format!("{HERE}/{cwd}"));
        }
        self.variables.get(name).cloned().flatten().ok_or_else(|| format!("what ${name} is, is not known"))
    }

    pub(super) fn value(&self, word: &Word) -> Arg {
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
    pub(super) fn printed(&self, script: &str) -> Arg {
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

    pub(super) fn unquoted(&mut self, word: &Word) {
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
}
