//! Names that other systems cannot have.

use std::collections::BTreeSet;
use std::process::Command;

use hostproof::model::{Kind, Severity, Verdict};

use crate::context::{Context, errors, of_kind};

const BAD: [&str; 19] = [
    "aux.c",
    "con",
    "NUL.txt",
    "COM1.log",
    "lpt9",
    "flow_[fd00::7]:8080.dat",
    "what?.md",
    "a<b>.txt",
    "pipe|name",
    "star*.txt",
    "quote\".txt",
    "back\\slash.txt",
    "trailing.",
    "trailing ",
    "tab\tname",
    "PRN .txt",
    "dir.d.",
    "Test.txt",
    "é",
];
const GOOD: [&str; 9] = [
    "auxil.c",
    "console.log",
    "com10.txt",
    "COM.log",
    "nul-terminated.txt",
    "a b.txt",
    ".hidden",
    "dots..in.name",
    "ü.txt",
];

/// A check that makes these files in its sandbox, and a long path.
fn maker(more: &str) -> Context {
    let context = Context::new();
    let names: Vec<&str> = BAD.iter().chain(&GOOD).copied().chain(["test.txt", "É"]).collect();
    let script = format!(
        "import json, os\nfor name in json.loads(r'''{}'''):\n  open(name, 'w').close()\n\
         os.makedirs('/'.join(['d' * 50] * 5)); open('/'.join(['d' * 50] * 5 + ['f.txt']), 'w').close()\n\
         os.makedirs(os.environ['TMPDIR'] + '/sub/nul'); open(os.environ['HOME'] + '/aux', 'w').close()\n",
        serde_json::json!(names)
    );
    context.file("make.py", script);
    context.checks(&format!("- {{id: make, cwd: sandbox, run: [python3, $project/make.py]{more}}}"));
    context
}

#[test]
fn what_windows_cannot_have_in_a_sandbox_is_told_and_look_alikes_are_not() {
    let context = maker(", as: windows");
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!((check.verdict, errors(check)), (Verdict::Failed, vec!["illegal-name"]), "{}", ran.said());
    let found = of_kind(check, Kind::IllegalName);
    let told: BTreeSet<&str> = found.iter().filter_map(|finding| finding.path.as_deref()).collect();
    // Of twins it is the one that is listed later.
    for bad in BAD.iter().filter(|name| !["Test.txt", "é"].contains(name)) {
        assert!(told.contains(format!("work/{bad}").as_str()), "{bad}: {told:?}");
    }
    for twins in [["Test.txt", "test.txt"], ["é", "É"]] {
        assert_eq!(twins.iter().filter(|name| told.contains(format!("work/{name}").as_str())).count(), 1, "{told:?}");
    }
    assert!(told.iter().any(|path| path.ends_with("d/f.txt")) && told.contains("tmp/sub/nul"), "{told:?}");
    assert_eq!((told.len(), found.len()), (BAD.len() + 2, BAD.len() + 2), "{}", ran.said());
    for good in GOOD {
        assert!(!told.contains(format!("work/{good}").as_str()), "{good}");
    }
    assert!(!told.iter().any(|path| path.starts_with("home")), "{told:?}");
}

#[test]
fn it_is_a_note_where_the_check_says_nothing_and_nothing_where_it_is_for_linux() {
    let ran = maker("").hp(&["run"]);
    let found = of_kind(ran.exits(0).only(), Kind::IllegalName);
    assert!(!found.is_empty() && found.iter().all(|finding| finding.severity == Severity::Note), "{}", ran.said());
    let ran = maker(", platforms: [linux]").hp(&["run"]);
    assert_eq!(of_kind(ran.exits(0).only(), Kind::IllegalName).len(), 0, "{}", ran.said());
    let ran = maker(", as: windows, allow: [{kind: illegal-name, because: odd}]").hp(&["run"]);
    assert_eq!(errors(ran.exits(0).only()), [""; 0], "{}", ran.said());
}

