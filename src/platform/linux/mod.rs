//! Linux: a supervisor process per lane, and /proc.
//!
//! The supervisor is this program's own binary, executed once per lane with a socket to the harness as its standard
//! input. It has one thread and is a child subreaper whose only children are the current job's processes, so that
//! `waitpid` answering `ECHILD` says exactly that nothing of the job is left. The harness is a subreaper, too: it
//! inherits what is left if a job kills its supervisor.

mod abilities;
mod argv;
mod bystanders;
mod changes;
mod clock;
mod commons;
mod control_group;
mod facts;
mod filter;
mod holders;
mod mapped;
mod mounts;
pub mod orphans;
mod owner;
mod precedence;
mod procfs;
mod publishing;
mod reads;
mod removals;
pub mod running;
mod scan;
pub mod signals;
mod sockets;
mod sought;
mod spawn;
mod streams;
mod terminal;
mod tools;
mod tree;
mod waits;
mod writers;

use std::ffi::OsStr;
use std::io;

use super::unix::supervisor;
use crate::model::Judge;

pub use abilities::abilities;
pub use changes::{cannot_change, give_to_nobody};
pub use facts::host_facts;
pub use holders::{Watcher, end_stranger, since_start, wait_for_an_end};
pub use owner::{machine, own_parents, started};
pub use precedence::{go_first, stay_on};
pub use reads::Reads;

pub use super::unix::lane::{LaneHandle, prepare, start_lane};

/// Does what a word in the place of a subcommand asks for; `None` if it is none of these words. `judge` says what Windows
/// makes of a removal or a rename.
#[must_use]
pub fn serve(word: &OsStr, judge: Judge) -> Option<io::Result<()>> {
    supervisor::serve(word, judge).or_else(|| abilities::serve(word))
}
