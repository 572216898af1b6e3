//! The capture hook with its detached drainer, and five twins of it that are each wrong in one thing.

use hostproof::model::{CaseOutcome, CheckReport, Kind, Severity};
use serde_json::Value;

use crate::context::{Context, Ran, errors, of_kind, repository};

const FOLDER: &str = "fixtures/spool";

fn model() -> Value {
    let text = std::fs::read_to_string(repository().join(FOLDER).join("twins.json")).expect("the model of the twins");
    serde_json::from_str(&text).expect("JSON")
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_else(|| panic!("{key} in {FOLDER}/twins.json"))
}

/// The checks that the project itself has of it, in a project of its own; what is eventually so is waited for that long.
fn project(patience: &str) -> Context {
    let manifest = std::fs::read_to_string(repository().join("checks.d/hostproof.yaml")).expect("the manifest");
    let begins = |id: &str| manifest.find(&format!("  - id: {id}\n")).unwrap_or_else(|| panic!("{id} in the manifest"));
    let context = Context::new();
    let checks =
        manifest[begins("spool")..begins("verdicts")].replace("{within: 20s", &format!("{{within: {patience}"));
    context.manifest("spool.yaml", &format!("version: 1\nchecks:\n{checks}"));
    context.copy(FOLDER);
    context
}

fn edited(context: &Context, twin: &Value) {
    for edit in twin["edits"].as_array().expect("edits") {
        let file = format!("{FOLDER}/{}", text(edit, "file"));
        let before = context.read(&file);
        assert_eq!(before.matches(text(edit, "replace")).count(), 1, "{edit}");
        context.file(&file, before.replace(text(edit, "replace"), edit["with"].as_str().expect("a text")));
    }
}

/// What is allowed is the drainer, in time, and for that reason.
fn drainer_is_allowed(check: &CheckReport, ran: &Ran) {
    let leaked = of_kind(check, Kind::LeakedProcess);
    assert!(!leaked.is_empty(), "{}", ran.said());
    for finding in leaked {
        assert_eq!(finding.severity, Severity::Note, "{}", finding.message);
        assert_eq!(finding.allowed.as_deref(), Some("it stores what the hook has captured"));
        let process = finding.process.as_ref().expect("a process");
        assert!(process.argv.iter().any(|word| word.ends_with("drain.py")) && process.own_session, "{process:?}");
        assert!(finding.ended_ms.is_some_and(|ms| (200..20_000).contains(&ms)), "{:?}", finding.ended_ms);
    }
}

#[test]
fn the_drainer_outlives_its_hook_and_nothing_is_lost() {
    let context = project("20s");
    let model = model();
    let ran = context.hp(&["run"]);
    let cases = |check: &str| model[check]["cases"].as_u64().expect("a number");
    for (id, number) in [("spool", cases("test")), ("spool/hook", cases("hook"))] {
        let check = ran.check(id);
        assert_eq!((check.verdict.name(), errors(check).len()), ("passed", 0), "{id}: {}", ran.said());
        assert_eq!((check.cases.ran, check.cases.passed), (Some(number), Some(number)), "{id}");
        drainer_is_allowed(check, &ran);
    }
    ran.exits(0);
    let hook = ran.check("spool/hook").hook.as_ref().expect("a hook");
    // Its drainer's time is none of its own.
    let (cold, warm) = (hook.cold_ms.expect("a first time"), hook.warm_ms.expect("a later time"));
    assert_eq!(hook.limit_ms, Some(10_000));
    assert!(cold < 10_000 && warm < 10_000, "{cold} {warm}");
    assert!(hook.calls.iter().all(|call| call.stdout_end_ms.is_some()));
}

#[test]
fn each_twin_is_red_for_what_is_wrong_with_it() {
    let model = model();
    for (name, twin) in model["twins"].as_object().expect("twins") {
        let context = project("2s");
        edited(&context, twin);
        let id = if text(twin, "check") == "test" { "spool" } else { "spool/hook" };
        let ran = context.hp(&["run", id]);
        let check = ran.exits(1).only();
        assert_eq!(check.verdict.name(), text(twin, "verdict"), "{name}: {}", ran.said());
        let wanted: Vec<&str> = twin["kinds"].as_array().expect("kinds").iter().filter_map(Value::as_str).collect();
        let mut kinds = errors(check);
        kinds.dedup();
        assert_eq!(kinds, wanted, "{name}: {}", ran.said());
        if let Some(case) = twin["case"].as_str() {
            let failed = |case: &str| {
                check.cases.list.iter().any(|one| one.name.contains(case) && one.outcome == CaseOutcome::Failed)
            };
            assert!(failed(case), "{name}: {:?}", check.cases.list);
        }
    }
}