#[test]
fn what_a_check_makes_in_the_project_is_looked_at_too() {
    let context = tracking(&[], "- {id: make, shell: 'mkdir -p out; echo x > out/aux.c; echo x > a.; echo x > fine'}");
    let ran = context.hp(&["run"]);
    let told = |ran: &crate::context::Ran| -> Vec<String> {
        let found = of_kind(ran.only(), Kind::IllegalName);
        found.into_iter().filter_map(|finding| finding.path.clone()).collect()
    };
    assert_eq!(told(&ran), ["a.", "out/aux.c"], "{}", ran.said());
    // A single command has no project; where it starts is looked at for what is new.
    let folder = Context::new();
    folder.file("old:file", "x");
    let ran = folder.hp(&["try", "--", "sh", "-c", "echo x > nul; echo x > console.log"]);
    assert_eq!(told(&ran), ["nul"], "{}", ran.said());
}

fn git(context: &Context, arguments: &[&str]) {
    let mut command = Command::new("git");
    context.dress(&mut command);
    let status = command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments).status();
    assert!(status.expect("git").success(), "{arguments:?}");
}

/// A project whose tracked files are these.
fn tracking(names: &[&str], checks: &str) -> Context {
    let context = Context::with(checks);
    git(&context, &["init", "--quiet"]);
    for name in names {
        context.file(name, "");
    }
    git(&context, &["add", "--all"]);
    context.file("untracked/aux", "");
    context
}

#[test]
fn a_project_that_windows_cannot_check_out_is_told_to_each_check_for_windows() {
    let checks = "- {id: a, run: ['true'], as: [native, windows]}\n- {id: b, run: ['true'], platforms: [linux, windows]}\n\
                  - {id: c, run: ['true'], cwd: copy, as: windows}";
    let context = tracking(&["src/aux.c", "src/ok.c", "docs/Read.me", "docs/read.me"], checks);
    let ran = context.hp(&["run"]);
    ran.exits(1);
    for id in ["a@windows", "b", "c@windows"] {
        let check = ran.check(id);
        let paths: Vec<_> = of_kind(check, Kind::IllegalName).iter().filter_map(|one| one.path.as_deref()).collect();
        assert_eq!(paths, ["docs/read.me", "src/aux.c"], "{id}: {}", ran.said());
        assert_eq!(errors(check), ["illegal-name"], "{id}: {}", ran.said());
    }
    assert_eq!(ran.check("a").verdict, Verdict::Passed, "{}", ran.said());
    assert_eq!(ran.report().findings, [], "told once: {}", ran.said());
}

#[test]
fn else_it_is_one_note_of_the_run() {
    let context = tracking(&["aux.c", "b:c", "d?", "e*"], "- {id: a, run: ['true']}\n- {id: b, run: ['true']}");
    let ran = context.hp(&["run"]);
    let [note] = &ran.exits(0).report().findings[..] else { panic!("{}", ran.said()) };
    assert_eq!((note.kind, note.severity), (Kind::IllegalName, Severity::Note));
    assert!(note.message.contains("aux.c is the name of a device on Windows"), "{}", note.message);
    assert!(note.message.ends_with("and 1 more"), "{}", note.message);
    context.checks("- {id: a, run: ['true'], platforms: [linux]}");
    assert_eq!(context.hp(&["run"]).exits(0).report().findings, []);
    // Of a command without a manifest the project is no business.
    assert_eq!(context.hp(&["try", "--", "true"]).exits(0).report().findings, []);
}

#[test]
fn names_that_are_no_text_and_twins_of_macos() {
    let script =
        "import os\nopen(b'caf\\xe9', 'w').close()\nopen('e\\u0301', 'w').close(); open('\\u00e9', 'w').close()\n";
    let context = Context::with("- {id: a, cwd: sandbox, run: [python3, $project/a.py], platforms: [linux, macos]}");
    context.file("a.py", script);
    let ran = context.hp(&["run"]);
    let found = of_kind(ran.exits(1).only(), Kind::IllegalName);
    let mut told: Vec<_> = found.iter().map(|finding| finding.message.as_str()).collect();
    told.sort_unstable();
    assert_eq!(told.len(), 2, "{}", ran.said());
    assert!(told.iter().any(|message| message.contains("is not Unicode")), "{told:?}");
    assert!(told.iter().any(|message| message.contains("one name on macOS")), "{told:?}");
}
