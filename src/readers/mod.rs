//! From a sub-runner's output to cases and frames, one file per sub-runner.
//!
//! A reader is a state machine that is fed lines and keeps only what it counts, so that gigabytes of output cost no
//! memory. `auto` feeds every reader at once and takes the one that recognised the output. What cannot be read is
//! unknown, never guessed.

mod lines;
mod ok_lines;
mod pytest;
mod python_traceback;
mod read;
mod unittest;

pub use lines::{Line, Mark, Source, strip_escapes};
pub use read::{Context, read};

use crate::model::Reading;

/// One sub-runner's form of output.
trait Reader {
    /// Takes one line, in the order in which its stream had it. All of stdout comes before all of stderr.
    fn line(&mut self, line: &Line<'_>);

    /// What the lines said; `None` if the output is not in this reader's form.
    fn finish(self: Box<Self>, context: &Context<'_>) -> Option<Reading>;
}
