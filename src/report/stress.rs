//! What a run loaded the machine with, in a few words.

use super::Look;
use super::terminal::one_line;
use crate::model::{Precedence, Stress};
use crate::words::counted;

/// The line of a run.
#[must_use]
pub fn stress(look: Look, stress: &Stress) -> String {
    let taken = match stress.bursts {
        Precedence::RealTime => ", each taken away from everything else at random times",
        Precedence::Raised => ", each taken away from most else at random times",
        Precedence::Ordinary => "",
    };
    let busy = counted(stress.busy_processors, "processor");
    let disk = stress.written.as_ref().map(|folder| format!(", {folder} written to")).unwrap_or_default();
    let load = format!("under stress: {busy} busy{taken}{disk}");
    let words: Vec<&str> = [load.as_str()].into_iter().chain(stress.lacks.iter().map(String::as_str)).collect();
    look.text(&one_line(&words.join("; ")))
}
