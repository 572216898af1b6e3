//! Manifests with errors: all of them at once, each with its place, and nothing runs.

use crate::context::{Context, fifo};

#[test]
fn every_error_of_every_file_is_shown_at_once() {
    let context = Context::new();
    context.manifest(
        "a.yaml",
        "version: 1\nchecks:\n  - id: Wrong\n    run: [touch, ran]\n    tiemout: 5s\n  - {id: late, run: [touch, ran], timeout: 5}\n",
    );
    context.manifest("b.yaml", "version: 1\nsetup: true\nchecks:\n  - {id: b}\n");
    context.manifest("good.yaml", "version: 1\nchecks:\n  - {id: good, run: [touch, ran]}\n");
    for subcommand in ["lint", "run", "list"] {
        let ran = context.hp(&[subcommand]);
        ran.exits(2);
        for place in [
            "checks.d/a.yaml:3:",
            "checks.d/a.yaml:5:",
            "checks.d/a.yaml:6:",
            "checks.d/b.yaml:2:",
            "checks.d/b.yaml:4:",
        ] {
            assert!(ran.stderr.contains(place), "{subcommand}: {place}: {}", ran.stderr);
        }
        assert!(ran.stderr.contains("timeout"), "the nearest key: {}", ran.stderr);
        assert!(ran.stderr.trim_end().ends_with("5 errors in 2 files"), "{}", ran.stderr);
        assert_eq!(ran.stdout, "");
    }
    assert!(!context.project().join("ran").exists());
}

#[test]
fn manifests_without_errors_are_counted() {
    let context = Context::with("- {id: a, run: [x]}\n- {id: b, run: [x]}");
    assert_eq!(context.hp(&["lint"]).exits(0).stdout, "2 checks in 1 file: no errors\n");
}

#[test]
fn an_id_that_is_there_twice_names_both_places() {
    let context = Context::new();
    context.manifest("a.yaml", "version: 1\nchecks:\n  - {id: sweep, run: [x]}\n");
    context.manifest("b.yaml", "version: 1\nchecks:\n  - {id: other, run: [x]}\n  - {id: sweep, run: [x]}\n");
    let ran = context.hp(&["lint"]);
    assert!(ran.exits(2).stderr.contains("checks.d/a.yaml:3:"), "{}", ran.stderr);
    assert!(ran.stderr.contains("checks.d/b.yaml:4:"), "{}", ran.stderr);
}

#[test]
fn a_key_that_is_there_twice_names_both_places() {
    let context = Context::new();
    context.manifest("a.yaml", "version: 1\nchecks:\n  - {id: a, run: [x]}\nchecks:\n  - {id: b, run: [x]}\n");
    let ran = context.hp(&["lint"]);
    assert!(ran.exits(2).stderr.contains("checks.d/a.yaml:4:"), "{}", ran.stderr);
    assert!(ran.stderr.contains('2') && ran.stderr.contains("checks"), "{}", ran.stderr);
}

#[test]
fn a_manifest_that_is_no_file_is_answered() {
    let context = Context::with("- {id: good, run: [x]}");
    let folder = context.project().join("checks.d");
    // Opened, it would wait for somebody who writes to it.
    let pipe = folder.join("pipe.yaml");
    fifo(&pipe);
    std::fs::create_dir(folder.join("folder.yaml")).expect("a folder");
    std::os::unix::fs::symlink("nowhere", folder.join("link.yaml")).expect("a link");
    let ran = context.hp(&["lint"]);
    for name in ["pipe.yaml", "folder.yaml", "link.yaml"] {
        assert!(ran.exits(2).stderr.contains(name), "{name}: {}", ran.stderr);
    }
}

#[test]
fn what_a_manifest_says_does_not_steer_the_terminal() {
    let context = Context::new();
    context.manifest("a.yaml", "version: 1\nchecks:\n  - {id: \"a\\e[31m\", run: [x], \"t\u{9b}31m\": 1}\n");
    context.manifest("b.yaml", "version: 1\nchecks:\n  - {id: b\u{1b}[31m, run: [x]}\n");
    let ran = context.hp(&["lint"]);
    let steers: Vec<char> = ran.exits(2).stderr.chars().filter(|c| c.is_control() && *c != '\n').collect();
    assert!(steers.is_empty(), "{steers:?}: {}", ran.stderr);
}

#[test]
fn a_bomb_of_aliases_or_brackets_is_refused() {
    let context = Context::new();
    let level = |n: usize| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", "));
    let bomb = "version: 1\na0: &a0 [x, x]\n".to_owned() + &(1..12).map(level).collect::<Vec<_>>().concat();
    context.manifest("a.yaml", &bomb);
    context.manifest("b.yaml", &format!("version: 1\nchecks: {}\n", "[".repeat(100_000)));
    let ran = context.hp(&["lint"]);
    assert!(ran.exits(2).stderr.contains("a.yaml:2") && ran.stderr.contains("b.yaml:2"), "{}", ran.stderr);
}
