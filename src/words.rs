//! How things are said: durations, commands, and text that comes from elsewhere.

use std::time::Duration;

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
        7 if cfg!(target_os = "linux") => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        10 if cfg!(target_os = "macos") => "SIGBUS",
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
        for character in crate::readers::strip_escapes(chunk.valid()).chars() {
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
    fn nothing_that_steers_a_terminal_is_shown() {
        assert_eq!(shown(b"a\x1b[31mred\x1b[0m\tb\r\n"), "ared\tb\n");
        assert_eq!(shown(b"\x00\x07\xff\x1b"), "\\x00\\x07\\xff\\x1b");
        assert_eq!(shown("\u{9b}31m \u{202e}".as_bytes()), "\\u{9b}31m \\u{202e}");
        let title = shown(b"\x1b]0;owned\x07after");
        assert!(!title.contains('\u{1b}') && title.ends_with("after"), "{title:?}");
    }
}
