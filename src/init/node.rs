//! Self-tests for Node.js: what `npm test` runs, and files beside hooks for its own runner.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::find::{Files, Found, argument, base, is_beside_hooks};

/// Functions that another runner provides.
static OTHER_RUNNER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^(?:describe|it|test|suite)(?:\.\w+)*\(").expect("a constant"));

/// Whether a file is named like a self-test.
pub fn is_named(name: &str) -> bool {
    [".test.js", ".test.mjs", ".test.cjs"].iter().any(|ending| base(name).ends_with(ending))
}

/// Finds them.
pub fn find(files: &Files<'_>, found: &mut Found) {
    let script = test_script(files);
    if let Some(script) = &script {
        let words: Vec<String> = script.split_whitespace().map(str::to_owned).collect();
        let plain = script.chars().all(|c| c.is_ascii_alphanumeric() || " _./=:@,+-".contains(c));
        let run = if plain && words.starts_with(&["node".to_owned(), "--test".to_owned()]) {
            words
        } else {
            ["npm", "test", "--silent"].map(str::to_owned).to_vec()
        };
        found.group("npm-test", run, vec!["package.json".to_owned()]);
    }

    let mut together: Vec<String> = Vec::new();
    let mut foreign: Vec<&str> = Vec::new();
    for &name in files.names.iter().filter(|name| is_named(name)) {
        let Some(text) = (files.text)(name) else { continue };
        let own = text.contains("node:test");
        if is_beside_hooks(name) && (own || !OTHER_RUNNER.is_match(&text)) {
            found.file(name, &["node", "--test", &argument(name)]);
        } else if own && script.is_none() {
            together.push(argument(name));
        } else if script.is_none() {
            foreign.push(name);
        }
    }
    if !together.is_empty() {
        let run = ["node", "--test"].map(str::to_owned).into_iter().chain(together.iter().cloned()).collect();
        found.group("node-test", run, together);
    }
    found.passed_over(&foreign, "tests for a runner of their own, and package.json has no script that runs them");
}

/// `scripts.test` of the project's own package.json, unless it is what npm writes there first.
fn test_script(files: &Files<'_>) -> Option<String> {
    if !files.names.contains("package.json") {
        return None;
    }
    let package: Value = serde_json::from_str(&(files.text)("package.json")?).ok()?;
    let script = package.get("scripts")?.get("test")?.as_str()?;
    (!script.trim().is_empty() && !script.contains("no test specified")).then(|| script.to_owned())
}
