//! Which files are self-tests, and what runs them: decisions over names and texts.

use std::collections::BTreeSet;

use super::ids::Ids;
use super::{cargo, node, python, shell};
use crate::model::ReaderChoice;

/// Folders in which hooks lie; a self-test there gets a check of its own.
const HOOK_FOLDERS: &[&str] = &[
    "hooks",
    ".hooks",
    "git-hooks",
    ".git-hooks",
    "githooks",
    ".githooks",
    ".husky",
    "scripts",
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".windsurf",
];

/// Folders of what tests read, which may well look like tests.
const FIXTURE_FOLDERS: &[&str] = &["fixtures", "__fixtures__", "testdata", "test-fixtures", "test_fixtures"];

/// The most checks that are made.
const MOST: usize = 200;

/// What the finders look at.
pub struct Files<'a> {
    /// Relative, with `/`, sorted.
    pub names: BTreeSet<&'a str>,
    /// The text of a file; `None` for what is no text, or no regular file.
    pub text: &'a dyn Fn(&str) -> Option<String>,
}

/// One self-test: what will be a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfTest {
    pub id: String,
    pub run: Vec<String>,
    /// `None` where the output is in a form that no reader reads.
    pub reader: ReaderChoice,
    /// The files that it runs, as far as they are known.
    pub files: Vec<String>,
    /// What a person should know, for comments.
    pub remarks: Vec<String>,
}

/// The self-tests of a project.
#[derive(Debug, Default)]
pub struct Found {
    pub tests: Vec<SelfTest>,
    /// What looks like one and is not among them, and why.
    pub notes: Vec<String>,
    pub(super) ids: Ids,
}

impl Found {
    /// Takes a file of its own as a self-test.
    pub fn file(&mut self, file: &str, run: &[&str]) -> &mut SelfTest {
        let id = self.ids.of_file(file);
        self.push(id, run.iter().map(|&word| word.to_owned()).collect(), vec![file.to_owned()])
    }

    /// Takes a command that runs many.
    pub fn group(&mut self, id: &str, run: Vec<String>, files: Vec<String>) -> &mut SelfTest {
        let id = self.ids.of_text(id);
        self.push(id, run, files)
    }

    fn push(&mut self, id: String, run: Vec<String>, files: Vec<String>) -> &mut SelfTest {
        self.tests.push(SelfTest { id, run, reader: ReaderChoice::Auto, files, remarks: Vec::new() });
        let last = self.tests.len() - 1;
        &mut self.tests[last]
    }

    /// Passes over some files, if there are any.
    pub fn passed_over(&mut self, files: &[&str], why: &str) {
        let Some(first) = files.first() else { return };
        let more = if files.len() > 1 { format!(" and {} more", files.len() - 1) } else { String::new() };
        self.notes.push(format!("{first}{more}: {why}"));
    }
}

/// Finds the self-tests among the files, those beside hooks first.
pub fn find<'a>(names: &'a [String], text: &dyn Fn(&str) -> Option<String>) -> Found {
    let (fixtures, names): (BTreeSet<&'a str>, BTreeSet<&'a str>) =
        names.iter().map(String::as_str).partition(|name| folders(name).any(|part| FIXTURE_FOLDERS.contains(&part)));
    let files = Files { names, text };
    let mut found = Found::default();
    python::find(&files, &mut found);
    node::find(&files, &mut found);
    shell::find(&files, &mut found);
    cargo::find(&files, &mut found);
    let looks = |name: &&&str| python::is_named(name) || shell::is_named(name) || node::is_named(name);
    let fixtures: Vec<&str> = fixtures.iter().filter(looks).copied().collect();
    found.passed_over(&fixtures, "in a folder of fixtures, so not taken as a self-test");
    found.tests.sort_by_key(|test| !test.files.iter().all(|file| is_beside_hooks(file)));
    if found.tests.len() > MOST {
        found.notes.push(format!("{} self-tests beyond the first {MOST} were left out", found.tests.len() - MOST));
        found.tests.truncate(MOST);
    }
    found
}

/// Whether the file lies in a folder of hooks.
pub fn is_beside_hooks(name: &str) -> bool {
    folders(name).any(|part| HOOK_FOLDERS.contains(&part))
}

/// The folders that a file lies in, from the top.
pub fn folders(name: &str) -> impl Iterator<Item = &str> {
    folder(name).split('/').filter(|part| !part.is_empty())
}

