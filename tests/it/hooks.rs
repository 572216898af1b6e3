//! `hostproof hooks`: what is wired, what covers it, and what is wrong on sight.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use hostproof::model::{Hooks, Host, Wiring};

use crate::context::{Context, fifo, repository, variable};

/// What `hooks --json` says.
fn hooks(context: &Context, arguments: &[&str]) -> Hooks {
    let ran = context.hp(&[&["hooks", "--json"], arguments].concat());
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr))
}

fn git(context: &Context, arguments: &[&str]) {
    let mut git = Command::new("git");
    context.dress(&mut git);
    git.args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]);
    assert!(git.args(arguments).status().expect("git").success(), "{arguments:?}");
}

/// `host place occasion [limit] -> scripts`
fn shown(wiring: &Wiring) -> String {
    let limit = wiring.limit.as_ref().map(|limit| {
        format!(" [{}{}{}]", limit.written, limit.unit.name(), if limit.default { " default" } else { "" })
    });
    let scripts: Vec<&str> = wiring.scripts().map(|script| script.path.as_str()).collect();
    format!(
        "{} {} {}{} -> {}",
        wiring.host.name(),
        wiring.place(),
        wiring.occasion(),
        limit.unwrap_or_default(),
        scripts.join(" ")
    )
}

/// A project in which every host has something.
fn every_host() -> Context {
    let context = Context::new();
    context.file(
        ".claude/settings.json",
        r#"{
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash|Edit", "hooks": [
        {"type": "command", "command": "python3 \"$CLAUDE_PROJECT_DIR\"/h/a.py", "timeout": 10}
      ]}
    ],
    "SessionEnd": [{"hooks": [{"type": "command", "command": "sh", "args": ["${CLAUDE_PROJECT_DIR}/h/b.sh"]}]}]
  }
}
"#,
    );
    context.file(".claude/settings.local.json", r#"{"hooks": {"Stop": [{"hooks": [{"command": "sh h/b.sh"}]}]}}"#);
    context.file(
        "plugins/x/hooks/hooks.json",
        r#"{"hooks": {"Stop": [{"hooks": [{"command": "bash \"${CLAUDE_PLUGIN_ROOT}/s.sh\""}]}]}}"#,
    );
    context.file("plugins/x/s.sh", "");
    context.file("plugins/y/.claude-plugin/plugin.json", r#"{"name": "y", "hooks": "./more.json"}"#);
    context.file("plugins/y/more.json", r#"{"hooks": {"Stop": [{"hooks": [{"command": "python3 -m pkg.mod"}]}]}}"#);
    context.file(
        ".claude/agents/z.md",
        "---\nname: z\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: sh h/b.sh\n---\ntext\n",
    );
    context.file(
        ".codex/hooks.json",
        r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "python3 h/a.py", "commandWindows": "py h\\a.py"}]}]}}"#,
    );
    context.file(
        ".codex/config.toml",
        "model = 'x'\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = 'command'\ncommand = 'sh h/b.sh'\ntimeout = 5\n",
    );
    context.file(
        ".gemini/settings.json",
        "{ // why\n\"hooks\": {\"enabled\": true, \"BeforeTool\": [{\"matcher\": \"x\", \"hooks\": [{\"type\": \"command\", \"command\": \"sh h/b.sh\", \"timeout\": 5000}]}]}}\n",
    );
    context.file(
        ".github/hooks/x.json",
        r#"{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "./b.sh", "powershell": "./b.ps1", "cwd": "h", "timeoutSec": 9}]}}"#,
    );
    context.file(".cursor/hooks.json", r#"{"version": 1, "hooks": {"stop": [{"command": "node h/c.js"}]}}"#);
    context.file(
        ".windsurf/hooks.json",
        r#"{"hooks": {"pre_run_command": [{"command": "sh b.sh", "working_directory": "h"}]}}"#,
    );
    context.program(".clinerules/hooks/PreToolUse", "#!/bin/sh\n");
    context.file(".husky/pre-commit", "cd \"$(dirname \"$0\")/..\"\n./h/b.sh\n");
    context.file(
        "lefthook.yml",
        "pre-push:\n  commands:\n    t: {run: sh h/b.sh}\n  scripts:\n    \"x.sh\": {runner: bash}\n  jobs:\n    - group:\n        jobs:\n          - run: python3 h/a.py {push_files}\n",
    );
    context.file(".lefthook/pre-push/x.sh", "");
    context.file(
        ".pre-commit-config.yaml",
        "repos:\n- repo: https://example.org/x\n  hooks: [{id: far}]\n- repo: local\n  hooks:\n  - id: own\n    language: system\n    entry: python3 h/a.py\n    stages: [pre-push]\n  - {id: no, language: pygrep, entry: x}\n",
    );
    context.file(
        "prek.toml",
        "[[repos]]\nrepo = 'local'\nhooks = [\n  {id = 'p', language = 'script', entry = 'h/b.sh'},\n]\n",
    );
    context.file(
        "session-boundary.json",
        r#"{"receiver_checks": [{"name": "all", "command": "python3 h/a.py"}], "close_commit": {}}"#,
    );
    for file in ["h/a.py", "h/c.js", "h/b.ps1", "pkg/mod.py"] {
        context.file(file, "");
    }
    context.program("h/b.sh", "#!/bin/sh\n");
    context
}

