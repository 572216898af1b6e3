//! What can be read out of the words of an error.

use std::sync::LazyLock;

use regex::Regex;

fn expression(text: &str) -> Regex {
    Regex::new(text).expect("a constant")
}

/// The program that an error says is missing: a bare name, since a path is a file like any other.
pub fn missing_program(error: &str) -> Option<String> {
    static FORMS: LazyLock<[Regex; 6]> = LazyLock::new(|| {
        [
            r#"No such file or directory: ['"]([\w.+-]+)['"]"#,
            r"(?:^|[\s:])([\w.+-]+): (?:command )?not found",
            r#"(?:exec: )?"([\w.+-]+)": executable file not found"#,
            r"spawn ([\w.+-]+) ENOENT",
            r"([\w.+-]+) is not (?:on PATH|installed|available)",
            r"(?:needs|requires|missing) (?:the )?(?:program|command|tool) ([\w.+-]+)",
        ]
        .map(expression)
    });
    let found = FORMS.iter().find_map(|form| form.captures(error))?[1].to_owned();
    // A file of data has an ending; so have few programs.
    let data = [".txt", ".json", ".log", ".sock", ".pid", ".toml", ".yaml", ".yml", ".md", ".tmp", ".cfg"];
    (!data.iter().any(|ending| found.ends_with(ending))).then_some(found)
}

/// The permissions in an error: `0o644`, `0644`, `mode 644`.
pub fn modes(error: &str) -> Vec<u32> {
    static MODE: LazyLock<Regex> =
        LazyLock::new(|| expression(r"(?i)\b(?:0o|0|mode[ =:]+|100)([0-7]{3})\b|\b([0-7]{3}) (?:!=|==|vs\.?) "));
    let octal = |text: &str| u32::from_str_radix(text, 8).ok();
    MODE.captures_iter(error).filter_map(|found| octal(found.get(1).or_else(|| found.get(2))?.as_str())).collect()
}

/// Two modes of an error of which one is what the red run's umask leaves of the other, and the green run's does not.
pub fn masked(error: &str, red: &str, green: &str) -> Option<(u32, u32)> {
    let mask = |text: &str| u32::from_str_radix(text, 8).ok();
    let (red, green) = (mask(red)?, mask(green)?);
    let modes = modes(error);
    let pairs = modes.iter().flat_map(|whole| modes.iter().map(move |rest| (*whole, *rest)));
    pairs.into_iter().find(|(whole, rest)| whole != rest && whole & !red == *rest && whole & !green == *whole)
}

/// Whether an error has two dates, or two times, that differ.
pub fn has_two_times(error: &str) -> bool {
    static TIME: LazyLock<Regex> = LazyLock::new(|| {
        expression(
            r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?|(?:date|datetime|time)\([\d, ]+\)|\b\d{1,2}:\d{2}(?::\d{2})?\b",
        )
    });
    let found: Vec<&str> = TIME.find_iter(error).map(|found| found.as_str()).collect();
    found.iter().any(|time| *time != found[0])
}

/// Two words of an error that differ in case alone.
pub fn only_case(error: &str) -> Option<(String, String)> {
    let words: Vec<&str> = error
        .split(|c: char| c.is_whitespace() || "'\"`,;()[]{}".contains(c))
        .filter(|word| word.chars().count() > 2 && word.contains(['.', '/', '_', '-']))
        .take(60)
        .collect();
    words.iter().enumerate().find_map(|(index, one)| {
        let same = |other: &&&str| **other != *one && other.to_lowercase() == one.to_lowercase();
        words[..index].iter().find(same).map(|other| ((*other).to_owned(), (*one).to_owned()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_have_bare_names() {
        for (error, program) in [
            ("FileNotFoundError: [Errno 2] No such file or directory: 'tmux'", Some("tmux")),
            ("run.sh: line 3: jq: command not found", Some("jq")),
            ("sh: 1: jq: not found", Some("jq")),
            ("exec: \"gh\": executable file not found in $PATH", Some("gh")),
            ("Error: spawn node-gyp ENOENT", Some("node-gyp")),
            ("tmux is not installed", Some("tmux")),
            ("FileNotFoundError: [Errno 2] No such file or directory: '/tmp/x'", None),
            ("FileNotFoundError: [Errno 2] No such file or directory: 'out.txt'", None),
            ("AssertionError: 1 != 2", None),
        ] {
            assert_eq!(missing_program(error).as_deref(), program, "{error}");
        }
    }

    #[test]
    fn a_mode_is_what_the_umask_leaves() {
        let error = "AssertionError: '0o600' != '0o644'";
        assert_eq!(modes(error), [0o600, 0o644]);
        assert_eq!(masked(error, "0077", "0022"), Some((0o644, 0o600)));
        assert_eq!(masked(error, "0022", "0077"), None);
        assert_eq!(masked("expected mode 0775, got 0755", "0022", "0002"), Some((0o775, 0o755)));
        assert_eq!(modes("expected 12 of 345"), [0; 0]);
    }

    #[test]
    fn two_times_are_two() {
        assert!(has_two_times("datetime.date(2025, 8, 28) != datetime.date(2025, 8, 29)"));
        assert!(has_two_times("expected 2025-08-28T22:00:00Z, got 2025-08-29T01:00:00Z"));
        assert!(has_two_times("'23:00' != '01:00'"));
        assert!(!has_two_times("2025-08-28 is 2025-08-28"));
        assert!(!has_two_times("1 != 2"));
    }

    #[test]
    fn names_that_differ_in_case_alone() {
        assert_eq!(
            only_case("File exists: 'Readme.md' and 'README.md'").map(|(one, _)| one).as_deref(),
            Some("Readme.md")
        );
        assert_eq!(only_case("AssertionError: assertionerror"), None);
    }
}
