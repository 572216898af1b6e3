//! Which of the hooks of an event a host calls: by their matchers, each command once where the host does so.

use serde_json::Value;

use crate::model::{Host, Wiring};
use crate::wirings::{form, matches};

/// Those that the host calls for an event; `first` is whether it calls for one at all for the first time.
///
/// # Errors
///
/// A sentence: none is called, or a matcher can't be understood.
pub fn chosen<'w>(wirings: &'w [Wiring], event: Option<&Value>, first: bool) -> Result<Vec<&'w Wiring>, String> {
    let mut chosen: Vec<&Wiring> = Vec::new();
    let mut passed = Vec::new();
    for wiring in wirings {
        let once = form(wiring.host).is_some_and(|form| form.once);
        if once && chosen.iter().any(|known| known.commands == wiring.commands) {
            continue;
        }
        if wiring.flow.once && !first {
            passed.push("it is called the first time alone (`once`)".to_owned());
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
