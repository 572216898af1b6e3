//! `hook`: wired hooks called as their hosts call them, with real scripts.

use std::process::Command;

use hostproof::model::{CaseOutcome, CheckReport, Decision, HookCall, Kind, Platform, Severity, StartProof, Verdict};
use hostproof::receipt::inputs::Inputs;
use hostproof::receipt::revision::Revision;

use crate::context::{Context, Ran, errors, of_kind, skip, works};

/// A project whose Claude Code calls these commands before it uses a tool, and a check of that hook.
fn claude(commands: &[&str], check: &str) -> Context {
    let context =
        Context::with(&format!("- {{id: hook, hook: {{file: .claude/settings.json, event: PreToolUse}}, {check}}}"));
    context.file(".claude/settings.json", settings(commands, 30));
    context
}

fn settings(commands: &[&str], seconds: u32) -> String {
    let hook = |command: &&str| serde_json::json!({"type": "command", "command": command, "timeout": seconds});
    let hooks: Vec<_> = commands.iter().map(hook).collect();
    serde_json::json!({"hooks": {"PreToolUse": [{"matcher": "Bash|Edit", "hooks": hooks}]}}).to_string()
}

fn calls(check: &CheckReport) -> &[HookCall] {
    &check.hook.as_ref().expect("a hook").calls
}

/// The outcomes of the cases, in order.
fn outcomes(check: &CheckReport) -> Vec<CaseOutcome> {
    check.cases.list.iter().map(|case| case.outcome).collect()
}

/// The one case is unknown, whatever the status was, and it is said why.
#[track_caller]
fn never_ran(ran: &Ran, words: &str) {
    let check = ran.exits(1).only();
    assert_eq!((check.verdict, outcomes(check)), (Verdict::Failed, vec![CaseOutcome::Unknown]), "{}", ran.said());
    assert_eq!((check.cases.planned, check.cases.ran, check.cases.unknown), (Some(1), Some(0), Some(1)));
    let [finding] = of_kind(check, Kind::NoProof)[..] else { panic!("{}", ran.said()) };
    assert!(finding.message.contains(words), "{}", finding.message);
    assert!(calls(check).iter().all(|call| call.decision.is_none() && call.proof.is_none()), "{:?}", calls(check));
}

const GUARD: &str = r#"
import json, os, sys
event = json.load(sys.stdin)
command = event["tool_input"].get("command", "")
assert event["hook_event_name"] == "PreToolUse" and event["cwd"] == os.getcwd() == os.environ["CLAUDE_PROJECT_DIR"]
if "rm -rf" in command:
    print("no", file=sys.stderr)
    sys.exit(2)
if "curl" in command:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}}))
"#;

#[test]
fn each_event_is_a_case_and_its_answer_is_the_hosts() {
    use CaseOutcome::{Failed, Passed};

    let context = claude(
        &["python3 \"$CLAUDE_PROJECT_DIR\"/guard.py"],
        r#"events: [
             {expect: allow},
             {name: removal, stdin: {sample: {tool_input: {command: "rm -rf /"}}}, expect: block},
             {stdin: {sample: {tool_input: {command: "curl x"}}}, expect: ask},
             {stdin: event.json, expect: {json: {hookSpecificOutput: {permissionDecision: ask}}}},
             {stdin: event.json, expect: allow}]"#,
    );
    context.file("guard.py", GUARD);
    let cwd = context.project().to_str().expect("text");
    let event = serde_json::json!({"hook_event_name": "PreToolUse", "cwd": cwd, "tool_name": "Bash", "tool_input": {"command": "curl"}});
    context.file("event.json", event.to_string());
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!(outcomes(check), [Passed, Passed, Passed, Passed, Failed], "{}", ran.said());
    assert_eq!((check.cases.planned, check.cases.passed, check.cases.failed), (Some(5), Some(4), Some(1)));
    assert_eq!(check.cases.list[1].name, "removal");
    let [unmet] = of_kind(check, Kind::Unmet)[..] else { panic!("{}", ran.said()) };
    assert!(unmet.message.contains("expected allow, and it is ask: permissionDecision: ask"), "{}", unmet.message);
    let decided: Vec<_> = calls(check).iter().map(|call| call.decision.expect("a decision")).collect();
    assert_eq!(decided, [Decision::Allow, Decision::Block, Decision::Ask, Decision::Ask, Decision::Ask]);
    assert_eq!(calls(check)[1].proof, Some(StartProof::Read));
    assert_eq!(calls(check)[2].proof, Some(StartProof::Answered));
    assert_eq!(ran.last_line(), "5/5 cases, 0/1 checks, 1 failed");
}

