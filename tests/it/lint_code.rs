//! `hostproof lint --code`: traps that can be read in the source.

use std::fmt::Write as _;
use std::os::unix::fs::PermissionsExt;

use hostproof::lints::rules;
use hostproof::model::{Lint, LintKind, Lints, Severity};
use rustix::process::geteuid;
use serde_json::Value;

use crate::context::{Context, Ran, as_nobody, by, repository, skip, variable};

/// What `lint --code --json` says.
fn lints(context: &Context, arguments: &[&str]) -> Lints {
    let ran = context.hp(&[&["lint", "--code", "--json"], arguments].concat());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
}

/// `kind file:line` of each that no comment allows.
fn shown(lints: &Lints) -> Vec<String> {
    let open = lints.lints.iter().filter(|lint| lint.allowed.is_none());
    open.map(|lint| format!("{} {}:{}", lint.kind.slug(), lint.file, lint.line)).collect()
}

const WIRED: &str = r#"{"hooks": {"PreToolUse": [{"hooks": [
  {"type": "command", "command": "python3 \"$CLAUDE_PROJECT_DIR/hooks/guard.py\""}
]}]}}"#;

#[test]
fn the_three_defects_of_the_story_are_read_in_the_unmended_hook_alone() {
    let context = Context::new();
    context.copy("fixtures/sweep");
    let defects = [LintKind::SlashPath, LintKind::DetachedCwd, LintKind::InPlaceWrite];
    let of = |variant: &str| {
        let folder = format!("fixtures/sweep/{variant}");
        lints(&context, &[&folder, "fixtures/sweep/common"])
    };
    let unmended = of("unmended");
    let places = |kind: LintKind| -> Vec<(&str, &str)> {
        let these = unmended.lints.iter().filter(|lint| lint.kind == kind);
        these.map(|lint| (lint.file.as_str(), lint.snippet.as_str())).collect()
    };
    let hook = "fixtures/sweep/unmended/hooks/sweep.py";
    let slash = "return os.path.abspath(path).endswith(\".claude/state/sweep_cache.json\")";
    assert_eq!(places(LintKind::SlashPath), [(hook, slash)]);
    assert_eq!(places(LintKind::DetachedCwd), [(hook, "subprocess.Popen(")]);
    let write = "with open(path, \"w\", encoding=\"utf-8\") as file:";
    assert_eq!(places(LintKind::InPlaceWrite), [("fixtures/sweep/unmended/hooks/sweep_detached.py", write)]);

    let mended = of("mended");
    let left: Vec<&Lint> = mended.lints.iter().filter(|lint| defects.contains(&lint.kind)).collect();
    assert!(left.is_empty(), "{left:#?}");
    assert_eq!(mended.totals.files, unmended.totals.files, "both were looked at");
}

#[test]
fn what_runs_as_a_hook_or_its_self_test_is_looked_at_and_nothing_else() {
    let context = Context::with(
        "- {id: guard, run: [python3, tests/test_guard.py], covers: ['lib/**']}\n- {id: sh, shell: 'bash tools/check.sh', files: {spare: spare}}",
    );
    let trap = "import os\nos.kill(a, 0)\n";
    for file in ["hooks/guard.py", "tests/test_guard.py", "lib/a.py", "spare/b.py", "elsewhere/c.py"] {
        context.file(file, trap);
    }
    context.file("tools/check.sh", "pkill -f guard\n");
    context.file(".claude/settings.json", WIRED);
    let by_default = lints(&context, &[]);
    assert_eq!(
        shown(&by_default),
        [
            "kill-zero hooks/guard.py:2",
            "kill-zero lib/a.py:2",
            "kill-zero spare/b.py:2",
            "kill-zero tests/test_guard.py:2",
            "by-name tools/check.sh:1",
        ]
    );
    assert_eq!((by_default.totals.files, by_default.totals.commands), (5, 1));
    assert!(shown(&lints(&context, &["--all"])).contains(&"kill-zero elsewhere/c.py:2".to_owned()));
    assert_eq!(
        shown(&lints(&context, &["elsewhere", "lib/a.py"])),
        ["kill-zero elsewhere/c.py:2", "kill-zero lib/a.py:2"]
    );
}

