//! Whether what a check calls ran at all: an interpreter that can't open its script ends with a status that is easily taken
//! for an answer, and so does a shell that finds no such program.

use std::sync::LazyLock;

use regex::Regex;

use super::output;
use crate::model::{Check, CheckCommand, Exit, Reading, TextRule};
use crate::platform::{Captured, Ended, Outcome};

/// What an interpreter or a shell says last, with the status that it ends with then. Versions and folders may stand before
/// its name.
struct Said {
    codes: &'static [i32],
    line: LazyLock<Regex>,
    /// Whether it is the script that is missing, and nothing else can have run.
    script: bool,
}

macro_rules! said {
    ($codes:expr, $line:literal, $script:expr) => {
        Said {
            codes: &$codes,
            line: LazyLock::new(|| Regex::new($line).expect("an expression of this file")),
            script: $script,
        }
    };
}

static SAID: [Said; 9] = [
    said!([2], r"^\S*python[\d.]*(\.exe)?: can't open file ", true),
    said!(
        [1],
        r"^\S*python[\d.]*(\.exe)?: (No module named |can't find '__main__' module |Error while finding module )",
        true
    ),
    said!([2], r"^\S*sh: (\d+: cannot open |can't open ')", true),
    said!([127], r"^\S*sh: (\S+: No such file or directory$|can't open input file: )", true),
    said!([2], r"^Can't open perl script ", true),
    said!([1], r"^\S*ruby\S*: No such file or directory -- ", true),
    said!([126, 127], r"^\S*sh: .*: (not found|command not found|No such file or directory|Permission denied)$", false),
    said!([126, 127], r"^\S*env: .*: (No such file or directory|Permission denied)$", false),
    said!([1, 9009], r" is not recognized as an internal or external command,?$", false),
];

/// What somebody writes who expects such words.
const MEANT: [&str; 6] = ["open", "No such", "not found", "No module", "find", "denied"];

/// Why what a check calls did not run; `None` if nothing says so. A hook is proven by itself.
#[must_use]
pub fn seen(check: &Check, outcome: &Outcome, reading: &Reading) -> Option<String> {
    let by_status = matches!(outcome.exit, Some(Exit::Code(code)) if code != 0);
    if outcome.ended != Ended::ByItself || !by_status || matches!(check.command, CheckCommand::Hook(_)) {
        return None;
    }
    let text = |captured: &Captured| output::output(captured, None).tail;
    let any_case = reading.counts.ran.is_some_and(|ran| ran > 0);
    unstarted(check, outcome.exit, &text(&outcome.stdout), &text(&outcome.stderr), any_case)
}

/// The same by how it ended and what it wrote. `any_case`: whether its
/// output has a case, and then something did.
///
/// A status that is expected proves nothing without a sign of the hook's own; one that is not is red either way, and only a
/// missing script is told from a check that ran.
fn unstarted(check: &Check, exit: Option<Exit>, stdout: &str, stderr: &str, any_case: bool) -> Option<String> {
    let Some(Exit::Code(code)) = exit.filter(|exit| *exit != Exit::Code(0)) else { return None };
    let positive = |rule: &&TextRule| matches!(rule, TextRule::Contains(_) | TextRule::Matches(_));
    let is_meant = |rule: &TextRule| {
        let (TextRule::Contains(text) | TextRule::Matches(text) | TextRule::NotContains(text)) = rule;
        MEANT.iter().any(|words| text.contains(words))
    };
    let has_sign = check.expect.stdout.iter().any(|rule| positive(&rule))
        || check.expect.stderr.iter().filter(positive).any(is_meant);
    if any_case || has_sign {
        return None;
    }
    let is_expected = check.expect.exit == code;
    let last = stderr.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    let by_line = SAID.iter().find(|said| said.codes.contains(&code) && said.line.is_match(last));
    let (line, script) = match by_line {
        Some(said) => (last, said.script),
        None => (without_module(code, stderr)?, true),
    };
    (is_expected || (script && stdout.trim().is_empty())).then(|| format!("did not start: {line}"))
}

/// The line in which node says that the script itself is not there: nothing required it.
fn without_module(code: i32, stderr: &str) -> Option<&str> {
    let is_first = code == 1 && stderr.contains("requireStack: []");
    let line = || stderr.lines().find(|line| line.starts_with("Error: Cannot find module '"));
    is_first.then(line).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::CheckCommand;

    fn told(expected: i32, code: i32, stdout: &str, stderr: &str) -> bool {
        let mut check = Check::new("a", CheckCommand::Argv(vec!["sh".into()]));
        check.expect.exit = expected;
        unstarted(&check, Some(Exit::Code(code)), stdout, stderr, false).is_some()
    }

    #[test]
    fn a_status_that_an_interpreter_gives_is_no_answer() {
        for (code, stderr) in [
            (2, "/usr/bin/python3: can't open file '/p/guard.py': [Errno 2] No such file or directory"),
            (2, "python3.11: can't open file 'guard.py': [Errno 2] No such file or directory\n\n"),
            (1, "/root/.pyenv/versions/3.11.7/bin/python3: No module named guard"),
            (
                1,
                "python: Error while finding module specification for 'a.b' (ModuleNotFoundError: No module named 'a')",
            ),
            (
                1,
                "node:internal\n  throw err;\n\nError: Cannot find module '/p/guard.mjs'\n  requireStack: []\n}\n\nNode.js v20",
            ),
            (2, "sh: 0: cannot open guard.sh: No such file"),
            (2, "sh: can't open 'guard.sh': No such file or directory"),
            (127, "bash: guard.sh: No such file or directory"),
            (127, "zsh: can't open input file: guard.sh"),
            (2, "Can't open perl script \"guard.pl\": No such file or directory"),
        ] {
            assert!(told(code, code, "checking\n", stderr), "{stderr}");
            assert!(told(0, code, "", stderr), "{stderr}");
            assert!(!told(0, code, "checking\n", stderr), "something ran: {stderr}");
            assert!(!told(code, code + 3, "", stderr), "{stderr}");
        }
    }

    #[test]
    fn a_program_that_is_missing_is_told_where_its_status_is_expected() {
        for stderr in [
            "sh: 1: guard: not found",
            "bash: line 1: guard: command not found",
            "env: 'guard': No such file or directory",
            "x.sh: 1: ./guard: Permission denied",
        ] {
            assert!(told(127, 127, "", stderr), "{stderr}");
            assert!(!told(0, 127, "", stderr), "the check itself may have looked for it: {stderr}");
        }
    }

    #[test]
    fn what_has_a_sign_of_its_own_ran() {
        let stderr = "python3: can't open file 'guard.py': [Errno 2] No such file or directory";
        let mut check = Check::new("a", CheckCommand::Argv(vec!["sh".into()]));
        check.expect.exit = 2;
        let told = |check: &Check, any_case| unstarted(check, Some(Exit::Code(2)), "", stderr, any_case).is_some();
        assert!(told(&check, false) && !told(&check, true));
        check.expect.stderr = vec![TextRule::Contains("guard".into())];
        assert!(told(&check, false), "the interpreter names it");
        check.expect.stderr = vec![TextRule::Contains("can't open file".into())];
        assert!(!told(&check, false), "that is what is tested");
        check.expect.stderr = Vec::new();
        check.expect.stdout = vec![TextRule::Contains("denied".into())];
        assert!(!told(&check, false), "its own words are missing, and said to be");
        assert_eq!(unstarted(&check, Some(Exit::Code(0)), "", stderr, false), None);
    }
}
