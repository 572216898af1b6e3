//! Text as YAML takes it.

use std::fmt::Write;

/// A scalar that is read as that text, also in a flow collection; in quotes only where it needs them.
pub fn scalar(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    // A regular expression is easier to read with its backslashes as they are.
    if text.contains('\\') && text.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if is_shown(c) => quoted.push(c),
            c if u32::from(c) <= 0xffff => drop(write!(quoted, "\\u{:04x}", u32::from(c))),
            c => drop(write!(quoted, "\\U{:08x}", u32::from(c))),
        }
    }
    quoted.push('"');
    quoted
}

/// A list of words in one line.
pub fn words(words: &[String]) -> String {
    format!("[{}]", words.iter().map(|word| scalar(word)).collect::<Vec<_>>().join(", "))
}

/// Text that may follow `# `: one line, of bearable length, without anything that steers a terminal.
pub fn comment(text: &str) -> String {
    const LONGEST: usize = 200;
    let text = crate::words::shown(text.as_bytes());
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut comment = String::new();
    for (index, character) in line.chars().enumerate() {
        if index == LONGEST {
            comment.push('…');
            break;
        }
        if is_shown(character) {
            comment.push(character);
        } else {
            comment.extend(character.escape_unicode());
        }
    }
    comment
}

/// Whether a text without quotes is that text: nothing that is another type, and no sign that means something.
fn is_plain(text: &str) -> bool {
    const WORDS: &[&str] = &["true", "false", "null", "yes", "no", "on", "off", "y", "n", ".nan", ".inf"];
    let unsigned = text.trim_start_matches('-');
    let first = unsigned.strip_prefix('.').unwrap_or(unsigned);
    let begins = text.len() - unsigned.len() <= 2
        && (first.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') || text.starts_with("./"));
    begins
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_./+=-".contains(c))
        && !WORDS.contains(&unsigned.to_ascii_lowercase().as_str())
}

/// Whether a character is shown as itself: no control, no line end of any kind, nothing invisible or that turns text
/// around.
fn is_shown(character: char) -> bool {
    !character.is_control()
        && !matches!(character,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{fff0}'..='\u{fffc}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_only_what_needs_them() {
        for plain in
            ["python3", "-m", "--silent", "hooks/test_sweep.py", ".claude/hooks/a.py", "./-x/a.py", "--ignore=a/b"]
        {
            assert_eq!(scalar(plain), plain);
        }
        for (text, written) in [
            ("", "\"\""),
            ("3", "\"3\""),
            ("-1", "\"-1\""),
            ("-", "\"-\""),
            ("---", "\"---\""),
            ("---x", "\"---x\""),
            ("no", "\"no\""),
            (".inf", "\".inf\""),
            ("-.inf", "\"-.inf\""),
            ("1e3", "\"1e3\""),
            ("a b", "\"a b\""),
            ("it's", "\"it's\""),
            ("a\nb\"\u{1b}", "\"a\\nb\\\"\\u001b\""),
            ("\u{2028}\u{feff}", "\"\\u2028\\ufeff\""),
            ("ü", "\"ü\""),
            (r"a\.py's", r"'a\.py''s'"),
        ] {
            assert_eq!(scalar(text), written);
        }
    }

    #[test]
    fn a_comment_is_one_line() {
        assert_eq!(comment("a\n# b\r\n  \u{2028}c\u{1b}[31m"), "a # b c");
        assert_eq!(comment(&"x".repeat(300)).chars().count(), 201);
    }
}
