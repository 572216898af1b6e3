//! One wired command as its file has it, before its scripts are looked at.

use std::collections::BTreeMap;

use super::hosts::Form;
use crate::model::{Flow, Host, Limit, On, Shell};

/// A wiring as it is written.
#[derive(Debug, Clone)]
pub struct Draft {
    pub host: Host,
    pub file: String,
    pub line: Option<u64>,
    pub personal: bool,
    pub event: Option<String>,
    pub matcher: Option<String>,
    pub condition: Option<String>,
    pub name: Option<String>,
    /// Never empty.
    pub commands: Vec<Text>,
    /// Relative to the project; empty for the project itself.
    pub cwd: String,
    pub limit: Option<Limit>,
    pub flow: Flow,
    /// Variables that its entry sets.
    pub env: BTreeMap<String, String>,
    pub form: Option<&'static Form>,
    /// The folder of the plugin that the file belongs to.
    pub plugin: Option<String>,
    /// The line that switches it off.
    pub disabled: Option<u64>,
    /// Of a file that is the hook itself and lies out of the project: whether it may be executed.
    pub executable: Option<bool>,
}

impl Draft {
    /// A command for a shell, with nothing else known of it.
    pub fn new(host: Host, file: &str, command: Text) -> Self {
        Self {
            host,
            file: file.to_owned(),
            line: Some(command.line),
            personal: false,
            event: None,
            matcher: None,
            condition: None,
            name: None,
            commands: vec![command],
            cwd: String::new(),
            limit: None,
            flow: Flow::default(),
            env: BTreeMap::new(),
            form: None,
            plugin: None,
            disabled: None,
            executable: None,
        }
    }

    /// A file that is the hook itself.
    pub fn of_file(host: Host, file: &str, event: &str, shell: Shell) -> Self {
        let command = Text { command: file.to_owned(), argv: None, shell, on: On::Anywhere, line: 1 };
        Self { line: None, event: Some(event.to_owned()), ..Self::new(host, file, command) }
    }
}

/// A command as it is written.
#[derive(Debug, Clone)]
pub struct Text {
    pub command: String,
    pub argv: Option<Vec<String>>,
    pub shell: Shell,
    pub on: On,
    pub line: u64,
}

impl Text {
    /// For a shell.
    pub fn shell(command: &str, shell: Shell, line: u64) -> Self {
        Self { command: command.to_owned(), argv: None, shell, on: On::Anywhere, line }
    }
}
