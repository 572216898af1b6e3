//! Which of the hooks of an event a host calls: by their matchers, each command once where the host does so.

use regex::Regex;
use serde_json::Value;

use crate::model::{Host, Wiring};
use crate::wirings::{Matchers, form};

/// Those that the host calls for an event.
///
/// # Errors
///
/// A sentence: none is called, or a matcher can't be understood.
pub fn chosen<'w>(wirings: &'w [Wiring], event: Option<&Value>) -> Result<Vec<&'w Wiring>, String> {
    let mut chosen: Vec<&Wiring> = Vec::new();
    let mut passed = Vec::new();
    for wiring in wirings {
        let once = form(wiring.host).is_some_and(|form| form.once);
        if once && chosen.iter().any(|known| known.commands == wiring.commands) {
            continue;
        }
        match is_called(wiring, event)? {
            None => chosen.push(wiring),
            Some(why) => passed.push(why),
        }
    }
    if chosen.is_empty() {
        let host = wirings.first().map_or("its host", |wiring| wiring.host.name());
        return Err(format!("{host} does not call it for this event: {}", passed.join("; ")));
    }
    Ok(chosen)
}

/// `None` if it is called; else why not.
fn is_called(wiring: &Wiring, event: Option<&Value>) -> Result<Option<String>, String> {
    let matcher = wiring.matcher.as_deref().filter(|matcher| !matcher.is_empty() && *matcher != "*");
    let key = matched_key(wiring.host, wiring.event.as_deref().unwrap_or_default());
    let (Some(matcher), Some(key)) = (matcher, key) else { return Ok(None) };
    let Some(value) = event.and_then(|event| event.get(key)).and_then(Value::as_str) else {
        return Err(format!("its matcher {matcher:?} is for `{key}`, which the event lacks"));
    };
    Ok((!matches(wiring.host, matcher, value)?).then(|| format!("its matcher {matcher:?} is not for {key} {value:?}")))
}

/// Whether a host's matcher is for a value.
///
/// # Errors
///
/// If it can't be understood here: a sentence.
pub fn matches(host: Host, matcher: &str, value: &str) -> Result<bool, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ',' | '|' | ' ');
    match form(host).map_or(Matchers::Unknown, |form| form.matchers) {
        Matchers::Unknown => Ok(true),
        Matchers::ListOrExpression if matcher.chars().all(is_plain) => {
            Ok(matcher.split(['|', ',']).any(|name| name.trim() == value))
        }
        Matchers::ListOrExpression | Matchers::Expression => match Regex::new(matcher) {
            Ok(expression) => Ok(expression.is_match(value)),
            Err(_) => Err(format!("its matcher {matcher:?} is no regular expression that can be understood here")),
        },
    }
}

/// What of an event a host compares its matchers with; `None` where it calls all.
///
/// Sources: the hosts' pages on hooks, November 2026.
pub fn matched_key(host: Host, event: &str) -> Option<&'static str> {
    match host {
        Host::ClaudeCode | Host::Codex => match event {
            "PreToolUse" | "PostToolUse" | "PostToolUseFailure" | "PermissionRequest" | "PermissionDenied" => {
                Some("tool_name")
            }
            "SessionStart" | "ConfigChange" => Some("source"),
            "SessionEnd" => Some("reason"),
            "Setup" | "PreCompact" | "PostCompact" => Some("trigger"),
            "Notification" => Some("notification_type"),
            "SubagentStart" | "SubagentStop" => Some("agent_type"),
            _ => None,
        },
        Host::Gemini => match event {
            "BeforeTool" | "AfterTool" => Some("tool_name"),
            "SessionStart" => Some("source"),
            "SessionEnd" => Some("reason"),
            "PreCompress" => Some("trigger"),
            "Notification" => Some("notification_type"),
            _ => None,
        },
        Host::Cursor => match event {
            "preToolUse" | "postToolUse" | "postToolUseFailure" => Some("tool_name"),
            "beforeShellExecution" | "afterShellExecution" => Some("command"),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matchers_are_taken_as_their_hosts_take_them() {
        use Host::{ClaudeCode, Copilot, Cursor};
        for (host, matcher, value, called) in [
            (ClaudeCode, "Bash", "Bash", true),
            (ClaudeCode, "Bash", "BashOutput", false),
            (ClaudeCode, "Edit|Write", "Write", true),
            (ClaudeCode, "Edit, Write", "Write", true),
            (ClaudeCode, "mcp__.*", "mcp__x__y", true),
            (ClaudeCode, "^Note", "NotebookEdit", true),
            (Cursor, "curl|wget", "echo; wget x", true),
            (Cursor, "^npm ", "yarn", false),
            (Copilot, "anything", "else", true),
        ] {
            assert_eq!(matches(host, matcher, value), Ok(called), "{matcher} {value}");
        }
        assert!(matches(ClaudeCode, "(?=x)", "x").is_err());
    }
}