#[test]
fn the_first_time_is_told_from_the_later_ones() {
    let context = claude(&["sh guard.sh"], "events: [{expect: allow}, {expect: allow}, {expect: allow}]");
    context.file("guard.sh", "exit 0\n");
    let ran = context.hp(&["run"]);
    let hook = ran.exits(0).only().hook.as_ref().expect("a hook");
    assert_eq!(hook.calls.iter().map(|call| call.cold).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(hook.cold_ms, Some(hook.calls[0].took_ms));
    assert_eq!(hook.warm_ms, hook.calls[1..].iter().map(|call| call.took_ms).max());
    assert_eq!(hook.limit_ms, Some(30_000));
    assert_eq!(ran.last_line(), "3/3 cases, 1/1 checks");
}

#[test]
fn the_first_call_is_the_cold_one_and_calls_at_once_take_the_longest() {
    let uncalled = "events: [{stdin: {sample: {tool_name: Read}}, expect: allow}, {expect: allow}, {expect: allow}]";
    let ran = claude(&["exit 0"], uncalled).hp(&["run"]);
    let hook = ran.exits(1).only().hook.as_ref().expect("a hook");
    assert_eq!(hook.calls.iter().map(|call| call.cold).collect::<Vec<_>>(), [true, false]);
    assert_eq!((hook.cold_ms, hook.warm_ms), (Some(hook.calls[0].took_ms), Some(hook.calls[1].took_ms)));
    let ran = claude(&["sleep 1", "sleep 1.1"], "events: [{expect: allow}]").hp(&["run"]);
    let check = ran.exits(0).only();
    let longest = calls(check).iter().map(|call| call.duration_ms).max().expect("a call");
    assert_eq!(check.duration_ms, longest, "{}", ran.said());
}

#[test]
fn nobody_holds_the_streams_of_what_was_never_started() {
    let ran = claude(&["exit 0"], "events: [{stdin: {sample: {tool_name: Read}}, expect: allow}]").hp(&["run"]);
    assert_eq!(errors(ran.exits(1).only()), ["no-proof"], "{}", ran.said());
}

#[test]
fn a_status_without_a_script_is_no_answer() {
    let one = "events: [{expect: block}]";
    // Python says 2 of a script that is not there, and so does dash.
    never_ran(&claude(&["python3 gone/guard.py"], one).hp(&["run"]), "gone/guard.py is not there");
    never_ran(&claude(&["sh gone.sh"], one).hp(&["run"]), "gone.sh is not there");
    never_ran(&claude(&["python3 /no/such/guard.py"], one).hp(&["run"]), "can't open file '/no/such/guard.py'");
    // An interpreter that nobody has lets everything through.
    never_ran(&claude(&["no-such-python guard.py"], one).hp(&["run"]), "exit status 127");
    never_ran(&claude(&["no-such-python guard.py"], "events: [{expect: allow}]").hp(&["run"]), "exit status 127");
    // Something else ends with 2 before the script comes to it.
    let before = claude(&["test -e gone || exit 2; python3 guard.py"], one);
    before.file("guard.py", GUARD);
    never_ran(&before.hp(&["run"]), "nobody read guard.py");
    never_ran(&claude(&["\"$NOBODY_KNOWS\"/guard.py 2>/dev/null; exit 2"], one).hp(&["run"]), "NOBODY_KNOWS");
    // Nobody may read it.
    let shown = claude(&["./guard.sh"], one);
    shown.file("guard.sh", "#!/bin/sh\nexit 2\n");
    never_ran(&shown.hp(&["run"]), "exit status 126");
    let direct = Context::with("- {id: hook, hook: {file: .claude/settings.json}, events: [{expect: block}]}");
    let hook = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "${CLAUDE_PROJECT_DIR}/guard.sh", "args": []}]}]}}"#;
    direct.file(".claude/settings.json", hook);
    direct.program("guard.sh", "#!/no/such/interpreter\nexit 2\n");
    never_ran(&direct.hp(&["run"]), "\"/no/such/interpreter\" is not there");
    // What ran and ends with 2 is a refusal.
    direct.program("guard.sh", "#!/bin/sh\nexit 2\n");
    assert_eq!(calls(direct.hp(&["run"]).exits(0).only())[0].proof, Some(StartProof::Read));
    // The command is the hook itself.
    let inline = claude(&["grep -q tool_name && exit 2"], one).hp(&["run"]);
    assert_eq!(calls(inline.exits(0).only())[0].proof, Some(StartProof::Command));
}

