//! From a command to words and operators, as a POSIX shell splits it, with what bash adds to quoting. Nothing is expanded
//! and nothing is run.

/// How deep expansions in expansions are followed.
const MAX_DEPTH: usize = 32;

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text {
        text: String,
        quoted: bool,
    },
    /// `$NAME`, `${NAME}` or `${NAME:-default}`.
    Parameter {
        name: String,
        default: Option<Word>,
        quoted: bool,
    },
    /// `$(…)` or backquotes.
    Command {
        script: String,
        quoted: bool,
    },
    /// What can't be told without running it, as `$((1 + 2))` and `${NAME%/*}`.
    Unknown {
        text: String,
        quoted: bool,
    },
}

/// A word, before anything is expanded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word(pub Vec<Piece>);

impl Word {
    /// Its text, if nothing in it is to be expanded.
    pub fn literal(&self) -> Option<String> {
        self.0
            .iter()
            .map(|piece| if let Piece::Text { text, .. } = piece { Some(text.as_str()) } else { None })
            .collect()
    }

    /// The same, if nothing in it is quoted either: what may be a word of the shell's own.
    pub fn plain(&self) -> Option<&str> {
        match &self.0[..] {
            [Piece::Text { text, quoted: false }] => Some(text),
            _ => None,
        }
    }
}

/// What a command is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Token {
    Word(Word),
    /// The file of `< FILE`.
    Input(Word),
    /// `&&`
    And,
    /// `||`
    Or,
    Pipe,
    /// `;` or the end of a line.
    Semicolon,
    /// `&`
    Background,
    Open,
    Close,
}

/// Splits a command. Of redirections only the file that is read is kept.
///
/// # Errors
///
/// What it has that can't be split here, in a few words.
pub fn split(text: &str) -> Result<Vec<Token>, String> {
    let mut lexer = Lexer { rest: text, depth: 0 };
    let mut tokens = Vec::new();
    while lexer.token(&mut tokens)? {}
    Ok(tokens)
}

