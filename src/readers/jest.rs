//! Jest and vitest, which have much in common but the form of their output: the reading says which of them it was.
//!
//! # What is counted
//!
//! - What the tally at the end says, summed over several runs. What is to do (`todo`) is skipped: it has no body.
//! - A file or a suite that failed before its cases is one more failed case, named like it: neither runner counts it,
//!   and it is red.
//! - Cases that the tally has in its total and in no other number never ran: `unknown`. So is at least one case where
//!   whole files never ran, and where the run ended without its tally; then what was seen before counts.
//! - Errors outside of any case (`Errors 2 errors`) are a note, and their frames are shown.

mod classic;
mod run;
mod vitest;

use self::classic::Classic;
use self::vitest::Vitest;
use super::{Context, Line, Reader, Recognised};

pub struct Jest<'a> {
    classic: Classic<'a>,
    vitest: Vitest<'a>,
}

impl<'a> Jest<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self { classic: Classic::new(context), vitest: Vitest::new(context) }
    }
}

impl Reader for Jest<'_> {
    fn line(&mut self, line: &Line<'_>) {
        self.classic.line(line);
        self.vitest.line(line);
    }

    fn finish(self: Box<Self>) -> Option<Recognised> {
        match (self.classic.finish(), self.vitest.finish()) {
            (Some(jest), Some(vitest)) if vitest.strength > jest.strength => Some(vitest),
            (Some(jest), Some(vitest)) if vitest.strength == jest.strength => {
                Some(super::choose::together(jest, vitest))
            }
            (Some(jest), _) => Some(jest),
            (None, vitest) => vitest,
        }
    }
}
