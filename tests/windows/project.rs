//! A project whole: its manifests, its scripts, and what runs them.

use hostproof::model::Verdict;

use crate::context::{Context, skipped_under_wine};

#[test]
fn a_project_is_run_whole_and_can_be_asked_about() {
    let context = Context::new();
    context.file(
        "checks.d/hooks.yaml",
        "version: 1\ndefaults: {timeout: 2m}\nchecks:\n\
         - {id: hooks/tests, run: [python3, hooks/test_it.py], expect: {cases: 2}}\n\
         - {id: hooks/guard, reader: none, stdin: hooks/event.json, run: [python3, hooks/guard.py], expect: {exit: 2}}\n",
    );
    context.file(
        "checks.d/rest.yaml",
        "version: 1\nchecks:\n\
         - {id: rest/version, reader: none, run: [cmd, /d, /c, ver], windows: {expect: {stdout: [{contains: Windows}]}}}\n\
         - {id: rest/elsewhere, platforms: [linux], run: ['true']}\n",
    );
    context.file(
        "hooks/test_it.py",
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): pass\n\
         unittest.main(verbosity=2)\n",
    );
    context.file("hooks/guard.py", "import json, sys\nsys.exit(2 if json.load(sys.stdin)['tool'] == 'rm' else 0)\n");
    context.file("hooks/event.json", "{\"tool\": \"rm\"}\r\n");
    context.hp(&["lint"]).exits(0);
    let listed = context.hp(&["list"]);
    assert_eq!(listed.exits(0).stdout.lines().filter(|line| line.contains('/')).count(), 4, "{}", listed.said());
    let ran = context.hp(&["run"]);
    let verdicts: Vec<_> = ran.exits(0).report().checks.iter().map(|check| (&*check.id, check.verdict)).collect();
    let wanted = [
        ("hooks/tests", Verdict::Passed),
        ("hooks/guard", Verdict::Passed),
        ("rest/version", Verdict::Passed),
        ("rest/elsewhere", Verdict::Skipped),
    ];
    assert_eq!(verdicts, wanted, "{}", ran.said());
}

#[test]
fn python_by_name_is_a_python_that_is_3() {
    let doctor = context_says(&["doctor"]);
    let line = doctor.lines().find(|line| line.contains("python3")).expect("a line about python3");
    assert!(line.contains("python.exe") || line.contains("python3.exe"), "{doctor}");
}

fn context_says(arguments: &[&str]) -> String {
    Context::new().hp(arguments).stdout
}

#[test]
fn a_script_is_run_by_what_its_first_line_names_or_is_not_run() {
    let context = Context::with(
        "- {id: named, run: [./named, 'a b'], expect: {exit: 5, stdout: [{contains: \"['a b']\"}]}}\n\
         - {id: unnamed, run: [./unnamed.py]}\n\
         - {id: lost, run: [./lost]}\n",
    );
    context.file("named", "#!/usr/bin/env python3\nimport sys\nprint(sys.argv[1:])\nsys.exit(5)\n");
    context.file("unnamed.py", "print()\n");
    context.file("lost", "#!/opt/nowhere/no-such-shell\n");
    let ran = context.hp(&["run"]);
    let [named, unnamed, lost] = &ran.exits(1).report().checks[..] else { panic!("{}", ran.said()) };
    assert_eq!(named.verdict, Verdict::Passed, "{}", ran.said());
    for (check, why) in [(unnamed, "no first line that names its interpreter"), (lost, "no-such-shell")] {
        assert_eq!(check.verdict, Verdict::Broken, "{}", ran.said());
        assert!(
            serde_json::to_string(&check.findings).expect("JSON").contains(why) || ran.stdout.contains(why),
            "{}",
            ran.said()
        );
    }
}

#[test]
fn a_script_of_powershells_is_run_by_it() {
    if skipped_under_wine(".ps1", "its powershell.exe does nothing") {
        return;
    }
    let context =
        Context::with("- {id: says, run: [./says.ps1, 'a b'], expect: {exit: 5, stdout: [{contains: '<a b>'}]}}");
    context.file("says.ps1", "Write-Output \"<$($args[0])>\"\nexit 5\n");
    context.hp(&["run"]).exits(0);
}
