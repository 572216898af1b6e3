//! Runs side by side: what is the same, what is not, and which facts explain it. Pure: reports in, a comparison out.
//!
//! [`parse`] makes a [`Side`] of a file's bytes, [`compare`] sets sides beside each other. On the way: `known` finds the
//! checks of a run by their ids, `rows` puts those of all runs into rows, `names`, `ends` and `cases` find the same case
//! under different names, `facts` lists what differs between the machines, `clues` and `rank` say how well each fact explains a failure, `noise` tells slow from noisy, and
//! [`news`] tells new failures from old ones.
//!
//! # Invariants
//!
//! - **Unknown is not equal**: what a run does not tell is never counted as the same, nor as different.
//! - **Skipped is not green**: nor is missing. Both differ from green and from red.
//! - **A fact that can't explain is not first**: with three runs or more, facts that part the green from the rest come
//!   before those that don't.

mod baseline;
mod cases;
mod clues;
mod ends;
mod facts;
mod known;
mod label;
mod names;
mod noise;
mod parse;
mod rank;
mod rows;
mod spoken;
mod together;

#[cfg(test)]
mod tests;

pub use baseline::{News, news};
pub use label::label;
pub use parse::{Document, Side, parse};
pub use together::compare;
