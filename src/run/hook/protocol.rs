//! What a host makes of a hook's answer: its exit status, and what it wrote to stdout. Pure.
//!
//! Sources: the hosts' own pages on hooks, October and November 2026. Where a page says nothing, nothing is said here.

use serde_json::Value;

use crate::model::{Decision, Exit, Host};
use crate::wirings::form;

/// What a host makes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// `None` if it is nothing that the host goes by.
    pub decision: Option<Decision>,
    /// The decision in a few words, or why there is none.
    pub why: String,
}

impl Answer {
    fn new(decision: Decision, why: impl Into<String>) -> Self {
        Self { decision: Some(decision), why: why.into() }
    }

    fn none(why: impl Into<String>) -> Self {
        Self { decision: None, why: why.into() }
    }

    /// Of a hook that its host does not wait for: whatever it says comes too late to stop anything.
    pub fn of_nobody(host: Host) -> Self {
        Self::new(Decision::Allow, format!("{} does not wait for it (`async`)", host.name()))
    }
}

/// Reads an answer.
pub fn answer(host: Host, event: &str, exit: Option<Exit>, stdout: &str) -> Answer {
    let name = host.name();
    let code = match exit {
        Some(Exit::Code(code)) => code,
        Some(Exit::Signal(number)) => return Answer::none(format!("a signal ended it ({number})")),
        None => return Answer::none("it had to be ended"),
    };
    match host {
        Host::Git | Host::Husky | Host::Lefthook | Host::PreCommit | Host::Prek => return of_git(event, code),
        Host::SessionReceiver | Host::Other => {
            let decision = if code == 0 { Decision::Allow } else { Decision::Block };
            return Answer::new(decision, format!("exit status {code}"));
        }
        _ => {}
    }
    if code == 0 {
        return said(host, stdout);
    }
    let by_two = form(host).map_or(&[][..], |form| form.refused_by_two);
    match code {
        2 if by_two.contains(&event) => Answer::new(Decision::Block, "exit status 2"),
        2 if !by_two.is_empty() => Answer::none(format!("exit status 2 refuses nothing in {name}'s {event}")),
        _ if host == Host::Copilot => Answer::none(format!("exit status {code}: what {name} makes of it is not known")),
        _ => Answer::none(format!("exit status {code}: to {name} that is an error of the hook, and it goes on")),
    }
}

/// The hooks of git that can stop it.
fn of_git(event: &str, code: i32) -> Answer {
    let stops = match event {
        "update" | "proc-receive" | "reference-transaction" | "push-to-checkout" | "sendemail-validate" => true,
        _ => event.starts_with("pre") || event.ends_with("-msg"),
    };
    match code {
        0 => Answer::new(Decision::Allow, "exit status 0"),
        code if stops => Answer::new(Decision::Block, format!("exit status {code}")),
        code => Answer::none(format!("exit status {code}, which stops nothing: git is through when it calls {event}")),
    }
}

/// What a hook said that ended with 0.
fn said(host: Host, stdout: &str) -> Answer {
    let nothing = || Answer::new(Decision::Allow, "exit status 0, without an objection");
    // The status alone counts there.
    if host == Host::Windsurf {
        return nothing();
    }
    let json = match json(stdout) {
        None if host == Host::Cline && !stdout.trim().is_empty() => {
            return Answer::none("its stdout is no JSON");
        }
        None => return nothing(),
        Some(Err(why)) => return Answer::none(format!("its stdout begins like JSON, and is none: {why}")),
        Some(Ok(json)) => json,
    };
    let mut words: Vec<(String, Option<Decision>)> = Vec::new();
    let mut word = |path: &str, key: &str| {
        if let Some(value) = json.pointer(path).and_then(Value::as_str) {
            words.push((format!("{key}: {value}"), of_word(value)));
        }
    };
    match host {
        Host::Cline => {}
        Host::Cursor => word("/permission", "permission"),
        Host::Copilot => {
            word("/permissionDecision", "permissionDecision");
            word("/hookSpecificOutput/permissionDecision", "permissionDecision");
            word("/decision", "decision");
        }
        _ => {
            word("/decision", "decision");
            word("/hookSpecificOutput/permissionDecision", "permissionDecision");
            word("/hookSpecificOutput/decision/behavior", "behavior");
        }
    }
    if host == Host::Cline && json["cancel"] == true {
        words.push(("cancel: true".to_owned(), Some(Decision::Block)));
    }
    if matches!(host, Host::ClaudeCode | Host::Codex | Host::Gemini | Host::Cursor) && json["continue"] == false {
        words.push(("continue: false".to_owned(), Some(Decision::Block)));
    }
    if let Some((word, _)) = words.iter().find(|(_, decision)| decision.is_none()) {
        return Answer::none(format!("{} knows no `{word}`", host.name()));
    }
    // The sternest counts.
    for wanted in [Decision::Block, Decision::Ask, Decision::Allow] {
        if let Some((word, _)) = words.iter().find(|(_, decision)| *decision == Some(wanted)) {
            return Answer::new(wanted, word);
        }
    }
    nothing()
}

