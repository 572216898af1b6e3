//! The story that hostproof was born of, where it happened: Windows removes no directory that a process sits in.

use hostproof::model::{CaseOutcome, How, Kind, Severity};
use serde_json::{Value, json};

use crate::context::{Context, Ran, errors, of_kind, repository};

fn model() -> Value {
    let text = std::fs::read_to_string(repository().join("fixtures/sweep/outcome.json")).expect("the model");
    serde_json::from_str(&text).expect("JSON")
}

/// Runs a variant, and compares with what the model says of Windows itself.
fn as_the_model_says(variant: &str) -> Ran {
    let script = format!("fixtures/sweep/{variant}/test_sweep.py");
    let context = Context::proving(&format!("- {{id: sweep, run: [python, {script}], expect: {{cases: 57}}}}"));
    context.copy(&format!("fixtures/sweep/{variant}"));
    context.copy("fixtures/sweep/common");
    let ran = context.hp(&["run"]);
    let check = ran.only();
    let wanted = &model()["variants"][variant]["on_windows"];
    assert_eq!(json!(check.verdict.name()), wanted["verdict"], "{}", ran.said());
    assert_eq!(json!(check.exit), json!({"code": wanted["exit"]}), "{}", ran.said());
    assert_eq!(json!(check.cases.counts()), wanted["cases"], "{}", ran.said());
    assert_eq!(json!(errors(check)), wanted["findings"], "{}", ran.said());
    let noted = wanted["may_note"].as_array().cloned().unwrap_or_default();
    for finding in check.findings.iter().filter(|finding| finding.severity != Severity::Error) {
        assert!(noted.iter().any(|kind| kind == finding.kind.slug()), "{}", finding.message);
    }
    ran
}

#[test]
fn the_unmended_hook_stops_at_its_tests_frame_and_the_holder_is_named() {
    let ran = as_the_model_says("unmended");
    let check = ran.exits(1).only();
    assert_eq!(ran.last_line(), "15/57 cases, 0/1 checks, 1 failed, 42 never ran");
    assert_eq!(check.reason.as_deref(), Some("stopped by a held directory"));

    let model = model();
    let text = |key: &str| model[key].as_str().expect("a text of the model");
    let wanted = &model["variants"]["unmended"]["windows"]["frame"];
    let frame = check.frames.first().expect("a frame");
    assert_eq!(
        (json!(frame.file.replace('\\', "/")), json!(frame.function)),
        (wanted["file"].clone(), wanted["function"].clone())
    );
    // TemporaryDirectory tries again and again until it can't recurse any deeper; what began it is what counts.
    assert!(
        frame.error.as_deref().is_some_and(|error| error.starts_with("PermissionError: [WinError 32]")),
        "{frame:?}"
    );
    let failed: Vec<&str> =
        check.cases.list.iter().filter(|case| case.outcome == CaseOutcome::Failed).map(|case| &*case.name).collect();
    assert!(matches!(failed[..], [name] if name.contains(text("named_case"))), "{failed:?}");

    let [held] = of_kind(check, Kind::HeldDirectory)[..] else { panic!("{:#?}", check.findings) };
    let [leaked] = of_kind(check, Kind::LeakedProcess)[..] else { panic!("{:#?}", check.findings) };
    assert_eq!((held.how, held.deleted), (Some(How::Cwd), Some(false)));
    assert!(held.path.as_deref().is_some_and(|path| path.starts_with(r"tmp\tmp")), "{:?}", held.path);
    for finding in [held, leaked] {
        let process = finding.process.as_ref().expect("a process");
        assert!(process.pid > 0 && process.argv.iter().any(|word| word.ends_with(text("leftover"))), "{process:?}");
        assert!(process.pipes.is_empty(), "{process:?}");
    }
    for finding in &check.findings {
        let said = serde_json::to_string(finding).expect("JSON");
        assert!(!said.contains(text("never_named_case")), "{}", finding.message);
    }
}

#[test]
fn the_mended_hook_is_green() {
    let ran = as_the_model_says("mended");
    assert_eq!(ran.exits(0).last_line(), "57/57 cases, 1/1 checks");
}
