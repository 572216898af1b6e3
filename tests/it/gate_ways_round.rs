//! Ways round the gate, each of which is closed: with real git and real keys.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use serde_json::{Value, json};

use crate::gate::{CHECKS, POLICY, SETTINGS, answers, asked, gate, obstacles, project, receipt, wired};
use crate::receipts::no_keygen;

/// Settings that wire a script which no check covers.
fn stray() -> String {
    SETTINGS.replace("hooks/guard.sh", "x.sh")
}

/// One that says of its cases what a hook check of two events would.
const TWO_EVENTS: &str = "
- id: hooked
  hook: {file: .claude/settings.json, event: PreToolUse}
  covers: ['hooks/**']
  events: [{stdin: sample, expect: allow}, {stdin: sample, expect: allow}]
";

#[test]
fn a_name_with_a_backslash_hides_no_file() {
    if no_keygen() {
        return;
    }
    let repository = project(CHECKS, POLICY);
    repository.context.file("x.sh", "exit 0\n");
    repository.context.file(".claude/settings.json", stray());
    repository.context.file(".claude\\settings.json", "{}");
    repository.commit("wires, and hides it");
    let found = obstacles(&asked(&repository, &[]));
    assert!(found.iter().any(|said| said.contains("no check covers sh x.sh")), "{found:?}");
    // Nor does one hide a manifest.
    let repository = wired();
    repository.context.file("checks.d\\checks.yaml", "version: 1\nchecks: []\n");
    repository.commit("another name");
    assert_eq!(answers(&asked(&repository, &[])), ["guard linux missing"]);
}

