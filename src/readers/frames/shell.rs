//! Where a shell script died: `t.sh: line 12: foo: command not found`, in each shell's own way to say it.

use std::sync::LazyLock;

use regex::Regex;

use super::Finder;
use crate::model::Frame;
use crate::readers::Context;
use crate::readers::cases::{clip, number};
use crate::readers::own_code::own_name;

/// bash, busybox: `t.sh: line 12: MESSAGE`.
static BASH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(\S.*?): line (\d+): (\S.*)$").expect("a constant"));
/// dash: `t.sh: 12: MESSAGE`.
static DASH: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^(\S.*?): (\d+): (\S.*)$").expect("a constant"));
/// zsh: `t.sh:12: MESSAGE`, `t.sh:cd:12: MESSAGE`.
static ZSH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(\S[^:]*):(?:[a-z]+:)?(\d+): (\S.*)$").expect("a constant"));
/// mksh, ksh: `t.sh[12]: MESSAGE`, with who started it before.
static KSH: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?:[EW]: )?(?:[^:]+: )?(\S[^:]*)\[(\d+)\]: (\S.*)$").expect("a constant"));
/// What a script says itself: `FAIL t.sh:12: MESSAGE`, `error in t.sh on line 12`.
static SAID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"^(?:(?i:fail|failed|failure|error|assertion failed|assert failed)|not ok|✗|✘|❌)(?:[: ]| (?:at|in|on|near)\b)* ?\[?([^\s:]+)(?::| line |, line | on line |: line )(\d+)\]?(?:(?:: ?| - | )(\S.*))?$",
    )
    .expect("a constant")
});
/// What shells say of commands, files and words that are not there or wrong.
const KNOWN: [&str; 22] = [
    "not found",
    "no such file",
    "permission denied",
    "syntax error",
    "parse error",
    "unbound variable",
    "parameter not set",
    "parameter null or not set",
    "readonly variable",
    "read-only",
    "read only",
    "cannot open",
    "can't open",
    "cannot create",
    "can't create",
    "can't cd",
    "cannot execute",
    "is a directory",
    "not a directory",
    "bad substitution",
    "illegal number",
    "unexpected",
];

/// Finds the last complaint of a shell that names a place in a file.
///
/// Without `set -e` a shell goes on after a complaint, and with it the last one is where it died; so the last one counts,
/// and there is one frame in a stream. dash names the script that was started and the line of the one that was sourced;
/// nothing tells them apart.
#[derive(Debug)]
pub struct Complaints<'a> {
    context: Context<'a>,
    last: Option<Frame>,
}

impl Finder for Complaints<'_> {
    fn line(&mut self, text: &str) -> Option<Frame> {
        if let Some((file, line, error)) = complaint(text)
            && let Some(file) = own_name(file, &self.context)
        {
            // bash tells of a syntax error in two lines, the first of which says what it is.
            if !self.last.as_ref().is_some_and(|last| last.file == file && last.line == line) {
                self.last = Some(Frame { error: error.map(clip), ..Frame::new(clip(&file), line) });
            }
        }
        None
    }

    fn finish(&mut self) -> Option<Frame> {
        self.last.take()
    }
}

impl<'a> Complaints<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self { context, last: None }
    }
}

/// The file, the line and the message.
fn complaint(text: &str) -> Option<(&str, u64, Option<&str>)> {
    // Within TAP it is a comment; a trace (`set -x`) begins with `+`.
    let text = text.trim_start();
    let text = text.strip_prefix("# ").unwrap_or(text).trim_start();
    if text.starts_with('+') || text.len() > 4_000 || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let read = |form: &Regex| {
        let found = form.captures(text)?;
        let (file, line) = (found.get(1)?.as_str(), number(&found[2])?);
        Some((file, line, found.get(3).map(|it| it.as_str())))
    };
    let told = |(file, _, message): &(&str, u64, Option<&str>)| {
        let message = message.unwrap_or_default();
        is_file(file) && (is_script(file) || is_known(message)) && !is_notice(message)
    };
    if let Some(found) = text.contains(": line ").then(|| read(&BASH)).flatten() {
        return Some(found).filter(|(file, _, message)| is_file(file) && !is_notice(message.unwrap_or_default()));
    }
    if let Some(found) = text.contains("]: ").then(|| read(&KSH)).flatten().filter(told) {
        return Some(found);
    }
    if let Some(found) = text.contains(": ").then(|| read(&DASH)).flatten().filter(told) {
        return Some(found);
    }
    // `grep -n` and compilers write the same, so that only what a shell says counts. In a function of zsh's, the line is
    // one of the function.
    let zsh = text.contains(": ").then(|| read(&ZSH)).flatten();
    if let Some(found) =
        zsh.filter(|found| found.0.contains(['/', '.']) && told(found) && is_known(found.2.unwrap_or_default()))
    {
        return Some(found);
    }
    read(&SAID).filter(|(file, _, _)| is_script(file))
}