#[test]
fn what_a_hook_takes_in_runs_as_a_part_of_it() {
    let context = Context::with(
        "- {id: a, run: [python3, hooks/guard.py]}\n- {id: b, run: [sh, hooks/b.sh]}\n- {id: c, run: [node, hooks/c.js]}",
    );
    let trap = "import os\n\nos.kill(1, 0)\n";
    context.file("hooks/guard.py", "import json\nfrom lib import state\nimport shared\n");
    context.file("hooks/lib/__init__.py", "");
    // The two take in each other.
    context.file("hooks/lib/state.py", format!("from . import deep\n{trap}"));
    context.file("hooks/lib/deep.py", format!("from . import state\nfrom .. import outside\n{trap}"));
    context.file("hooks/lib/unused.py", trap);
    context.file("shared.py", trap);
    context.file("hooks/b.sh", ". \"$(dirname \"$0\")/b-lib.sh\"\n");
    context.file("hooks/b-lib.sh", "pkill guard\n");
    context.file("hooks/c.js", "const { x } = require('./c-lib');\n");
    context.file("hooks/c-lib.js", "process.getuid();\n");
    let ran = lints(&context, &[]);
    let wanted = [
        "by-name hooks/b-lib.sh:1",
        "posix-only hooks/c-lib.js:1",
        "kill-zero hooks/lib/deep.py:5",
        "kill-zero hooks/lib/state.py:4",
        "kill-zero shared.py:3",
    ];
    assert_eq!(shown(&ran), wanted);
    assert_eq!(ran.totals.files, 9);
    // Who names a file means that.
    assert_eq!(lints(&context, &["hooks/guard.py"]).totals.files, 1);
}

