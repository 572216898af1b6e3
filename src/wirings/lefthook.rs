//! lefthook's files: the main one, what it extends, and the local one.
//!
//! Sources: lefthook.dev/configuration, November 2026. Of several main files lefthook takes one, and its page says that
//! nobody knows which: all are read. What a later file says of a command with a name, its key `run` aside, changes nothing
//! of what is wired.

use std::collections::BTreeSet;

use globset::GlobBuilder;

use super::draft::{Draft, Text};
use super::files::Entry;
use super::paths::join;
use super::reading::Reading;
use super::tree::Node;
use crate::model::{Host, Shell};

/// What its files are called, without their ending.
const MAIN: [&str; 3] = ["lefthook", ".lefthook", ".config/lefthook"];
const LOCAL: [&str; 3] = ["lefthook-local", ".lefthook-local", ".config/lefthook-local"];
const ENDINGS: [&str; 5] = ["yml", "yaml", "json", "jsonc", "toml"];

/// Keys that are no hooks.
const NO_HOOKS: &[&str] = &["remotes", "remote", "extends", "output", "skip_output", "templates", "colors"];

/// No more files are read of what files extend.
const MOST_EXTENDED: usize = 100;

/// The names of its files.
pub fn names() -> impl Iterator<Item = String> {
    of(&MAIN).chain(of(&LOCAL))
}

fn of(stems: &'static [&'static str]) -> impl Iterator<Item = String> {
    ENDINGS.iter().flat_map(move |ending| stems.iter().map(move |stem| format!("{stem}.{ending}")))
}

/// A file that was read.
struct Document {
    file: String,
    root: Node,
    /// Whether only this user has it.
    personal: bool,
}

/// Reads all of them.
pub fn lefthook(reading: &mut Reading<'_>) {
    let mut documents = Vec::new();
    for (names, personal) in [(&MAIN, false), (&LOCAL, true)] {
        for file in of(names) {
            open(&file, personal, &mut documents, reading);
        }
    }
    let mut named = BTreeSet::new();
    for (event, hook) in documents.iter().flat_map(hooks) {
        let mut know = |name: Option<&str>, job: &Node| {
            let name = name.filter(|_| job.get("run").is_some());
            named.extend(name.map(|name| (event.to_owned(), name.to_owned())));
        };
        commands(hook).for_each(|(name, command)| know(Some(name), command));
        jobs(hook, 0, &mut |job| know(job.get("name").and_then(Node::text), job));
    }
    let folder = |key: &str, default: &str| {
        let said = documents.iter().find_map(|document| document.root.get(key).and_then(Node::text));
        said.unwrap_or(default).to_owned()
    };
    let scripts = [folder("source_dir", ".lefthook"), folder("source_dir_local", ".lefthook-local")];
    for document in &documents {
        for (event, hook) in hooks(document) {
            Lefthook { document, event, scripts: &scripts, named: &named }.hook(hook, reading);
        }
        if let Some(node) = document.root.get("remotes") {
            let Document { file, .. } = document;
            reading
                .notes
                .push(format!("{file}:{}: what `remotes` brings is of other projects, and not read", node.line));
        }
    }
}

/// Reads a file, if there is one, and those that it extends.
fn open(file: &str, personal: bool, documents: &mut Vec<Document>, reading: &mut Reading<'_>) {
    let Some(root) = reading.any_document(file) else { return };
    if root.map().is_none() {
        return reading.odd(file, &root, "the file", "a map");
    }
    let extends: Vec<Node> = root.get("extends").and_then(Node::list).unwrap_or_default().to_vec();
    documents.push(Document { file: file.to_owned(), root, personal });
    for node in &extends {
        let Some(path) = node.text() else {
            reading.odd(file, node, "what it extends", "a path");
            continue;
        };
        for more in extended(file, node.line, path, reading) {
            if documents.len() > MOST_EXTENDED {
                let remedy = "put what they say into fewer files".to_owned();
                let message = format!("it extends more than {MOST_EXTENDED} files; the rest is not read");
                return reading.unread(file, Some(node.line), &message, remedy);
            }
            open(&more, personal, documents, reading);
        }
    }
}

