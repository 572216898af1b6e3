//! What agents send their hooks: JSON, in the form that each one's page on hooks has.
//!
//! Sources: those pages, October and November 2026. A sample has what the page names for the event, with values that mean
//! nothing; what matters to a hook its check says itself.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::chosen::matched_key;
use super::find::Found;
use crate::model::Host;
use crate::wirings::matches;

const SESSION: &str = "00000000-0000-4000-8000-000000000001";
const TURN: &str = "00000000-0000-4000-8000-000000000002";
const TIME: &str = "2026-01-01T00:00:00.000Z";
const TIME_MS: u64 = 1_767_225_600_000;
const PROMPT: &str = "Say hello.";
const COMMAND: &str = "echo hello";

/// The folders that a sample names.
#[derive(Debug)]
pub struct Around<'a> {
    pub project: &'a Path,
    pub sandbox: &'a Path,
}

impl Around<'_> {
    fn cwd(&self) -> String {
        self.project.to_string_lossy().into_owned()
    }

    fn file(&self) -> String {
        self.project.join("hello.txt").to_string_lossy().into_owned()
    }

    fn transcript(&self) -> String {
        self.sandbox.join("tmp").join("transcript.jsonl").to_string_lossy().into_owned()
    }
}

/// What a host sends for the event of a hook, with `own` instead of what is the same key there.
pub fn sample(found: &Found, own: &Value, around: &Around<'_>) -> Value {
    let (host, event) = (found.host(), found.event());
    let mut sample = match host {
        Host::Copilot => copilot(event, around),
        Host::Cursor => cursor(event, around),
        Host::Windsurf => windsurf(event, around),
        Host::Cline => cline(event, around),
        Host::Gemini => gemini(event, around),
        _ => claude(host, event, around),
    };
    // One that the hook's own matcher is for.
    if let Some(key) = matched_key(host, event)
        && let Some(value) = called_for(found, sample.get(key).and_then(Value::as_str), host)
    {
        sample.insert(key.to_owned(), value.into());
    }
    let own = own.as_object().cloned().unwrap_or_default();
    let name = own.get("tool_name").or_else(|| sample.get("tool_name")).and_then(Value::as_str).map(str::to_owned);
    let is_open = sample.get("tool_input").is_some_and(Value::is_object) && !own.contains_key("tool_input");
    if let Some(name) = name.filter(|_| is_open) {
        sample.insert("tool_input".to_owned(), tool_input(&name, around));
    }
    sample.extend(own);
    Value::Object(sample)
}

/// A value that one of the matchers is for; `None` if the sample's own is, or none is known.
fn called_for(found: &Found, own: Option<&str>, host: Host) -> Option<String> {
    const KNOWN: &[&str] = &[
        "Bash",
        "Edit",
        "Write",
        "Read",
        "Glob",
        "Grep",
        "Task",
        "NotebookEdit",
        "WebFetch",
        "Shell",
        "run_shell_command",
        "write_file",
        "replace",
        "read_file",
        "apply_patch",
        "startup",
        "resume",
        "clear",
        "compact",
        "manual",
        "auto",
        "exit",
        "idle_prompt",
        "permission_prompt",
    ];
    let matchers: Vec<&str> =
        found.wirings.iter().map(|wiring| wiring.matcher.as_deref().unwrap_or_default()).collect();
    let is_for = |value: &str| {
        let all = |matcher: &str| matcher.is_empty() || matcher == "*";
        matchers.iter().any(|matcher| all(matcher) || matches(host, matcher, value).unwrap_or_default())
    };
    if own.is_some_and(is_for) {
        return None;
    }
    let words = matchers.iter().flat_map(|matcher| matcher.split('|')).map(str::trim);
    KNOWN.iter().copied().chain(words).find(|value| is_for(value)).map(str::to_owned)
}

