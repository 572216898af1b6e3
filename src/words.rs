//! How things are said: durations, commands, and text that comes from elsewhere.

use std::borrow::Cow;
use std::env::consts::OS;
use std::fmt::Display;
use std::time::{Duration, SystemTime};

/// A duration in the form that manifests use: `250ms`, `1s`, `1.8s`, `10m`, `1h30m`.
#[must_use]
pub fn duration(duration: Duration) -> String {
    let ms = duration.as_millis();
    match ms {
        0..1000 => format!("{ms}ms"),
        1000..60_000 if ms.is_multiple_of(1000) => format!("{}s", ms / 1000),
        1000..60_000 => format!("{}.{}s", ms / 1000, ms % 1000 / 100),
        _ => {
            let seconds = ms / 1000;
            let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
            parts.iter().filter(|(n, _)| *n > 0).flat_map(|(n, unit)| [n.to_string(), (*unit).to_owned()]).collect()
        }
    }
}

/// How old something is or may be: whole days as `14d`, else as [`duration`] has it.
#[must_use]
pub fn age(age: Duration) -> String {
    const DAY: u64 = 24 * 3600;
    let seconds = age.as_secs();
    if seconds >= DAY && seconds.is_multiple_of(DAY) { format!("{}d", seconds / DAY) } else { duration(age) }
}

/// A signal as people call it, where its number is the same on every Unix; Linux has those above 15 otherwise than others.
#[must_use]
pub fn signal(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 if OS == "linux" => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 if OS == "macos" => "SIGBUS",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return format!("signal {number}"),
    };
    format!("signal {number} ({name})")
}

/// A command as a person types it into a POSIX shell.
#[must_use]
pub fn command_line(argv: &[String]) -> String {
    argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it, in quotes only where it needs them; one with control characters in the form `$'…'`, which
/// stays in one line.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    if !word.contains(char::is_control) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    let mut quoted = "$'".to_owned();
    for character in word.chars() {
        match character {
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\'' | '\\' => quoted.extend(['\\', character]),
            c if c.is_control() => c.to_string().bytes().for_each(|byte| quoted.push_str(&format!("\\x{byte:02x}"))),
            c => quoted.push(c),
        }
    }
    quoted.push('\'');
    quoted
}

/// Bytes as text that does no harm on a terminal: line ends and tabs stay, other control characters and what is not
/// UTF-8 are escaped as `\xNN` or `\u{N}`. A terminal's colours are taken out.
#[must_use]
pub fn shown(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in strip_escapes(chunk.valid()).chars() {
            match character {
                '\n' | '\t' => text.push(character),
                // With the line end that follows it, or alone as progress bars use it.
                '\r' => {}
                c if c.is_ascii_control() => text.push_str(&format!("\\x{:02x}", u32::from(c))),
                // Directions that make a text look like another one.
                '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                    text.push_str(&format!("\\u{{{:x}}}", u32::from(character)));
                }
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// A number of things of that name: `1 check`, `2 checks`.
#[must_use]
pub fn counted<N: Copy + Display + PartialEq + From<u8>>(number: N, name: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {name}{plural}")
}

/// The first of some names, and how many more there are: `a, b and 3 more`.
#[must_use]
pub fn first_of(names: &[impl AsRef<str>], most: usize) -> String {
    let shown: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    let more = names.len() - shown.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    shown.join(", ") + &more
}

/// The beginning of a text, with `…` where there was more.
#[must_use]
pub fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// RFC 3339 in UTC, to the millisecond.
#[must_use]
pub fn timestamp(at: SystemTime) -> String {
    jiff::Timestamp::try_from(at).map(|at| at.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()).unwrap_or_default()
}

/// Removes terminal control sequences from a text. An escape that begins no whole sequence in its line stays, so that
/// nothing that follows it is lost.
#[must_use]
pub fn strip_escapes(text: &str) -> Cow<'_, str> {
    const ESCAPE: char = '\u{1b}';
    if !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut stripped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(ESCAPE) {
        let (before, sequence) = rest.split_at(at);
        stripped.push_str(before);
        let length = sequence_length(sequence);
        if length == 0 {
            stripped.push(ESCAPE);
        }
        rest = &sequence[length.max(ESCAPE.len_utf8())..];
    }
    stripped.push_str(rest);
    Cow::Owned(stripped)
}

/// How many bytes the control sequence has (ECMA-48) that begins the text; 0 if it is not whole.
fn sequence_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.get(1) {
        // CSI: parameters, intermediates, a final byte.
        Some(b'[') => {
            let body = bytes[2..].iter().take_while(|byte| matches!(byte, 0x20..=0x3f)).count();
            if matches!(bytes.get(2 + body), Some(0x40..=0x7e)) { 3 + body } else { 0 }
        }
        // OSC and other strings: up to BEL or ST.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let line = text.find('\n').unwrap_or(text.len());
            let bell = text[..line].find('\u{7}').map(|at| at + 1);
            let terminator = text[2..line].find("\u{1b}\\").map(|at| at + 4);
            [bell, terminator].into_iter().flatten().min().unwrap_or(0)
        }
        // Two or three characters, such as a choice of character set.
        Some(b'(' | b')' | b'#' | b'%') if matches!(bytes.get(2), Some(0x20..=0x7e)) => 3,
        Some(0x30..=0x7e) => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_said_as_manifests_write_them() {
        for (ms, said) in
            [(0, "0ms"), (250, "250ms"), (1000, "1s"), (1850, "1.8s"), (600_000, "10m"), (5_405_000, "1h30m5s")]
        {
            assert_eq!(duration(Duration::from_millis(ms)), said);
        }
    }

    #[test]
    fn signals_have_names_where_they_are_known() {
        assert_eq!(signal(11), "signal 11 (SIGSEGV)");
        assert_eq!(signal(63), "signal 63");
    }

    #[test]
    fn a_command_can_be_pasted() {
        let argv = ["python3", "a b.py", "it's", ""].map(str::to_owned);
        assert_eq!(command_line(&argv), r"python3 'a b.py' 'it'\''s' ''");
        assert_eq!(quoted("a\nit's\t\\ \u{1b}"), r"$'a\nit\'s\t\\ \x1b'");
    }

    #[test]
    fn whole_sequences_go_and_nothing_else() {
        for (text, stripped) in [
            ("a\u{1b}[1;31mb\u{1b}[0m", "ab"),
            ("\u{1b}]0;title\u{7}after", "after"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]0;never ended\nnext", "\u{1b}]0;never ended\nnext"),
            ("\u{1b}[31", "\u{1b}[31"),
            ("\u{1b}(B\u{1b}=x", "x"),
            ("é\u{1b}é", "é\u{1b}é"),
        ] {
            assert_eq!(strip_escapes(text), stripped, "{text:?}");
        }
    }

    #[test]
    fn nothing_that_steers_a_terminal_is_shown() {
        assert_eq!(shown(b"a\x1b[31mred\x1b[0m\tb\r\n"), "ared\tb\n");
        assert_eq!(shown(b"\x00\x07\xff\x1b"), "\\x00\\x07\\xff\\x1b");
        assert_eq!(shown("\u{9b}31m \u{202e}".as_bytes()), "\\u{9b}31m \\u{202e}");
        let title = shown(b"\x1b]0;owned\x07after");
        assert!(!title.contains('\u{1b}') && title.ends_with("after"), "{title:?}");
    }
}
