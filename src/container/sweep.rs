//! Containers that a run had left behind when something ended it from outside, with the engine's client.

use jiff::Timestamp;

use super::engine::Engine;
use super::outside::START;
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

/// Removes the containers of this user's runs that nobody needs any more; tells how many. Anybody else's is left.
#[must_use]
pub fn sweep(engine: &Engine) -> usize {
    let filter = format!("label={LABEL}");
    let Ok(ids) = engine.ask(&["ps", "--all", "--quiet", "--filter", &filter]) else { return 0 };
    let format = format!("{{{{.State.Running}}}} {{{{json .Created}}}} {{{{index .Config.Labels \"{LABEL}\"}}}}");
    let is_left = |id: &&str| {
        let told = engine.ask(&["inspect", "--type", "container", "--format", &format, id]).ok();
        told.as_deref().and_then(Told::of).is_some_and(|told| told.is_left(Timestamp::now()))
    };
    let left: Vec<&str> = ids.split_whitespace().filter(is_left).collect();
    for id in &left {
        engine.remove(id);
    }
    left.len()
}

/// What an engine tells of a container.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Told {
    runs: bool,
    created: Timestamp,
    owner: Owner,
}

impl Told {
    fn of(text: &str) -> Option<Self> {
        let mut parts = text.trim().splitn(3, ' ');
        let runs = parts.next()? == "true";
        let created = serde_json::from_str::<String>(parts.next()?).ok()?.parse().ok()?;
        Some(Self { runs, created, owner: Owner::of(parts.next()?)? })
    }

    /// Whether nobody needs it any more: its owner is known to be gone; or it does not run, and its owner waited no longer
    /// for it than this. So what a reboot left is found, after which no owner can be told to be gone.
    fn is_left(&self, now: Timestamp) -> bool {
        let age = now.duration_since(self.created).unsigned_abs();
        self.owner.user == user() && (self.owner.is_gone() || (!self.runs && age > START && now > self.created))
    }
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

    /// Whether it is known that it has ended. From another machine, or another boot, nobody can tell, nor where its user is
    /// another one.
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

    #[test]
    fn what_does_not_run_is_left_once_nobody_can_wait_for_it() {
        let created = "2026-11-30T10:00:00.5Z";
        let at: Timestamp = created.parse().expect("a time");
        let told = |runs: bool, owner: &str| Told::of(&format!("{runs} \"{created}\" {owner}\n")).expect("an answer");
        let before = format!("another-boot {} 7 7", user());
        let [soon, later] = [at + START, at + START + std::time::Duration::from_secs(1)];
        assert!(told(false, &before).is_left(later), "a reboot left it");
        assert!(!told(false, &before).is_left(soon), "it may be about to start");
        assert!(!told(true, &before).is_left(later), "it runs for somebody elsewhere");
        assert!(!told(false, "another-boot somebody 7 7").is_left(later), "another user's");
        assert_eq!(Told::of("true <no value>"), None);
    }
}