fn of_word(word: &str) -> Option<Decision> {
    match word {
        "allow" | "approve" => Some(Decision::Allow),
        "block" | "deny" => Some(Decision::Block),
        "ask" => Some(Decision::Ask),
        _ => None,
    }
}

/// The JSON object that a hook printed; `None` if what it printed is not meant to be one.
pub fn json(stdout: &str) -> Option<Result<Value, String>> {
    let text = stdout.trim();
    text.starts_with('{').then(|| serde_json::from_str(text).map_err(|error| error.to_string()))
}

/// Whether a JSON value has all of another in it: maps may have more keys, all else is the same.
pub fn has(value: &Value, wanted: &Value) -> bool {
    match (value, wanted) {
        (Value::Object(own), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| own.get(key).is_some_and(|own| has(own, wanted)))
        }
        (own, wanted) => own == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(host: Host, event: &str, code: i32, stdout: &str) -> Option<Decision> {
        answer(host, event, Some(Exit::Code(code)), stdout).decision
    }

    #[test]
    fn each_host_has_its_own_way() {
        use Decision::{Allow, Ask, Block};
        let specific = |word: &str| format!(r#"{{"hookSpecificOutput": {{"permissionDecision": "{word}"}}}}"#);
        for (host, event, code, stdout, decision) in [
            (Host::ClaudeCode, "PreToolUse", 0, "", Some(Allow)),
            (Host::ClaudeCode, "PreToolUse", 0, "some words", Some(Allow)),
            (Host::ClaudeCode, "PreToolUse", 2, "", Some(Block)),
            (Host::ClaudeCode, "PreToolUse", 1, "", None),
            (Host::ClaudeCode, "SessionStart", 2, "", None),
            (Host::ClaudeCode, "PreToolUse", 0, &specific("deny"), Some(Block)),
            (Host::ClaudeCode, "PreToolUse", 0, &specific("ask"), Some(Ask)),
            (Host::ClaudeCode, "PreToolUse", 0, &specific("maybe"), None),
            (Host::ClaudeCode, "Stop", 0, r#"{"decision": "block", "reason": "x"}"#, Some(Block)),
            (Host::ClaudeCode, "Stop", 0, r#"{"continue": false}"#, Some(Block)),
            (Host::ClaudeCode, "Stop", 0, r#"{"continue": "#, None),
            (Host::Codex, "PreToolUse", 0, &specific("deny"), Some(Block)),
            (Host::Gemini, "BeforeTool", 0, r#"{"decision": "deny"}"#, Some(Block)),
            (Host::Gemini, "BeforeTool", 2, "", Some(Block)),
            (Host::Copilot, "preToolUse", 0, r#"{"permissionDecision": "deny"}"#, Some(Block)),
            (Host::Copilot, "preToolUse", 2, "", None),
            (Host::Cursor, "beforeShellExecution", 0, r#"{"permission": "ask"}"#, Some(Ask)),
            (Host::Cursor, "beforeSubmitPrompt", 0, r#"{"continue": false}"#, Some(Block)),
            (Host::Cursor, "beforeShellExecution", 2, "", Some(Block)),
            (Host::Windsurf, "pre_run_command", 2, "", Some(Block)),
            (Host::Windsurf, "post_run_command", 2, "", None),
            (Host::Windsurf, "pre_run_command", 0, r#"{"decision": "deny"}"#, Some(Allow)),
            (Host::Cline, "PreToolUse", 0, r#"{"cancel": true}"#, Some(Block)),
            (Host::Cline, "PreToolUse", 0, r#"{"cancel": false}"#, Some(Allow)),
            (Host::Cline, "PreToolUse", 0, "hello", None),
            (Host::Cline, "PreToolUse", 1, "", None),
            (Host::Git, "pre-push", 1, "", Some(Block)),
            (Host::Git, "commit-msg", 1, "", Some(Block)),
            (Host::Git, "post-commit", 1, "", None),
            (Host::Husky, "pre-commit", 0, "", Some(Allow)),
            (Host::SessionReceiver, "receiver check", 3, "", Some(Block)),
        ] {
            assert_eq!(decided(host, event, code, stdout), decision, "{host:?} {event} {code} {stdout}");
        }
    }

    #[test]
    fn maps_may_have_more() {
        let value = |text: &str| serde_json::from_str::<Value>(text).expect("JSON");
        assert!(has(&value(r#"{"a": {"b": 1, "c": 2}, "d": []}"#), &value(r#"{"a": {"b": 1}}"#)));
        assert!(!has(&value(r#"{"a": [1, 2]}"#), &value(r#"{"a": [1]}"#)));
        assert!(!has(&value("{}"), &value(r#"{"a": null}"#)));
    }
}
