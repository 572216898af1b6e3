//! What a script's first line names.

/// The program that a text's first line names for running it, without its folder, so that it is found on other systems,
/// too; with its options. `None` if it names none.
#[must_use]
pub fn shebang(text: &str) -> Option<Vec<String>> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().peekable();
    let base = |word: &str| word.rsplit(['/', '\\']).next().unwrap_or(word).to_owned();
    let mut program = words.next().map(base);
    if program.as_deref() == Some("env") {
        while words.next_if(|word| word.starts_with('-') || word.contains('=')).is_some() {}
        program = words.next().map(base);
    }
    let program = program.filter(|program| !program.is_empty())?;
    Some(std::iter::once(program).chain(words.map(str::to_owned)).collect())
}

#[cfg(test)]
mod tests {
    use super::shebang;

    #[test]
    fn the_first_line_names_program_and_options() {
        for (text, words) in [
            ("#!/bin/sh\n", Some("sh")),
            ("#!/bin/bash -eu\r\necho\r\n", Some("bash -eu")),
            ("#! /usr/bin/env python3", Some("python3")),
            ("#!/usr/bin/env -S LANG=C python3 -u\n", Some("python3 -u")),
            ("#!C:\\tools\\node.exe\n", Some("node.exe")),
            ("#!\n", None),
            ("#!/usr/bin/env\n", None),
            ("echo #!/bin/sh\n", None),
            ("", None),
        ] {
            assert_eq!(shebang(text).map(|words| words.join(" ")).as_deref(), words, "{text:?}");
        }
    }
}