/// The files that a path or a glob is for, relative to the project's top, as lefthook takes them.
fn extended(file: &str, line: u64, path: &str, reading: &mut Reading<'_>) -> Vec<String> {
    let Some(name) = join("", path) else {
        let remedy = "extend a file of the project's own".to_owned();
        reading.unread(file, Some(line), &format!("it extends {path}, which lies out of the project"), remedy);
        return Vec::new();
    };
    if reading.source.entry(&name) != Entry::Missing {
        return vec![name];
    }
    let glob = GlobBuilder::new(&name).literal_separator(true).build().map(|glob| glob.compile_matcher());
    let found: Vec<String> = match &glob {
        Ok(glob) => reading.source.names().iter().filter(|name| glob.is_match(name)).cloned().collect(),
        Err(_) => Vec::new(),
    };
    if found.is_empty() {
        reading.notes.push(format!("{file}:{line}: it extends {path}, which is no file here"));
    }
    found
}

/// Its hooks, by the event.
fn hooks(document: &Document) -> impl Iterator<Item = (&str, &Node)> {
    let all = document.root.map().unwrap_or_default().iter();
    let is_hook = |name: &str, node: &Node| !NO_HOOKS.contains(&name) && node.map().is_some();
    all.filter(move |(key, node)| is_hook(&key.name, node)).map(|(key, node)| (key.name.as_str(), node))
}

/// The commands of a hook, with their names.
fn commands(hook: &Node) -> impl Iterator<Item = (&str, &Node)> {
    let listed = hook.get("commands").and_then(Node::map).unwrap_or_default().iter();
    listed.map(|(key, command)| (key.name.as_str(), command))
}

/// Jobs may be groups of jobs.
fn jobs<'n>(hook: &'n Node, depth: usize, each: &mut impl FnMut(&'n Node)) {
    const MOST: usize = 8;
    for job in hook.get("jobs").and_then(Node::list).unwrap_or_default() {
        match job.get("group") {
            Some(group) if depth < MOST => jobs(group, depth + 1, each),
            _ => each(job),
        }
    }
}

struct Lefthook<'l> {
    document: &'l Document,
    event: &'l str,
    /// The folders of scripts: that of the project, and that of this user.
    scripts: &'l [String; 2],
    /// The commands that some file says the whole of, by event and name.
    named: &'l BTreeSet<(String, String)>,
}

impl Lefthook<'_> {
    fn hook(&self, hook: &Node, reading: &mut Reading<'_>) {
        for setup in hook.get("setup").and_then(Node::list).unwrap_or_default() {
            self.job(Some("setup"), setup, reading);
        }
        for (name, command) in commands(hook) {
            self.job(Some(name), command, reading);
        }
        for (name, script) in hook.get("scripts").and_then(Node::map).unwrap_or_default() {
            self.script(&name.name, script, script.line, reading);
        }
        jobs(hook, 0, &mut |job| match job.get("script").and_then(Node::text) {
            Some(script) => self.script(script, job, job.line, reading),
            None => self.job(job.get("name").and_then(Node::text), job, reading),
        });
    }

    fn job(&self, name: Option<&str>, job: &Node, reading: &mut Reading<'_>) {
        let file = &self.document.file;
        let Some(run) = job.get("run") else {
            if !name.is_some_and(|name| self.named.contains(&(self.event.to_owned(), name.to_owned()))) {
                reading.odd(file, job, "a command without `run`", "a map with `run`");
            }
            return;
        };
        let Some(text) = run.text() else { return reading.odd(file, run, "`run`", "a text") };
        self.push(name, Text::shell(text.trim_end(), Shell::Sh, run.line), job, reading);
    }

    fn script(&self, name: &str, script: &Node, line: u64, reading: &mut Reading<'_>) {
        let [shared, own] = self.scripts.each_ref().map(|folder| format!("{folder}/{}/{name}", self.event));
        let path = if reading.source.entry(&own) == Entry::Missing { shared } else { own };
        let runner = script.get("runner").and_then(Node::text);
        let text = match runner {
            Some(runner) => Text::shell(&format!("{runner} {path}"), Shell::Sh, line),
            None => Text { argv: Some(vec![format!("./{path}")]), ..Text::shell(&path, Shell::None, line) },
        };
        self.push(Some(name), text, script, reading);
    }

    fn push(&self, name: Option<&str>, text: Text, job: &Node, reading: &mut Reading<'_>) {
        let mut draft = Draft::new(Host::Lefthook, &self.document.file, text);
        draft.personal = self.document.personal;
        draft.event = Some(self.event.to_owned());
        draft.name = name.map(str::to_owned);
        draft.matcher = job.get("glob").and_then(Node::text).map(str::to_owned);
        draft.condition = job.said(&["skip", "only", "exclude", "files", "file_types"]);
        draft.cwd = job.get("root").and_then(Node::text).map(str::to_owned).unwrap_or_default();
        reading.push(draft);
    }
}
