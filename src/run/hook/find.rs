//! From the name of a hook to what is wired.

use crate::model::{HookRef, Host, Shell, Unread, Wiring, WiringFaultKind};
use crate::wirings::Wirings;
use crate::words::first_of;

/// How many candidates a sentence names.
const NAMED: usize = 8;

/// What a check's hook is.
#[derive(Debug)]
pub struct Found {
    /// Never empty; all of one host and one event.
    pub wirings: Vec<Wiring>,
}

impl Found {
    /// Whose hook it is.
    pub fn host(&self) -> Host {
        self.wirings[0].host
    }

    /// The host's name for the occasion, the first of several; empty where there is none.
    pub fn event(&self) -> &str {
        let event = self.wirings[0].event.as_deref().unwrap_or_default();
        if is_manager(self.host()) { event.split(", ").next().unwrap_or_default() } else { event }
    }
}

/// Whether a host is a manager of git's hooks, with commands in a file of its own.
pub fn is_manager(host: Host) -> bool {
    matches!(host, Host::Lefthook | Host::PreCommit | Host::Prek)
}

/// Finds what the reference names among what is wired.
///
/// # Errors
///
/// A sentence that says what is wrong, with what there is instead.
pub fn find(reference: &HookRef, read: &Wirings) -> Result<Found, String> {
    let file = reference.file.trim_start_matches("./");
    let of_file: Vec<&Wiring> = read.wirings.iter().filter(|wiring| wiring.file == file).collect();
    let found: Vec<Wiring> = of_file.iter().filter(|wiring| reference.is_for(wiring)).map(|&one| one.clone()).collect();
    let Some(first) = found.first() else {
        return Err(format!("hook: {}", nothing(reference, &of_file, &read.unread, &read.wirings)));
    };
    let managed = |wiring: &&Wiring| wiring.commands.iter().any(|command| command.shell == Shell::Managed);
    if let Some(wiring) = found.iter().find(managed) {
        let (name, place, id) = (wiring.host.name(), wiring.place(), wiring.name.as_deref().unwrap_or("ID"));
        return Err(format!(
            "hook: {name} makes the environment of {place} itself: check it with `run: [{name}, run, {id}]`"
        ));
    }
    if found.iter().any(|wiring| (wiring.host, &wiring.event) != (first.host, &first.event)) {
        let all: Vec<&Wiring> = found.iter().collect();
        let help = "say which with `event`, `matcher` or `name`";
        return Err(format!("hook: {} is for several occasions: {}; {help}", reference.words(), candidates(&all)));
    }
    let off = |wiring: &Wiring| wiring.faults.iter().find(|fault| fault.kind == WiringFaultKind::Disabled).cloned();
    if let Some(fault) = found.iter().find_map(off) {
        return Err(format!("hook: {}: {}", first.place(), fault.message));
    }
    Ok(Found { wirings: found })
}

/// Why nothing was found.
fn nothing(reference: &HookRef, of_file: &[&Wiring], unread: &[Unread], all: &[Wiring]) -> String {
    let file = &reference.file;
    if let Some(unread) = unread.iter().find(|unread| unread.file == file.trim_start_matches("./")) {
        let line = unread.line.map(|line| format!(":{line}")).unwrap_or_default();
        return format!("{file}{line} could not be read: {}; {}", unread.message, unread.remedy);
    }
    if !of_file.is_empty() {
        return format!("nothing is wired for {}; there is {}", reference.words(), candidates(of_file));
    }
    let mut files: Vec<&str> = all.iter().map(|wiring| wiring.file.as_str()).collect();
    files.dedup();
    if files.is_empty() {
        return format!("{file} wires nothing, and neither does any other file here");
    }
    files.truncate(NAMED);
    format!("{file} wires nothing, or is not there; these do: {}", files.join(", "))
}

fn candidates(wirings: &[&Wiring]) -> String {
    let mut words: Vec<String> = Vec::new();
    for wiring in wirings {
        let name = wiring.name.as_deref().filter(|_| wiring.host != Host::SessionReceiver);
        let name = name.map(|name| format!(" named {name:?}")).unwrap_or_default();
        let line = wiring.line.map(|line| format!(" (line {line})")).unwrap_or_default();
        words.push(format!("{}{name}{line}", wiring.occasion()));
    }
    first_of(&words, NAMED)
}
