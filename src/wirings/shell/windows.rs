//! From a command for cmd.exe or `PowerShell` to words, where it is a simple one.

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    Cmd,
    Powershell,
}

/// The commands of a line, each as its words. Variables are written as a POSIX shell has them, `${NAME}`, for whoever
/// knows some; backslashes are slashes.
///
/// # Errors
///
/// What it has that is not followed here, in a few words.
pub fn commands(text: &str, flavour: Flavour) -> Result<Vec<Vec<String>>, String> {
    let mut commands = vec![Vec::new()];
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            c if quote == Some(c) => quote = None,
            '"' if quote.is_none() => {
                quote = Some('"');
                word.get_or_insert_default();
            }
            '\'' if quote.is_none() && flavour == Flavour::Powershell => {
                quote = Some('\'');
                word.get_or_insert_default();
            }
            '%' if flavour == Flavour::Cmd => {
                let name: String = characters.by_ref().take_while(|c| *c != '%').collect();
                word.get_or_insert_default().push_str(&variable(&name)?);
            }
            '$' if flavour == Flavour::Powershell && quote != Some('\'') => {
                let mut name = String::new();
                while let Some(c) = characters.next_if(|c| c.is_ascii_alphanumeric() || ":_{}".contains(*c)) {
                    name.push(c);
                }
                let name = name.trim_matches(['{', '}']).to_owned();
                let name = name.strip_prefix("env:").ok_or("it has a variable of PowerShell's own")?;
                word.get_or_insert_default().push_str(&variable(name)?);
            }
            '^' if flavour == Flavour::Cmd && quote.is_none() => return Err("it has an escape of cmd.exe's".to_owned()),
            '`' | '{' | '(' | '@' if flavour == Flavour::Powershell && quote.is_none() => {
                return Err(format!("it has a `{character}` of PowerShell's"));
            }
            ' ' | '\t' | '\r' if quote.is_none() => end(&mut commands, &mut word),
            '&' | '|' | ';' | '\n' if quote.is_none() && (character != ';' || flavour == Flavour::Powershell) => {
                end(&mut commands, &mut word);
                commands.push(Vec::new());
            }
            '\\' => word.get_or_insert_default().push('/'),
            other => word.get_or_insert_default().push(other),
        }
    }
    if quote.is_some() {
        return Err("it has a quote that is not closed".to_owned());
    }
    end(&mut commands, &mut word);
    commands.retain(|words| !words.is_empty());
    Ok(commands)
}

/// Ends a word, if there is one.
fn end(commands: &mut [Vec<String>], word: &mut Option<String>) {
    if let (Some(last), Some(word)) = (commands.last_mut(), word.take()) {
        last.push(word);
    }
}

fn variable(name: &str) -> Result<String, String> {
    let valid = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if valid { Ok(format!("${{{name}}}")) } else { Err(format!("it has the variable %{name}%")) }
}
