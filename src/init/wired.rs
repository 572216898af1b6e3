//! The commands that hosts call, as their files name them. None of them is ever run here.

use std::path::Path;

use serde_json::Value;

use super::find::{base, join};
use super::git_hooks;
use super::project::Project;
use super::text::{self, Links};

/// Settings at a fixed place, which git may well ignore. Personal ones (`settings.local.json`) are left out: what is
/// written is for everybody.
const SETTINGS: &[&str] = &[
    ".claude/settings.json",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".cursor/hooks.json",
    ".windsurf/hooks.json",
    "hooks/hooks.json",
    "session-boundary.json",
];

/// Files of other hook managers, whose commands are not read.
const UNREAD: &[&str] = &[
    ".pre-commit-config.yaml",
    "prek.toml",
    "lefthook.yml",
    "lefthook.yaml",
    "lefthook.toml",
    "lefthook.json",
    ".codex/config.toml",
];

/// One command that a host calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wired {
    /// The host's name for the occasion.
    pub event: String,
    /// What the host narrows it down to, as it is written there.
    pub matcher: Option<String>,
    pub command: String,
    /// The file that names it, relative to the project where it lies in it.
    pub file: String,
}

impl Wired {
    /// Event and matcher: `PreToolUse(Bash)`.
    pub fn occasion(&self) -> String {
        match &self.matcher {
            Some(matcher) => format!("{}({matcher})", self.event),
            None => self.event.clone(),
        }
    }
}

/// Finds the wired commands of a project. What can't be read is a note.
pub fn find(project: &Project) -> (Vec<Wired>, Vec<String>) {
    let (mut wired, mut notes) = (Vec::new(), Vec::new());
    let listed = project.files.iter().map(String::as_str).filter(|name| is_listed(name));
    let mut names: Vec<&str> = SETTINGS.iter().copied().chain(listed).collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        match text::read(&project.root.join(name), Links::Follow) {
            Ok(text) => match serde_json::from_str(&text) {
                Ok(settings) => read(name, &settings, &mut wired, &mut notes),
                Err(error) => notes.push(format!("{name} is not read: {error}")),
            },
            Err(error) if is_missing(&error) => {}
            Err(error) => notes.push(format!("{name} is not read: {error}")),
        }
    }
    git_hooks::find(project, &mut wired);
    let exists =
        |name: &&&str| project.root.join(name).is_file() && (**name != ".codex/config.toml" || has_hooks(project));
    let unread: Vec<&str> = UNREAD.iter().filter(exists).copied().collect();
    if !unread.is_empty() {
        notes.push(format!("{} may wire hooks, too; init does not read it", unread.join(", ")));
    }
    (wired, notes)
}

/// Files of the forms that lie anywhere: of plugins, and of a host that reads a whole folder.
fn is_listed(name: &str) -> bool {
    let plugin = name.ends_with("/hooks/hooks.json");
    let folder = name.strip_prefix(".github/hooks/").is_some_and(|name| !name.contains('/'));
    plugin || (folder && Path::new(name).extension().is_some_and(|ending| ending == "json"))
}

fn has_hooks(project: &Project) -> bool {
    project.text(".codex/config.toml").is_some_and(|text| {
        text.lines().map(str::trim_start).any(|line| line.starts_with("[hooks") || line.starts_with("[[hooks"))
    })
}

