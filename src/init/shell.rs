//! Self-tests that are shell scripts.

use super::find::{Files, Found, argument, base, ending, folder, folders, is_beside_hooks};
use crate::platform;

/// Folders of tests. Elsewhere a script of such a name may well do something to the world.
const TEST_FOLDERS: &[&str] = &["test", "tests", "t", "__tests__", "spec"];

/// What is shared by tests is none.
const SHARED: &[&str] = &["helper", "helpers", "lib", "common", "util", "utils", "setup", "env", "data"];

/// Whether a file is named like a self-test.
pub fn is_named(name: &str) -> bool {
    let base = base(name);
    let Some(stem) = base.strip_suffix(".sh").or_else(|| base.strip_suffix(".bash")) else { return false };
    let last = stem.rsplit(['_', '-', '.']).next().unwrap_or(stem);
    let begins = stem.strip_prefix("test").is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_lowercase()));
    (begins && !SHARED.contains(&last)) || (last == "test" && stem.len() > last.len())
}

/// Finds them.
pub fn find(files: &Files<'_>, found: &mut Found) {
    let mut elsewhere: Vec<&str> = Vec::new();
    for &name in files.names.iter().filter(|name| is_named(name)) {
        let belongs =
            folder(name).is_empty() || is_beside_hooks(name) || folders(name).any(|part| TEST_FOLDERS.contains(&part));
        if !belongs {
            elsewhere.push(name);
        } else if let Some(text) = (files.text)(name) {
            let mut run = interpreter(&text);
            run.push(argument(name));
            found.file(name, &run.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }
    found.passed_over(&elsewhere, "named like a self-test, but in a folder of neither hooks nor tests, so not run");
    let bats: Vec<&str> = files.names.iter().filter(|name| ending(name) == Some("bats")).copied().collect();
    found.passed_over(&bats, "tests for bats, which init does not propose yet");
}

/// What the first line names, else the shell that the text needs.
fn interpreter(text: &str) -> Vec<String> {
    platform::shebang(text).unwrap_or_else(|| {
        let bash = ["[[ ", "pipefail", "BASH_SOURCE", "declare -", "<<<"].iter().any(|sign| text.contains(sign));
        vec![if bash { "bash" } else { "sh" }.to_owned()]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_self_tests() {
        for name in ["test.sh", "hooks/test_a.sh", "test-a.sh", "a_test.sh", "a-test.sh", "a.test.sh", "x/test_a.bash"]
        {
            assert!(is_named(name), "{name}");
        }
        for name in
            ["testing.sh", "test_helper.sh", "test-lib.sh", "attest.sh", "latest.sh", "a.sh", "test_a.bats", "test"]
        {
            assert!(!is_named(name), "{name}");
        }
    }

    #[test]
    fn the_first_line_names_the_interpreter() {
        for (text, words) in [
            ("#!/bin/sh\n", "sh"),
            ("#!/usr/bin/env bash\n", "bash"),
            ("#! /bin/bash -eu\r\n", "bash -eu"),
            ("#!/usr/bin/env -S zsh -f\n", "zsh -f"),
            ("set -euo pipefail\n", "bash"),
            ("echo\n", "sh"),
            ("", "sh"),
            ("#!\n", "sh"),
        ] {
            assert_eq!(interpreter(text).join(" "), words, "{text:?}");
        }
    }
}
