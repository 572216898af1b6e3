//! The zoo under hostproof: every kind is found, nobody is accused, nothing stays. What there is, and what must be said
//! of it, is in fixtures/zoo/windows.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::context::skipped_under_wine;

/// cargo builds the examples with the tests, beside the folder that they are in.
fn zoo() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let profile = test.ancestors().nth(2).expect("it lies in target/PROFILE/deps");
    let zoo = profile.join("examples").join("zoo.exe");
    assert!(zoo.exists(), "{} is not there: cargo build --example zoo", zoo.display());
    zoo
}

#[test]
fn every_kind_is_found_and_nobody_is_accused() {
    let mut command = Command::new(zoo());
    command.args(["run", "--hostproof", env!("CARGO_BIN_EXE_hostproof")]).stdin(Stdio::null());
    // Its animals are red on purpose: nothing for the one who runs the tests.
    command.env_remove("GITHUB_ACTIONS");
    let ran = command.output().expect("the zoo can be run");
    let told = String::from_utf8_lossy(&ran.stdout);
    let wrong: Vec<&str> = told.lines().filter(|line| !line.starts_with("ok ")).collect();
    let errors = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{}\n{errors}", wrong.join("\n"));
    if let Some(skipped) = wrong.iter().find(|line| line.contains(" skipped: ")) {
        assert!(skipped_under_wine("the zoo", skipped), "{skipped}");
    }
    let found = wrong.iter().rev().find(|line| line.contains(" found, ")).expect("a tally");
    writeln!(std::io::stderr(), "zoo: {found}").expect("standard error");
}

#[test]
fn the_zoo_is_large_enough_and_its_names_are_unique() {
    let listed = Command::new(zoo()).args(["list", "--json"]).output().expect("the zoo can be listed").stdout;
    let entries: Vec<serde_json::Value> = serde_json::from_slice(&listed).expect("a list of entries");
    let (kinds, controls): (Vec<_>, Vec<_>) = entries.iter().partition(|entry| entry["expect"].is_object());
    assert!(kinds.len() >= 20 && controls.len() >= 8, "{} kinds, {} controls", kinds.len(), controls.len());
    let mut names: Vec<&str> = entries.iter().filter_map(|entry| entry["name"].as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), entries.len());
}
