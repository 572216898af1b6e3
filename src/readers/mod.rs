//! From a sub-runner's output to cases and frames, one file per sub-runner.
//!
//! A reader is a state machine that is fed lines and keeps only what it counts, so that gigabytes of output cost no
//! memory. `auto` feeds every reader at once and takes the one that recognised the output ([`choose`]). What cannot be
//! read is unknown, never guessed.
//!
//! # Invariants
//!
//! - **Never greener**: where the output leaves a choice, the one with fewer passed cases is taken, and a note says so.
//! - **Sums hold**: where all are known, `ran = passed + failed + skipped`, and `planned = ran + unknown`.
//! - **Bounded**: lists and texts have limits (`cases.rs`); numbers go on beyond them.

mod bats;
mod cases;
mod choose;
mod frames;
mod lines;
mod ok_lines;
mod own_code;
mod pytest;
mod read;
mod reader;
mod tap;
mod unittest;

#[cfg(test)]
mod tests;

pub use lines::{Arrival, Line, Source};
pub use read::{Context, read};

use reader::{Reader, Recognised, Span, Strength};