#[test]
fn what_a_shell_says_in_the_place_of_a_script_is_no_answer() {
    for (command, words) in [
        ("hooks/gone.sh || exit 2", "hooks/gone.sh is not there"),
        ("bash hooks/gone.sh || exit 2", "hooks/gone.sh is not there"),
        ("python3 hooks/gone.py 2>/dev/null || exit 2", "hooks/gone.py is not there"),
        ("\"$CLAUDE_PROJECT_DIR\"/hooks/gone.sh || { echo no >&2; exit 2; }", "hooks/gone.sh is not there"),
        ("[ -x hooks/gone.sh ] && hooks/gone.sh || exit 2", "hooks/gone.sh is not there"),
        ("hooks/plain.sh 2>/dev/null || exit 2", "nobody read plain.sh"),
        ("hooks/plain.sh 2>/dev/null || echo '{\"decision\": \"block\"}'", "nobody read plain.sh"),
    ] {
        let context = claude(&[command], "events: [{expect: block}]");
        context.file("hooks/plain.sh", "#!/bin/sh\nexit 2\n");
        never_ran(&context.hp(&["run"]), words);
    }
    // What they run is in a file of their own.
    for (command, words) in [
        ("make -f hooks/gone.mk", "hooks/gone.mk is not there"),
        ("make -s guard", "what make runs is written elsewhere"),
        ("grep -qf hooks/gone.txt", "hooks/gone.txt is not there"),
        ("awk -f hooks/gone.awk", "hooks/gone.awk is not there"),
        ("sh -c \"sh < hooks/gone.sh\"", "hooks/gone.sh is not there"),
        ("python3 < hooks/gone.py", "hooks/gone.py is not there"),
        ("~/hooks/gone.sh 2>/dev/null || exit 2", "out of the project"),
        ("cat hooks/gone | sh; exit 2", "standard input"),
    ] {
        never_ran(&claude(&[command], "events: [{expect: block}]").hp(&["run"]), words);
    }
    never_ran(&claude(&["hooks/gone.sh || true"], "events: [{expect: allow}]").hp(&["run"]), "is not there");
    // The one that makes up for it is the hook.
    let second = claude(&["python3 gone.py 2>/dev/null || sh second.sh"], "events: [{expect: block}]");
    second.file("second.sh", "exit 2\n");
    assert_eq!(calls(second.hp(&["run"]).exits(0).only())[0].proof, Some(StartProof::Read));
    // It is told on sight.
    let context = claude(&["hooks/gone.sh || exit 2"], "events: [{expect: block}]");
    assert!(context.hp(&["hooks"]).exits(1).said().contains("script-missing"));
}

#[test]
fn a_script_with_windows_line_ends_is_red_however_it_ends() {
    let context = claude(&["sh guard.sh"], "events: [{expect: allow}]");
    context.file("guard.sh", "true\r\n");
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert!(
        of_kind(check, Kind::Unmet).iter().any(|finding| finding.message.contains("carriage-returns")),
        "{}",
        ran.said()
    );
    let shebang = claude(&["./guard.sh"], "events: [{expect: block}]");
    shebang.program("guard.sh", "#!/bin/sh\r\nexit 2\r\n");
    assert_eq!(outcomes(shebang.hp(&["run"]).exits(1).only()), [CaseOutcome::Unknown]);
}

#[test]
fn what_fails_lets_its_host_go_on_and_is_no_permission() {
    let context = claude(&["python3 hook.py"], "events: [{expect: allow}], env: {PYTHONIOENCODING: cp1252}");
    context.file("hook.py", "import sys\nsys.stdin.read()\nprint('\\u2713 fine')\n");
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!(outcomes(check), [CaseOutcome::Failed]);
    let [unmet] = of_kind(check, Kind::Unmet)[..] else { panic!("{}", ran.said()) };
    assert!(unmet.message.contains("it goes on: UnicodeEncodeError"), "{}", unmet.message);
    let status = claude(&["exit 1"], "events: [{expect: block}]").hp(&["run"]);
    assert_eq!(outcomes(status.exits(1).only()), [CaseOutcome::Failed]);
}

#[test]
fn a_host_waits_for_the_end_of_stdout_not_for_the_exit() {
    // Nobody has to read what the host sends.
    claude(&["exit 0"], "events: [{expect: allow}]").hp(&["run"]).exits(0);
    // A time limit in the settings, in the unit of that host.
    let slow = claude(&["cat; exec sleep 30"], "events: [{expect: allow}]");
    slow.file(".claude/settings.json", settings(&["cat; exec sleep 30"], 1));
    let ran = slow.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!((check.verdict, outcomes(check)), (Verdict::TimedOut, vec![CaseOutcome::Failed]), "{}", ran.said());
    let [timeout] = of_kind(check, Kind::Timeout)[..] else { panic!("{}", ran.said()) };
    assert!(timeout.message.contains("Claude Code ends it at its limit of 1s"), "{}", timeout.message);
    // It answers at once and leaves its stdout with another: the host waits on.
    let keeps = "printf '{}'; sleep 30 2>/dev/null & exit 0";
    let held = claude(&[keeps], "grace: 100ms, events: [{expect: allow}]");
    held.file(".claude/settings.json", settings(&[keeps], 20));
    let ran = held.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!(errors(check), ["held-pipe", "leaked-process"], "{}", ran.said());
    assert_eq!(calls(check)[0].stdout_end_ms, None);
    assert!(calls(check)[0].took_ms >= 100);
    // It lets go in time for the grace, and not for the limit.
    let late = "sleep 1.3 & exit 0";
    let beyond = claude(&[late], "grace: 20s, events: [{expect: allow}]");
    beyond.file(".claude/settings.json", settings(&[late], 1));
    let ran = beyond.hp(&["run"]);
    let [timeout] = of_kind(ran.exits(1).only(), Kind::Timeout)[..] else { panic!("{}", ran.said()) };
    assert!(timeout.message.contains("for its output to end, beyond its limit of 1s"), "{}", timeout.message);
    assert!(timeout.severity == Severity::Error && timeout.message.ends_with("(the first time)"));
}

