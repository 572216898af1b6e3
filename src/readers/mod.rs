//! From a sub-runner's output to cases and frames, one file per sub-runner.
//!
//! A reader is a state machine that is fed lines and keeps only what it counts, so that gigabytes of output cost no
//! memory. `auto` feeds every reader at once and takes the one that recognised the output (`choose.rs`). What cannot be
//! read is unknown, never guessed.
//!
//! # Invariants
//!
//! - **Never greener**: where the output leaves a choice, the one with fewer passed cases is taken, and a note says so.
//! - **Sums hold**: where all are known, `ran = passed + failed + skipped`, and `planned = ran + unknown`.
//! - **Bounded**: lists and texts have limits (`cases.rs`); numbers go on beyond them.

mod bats;
mod cargo_test;
mod cases;
mod choose;
mod frames;
mod go_test;
mod jest;
mod junit;
mod lines;
mod lines_of_own;
mod listing;
mod nextest;
mod node_test;
mod ok_lines;
mod own_code;
mod pytest;
mod read;
mod reader;
mod tap;
mod unittest;

#[cfg(test)]
mod tests;

pub use junit::{JunitFile, junit};
pub use lines::{Arrival, Line, Source};
pub use listing::{Listed, listing};
pub use read::{Context, read};

use reader::{Reader, Recognised, Span, Strength};
