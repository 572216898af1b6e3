//! Programs that run another one which is given them as a word: the loader, boxes of many programs, and interpreters.

use std::path::Path;

/// Options of the C libraries' loaders that take the next word with them.
const LOADER_TAKES: [&str; 8] = [
    "--library-path",
    "--glibc-hwcaps-prepend",
    "--glibc-hwcaps-mask",
    "--inhibit-rpath",
    "--audit",
    "--preload",
    "--argv0",
    "--ld-preload",
];
/// Options with which a loader runs nothing.
const LOADER_TELLS: [&str; 6] = ["--list", "--verify", "--list-tunables", "--list-diagnostics", "--help", "--version"];
/// Options of interpreters that take a file, which is none to be run by itself.
const INTERPRETER_TAKES: [&str; 4] = ["-r", "--require", "--import", "--loader"];
const BOXES: [&str; 2] = ["busybox", "toybox"];
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "yash"];

/// The file that a program of this name loads and runs as a program, if it is a loader (`/lib64/ld-linux-x86-64.so.2`).
pub fn loaded<'a>(name: &str, argv: &'a [String]) -> Option<&'a str> {
    let is_loader = name == "ld.so" || name.starts_with("ld") && name.contains(".so");
    let mut words = argv.iter().skip(1).map(String::as_str).filter(|_| is_loader);
    while let Some(word) = words.next() {
        match word {
            _ if LOADER_TELLS.contains(&word) => return None,
            _ if LOADER_TAKES.contains(&word) => _ = words.next(),
            _ if word.starts_with('-') => {}
            _ => return Some(word),
        }
    }
    None
}

/// The program that a box of this name is, as which it is called or which its first word names (`busybox wget`).
pub fn boxed<'a>(name: &str, argv: &'a [String]) -> Option<&'a str> {
    let [first, rest @ ..] = argv else { return None };
    if !BOXES.iter().any(|its| name.starts_with(its)) {
        return None;
    }
    let called = Path::new(first).file_name()?.to_str()?;
    if BOXES.iter().any(|its| called.starts_with(its)) { rest.first().map(String::as_str) } else { Some(called) }
}

/// The words of an interpreter's that may be its script: the first of them that is a file is it. None if it is given a text
/// or a module, or only parses.
pub fn scripts<'a>(name: &str, argv: &'a [String]) -> impl Iterator<Item = &'a str> {
    let is_shell = SHELLS.contains(&name);
    let is_text = move |word: &str| match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => matches!(long, "-eval" | "-print"),
        Some(short) if is_shell => short.contains(['c', 'n']),
        Some(short) => short.ends_with(['c', 'e', 'm', 'p']),
        None => false,
    };
    let is_first = |at: usize| at == 0 || !INTERPRETER_TAKES.contains(&argv[at].as_str());
    let words = argv.iter().skip(1).enumerate().filter(move |(at, _)| is_first(*at)).map(|(_, word)| word.as_str());
    words.take_while(move |word| !is_text(word)).filter(|word| !word.starts_with('-'))
}

/// What interpreters of one language have in common in their names: `python` of `python3.11`, and of every shell the same.
pub fn language(name: &str) -> &str {
    let name = name.trim_end_matches(|letter: char| letter.is_ascii_digit() || ".-".contains(letter));
    if SHELLS.contains(&name) { "sh" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_a_loader_runs_is_its_first_word_that_is_no_option() {
        for (argv, file) in [
            ("ld.so /usr/bin/tmux -V", Some("/usr/bin/tmux")),
            ("ld.so --argv0 x --library-path=/lib --inhibit-cache /usr/bin/tmux", Some("/usr/bin/tmux")),
            ("ld.so --list /usr/bin/tmux", None),
            ("ld.so", None),
        ] {
            assert_eq!(loaded("ld-linux-x86-64.so.2", &words(argv)), file, "{argv}");
        }
        assert_eq!(loaded("ld-musl-x86_64.so.1", &words("ld /bin/ls")), Some("/bin/ls"));
        assert_eq!(loaded("ldd", &words("ldd /usr/bin/tmux")), None);
    }

    #[test]
    fn a_box_is_what_it_is_called_as() {
        for (argv, program) in
            [("busybox wget x", Some("wget")), ("wget x", Some("wget")), ("/bin/busybox.static", None)]
        {
            assert_eq!(boxed("busybox", &words(argv)), program, "{argv}");
        }
        assert_eq!(boxed("env", &words("env wget")), None);
    }

    #[test]
    fn a_script_is_told_from_a_text_and_a_module() {
        for (name, argv, may_be) in [
            ("node", "node --no-warnings npm-cli.js x", &["npm-cli.js", "x"][..]),
            ("node", "node -e code npm-cli.js", &[]),
            ("python3.11", "python3 -sE -W ignore pip", &["ignore", "pip"]),
            ("python3.11", "python3 -m pip", &[]),
            ("bash", "bash -e -x ldd", &["ldd"]),
            ("bash", "bash -ec ldd", &[]),
            ("bash", "bash -n ldd", &[]),
            ("node", "node -r ./first.js --import x.mjs npm-cli.js", &["npm-cli.js"]),
        ] {
            assert_eq!(scripts(name, &words(argv)).collect::<Vec<_>>(), may_be, "{argv}");
        }
        assert_eq!(["python3.11", "bash", "dash", "node"].map(language), ["python", "sh", "sh", "node"]);
    }
}