struct Lexer<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Lexer<'t> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn eat(&mut self, text: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(text) else { return false };
        self.rest = rest;
        true
    }

    /// Takes one token; false at the end.
    fn token(&mut self, tokens: &mut Vec<Token>) -> Result<bool, String> {
        while self.eat("\\\n") || self.eat("\\\r\n") || self.peek().is_some_and(|c| c == ' ' || c == '\t' || c == '\r')
        {
            if self.peek().is_some_and(|c| c == ' ' || c == '\t' || c == '\r') {
                self.bump();
            }
        }
        let Some(next) = self.peek() else { return Ok(false) };
        if next == '#' {
            self.rest = self.rest.find('\n').map_or("", |end| &self.rest[end..]);
            return Ok(true);
        }
        if self.redirection(tokens)? {
            return Ok(true);
        }
        for (sign, token) in [
            ("&&", Token::And),
            ("||", Token::Or),
            ("|&", Token::Pipe),
            ("|", Token::Pipe),
            (";;", Token::Semicolon),
            (";", Token::Semicolon),
            ("\n", Token::Semicolon),
            ("&", Token::Background),
            ("(", Token::Open),
            (")", Token::Close),
        ] {
            if self.eat(sign) {
                tokens.push(token);
                return Ok(true);
            }
        }
        let word = self.word(false)?;
        tokens.push(Token::Word(word));
        Ok(true)
    }

    /// Takes a redirection with its target, and with the number of a descriptor before it.
    fn redirection(&mut self, tokens: &mut Vec<Token>) -> Result<bool, String> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let after = &self.rest[digits..];
        let sign = ["&>>", "&>", "<<<", "<<", "<>", "<&", ">>", ">&", ">|", "<", ">"]
            .into_iter()
            .find(|sign| after.starts_with(sign) && (digits == 0 || !sign.starts_with('&')));
        let Some(sign) = sign else { return Ok(false) };
        if sign == "<<" {
            return Err("it has a here-document".to_owned());
        }
        // A process in the place of a file.
        if digits == 0 && matches!(sign, "<" | ">") && after[1..].starts_with('(') {
            self.rest = &after[2..];
            let script = self.until_close()?;
            tokens.push(Token::Word(Word(vec![Piece::Unknown { text: format!("{sign}({script})"), quoted: true }])));
            return Ok(true);
        }
        self.rest = &after[sign.len()..];
        while self.peek().is_some_and(|c| c == ' ' || c == '\t') {
            self.bump();
        }
        let target = self.word(false)?;
        if target.0.is_empty() {
            return Err(format!("nothing follows its {sign}"));
        }
        if sign == "<" && digits == 0 {
            tokens.push(Token::Input(target));
        }
        Ok(true)
    }

    /// Takes a word; of a default in `${NAME:-default}`, which goes on to its end, all of it.
    fn word(&mut self, whole: bool) -> Result<Word, String> {
        let mut pieces = Vec::new();
        while let Some(next) = self.peek() {
            match next {
                '\\' => {
                    self.bump();
                    match self.bump() {
                        Some('\n') => {}
                        Some(escaped) => text(&mut pieces, escaped, true),
                        None => text(&mut pieces, '\\', true),
                    }
                }
                '\'' => {
                    self.bump();
                    let end = self.rest.find('\'').ok_or("it has a single quote that is not closed")?;
                    quoted(&mut pieces, &self.rest[..end]);
                    self.rest = &self.rest[end + 1..];
                }
                '"' => {
                    self.bump();
                    self.double(&mut pieces)?;
                }
                '`' | '$' => self.expansion(&mut pieces, false)?,
                ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | '(' | ')' | '<' | '>' if !whole => break,
                other => {
                    self.bump();
                    text(&mut pieces, other, false);
                }
            }
        }
        Ok(Word(pieces))
    }

    /// Takes what is between double quotes, the first of which is gone.
    fn double(&mut self, pieces: &mut Vec<Piece>) -> Result<(), String> {
        quoted(pieces, "");
        loop {
            match self.peek().ok_or("it has a double quote that is not closed")? {
                '"' => {
                    self.bump();
                    return Ok(());
                }
                '\\' => {
                    self.bump();
                    match self.bump() {
                        Some('\n') | None => {}
                        Some(escaped @ ('$' | '`' | '"' | '\\')) => text(pieces, escaped, true),
                        Some(other) => {
                            text(pieces, '\\', true);
                            text(pieces, other, true);
                        }
                    }
                }
                '$' | '`' => self.expansion(pieces, true)?,
                other => {
                    self.bump();
                    text(pieces, other, true);
                }
            }
        }
    }

    /// Takes what begins with a dollar or a backquote.
    fn expansion(&mut self, pieces: &mut Vec<Piece>, is_quoted: bool) -> Result<(), String> {
        if self.depth >= MAX_DEPTH {
            return Err("expansions in it are nested too deeply".to_owned());
        }
        self.depth += 1;
        let result = self.expanded(pieces, is_quoted);
        self.depth -= 1;
        result
    }

    fn expanded(&mut self, pieces: &mut Vec<Piece>, is_quoted: bool) -> Result<(), String> {
        if self.eat("`") {
            let mut script = String::new();
            loop {
                match self.bump().ok_or("it has a backquote that is not closed")? {
                    '`' => break,
                    '\\' => match self.bump() {
                        Some(escaped @ ('`' | '\\' | '$')) => script.push(escaped),
                        Some(other) => script.extend(['\\', other]),
                        None => {}
                    },
                    other => script.push(other),
                }
            }
            pieces.push(Piece::Command { script, quoted: is_quoted });
        } else if self.eat("$((") {
            let end = self.rest.find("))").ok_or("it has arithmetic that is not closed")?;
            pieces.push(Piece::Unknown { text: format!("$(({}))", &self.rest[..end]), quoted: is_quoted });
            self.rest = &self.rest[end + 2..];
        } else if self.eat("$(") {
            let script = self.until_close()?.to_owned();
            pieces.push(Piece::Command { script, quoted: is_quoted });
        } else if self.eat("${") {
            pieces.push(self.braced(is_quoted)?);
        } else if !is_quoted && self.eat("$'") {
            self.ansi(pieces)?;
        } else if !is_quoted && self.eat("$\"") {
            self.double(pieces)?;
        } else {
            self.bump();
            let name = name_length(self.rest);
            if name == 0 {
                text(pieces, '$', is_quoted);
            } else {
                pieces.push(Piece::Parameter { name: self.rest[..name].to_owned(), default: None, quoted: is_quoted });
                self.rest = &self.rest[name..];
            }
        }
        Ok(())
    }

    /// Takes what is between the braces of `${…}`, the first of which is gone.
    fn braced(&mut self, is_quoted: bool) -> Result<Piece, String> {
        let inner = self.until('}', "it has a `${` that is not closed")?;
        let name = name_length(inner);
        let (name, after) = inner.split_at(name);
        let unknown = || Piece::Unknown { text: format!("${{{inner}}}"), quoted: is_quoted };
        if name.is_empty() {
            return Ok(unknown());
        }
        let default = [":-", ":=", "-", "="].into_iter().find_map(|sign| after.strip_prefix(sign));
        let default = match default {
            Some(default) => {
                let mut lexer = Lexer { rest: default, depth: self.depth };
                Some(lexer.word(true)?)
            }
            None if after.is_empty() || after.starts_with(":?") || after.starts_with('?') => None,
            None => return Ok(unknown()),
        };
        Ok(Piece::Parameter { name: name.to_owned(), default, quoted: is_quoted })
    }

    /// Takes a script up to the parenthesis that closes it.
    fn until_close(&mut self) -> Result<&'t str, String> {
        self.until(')', "it has a `$(` that is not closed")
    }

    /// Takes all up to the bracket that belongs to the one that is gone, by whatever is quoted in between.
    fn until(&mut self, close: char, missing: &str) -> Result<&'t str, String> {
        let open = if close == ')' { '(' } else { '{' };
        let whole = self.rest;
        let (mut depth, mut double) = (0_usize, false);
        let mut characters = whole.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                '\\' => {
                    characters.next();
                }
                '"' => double = !double,
                '\'' if !double => while characters.next().is_some_and(|(_, c)| c != '\'') {},
                c if c == open && !double => depth += 1,
                c if c == close && !double => {
                    if depth == 0 {
                        self.rest = &whole[at + close.len_utf8()..];
                        return Ok(&whole[..at]);
                    }
                    depth -= 1;
                }
                _ => {}
            }
        }
        Err(missing.to_owned())
    }

    /// Takes bash's `$'…'`, the beginning of which is gone.
    fn ansi(&mut self, pieces: &mut Vec<Piece>) -> Result<(), String> {
        quoted(pieces, "");
        loop {
            let character = match self.bump().ok_or("it has a single quote that is not closed")? {
                '\'' => return Ok(()),
                '\\' => match self.bump() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('r') => '\r',
                    Some(same @ ('\\' | '\'' | '"' | '?')) => same,
                    _ => return Err("it has an escape in `$'…'` that is not read here".to_owned()),
                },
                other => other,
            };
            text(pieces, character, true);
        }
    }
}

/// The length of the name of a parameter: a variable, a digit, or one of the shell's own.
fn name_length(text: &str) -> usize {
    let name = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    match text.bytes().next() {
        Some(b'0'..=b'9' | b'?' | b'#' | b'@' | b'*' | b'$' | b'!' | b'-') => 1,
        _ => name,
    }
}

fn text(pieces: &mut Vec<Piece>, character: char, is_quoted: bool) {
    if let Some(Piece::Text { text, quoted }) = pieces.last_mut()
        && *quoted == is_quoted
    {
        text.push(character);
    } else {
        pieces.push(Piece::Text { text: character.to_string(), quoted: is_quoted });
    }
}

/// Adds what was quoted, which makes a word even where it is empty.
fn quoted(pieces: &mut Vec<Piece>, what: &str) {
    if let Some(Piece::Text { text, quoted: true }) = pieces.last_mut() {
        text.push_str(what);
    } else {
        pieces.push(Piece::Text { text: what.to_owned(), quoted: true });
    }
}
