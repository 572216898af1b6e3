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
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::model::Ability;

/// The word that makes this program try what single system calls say, and tell it.
const TELL: &str = "__abilities";

/// Tries everything. Starts a few processes of this program, which have ended when it returns: some 30 ms.
#[must_use]
pub fn abilities() -> Vec<Ability> {
    let mut abilities = trial::abilities();
    let failed = |error: io::Error| vec![Ability::no("system calls", format!("they could not be tried: {error}"))];
    abilities.extend(ask().unwrap_or_else(failed));
    abilities
}

fn ask() -> io::Result<Vec<Ability>> {
    let output = Command::new("/proc/self/exe")
        .arg0("hostproof")
        .arg(TELL)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()?;
    serde_json::from_slice(&output.stdout).map_err(|_| io::Error::other(format!("{}", output.status)))
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
