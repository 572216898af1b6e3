//! The guard of a session, as the project's own checks have it, and twins of it that are each wrong in one thing.

use std::process::Stdio;

use hostproof::model::{CaseOutcome, CheckReport, Kind, Severity};
use serde_json::Value;

use crate::context::{Context, Ran, errors, repository};

const FOLDER: &str = "fixtures/guard";

fn model() -> Value {
    let text = std::fs::read_to_string(repository().join(FOLDER).join("twins.json")).expect("the model of the twins");
    serde_json::from_str(&text).expect("JSON")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} in {FOLDER}/twins.json"))
}

/// The checks that the project itself has of it, in a project of its own.
fn project() -> Context {
    let context = Context::new();
    context.copy("checks.d/guard.yaml");
    context.copy(FOLDER);
    context
}

/// The same with a twin's edits, and its time limit.
fn twin(name: &str) -> (Context, Value) {
    let twin = model()["twins"][name].clone();
    let context = project();
    for edit in twin["edits"].as_array().unwrap_or_else(|| panic!("no twin {name}")) {
        let file = format!("{FOLDER}/{}", text(edit, "file"));
        let before = context.read(&file);
        assert_eq!(before.matches(text(edit, "replace")).count(), 1, "{edit}");
        context.file(&file, before.replace(text(edit, "replace"), edit["with"].as_str().expect("a text")));
    }
    if let Some(limit) = twin["limit"].as_str() {
        let manifest = context.read("checks.d/guard.yaml");
        context.file("checks.d/guard.yaml", manifest.replace("timeout: 40s", &format!("timeout: {limit}")));
    }
    (context, twin)
}

fn assert_failed(check: &CheckReport, case: &str, ran: &Ran) {
    let failed = |one: &hostproof::model::Case| one.name.contains(case) && one.outcome == CaseOutcome::Failed;
    assert!(check.cases.list.iter().any(failed), "{case}: {}", ran.said());
}

/// A twin is red for what is wrong with it, and says it in the right word.
#[track_caller]
fn assert_red(name: &str) {
    let (context, twin) = twin(name);
    let ran = context.hp(&["run", text(&twin, "check")]);
    let check = ran.exits(1).only();
    assert_eq!(check.verdict.name(), text(&twin, "verdict"), "{name}: {}", ran.said());
    let wanted: Vec<&str> = twin["kinds"].as_array().expect("kinds").iter().filter_map(Value::as_str).collect();
    assert_eq!(errors(check), wanted, "{name}: {}", ran.said());
    let says = |finding: &hostproof::model::Finding| finding.message.contains(text(&twin, "word"));
    assert!(check.findings.iter().any(says), "{name}: {}", ran.said());
}

#[test]
fn the_guard_is_green_whatever_was_there_before_and_whatever_fails() {
    let context = project();
    let ran = context.hp(&["run"]);
    let cases = model()["cases"].as_u64();
    for check in &ran.exits(0).report().checks {
        assert_eq!((check.verdict.name(), errors(check).len()), ("passed", 0), "{}: {}", check.id, ran.said());
        assert_eq!((check.cases.ran, check.cases.passed), (cases, cases), "{}", check.id);
    }
    // A matrix of three, and three copies, twice, beside one alone.
    assert_eq!(ran.report().checks.len(), 17);
    let notes = &ran.check("guard/handoff").notes;
    assert!(notes.iter().any(|note| note.starts_with("the 1st rename of *.pid failed with EIO")), "{notes:?}");
}

#[test]
fn a_pipe_in_the_place_of_its_log_stops_one_twin() {
    assert_red("opens-its-log");
}

#[test]
fn a_link_in_the_place_of_its_state_leads_another_twin_astray() {
    assert_red("writes-its-state-in-place");
}

#[test]
fn a_lock_that_is_held_for_ever_stops_the_twin_that_waits() {
    assert_red("waits-for-its-lock");
}

#[test]
fn the_twin_that_types_into_tmux_is_told_from_one_that_does_not() {
    assert_red("calls-tmux");
}

#[test]
fn a_handoff_that_fails_leaves_the_twins_successor_behind() {
    assert_red("leaves-a-successor");
}

#[test]
fn the_twin_that_trusts_the_clock_holds_under_one_setting_alone() {
    let (context, twin) = twin("trusts-the-clock");
    let ran = context.hp(&["run", "guard/fresh"]);
    ran.exits(1);
    for (id, wanted) in twin["settings"].as_object().expect("settings") {
        let check = ran.check(id);
        assert_eq!(check.verdict.name(), text(wanted, "verdict"), "{id}: {}", ran.said());
        if let Some(case) = wanted["case"].as_str() {
            assert_failed(check, case, &ran);
            assert!(errors(check).contains(&Kind::DependsOn.slug()), "{id}: {}", ran.said());
        }
    }
}

#[test]
fn the_twin_with_one_place_for_all_is_green_alone_and_red_beside_itself() {
    let (context, twin) = twin("has-one-place-for-all");
    let id = text(&twin, "check");
    let ran = context.hp(&["run", id]);
    assert!(!ran.exits(1).check(id).verdict.is_red(), "{}", ran.said());
    let findings = ran.report().checks.iter().flat_map(|check| &check.findings);
    let collisions: Vec<_> = findings.filter(|finding| finding.kind.slug() == text(&twin, "kinds")).collect();
    let says = |finding: &&hostproof::model::Finding| finding.message.contains(text(&twin, "word"));
    assert!(collisions.iter().any(says), "{}", ran.said());
}

#[test]
fn a_guard_that_nobody_tests_is_told_when_it_is_removed() {
    let (context, twin) = twin("is-tested-by-nobody");
    let ran = context.hp(&["teeth", "guard"]);
    let check = ran.exits(1).check(text(&twin, "teeth"));
    let toothless = |finding: &&hostproof::model::Finding| finding.severity == Severity::Error;
    let kinds: Vec<&str> = check.findings.iter().filter(toothless).map(|finding| finding.kind.slug()).collect();
    assert!(kinds.contains(&"toothless"), "{}", ran.said());
    // The test as it is notices both.
    let mended = project();
    mended.hp(&["teeth", "guard"]).exits(0);
}

#[test]
fn its_test_needs_no_hostproof() {
    let mut command = std::process::Command::new("python3");
    command.arg(repository().join(FOLDER).join("test_guard.py")).current_dir("/");
    let output = command.stdin(Stdio::null()).output().expect("python3");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
