//! Which files wire commands, and the reader of each.

use super::draft::{Draft, Text};
use super::files::Files;
use super::hosts::{self, COPILOT, Form, Language};
use super::paths::{ends_in, folder};
use super::reading::Reading;
use super::select::select;
use super::settings::{Settings, plugin};
use super::tree::Node;
use super::view::{BOUNDARY, project_of};
use super::{git, hook_folders, lefthook, pre_commit, yaml};
use crate::model::{Host, On, Shell, WiringSource};

/// Reads every file of a known form, and those that manifests name.
pub fn find<'a>(files: &'a dyn Files, sources: &[WiringSource]) -> Reading<'a> {
    let mut reading = Reading::new(files);
    for place in hosts::PLACES {
        settings(place.file, place.form, place.personal, &mut reading);
    }
    for name in files.names() {
        if let Some(place) = hosts::by_name(name).filter(|place| hosts::lies_anywhere(place)) {
            settings(name, place.form, false, &mut reading);
        }
        if has_front_matter(name) {
            front_matter(name, &mut reading);
        }
    }
    own(&mut reading);
    if files.is_repository() {
        git::husky_elsewhere(&mut reading);
    }
    if let Some(root) = files.root() {
        git::folder_of_hooks(root, &mut reading);
        git::configured(root, &mut reading);
    }
    hook_folders::read(&mut reading);
    for source in sources {
        named(source, &mut reading);
    }
    reading
}

/// Reads what a host reads that is started in a folder of the project, where it does not do so in the project itself.
pub fn find_in_folder(files: &dyn Files) -> Reading<'_> {
    let mut reading = Reading::new(files);
    for place in hosts::PLACES.iter().filter(|place| !hosts::lies_anywhere(place)) {
        settings(place.file, place.form, place.personal, &mut reading);
    }
    own(&mut reading);
    reading
}

/// What lies at one place of a project.
fn own(reading: &mut Reading<'_>) {
    let source = reading.source;
    for name in source.names().iter().filter(|name| folder(name) == ".github/hooks" && ends_in(name, "json")) {
        settings(name, &COPILOT, false, reading);
    }
    boundary(BOUNDARY, reading);
    git::cline(reading);
    git::husky(reading);
    lefthook::lefthook(reading);
    pre_commit::pre_commit(reading);
}

/// A host's settings, and the files that they name.
fn settings(file: &str, form: &'static Form, personal: bool, reading: &mut Reading<'_>) {
    let Some(root) = reading.document(file, form.language) else { return };
    let plugin = plugin(file);
    let settings = Settings { file, form, personal, plugin: plugin.as_deref() };
    settings.read(&root, reading);
    for (more, line) in std::mem::take(&mut reading.more) {
        let Some(more) = more else {
            let remedy = "name a file in the plugin's own folder".to_owned();
            reading.unread(file, Some(line), "a file of hooks that lies out of the project", remedy);
            continue;
        };
        if let Some(root) = reading.document(&more, Language::Json) {
            Settings { file: &more, ..settings }.read(&root, reading);
            // One file further, and no more.
            reading.more.clear();
        }
    }
}

/// The checks of a session receiver, which the system's own shell runs, without a limit.
fn boundary(file: &str, reading: &mut Reading<'_>) {
    let Some(root) = reading.document(file, Language::Json) else { return };
    let Some(checks) = root.get("receiver_checks") else { return };
    let Some(list) = checks.list() else {
        return reading.odd(file, checks, "`receiver_checks`", "a list of checks");
    };
    for check in list {
        let Some(command) = check.get("command").filter(|command| command.text().is_some()) else {
            reading.odd(file, check.get("command").unwrap_or(check), "a receiver check", "a map with a text `command`");
            continue;
        };
        let text = Text::shell(command.text().unwrap_or_default(), Shell::System, command.line);
        let mut draft = Draft::new(Host::SessionReceiver, file, text);
        draft.event = Some("receiver check".to_owned());
        draft.name = check.get("name").and_then(Node::text).map(str::to_owned);
        reading.push(draft);
    }
}

/// Agents, skills and commands may have hooks of their own, in Claude Code's shape.
pub fn has_front_matter(name: &str) -> bool {
    let below = |folder: &str| name.starts_with(folder) || name.contains(&format!("/{folder}"));
    ends_in(name, "md") && (below(".claude/agents/") || below(".claude/skills/") || below(".claude/commands/"))
}

fn front_matter(file: &str, reading: &mut Reading<'_>) {
    // What is no text has none.
    let Ok(text) = reading.source.text(file) else { return };
    let Some(rest) = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n")) else { return };
    let Some(end) = rest.find("\n---") else { return };
    if !rest[..end].lines().any(|line| line.starts_with("hooks:")) {
        return;
    }
    reading.files.push(file.to_owned());
    // Its first line is the second of the file.
    let parsed = yaml::parse(&format!("\n{}\n", &rest[..end]));
    if let Some(hooks) = reading.parsed(file, parsed).as_ref().and_then(|root| root.get("hooks")) {
        Settings { file, form: &hosts::CLAUDE, personal: false, plugin: None }.hooks(hooks, reading);
    }
}

/// A file that a manifest names.
fn named(source: &WiringSource, reading: &mut Reading<'_>) {
    let file = &source.file;
    if reading.files.contains(file) && source.commands.is_none() {
        return;
    }
    if reading.source.entry(file) == super::files::Entry::Missing {
        let remedy = "mend the name under `gate` in the manifest, or remove it there".to_owned();
        return reading.unread(file, None, "a manifest names it, and it is not there", remedy);
    }
    let Some(path) = &source.commands else {
        // What belongs to a project in a folder is read with that.
        if project_of(file, !reading.source.is_repository()).is_some_and(|folder| !folder.is_empty()) {
            return;
        }
        return match hosts::by_name(file) {
            Some(place) => settings(file, place.form, place.personal, reading),
            None if super::paths::base(file) == BOUNDARY => boundary(file, reading),
            None if folder(file).ends_with(".github/hooks") => settings(file, &COPILOT, false, reading),
            None if hook_folders::is_hook(file) => hook_folders::one(file, reading),
            None => {
                let remedy = "say in the manifest where its commands are: `commands: \"$.hooks[*].run\"`".to_owned();
                reading.unread(file, None, "its form is not known by its name", remedy);
            }
        };
    };
    // It may be of a known form as well, and have more commands elsewhere.
    reading.files.retain(|known| known != file);
    let Some(root) = reading.any_document(file) else { return };
    let found = select(&root, path);
    if found.is_empty() {
        let message = format!("nothing in it is at {}", path.text);
        reading.unread(file, None, &message, "mend `commands` in the manifest, or remove it there".to_owned());
    }
    for node in found {
        let argv: Option<Vec<String>> =
            node.list().and_then(|words| words.iter().map(|word| word.text().map(str::to_owned)).collect());
        let text = match (node.text(), argv.filter(|argv| !argv.is_empty())) {
            (Some(command), _) => Text::shell(command.trim_end(), Shell::System, node.line),
            (None, Some(argv)) => Text {
                command: argv.join(" "),
                argv: Some(argv),
                shell: Shell::None,
                on: On::Anywhere,
                line: node.line,
            },
            (None, None) => {
                reading.odd(file, node, &format!("what is at {}", path.text), "a text, or a list of words");
                continue;
            }
        };
        reading.push(Draft::new(Host::Other, file, text));
    }
}
