//! What could not be looked at in a run, told once for all checks.

use crate::platform::{self, Look, Outcome, Unread};

/// What the looks of a run could not see.
#[derive(Debug, Default)]
pub struct Unseen<'a> {
    /// What could not be looked at at all.
    pub blind: Vec<String>,
    /// Processes of this user that could not be read.
    pub unread: Vec<Unread>,
    /// What could not be looked at in checks: why, in which first, and in how many.
    of_checks: Vec<(String, &'a str, usize)>,
}

impl<'a> Unseen<'a> {
    /// Takes what a look at the machine could not see.
    pub fn take(&mut self, look: &Look) {
        for blind in &look.blind {
            if !self.blind.contains(blind) {
                self.blind.push(blind.clone());
            }
        }
        self.take_unread(&look.unread);
    }

    fn take_unread(&mut self, unread: &[Unread]) {
        let me = platform::user();
        for unread in unread.iter().filter(|unread| !unread.privileged && Some(unread.uid) == me) {
            if !self.unread.iter().any(|known| known.pid == unread.pid) {
                self.unread.push(unread.clone());
            }
        }
    }

    /// What could not be looked at in a check mostly is the machine's doing, and so the same in all: told once.
    pub fn take_of(&mut self, id: &'a str, outcome: &mut Outcome) {
        self.take_unread(&outcome.unread);
        for why in std::mem::take(&mut outcome.blind) {
            match self.of_checks.iter_mut().find(|(known, ..)| *known == why) {
                Some((_, _, checks)) => *checks += 1,
                None => self.of_checks.push((why, id, 1)),
            }
        }
    }

    /// All of it, in words.
    #[must_use]
    pub fn told(mut self) -> Self {
        let of_checks = self.of_checks.iter().map(|(why, id, checks)| match checks {
            1 => format!("{why} (in {id})"),
            2 => format!("{why} (in {id} and another check)"),
            _ => format!("{why} (in {id} and {} more checks)", checks - 1),
        });
        self.blind.extend(of_checks);
        self
    }
}
