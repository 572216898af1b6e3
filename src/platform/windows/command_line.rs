//! A command line, as the program that is given it takes it apart. Windows knows no arguments, only their text.

/// The arguments of a command line, by the rules of Microsoft's C runtime: the program's name ends at its quote or blank
/// whatever is in it; behind it, a backslash before a quote takes its meaning away, and two quotes within quotes are one.
#[must_use]
pub fn split(line: &str) -> Vec<String> {
    let mut rest = line.chars().peekable();
    let mut words = Vec::new();
    let mut program = String::new();
    let mut quoted = false;
    for c in rest.by_ref() {
        match c {
            '"' => quoted = !quoted,
            ' ' | '\t' if !quoted => break,
            c => program.push(c),
        }
    }
    if line.is_empty() {
        return words;
    }
    words.push(program);
    loop {
        while rest.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        if rest.peek().is_none() {
            return words;
        }
        let mut word = String::new();
        quoted = false;
        while let Some(c) = rest.next_if(|&c| quoted || !matches!(c, ' ' | '\t')) {
            match c {
                '\\' => {
                    let mut count = 1;
                    while rest.next_if_eq(&'\\').is_some() {
                        count += 1;
                    }
                    let quote = rest.peek() == Some(&'"');
                    word.extend(std::iter::repeat_n('\\', if quote { count / 2 } else { count }));
                    if quote && count % 2 == 1 {
                        rest.next();
                        word.push('"');
                    }
                }
                '"' if quoted && rest.next_if_eq(&'"').is_some() => word.push('"'),
                '"' => quoted = !quoted,
                c => word.push(c),
            }
        }
        words.push(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_its_program_does_it() {
        for (line, words) in [
            ("", &[][..]),
            ("a", &["a"]),
            (r#""C:\Program Files\a.exe" b  "c d" "#, &[r"C:\Program Files\a.exe", "b", "c d"]),
            (r#""C:\a\"b c"#, &[r"C:\a\b", "c"]),
            (r#"a "b\"c" d\\"#, &["a", "b\"c", r"d\\"]),
            (r#"a "b\\" c\\"d e""#, &["a", r"b\", r"c\d e"]),
            (r#"a "" b"#, &["a", "", "b"]),
            (r#"a "b""c" d"#, &["a", "b\"c", "d"]),
            (r#"a b" "c	d"#, &["a", "b c", "d"]),
            ("a \u{e9}\u{2192}", &["a", "\u{e9}\u{2192}"]),
            (" a b", &["", "a", "b"]),
        ] {
            assert_eq!(split(line), words, "{line:?}");
        }
    }
}
