//! Hook managers with a file of their own: lefthook, pre-commit and prek.

use super::draft::{Draft, Text};
use super::paths::join;
use super::reading::Reading;
use super::shell::commands;
use super::tree::Node;
use crate::model::{Host, On, Shell};

const LEFTHOOK: &[&str] = &[
    "lefthook.yml",
    "lefthook.yaml",
    "lefthook.toml",
    "lefthook.json",
    ".lefthook.yml",
    ".lefthook.yaml",
    ".lefthook.toml",
    ".lefthook.json",
];

/// Keys of lefthook's file that are no hooks.
const NO_HOOKS: &[&str] = &["remotes", "remote", "extends", "output", "skip_output", "templates", "colors"];

/// lefthook's.
pub fn lefthook(reading: &mut Reading<'_>) {
    for file in LEFTHOOK {
        let Some(root) = reading.any_document(file) else { continue };
        let Some(hooks) = root.map() else {
            reading.odd(file, &root, "the file", "a map");
            continue;
        };
        let scripts = root.get("source_dir").and_then(Node::text).unwrap_or(".lefthook").to_owned();
        for (event, hook) in hooks.iter().filter(|(key, _)| !NO_HOOKS.contains(&&*key.name)) {
            if hook.map().is_none() {
                continue;
            }
            let lefthook = Lefthook { file, event: &event.name, scripts: &scripts };
            lefthook.hook(hook, reading);
        }
        for key in ["extends", "remotes"] {
            if let Some(node) = root.get(key) {
                reading.notes.push(format!("{file}:{}: what `{key}` brings is not read", node.line));
            }
        }
    }
}

struct Lefthook<'l> {
    file: &'l str,
    event: &'l str,
    scripts: &'l str,
}

impl Lefthook<'_> {
    fn hook(&self, hook: &Node, reading: &mut Reading<'_>) {
        for (name, command) in hook.get("commands").and_then(Node::map).unwrap_or_default() {
            self.job(Some(&name.name), command, reading);
        }
        for (name, script) in hook.get("scripts").and_then(Node::map).unwrap_or_default() {
            self.script(&name.name, script, script.line, reading);
        }
        self.jobs(hook, 0, reading);
    }

    /// Jobs may be groups of jobs.
    fn jobs(&self, hook: &Node, depth: usize, reading: &mut Reading<'_>) {
        const MOST: usize = 8;
        for job in hook.get("jobs").and_then(Node::list).unwrap_or_default() {
            if let Some(group) = job.get("group")
                && depth < MOST
            {
                self.jobs(group, depth + 1, reading);
            } else if let Some(script) = job.get("script").and_then(Node::text) {
                self.script(script, job, job.line, reading);
            } else {
                self.job(job.get("name").and_then(Node::text), job, reading);
            }
        }
    }

    fn job(&self, name: Option<&str>, job: &Node, reading: &mut Reading<'_>) {
        let Some(run) = job.get("run") else {
            return reading.odd(self.file, job, "a command without `run`", "a map with `run`");
        };
        let Some(text) = run.text() else { return reading.odd(self.file, run, "`run`", "a text") };
        self.push(name, Text::shell(text.trim_end(), Shell::Sh, run.line), job, reading);
    }

    fn script(&self, name: &str, script: &Node, line: u64, reading: &mut Reading<'_>) {
        let path = format!("{}/{}/{name}", self.scripts, self.event);
        let runner = script.get("runner").and_then(Node::text);
        let text = match runner {
            Some(runner) => Text::shell(&format!("{runner} {path}"), Shell::Sh, line),
            None => Text { argv: Some(vec![format!("./{path}")]), ..Text::shell(&path, Shell::None, line) },
        };
        self.push(Some(name), text, script, reading);
    }

    fn push(&self, name: Option<&str>, text: Text, job: &Node, reading: &mut Reading<'_>) {
        let mut draft = Draft::new(Host::Lefthook, self.file, text);
        draft.event = Some(self.event.to_owned());
        draft.name = name.map(str::to_owned);
        draft.matcher = job.get("glob").and_then(Node::text).map(str::to_owned);
        draft.cwd = job.get("root").and_then(Node::text).map(str::to_owned).unwrap_or_default();
        reading.push(draft);
    }
}

/// Those of pre-commit and prek.
pub fn pre_commit(reading: &mut Reading<'_>) {
    for file in [".pre-commit-config.yaml", ".pre-commit-config.yml", "prek.toml"] {
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
                if own {
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
    let command = Text { command: command.to_owned(), argv, shell: Shell::None, on: On::Anywhere, line: entry.line };
    let mut draft = Draft::new(host, file, command);
    let stages = hook.get("stages").and_then(texts).unwrap_or_else(|| default.to_vec());
    draft.event = Some(if stages.is_empty() { "pre-commit".to_owned() } else { stages.join(", ") });
    draft.name = text("id").map(str::to_owned);
    draft.matcher = text("files").map(str::to_owned);
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
