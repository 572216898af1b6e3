//! Whether what a check calls ran at all: an interpreter that can't open its script, or can't read it, ends with a status that
//! is easily taken for an answer, and so does a shell that finds no such program.

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

static SAID: [Said; 15] = [
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
    // It is there, and can't be understood, or lacks what it is made of: it gave no answer either.
    said!([1], r"^(ModuleNotFoundError|ImportError|SyntaxError|IndentationError|TabError): ", false),
    said!([2], r"^.+: (line )?\d+: ([Ss]yntax error|unexpected EOF|`.*'$)", false),
    said!([2, 255], r"^(BEGIN failed--compilation aborted|Execution of .* aborted due to compilation errors)", false),
    said!([1], r"^\S+\.rb:\d+: .*(syntax error|cannot load such file)", false),
    said!([2], r"^Try `python -h' for more information\.$", false),
    said!([9], r"^\S*node\S*: bad option: ", false),
    said!([1, 9009], r" is not recognized as an internal or external command,?$", false),
];

/// What somebody writes who expects such words.
const MEANT: [&str; 7] = ["open", "No such", "not found", "No module", "find", "denied", "rror"];

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
        None => unloaded(code, stderr)?,
    };
    (is_expected || (script && stdout.trim().is_empty())).then(|| format!("did not start: {line}"))
}

/// The line in which node says that the script is not there, or can't be loaded, and whether it is the first: then nothing
/// required it.
fn unloaded(code: i32, stderr: &str) -> Option<(&str, bool)> {
    const WHYS: [&str; 3] = ["Error: Cannot find module '", "Error [ERR_MODULE_NOT_FOUND]: ", "SyntaxError: "];
    let is_node = code == 1 && (stderr.contains("\nNode.js v") || stderr.contains("requireStack: []"));
    let line = || stderr.lines().find(|line| WHYS.iter().any(|why| line.starts_with(why)));
    is_node.then(line).flatten().map(|line| (line, stderr.contains("requireStack: []")))
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
    fn what_cannot_be_loaded_gave_no_answer() {
        for (code, stderr) in [
            (
                1,
                "Traceback (most recent call last):\n  File \"g.py\", line 1\nModuleNotFoundError: No module named 'x'",
            ),
            (1, "  File \"g.py\", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax"),
            (2, "g.sh: line 2: syntax error near unexpected token `then'\ng.sh: line 2: `if then'"),
            (2, "my hooks/g.sh: 2: Syntax error: \"then\" unexpected"),
            (2, "g.sh: line 1: unexpected EOF while looking for matching `\"'"),
            (
                2,
                "Can't locate X.pm in @INC (@INC contains: /etc/perl) at g.pl line 1.\nBEGIN failed--compilation aborted at g.pl line 1.",
            ),
            (255, "syntax error at g.pl line 1\nExecution of g.pl aborted due to compilation errors."),
            (2, "Unknown option: -Z\nusage: python3 [option]\nTry `python -h' for more information."),
            (
                1,
                "g.cjs:1\nimport x\n^\n\nSyntaxError: Cannot use import statement outside a module\n\nNode.js v20.20.2",
            ),
            (1, "  throw new ERR\n\nError [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'\n\nNode.js v20.20.2"),
        ] {
            assert!(told(code, code, "checking\n", stderr), "{stderr}");
            assert!(!told(0, code, "", stderr), "where it broke says more: {stderr}");
        }
        for answer in ["refused: SyntaxError: in the diff", "guard.py: error: rm -rf is refused", "ValueError: x"] {
            assert!(!told(1, 1, "", answer) && !told(2, 2, "", answer), "{answer}");
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