#[test]
fn a_finding_says_all_that_a_person_needs() {
    let context = Context::with("- {id: a, run: [python3, hook.py]}");
    context.file(
        "hook.py",
        "import subprocess\n\n\ndef f(argv):\n    subprocess.Popen(argv, start_new_session=True, stdout=subprocess.DEVNULL)\n    subprocess.Popen(argv, \
         start_new_session=True, stdout=subprocess.DEVNULL)\n    # hostproof: allow no-encoding because it is ASCII\n    return open(argv[0])\n",
    );
    let ran = context.hp(&["lint", "--code"]);
    insta::assert_snapshot!(context.shown(&ran), @r#"
    exit 1
    --- stdout
     warn  hook.py:5:5   detached-cwd   on Windows
           a process is detached (start_new_session) without a folder of its own
               5 | subprocess.Popen(argv, start_new_session=True, stdout=subprocess.DEVNULL)
           why    It sits in whatever folder the hook was started in. Windows removes no folder that a process sits in: a test that runs the hook in a temporary folder fails when that goes, and on Linux the process stays in a deleted one.
           mend   give it a folder that outlives it: cwd=… where it is started (in a shell: cd there first)     hostproof explain detached-cwd

     warn  hook.py:6:5   detached-cwd   on Windows
           a process is detached (start_new_session) without a folder of its own
               6 | subprocess.Popen(argv, start_new_session=True, stdout=subprocess.DEVNULL)

    allowed by a comment
     hook.py:8:12   no-encoding   because it is ASCII

    2 warnings, 1 allowed in 1 file
    --- stderr
    "#);
    let lint = &lints(&context, &[]).lints[0];
    assert_eq!((lint.line, lint.column, lint.end_line, lint.end_column), (5, 5, 5, 78));
    assert_eq!(lint.severity, Severity::Warning);
    for text in [&lint.why, &lint.remedy, &lint.message] {
        assert!(text.len() > 20, "{lint:?}");
    }
}

#[test]
fn exit_codes_say_what_there_is() {
    let code = |text: &str, arguments: &[&str]| {
        let context = Context::with("- {id: a, run: [python3, hook.py]}");
        context.file("hook.py", text);
        context.hp(&[&["lint", "--code"], arguments].concat())
    };
    code("x = 1\n", &[]).exits(0);
    code("def f(root):\n    return f\"{root}/x\"\n", &[]).exits(0);
    code("x = open(a)\n", &[]).exits(1);
    code("x = open(a)  # hostproof: allow no-encoding because so\n", &[]).exits(0);
    code("x = 1  # hostproof: allow no-encoding because so\n", &[]).exits(1);
    let gone = code("", &["gone.py"]);
    assert!(gone.exits(2).stderr.contains("gone.py"), "{}", gone.said());
    code("", &["--json", "--sarif", "-"]).exits(2);
    code("x = 1\0\n", &[]).exits(3);
    let context = Context::new();
    assert!(context.hp(&["lint", "--all"]).exits(2).stderr.contains("--code"));
}

#[test]
fn what_cannot_be_looked_at_is_told() {
    let context = Context::with("- {id: a, run: [python3, hook.py], covers: ['lib/**']}");
    context.file("hook.py", "x = [\n".repeat(400_000));
    context.file("lib/wide.py", "x = open(a)\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    context.file("lib/latin.py", b"# caf\xe9\nx = open(a)\n");
    // What has no word of any rule's is not parsed, and can have no trap.
    context.file("lib/broken.sh", "if then fi ( pkill\n");
    context.file("lib/odd.py", format!("x = ) 1\n{}# kill 0\n", "y = 2\n".repeat(20)));
    context.file("lib/deep.py", format!("# kill 0\n{}", "(".repeat(30_000)));
    context.file("lib/README.md", "no source\n");
    crate::context::fifo(&context.project().join("lib/fifo.py"));
    let lints = lints(&context, &[]);
    let unread: Vec<&str> = lints.unread.iter().map(|unread| unread.file.as_str()).collect();
    assert_eq!(unread, ["hook.py", "lib/broken.sh", "lib/deep.py", "lib/wide.py"], "{lints:#?}");
    assert!(lints.unread[0].message.contains("1 MiB"), "{lints:#?}");
    let unclear: Vec<&str> = lints.unclear.iter().map(|unclear| unclear.file.as_str()).collect();
    assert_eq!(unclear, ["lib/latin.py", "lib/odd.py"]);
    assert_eq!(shown(&lints), ["no-encoding lib/latin.py:2"]);
    let said = context.hp(&["lint", "--code"]);
    assert!(said.exits(1).stdout.contains("4 not looked at"), "{}", said.said());
}

#[test]
fn what_was_asked_for_by_name_is_read_or_told() {
    let context = Context::with("- {id: a, run: [python3, hook.py]}");
    let mut git = std::process::Command::new("git");
    assert!(git.args(["init", "--quiet"]).current_dir(context.project()).status().expect("git").success());
    context.file("hook.py", "x = 1\n");
    context.file(".gitignore", "made/\n");
    context.file("made/a.py", "x = open(a)\n");
    context.file("notes.txt", "a\n");
    crate::context::fifo(&context.project().join("pipe.py"));
    assert_eq!(shown(&lints(&context, &["made"])), ["no-encoding made/a.py:1"]);
    for path in ["notes.txt", "pipe.py"] {
        let ran = context.hp(&["lint", "--code", path]);
        assert!(ran.exits(3).stdout.contains(path), "{}", ran.said());
    }
}

#[test]
fn a_folder_that_cannot_be_read_is_told() {
    let context = Context::with("- {id: a, run: [python3, hook.py]}");
    context.file("hook.py", "x = 1\n");
    context.file("deny/a.py", "x = open(a)\n");
    let deny = context.project().join("deny");
    let mode = |mode| std::fs::set_permissions(&deny, PermissionsExt::from_mode(mode)).expect("a mode");
    mode(0o000);
    // Root reads every folder, whatever its mode.
    let arguments = ["lint", "--code", "--all"];
    let ran = if geteuid().is_root() {
        as_nobody(&context).map(|(command, hostproof)| by(&context, &command, &hostproof, &arguments))
    } else {
        Some(context.hp(&arguments))
    };
    mode(0o755);
    let Some(ran) = ran else { return skip("root, who can become nobody else here, reads every folder") };
    assert!(ran.exits(3).stdout.contains("deny"), "{}", ran.said());
}

#[test]
fn a_script_that_a_host_calls_and_that_is_not_there_is_told() {
    let context = Context::new();
    context.file(".claude/settings.json", WIRED);
    let lints = lints(&context, &[]);
    let unread: Vec<&str> = lints.unread.iter().map(|unread| unread.file.as_str()).collect();
    assert_eq!(unread, ["hooks/guard.py"]);
    context.hp(&["lint", "--code"]).exits(3);
}

#[test]
fn commands_that_hosts_give_to_a_shell_are_read() {
    let context = Context::new();
    context.file(
        ".claude/settings.json",
        r#"{"hooks": {"Stop": [{"hooks": [
  {"type": "command", "command": "python3 $CLAUDE_PROJECT_DIR/hooks/a.py"},
  {"type": "command", "command": "[ -f x ] && (sleep 9; sync) >/dev/null 2>&1 &"}
]}]}}"#,
    );
    context.file("hooks/a.py", "x = 1\n");
    let lints = lints(&context, &[]);
    assert_eq!(
        shown(&lints),
        ["unquoted-variable .claude/settings.json:2", "background-output .claude/settings.json:3"]
    );
    assert_eq!(lints.lints[1].snippet, "[ -f x ] && (sleep 9; sync) >/dev/null 2>&1 &");
}

