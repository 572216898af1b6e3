//! pre-commit and prek, which have a file of their own.

use super::draft::{Draft, Text};
use super::paths::join;
use super::reading::Reading;
use super::shell::commands;
use super::tree::Node;
use crate::model::{Host, On, Shell};

/// Their files.
pub const PRE_COMMIT: [&str; 3] = [".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml"];

/// Those of pre-commit and prek.
pub fn pre_commit(reading: &mut Reading<'_>) {
    for file in PRE_COMMIT {
        let Some(root) = reading.any_document(file) else { continue };
        let host = if file == "prek.toml" { Host::Prek } else { Host::PreCommit };
        let Some(repos) = root.get("repos").and_then(Node::list) else {
            reading.odd(file, root.get("repos").unwrap_or(&root), "`repos`", "a list of repositories");
            continue;
        };
        let stages = root.get("default_stages").and_then(texts).unwrap_or_default();
        let mut strangers: Vec<&str> = Vec::new();
        for repo in repos {
            let own = repo.get("repo").and_then(Node::text) == Some("local");
            for hook in repo.get("hooks").and_then(Node::list).unwrap_or_default() {
                let id = hook.get("id").and_then(Node::text);
                // Who gives an entry of their own to what another project has, runs that.
                if own || hook.get("entry").is_some() {
                    one(host, file, hook, &stages, reading);
                } else {
                    strangers.extend(id);
                }
            }
        }
        if !strangers.is_empty() {
            let hooks = if strangers.len() == 1 { "hook is" } else { "hooks are" };
            reading.notes.push(format!(
                "{file}: {} {hooks} of other projects, so not this project's program: {}",
                strangers.len(),
                strangers.join(", ")
            ));
        }
    }
}

/// A hook of the project's own.
fn one(host: Host, file: &str, hook: &Node, default: &[String], reading: &mut Reading<'_>) {
    let text = |key: &str| hook.get(key).and_then(Node::text);
    // These search or refuse by themselves, or run in an image.
    if matches!(text("language"), Some("pygrep" | "fail" | "docker_image")) {
        return;
    }
    let Some(entry) = hook.get("entry") else {
        let remedy = "write the command under `entry`".to_owned();
        return reading.unread(file, Some(hook.line), "a hook of the project's own without `entry`", remedy);
    };
    let Some(command) = entry.text() else { return reading.odd(file, entry, "`entry`", "a text") };
    let mut argv = argv(command);
    // A script is named from the top of the repository, without a shell to find it.
    if let (Some("script" | "unsupported_script"), Some([first, ..])) = (text("language"), argv.as_deref_mut()) {
        *first = format!("./{}", join("", first).unwrap_or_else(|| first.clone()));
    }
    if let Some(argv) = &mut argv {
        argv.extend(hook.get("args").and_then(texts).unwrap_or_default());
    }
    // Others are run in an environment that is made of the hook's dependencies.
    let as_it_is = matches!(text("language"), Some("system" | "script" | "unsupported" | "unsupported_script"));
    let shell = if as_it_is { Shell::None } else { Shell::Managed };
    let command = Text { command: command.to_owned(), argv, shell, on: On::Anywhere, line: entry.line };
    let mut draft = Draft::new(host, file, command);
    let stages = hook.get("stages").and_then(texts).unwrap_or_else(|| default.to_vec());
    draft.event = Some(if stages.is_empty() { "pre-commit".to_owned() } else { stages.join(", ") });
    draft.name = text("id").map(str::to_owned);
    draft.matcher = text("files").map(str::to_owned);
    draft.condition = hook.said(&["exclude", "types", "types_or", "exclude_types"]);
    reading.push(draft);
}

/// The words of an entry, which is split as a shell does, and never given to one.
fn argv(command: &str) -> Option<Vec<String>> {
    let commands = commands(command).ok()?;
    let [only] = &commands[..] else { return None };
    let sets = only.sets.iter().map(|(name, value)| Some(format!("{name}={}", value.literal()?)));
    sets.chain(only.words.iter().map(super::shell::Word::literal)).collect()
}

fn texts(node: &Node) -> Option<Vec<String>> {
    node.list()?.iter().map(|item| item.text().map(str::to_owned)).collect()
}