#[test]
fn a_link_hides_no_wiring() {
    if no_keygen() {
        return;
    }
    // A folder that is a link, and one by way of another.
    for (link, to) in [(".claude", "x"), (".github", "x")] {
        let repository = project(CHECKS, POLICY);
        repository.context.file("x.sh", "exit 0\n");
        repository.context.file("x/settings.json", stray());
        let copilot = json!({"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "sh x.sh"}]}});
        repository.context.file("y/a.json", copilot.to_string());
        symlink("../y", repository.path("x/hooks")).expect("a link");
        symlink(to, repository.path(link)).expect("a link");
        repository.commit("wires by a link");
        let found = obstacles(&asked(&repository, &[]));
        assert!(found.iter().any(|said| said.contains("no check covers sh x.sh")), "{link}: {found:?}");
    }
    // Where it leads out of the commit, or round, what is wired is not known.
    for (link, to) in [
        (".claude/settings.json", "/etc/hostname"),
        (".claude/settings.json", "settings.json"),
        (".claude", "../elsewhere"),
        (".claude", ".claude"),
        (".claude", "not-here"),
    ] {
        let repository = project(CHECKS, POLICY);
        if link.contains('/') {
            fs::create_dir(repository.path(".claude")).expect("a folder");
        }
        symlink(to, repository.path(link)).expect("a link");
        repository.commit("leads away");
        let found = obstacles(&asked(&repository, &[]));
        let why = "unread .claude/settings.json: what it wires is not known: ";
        assert!(found.iter().any(|said| said.starts_with(why)), "{link} -> {to}: {found:?}");
        // That it was so before is none of the change's doing.
        repository.git(&["branch", "-q", "-f", "main", "change"]);
        repository.context.file("readme", "x");
        repository.commit("a text");
        assert_eq!(obstacles(&asked(&repository, &[])), [""; 0], "{link} -> {to}");
    }
}

/// What stands against a change with these files.
fn against(policy: &str, files: &[(&str, &str)]) -> Vec<String> {
    let repository = project(CHECKS, policy);
    repository.context.file("x.sh", "exit 0\n");
    for (name, text) in files {
        repository.context.program(name, text);
    }
    repository.commit("wires");
    obstacles(&asked(&repository, &[]))
}

#[test]
fn hooks_of_git_are_wired_wherever_a_project_has_them() {
    if no_keygen() {
        return;
    }
    let hook = ("tools/hooks/pre-push", "#!/bin/sh\n./x.sh\n");
    let uncovered = |file: &str| format!("uncovered git pre-push in {file}: no check covers {file}");
    for file in [".githooks/pre-push", "tools/git-hooks/pre-push", ".config/husky/pre-push", "web/.husky/pre-push"] {
        assert_eq!(against(POLICY, &[(file, hook.1)]), [uncovered(file)]);
    }
    // A folder by any other name, as something says to take it.
    assert_eq!(against(POLICY, &[hook]), [""; 0]);
    for (file, text) in [
        ("package.json", r#"{"scripts": {"prepare": "git config core.hooksPath ./tools/hooks"}}"#),
        ("Makefile", "setup:\n\tgit config core.hookspath \"$$(git rev-parse --show-toplevel)/tools/hooks\"\n"),
        (".gitconfig", "[core]\n\thooksPath = tools/hooks\n"),
    ] {
        assert_eq!(against(POLICY, &[hook, (file, text)]), [uncovered(hook.0)], "{file}");
    }
    let named = POLICY.replace("signers: signers", "signers: signers, wirings: [{file: tools/hooks/pre-push}]");
    assert_eq!(against(&named, &[hook]), [uncovered(hook.0)]);
    // What can't be looked into is told.
    for folder in [".githooks", ".husky"] {
        let repository = project(CHECKS, POLICY);
        symlink("../elsewhere", repository.path(folder)).expect("a link");
        repository.commit("wires what is not here");
        let found = obstacles(&asked(&repository, &[]));
        assert!(found.iter().any(|said| said.starts_with(&format!("unread {folder}: "))), "{found:?}");
    }
    // As this clone is configured, and no longer what it was in the base.
    let repository = project(CHECKS, POLICY);
    repository.git(&["config", "core.hooksPath", "tools/hooks"]);
    // No executable one: git itself would call it here.
    repository.context.file(hook.0, hook.1);
    repository.commit("wires");
    assert_eq!(obstacles(&asked(&repository, &[])), [uncovered(hook.0)]);
    repository.git(&["branch", "-q", "-f", "main", "change"]);
    repository.context.file(hook.0, "#!/bin/sh\ntrue\n");
    repository.commit("calls something else");
    assert_eq!(obstacles(&asked(&repository, &[])), [uncovered(hook.0)]);
}

#[test]
fn every_file_of_lefthooks_wires() {
    if no_keygen() {
        return;
    }
    let text = "pre-push:\n  commands:\n    a: {run: sh x.sh}\n";
    let jsonc = r#"{"pre-push": {"commands": {"a": {"run": "sh x.sh"}}}} // why"#;
    for (file, text) in [
        (".config/lefthook.yaml", text),
        ("lefthook-local.yml", text),
        (".config/lefthook-local.yml", text),
        (".lefthook.jsonc", jsonc),
    ] {
        let line = text.lines().position(|line| line.contains("x.sh")).expect("a line") + 1;
        let expected = format!("uncovered lefthook pre-push in {file}:{line}: no check covers sh x.sh");
        assert_eq!(against(POLICY, &[(file, text)]), [expected]);
    }
    let extends = "extends: [hooks/*/more.yml]\npre-commit:\n  commands:\n    b: {run: sh hooks/guard.sh}\n";
    let more = format!("extends: [deep.toml]\n{text}pre-commit:\n  commands:\n    b: {{skip: true}}\n");
    let deep = "[post-merge]\njobs = [{run = 'sh x.sh'}]\n";
    let files = [("lefthook.yml", extends), ("hooks/a/more.yml", &more), ("deep.toml", deep)];
    let expected = [
        "uncovered lefthook post-merge in deep.toml:2: no check covers sh x.sh",
        "uncovered lefthook pre-push in hooks/a/more.yml:4: no check that covers it",
    ];
    let found = against(POLICY, &files);
    assert!(found.iter().any(|said| said == expected[0]), "{found:?}");
    assert!(!found.iter().any(|said| said.starts_with("unread")), "{found:?}");
    let found = against(POLICY, &[("lefthook.yml", "extends: [../more.yml]\n")]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("unread lefthook.yml: ") && found[0].contains("out of the project"), "{found:?}");
}

#[test]
fn a_name_in_another_case_is_a_wiring_where_names_have_none() {
    if no_keygen() {
        return;
    }
    let everywhere = POLICY.replace("[linux]", "[linux, windows]");
    for file in [".Claude/Settings.json", "packages/a/.claude/SETTINGS.json"] {
        let found = against(&everywhere, &[(file, &stray())]);
        assert_eq!(found, [format!("uncovered Claude Code PreToolUse(Bash) in {file}:2: no check covers sh x.sh")]);
        assert_eq!(against(POLICY, &[(file, &stray())]), [""; 0], "on Linux it is none");
    }
    // So is a script that is called by another name.
    let repository = project(CHECKS, &everywhere);
    let wired = SETTINGS.replace("hooks/guard.sh", "Tools/X.sh");
    repository.context.file(".claude/settings.json", wired);
    repository.context.file("tools/x.sh", "exit 0\n");
    repository.commit("wires");
    repository.git(&["branch", "-q", "-f", "main", "change"]);
    repository.context.file("tools/x.sh", "exit 2\n");
    repository.commit("changes the script");
    let found = obstacles(&asked(&repository, &[]));
    assert!(found.iter().any(|said| said.contains("no check covers sh Tools/X.sh")), "{found:?}");
}

#[test]
fn settings_in_a_folder_wire_for_whoever_starts_there() {
    if no_keygen() {
        return;
    }
    let settings = SETTINGS.replace("sh hooks/guard.sh", "sh \\\"$CLAUDE_PROJECT_DIR\\\"/x.sh");
    let files = [("packages/a/.claude/settings.json", settings.as_str()), ("packages/a/x.sh", "exit 0\n")];
    let found = against(POLICY, &files);
    let [one] = &found[..] else { panic!("{found:?}") };
    assert!(one.starts_with("uncovered Claude Code PreToolUse(Bash) in packages/a/.claude/settings.json:2: "), "{one}");
    let repository = project(CHECKS, POLICY);
    for (name, text) in files {
        repository.context.file(name, text);
    }
    repository.commit("wires");
    let document = asked(&repository, &[]);
    let remedy = document["obstacles"][0]["remedy"].as_str().expect("a text");
    assert!(remedy.ends_with("covers: [packages/a/x.sh]"), "{remedy}");
}

#[test]
fn what_a_check_is_run_with_no_longer_is_told_of_the_check() {
    if no_keygen() {
        return;
    }
    let check = |keys: &str| format!("- {{id: guard, shell: 'true', covers: [lib/b.txt], {keys}}}\n");
    let whole = "matrix: {F: ['0.1', 5], M: [a, b, c]}, as: [native, windows], vary: [locale], copies: 2";
    let repository = project(&check(whole), POLICY);
    let said = |keys: &str| {
        repository.context.checks(&check(keys));
        repository.commit("other variants");
        obstacles(&asked(&repository, &[]))
    };
    assert_eq!(
        said("matrix: {F: [5], M: [a, b, c]}, as: [native], copies: 1"),
        [
            "weaker guard: it is judged by windows rules no longer (`as`)",
            "weaker guard: it is run under locale no longer (`vary`)",
            "weaker guard: it is run with F=0.1 no longer (`matrix`)",
            "weaker guard: its copies are 1, and were 2",
        ]
    );
    // The check itself is there, and what it was run with is gone.
    assert_eq!(
        said("as: [native, windows], vary: [locale], copies: 2"),
        ["weaker guard: it is run with F=0.1, F=5, M=a and 2 more no longer (`matrix`)"]
    );
    let more =
        "matrix: {F: ['0.1', 5, 7], M: [a, b, c], N: [1]}, as: [native, windows], vary: [locale, umask], copies: 3";
    assert_eq!(said(more), [""; 0]);
    // By another name it is the same.
    repository.context.checks(&check(whole).replace("guard", "guard/all"));
    repository.commit("another name");
    assert_eq!(obstacles(&asked(&repository, &[])), [""; 0]);
    repository.context.checks(&check(&whole.replace("a, b", "a")).replace("guard", "guard/all"));
    repository.commit("another name, and less");
    assert_eq!(obstacles(&asked(&repository, &[])), ["weaker guard: it is gone"]);
}

#[test]
fn fewer_of_the_same_is_weaker() {
    if no_keygen() {
        return;
    }
    let event = "{stdin: sample, expect: allow}";
    let three = TWO_EVENTS.replace(&format!("[{event}, "), &format!("[{event}, {event}, "));
    let rules = "\n- {id: said, shell: 'true', covers: ['lib/**'], expect: {stdout: [{contains: a}, {contains: a}]}}\n";
    let repository = project(&format!("{three}{rules}"), POLICY);
    repository.context.file(".claude/settings.json", SETTINGS);
    repository.commit("wires");
    repository.git(&["branch", "-q", "-f", "main", "change"]);
    let fewer = TWO_EVENTS.replace(&format!("[{event}, {event}]"), &format!("[{event}]"));
    repository.context.checks(&format!("{fewer}{}", rules.replace("{contains: a}, {contains: a}", "{contains: a}")));
    repository.commit("fewer");
    assert_eq!(
        obstacles(&asked(&repository, &[])),
        [
            "weaker hooked: 2 of what it has under `events` is gone",
            "weaker said: 1 of what it expects of stdout is gone"
        ]
    );
}

#[test]
fn no_case_may_be_missing() {
    if no_keygen() {
        return;
    }
    let named = "- {id: guard, run: [echo, 'ok - a'], reader: ok-lines, covers: ['hooks/**']}";
    let none = json!({"planned": null, "ran": null, "unknown": null, "passed": null, "failed": null, "skipped": null});
    let zero = json!({"planned": 0, "ran": 0, "unknown": 0, "passed": 0, "failed": 0, "skipped": 0});
    let one = json!({"planned": 1, "ran": 1, "unknown": 0, "passed": 1, "failed": 0, "skipped": 0});
    let skipped = json!({"planned": 2, "ran": 2, "unknown": 0, "passed": 0, "failed": 0, "skipped": 2});
    let both = json!({"planned": 2, "ran": 2, "unknown": 0, "passed": 2, "failed": 0, "skipped": 0});
    let more = json!({"planned": 3, "ran": 3, "unknown": 0, "passed": 3, "failed": 0, "skipped": 0});
    let half = json!({"planned": 2, "ran": 2, "unknown": 0, "passed": 1, "failed": 0, "skipped": 1});
    let strict = named.replace("covers", "expect: {skipped: 0}, covers");
    for (check, good, short) in [
        (TWO_EVENTS, vec![&both], vec![&none, &zero, &one, &skipped, &half, &more]),
        (named, vec![&one, &both, &half], vec![&none, &zero, &skipped]),
        (&strict, vec![&one, &both], vec![&none, &zero, &skipped, &half]),
    ] {
        let repository = project(check, POLICY);
        repository.context.file(".claude/settings.json", SETTINGS);
        repository.commit("wires the hook");
        let with = |cases: &Value| {
            receipt(&repository, "r1.json", |it| {
                it["predicate"]["checks"][0]["verdict"] = "passed".into();
                it["predicate"]["checks"][0]["findings"] = json!([]);
                it["predicate"]["checks"][0]["cases"] = cases.clone();
            });
            answers(&asked(&repository, &["r1.json"])).join(" ")
        };
        for cases in good {
            assert!(with(cases).ends_with(" linux good"), "{check} {cases}");
        }
        for cases in short {
            assert!(with(cases).ends_with(" linux short-count"), "{check} {cases}");
        }
    }
}

#[test]
fn what_the_base_gained_is_asked_for_too() {
    if no_keygen() {
        return;
    }
    let meanwhile = |change: &dyn Fn(&crate::receipts::Repository)| {
        let repository = project(CHECKS, POLICY);
        repository.context.file("hooks/guard.sh", "exit 1\n");
        repository.commit("changes the hook");
        repository.git(&["switch", "-q", "main"]);
        change(&repository);
        repository.commit("meanwhile");
        repository.git(&["switch", "-q", "change"]);
        receipt(&repository, "r1.json", |_| {});
        let document = asked(&repository, &["r1.json"]);
        (document["ok"] == true, answers(&document))
    };
    // A check that covers what the change touches: new, and one that covers more than it did.
    let (ok, found) = meanwhile(&|it| {
        it.context.checks(&format!("{CHECKS}- {{id: more, shell: 'true', covers: [hooks/guard.sh]}}\n"));
    });
    assert!(!ok && found.contains(&"more linux base-moved".to_owned()), "{found:?}");
    let (ok, found) = meanwhile(&|it| it.context.checks(&CHECKS.replace("['lib/**']", "['lib/**', hooks/guard.sh]")));
    assert!(!ok && found.contains(&"other linux base-moved".to_owned()), "{found:?}");
    // A wiring of the script that the change touches.
    let (ok, found) = meanwhile(&|it| {
        it.context.file(".claude/settings.json", SETTINGS);
    });
    assert!(!ok && found.contains(&"guard linux base-moved".to_owned()), "{found:?}");
    // What has nothing to do with it.
    let (ok, found) = meanwhile(&|it| {
        it.context.checks(&format!("{CHECKS}- {{id: more, shell: 'true', covers: [lib/b.txt]}}\n"));
        it.context.file("y.sh", "exit 0\n");
        it.context.file(".claude/settings.json", SETTINGS.replace("hooks/guard.sh", "y.sh"));
    });
    assert!(ok, "{found:?}");
}

#[test]
fn a_mode_that_git_passes_over_is_seen() {
    if no_keygen() {
        return;
    }
    let repository = wired();
    repository.git(&["config", "core.fileMode", "false"]);
    let script = repository.path("hooks/guard.sh");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a mode");
    let ran = repository.run("r1.json", &[]);
    assert!(ran.said().contains("hooks/guard.sh differs from the commit"), "{}", ran.said());
    let payload = repository.payload("r1.json");
    let checks = payload["predicate"]["checks"].as_array().expect("a list");
    assert!(checks.iter().all(|check| check["id"] != "guard"), "{payload}");
}

#[test]
fn a_narrow_check_narrows_no_policy() {
    if no_keygen() {
        return;
    }
    let checks = "\n- {id: guard, shell: 'true', covers: ['lib/**'], hosts: [macos]}\n";
    let repository = project(checks, &POLICY.replace("[linux]", "[linux, windows]"));
    repository.context.file(".claude/settings.json", SETTINGS);
    repository.context.checks(&checks.replace("'lib/**'", "'lib/**', hooks/guard.sh"));
    repository.commit("wires, and covers it on macOS alone");
    let found = obstacles(&asked(&repository, &[]));
    assert!(found.iter().any(|said| said.contains("is wanted on linux and windows: guard")), "{found:?}");
}

#[test]
fn a_report_overwrites_nothing_that_git_tracks() {
    if no_keygen() {
        return;
    }
    let repository = wired();
    let before = repository.context.read("checks.d/checks.yaml");
    for option in ["--receipt", "--junit", "--report"] {
        let unsigned: &[&str] = if option == "--receipt" { &["--unsigned"] } else { &[] };
        let ran = repository.context.hp(&[&["run", option, "checks.d/checks.yaml"], unsigned].concat());
        assert!(
            ran.exits(2).stderr.contains("checks.d/checks.yaml") && ran.stderr.contains("git tracks"),
            "{option}: {}",
            ran.said()
        );
        assert_eq!(repository.context.read("checks.d/checks.yaml"), before, "{option}");
    }
    gate(&repository, &[]).exits(1);
}

#[test]
fn a_hook_that_is_called_for_less_is_weaker() {
    if no_keygen() {
        return;
    }
    let repository = project(CHECKS, POLICY);
    let settings = |matcher: &str| SETTINGS.replace("\"Bash\"", &format!("{matcher:?}"));
    repository.context.file(".claude/settings.json", settings("Bash|Write"));
    repository.commit("wires");
    repository.git(&["branch", "-q", "-f", "main", "change"]);
    let with = |text: &str| {
        repository.context.file(".claude/settings.json", text);
        repository.git(&["add", "-A"]);
        repository.git(&["commit", "-q", "--allow-empty", "-m", "otherwise"]);
        asked(&repository, &[])
    };
    let place = "weaker Claude Code PreToolUse(Bash) in .claude/settings.json:2: ";
    assert_eq!(obstacles(&with(&settings("Bash"))), [format!("{place}it is not called for Write any more")]);
    assert_eq!(obstacles(&with(&settings("Write|Bash|Edit"))), [""; 0]);
    // One that is taken away, or switched off, is told.
    let off = settings("Bash|Write").replacen('{', "{\"disableAllHooks\": true, ", 1);
    for text in ["{}", &off] {
        let document = with(text);
        assert_eq!(obstacles(&document), [""; 0]);
        let told =
            "Claude Code PreToolUse(Bash|Write) in .claude/settings.json:2 is called no longer: sh hooks/guard.sh";
        assert!(document["notes"].as_array().is_some_and(|notes| notes.contains(&told.into())), "{document}");
    }
    // The base may let it pass.
    let accept =
        "signers: signers, accept: [{wiring: .claude/settings.json, because: writes have a hook of their own}]";
    repository.git(&["switch", "-q", "main"]);
    repository.context.manifest("gate.yaml", &POLICY.replace("signers: signers", accept));
    repository.commit("accepts it");
    repository.git(&["switch", "-q", "change"]);
    repository.git(&["rebase", "-q", "main"]);
    assert_eq!(obstacles(&with(&settings("Bash"))), [""; 0]);
}

#[test]
fn what_costs_much_to_look_at_is_looked_at_once_or_told() {
    if no_keygen() {
        return;
    }
    let repository = wired();
    let called = repository.keys.path().join("called");
    let script = format!("#!/bin/sh\necho >>'{}'\nexec ssh-keygen \"$@\"\n", called.display());
    let program = repository.context.program("ran", &script);
    let program = program.display().to_string();
    // Each asks who signed it: whether it holds, whose key it is, and whether that one may sign this.
    let cost = |receipts: &[&str]| {
        repository.git(&["config", "gpg.ssh.program", &program]);
        fs::write(&called, "").expect("a file");
        let document = asked(&repository, receipts);
        repository.git(&["config", "--unset", "gpg.ssh.program"]);
        (document, fs::read_to_string(&called).expect("a file").lines().count())
    };
    receipt(&repository, "r1.json", |_| {});
    let (document, once) = cost(&["r1.json"]);
    assert_eq!((answers(&document), once), (vec!["guard linux good".to_owned()], 3));
    // The same in another dress, and signed many times over.
    let text = fs::read_to_string(repository.path("r1.json")).expect("a receipt");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    for number in 2..6 {
        let mut copy = value.clone();
        let list: Vec<Value> = (0..number).map(|_| value["signatures"][0].clone()).collect();
        copy["signatures"] = list.into();
        fs::write(repository.path(&format!("r{number}.json")), copy.to_string()).expect("a copy");
    }
    let (document, many) = cost(&["r1.json", "r2.json", "r3.json", "r4.json", "r5.json"]);
    assert_eq!((answers(&document), many), (vec!["guard linux good".to_owned()], once));
    // Strangers' are named up to a number, and the rest is counted.
    fs::create_dir_all(repository.path("ran.d")).expect("a folder");
    let forged = |name: String, sig: &str, payload: &Value| {
        let copy = json!({"payloadType": value["payloadType"], "payload": payload, "signatures": [{"sig": sig}]});
        fs::write(repository.path(&name), copy.to_string()).expect("a copy");
    };
    for number in 0..25 {
        forged(format!("ran.d/{number}.json"), &encoded(number), &value["payload"]);
    }
    let (document, strangers) = cost(&["r1.json", "ran.d"]);
    assert_eq!((answers(&document), strangers), (vec!["guard linux good".to_owned()], once + 20));
    let note = "5 more receipts name no key of an allowed signer, and count for nothing";
    assert!(document["notes"].as_array().is_some_and(|notes| notes.contains(&note.into())), "{document}");
    // Of those that name one a newer red one may be any.
    let sig = value["signatures"][0]["sig"].as_str().expect("a text");
    for number in 0..1001 {
        let end = encoded(number);
        forged(format!("ran.d/{number}.json"), &format!("{}{end}", &sig[..sig.len() / 8 * 4]), &value["payload"]);
    }
    let ran = gate(&repository, &["--receipts", "ran.d"]);
    assert!(ran.exits(3).stderr.contains("more than 1000 signatures"), "{}", ran.said());
}

/// Four letters of base64 for a number below 4096.
fn encoded(number: usize) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    [0, 0, number / 64, number % 64].map(|index| char::from(LETTERS[index])).iter().collect()
}