#[test]
fn hooks_of_one_event_run_at_once_and_the_sternest_counts() {
    // Each waits for the other.
    let meet = "import os, sys, time\nmine, other, status = sys.argv[1:]\nopen(mine, 'w').close()\nend = time.monotonic() + 20\n\
                while not os.path.exists(other):\n    if time.monotonic() > end: sys.exit(1)\n    time.sleep(0.01)\nsys.exit(int(status))\n";
    let context =
        claude(&["python3 meet.py a b 0", "python3 met.py b a 2", "python3 met.py b a 2"], "events: [{expect: block}]");
    context.file("meet.py", meet);
    context.file("met.py", meet);
    let ran = context.hp(&["run"]);
    let check = ran.exits(0).only();
    // The same command twice is called once.
    let decided: Vec<_> = calls(check).iter().map(|call| call.decision).collect();
    assert_eq!(decided, [Some(Decision::Allow), Some(Decision::Block)], "{}", ran.said());
    // One that never ran is no answer, whatever the other says.
    let context = claude(&["exit 2", "python3 gone.py"], "events: [{expect: block}]");
    assert_eq!(outcomes(context.hp(&["run"]).exits(1).only()), [CaseOutcome::Unknown]);
}

#[test]
fn anothers_read_of_a_script_is_no_proof() {
    // The second never comes to it, and is held until it may be called.
    let context = claude(&["sh guard.sh", "test -e gone || exit 2; sh guard.sh"], "events: [{expect: block}]");
    context.file("guard.sh", "exit 2\n");
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    let proofs: Vec<_> = calls(check).iter().map(|call| call.proof).collect();
    assert_eq!(proofs, [Some(StartProof::Read), None], "{}", ran.said());
    // The same of two checks, however many lanes there are: one reads the other's script all the time.
    let context = Context::with(
        "
- {id: reads, hook: {file: .claude/settings.json, event: Stop}, events: [{expect: block}, {expect: block}]}
- {id: never, hook: {file: .claude/settings.json, event: PreToolUse}, events: [{expect: block}, {expect: block}]}
",
    );
    let hook = |command: &str| serde_json::json!([{"hooks": [{"type": "command", "command": command}]}]);
    let reads = "for i in 1 2 3 4 5 6 7 8 9; do sh guard.sh; sleep 0.1; done; exit 2";
    let hooks =
        serde_json::json!({"hooks": {"Stop": hook(reads), "PreToolUse": hook("test -e gone || exit 2; sh guard.sh")}});
    context.file(".claude/settings.json", hooks.to_string());
    context.file("guard.sh", "exit 2\n");
    let ran = context.hp(&["run", "--jobs", "2"]);
    let report = ran.exits(1).report();
    assert_eq!(report.checks.iter().map(|check| check.cases.unknown).collect::<Vec<_>>(), [Some(0), Some(2)]);
}

#[test]
fn a_read_by_another_check_is_no_proof() {
    let never = "- {id: never, hook: {file: .claude/settings.json}, events: [{expect: block}, {expect: block}]}";
    let reads = "for i in 1 2 3 4 5 6 7 8 9; do cat guard.sh; sleep 0.1; done";
    for (what, key) in [("it covers the script", "covers: [guard.sh]"), ("it says nothing", "tags: [x]")] {
        // Both begin at once; which is first is no matter.
        let checks = format!("{never}\n- {{id: reads, shell: '{reads}', {key}}}\n");
        let context = Context::with(&checks);
        // It takes long enough for the other to read meanwhile, if it may.
        let settings = settings(&["sleep 0.5; test -e gone || exit 2; sh guard.sh"], 60);
        context.file(".claude/settings.json", settings);
        context.file("guard.sh", "exit 2\n");
        let ran = context.hp(&["run", "--jobs", "2"]);
        let unknown = ran.exits(1).report().checks.iter().find(|check| check.id == "never").map(|it| it.cases.unknown);
        assert_eq!(unknown, Some(Some(2)), "{what}: {}", ran.said());
    }
}

