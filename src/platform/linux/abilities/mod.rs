//! What can be seen and done here, found by trying.
//!
//! - [`trial`]: a job for a supervisor that does what checks do wrong. What a run would see is what is seen of it.
//! - [`facts`]: single system calls, tried in a process of its own, since some can't be taken back.
//! - [`foreign`]: programs of the processor's other numberings.

mod facts;
mod foreign;
mod trial;

use std::ffi::OsStr;
use std::io;

use crate::model::Ability;

/// The word that makes this program try what single system calls say, and tell it.
const TELL: &str = "__abilities";

/// Tries everything. Starts a few processes of this program, which have ended when it returns: some 30 ms. It may go on
/// beside a run: a supervisor of its own starts them.
#[must_use]
pub fn abilities() -> Vec<Ability> {
    trial::abilities()
}

/// Does what a word in the place of a subcommand asks for; `None` if it is none of these words.
pub fn serve(word: &OsStr) -> Option<io::Result<()>> {
    match word.to_str()? {
        TELL => Some(facts::tell()),
        trial::ACT => Some(trial::act()),
        trial::STAY => Some(trial::stay()),
        _ => None,
    }
}
