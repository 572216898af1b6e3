//! The other lives of this program.

use std::ffi::OsStr;
use std::io;

use super::{asker, janitor};
use crate::model::Judge;

/// Does what a word in the place of a subcommand asks for; `None` if it is none of these words.
#[must_use]
pub fn serve(word: &OsStr, _judge: Judge) -> Option<io::Result<()>> {
    if word == asker::ASK {
        return Some(asker::serve(&std::env::args_os().skip(2).collect::<Vec<_>>()));
    }
    (word == janitor::CLEAN).then(janitor::clean)
}
