//! Self-tests that `cargo test` runs.

use super::find::{Files, Found, ending, folders};

/// How many sources are searched for a test.
const SEARCHED: usize = 500;

/// Finds them: one check, if the project's own Cargo.toml is there and some source has a test.
pub fn find(files: &Files<'_>, found: &mut Found) {
    if !files.names.contains("Cargo.toml") {
        return;
    }
    let sources = || files.names.iter().filter(|name| ending(name) == Some("rs"));
    let is_test = |name: &&&str| folders(name).any(|folder| folder == "tests");
    let has_test =
        |name: &&str| (files.text)(name).is_some_and(|text| text.contains("#[test]") || text.contains("::test]"));
    if sources().any(|name| is_test(&name)) || sources().take(SEARCHED).any(has_test) {
        let run = ["cargo", "test"].map(str::to_owned).to_vec();
        found.group("cargo-test", run, vec!["Cargo.toml".to_owned()]);
    }
}