#[test]
fn every_hosts_form_is_read() {
    let context = every_host();
    git(&context, &["init", "-q"]);
    std::fs::create_dir_all(context.project().join(".git/hooks")).expect("a folder");
    context.program(".git/hooks/pre-push", "#!/bin/sh\n");
    git(&context, &["config", "hook.lint.event", "pre-commit"]);
    git(&context, &["config", "hook.lint.command", "sh h/b.sh"]);
    let hooks = hooks(&context, &[]);
    let expected = [
        "Claude Code .claude/settings.json:5 PreToolUse(Bash|Edit) [10s] -> h/a.py",
        "Claude Code .claude/settings.json:8 SessionEnd [1.5s default] -> h/b.sh",
        "Claude Code .claude/settings.local.json:1 Stop [600s default] -> h/b.sh",
        "Codex .codex/hooks.json:1 Stop [600s default] -> h/a.py h/a.py",
        "Codex .codex/config.toml:5 Stop [5s] -> h/b.sh",
        "Gemini CLI .gemini/settings.json:2 BeforeTool(x) [5000ms] -> h/b.sh",
        "Cursor .cursor/hooks.json:1 stop -> h/c.js",
        "Windsurf .windsurf/hooks.json:1 pre_run_command -> h/b.sh",
        "Claude Code .claude/agents/z.md:7 Stop [600s default] -> h/b.sh",
        "Claude Code plugins/x/hooks/hooks.json:1 Stop [600s default] -> plugins/x/s.sh",
        "Claude Code plugins/y/more.json:1 Stop [600s default] -> pkg/mod.py",
        "Copilot .github/hooks/x.json:1 preToolUse [9s] -> h/b.sh h/b.ps1",
        "session receiver session-boundary.json:1 receiver check all -> h/a.py",
        "Cline .clinerules/hooks/PreToolUse PreToolUse -> .clinerules/hooks/PreToolUse",
        "husky .husky/pre-commit git pre-commit -> .husky/pre-commit h/b.sh",
        "lefthook lefthook.yml:3 pre-push -> h/b.sh",
        "lefthook lefthook.yml:5 pre-push -> .lefthook/pre-push/x.sh",
        "lefthook lefthook.yml:9 pre-push -> h/a.py",
        "pre-commit .pre-commit-config.yaml:8 pre-push -> h/a.py",
        "prek prek.toml:4 pre-commit -> h/b.sh",
        "git .git/hooks/pre-push git pre-push -> .git/hooks/pre-push",
        "git .git/config git pre-commit -> h/b.sh",
    ];
    assert_eq!(hooks.wirings.iter().map(shown).collect::<Vec<_>>(), expected);
    assert_eq!(hooks.unread, []);
    let personal: Vec<&str> =
        hooks.wirings.iter().filter(|wiring| wiring.personal).map(|wiring| wiring.file.as_str()).collect();
    assert_eq!(personal, [".claude/settings.local.json", ".git/hooks/pre-push", ".git/config"]);
    let faults: Vec<_> = hooks.wirings.iter().flat_map(|wiring| &wiring.faults).collect();
    assert!(faults.is_empty(), "{faults:?}");
    assert!(hooks.notes.iter().any(|note| note.contains("not this project's program: far")), "{:?}", hooks.notes);
}

/// The faults of the one command that is wired here.
fn faults(context: &Context) -> Vec<String> {
    let hooks = hooks(context, &[]);
    let [wiring] = &hooks.wirings[..] else { panic!("{hooks:?}") };
    wiring.faults.iter().map(|fault| fault.kind.slug().to_owned()).collect()
}

