//! Containers that a run had left behind when something ended it from outside, with the engine's client.

use super::engine::Engine;
use crate::platform;

/// The label that says whose a container is.
pub const LABEL: &str = "hostproof.owner";

/// What this process writes into it; `None` where it can't tell itself from others.
#[must_use]
pub fn owner() -> Option<String> {
    let pid = std::process::id();
    let owner = Owner { machine: platform::machine()?, user: user(), pid, started: platform::started(pid)? };
    Some(owner.text())
}

/// Removes the containers of runs on this machine, by this user, whose processes are gone; tells how many. Anybody else's
/// is left: from here nobody can tell whether its owner is alive.
#[must_use]
pub fn sweep(engine: &Engine) -> usize {
    let filter = format!("label={LABEL}");
    let Ok(ids) = engine.ask(&["ps", "--all", "--quiet", "--filter", &filter]) else { return 0 };
    let format = format!("{{{{index .Config.Labels \"{LABEL}\"}}}}");
    let is_left = |id: &&str| {
        let label = engine.ask(&["inspect", "--format", &format, id]).ok();
        label.as_deref().and_then(|label| Owner::of(label.trim())).is_some_and(|owner| owner.is_gone())
    };
    let left: Vec<&str> = ids.split_whitespace().filter(is_left).collect();
    for id in &left {
        engine.remove(id);
    }
    left.len()
}

/// A process, by what no other one ever has.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Owner {
    machine: String,
    user: String,
    pid: u32,
    started: u64,
}

impl Owner {
    fn of(label: &str) -> Option<Self> {
        let words: Vec<&str> = label.split(' ').collect();
        let [machine, user, pid, started] = words[..] else { return None };
        let (machine, user) = (machine.to_owned(), user.to_owned());
        Some(Self { machine, user, pid: pid.parse().ok()?, started: started.parse().ok()? })
    }

    fn text(&self) -> String {
        format!("{} {} {} {}", self.machine, self.user, self.pid, self.started)
    }

    /// Whether it is known that it has ended.
    fn is_gone(&self) -> bool {
        platform::machine().is_some_and(|machine| machine == self.machine)
            && self.user == user()
            && platform::started(self.pid) != Some(self.started)
    }
}

/// Processes of others may be hidden from this user.
fn user() -> String {
    platform::user().map_or_else(|| "-".to_owned(), |user| user.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_be_gone_is_swept() {
        let own = Owner::of(&owner().expect("this process can be told")).expect("a label of our own");
        assert!(!own.is_gone(), "this process is alive");
        assert!(Owner { started: own.started + 1, ..own.clone() }.is_gone(), "another one has its number");
        assert!(!Owner { machine: "elsewhere".into(), started: 1, ..own.clone() }.is_gone());
        assert!(!Owner { user: "another".into(), started: 1, ..own }.is_gone());
        assert_eq!(Owner::of("what others write"), None);
    }
}
