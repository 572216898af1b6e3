//! How a host starts a hook: the command for this system and its shell, the environment, the folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::lefthook;
use super::proof::watched;
use crate::model::{CheckCommand, Host, Interpreter, On, Platform, Shell, WiredCommand, Wiring};
use crate::run::sandbox::Sandbox;
use crate::{platform, source, wirings};

/// The events for which Claude Code gives its hooks a file to write variables to.
const WITH_ENV_FILE: &[&str] = &["SessionStart", "Setup", "CwdChanged", "FileChanged"];

/// A hook, ready to be looked up.
#[derive(Debug)]
pub struct Call<'w> {
    pub wiring: &'w Wiring,
    pub command: &'w WiredCommand,
    /// As a check would have it.
    pub started_as: CheckCommand,
    /// What its host sets beyond its own environment.
    pub env: BTreeMap<String, String>,
    /// The files whose being read shows that it ran.
    pub watched: Vec<PathBuf>,
}

impl<'w> Call<'w> {
    /// Of a wired command, with the arguments that git gives its hooks.
    ///
    /// # Errors
    ///
    /// If it has no command for this system: a sentence.
    pub fn of(wiring: &'w Wiring, args: &[String], project: &Path, sandbox: &Sandbox) -> Result<Self, String> {
        let command = for_this_system(wiring)
            .ok_or_else(|| format!("{} has no command for {}", wiring.place(), platform::current().name()))?;
        let env = environment(wiring, project, sandbox);
        let (filled, args) = match wiring.host {
            Host::Lefthook => (lefthook::filled(wiring, command, args)?, &[][..]),
            _ => (command.clone(), args),
        };
        let started_as = started_as(wiring, &filled, args, project, &env);
        Ok(Self { wiring, command, started_as, env, watched: watched(command, project) })
    }

    /// What starts it where there is no bash: on Windows hosts take PowerShell then.
    pub fn without_bash(&self) -> Option<CheckCommand> {
        let may = platform::current() == Platform::Windows && self.command.shell == Shell::Bash;
        let script = self.command.command.clone();
        may.then_some(CheckCommand::Shell { script, interpreter: Interpreter::Powershell })
    }
}

fn for_this_system(wiring: &Wiring) -> Option<&WiredCommand> {
    let own = if platform::current() == Platform::Windows { On::Windows } else { On::Unix };
    let on = |wanted: On| wiring.commands.iter().find(|command| command.on == wanted);
    on(own).or_else(|| on(On::Anywhere))
}

fn environment(wiring: &Wiring, project: &Path, sandbox: &Sandbox) -> BTreeMap<String, String> {
    let mut env = wiring.env.clone();
    let mut set = |name: &str, value: &Path| {
        env.insert(name.to_owned(), value.to_string_lossy().into_owned());
    };
    // A host that is started in a folder of the project has that for its own.
    let start = match wirings::project_of(&wiring.file, false) {
        None | Some("") => project.to_owned(),
        Some(folder) => project.join(folder),
    };
    for name in wirings::form(wiring.host).map_or(&[][..], |form| form.project) {
        set(name, &start);
    }
    if matches!(wiring.host, Host::PreCommit | Host::Prek) {
        set("PRE_COMMIT", Path::new("1"));
    }
    if wiring.host == Host::ClaudeCode {
        if let Some(plugin) = wirings::plugin(&wiring.file) {
            set("CLAUDE_PLUGIN_ROOT", &project.join(plugin));
            set("CLAUDE_PLUGIN_DATA", &sandbox.home());
        }
        if WITH_ENV_FILE.contains(&wiring.event.as_deref().unwrap_or_default()) {
            let file = sandbox.tmp().join("claude-env");
            // A hook that misses it says so itself.
            let _ = fs::write(&file, "");
            set("CLAUDE_ENV_FILE", &file);
        }
    }
    env
}

fn started_as(
    wiring: &Wiring,
    command: &WiredCommand,
    arguments: &[String],
    project: &Path,
    env: &BTreeMap<String, String>,
) -> CheckCommand {
    let on_windows = platform::current() == Platform::Windows;
    let script = |interpreter| CheckCommand::Shell { script: command.command.clone(), interpreter };
    let words = |first: &[&str]| {
        let first = first.iter().map(|&word| word.to_owned());
        CheckCommand::Argv(first.chain(arguments.iter().cloned()).collect())
    };
    // Hosts replace what they set, and no more, where no shell does it.
    let replaced = |word: &String| {
        env.iter().fold(word.clone(), |word, (name, value)| word.replace(&format!("${{{name}}}"), value))
    };
    match command.shell {
        Shell::None | Shell::Managed => {
            let argv = command.argv.as_deref().unwrap_or_default();
            CheckCommand::Argv(argv.iter().map(replaced).chain(arguments.iter().cloned()).collect())
        }
        Shell::File => {
            let own = project.join(&command.command);
            // Those of git may lie out of the project, where they have another name.
            let elsewhere = wiring.host == Host::Git && !own.is_file();
            let of_git = elsewhere.then(|| source::hooks_folder(project)).flatten();
            let file = of_git.map_or(own, |folder| folder.join(wiring.event.as_deref().unwrap_or_default()));
            words(&[&file.to_string_lossy()])
        }
        Shell::ShFile => words(&["sh", "-e", &project.join(&command.command).to_string_lossy()]),
        // As git does it, the arguments come behind the command.
        Shell::Sh if wiring.host == Host::Git => {
            words(&["sh", "-c", &format!("{} \"$@\"", command.command), &command.command])
        }
        Shell::System if on_windows => script(Interpreter::Cmd),
        Shell::System | Shell::Sh => script(Interpreter::Sh),
        Shell::BashOrPowershell | Shell::Powershell if on_windows => script(Interpreter::Powershell),
        Shell::Bash | Shell::BashOrPowershell => script(Interpreter::Bash),
        Shell::Powershell => script(Interpreter::Pwsh),
        Shell::Cmd => script(Interpreter::Cmd),
    }
}
