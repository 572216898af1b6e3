//! The story that hostproof was born of: a hook's detached child sits in its test's temporary directory.

use hostproof::model::{CaseOutcome, CheckReport, How, Kind, Severity, Verdict};
use serde_json::Value;

use crate::context::{Context, Ran, errors, of_kind, repository, skip, variable, works};

const MODEL: &str = "fixtures/sweep/outcome.json";

fn model() -> Value {
    let text = std::fs::read_to_string(repository().join(MODEL)).expect("the model of the outcome");
    serde_json::from_str(&text).expect("JSON")
}

fn text<'a>(model: &'a Value, key: &str) -> &'a str {
    model[key].as_str().unwrap_or_else(|| panic!("{key} in {MODEL}"))
}

/// Whether a check can be held to Windows' rules here.
fn has_windows_rules() -> bool {
    let ran = Context::new().hp(&["try", "--as", "windows", "--", "true"]);
    if !ran.report().findings.is_empty() {
        skip("this system can't keep Windows' rules");
    }
    ran.report().findings.is_empty()
}

/// A project with the story in it, and a check of one variant.
pub fn story(variant: &str, command: &str) -> Context {
    let context = Context::proving(&format!("- {{id: sweep, run: {command}, expect: {{cases: 57}}}}"));
    context.copy(&format!("fixtures/sweep/{variant}"));
    context.copy("fixtures/sweep/common");
    context
}

fn as_the_model_says(context: &Context, variant: &str) -> Ran {
    by_rules(context, variant, "linux", &["run"])
}

/// Runs it, and compares with what the model says of those rules.
pub fn by_rules(context: &Context, variant: &str, rules: &str, arguments: &[&str]) -> Ran {
    let ran = context.hp(arguments);
    let check = ran.only();
    let wanted = &model()["variants"][variant][rules];
    assert_eq!(check.verdict.name(), text(wanted, "verdict"), "{}", ran.said());
    assert_eq!(serde_json::to_value(check.exit).expect("an exit"), serde_json::json!({"code": wanted["exit"]}));
    let mut cases = serde_json::to_value(check.cases.counts()).expect("counts");
    assert_eq!(cases, wanted["cases"], "{}", ran.said());
    cases = serde_json::to_value(errors(check)).expect("kinds");
    assert_eq!(cases, wanted["findings"], "{}", ran.said());
    let noted = wanted["may_note"].as_array().cloned().unwrap_or_default();
    for finding in check.findings.iter().filter(|finding| finding.severity != Severity::Error) {
        assert!(noted.iter().any(|kind| kind == finding.kind.slug()), "{}", finding.message);
    }
    ran
}

/// The child that stayed, the directory that it holds, and the case that left them; and nobody else.
pub fn culprit_is_named(check: &CheckReport) {
    let model = model();
    let wanted = &model["variants"]["unmended"]["linux"];
    let (case, innocent, leftover) =
        (text(&model, "named_case"), text(&model, "never_named_case"), text(&model, "leftover"));
    let [held] = of_kind(check, Kind::HeldDirectory)[..] else { panic!("{:?}", check.findings) };
    let [leaked] = of_kind(check, Kind::LeakedProcess)[..] else { panic!("{:?}", check.findings) };
    let seen = serde_json::json!({"how": held.how, "directory": true, "deleted": held.deleted});
    assert_eq!(seen, wanted["hold"]);
    assert!(held.path.as_deref().is_some_and(|path| path.starts_with("tmp/")), "{:?}", held.path);
    for finding in [held, leaked] {
        let process = finding.process.as_ref().expect("a process");
        assert!(process.argv.iter().any(|word| word.ends_with(leftover)), "{:?}", process.argv);
        assert_eq!(serde_json::json!(process.own_session), wanted["own_session"]);
        assert_eq!(serde_json::json!(process.pipes), wanted["pipes"]);
        assert!(finding.case.as_deref().is_some_and(|named| named.contains(case)), "{:?}", finding.case);
    }
    for finding in &check.findings {
        assert!(!serde_json::to_string(finding).expect("JSON").contains(innocent), "{}", finding.message);
    }
}

fn argv(variant: &str) -> String {
    model()["variants"][variant]["argv"].to_string()
}

#[test]
fn the_unmended_hook_leaves_a_child_in_a_removed_directory() {
    let context = story("unmended", &argv("unmended"));
    let ran = as_the_model_says(&context, "unmended");
    let check = ran.exits(1).only();
    culprit_is_named(check);
    assert_eq!(check.cases.list.len(), 57);
    assert!(check.cases.list.iter().all(|case| case.outcome == CaseOutcome::Passed));
    let position = model()["named_case_position"].as_u64().expect("a position");
    let named = &check.cases.list[usize::try_from(position).expect("small") - 1].name;
    assert!(named.contains(text(&model(), "named_case")), "{named}");
    assert_eq!(ran.last_line(), "57/57 cases, 0/1 checks, 1 leaked");
}

#[test]
fn the_mended_hook_leaves_nothing() {
    let context = story("mended", &argv("mended"));
    let ran = as_the_model_says(&context, "mended");
    assert_eq!(ran.exits(0).last_line(), "57/57 cases, 1/1 checks");
}

#[test]
fn whether_clean_up_errors_are_ignored_makes_no_difference() {
    if !works(&["python3", "-c", "import sys; assert sys.version_info >= (3, 10)"]) {
        return skip("this Python's TemporaryDirectory ignores no clean-up errors");
    }
    let context = story("unmended", &argv("unmended"));
    let suite = "fixtures/sweep/common/suite.py";
    let ignoring = context.read(suite).replace(
        "tempfile.TemporaryDirectory() as td",
        "tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as td",
    );
    assert_ne!(ignoring, context.read(suite));
    context.file(suite, ignoring);
    culprit_is_named(as_the_model_says(&context, "unmended").only());
}

