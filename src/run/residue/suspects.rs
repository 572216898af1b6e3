//! Which check a change is from: pure, from when each ran and when the change came about.

use std::time::{Duration, SystemTime};

/// By how much a file system's clock may be behind this program's: files get the time of the last tick.
pub const TICK: Duration = Duration::from_millis(10);

/// Something of a run that may change files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Activity {
    /// The check's place in the plan; `None` for a setup, which may change what it wants.
    pub check: Option<usize>,
    pub started: SystemTime,
    /// `None` while it goes on.
    pub ended: Option<SystemTime>,
}

/// Whose change it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// This check's.
    Check(usize),
    /// That of one of these checks, or of a setup beside them.
    OneOf(Vec<usize>),
    /// Nothing of the run was going on, or a setup alone.
    Nobodys,
}

/// Whose a change is that came about at that time, if it is known, and after `since`.
#[must_use]
pub fn whose(activities: &[Activity], at: Option<SystemTime>, since: SystemTime) -> Whose {
    let activities: Vec<&Activity> =
        activities.iter().filter(|activity| activity.ended.is_none_or(|ended| ended > since)).collect();
    let covers = |activity: &Activity, at: SystemTime| {
        activity.started <= at + TICK && activity.ended.is_none_or(|ended| at <= ended)
    };
    let mut suspects: Vec<&Activity> = match at {
        Some(at) => activities.iter().copied().filter(|activity| covers(activity, at)).collect(),
        None => Vec::new(),
    };
    // A file can be given any time: then whoever ran since the last look may have done it.
    if suspects.is_empty() {
        suspects = activities;
    }
    let checks: Vec<usize> = suspects.iter().filter_map(|activity| activity.check).collect();
    match checks[..] {
        [] => Whose::Nobodys,
        [check] if suspects.len() == 1 => Whose::Check(check),
        _ => Whose::OneOf(checks),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_millis(ms)
    }

    fn ran(check: usize, started: u64, ended: Option<u64>) -> Activity {
        Activity { check: Some(check), started: at(started), ended: ended.map(at) }
    }

    #[test]
    fn a_change_is_of_the_one_check_that_ran_then() {
        let one_after_the_other = [ran(0, 100, Some(200)), ran(1, 250, Some(300))];
        for (ms, expected) in [(150, Whose::Check(0)), (280, Whose::Check(1)), (245, Whose::Check(1))] {
            assert_eq!(whose(&one_after_the_other, Some(at(ms)), SystemTime::UNIX_EPOCH), expected, "{ms}");
        }
        let at_once = [ran(0, 100, Some(200)), ran(1, 150, None)];
        assert_eq!(whose(&at_once, Some(at(120)), SystemTime::UNIX_EPOCH), Whose::Check(0));
        assert_eq!(whose(&at_once, Some(at(170)), SystemTime::UNIX_EPOCH), Whose::OneOf(vec![0, 1]));
        assert_eq!(whose(&at_once, Some(at(900)), SystemTime::UNIX_EPOCH), Whose::Check(1));
        assert_eq!(whose(&at_once, Some(at(170)), at(200)), Whose::Check(1), "the first was over by the last look");
    }

    #[test]
    fn a_time_that_cannot_be_leaves_all_under_suspicion_and_a_setup_may_do_what_it_wants() {
        let both = [ran(0, 100, Some(200)), ran(1, 250, Some(300))];
        assert_eq!(whose(&both, Some(at(5)), SystemTime::UNIX_EPOCH), Whose::OneOf(vec![0, 1]));
        assert_eq!(whose(&both[..1], None, SystemTime::UNIX_EPOCH), Whose::Check(0));
        let setup = Activity { check: None, ..ran(0, 100, Some(300)) };
        assert_eq!(whose(std::slice::from_ref(&setup), Some(at(150)), SystemTime::UNIX_EPOCH), Whose::Nobodys);
        assert_eq!(whose(&[setup, both[0].clone()], Some(at(150)), SystemTime::UNIX_EPOCH), Whose::OneOf(vec![0]));
        assert_eq!(whose(&[], Some(at(150)), SystemTime::UNIX_EPOCH), Whose::Nobodys);
    }
}