#[test]
fn two_names_of_one_script_are_both_read() {
    let context = claude(&["sh real.sh", "sh again.sh"], "events: [{expect: allow}]");
    context.file("real.sh", "exit 0\n");
    std::fs::hard_link(context.project().join("real.sh"), context.project().join("again.sh")).expect("a link");
    let ran = context.hp(&["run"]);
    let proofs: Vec<_> = calls(ran.exits(0).only()).iter().map(|call| call.proof).collect();
    assert!(proofs.iter().all(Option::is_some), "{proofs:?}");
}

#[test]
fn only_what_a_matcher_is_for_is_called() {
    let context = claude(&["exit 2"], "events: [{expect: block}, {stdin: {sample: {tool_name: Read}}, expect: allow}]");
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!(outcomes(check), [CaseOutcome::Passed, CaseOutcome::Unknown], "{}", ran.said());
    let [no_proof] = of_kind(check, Kind::NoProof)[..] else { panic!("{}", ran.said()) };
    assert!(no_proof.message.contains("\"Bash|Edit\" is not for tool_name \"Read\""), "{}", no_proof.message);
}

/// Each host's file with a hook that blocks in its own way, and what says so.
const HOSTS: &[(&str, &str, &str, &str)] = &[
    (
        ".codex/hooks.json",
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "sh h.sh"}]}]}}"#,
        "PreToolUse",
        r#"grep -q '"turn_id"' && echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}'"#,
    ),
    (
        ".gemini/settings.json",
        r#"{"hooks": {"BeforeTool": [{"matcher": "write_.*", "hooks": [{"type": "command", "command": "sh h.sh"}]}]}}"#,
        "BeforeTool",
        r#"grep -q '"tool_name":"write_file"' && test "$GEMINI_PROJECT_DIR" = "$PWD" && echo '{"decision": "deny"}'"#,
    ),
    (
        ".github/hooks/guard.json",
        r#"{"version": 1, "hooks": {"preToolUse": [{"type": "command", "bash": "sh ./h.sh", "cwd": "."}]}}"#,
        "preToolUse",
        r#"grep -q '"toolArgs":"{' && echo '{"permissionDecision": "deny"}'"#,
    ),
    (
        ".cursor/hooks.json",
        r#"{"version": 1, "hooks": {"beforeShellExecution": [{"command": "sh h.sh"}]}}"#,
        "beforeShellExecution",
        r#"grep -q '"workspace_roots":\[' && test "$CURSOR_PROJECT_DIR" = "$PWD" && echo '{"permission": "deny"}'"#,
    ),
    (
        ".windsurf/hooks.json",
        r#"{"hooks": {"pre_run_command": [{"command": "sh h.sh"}]}}"#,
        "pre_run_command",
        r#"grep -q '"agent_action_name":"pre_run_command"' && exit 2"#,
    ),
    (".clinerules/hooks/PreToolUse", "", "PreToolUse", r#"grep -q '"preToolUse":{' && echo '{"cancel": true}'"#),
];

#[test]
fn each_agent_is_played_in_its_own_way() {
    for (file, settings, event, script) in HOSTS {
        let context = Context::with(&format!(
            "- {{id: hook, hook: {{file: {file}, event: {event}}}, events: [{{expect: block}}]}}"
        ));
        if settings.is_empty() {
            context.program(file, &format!("#!/bin/sh\n{script}\n"));
        } else {
            context.file(file, settings);
            context.file("h.sh", script);
        }
        let ran = context.hp(&["run"]);
        let check = ran.only();
        assert_eq!(
            (check.verdict, outcomes(check)),
            (Verdict::Passed, vec![CaseOutcome::Passed]),
            "{file}: {}",
            ran.said()
        );
        assert!(calls(check)[0].proof.is_some(), "{file}");
    }
}

#[test]
fn nodes_scripts_are_hooks_too() {
    if !works(&["node", "--version"]) {
        return skip("there is no node");
    }
    let context = claude(&["node guard.js"], "events: [{expect: block}]");
    context.file("guard.js", "process.stdin.resume();process.stdin.on('end', () => process.exit(2));\n");
    assert_eq!(calls(context.hp(&["run"]).exits(0).only())[0].proof, Some(StartProof::Read));
    let gone = claude(&["node gone.js"], "events: [{expect: block}]");
    never_ran(&gone.hp(&["run"]), "gone.js is not there");
}