#[test]
fn how_a_hook_lies_on_the_disk_matters() {
    let context = Context::new();
    let command = |name: &str| format!(r#"{{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR/hooks/{name}\""}}"#);
    let commands: Vec<String> = ["a.sh", "b.py", "c.sh", "d.sh"].map(command).to_vec();
    let settings = format!(r#"{{"hooks": {{"Stop": [{{"hooks": [{}]}}]}}}}"#, commands.join(", "));
    context.file(".claude/settings.json", settings);
    context.program("hooks/a.sh", "#!/bin/sh\r\ncd /\r\n");
    context.program("hooks/b.py", "\u{feff}#!/usr/bin/env python3\n");
    context.file("hooks/c.sh", "#!/bin/sh\ncd /\n");
    context.program("hooks/d.sh", "#!/bin/sh\ncd /\n");
    assert_eq!(
        shown(&lints(&context, &[])),
        ["carriage-returns hooks/a.sh:1", "byte-order-mark hooks/b.py:1", "not-executable hooks/c.sh:1"]
    );
}

/// A project with something of everything.
fn various() -> Context {
    let context = Context::with("- {id: a, run: [python3, 'a b/hook.py'], covers: ['lib/**']}");
    context.file("a b/hook.py", "x = open(a)\ny = open(b)  # hostproof: allow no-encoding because it is ASCII\n");
    context.file("lib/x.py", "def f(root):\n    return f\"{root}/x\"\n");
    context.file("lib/y.py", format!("x = ) 1\n{}# kill 0\n", "y = 2\n".repeat(20)));
    context.file("lib/z.py", "\0");
    context.file("lib/w.sh", "#!/bin/sh\r\n");
    context
}

#[test]
fn sarif_is_as_the_standard_wants_it() {
    let context = various();
    let ran = context.hp(&["lint", "--code", "--sarif", "traps.sarif"]);
    assert!(ran.exits(1).stdout.contains("no-encoding"), "people read the same: {}", ran.said());
    let on_stdout = context.hp(&["lint", "--code", "--sarif", "-"]);
    assert_eq!(on_stdout.exits(1).stdout, context.read("traps.sarif"));
    let sarif: Value = serde_json::from_str(&context.read("traps.sarif")).expect("JSON");
    assert_eq!((&sarif["version"], sarif["runs"].as_array().map(Vec::len)), (&"2.1.0".into(), Some(1)));
    let run = &sarif["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "hostproof");
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let rules = driver["rules"].as_array().expect("rules");
    assert_eq!(rules.len(), LintKind::ALL.len());
    let is_level = |level: &Value| ["none", "note", "warning", "error"].iter().any(|known| level == known);
    for rule in rules {
        assert!(is_level(&rule["defaultConfiguration"]["level"]), "{rule}");
        for key in ["shortDescription", "fullDescription", "help"] {
            assert!(rule[key]["text"].as_str().is_some_and(|text| !text.is_empty()), "{rule}");
        }
    }
    let place = |location: &Value| {
        let artifact = &location["physicalLocation"]["artifactLocation"];
        let uri = artifact["uri"].as_str().expect("an address");
        assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri}");
        let base = artifact["uriBaseId"].as_str().expect("a base");
        assert!(run["originalUriBaseIds"].get(base).is_some(), "{base}");
        uri.to_owned()
    };
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 4, "{results:#?}");
    for result in results {
        assert!(is_level(&result["level"]), "{result}");
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("an index")).expect("an index");
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(result["message"]["text"].as_str().is_some_and(|text| !text.is_empty()));
        place(&result["locations"][0]);
        let region = &result["locations"][0]["physicalLocation"]["region"];
        let number = |key: &str| region[key].as_u64().unwrap_or_else(|| panic!("{key} in {region}"));
        assert!(number("startLine") >= 1 && number("startColumn") >= 1, "{region}");
        let (start, end) = ((number("startLine"), number("startColumn")), (number("endLine"), number("endColumn")));
        assert!(end > start, "{region}");
    }
    assert_eq!(place(&results[0]["locations"][0]), "a%20b/hook.py");
    assert_eq!(results[1]["suppressions"], serde_json::json!([{"kind": "inSource", "justification": "it is ASCII"}]));
    let invocation = &run["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let told = invocation["toolExecutionNotifications"].as_array().expect("notifications");
    let told: Vec<String> =
        told.iter().map(|one| format!("{} {}", one["level"], place(&one["locations"][0]))).collect();
    assert_eq!(told, ["\"error\" lib/z.py", "\"warning\" lib/y.py"]);
}

fn annotations(ran: &Ran) -> Vec<&str> {
    ran.stdout.lines().filter(|line| line.starts_with("::")).collect()
}

#[test]
fn in_github_actions_findings_are_annotated_where_they_are() {
    let mut context = various();
    let workspace = context.project().to_owned();
    context.env("GITHUB_ACTIONS", "true").env("GITHUB_WORKSPACE", workspace);
    let ran = context.hp(&["lint", "--code"]);
    let [error, warning] = annotations(ran.exits(1))[..] else { panic!("{}", ran.said()) };
    assert!(error.starts_with("::error file=lib/w.sh,line=1,col=1,title=carriage-returns::"), "{error}");
    assert!(
        warning.starts_with("::warning file=a b/hook.py,line=1,col=5,title=no-encoding::a file is read as text"),
        "{warning}"
    );
    assert!(warning.contains("%0Amend: say encoding"), "{warning}");
}

#[test]
fn a_run_shows_what_can_be_read_beside_what_is_red() {
    let context = Context::with(
        "- {id: red, run: [python3, red.py], covers: ['lib/**']}\n- {id: green, run: [python3, green.py]}",
    );
    context.file("red.py", "raise SystemExit(3)\n");
    context.file("lib/a.py", "x = open(a)\n");
    context.file("green.py", "if 0: open(a)\n");
    let ran = context.hp(&["run", "--jobs", "1"]);
    let notes: Vec<&str> = ran.exits(1).stdout.lines().filter(|line| line.contains("no-encoding")).collect();
    assert_eq!(
        notes,
        ["    note   lib/a.py:1:5   a file is read as text and no encoding     hostproof explain no-encoding"]
    );
}

#[test]
fn every_kind_has_a_page() {
    let context = Context::new();
    let list = context.hp(&["explain"]);
    for rule in rules() {
        let slug = rule.kind.slug();
        let page = context.hp(&["explain", slug]);
        assert!(page.exits(0).stdout.starts_with(&format!("# {slug}\n")), "{}", page.stdout);
        for heading in ["## Why a host cares", "## How to mend it"] {
            assert!(page.stdout.contains(heading), "{slug}");
        }
        assert!(list.stdout.contains(&format!("\n{slug} ")), "{slug}");
    }
    assert!(context.hp(&["explain", "slash"]).exits(2).stderr.contains("did you mean slash-path?"));
}

/// From here on the page is written by a test.
const MARK: &str = "<!-- written by tests/it/lint_code.rs from the rules -->";

/// What docs/lints.md says of the rules, below what people write.
fn page(by_people: &str) -> String {
    let mut page = format!("{by_people}{MARK}\n\n");
    let mut line = |text: String| writeln!(page, "{text}").expect("a text");
    line("| kind | | found | right | wrong |\n| --- | --- | --- | --- | --- |".to_owned());
    for rule in rules() {
        let seen = rule.seen;
        let severity = severity(rule.severity);
        line(format!("| `{}` | {severity} | {} | {} | {} |", rule.kind.slug(), seen.found, seen.right, seen.wrong));
    }
    for rule in rules() {
        let hosts: Vec<&str> = rule.hosts.iter().map(|host| host.name()).collect();
        line(format!("\n## {}\n\n{} On {}. {}\n", rule.kind.slug(), rule.finds, hosts.join(" and "), rule.why));
        line(format!("Mend: {}.", rule.mend));
        if !rule.seen.remark.is_empty() {
            line(format!("\nMeasured: {}", rule.seen.remark));
        }
        for (title, examples) in [("Found", rule.bad), ("Not found", rule.good)] {
            for (language, text) in examples.iter().take(2) {
                line(format!("\n{title}:\n\n```{}\n{}\n```", language.name(), text.trim_end().replace('\r', "")));
            }
        }
    }
    page
}

fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

#[test]
fn the_page_of_rules_is_fresh() {
    let path = repository().join("docs/lints.md");
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let page = page(committed.split(MARK).next().unwrap_or_default());
    if variable("HOSTPROOF_UPDATE_SCHEMAS").is_some() {
        std::fs::write(&path, &page).expect("the page");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(!committed.starts_with(MARK), "people have written nothing");
    assert!(committed == page, "docs/lints.md is old: set HOSTPROOF_UPDATE_SCHEMAS and run this test again");
}