/// Whether that is the name of a file, and not of a shell that was given its script as an argument, or of a function.
fn is_file(name: &str) -> bool {
    let path = name.contains('/') || is_script(name) || !name.contains([' ', ':']);
    let shell = matches!(
        name.trim_start_matches('-'),
        "sh" | "bash" | "dash" | "ash" | "zsh" | "ksh" | "mksh" | "busybox" | "environment" | "main" | "stdin"
    );
    let program = ["/bin/", "/usr/", "/proc/", "/dev/"].iter().any(|begin| name.starts_with(begin));
    path && !shell && !program && !name.contains(": ")
}

fn is_script(name: &str) -> bool {
    [".sh", ".bash", ".bats", ".zsh", ".ksh", ".dash"].iter().any(|end| name.ends_with(end))
}

fn is_known(message: &str) -> bool {
    let message = message.to_lowercase();
    KNOWN.iter().any(|known| message.contains(known))
}

/// bash tells of a job that a script ended itself as it tells of one that died.
fn is_notice(message: &str) -> bool {
    let message = message.trim_start();
    let rest = message.trim_start_matches(|letter: char| letter.is_ascii_digit());
    rest.len() < message.len() && ["Terminated", "Hangup"].iter().any(|word| rest.trim_start().starts_with(word))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn found(text: &str) -> Option<(String, u64, Option<String>)> {
        let context = Context::new(Path::new("/p"), Path::new("/p"));
        let mut complaints = Complaints::new(context);
        text.lines().for_each(|line| assert_eq!(complaints.line(line), None));
        complaints.finish().map(|frame| (frame.file, frame.line, frame.error))
    }

    #[test]
    fn complaints_of_each_shell() {
        for (text, file, line, error) in [
            ("t.sh: line 12: foo: command not found", "t.sh", 12, "foo: command not found"),
            ("./hooks/pre-commit: line 3: x: unbound variable", "hooks/pre-commit", 3, "x: unbound variable"),
            ("/p/a b/t.sh: line 4: 77 Segmentation fault      ./x", "a b/t.sh", 4, "77 Segmentation fault      ./x"),
            ("t.sh: 12: foo: not found", "t.sh", 12, "foo: not found"),
            (
                ".git/hooks/pre-push: 7: Syntax error: end of file unexpected",
                ".git/hooks/pre-push",
                7,
                "Syntax error: end of file unexpected",
            ),
            ("t.sh: 3: NAME: must be set", "t.sh", 3, "NAME: must be set"),
            ("./t.sh:12: command not found: foo", "t.sh", 12, "command not found: foo"),
            ("t.sh:cd:1: no such file or directory: /x", "t.sh", 1, "no such file or directory: /x"),
            ("E: t.sh[7]: foo: inaccessible or not found", "t.sh", 7, "foo: inaccessible or not found"),
            ("E: t.sh: lib.sh[1]: cd: /x: No such file or directory", "lib.sh", 1, "cd: /x: No such file or directory"),
            (
                "# /p/t.bats: line 7: syntax error near unexpected token `}'",
                "t.bats",
                7,
                "syntax error near unexpected token `}'",
            ),
            ("FAIL t.sh:12: two: expected 3", "t.sh", 12, "two: expected 3"),
            ("Error in t/run.sh on line 9", "t/run.sh", 9, ""),
            ("ERROR: t/run.sh:9", "t/run.sh", 9, ""),
            ("assertion failed at t.sh:4: x", "t.sh", 4, "x"),
            (
                "a.sh: line 1: first: command not found\na.sh: line 9: second: command not found",
                "a.sh",
                9,
                "second: command not found",
            ),
            ("t.sh: line 4: syntax error near `)'\nt.sh: line 4: `fi )'", "t.sh", 4, "syntax error near `)'"),
        ] {
            let error = Some(error.to_owned()).filter(|error| !error.is_empty());
            assert_eq!(found(text), Some((file.to_owned(), line, error)), "{text}");
        }
    }

    #[test]
    fn what_is_none() {
        for text in [
            "",
            "bash: line 1: foo: command not found",
            "sh: 1: foo: not found",
            "say:1: command not found: foo",
            "+ t.sh: line 12: foo: command not found",
            "+(t.sh:12): foo",
            "t.sh: line 5: 4242 Terminated              sleep 60",
            "src/a.c:12: error: x",
            "README.md: 12: a line",
            "t.sh:12:    if foo; then",
            "see t.sh:12: it is not good",
            "FAIL t.py:12: x",
            "12: 13: 14",
            "/usr/libexec/bats-core/bats-exec-suite: line 422: 4039 Killed  x",
            "/usr/lib/git-core/git-sh-setup: line 46: /x: No such file or directory",
            "10:11:12: not found",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