#[test]
fn hooks_of_git_get_what_git_gives_them() {
    let context = Context::with(
        r"
- {id: push, hook: {file: .husky/pre-push}, events: [{expect: allow}, {stdin: refs, args: [other, x], expect: block}]}
- {id: message, hook: {file: .husky/commit-msg}, events: [{expect: allow}, {args: [long], expect: block}]}
- {id: after, hook: {file: .husky/post-commit}, events: [{expect: block}]}
",
    );
    let push = "read local id remote there\n\
                test \"$1\" = origin && test \"$local $remote\" = 'refs/heads/main refs/heads/main' && exit 0\nexit 1\n";
    context.file(".husky/pre-push", push);
    context.file(".husky/commit-msg", "test $(head -n 1 \"$1\" | wc -c) -lt 50\n");
    context.file(".husky/post-commit", "exit 1\n");
    context.file("refs", "refs/heads/x 1 refs/heads/x 0\n");
    context.file("long", "x".repeat(60));
    let ran = context.hp(&["run"]);
    for id in ["push", "message"] {
        assert_eq!(outcomes(ran.check(id)), [CaseOutcome::Passed; 2], "{}", ran.said());
    }
    assert_eq!(outcomes(ran.check("after")), [CaseOutcome::Failed], "{}", ran.said());
}

#[test]
fn hooks_of_managers_are_called_with_what_they_give_them() {
    let checks = "
- id: lefthook
  hook: {file: lefthook.yml, name: lint}
  events: [{args: [a b.txt, c.txt], expect: allow}, {args: [bad.txt], expect: block}]
- id: message
  hook: {file: lefthook.yml, name: message}
  events: [{expect: allow}]
- id: pre-commit
  hook: {file: .pre-commit-config.yaml, name: lint}
  events: [{args: [a b.txt], expect: allow}, {args: [bad.txt], expect: block}]
- id: prek
  hook: {file: prek.toml}
  events: [{expect: allow}]
";
    let context = Context::with(checks);
    let lint = "#!/bin/sh\nfor file; do test -f \"$file\" || exit 2; case $file in bad*) exit 1;; esac; done\n";
    context.program("lint.sh", lint);
    context.file("message.sh", "grep -q 'sample message' \"$1\"\n");
    for file in ["a b.txt", "c.txt", "bad.txt"] {
        context.file(file, "");
    }
    let lefthook = "pre-commit: {commands: {lint: {run: ./lint.sh {staged_files}}}}\n\
                    commit-msg: {jobs: [{name: message, run: 'sh message.sh {1}'}]}\n";
    context.file("lefthook.yml", lefthook.replace("run: ./lint.sh {staged_files}", "run: './lint.sh {staged_files}'"));
    let hook = "{id: lint, name: lint, language: system, entry: ./lint.sh, stages: [pre-commit, pre-push]}";
    context.file(".pre-commit-config.yaml", format!("repos: [{{repo: local, hooks: [{hook}]}}]\n"));
    let hook = "{id = 'm', name = 'm', language = 'system', entry = 'sh message.sh', stages = ['commit-msg']}";
    context.file("prek.toml", format!("[[repos]]\nrepo = 'local'\nhooks = [{hook}]\n"));
    let ran = context.hp(&["run"]);
    let report = ran.exits(0).report();
    let proofs: Vec<_> = report.checks.iter().flat_map(|check| calls(check).iter().map(|call| call.proof)).collect();
    assert_eq!(proofs, [Some(StartProof::Read); 6], "{}", ran.said());
}

#[test]
fn a_host_goes_on_calls_once_or_in_turn_as_its_file_says() {
    // What nobody waits for refuses nothing, and may take its time with stdout.
    let context =
        Context::with("- {id: a, hook: {file: .claude/settings.json}, events: [{expect: allow}, {expect: block}]}");
    let hook = serde_json::json!({"type": "command", "command": "sh guard.sh", "async": true});
    let settings = serde_json::json!({"hooks": {"PreToolUse": [{"hooks": [hook]}]}});
    context.file(".claude/settings.json", settings.to_string());
    context.file("guard.sh", "exit 2\n");
    let ran = context.hp(&["run"]);
    assert_eq!(outcomes(ran.exits(1).only()), [CaseOutcome::Passed, CaseOutcome::Failed], "{}", ran.said());
    assert!(calls(ran.only())[0].why.contains("does not wait for it"), "{}", ran.said());
    // The second time it is not called.
    context.file(".claude/settings.json", settings.to_string().replace("async", "once"));
    context.checks("- {id: a, hook: {file: .claude/settings.json}, events: [{expect: block}, {expect: block}]}");
    let ran = context.hp(&["run"]);
    assert_eq!(outcomes(ran.exits(1).only()), [CaseOutcome::Passed, CaseOutcome::Unknown], "{}", ran.said());
    // The second finds what the first has left, and not the other way round.
    let context = Context::with("- {id: a, hook: {file: .gemini/settings.json}, events: [{expect: allow}]}");
    let hook = |command: &str| serde_json::json!({"type": "command", "command": command});
    let hooks = [hook("sleep 0.3; echo x >\"$TMPDIR/first\""), hook("test -e \"$TMPDIR/first\" || exit 2")];
    let settings = serde_json::json!({"hooks": {"BeforeTool": [{"sequential": true, "hooks": hooks}]}});
    context.file(".gemini/settings.json", settings.to_string());
    context.hp(&["run"]).exits(0);
    context.file(".gemini/settings.json", settings.to_string().replace("true", "false"));
    context.hp(&["run"]).exits(1);
}