/// The folder that a file or folder lies in; empty for the project itself.
pub fn folder(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last part of a path.
pub fn base(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

/// What follows the last dot of a file's name.
pub fn ending(name: &str) -> Option<&str> {
    base(name).rsplit_once('.').map(|(_, ending)| ending)
}

/// A path as an argument: one that begins with a dash would be taken for an option.
pub fn argument(path: &str) -> String {
    if path.starts_with('-') { format!("./{path}") } else { path.to_owned() }
}

/// A file in a folder.
pub fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// A folder and all that it lies in, from the nearest.
pub fn ancestors(folder_name: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder_name), |above| (!above.is_empty()).then(|| folder(above)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const CASE: &str = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n";
    const FUNCTION: &str = "def test_a(): pass\n";

    /// Each self-test as `id: command`, and the notes.
    fn found(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let texts: BTreeMap<&str, &str> = files.iter().copied().collect();
        let names: Vec<String> = texts.keys().map(|&name| name.to_owned()).collect();
        let found = find(&names, &|name| texts.get(name).map(|&text| text.to_owned()));
        (found.tests.iter().map(|test| format!("{}: {}", test.id, test.run.join(" "))).collect(), found.notes)
    }

    fn tests(files: &[(&str, &str)]) -> Vec<String> {
        found(files).0
    }

    #[test]
    fn a_hooks_self_test_is_a_check_of_its_own_and_the_rest_one_per_runner() {
        let files = [
            ("hooks/test_a.py", FUNCTION),
            ("hooks/test_b.py", FUNCTION),
            ("tests/conftest.py", ""),
            ("tests/test_c.py", FUNCTION),
            ("tests/deep/test_d.py", CASE),
            ("tests/hooks/test_e.py", "import pytest\n"),
            ("test_top.py", FUNCTION),
        ];
        let expected = [
            "hooks/test_a: python3 -m pytest hooks/test_a.py",
            "hooks/test_b: python3 -m pytest hooks/test_b.py",
            "tests/hooks/test_e: python3 -m pytest tests/hooks/test_e.py",
            "pytest: python3 -m pytest test_top.py tests --ignore=tests/hooks",
        ];
        assert_eq!(tests(&files), expected);
    }

    #[test]
    fn a_configured_root_collects_what_it_says() {
        let root = ("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n");
        let files = [root, ("tests/test_a.py", CASE), ("b/pytest.ini", ""), ("b/tests/test_b.py", CASE)];
        assert_eq!(tests(&files), ["pytest: python3 -m pytest", "b/tests: python3 -m pytest b/tests"]);
    }

    #[test]
    fn unittest_discovers_from_the_topmost_package() {
        let files = [
            ("tests/__init__.py", ""),
            ("tests/a/__init__.py", ""),
            ("tests/a/test_a.py", CASE),
            ("other/test_b.py", CASE),
            ("other/c_test.py", CASE),
        ];
        let expected = [
            "other: python3 -m unittest discover -s other",
            "other-2: python3 -m unittest discover -s other -p *_test.py",
            "tests: python3 -m unittest discover -s tests -t .",
        ];
        assert_eq!(tests(&files), expected);
    }

    #[test]
    fn npm_is_asked_unless_the_script_is_nodes_own_runner() {
        let package = |script: &str| format!("{{\"scripts\": {{\"test\": \"{script}\"}}}}");
        let run = |script: &str| tests(&[("package.json", package(script).as_str())]);
        assert_eq!(run("jest"), ["npm-test: npm test --silent"]);
        assert_eq!(run("node --test tests/"), ["npm-test: node --test tests/"]);
        assert_eq!(run("node --test && eslint ."), ["npm-test: npm test --silent"]);
        assert_eq!(run("echo \\\"Error: no test specified\\\" && exit 1"), Vec::<String>::new());
        assert_eq!(tests(&[("package.json", "{")]), Vec::<String>::new());
    }

    #[test]
    fn files_for_nodes_runner_are_told_from_those_of_others() {
        let files = [
            ("hooks/a.test.js", "require('node:test')\n"),
            ("hooks/b.test.cjs", "require('assert')(1)\n"),
            ("src/hooks/c.test.js", "test('x', () => {})\n"),
            ("lib/d.test.mjs", "import test from 'node:test'\n"),
        ];
        let (tests, notes) = found(&files);
        let expected = [
            "hooks/a.test: node --test hooks/a.test.js",
            "hooks/b.test: node --test hooks/b.test.cjs",
            "node-test: node --test lib/d.test.mjs",
        ];
        assert_eq!(tests, expected);
        assert!(notes[0].starts_with("src/hooks/c.test.js: "), "{notes:?}");
    }

    #[test]
    fn scripts_run_only_from_folders_of_hooks_or_tests() {
        let files =
            [("hooks/test_a.sh", "#!/bin/bash\n"), ("deploy/test_b.sh", ""), ("t/c_test.sh", ""), ("hooks/d.bats", "")];
        let (tests, notes) = found(&files);
        assert_eq!(tests, ["hooks/test_a: bash hooks/test_a.sh", "t/c_test: sh t/c_test.sh"]);
        assert_eq!(notes.len(), 2, "{notes:?}");
    }

    #[test]
    fn fixtures_and_what_nothing_runs_are_notes() {
        let files = [("fixtures/hooks/test_a.py", CASE), ("hooks/test_b.py", "x = 1\n"), ("hooks/test_helper.sh", "")];
        let (tests, notes) = found(&files);
        assert_eq!(tests, Vec::<String>::new());
        assert_eq!(notes.len(), 2, "{notes:?}");
    }

    #[test]
    fn cargo_needs_a_test() {
        let manifest = ("Cargo.toml", "[package]\n");
        assert_eq!(tests(&[manifest, ("src/lib.rs", "#[test]\n")]), ["cargo-test: cargo test"]);
        assert_eq!(tests(&[manifest, ("src/lib.rs", "")]), Vec::<String>::new());
    }
}