fn map(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn with(mut base: Map<String, Value>, more: Value) -> Map<String, Value> {
    base.extend(map(more));
    base
}

fn tool_input(name: &str, around: &Around<'_>) -> Value {
    let file = around.file();
    match name {
        "Write" | "write_file" => json!({"file_path": file, "content": "hello\n"}),
        "Edit" | "MultiEdit" | "replace" => json!({"file_path": file, "old_string": "hello", "new_string": "goodbye"}),
        "Read" | "read_file" => json!({"file_path": file}),
        "Glob" => json!({"pattern": "*.txt"}),
        "Grep" => json!({"pattern": "hello"}),
        "WebFetch" => json!({"url": "https://example.invalid/", "prompt": PROMPT}),
        "Task" => json!({"description": "hello", "prompt": PROMPT, "subagent_type": "general-purpose"}),
        "Bash" | "Shell" | "run_shell_command" => json!({"command": COMMAND, "description": "Says hello"}),
        _ => json!({}),
    }
}

fn claude(host: Host, event: &str, around: &Around<'_>) -> Map<String, Value> {
    let mut base = map(json!({
        "session_id": SESSION, "transcript_path": around.transcript(), "cwd": around.cwd(), "hook_event_name": event,
        "permission_mode": "default"
    }));
    if host == Host::Codex {
        base.extend(map(json!({"turn_id": TURN, "model": "a-model"})));
    }
    let tool = json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": "toolu_00000000000000000000001"});
    match event {
        "PreToolUse" | "PermissionRequest" | "PermissionDenied" => with(base, tool),
        "PostToolUse" => with(with(base, tool), json!({"tool_response": {"stdout": "hello\n", "stderr": ""}})),
        "PostToolUseFailure" => with(with(base, tool), json!({"error": "exit status 1"})),
        "UserPromptSubmit" => with(base, json!({"prompt": PROMPT})),
        "SessionStart" => with(base, json!({"source": "startup", "model": "a-model"})),
        "SessionEnd" => with(base, json!({"reason": "other"})),
        "Stop" => with(base, json!({"stop_hook_active": false, "last_assistant_message": "Hello."})),
        "SubagentStart" => with(base, json!({"agent_id": "a1", "agent_type": "general-purpose"})),
        "SubagentStop" => {
            with(base, json!({"stop_hook_active": false, "agent_id": "a1", "agent_type": "general-purpose"}))
        }
        "Setup" => with(base, json!({"trigger": "init"})),
        "PreCompact" | "PostCompact" => with(base, json!({"trigger": "manual", "custom_instructions": ""})),
        "Notification" => with(base, json!({"message": "Hello.", "notification_type": "idle_prompt"})),
        _ => base,
    }
}

fn gemini(event: &str, around: &Around<'_>) -> Map<String, Value> {
    let base = map(json!({
        "session_id": SESSION, "transcript_path": around.transcript(), "cwd": around.cwd(), "hook_event_name": event,
        "timestamp": TIME
    }));
    let tool = json!({"tool_name": "run_shell_command", "tool_input": {}});
    match event {
        "BeforeTool" => with(base, tool),
        "AfterTool" => with(with(base, tool), json!({"tool_response": {"llmContent": "hello"}})),
        "BeforeAgent" => with(base, json!({"prompt": PROMPT})),
        "AfterAgent" => with(base, json!({"prompt": PROMPT, "prompt_response": "Hello.", "stop_hook_active": false})),
        "SessionStart" => with(base, json!({"source": "startup"})),
        "SessionEnd" => with(base, json!({"reason": "exit"})),
        "PreCompress" => with(base, json!({"trigger": "manual"})),
        "Notification" => {
            with(base, json!({"notification_type": "ToolPermission", "message": "Hello.", "details": {}}))
        }
        "BeforeModel" | "BeforeToolSelection" => with(base, json!({"llm_request": {"messages": []}})),
        "AfterModel" => with(base, json!({"llm_request": {"messages": []}, "llm_response": {}})),
        _ => base,
    }
}

fn copilot(event: &str, around: &Around<'_>) -> Map<String, Value> {
    let base = map(json!({"timestamp": TIME_MS, "cwd": around.cwd(), "sessionId": SESSION}));
    // The arguments are a text that is JSON itself.
    let tool = json!({"toolName": "bash", "toolArgs": json!({"command": COMMAND}).to_string()});
    match event {
        "preToolUse" | "permissionRequest" => with(base, tool),
        "postToolUse" => {
            with(with(base, tool), json!({"toolResult": {"resultType": "success", "textResultForLlm": "hello"}}))
        }
        "postToolUseFailure" => with(with(base, tool), json!({"error": "exit status 1"})),
        "sessionStart" => with(base, json!({"source": "new", "initialPrompt": PROMPT})),
        "sessionEnd" => with(base, json!({"reason": "complete"})),
        "userPromptSubmitted" => with(base, json!({"prompt": PROMPT})),
        "errorOccurred" => with(base, json!({"error": {"message": "Hello.", "name": "Error", "stack": ""}})),
        "agentStop" => with(base, json!({"transcriptPath": around.transcript(), "stopReason": "end_turn"})),
        _ => base,
    }
}

fn cursor(event: &str, around: &Around<'_>) -> Map<String, Value> {
    let base = map(json!({
        "conversation_id": SESSION, "generation_id": TURN, "model": "a-model", "hook_event_name": event,
        "cursor_version": "2.0.0", "workspace_roots": [around.cwd()], "user_email": null,
        "transcript_path": around.transcript()
    }));
    let tool = json!({"tool_name": "Shell", "tool_input": {}, "tool_use_id": "1", "cwd": around.cwd()});
    match event {
        "beforeShellExecution" => with(base, json!({"command": COMMAND, "cwd": around.cwd()})),
        "afterShellExecution" => with(base, json!({"command": COMMAND, "output": "hello\n", "duration": 1})),
        "preToolUse" => with(base, tool),
        "postToolUse" => with(with(base, tool), json!({"tool_output": "hello\n", "duration": 1})),
        "postToolUseFailure" => with(with(base, tool), json!({"error_message": "exit status 1", "duration": 1})),
        "beforeMCPExecution" => with(base, json!({"tool_name": "hello", "tool_input": "{}", "command": "hello"})),
        "afterMCPExecution" => with(base, json!({"tool_name": "hello", "tool_input": "{}", "result_json": "{}"})),
        "beforeReadFile" | "beforeTabFileRead" => with(base, json!({"file_path": around.file(), "content": "hello\n"})),
        "afterFileEdit" | "afterTabFileEdit" => {
            let edits = json!([{"old_string": "hello", "new_string": "goodbye"}]);
            with(base, json!({"file_path": around.file(), "edits": edits}))
        }
        "beforeSubmitPrompt" => with(base, json!({"prompt": PROMPT, "attachments": []})),
        "stop" => with(base, json!({"status": "completed", "loop_count": 0})),
        "sessionStart" | "sessionEnd" => with(base, json!({"session_id": SESSION, "reason": "completed"})),
        "afterAgentResponse" | "afterAgentThought" => with(base, json!({"text": "Hello."})),
        _ => base,
    }
}

fn windsurf(event: &str, around: &Around<'_>) -> Map<String, Value> {
    let info = match event {
        "pre_run_command" | "post_run_command" => json!({"command_line": COMMAND, "cwd": around.cwd()}),
        "pre_write_code" | "post_write_code" => {
            json!({"file_path": around.file(), "edits": [{"old_string": "hello", "new_string": "goodbye"}]})
        }
        "pre_read_code" | "post_read_code" => json!({"file_path": around.file()}),
        "pre_mcp_tool_use" | "post_mcp_tool_use" => {
            json!({"mcp_server_name": "hello", "mcp_tool_name": "hello", "mcp_tool_arguments": {}})
        }
        "pre_user_prompt" => json!({"user_prompt": PROMPT}),
        "post_cascade_response" => json!({"response": "Hello."}),
        _ => json!({}),
    };
    map(json!({
        "agent_action_name": event, "trajectory_id": SESSION, "execution_id": TURN, "timestamp": TIME, "tool_info": info
    }))
}

fn cline(event: &str, around: &Around<'_>) -> Map<String, Value> {
    let tool = json!({"toolName": "execute_command", "parameters": {"command": COMMAND}});
    let (key, about) = match event {
        "PreToolUse" => ("preToolUse", tool),
        "PostToolUse" => ("postToolUse", Value::Object(with(map(tool), json!({"result": "hello", "success": true})))),
        "UserPromptSubmit" => ("userPromptSubmit", json!({"prompt": PROMPT, "attachments": []})),
        "TaskStart" => ("taskStart", json!({"taskMetadata": {"taskId": SESSION, "initialTask": PROMPT}})),
        "TaskResume" => ("taskResume", json!({"taskMetadata": {"taskId": SESSION}})),
        "TaskCancel" => ("taskCancel", json!({"taskMetadata": {"taskId": SESSION}})),
        "TaskComplete" => ("taskComplete", json!({"taskMetadata": {"taskId": SESSION}})),
        _ => ("preCompact", json!({})),
    };
    let base = map(json!({
        "clineVersion": "3.0.0", "hookName": event, "timestamp": TIME, "taskId": SESSION,
        "workspaceRoots": [around.cwd()], "userId": "a-user"
    }));
    with(base, json!({key: about}))
}
