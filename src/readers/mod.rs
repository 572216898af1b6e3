//! From a sub-runner's output to cases and frames, one file per sub-runner.
//!
//! A reader is a state machine that is fed lines and keeps only what it counts, so that gigabytes of output cost no
//! memory. `auto` feeds every reader at once and takes the one that recognised the output. What cannot be read is
//! unknown, never guessed.
//!
//! # Invariants
//!
//! - **Never greener**: where the output leaves a choice, the one with fewer passed cases is taken, and a note says so.
//! - **Sums hold**: where all are known, `ran = passed + failed + skipped`, and `planned = ran + unknown`.
//! - **Bounded**: lists and texts have limits (`cases.rs`); numbers go on beyond them.

mod cases;
mod lines;
mod ok_lines;
mod own_code;
mod pytest;
mod python_traceback;
mod read;
mod unittest;

#[cfg(test)]
mod tests;

pub use lines::{Arrival, Line, Source};
pub use read::{Context, read};

use crate::model::Reading;

/// One sub-runner's form of output.
trait Reader {
    /// Takes one line, in the order in which its stream had it. All of stdout comes before all of stderr.
    fn line(&mut self, line: &Line<'_>);

    /// What the lines said; `None` if the output is not in this reader's form.
    fn finish(self: Box<Self>) -> Option<Recognised>;
}

/// How surely a reader knows that the output is its own, from the least to the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Strength {
    /// A form that other programs print, too (a line of dots).
    Loose,
    /// Lines of single cases, without the tally that ends a complete run.
    Lines,
    /// The sub-runner's own tally.
    Tally,
}

/// A reading, and how surely it is one.
#[derive(Debug)]
struct Recognised {
    strength: Strength,
    reading: Reading,
}
