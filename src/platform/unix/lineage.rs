//! Which of a machine's processes descend from a job's first one, on a system that keeps no such tree: there an orphan
//! belongs to process 1, and nothing is left of whoever started it.
//!
//! Four things tie a process to the job, and each alone is enough:
//!
//! - its number that is never used again, once it was seen to belong;
//! - that number of its parent, which it keeps as an orphan until it executes a program: it then gets that of process 1;
//! - its parent's version when it was started, which it keeps for good; a version changes whenever a program is executed;
//! - the session that the first process leads.
//!
//! So what is missed is a process in a session of its own whose parent came and went between two looks.

use std::collections::HashSet;

/// A process as one look saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub pid: u32,
    /// A number that no other process has while the machine runs. A child's is larger than its parent's.
    pub id: u64,
    /// That number of its parent.
    pub parent_id: u64,
    /// Its version; 0 where the system does not tell.
    pub version: u32,
    /// Its parent's version when it was started; 0 where the system does not tell.
    pub parent_version: u32,
    /// The process that leads its session; `None` if it is dead.
    pub session: Option<u32>,
}

/// What is known of a job's processes, those that are gone included.
#[derive(Debug)]
pub struct Lineage {
    ids: HashSet<u64>,
    versions: HashSet<u32>,
    session: Option<u32>,
    /// Every descendant has a larger number.
    first: u64,
}

impl Lineage {
    /// Of a job by its first process, which leads a session.
    pub fn of(first: &Seen) -> Self {
        let mut lineage = Self::below(first);
        lineage.session = Some(first.pid);
        lineage
    }

    /// Of everything that a process has started, whatever session it is in.
    pub fn below(parent: &Seen) -> Self {
        let mut lineage = Self { ids: HashSet::new(), versions: HashSet::new(), session: None, first: parent.id };
        lineage.adopt(parent);
        lineage
    }

    /// Takes in a process that is known to belong by other means.
    pub fn adopt(&mut self, seen: &Seen) {
        self.ids.insert(seen.id);
        if seen.version != 0 {
            self.versions.insert(seen.version);
        }
    }

    /// Whether a process could belong, and is not known to.
    pub fn may_have(&self, seen: &Seen) -> bool {
        seen.id > self.first && !self.ids.contains(&seen.id)
    }

    /// Takes in what one look has seen of the machine, in any order. Gives those that belong, the oldest first.
    pub fn take(&mut self, look: &[Seen]) -> Vec<Seen> {
        let mut look: Vec<Seen> = look.iter().filter(|seen| seen.id >= self.first).copied().collect();
        // Parents before their children, so that one pass is enough.
        look.sort_by_key(|seen| seen.id);
        look.retain(|seen| {
            let belongs = self.ids.contains(&seen.id)
                || self.ids.contains(&seen.parent_id)
                || self.versions.contains(&seen.parent_version)
                || (seen.session.is_some() && seen.session == self.session);
            if belongs {
                self.adopt(seen);
            }
            belongs
        });
        look
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Versions are ten times the numbers; nobody is in the first one's session.
    fn seen(id: u64, parent_id: u64) -> Seen {
        let version = |id: u64| u32::try_from(id * 10).expect("a small number");
        Seen {
            pid: u32::try_from(1000 + id).expect("a small number"),
            id,
            parent_id,
            version: version(id),
            parent_version: version(parent_id),
            session: Some(1),
        }
    }

    const LAUNCHD: u64 = 1;

    /// What a process becomes that executes a program when its parent is gone.
    fn executed(seen: Seen) -> Seen {
        Seen { parent_id: LAUNCHD, version: seen.version + 1, ..seen }
    }

    fn ids(seen: &[Seen]) -> Vec<u64> {
        seen.iter().map(|seen| seen.id).collect()
    }

    #[test]
    fn descendants_are_found_in_any_order_and_nobody_else_is() {
        let mut lineage = Lineage::of(&seen(10, 5));
        let look = [seen(14, 13), seen(13, 10), seen(5, LAUNCHD), seen(10, 5), seen(12, 5), seen(11, 9)];
        assert_eq!(ids(&lineage.take(&look)), [10, 13, 14]);
    }

    #[test]
    fn an_orphan_is_known_by_its_parent_that_was_seen() {
        let mut lineage = Lineage::of(&seen(10, 5));
        assert_eq!(ids(&lineage.take(&[seen(10, 5), seen(11, 10)])), [10, 11]);
        assert_eq!(ids(&lineage.take(&[seen(12, 11)])), [12], "number 11 is gone, and so is 10");
    }

    #[test]
    fn an_orphan_that_executes_a_program_is_known_by_its_parents_version() {
        let mut lineage = Lineage::of(&seen(10, 5));
        lineage.take(&[seen(11, 10)]);
        let orphan = executed(seen(12, 11));
        assert_eq!(ids(&lineage.take(&[orphan])), [12]);
        let stranger = executed(seen(13, 7));
        assert_eq!(ids(&lineage.take(&[orphan, stranger])), [12]);
    }

    #[test]
    fn who_was_seen_once_stays_known_whatever_it_executes() {
        let mut lineage = Lineage::of(&seen(10, 5));
        lineage.take(&[seen(11, 10)]);
        let again = Seen { parent_version: 7, ..executed(seen(11, 10)) };
        assert_eq!(ids(&lineage.take(&[again])), [11]);
    }

    #[test]
    fn a_session_is_the_jobs_own_and_the_dead_have_none() {
        let first = seen(10, 5);
        let mut lineage = Lineage::of(&first);
        let mate = Seen { session: Some(first.pid), ..executed(seen(12, 7)) };
        let dead = Seen { session: None, ..executed(seen(13, 7)) };
        assert_eq!(ids(&lineage.take(&[mate, dead])), [12]);
        let mut below = Lineage::below(&seen(5, LAUNCHD));
        assert_eq!(ids(&below.take(&[dead])), [0u64; 0]);
    }

    #[test]
    fn a_version_that_is_not_told_ties_nobody() {
        let untold = |seen: Seen| Seen { version: 0, parent_version: 0, ..seen };
        let mut lineage = Lineage::of(&untold(seen(10, 5)));
        assert_eq!(ids(&lineage.take(&[untold(seen(11, LAUNCHD)), untold(seen(12, 10))])), [12]);
    }

    #[test]
    fn only_the_younger_ones_may_be_adopted() {
        let mut lineage = Lineage::of(&seen(10, 5));
        assert!(lineage.may_have(&seen(12, 7)) && !lineage.may_have(&seen(9, 7)));
        lineage.adopt(&seen(12, 7));
        assert!(!lineage.may_have(&seen(12, 7)));
        assert_eq!(ids(&lineage.take(&[seen(13, 12)])), [13]);
    }
}
