//! The command that lists a check's cases, run before the check.

use super::life::{Life, Ready};
use super::slot::Slot;
use super::{output, records};
use crate::model::{CaseCount, Check, Finding, Listing};
use crate::platform::{LaneError, Outcome};
use crate::readers::{self, Listed};
use crate::words::command_line;

/// What came of a listing.
#[derive(Debug, Default)]
pub struct Told {
    /// `None` if the check has no listing.
    pub listed: Option<Listed>,
    /// The processes that it left alive.
    pub left: Vec<Finding>,
    /// What could not be looked at meanwhile.
    pub blind: Vec<String>,
    /// Something happened in the sandbox.
    pub touched: bool,
}

/// Why a check's cases could not be listed.
#[derive(Debug)]
pub enum Unlisted {
    /// A sentence, and the processes that were left alive.
    Why(String, Vec<Finding>),
    /// The supervisor was lost.
    Lost(LaneError),
}

/// The command that lists the check's cases, if one does.
pub fn of(check: &Check) -> Option<&Listing> {
    match &check.expect.cases {
        Some(CaseCount::Listed(listing)) => Some(listing),
        _ => None,
    }
}

impl Life<'_> {
    /// Lists the check's cases, in its sandbox and with its environment, folder and time limit.
    pub fn list(check: &Check, ready: &Ready, slot: &mut Slot<'_>) -> Result<Told, Unlisted> {
        let (Some(listing), Some(job)) = (of(check), &ready.listing) else { return Ok(Told::default()) };
        let outcome = slot.run(job).map_err(Unlisted::Lost)?;
        let what = format!("listing the cases: {}", command_line(&listing.argv));
        let left: Vec<Finding> = records::left_alive(&what, &outcome).collect();
        match listed(listing, &outcome) {
            Ok(listed) => Ok(Told { listed: Some(listed), left, blind: outcome.blind, touched: !outcome.untouched }),
            Err(why) => Err(Unlisted::Why(format!("{what}: {why}"), left)),
        }
    }
}

fn listed(listing: &Listing, outcome: &Outcome) -> Result<Listed, String> {
    if let Some(problem) = records::problem(outcome) {
        return Err(problem);
    }
    if !outcome.survivors.is_empty() {
        return Err("a process of it could not be ended".to_owned());
    }
    if let Some(why) = &outcome.stdout.lost {
        return Err(format!("its output was lost: {why}"));
    }
    let bytes = output::open(&outcome.stdout).map_err(|error| error.to_string())?;
    let listed = readers::listing(&listing.form, bytes).map_err(|error| error.to_string())?;
    listed.map_err(|why| format!("{why}{}", records::last_line(outcome)))
}
