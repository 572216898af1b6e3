//! Which self-test seems to test which wired command: by their names.

use std::collections::BTreeSet;

use super::find::{SelfTest, base};
use crate::model::Wiring;

/// Words of commands that name no hook.
const PROGRAMS: &[&str] = &[
    "python", "python3", "bash", "node", "true", "false", "exec", "echo", "test", "export", "hook", "hooks", "main",
    "index", "null",
];

/// The wired commands that a self-test seems to test, as indices.
pub fn tested(test: &SelfTest, wired: &[Wiring]) -> Vec<usize> {
    (0..wired.len()).filter(|index| fits(test, wired[*index].command())).collect()
}

fn fits(test: &SelfTest, command: &str) -> bool {
    let subjects: BTreeSet<String> = test.files.iter().filter_map(|file| subject(file)).collect();
    names(command).any(|name| subjects.contains(&name))
}

/// What a test file is named after: `sweep` for `test_sweep.py`, `sweep_test.sh` and `sweep.test.js`.
fn subject(file: &str) -> Option<String> {
    let name = normal(base(file).split('.').next().unwrap_or_default());
    let subject = name.strip_prefix("test_").or_else(|| name.strip_suffix("_test")).unwrap_or(&name);
    is_telling(subject).then(|| subject.to_owned())
}

/// The names in a command: every word's last part, without its ending.
fn names(command: &str) -> impl Iterator<Item = String> {
    let words = command.split(|c: char| c.is_whitespace() || "\"'`;&|()<>=$,".contains(c));
    words
        .filter_map(|word| word.rsplit(['/', '\\']).next())
        .map(|word| normal(word.rsplit_once('.').map_or(word, |(stem, _)| stem)))
        .filter(|name| is_telling(name))
}

fn normal(name: &str) -> String {
    name.to_lowercase().replace(['-', '.'], "_")
}

fn is_telling(name: &str) -> bool {
    name.len() >= 3 && !PROGRAMS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ReaderChoice;

    fn pairs(file: &str, command: &str) -> bool {
        let test = SelfTest {
            id: "x".to_owned(),
            run: Vec::new(),
            reader: ReaderChoice::Auto,
            files: vec![file.to_owned()],
            remarks: Vec::new(),
        };
        fits(&test, command)
    }

    #[test]
    fn a_test_is_named_after_its_script() {
        for (file, command) in [
            ("hooks/test_sweep.py", "python3 hooks/sweep.py --all"),
            ("tests/test_sweep.py", "python3 \"$CLAUDE_PROJECT_DIR\"/.claude/hooks/sweep.py"),
            ("hooks/test-session-start.sh", "\"${CLAUDE_PLUGIN_ROOT}/hooks/run-hook.cmd\" session-start"),
            ("tests/git-safety.test.js", "node \"${CLAUDE_PLUGIN_ROOT}/git-safety.js\""),
            ("hooks/sweep_test.sh", "cmd /c hooks\\sweep.cmd"),
            ("hooks/test_pre_commit.py", ".husky/pre-commit"),
        ] {
            assert!(pairs(file, command), "{file} {command}");
        }
        for (file, command) in [
            ("hooks/test_sweep.py", "python3 hooks/sweeper.py"),
            ("hooks/test_python3.py", "python3 hooks/a.py"),
            ("hooks/test_.py", "python3 hooks/.py"),
            ("test.sh", "./test.sh"),
        ] {
            assert!(!pairs(file, command), "{file} {command}");
        }
    }
}