#[test]
fn the_story_is_the_same_from_another_folder_and_in_a_copy() {
    let context = story("unmended", "[python3, $project/fixtures/sweep/unmended/test_sweep.py]");
    for cwd in ["sandbox", "copy"] {
        context.manifest(
            "checks.yaml",
            &format!(
                "version: 1\nchecks:\n  - {{id: sweep, cwd: {cwd}, run: [python3, \
                 $project/fixtures/sweep/unmended/test_sweep.py], expect: {{cases: 57}}}}\n"
            ),
        );
        culprit_is_named(as_the_model_says(&context, "unmended").only());
    }
}

#[test]
fn the_story_is_the_same_under_pytest() {
    let mut context =
        story("unmended", "[python3, -B, -m, pytest, -p, no:cacheprovider, -q, fixtures/sweep/unmended/test_sweep.py]");
    let own = variable("HOSTPROOF_TEST_PYTEST");
    let mut probe = std::process::Command::new("python3");
    probe.args(["-c", "import pytest"]).stderr(std::process::Stdio::null());
    if let Some(folder) = &own {
        probe.env("PYTHONPATH", folder);
        context.env("PYTHONPATH", folder);
    }
    if !probe.status().is_ok_and(|status| status.success()) {
        return skip("python3 has no pytest; HOSTPROOF_TEST_PYTEST can name a folder that has it");
    }
    let manifest = context.read("checks.d/checks.yaml").replace("id: sweep,", "id: sweep, inherit: [PYTHONPATH],");
    context.manifest("checks.yaml", &manifest);
    let ran = as_the_model_says(&context, "unmended");
    assert_eq!(ran.only().reader.as_deref(), Some("pytest"));
    culprit_is_named(ran.only());
    assert_eq!(ran.only().verdict, Verdict::Leaked);
}

#[test]
fn by_windows_rules_the_unmended_hook_stops_where_the_host_did() {
    if !has_windows_rules() {
        return;
    }
    let context = story("unmended", &argv("unmended"));
    let ran = by_rules(&context, "unmended", "windows", &["run", "--as", "windows"]);
    let check = ran.exits(1).only();
    assert_eq!((check.id.as_str(), check.variant.as_deref()), ("sweep@windows", Some("windows")));
    assert_eq!(check.reason.as_deref(), Some("stopped by a held directory"));
    refusal_is_named(check);
    let outcomes: Vec<_> = check.cases.list.iter().map(|case| case.outcome).collect();
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == CaseOutcome::Failed).count(), 1);
    assert_eq!(ran.last_line(), "15/57 cases, 0/1 checks, 1 failed, 42 never ran");
}

/// The call, the path, its holder and the frame; and nobody who is innocent.
fn refusal_is_named(check: &CheckReport) {
    let model = model();
    let wanted = &model["variants"]["unmended"]["windows"]["frame"];
    let [refused] = of_kind(check, Kind::RefusedByWindows)[..] else { panic!("{:#?}", check.findings) };
    assert_eq!((refused.severity, refused.winerror), (Severity::Error, Some(32)), "{}", refused.message);
    assert!(matches!(refused.call.as_deref(), Some("rmdir" | "unlinkat")), "{}", refused.message);
    assert!(refused.path.as_deref().is_some_and(|path| path.starts_with("tmp/")), "{:?}", refused.path);
    assert_eq!(refused.how, Some(How::Cwd));
    let holder = refused.process.as_ref().expect("a holder");
    assert!(holder.argv.iter().any(|word| word.ends_with(text(&model, "leftover"))), "{:?}", holder.argv);
    for frame in [refused.frame.as_ref(), check.frames.first()] {
        let frame = frame.expect("a frame");
        assert_eq!(
            (frame.file.as_str(), frame.function.as_deref()),
            (text(wanted, "file"), wanted["function"].as_str())
        );
        assert!(frame.error.as_deref().is_some_and(|error| error.contains("Errno 16")), "{:?}", frame.error);
    }
    assert!(
        refused.case.as_deref().is_some_and(|case| case.contains(text(&model, "named_case"))),
        "{:?}",
        refused.case
    );
    for finding in &check.findings {
        let said = serde_json::to_string(finding).expect("JSON");
        assert!(!said.contains(text(&model, "never_named_case")), "{}", finding.message);
    }
}

#[test]
fn by_windows_rules_the_mended_hook_is_green() {
    if !has_windows_rules() {
        return;
    }
    let context = story("mended", &argv("mended"));
    let ran = by_rules(&context, "mended", "windows", &["run", "sweep@windows"]);
    assert_eq!(ran.exits(0).last_line(), "57/57 cases, 1/1 checks");
}

#[test]
fn a_child_that_ends_soon_after_the_removal_is_caught() {
    if !has_windows_rules() {
        return;
    }
    let context = story("unmended", &argv("unmended"));
    let worker = "fixtures/sweep/unmended/hooks/sweep_detached.py";
    let watching = "hook.watch(sys.argv[1], sys.argv[2:], SECONDS, publish)";
    // The clean-up empties the directory, and removes it next. Where nobody cleans up, nobody waits long.
    let short = context.read(worker).replace(
        watching,
        "hook.watch(sys.argv[1], sys.argv[2:], 0, publish)\n    import time\n\n    end = time.monotonic() + 3\n    \
         while os.listdir('.') and time.monotonic() < end:\n        time.sleep(0.001)\n    time.sleep(0.05)",
    );
    assert_ne!(short, context.read(worker));
    context.file(worker, short);
    let ran = by_rules(&context, "unmended", "windows_if_the_child_ends", &["run", "--as", "windows"]);
    refusal_is_named(ran.exits(1).only());
}
