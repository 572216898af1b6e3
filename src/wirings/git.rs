//! git's own hooks: those of `core.hooksPath` or `.git/hooks`, those of its configuration (from Git 2.54), and husky's.
//! What is in a clone and not in the project is told as personal.

use std::collections::BTreeMap;
use std::path::Path;

use super::draft::{Draft, Text};
use super::files::Entry;
use super::hosts::GIT;
use super::listing::is_skipped;
use super::paths::folder;
use super::reading::Reading;
use crate::model::{Host, Platform, Shell};
use crate::{platform, source};

/// Husky's folder.
const HUSKY: &str = ".husky";

/// Husky's hooks, which its own wrappers call, whatever their mode.
pub fn husky(reading: &mut Reading<'_>) {
    for name in GIT {
        let file = format!("{HUSKY}/{name}");
        if matches!(reading.source.entry(&file), Entry::File { .. }) {
            reading.files.push(file.clone());
            reading.push(Draft::of_file(Host::Husky, &file, name, Shell::ShFile));
        }
    }
}

/// Those in folders below: git calls its hooks at the top of the repository, wherever they lie.
pub fn husky_elsewhere(reading: &mut Reading<'_>) {
    let source = reading.source;
    let is_one = |name: &&String| {
        let within = folder(name);
        within != HUSKY && (super::paths::base(within) == HUSKY || within == ".config/husky")
    };
    for file in source.names().iter().filter(is_one) {
        let name = super::paths::base(file);
        if GIT.contains(&name) && !file.split('/').any(is_skipped) {
            reading.files.push(file.clone());
            reading.push(Draft::of_file(Host::Husky, file, name, Shell::ShFile));
        }
    }
}

/// The hooks of the folder that git looks in.
pub fn folder_of_hooks(root: &Path, reading: &mut Reading<'_>) {
    let Some(hooks) = source::hooks_folder(root) else { return };
    // Wrappers, each of which calls the file of its name in husky's folder.
    if hooks.starts_with(root.join(HUSKY)) {
        return;
    }
    let inside = hooks.strip_prefix(root).ok().and_then(Path::to_str).map(|inside| inside.replace('\\', "/"));
    for name in GIT {
        let path = hooks.join(name);
        if !path.is_file() {
            continue;
        }
        // A folder elsewhere is this machine's business: its path says nothing to others.
        let shown = inside.as_deref().unwrap_or("core.hooksPath");
        let file = format!("{shown}/{name}");
        if reading.files.contains(&file) {
            continue;
        }
        let mut draft = Draft::of_file(Host::Git, &file, name, Shell::File);
        draft.personal = inside.as_deref().is_none_or(|inside| inside.split('/').any(|part| part == ".git"));
        if inside.is_none() {
            draft.executable = Some(platform::current() == Platform::Windows || platform::is_executable(&path));
        }
        if !draft.personal {
            reading.files.push(file);
        }
        reading.push(draft);
    }
}

/// The hooks of git's configuration: `[hook "name"] event = …, command = …`.
pub fn configured(root: &Path, reading: &mut Reading<'_>) {
    #[derive(Default)]
    struct Hook {
        events: Vec<String>,
        command: Option<(String, String)>,
        disabled: bool,
    }
    let mut hooks: BTreeMap<String, Hook> = BTreeMap::new();
    for setting in source::settings(root, "^hook\\..*\\.(event|command|enabled)$") {
        let Some((name, key)) = setting.key["hook.".len()..].rsplit_once('.') else { continue };
        let hook = hooks.entry(name.to_owned()).or_default();
        match key {
            // An empty one takes back those before it.
            "event" if setting.value.is_empty() => hook.events.clear(),
            "event" => hook.events.push(setting.value),
            "command" => {
                let inside = setting.file.filter(|_| setting.scope == "local" || setting.scope == "worktree");
                let file = inside.as_deref().and_then(Path::to_str).unwrap_or("git config").replace('\\', "/");
                hook.command = Some((setting.value, file));
            }
            _ => hook.disabled = matches!(setting.value.to_ascii_lowercase().as_str(), "false" | "no" | "off" | "0"),
        }
    }
    for (name, hook) in hooks {
        let Some((command, file)) = hook.command.filter(|_| !hook.disabled) else { continue };
        for event in hook.events {
            let mut draft = Draft::new(Host::Git, &file, Text::shell(&command, Shell::Sh, 1));
            draft.line = None;
            draft.event = Some(event);
            draft.name = Some(name.clone());
            draft.personal = true;
            reading.push(draft);
        }
    }
}

/// Cline's: executables named after their events.
pub fn cline(reading: &mut Reading<'_>) {
    let source = reading.source;
    let files = source.names().iter().filter(|name| folder(name) == ".clinerules/hooks");
    for file in files {
        let base = super::paths::base(file);
        let (event, shell) = match base.strip_suffix(".ps1") {
            Some(event) => (event, Shell::Powershell),
            None => (base, Shell::File),
        };
        if super::hosts::CLINE.contains(&event) {
            let mut draft = Draft::of_file(Host::Cline, file, event, shell);
            if shell == Shell::Powershell {
                draft.commands[0].on = crate::model::On::Windows;
                draft.commands[0].argv = Some(vec!["powershell".to_owned(), "-File".to_owned(), file.clone()]);
            }
            reading.files.push(file.clone());
            reading.push(draft);
        }
    }
}