fn is_missing(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Takes the commands out of one file: `hooks` by event, with the commands in the entries themselves or one list
/// further down, and `receiver_checks`.
pub fn read(file: &str, settings: &Value, wired: &mut Vec<Wired>, notes: &mut Vec<String>) {
    let before = wired.len();
    let mut odd = !settings.is_object();
    match settings.get("hooks") {
        None => {}
        Some(Value::Object(events)) => {
            for (event, entries) in events {
                match entries {
                    Value::Array(entries) => entries.iter().for_each(|entry| {
                        odd |= !take(file, Some(event), None, entry, wired);
                    }),
                    Value::Object(_) => odd |= !take(file, Some(event), None, entries, wired),
                    _ => odd = true,
                }
            }
        }
        Some(Value::Array(entries)) => entries.iter().for_each(|entry| odd |= !take(file, None, None, entry, wired)),
        Some(_) => odd = true,
    }
    match settings.get("receiver_checks") {
        None => {}
        Some(Value::Array(checks)) => {
            for check in checks {
                let name = check.get("name").and_then(Value::as_str).unwrap_or("without a name");
                odd |= !take(file, Some(&format!("receiver check {name}")), None, check, wired);
            }
        }
        Some(_) => odd = true,
    }
    if odd {
        notes
            .push(format!("{file}: something in it is in a form that init does not know; what it does know is listed"));
    }
    if settings.get("disableAllHooks") == Some(&Value::Bool(true)) && wired.len() > before {
        notes.push(format!("{file} has disableAllHooks: its hooks are listed all the same"));
    }
}

/// Takes one entry; false if it is in no known form.
fn take(file: &str, event: Option<&str>, matcher: Option<&str>, entry: &Value, wired: &mut Vec<Wired>) -> bool {
    let text = |key: &str| entry.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let matcher = text("matcher").filter(|matcher| *matcher != "*").or(matcher);
    let event = event.or_else(|| text("event"));
    if let Some(inner) = entry.get("hooks") {
        let Value::Array(inner) = inner else { return false };
        let mut known = true;
        for entry in inner {
            // One list further down, and no more.
            known &= entry.get("hooks").is_none() && take(file, event, matcher, entry, wired);
        }
        return known;
    }
    let Some(command) = ["command", "bash", "powershell", "commandWindows"].into_iter().find_map(text) else {
        // A host has other kinds of hooks, which call no program.
        return text("type").is_some_and(|kind| kind != "command");
    };
    let words = entry.get("args").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let command = std::iter::once(command).chain(words).collect::<Vec<_>>().join(" ");
    let found = Wired {
        event: event.unwrap_or("an event without a name").to_owned(),
        matcher: matcher.map(str::to_owned),
        command,
        file: file.to_owned(),
    };
    if !wired.contains(&found) {
        wired.push(found);
    }
    true
}

/// A git hook: the file is the command.
pub fn of_git(folder: &str, name: &str) -> Wired {
    let file = join(folder, name);
    Wired { event: format!("git {}", base(name)), matcher: None, command: file.clone(), file }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn commands(settings: &Value) -> (Vec<String>, usize) {
        let (mut wired, mut notes) = (Vec::new(), Vec::new());
        read("f.json", settings, &mut wired, &mut notes);
        (wired.iter().map(|wired| format!("{}: {}", wired.occasion(), wired.command)).collect(), notes.len())
    }

    #[test]
    fn both_shapes_are_read() {
        let nested = json!({"hooks": {"PreToolUse": [
            {"matcher": "Bash|Edit", "hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b", "args": ["-x", "y z"]}]},
            {"matcher": "*", "hooks": [{"type": "prompt", "prompt": "?"}]}]}});
        assert_eq!(
            commands(&nested),
            (vec!["PreToolUse(Bash|Edit): a".into(), "PreToolUse(Bash|Edit): b -x y z".into()], 0)
        );
        let flat = json!({"version": 1, "hooks": {"stop": [{"command": "c", "event": "stop"}], "start": [{"bash": "d", "powershell": "e"}]}});
        assert_eq!(commands(&flat), (vec!["start: d".into(), "stop: c".into()], 0));
        let list = json!({"hooks": [{"event": "Stop", "command": "f"}]});
        assert_eq!(commands(&list), (vec!["Stop: f".into()], 0));
        let boundary = json!({"receiver_checks": [{"name": "tests", "command": "python3 t.py"}], "close_commit": {}});
        assert_eq!(commands(&boundary), (vec!["receiver check tests: python3 t.py".into()], 0));
    }

    #[test]
    fn odd_settings_are_a_note_and_hide_nothing() {
        for odd in [
            json!([]),
            json!(null),
            json!({"hooks": "x"}),
            json!({"hooks": {"Stop": "x"}}),
            json!({"hooks": {"Stop": [{"hooks": {}}]}}),
            json!({"hooks": {"Stop": [{"hooks": [{"hooks": [{"command": "x"}]}]}]}}),
            json!({"hooks": {"Stop": [{"command": 7}]}}),
            json!({"receiver_checks": {}}),
        ] {
            assert_eq!(commands(&odd), (Vec::new(), 1), "{odd}");
        }
        assert_eq!(commands(&json!({"hooks": {"A": 1, "B": [{"command": "x"}]}})), (vec!["B: x".into()], 1));
        assert_eq!(commands(&json!({"permissions": {}})), (Vec::new(), 0));
    }
}
