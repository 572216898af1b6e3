//! Processes that outlived the grace and ended by themselves, since a check declares some that may.

use std::time::Duration;

use crate::model::{Check, Process};
use crate::platform::Outcome;

/// Those of a job; none where its check declares none: then what outlives the grace is ended.
pub struct Lasting<'a> {
    /// Each with how long after the check's end it ended, in microseconds.
    pub processes: Vec<(&'a Process, u64)>,
    /// When the grace was over, in microseconds after the start; `None` if it is the end of everything.
    grace_over_us: Option<u64>,
}

impl<'a> Lasting<'a> {
    /// Of what was seen of a job.
    pub fn of(outcome: &'a Outcome, check: &Check) -> Self {
        let us = |duration: Duration| u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        if check.afterlife().is_zero() {
            return Self { processes: Vec::new(), grace_over_us: None };
        }
        let grace = us(check.grace);
        let ended = outcome.late.iter().filter_map(|late| Some((&late.process, late.ended_us?)));
        Self {
            processes: ended.filter(|(_, ended_us)| *ended_us > grace).collect(),
            grace_over_us: Some(outcome.duration_us.saturating_add(grace)),
        }
    }

    /// Whether that process is one of them.
    pub fn has(&self, process: &Process) -> bool {
        self.processes.iter().any(|(lasting, _)| std::ptr::eq(*lasting, process))
    }

    /// Whether a stream that ended then was open beyond the grace.
    pub fn outlasts(&self, end_us: Option<u64>) -> bool {
        match (end_us, self.grace_over_us) {
            (None, _) => true,
            (Some(end), Some(over)) => end > over,
            (Some(_), None) => false,
        }
    }
}
