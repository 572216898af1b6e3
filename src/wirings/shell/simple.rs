//! From words to the simple commands that a script runs, in their order, with what stands between them.

use super::words::{Piece, Token, Word, split};

/// What follows a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    End,
    /// `;`, `&`, or the end of a line.
    Sequence,
    And,
    Or,
    Pipe,
}

/// One command: what it sets, and its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Simple {
    pub sets: Vec<(String, Word)>,
    /// Empty where it only sets variables.
    pub words: Vec<Word>,
    /// What it reads instead of what it is given.
    pub input: Option<Word>,
    pub next: Next,
    /// Whether it runs only if another one said so: it is in the body of an `if` or of a loop.
    pub guarded: bool,
}

/// Splits a script.
///
/// # Errors
///
/// What it has that is not followed here, in a few words.
pub fn commands(text: &str) -> Result<Vec<Simple>, String> {
    let tokens = split(text)?;
    let mut reader = Reader { tokens: &tokens, at: 0, depth: 0, commands: Vec::new() };
    while reader.at < tokens.len() {
        reader.command()?;
    }
    Ok(reader.commands)
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    /// How many bodies of `if` and loops are open.
    depth: usize,
    commands: Vec<Simple>,
}

impl Reader<'_> {
    fn command(&mut self) -> Result<(), String> {
        self.reserved()?;
        let mut command = self.empty();
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token {
                Token::Word(word) if command.words.is_empty() => match assignment(word) {
                    Some(set) => command.sets.push(set),
                    None => command.words.push(word.clone()),
                },
                Token::Word(word) => command.words.push(word.clone()),
                Token::Input(file) => command.input = Some(file.clone()),
                Token::Open if command.words.len() == 1 && self.tokens.get(self.at) == Some(&Token::Close) => {
                    // The definition of a function: its body follows.
                    self.at += 1;
                    return Ok(());
                }
                operator => {
                    self.take(command, joins(operator));
                    return Ok(());
                }
            }
        }
        self.take(command, Next::End);
        Ok(())
    }

    fn empty(&self) -> Simple {
        Simple { sets: Vec::new(), words: Vec::new(), input: None, next: Next::End, guarded: self.depth > 0 }
    }

    fn take(&mut self, command: Simple, next: Next) {
        if command.words.is_empty() && command.sets.is_empty() {
            // What follows a group or a subshell follows the last command in it.
            if let Some(last) = self.commands.last_mut()
                && matches!(next, Next::Or | Next::And | Next::Pipe)
            {
                last.next = next;
            }
            return;
        }
        self.commands.push(Simple { next, ..command });
    }

    /// Passes over words of the shell's own, up to where a command begins.
    fn reserved(&mut self) -> Result<(), String> {
        while let Some(Token::Word(word)) = self.tokens.get(self.at) {
            match word.plain() {
                Some("if" | "elif" | "while" | "until" | "else" | "!" | "{" | "}") => {}
                Some("then" | "do") => self.depth += 1,
                Some("fi" | "done") => self.depth = self.depth.saturating_sub(1),
                Some("for") => {
                    let end = self.tokens[self.at..].iter().position(|token| *token == Token::Semicolon);
                    self.at += end.unwrap_or(self.tokens.len() - self.at - 1);
                }
                Some("[[") => {
                    let closes = |token: &Token| matches!(token, Token::Word(word) if word.plain() == Some("]]"));
                    let end =
                        self.tokens[self.at..].iter().position(closes).ok_or("it has a `[[` that is not closed")?;
                    let words = vec![word.clone()];
                    let command = Simple { words, ..self.empty() };
                    self.at += end + 1;
                    // Its redirections are gone; what joins it to the next command is left.
                    let next = self.tokens.get(self.at).map_or(Next::End, joins);
                    self.at += usize::from(self.at < self.tokens.len());
                    self.take(command, next);
                    continue;
                }
                Some("case" | "select" | "function" | "coproc") => {
                    return Err(format!("it has a `{}`", word.plain().unwrap_or_default()));
                }
                _ => return Ok(()),
            }
            self.at += 1;
        }
        Ok(())
    }
}

/// What an operator says of the command before it.
fn joins(operator: &Token) -> Next {
    match operator {
        Token::And => Next::And,
        Token::Or => Next::Or,
        Token::Pipe => Next::Pipe,
        _ => Next::Sequence,
    }
}

/// `NAME=value`, before the words of a command.
fn assignment(word: &Word) -> Option<(String, Word)> {
    let (Piece::Text { text, quoted: false }, rest) = word.0.split_first()? else { return None };
    let (name, value) = text.split_once('=')?;
    let valid = name
        .bytes()
        .enumerate()
        .all(|(at, byte)| byte == b'_' || byte.is_ascii_alphabetic() || (at > 0 && byte.is_ascii_digit()));
    if name.is_empty() || !valid {
        return None;
    }
    let mut pieces = Vec::new();
    if !value.is_empty() {
        pieces.push(Piece::Text { text: value.to_owned(), quoted: false });
    }
    pieces.extend_from_slice(rest);
    Some((name.to_owned(), Word(pieces)))
}
