//! Settings of hosts, in either shape.

use std::collections::BTreeMap;

use super::draft::{Draft, Text};
use super::hosts::{Form, Shape};
use super::paths::{folder, join};
use super::reading::Reading;
use super::tree::{Node, Value};
use crate::model::{Flow, Host, Limit, On, Shell, Unit};

/// What is said of an entry around it.
#[derive(Clone, Copy)]
struct Above<'a> {
    event: Option<&'a str>,
    matcher: Option<&'a str>,
    in_turn: bool,
}

impl<'a> Above<'a> {
    fn of(event: Option<&'a str>) -> Self {
        Self { event, matcher: None, in_turn: false }
    }
}

/// A settings file.
#[derive(Clone, Copy)]
pub struct Settings<'s> {
    pub file: &'s str,
    pub form: &'static Form,
    pub personal: bool,
    /// The folder of the plugin that it belongs to.
    pub plugin: Option<&'s str>,
}

impl Settings<'_> {
    /// Takes the hooks out of a whole file.
    pub fn read(&self, root: &Node, reading: &mut Reading<'_>) {
        if root.map().is_none() {
            return reading.odd(self.file, root, "the file", "a map");
        }
        let before = reading.drafts.len();
        if let Some(hooks) = root.get("hooks") {
            // A plugin's may have the name once more.
            self.hooks(hooks.get("hooks").filter(|inner| inner.map().is_some()).unwrap_or(hooks), reading);
        }
        let of_gemini = || root.get("hooks")?.get("enabled").filter(|node| node.value == Value::Bool(false));
        let off = root.get("disableAllHooks").filter(|node| node.value == Value::Bool(true)).or_else(of_gemini);
        if let Some(off) = off {
            reading.drafts[before..].iter_mut().for_each(|draft| draft.disabled = Some(off.line));
        }
        for (kind, count) in std::mem::take(&mut reading.others) {
            let hooks = if count == 1 { "hook" } else { "hooks" };
            reading.notes.push(format!("{}: {count} {hooks} of type {kind}, without a program", self.file));
        }
    }

    /// Takes them out of the value of `hooks`.
    pub fn hooks(&self, hooks: &Node, reading: &mut Reading<'_>) {
        match &hooks.value {
            Value::Map(events) => {
                for (event, entries) in events {
                    // Gemini's switch lies among the events.
                    if matches!(entries.value, Value::Bool(_)) {
                        continue;
                    }
                    match &entries.value {
                        Value::List(entries) => {
                            for entry in entries {
                                self.entry(Above::of(Some(&event.name)), entry, 0, reading);
                            }
                        }
                        Value::Map(_) => self.entry(Above::of(Some(&event.name)), entries, 0, reading),
                        _ => reading.odd(self.file, entries, &format!("`{}`", event.name), "a list of hooks"),
                    }
                }
            }
            Value::List(entries) => {
                for entry in entries {
                    self.entry(Above::of(None), entry, 0, reading);
                }
            }
            // A plugin names the files.
            Value::Text(path) if self.plugin.is_some() => {
                reading.more.push((join(self.plugin.unwrap_or_default(), path), hooks.line));
            }
            _ => reading.odd(self.file, hooks, "`hooks`", "a map of events"),
        }
    }

    fn entry(&self, above: Above<'_>, entry: &Node, depth: usize, reading: &mut Reading<'_>) {
        let Above { event, matcher, in_turn } = above;
        if let (Some(plugin), Some(path)) = (self.plugin, entry.text())
            && event.is_none()
        {
            return reading.more.push((join(plugin, path), entry.line));
        }
        if entry.map().is_none() {
            return reading.odd(self.file, entry, "a hook", "a map");
        }
        let text = |key: &str| entry.get(key).and_then(Node::text).filter(|text| !text.trim().is_empty());
        let matcher = entry.get("matcher").and_then(Node::text).or(matcher);
        let event = event.or_else(|| text("event"));
        let says = |key: &str| entry.get(key).is_some_and(|node| node.value == Value::Bool(true));
        let in_turn = in_turn || self.form.in_turn || says("sequential") && self.form.host == Host::Gemini;
        if let Some(inner) = entry.get("hooks") {
            match inner.list() {
                // One list further down, and no more.
                Some(inner) if depth == 0 => {
                    for hook in inner {
                        self.entry(Above { event, matcher, in_turn }, hook, 1, reading);
                    }
                }
                _ => reading.odd(self.file, inner, "`hooks`", "a list of commands"),
            }
            return;
        }
        let commands = self.commands(entry);
        if commands.is_empty() {
            match text("type") {
                Some(kind) if kind != "command" => *reading.others.entry(kind.to_owned()).or_default() += 1,
                _ => {
                    let keys: Vec<String> = self.form.commands.iter().map(|(key, ..)| format!("`{key}`")).collect();
                    let remedy = format!("write what it runs under {}, as a text", keys.join(" or "));
                    reading.unread(self.file, Some(entry.line), "a hook without a command", remedy);
                }
            }
            return;
        }
        if (depth == 0) == (self.form.shape == Shape::Nested) {
            let (name, remedy) = (
                self.form.host.name(),
                match self.form.shape {
                    Shape::Nested => "put it into a list under `hooks`, beside its matcher",
                    Shape::Flat => "put the command into the entry itself, without a list under `hooks`",
                },
            );
            let message = format!("a hook in the form of another host: {name} passes it over");
            reading.unread(self.file, Some(entry.line), &message, remedy.to_owned());
        }
        let limit = self.limit(event, entry, reading);
        let cwd = self.form.cwd.and_then(text).map(str::to_owned);
        reading.push(Draft {
            host: self.form.host,
            file: self.file.to_owned(),
            line: Some(commands[0].line),
            personal: self.personal,
            event: event.map(str::to_owned),
            matcher: matcher.map(str::to_owned),
            condition: entry.said(&["if"]),
            name: text("name").or_else(|| text("id")).map(str::to_owned),
            commands,
            cwd: cwd.unwrap_or_default(),
            limit,
            flow: Flow {
                goes_on: self.form.background && (says("async") || says("asyncRewake")),
                once: self.form.background && says("once"),
                in_turn,
            },
            env: self.env(entry),
            form: Some(self.form),
            plugin: self.plugin.map(str::to_owned),
            disabled: None,
            executable: None,
        });
    }

    fn commands(&self, entry: &Node) -> Vec<Text> {
        let shell = entry.get("shell").and_then(Node::text);
        let strings = |node: &Node| -> Option<Vec<String>> {
            node.list()?.iter().map(|word| word.text().map(str::to_owned)).collect()
        };
        let keys = self.form.commands.iter().filter_map(|&(key, runs, on)| Some((key, runs, on, entry.get(key)?)));
        // A file that was written for another host is told in the end, too.
        let any = || {
            let other = ["command", "bash", "powershell"].into_iter().find_map(|key| Some((key, entry.get(key)?)));
            other.map(|(key, node)| (key, Shell::Sh, On::Anywhere, node))
        };
        let mut found: Vec<(&str, Shell, On, &Node)> = keys.collect();
        if found.is_empty() {
            found.extend(any());
        }
        let mut commands: Vec<Text> = Vec::new();
        for (_, runs, on, node) in found {
            let runs = match (shell, runs) {
                (Some("powershell" | "pwsh"), _) => Shell::Powershell,
                (_, runs) => runs,
            };
            let mut argv = strings(node).filter(|argv| !argv.is_empty());
            let text = node.text().filter(|text| !text.trim().is_empty());
            if let (Some(program), Some(words)) = (text, entry.get("args").and_then(strings)) {
                argv = Some(std::iter::once(program.to_owned()).chain(words).collect());
            }
            let runs = if argv.is_some() { Shell::None } else { runs };
            let command = argv.as_ref().map(|argv| argv.join(" ")).or_else(|| text.map(str::to_owned));
            // Of two for the same systems the host takes one.
            if let Some(command) = command.filter(|_| !commands.iter().any(|known| known.on == on)) {
                commands.push(Text { command, argv, shell: runs, on, line: node.line });
            }
        }
        commands
    }

    fn env(&self, entry: &Node) -> BTreeMap<String, String> {
        let own = entry.get("env").filter(|_| self.form.host == Host::Copilot).and_then(Node::map).unwrap_or_default();
        own.iter().filter_map(|(key, value)| Some((key.name.clone(), value.text()?.to_owned()))).collect()
    }

    fn limit(&self, event: Option<&str>, entry: &Node, reading: &mut Reading<'_>) -> Option<Limit> {
        let form = self.form;
        let factor = match form.unit {
            Unit::Seconds => 1000.0,
            Unit::Milliseconds => 1.0,
        };
        if let Some(node) = form.limits.iter().find_map(|key| entry.get(key)) {
            if let Value::Number(written) = &node.value
                && let Some(ms) = written.parse::<f64>().ok().and_then(|number| whole(number * factor))
            {
                return Some(Limit { written: written.clone(), unit: form.unit, ms, default: false });
            }
            reading.odd(self.file, node, "a time limit", "a number, not less than 0");
            return None;
        }
        let own = form.defaults.iter().find(|(name, ..)| Some(*name) == event);
        if let Some((_, written, ms)) = own {
            return Some(Limit { written: (*written).to_owned(), unit: form.unit, ms: *ms, default: true });
        }
        let ms = whole(f64::from(form.default?) * factor)?;
        Some(Limit { written: form.default?.to_string(), unit: form.unit, ms, default: true })
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is seen to before")]
fn whole(ms: f64) -> Option<u64> {
    (ms.is_finite() && (0.0..1e15).contains(&ms)).then_some(ms.round() as u64)
}

/// The folder of the plugin that a file belongs to, by where it lies.
pub fn plugin(file: &str) -> Option<String> {
    let place = super::hosts::by_name(file)?;
    super::hosts::lies_anywhere(place).then(|| folder(folder(file)).to_owned())
}
