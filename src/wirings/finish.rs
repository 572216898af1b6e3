//! From a command as it is written to what it runs.

use super::draft::{Draft, Text};
use super::files::{Entry, Files};
use super::named::{Around, Told, in_argv, in_shell, in_windows_shell};
use super::paths::join;
use super::shell::Flavour;
use crate::model::{Named, Script, Shell, WiredCommand, Wiring};

/// A wiring without its faults, and the paths in it that a shell would split.
pub fn finish(draft: &Draft, files: &dyn Files, is_top: bool) -> (Wiring, Vec<String>) {
    let mut folders: Vec<(&'static str, String)> =
        draft.form.into_iter().flat_map(|form| form.project).map(|&name| (name, String::new())).collect();
    folders.extend(draft.plugin.clone().map(|folder| ("CLAUDE_PLUGIN_ROOT", folder)));
    let cwd = join("", &draft.cwd);
    let around = Around { files, folders, cwd: cwd.clone(), file: None, is_top };
    let mut unquoted = Vec::new();
    let commands = draft.commands.iter().map(|text| {
        let told = told(draft, text, &around);
        unquoted.extend(told.unquoted);
        WiredCommand {
            command: text.command.clone(),
            argv: text.argv.clone().filter(|_| matches!(text.shell, Shell::None | Shell::Managed)),
            shell: text.shell,
            on: text.on,
            cwd: cwd.clone().filter(|cwd| !cwd.is_empty()),
            scripts: told.scripts,
            untold: told.untold,
        }
    });
    let commands = commands.collect();
    let wiring = Wiring {
        host: draft.host,
        file: draft.file.clone(),
        line: draft.line,
        personal: draft.personal,
        event: draft.event.clone(),
        matcher: draft.matcher.clone(),
        condition: draft.condition.clone(),
        name: draft.name.clone(),
        commands,
        limit: draft.limit.clone(),
        flow: draft.flow,
        env: draft.env.clone(),
        covered_by: Vec::new(),
        faults: Vec::new(),
    };
    (wiring, unquoted)
}

fn told(draft: &Draft, text: &Text, around: &Around<'_>) -> Told {
    if let Some(argv) = &text.argv {
        return in_argv(argv, around);
    }
    match text.shell {
        Shell::None | Shell::Managed => {
            Told { untold: Some("it can't be split into words".to_owned()), ..Told::default() }
        }
        Shell::File => of_file(draft, None, around),
        Shell::ShFile => {
            let mut told = of_file(draft, Some("sh"), around);
            // What such a file has in it is a command or two.
            let around = Around { file: Some(draft.file.clone()), ..around.clone() };
            if let Ok(script) = around.files.text(&draft.file) {
                told.scripts.extend(in_shell(&script, &around).scripts);
            }
            told
        }
        Shell::System | Shell::Sh | Shell::Bash | Shell::BashOrPowershell => in_shell(&text.command, around),
        Shell::Powershell => in_windows_shell(&text.command, Flavour::Powershell, around),
        Shell::Cmd => in_windows_shell(&text.command, Flavour::Cmd, around),
    }
}

/// Of a hook that is a file; one out of the project is none of its scripts.
fn of_file(draft: &Draft, by: Option<&str>, around: &Around<'_>) -> Told {
    if draft.executable.is_some() {
        return Told::default();
    }
    let named = if by.is_some() { Named::Script } else { Named::Program };
    let exists = around.files.entry(&draft.file) != Entry::Missing;
    let by = by.map(str::to_owned);
    let script = Script { path: draft.file.clone(), named, by, fallback: false, exists };
    Told { scripts: vec![script], ..Told::default() }
}