#[test]
fn a_receiver_check_is_run_by_the_systems_own_shell() {
    let context = Context::with(
        r"
- {id: one, hook: {file: session-boundary.json, name: tests}, events: [{expect: allow}]}
- {id: red, hook: {file: session-boundary.json, name: lint}, events: [{expect: block}]}
",
    );
    let checks = r#"{"receiver_checks": [{"name": "tests", "command": "test -n \"$PPID\""}, {"name": "lint", "command": "exit 1"}]}"#;
    context.file("session-boundary.json", checks);
    assert_eq!(context.hp(&["run"]).exits(0).last_line(), "2/2 cases, 2/2 checks");
}

#[test]
fn what_is_not_wired_is_an_error_with_what_is() {
    let broken = |hook: &str, words: &[&str]| {
        let context = Context::with(&format!("- {{id: hook, hook: {hook}, events: [{{expect: allow}}]}}"));
        context.file(
            ".claude/settings.json",
            r#"{"hooks": {"Stop": [{"hooks": [{"command": "exit 0"}]}], "PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "exit 0"}]}]}}"#,
        );
        context.file("lefthook.yml", "pre-commit: {commands: {a: {run: 'cat {staged_files}'}}}\n");
        let far = "repos: [{repo: local, hooks: [{id: far, name: far, language: python, entry: far}]}]\n";
        context.file(".pre-commit-config.yaml", far);
        context.file(".codex/hooks.json", "{");
        let ran = context.hp(&["run"]);
        let check = ran.exits(1).only();
        let reason = check.reason.clone().unwrap_or_default();
        assert_eq!(check.verdict, Verdict::Broken, "{}", ran.said());
        assert!(words.iter().all(|word| reason.contains(word)), "{hook}: {reason}");
    };
    broken("{file: gone.json}", &["gone.json wires nothing", ".claude/settings.json"]);
    broken("{file: .claude/settings.json, event: Setup}", &["event \"Setup\"", "Stop (line 1)", "PreToolUse(Bash)"]);
    broken("{file: .claude/settings.json}", &["several occasions", "say which with `event`"]);
    broken("{file: .codex/hooks.json}", &[".codex/hooks.json:1 could not be read"]);
    broken("{file: lefthook.yml}", &["lefthook.yml:1 is called with files ({staged_files})", "`args`"]);
    broken("{file: .pre-commit-config.yaml}", &["pre-commit makes the environment", "run: [pre-commit, run, far]"]);
}

#[test]
fn a_hook_has_its_users_home_and_environment() {
    let mut context = claude(
        &["test -e \"$HOME/dotfile\" && test \"$SECRET\" = hush && test -z \"$GIT_DIR\" && exit 2; exit 0"],
        "events: [{expect: block}]",
    );
    let home = context.file("house/dotfile", "").parent().expect("a folder").to_owned();
    context.env("HOME", &home).env("SECRET", "hush").env("GIT_DIR", "x");
    let ran = context.hp(&["run"]);
    assert_eq!(outcomes(ran.exits(0).only()), [CaseOutcome::Passed], "{}", ran.said());
    // It has no terminal, and a session of its own.
    let context = claude(&["if (: < /dev/tty) 2>/dev/null; then exit 2; fi"], "events: [{expect: allow}]");
    context.hp(&["run"]).exits(0);
}

#[test]
fn a_check_of_a_hook_covers_it() {
    let context = claude(&["sh guard.sh"], "events: [{expect: allow}]");
    context.file("guard.sh", "exit 0\n");
    let ran = context.hp(&["hooks", "--json"]);
    assert!(ran.exits(0).stdout.contains("\"by\": \"hook: .claude/settings.json\""), "{}", ran.stdout);
}

/// A worker that outlives its check, with the folder and the streams that it is given; it works for half a second.
fn worker(extra: &str, rest: &str) -> Context {
    Context::with(&format!(
        r#"
- id: worker
  grace: 100ms
  {rest}
  shell: |
    mkdir -p spool && touch spool/a
    ({extra} exec python3 "$HOSTPROOF_PROJECT/worker.py") </dev/null &
    until test -e ready; do sleep 0.01; done
  allow: [{{kind: leaked-process, match: worker, ends_within: 20s, because: it drains the spool}}]
  cwd: sandbox
"#
    ))
}

const WORKER: &str = "import os, sys, time\nspool = os.environ['HOSTPROOF_SANDBOX'] + '/work'\nopen(spool + '/ready', 'w').close()\n\
                      time.sleep(float(os.environ.get('SECONDS_', '0.6')))\nos.remove(spool + '/spool/a')\nopen(spool + '/done', 'w').close()\n";

const AWAY: &str = "cd /; exec >/dev/null 2>&1;";

