//! `reader: {junit: PATH}`: what sub-runners write to JUnit XML files.
//!
//! # What is counted
//!
//! - Each `testcase` is a case, but for one that follows its own pass under the same name and is the error of a
//!   teardown, of which pytest tells so. `failure` and `error` failed; what failed and then passed (`flakyFailure`) passed.
//! - Where a suite's own numbers tell of more failures, or of more cases, than are in it, the failures count and the
//!   cases are unknown: nothing gets greener than the file itself says.
//! - What is missing from a file that ends in the middle, or is no XML any more, is unknown.
//!
//! Files are read as they come, in bounded memory: long texts are shortened before XML is made of them ([`shorten`]).
//! A document type is refused, and with it every entity of one's own.

mod shorten;
mod text;
mod tree;

use std::io::{BufRead, BufReader};

use self::shorten::Shorten;
use self::tree::Tree;
use super::Context;
use super::cases::{CaseList, Frames, Outcomes, clip, note};
use crate::model::Reading;

/// A file to be read.
pub struct JunitFile<'a> {
    /// As notes call it.
    pub name: String,
    pub bytes: Box<dyn BufRead + 'a>,
}

/// What was read of all files.
#[derive(Default)]
struct Seen {
    cases: CaseList,
    frames: Frames,
    notes: Vec<String>,
    outcomes: Outcomes,
    /// Cases that are told of and are not there; `None` where nobody can tell how many.
    missing: Option<u64>,
}

/// Reads JUnit XML files. Nothing is known if there are none.
pub fn junit<'a>(files: impl IntoIterator<Item = JunitFile<'a>>, context: &Context<'_>) -> Reading {
    let mut seen = Seen { missing: Some(0), ..Seen::default() };
    let mut any = false;
    for JunitFile { name, bytes } in files {
        any = true;
        let bytes = BufReader::with_capacity(64 * 1024, Shorten::new(bytes));
        if let Err(why) = Tree::new(&mut seen, context).read(bytes) {
            seen.missing = None;
            note(&mut seen.notes, clip(&format!("{name}: {why}: what it does not have is not known")));
        }
    }
    let Seen { cases, frames, mut notes, outcomes, missing } = seen;
    if !any {
        return Reading { notes, ..Reading::default() };
    }
    let cases = cases.finish(&mut notes);
    let frames = frames.finish(&mut notes);
    let planned = missing.filter(|&missing| missing > 0).map(|missing| outcomes.ran() + missing);
    let counts = outcomes.counts(planned, missing);
    Reading { reader: Some("junit".to_owned()), counts, cases, frames, notes }
}

#[cfg(test)]
mod tests;