fn claude(event: &str, hook: &str) -> String {
    format!(r#"{{"hooks": {{"{event}": [{{"hooks": [{hook}]}}]}}}}"#)
}

#[test]
fn what_is_wrong_on_sight() {
    // The script, and whether it may be executed.
    let guard = |text: &'static str| Some((text, true));
    let plain = |text: &'static str| Some((text, false));
    let run = r#"{"command": "./guard.sh"}"#;
    let by_bash = r#"{"command": "bash guard.sh"}"#;
    let fine = "#!/bin/sh\nexit 2\n";
    let cases = [
        ("PreToolUse", run, guard(fine), &[][..]),
        ("PreToolUse", run, None, &["script-missing"]),
        ("PreToolUse", r#"{"command": "./guard.sh || true"}"#, None, &[]),
        ("PreToolUse", r#"{"command": "[ -f guard.sh ] && sh guard.sh"}"#, None, &[]),
        ("PreToolUse", run, plain(fine), &["not-executable"]),
        ("PreToolUse", by_bash, plain(fine), &[]),
        ("PreToolUse", by_bash, plain("#!/bin/sh\r\nexit 2\r\n"), &["carriage-returns"]),
        ("PreToolUse", r#"{"command": "python3 guard.sh"}"#, plain("import sys\r\n"), &[]),
        ("PreToolUse", run, guard("#!/usr/bin/env python3\r\n"), &["carriage-returns"]),
        ("PreToolUse", run, guard("\u{feff}#!/bin/sh\nexit 2\n"), &["byte-order-mark"]),
        ("PreToolUse", run, guard("#!/bin/sh\nexit 1\n"), &["exit-status"]),
        ("PostCompact", run, guard("#!/bin/sh\nexit 1\n"), &[]),
        ("PreTooluse", run, guard(fine), &["unknown-event"]),
        ("Stop", r#"{"command": "npx", "args": ["x"]}"#, None, &["needs-shell"]),
        ("Stop", r#"{"command": "npx x"}"#, None, &[]),
        ("Stop", r#"{"command": "sh $CLAUDE_PROJECT_DIR/guard.sh"}"#, guard(fine), &["unquoted-variable"]),
        ("Stop", r#"{"command": "true", "timeout": 60000}"#, None, &["odd-limit"]),
        ("Stop", r#"{"command": "true", "timeout": 60}"#, None, &[]),
    ];
    for (event, hook, script, expected) in cases {
        let context = Context::new();
        match script {
            Some((text, true)) => drop(context.program("guard.sh", text)),
            Some((text, false)) => drop(context.file("guard.sh", text)),
            None => {}
        }
        context.file(".claude/settings.json", claude(event, hook));
        assert_eq!(faults(&context), expected, "{event} {hook}");
    }
}

#[test]
fn faults_of_files_and_of_other_hosts() {
    let one = |file: &str, text: &str| {
        let context = Context::new();
        context.file(file, text);
        faults(&context)
    };
    assert_eq!(
        one(
            ".claude/settings.json",
            r#"{"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"command": "true"}]}]}}"#
        ),
        ["disabled"]
    );
    let matcher = |matcher: &str| {
        format!(r#"{{"hooks": {{"PreToolUse": [{{"matcher": "{matcher}", "hooks": [{{"command": "true"}}]}}]}}}}"#)
    };
    for (text, expected) in [
        ("*Bash", &["bad-matcher"][..]),
        ("*", &[]),
        ("Edit|Write", &[]),
        ("^(?!Read).*", &[]),
        ("(a", &["bad-matcher"]),
    ] {
        assert_eq!(one(".claude/settings.json", &matcher(text)), expected, "{text}");
    }
    let gemini = |limit: u32| {
        format!(r#"{{"hooks": {{"BeforeTool": [{{"hooks": [{{"command": "true", "timeout": {limit}}}]}}]}}}}"#)
    };
    assert_eq!(one(".gemini/settings.json", &gemini(30)), ["odd-limit"]);
    assert_eq!(one(".gemini/settings.json", &gemini(30_000)), [""; 0]);
    let context = Context::new();
    context
        .file(".cursor/hooks.json", r#"{"version": 1, "hooks": {"stop": [{"command": "true"}, {"command": "true"}]}}"#);
    let kinds = |hooks: &Hooks| -> Vec<usize> { hooks.wirings.iter().map(|wiring| wiring.faults.len()).collect() };
    assert_eq!(kinds(&hooks(&context, &[])), [0, 1]);
    // Claude Code runs what is the same once.
    let context = Context::new();
    context.file(".claude/settings.json", claude("Stop", r#"{"command": "true"}, {"command": "true"}"#));
    assert_eq!(kinds(&hooks(&context, &[])), [0, 0]);
}

const CHECKS: &str = r#"
- {id: by-covers, run: ['true'], covers: ["hooks/*.py"]}
- {id: by-files, run: ['true'], cwd: sandbox, files: {h: lib}}
- {id: by-run, run: [sh, scripts/run.sh]}
- {id: by-shell, shell: 'cd scripts && sh ./shell.sh'}
- {id: by-settings, run: ['true'], covers: [.cursor/hooks.json]}
- {id: of-all, run: ['true']}
"#;

#[test]
fn a_check_covers_what_it_names() {
    let context = Context::with(CHECKS);
    for file in ["hooks/a.py", "hooks/deep/b.py", "lib/c.sh", "scripts/run.sh", "scripts/shell.sh", "d.sh"] {
        context.file(file, "");
    }
    let hook = |command: &str| format!(r#"{{"command": "{command}"}}"#);
    let commands = [
        "python3 hooks/a.py",
        "python3 hooks/deep/b.py",
        "sh lib/c.sh",
        "sh scripts/run.sh",
        "sh scripts/shell.sh",
        "sh d.sh",
    ];
    context.file(".claude/settings.json", claude("Stop", &commands.map(hook).join(",")));
    context.file(".cursor/hooks.json", r#"{"version": 1, "hooks": {"stop": [{"command": "some-tool"}]}}"#);
    let hooks = hooks(&context, &[]);
    let by: BTreeMap<&str, String> = hooks
        .wirings
        .iter()
        .map(|wiring| {
            let by = wiring.covered_by.iter().map(|cover| format!("{} ({})", cover.check, cover.by));
            (wiring.command(), by.collect::<Vec<_>>().join(", "))
        })
        .collect();
    assert_eq!(by["python3 hooks/a.py"], "by-covers (covers: hooks/*.py)");
    assert_eq!(by["python3 hooks/deep/b.py"], "");
    assert_eq!(by["sh lib/c.sh"], "by-files (files: lib)");
    assert_eq!(by["sh scripts/run.sh"], "by-run (run: scripts/run.sh)");
    assert_eq!(by["sh scripts/shell.sh"], "by-shell (run: scripts/shell.sh)");
    assert_eq!(by["sh d.sh"], "");
    assert_eq!(by["some-tool"], "by-settings (covers: .cursor/hooks.json)");
    let totals = hooks.totals;
    assert_eq!((totals.wired, totals.covered, totals.uncovered, totals.broken), (7, 5, 2, 0));
    let ran = context.hp(&["hooks"]);
    assert!(ran.exits(0).stdout.starts_with("7 commands wired, 5 covered, 2 uncovered, 0 broken\n"), "{}", ran.stdout);
    context.hp(&["hooks", "--strict"]).exits(1);
}

#[test]
fn the_answer_comes_first_and_then_what_to_do() {
    let context = Context::with("- {id: guard, run: ['true'], covers: [hooks/guard.py]}");
    context.file("hooks/guard.py", "import sys\nsys.exit(2)\n");
    let settings = [
        "{\"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": [",
        "  {\"command\": \"python3 hooks/guard.py\", \"timeout\": 10},",
        "  {\"command\": \"bash hooks/gone.sh\"}",
        "]}]}}",
    ];
    context.file(".claude/settings.json", settings.join("\n"));
    let expected = "\
2 commands wired, 1 covered, 1 uncovered, 1 broken

.claude/settings.json    Claude Code
 ok    :2  PreToolUse(Bash)  hooks/guard.py   10s   by guard
 RED   :3  PreToolUse(Bash)  hooks/gone.sh   600s = 10m (default)   uncovered
         script-missing   hooks/gone.sh is not there; bash ends with 127 then, and Claude Code goes on as if nothing had been refused
           mend   correct the path, or add the file to the project

cover    say it in the check that tests it: covers: [hooks/gone.sh]
why      hostproof explain script-missing
";
    let ran = context.hp(&["hooks"]);
    assert_eq!(ran.exits(1).stdout, expected);
    assert!(context.hp(&["explain", "script-missing"]).exits(0).stdout.starts_with("# script-missing\n"));
}

#[test]
fn settings_are_hostile_and_hide_nothing() {
    let good = claude("Stop", r#"{"command": "true"}"#);
    let deep = "[".repeat(100_000);
    let many =
        format!("{{\"hooks\": {{\"Stop\": [{}]}}}}", vec!["{\"hooks\": [{\"command\": \"x\"}]}"; 3_000].join(","));
    let utf16: Vec<u8> = good.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: [(&str, Vec<u8>, &str); 16] = [
        ("empty", Vec::new(), "empty"),
        ("truncated", good.as_bytes()[..20].to_vec(), "no JSON"),
        ("large", vec![b' '; (1 << 20) + 1], "larger than 1 MiB"),
        ("deep", deep.into_bytes(), "deep"),
        ("many", many.into_bytes(), "more than 2000"),
        ("not UTF-8", b"{\n\"a\": \"\xff\"}".to_vec(), "not UTF-8"),
        ("UTF-16", [&b"\xff\xfe"[..], &utf16].concat(), "UTF-16"),
        ("NUL", b"{\"a\": \0}".to_vec(), "NUL"),
        ("twice", b"{\"hooks\": {\"Stop\": []},\n\"hooks\": {}}".to_vec(), "there twice"),
        ("a list", b"[]".to_vec(), "not a map"),
        ("hooks", b"{\"hooks\": 7}".to_vec(), "not a map of events"),
        ("entries", b"{\"hooks\": {\"Stop\": \"x\"}}".to_vec(), "not a list"),
        ("inner", b"{\"hooks\": {\"Stop\": [{\"hooks\": {}}]}}".to_vec(), "not a list"),
        ("command", b"{\"hooks\": {\"Stop\": [{\"hooks\": [{\"command\": 7}]}]}}".to_vec(), "without a command"),
        ("limit", claude("Stop", r#"{"command": "true", "timeout": "x"}"#).into_bytes(), "not a number"),
        ("shape", b"{\"hooks\": {\"Stop\": [{\"command\": \"x\"}]}}".to_vec(), "another host"),
    ];
    for (what, bytes, message) in cases {
        let context = Context::new();
        context.file(".claude/settings.json", bytes);
        context.file(".codex/hooks.json", &good);
        let ran = context.hp(&["hooks", "--json"]);
        let hooks: Hooks = serde_json::from_str(&ran.exits(3).stdout).expect("a document");
        assert!(hooks.wirings.iter().any(|wiring| wiring.host == Host::Codex), "{what}: the other file is read");
        let [unread] = &hooks.unread[..] else { panic!("{what}: {:?}", hooks.unread) };
        assert!(unread.message.contains(message) && !unread.remedy.is_empty(), "{what}: {unread:?}");
        assert_eq!(unread.file, ".claude/settings.json", "{what}");
    }
}

#[test]
fn whatever_lies_at_the_path_is_answered() {
    let outside = tempfile::tempdir().expect("a folder");
    std::fs::write(outside.path().join("x"), claude("Stop", r#"{"command": "true"}"#)).expect("a file");
    let make = |what: &str, path: &Path| match what {
        "a FIFO" => fifo(path),
        "a folder" => std::fs::create_dir(path).expect("a folder"),
        "out of the project" => symlink(outside.path().join("x"), path).expect("a link"),
        _ => symlink("nowhere", path).expect("a link"),
    };
    for message in ["a FIFO", "a folder", "out of the project", "leads nowhere"] {
        let context = Context::new();
        context.file(".claude/x", "");
        make(message, &context.project().join(".claude/settings.json"));
        let hooks = hooks(&context, &[]);
        let [unread] = &hooks.unread[..] else { panic!("{message}: {:?}", hooks.unread) };
        assert!(unread.message.contains(message), "{unread:?}");
    }
}

#[test]
fn nothing_of_it_is_run() {
    let context = Context::new();
    let mark = context.project().join("ran");
    let touch = format!("touch {}", mark.display());
    git(&context, &["init", "-q"]);
    let touches = context.program("touches", &format!("#!/bin/sh\n{touch}\n"));
    for key in ["core.fsmonitor", "core.pager", "alias.config", "alias.ls-files", "core.sshCommand"] {
        let value =
            if key.starts_with("alias") { format!("!{}", touches.display()) } else { touches.display().to_string() };
        git(&context, &["config", key, &value]);
    }
    git(&context, &["config", "hook.x.event", "pre-commit"]);
    git(&context, &["config", "hook.x.command", &touch]);
    context
        .file(".claude/settings.json", claude("Stop", &format!(r#"{{"command": "$({touch}); `{touch}`; {touch}"}}"#)));
    context.file("session-boundary.json", format!(r#"{{"receiver_checks": [{{"name": "x", "command": "{touch}"}}]}}"#));
    let hooks = hooks(&context, &[]);
    assert_eq!(hooks.totals.wired, 3);
    assert!(!mark.exists());
}

#[test]
fn a_commit_is_read_as_it_was() {
    let context = Context::new();
    git(&context, &["init", "-q", "-b", "main"]);
    context.file(".claude/settings.json", claude("Stop", r#"{"command": "./a.sh"}, {"command": "./b.sh"}"#));
    context.program("a.sh", "#!/bin/sh\n");
    context.file("b.sh", "#!/bin/sh\n");
    symlink("../.claude/settings.json", context.file("x/y", "").with_file_name("hooks.json")).expect("a link");
    context.file("x/hooks/z", "");
    symlink("../../../outside", context.project().join("x/hooks/hooks.json")).expect("a link");
    git(&context, &["add", "-A"]);
    git(&context, &["commit", "-qm", "one"]);
    context.file(".claude/settings.json", "{}");
    std::fs::remove_file(context.project().join("a.sh")).expect("removed");
    let then = hooks(&context, &["--at", "main"]);
    assert_eq!(then.wirings.iter().map(Wiring::command).collect::<Vec<_>>(), ["./a.sh", "./b.sh"]);
    let faults: Vec<Vec<&str>> =
        then.wirings.iter().map(|wiring| wiring.faults.iter().map(|fault| fault.kind.slug()).collect()).collect();
    assert_eq!(faults, [vec![], vec!["not-executable"]]);
    assert!(then.unread[0].message.contains("out of the commit"), "{:?}", then.unread);
    assert_eq!(hooks(&context, &[]).totals.wired, 0);
    for none in ["none", "--output=x", ""] {
        let ran = context.hp(&["hooks", &format!("--at={none}")]);
        assert!(ran.exits(2).stderr.contains("no commit called"), "{}", ran.stderr);
    }
    assert!(!context.project().join("x^{tree}").exists());
}

#[test]
fn a_manifest_names_files_of_its_own() {
    let context = Context::new();
    let manifest = |gate: &str| format!("version: 1\n{gate}\nchecks:\n- {{id: a, run: ['true'], covers: [h.sh]}}\n");
    let gate = "gate: {wirings: [{file: own.yaml, commands: \"$.hooks[*].run\"}, {file: sub/.gemini/settings.json}]}";
    context.manifest("a.yaml", &manifest(gate));
    context.file("own.yaml", "hooks:\n- {run: sh h.sh}\n- run: [python3, none.py]\n- run: 7\n");
    context.file("sub/.gemini/settings.json", r#"{"hooks": {"BeforeTool": [{"hooks": [{"command": "true"}]}]}}"#);
    context.file("h.sh", "");
    let hooks = hooks(&context, &[]);
    let seen: Vec<String> =
        hooks.wirings.iter().map(|wiring| format!("{} {}", wiring.place(), wiring.command())).collect();
    assert_eq!(seen, ["own.yaml:2 sh h.sh", "own.yaml:3 python3 none.py", "sub/.gemini/settings.json:1 true"]);
    assert_eq!((hooks.totals.covered, hooks.totals.broken), (1, 1));
    assert_eq!((hooks.unread[0].line, hooks.unread.len()), (Some(4), 1), "{:?}", hooks.unread);

    for (gate, message) in [
        ("gate: {require: [linux]}", "require"),
        ("gate: {wirings: [{commands: \"$.a\"}]}", "`file` is missing"),
        ("gate: {wirings: [{file: a, commands: \"$.a[x]\"}]}", "no path to commands"),
        ("gate: {wirings: [{file: ../a}]}", "`..`"),
    ] {
        context.manifest("a.yaml", &manifest(gate));
        let ran = context.hp(&["hooks"]);
        assert!(ran.exits(2).stderr.contains(message), "{gate}: {}", ran.stderr);
        assert!(ran.stderr.contains("checks.d/a.yaml:2:"), "{gate}: {}", ran.stderr);
    }
    context.manifest("a.yaml", &manifest("gate: {}"));
    context.manifest("b.yaml", "version: 1\ngate: {}\nchecks:\n- {id: b, run: ['true'], covers: []}\n");
    let ran = context.hp(&["lint"]);
    assert!(ran.exits(2).stderr.contains("a second `gate`"), "{}", ran.stderr);
    // A file that is named and is not there is no clean answer.
    context.manifest("b.yaml", "version: 1\nchecks:\n- {id: b, run: ['true']}\n");
    context.manifest("a.yaml", &manifest("gate: {wirings: [{file: gone.yaml}, {file: own.yaml}]}"));
    let ran = context.hp(&["hooks"]);
    assert!(ran.exits(3).stdout.contains("gone.yaml") && ran.stdout.contains("own.yaml"), "{}", ran.stdout);
}

#[test]
fn a_limit_is_held_against_what_a_check_took() {
    let context = Context::with("- {id: slow, run: [sh, hook.sh]}");
    context.file("hook.sh", "sleep 1.2\n");
    context.file(".claude/settings.json", claude("Stop", r#"{"command": "sh hook.sh", "timeout": 1}"#));
    context.hp(&["run", "--report", "report.json"]).exits(0);
    assert_eq!(faults(&context), [""; 0]);
    let hooks = hooks(&context, &["--report", "report.json"]);
    assert_eq!(hooks.wirings[0].faults[0].kind.slug(), "short-limit");
    let ran = context.hp(&["hooks", "--report", "hook.sh"]);
    assert!(ran.exits(2).stderr.contains("no report of a run"), "{}", ran.stderr);
    // A pipe that nobody writes to is not waited for.
    fifo(&context.project().join("pipe"));
    let ran = context.hp(&["hooks", "--report", "pipe"]);
    assert!(ran.exits(2).stderr.contains("cannot read the report"), "{}", ran.stderr);
}

/// Settings of public projects, in folders named after them, if there are some: every command is found.
#[test]
fn other_projects_settings_are_read() {
    let Some(outside) = variable("HOSTPROOF_TEST_OUTSIDE") else {
        println!("skipped: HOSTPROOF_TEST_OUTSIDE does not name a folder of other projects' settings");
        return;
    };
    let outside = Path::new(&outside);
    // Its page has a table: `| file | count |`.
    let page = std::fs::read_to_string(outside.join("README.md")).expect("its page");
    let mut table = Vec::new();
    for line in page.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
        let [file, count] = cells[..] else { continue };
        let Some((project, name)) = file.split_once('/') else { continue };
        let Some(expected) = count.split_whitespace().next().and_then(|count| count.parse::<usize>().ok()) else {
            continue;
        };
        let context = Context::new();
        copy(&outside.join(project), context.project());
        let hooks = hooks(&context, &[]);
        let found = hooks.wirings.iter().filter(|wiring| wiring.file == name).count();
        println!("{file}: {found} of {expected}");
        assert_eq!(found, expected, "{file}");
        assert_eq!(hooks.unread, [], "{file}");
        assert_eq!(count_of(&outside.join(file)), expected, "{file}: counted by what is a command in it");
        table.push((file.to_owned(), expected));
    }
    assert!(table.len() > 5, "the table was not read");
    // All of them at once, where they are folders of one.
    let context = Context::new();
    copy(outside, context.project());
    let hooks = hooks(&context, &[]);
    for (file, expected) in table {
        assert_eq!(hooks.wirings.iter().filter(|wiring| wiring.file == file).count(), expected, "{file}");
    }
}

/// How many commands a JSON file of hooks has, counted without any knowledge of hosts: each map below `hooks` that has a
/// text or a list as its command is one.
fn count_of(file: &Path) -> usize {
    fn count(value: &serde_json::Value) -> usize {
        let is_one = |key: &str| value[key].is_string() || value[key].is_array();
        if ["command", "bash", "powershell"].into_iter().any(is_one) {
            return 1;
        }
        let inner: Vec<&serde_json::Value> = match value {
            serde_json::Value::Object(map) => map.values().collect(),
            serde_json::Value::Array(list) => list.iter().collect(),
            _ => Vec::new(),
        };
        inner.into_iter().map(count).sum()
    }
    let text = std::fs::read_to_string(file).expect("a file");
    count(&serde_json::from_str::<serde_json::Value>(&text).expect("JSON")["hooks"])
}

/// A folder with several projects in it, none of which is a repository.
#[test]
fn projects_in_folders_are_read_as_their_hosts_read_them() {
    let context = Context::new();
    let nested = |commands: &[&str]| {
        let hooks: Vec<_> = commands.iter().map(|it| serde_json::json!({"type": "command", "command": it})).collect();
        serde_json::json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}}).to_string()
    };
    let flat = |event: &str, commands: &[&str]| {
        let hooks: Vec<_> = commands.iter().map(|it| serde_json::json!({"command": it})).collect();
        serde_json::json!({"version": 1, "hooks": {event: hooks}}).to_string()
    };
    let files = [
        ("one/.claude/settings.json", nested(&["sh \"$CLAUDE_PROJECT_DIR\"/h/a.sh", "sh h/a.sh"])),
        ("one/.codex/hooks.json", nested(&["sh h/a.sh"])),
        ("one/.gemini/settings.json", serde_json::json!({"hooks": {}}).to_string()),
        ("deep/two/.cursor/hooks.json", flat("stop", &["sh h/a.sh", "true", "sh none.sh"])),
        ("deep/two/.github/hooks/two.json", flat("preToolUse", &["sh h/a.sh"])),
        ("three/plugins/p/hooks/hooks.json", nested(&["sh \"${CLAUDE_PLUGIN_ROOT}/a.sh\""])),
        ("four/hooks/hooks.json", nested(&["true"])),
    ];
    for (file, text) in &files {
        context.file(file, text);
    }
    for file in ["one/h/a.sh", "deep/two/h/a.sh", "three/plugins/p/a.sh"] {
        context.file(file, "");
    }
    context.file("five/.husky/pre-commit", "./a.sh\n");
    context.program("five/a.sh", "#!/bin/sh\n");
    context.file("six/lefthook.yml", "pre-push:\n  commands:\n    t: {run: sh none.sh}\n");
    context.file("node_modules/x/.claude/settings.json", nested(&["true"]));
    let hooks = hooks(&context, &[]);
    for (file, _) in &files {
        let found = hooks.wirings.iter().filter(|wiring| wiring.file == *file).count();
        assert_eq!(found, count_of(&context.project().join(file)), "{file}");
    }
    assert_eq!((hooks.wirings.len(), &hooks.unread[..]), (11, &[][..]));
    let shown: Vec<String> = hooks.wirings.iter().map(shown).collect();
    for expected in [
        "Claude Code one/.claude/settings.json:1 PreToolUse(Bash) [600s default] -> one/h/a.sh",
        "Codex one/.codex/hooks.json:1 PreToolUse(Bash) [600s default] -> one/h/a.sh",
        "Cursor deep/two/.cursor/hooks.json:1 stop -> deep/two/none.sh",
        "husky five/.husky/pre-commit git pre-commit -> five/.husky/pre-commit five/a.sh",
    ] {
        assert!(shown.iter().any(|line| line == expected), "{expected} is not in {shown:#?}");
    }
    let cwds: Vec<_> = hooks.wirings.iter().filter_map(|wiring| wiring.commands[0].cwd.as_deref()).collect();
    assert_eq!(cwds, ["deep/two", "deep/two", "deep/two", "deep/two", "five", "one", "one", "one", "six"]);
    let missing = |wiring: &&Wiring| wiring.faults.iter().any(|fault| fault.kind.slug() == "script-missing");
    let missing: Vec<&str> = hooks.wirings.iter().filter(missing).map(|wiring| wiring.file.as_str()).collect();
    assert_eq!(missing, ["deep/two/.cursor/hooks.json", "six/lefthook.yml"]);
}

/// What is wired in a folder is called from there, with the variables of a host that was started there.
#[test]
fn a_hook_of_a_project_in_a_folder_is_called_there() {
    let context = Context::new();
    let script = "test \"$(basename \"$PWD\")\" = a && test -e \"$CLAUDE_PROJECT_DIR\"/only-here\n";
    context.file("packages/a/guard.sh", script);
    context.file("packages/a/only-here", "");
    context.file("packages/a/.claude/settings.json", claude("Stop", r#"{"command": "sh guard.sh"}"#));
    context.checks("- {id: a, hook: {file: packages/a/.claude/settings.json}, events: [{expect: allow}]}");
    context.hp(&["run"]).exits(0);
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).expect("a folder").flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() {
            std::fs::create_dir_all(&to).expect("a folder");
            copy(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).expect("a copy");
        }
    }
}

#[test]
fn the_schema_is_true_of_what_is_printed() {
    let schema: serde_json::Value =
        serde_json::from_str(&Context::new().hp(&["schema", "hooks"]).exits(0).stdout).expect("JSON");
    let printed = serde_json::to_value(hooks(&every_host(), &[])).expect("JSON");
    let known: Vec<&String> = schema["properties"].as_object().expect("properties").keys().collect();
    for key in printed.as_object().expect("a document").keys() {
        assert!(known.contains(&key), "{key}");
    }
    let wiring = schema["$defs"]["Wiring"]["properties"].as_object().expect("properties");
    for key in printed["wirings"][0].as_object().expect("a wiring").keys() {
        assert!(wiring.contains_key(key), "{key}");
    }
    assert_eq!(printed["schema"], "hostproof.hooks/1");
}

#[test]
fn every_fault_is_explained() {
    let pages = std::fs::read_dir(repository().join("docs/wirings")).expect("pages").count();
    assert_eq!(pages, hostproof::model::WiringFaultKind::ALL.len());
    for kind in hostproof::model::WiringFaultKind::ALL {
        let text =
            std::fs::read_to_string(repository().join(format!("docs/wirings/{}.md", kind.slug()))).expect("a page");
        assert!(text.starts_with(&format!("# {}\n", kind.slug())));
        for heading in ["## Why a host cares", "## How to mend it", "## Example"] {
            assert!(text.contains(heading), "{} has no {heading}", kind.slug());
        }
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{}", kind.slug());
    }
}

#[test]
fn manifests_without_checks_are_there() {
    let context = Context::new();
    context.manifest("gate.yaml", "version: 1\ngate: {require: [linux], signers: signers}\n");
    context
        .file(".claude/settings.json", r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#);
    let ran = context.hp(&["hooks"]);
    assert!(ran.exits(0).said().contains("the manifests here have no checks"), "{}", ran.said());
}