#[test]
fn a_declared_worker_may_outlive_its_check_and_must_have_done_its_work() {
    let context = worker(
        AWAY,
        "eventually: [{within: 10s, file: 'spool/*', is: absent}, {within: 10s, file: $sandbox/work/done, is: present}]",
    );
    context.file("worker.py", WORKER);
    let ran = context.hp(&["run"]);
    let check = ran.exits(0).only();
    let [leaked] = of_kind(check, Kind::LeakedProcess)[..] else { panic!("{}", ran.said()) };
    assert_eq!((leaked.severity, leaked.allowed.as_deref()), (Severity::Note, Some("it drains the spool")));
    assert!(leaked.ended_ms.is_some_and(|ms| (100..20_000).contains(&ms)));
    // Its time is not the check's.
    assert!(check.processes.iter().all(|process| process.ended_ms.is_some()));
    let undone =
        worker(AWAY, "eventually: [{within: 1s, file: never, is: present}, {within: 1s, file: 'spool/*', is: absent}]");
    undone.file("worker.py", WORKER);
    let ran = undone.hp(&["run"]);
    let [unmet] = of_kind(ran.exits(1).only(), Kind::Unmet)[..] else { panic!("{}", ran.said()) };
    assert_eq!(unmet.message, "never was not there 1s after the end");
}

#[test]
fn a_declared_worker_must_end_in_time_and_hold_nothing() {
    let late = worker(AWAY, "env: {SECONDS_: \"30\"}");
    late.file("worker.py", WORKER);
    late.manifest("checks.yaml", &late.read("checks.d/checks.yaml").replace("ends_within: 20s", "ends_within: 500ms"));
    let ran = late.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!(errors(check), ["leaked-process"], "{}", ran.said());
    assert!(of_kind(check, Kind::LeakedProcess)[0].message.ends_with("; it is to end within 500ms"), "{}", ran.said());
    // It sits in the check's folder.
    let sits = worker("exec >/dev/null 2>&1;", "tags: []");
    sits.file("worker.py", WORKER);
    let ran = sits.hp(&["run"]);
    assert_eq!(errors(ran.exits(1).only()), ["held-directory"], "{}", ran.said());
    // It has the check's output.
    let keeps = worker("cd /;", "tags: []");
    keeps.file("worker.py", WORKER);
    let ran = keeps.hp(&["run"]);
    assert_eq!(errors(ran.exits(1).only()), ["held-pipe"], "{}", ran.said());
    // Another one is no worker, however soon it ends.
    let other = worker(AWAY, "tags: []");
    other.file("worker.py", WORKER);
    other.manifest("checks.yaml", &other.read("checks.d/checks.yaml").replace("match: worker", "match: another"));
    let ran = other.hp(&["run"]);
    assert_eq!(errors(ran.exits(1).only()), ["leaked-process"], "{}", ran.said());
}

#[test]
fn what_a_hook_rests_on_is_among_its_inputs() {
    let context = claude(&["python3 guard.py"], "covers: [README], events: [{stdin: event.json, expect: allow}]");
    for (name, text) in [("README", ""), ("guard.py", ""), ("event.json", "{}"), ("other.py", "")] {
        context.file(name, text);
    }
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        context.dress(&mut git);
        git.env("GIT_CONFIG_GLOBAL", "/dev/null").args(["-c", "user.name=a", "-c", "user.email=a@b"]);
        assert!(git.args(arguments).status().expect("git").success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    let digest = || {
        git(&["add", "-A"]);
        git(&["commit", "-q", "--allow-empty", "-m", "x"]);
        let revision = Revision::open(context.project(), "HEAD").expect("a commit");
        let plan = revision.plan("checks.d", Platform::Linux).expect("a plan");
        Inputs::of(&plan.checks[0].check(), &[], &revision).map(|inputs| inputs.digest())
    };
    let mut known = vec![digest().expect("inputs")];
    context.file("other.py", "1");
    assert_eq!(digest().expect("inputs"), known[0]);
    for name in ["guard.py", "event.json", ".claude/settings.json"] {
        context.file(name, format!("{}\n", context.read(name)));
        let now = digest().expect("inputs");
        assert!(!known.contains(&now), "{name}");
        known.push(now);
    }
    // Where nothing is wired so, it rests on what is not known.
    let settings = context.read(".claude/settings.json");
    context.file(".claude/settings.json", settings.replace("PreToolUse", "Stop"));
    assert!(digest().is_err_and(|why| why.contains("nothing is wired for")));
    context.file(".claude/settings.json", &settings[1..]);
    assert!(digest().is_err_and(|why| why.contains("it is no JSON")));
    context.file(".claude/settings.json", settings);
    // What only this machine has is in no commit.
    context.file(".gitignore", ".claude\n");
    git(&["rm", "-q", "--cached", ".claude/settings.json"]);
    assert!(digest().is_err_and(|why| why.contains(".claude/settings.json")));
}
