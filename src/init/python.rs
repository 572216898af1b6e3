//! Self-tests in Python: pytest's, unittest's, and scripts that run themselves.

use std::sync::LazyLock;

use regex::Regex;

use super::find::{Files, Found, ancestors, argument, base, folder, is_beside_hooks, join};
use super::python_groups as groups;

/// More self-tests than this in one folder are no hook's own; they are run together.
const MOST_BESIDE_HOOKS: usize = 30;

fn regex(expression: &str) -> Regex {
    Regex::new(expression).expect("a constant")
}

static PYTEST: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^[ \t]*(?:import[ \t]+pytest\b|from[ \t]+pytest\b)"));
static MAIN: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?m)^if[ \t]+(?:__name__[ \t]*==[ \t]*["']__main__["']|["']__main__["'][ \t]*==[ \t]*__name__)"#)
});
static UNITTEST_MAIN: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^[ \t]*unittest\.main\("));
static TEST_CASE: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?m)^[ \t]*class[ \t]+\w+\(.*(?:TestCase|IsolatedAsyncioTestCase)\b"));
static TEST_FUNCTION: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^(?:async[ \t]+)?def[ \t]+test|^class[ \t]+Test"));
static STATEMENT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?m)^(?:assert\b|sys\.exit\(|raise[ \t]+SystemExit|exit\(|print\(|main\(|run\()"));
static IMPORT: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^[ \t]*(?:import|from)[ \t]+(\w+)"));
static IDENTIFIERS: LazyLock<Regex> = LazyLock::new(|| regex(r"^(?:[A-Za-z_]\w*/)*[A-Za-z_]\w*\.py$"));
static DISCOVERED: LazyLock<Regex> = LazyLock::new(|| regex(r"(?i)^[_a-z]\w*\.py$"));

/// What runs a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    Pytest,
    Unittest,
    /// The file itself.
    Script,
}

/// Whether a file is named like a self-test.
pub fn is_named(name: &str) -> bool {
    let base = base(name);
    base.strip_suffix(".py")
        .is_some_and(|stem| stem.starts_with("test_") || stem.starts_with("test-") || stem.ends_with("_test"))
}

/// Finds them.
pub fn find(files: &Files<'_>, found: &mut Found) {
    let configured = groups::configured(files);
    let mut together: Vec<(&str, Runner)> = Vec::new();
    let mut unknown: Vec<&str> = Vec::new();
    let mut unread: Vec<&str> = Vec::new();
    let mut alone: Vec<&str> = Vec::new();
    for &name in files.names.iter().filter(|name| is_named(name)) {
        let Some(text) = (files.text)(name) else {
            unread.push(name);
            continue;
        };
        let beside = is_beside_hooks(name) && crowd(files, folder(name)) <= MOST_BESIDE_HOOKS;
        let pytest = ancestors(folder(name))
            .any(|above| configured.contains(above) || files.names.contains(join(above, "conftest.py").as_str()));
        match (runner(&text, pytest, beside), beside) {
            (None, _) => unknown.push(name),
            (Some(Runner::Script), _) => drop(found.file(name, &["python3", &argument(name)])),
            (Some(Runner::Pytest), true) => {
                alone.push(name);
                found.file(name, &["python3", "-m", "pytest", &argument(name)]);
            }
            (Some(Runner::Unittest), true) => {
                let words = unittest(files, name, &text);
                found.file(name, &words.iter().map(String::as_str).collect::<Vec<_>>());
            }
            (Some(runner), false) => together.push((name, runner)),
        }
    }
    groups::pytest(files, &together, &configured, &alone, found);
    groups::unittest(files, &together, found);
    found.passed_over(&unknown, "named like a self-test, and nothing in it shows what runs it");
    found.passed_over(&unread, "named like a self-test, and not a regular file of text");
}

/// How many self-tests lie in a folder.
fn crowd(files: &Files<'_>, of: &str) -> usize {
    files.names.iter().filter(|name| folder(name) == of && is_named(name)).count()
}

/// What runs the file, as its text tells. A hook's self-test that can run itself does so; elsewhere the project's runner
/// comes first.
fn runner(text: &str, pytest: bool, beside_hooks: bool) -> Option<Runner> {
    let main = MAIN.is_match(text) || UNITTEST_MAIN.is_match(text);
    let case = TEST_CASE.is_match(text);
    let function = TEST_FUNCTION.is_match(text);
    if PYTEST.is_match(text) || (pytest && !beside_hooks && (case || function)) {
        return Some(Runner::Pytest);
    }
    if main && (beside_hooks || !case) {
        return Some(Runner::Script);
    }
    if case {
        return Some(Runner::Unittest);
    }
    if function {
        return Some(Runner::Pytest);
    }
    (beside_hooks && STATEMENT.is_match(text)).then_some(Runner::Script)
}

/// `python3 -m unittest FILE` where the path is a module's name and the file needs nothing beside it on the path, else
/// by discovery, which puts the file's folder there.
fn unittest(files: &Files<'_>, name: &str, text: &str) -> Vec<String> {
    let place = folder(name);
    let package = files.names.contains(join(place, "__init__.py").as_str());
    let neighbour =
        |module: &str| !place.is_empty() && files.names.contains(join(place, &format!("{module}.py")).as_str());
    let imports_neighbour = !package && IMPORT.captures_iter(text).any(|import| neighbour(&import[1]));
    let words: Vec<&str> = if IDENTIFIERS.is_match(name) && !imports_neighbour {
        vec!["python3", "-m", "unittest", name]
    } else if DISCOVERED.is_match(base(name)) {
        let folder = if place.is_empty() { "." } else { place };
        return ["python3", "-m", "unittest", "discover", "-s", &argument(folder), "-p", base(name)]
            .map(str::to_owned)
            .to_vec();
    } else {
        // No module's name: neither the loader nor discovery takes it.
        return ["python3", "-m", "pytest", &argument(name)].map(str::to_owned).to_vec();
    };
    words.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_tells_the_runner() {
        let case = "class A(unittest.TestCase):\n    pass\n";
        let main = "if __name__ == '__main__':\n    unittest.main()\n";
        for (text, pytest, beside, expected) in [
            (format!("{case}{main}"), true, true, Some(Runner::Script)),
            (format!("{case}{main}"), true, false, Some(Runner::Pytest)),
            (format!("{case}{main}"), false, false, Some(Runner::Unittest)),
            (case.to_owned(), false, true, Some(Runner::Unittest)),
            (format!("import pytest\n{case}{main}"), false, true, Some(Runner::Pytest)),
            ("# import pytest\ndef test_a(): pass\n".to_owned(), false, true, Some(Runner::Pytest)),
            (
                "def test_a(): pass\nif __name__ == \"__main__\": test_a()\n".to_owned(),
                false,
                true,
                Some(Runner::Script),
            ),
            ("assert 1\n".to_owned(), false, true, Some(Runner::Script)),
            ("assert 1\n".to_owned(), false, false, None),
            ("x = 1\n".to_owned(), true, true, None),
            ("class Helper(IsolatedAsyncioTestCase): ...".to_owned(), false, true, Some(Runner::Unittest)),
        ] {
            assert_eq!(runner(&text, pytest, beside), expected, "{text}");
        }
    }

    #[test]
    fn a_path_that_is_no_module_is_discovered() {
        let names = ["hooks/sweep.py", "hooks/test_sweep.py", ".claude/hooks/test_a.py", "-x/hooks/test_b.py"];
        let text = |_: &str| None;
        let files = Files { names: names.into_iter().collect(), text: &text };
        let run = |name, text| unittest(&files, name, text).join(" ");
        assert_eq!(run("hooks/test_sweep.py", "import json"), "python3 -m unittest hooks/test_sweep.py");
        assert_eq!(
            run("hooks/test_sweep.py", "import sweep"),
            "python3 -m unittest discover -s hooks -p test_sweep.py"
        );
        assert_eq!(run(".claude/hooks/test_a.py", ""), "python3 -m unittest discover -s .claude/hooks -p test_a.py");
        assert_eq!(run("-x/hooks/test_b.py", ""), "python3 -m unittest discover -s ./-x/hooks -p test_b.py");
    }
}
