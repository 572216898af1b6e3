//! macOS: a supervisor process per lane, libproc, and a kernel queue.
//!
//! The supervisor is this program's own binary, as on Linux. This system gives it no children but its own: an orphan goes
//! to process 1. So the job's processes are known by what ties them to it, which [`super::unix::lineage`] tells, and by
//! the mark in their environment; each is watched with a kernel queue, and whatever it does is answered with a look at
//! the machine ([`family`]).
//!
//! What this can't see, and Linux can:
//!
//! - A process in a session of its own whose parent came and went between two looks, without a mark that can be read: a
//!   look follows each start by a process that is watched, and takes about a millisecond. What holds something of the
//!   sandbox is found even so ([`look`]).
//! - The environment of Apple's own programs, unless System Integrity Protection is off: a mark is no help with these.
//! - Who held what was removed while the check ran and is gone at its end: a queue has no events for what is below a
//!   folder, and the system's own log of such events comes late and without the process.
//! - The name of a directory that was removed and forgotten by the kernel. It is told that there is one.
//! - A unix socket that was bound by a relative path, and file ports, which are descriptors in a message that is under way.
//! - What a process waits on.
//!
//! A process is ended by its number, which is looked up directly before: it could end in between, and the number be used
//! again, which takes the system a hundred thousand starts.
//!
//! macOS 10.15 or later. Type-checked on Linux, tested on a runner.

mod abilities;
mod clock;
mod facts;
mod family;
mod look;
pub mod orphans;
mod owner;
mod precedence;
mod process;
pub mod running;
pub mod signals;
mod spawn;
mod sys;

pub use abilities::abilities;
pub use facts::host_facts;
pub use look::{Watcher, end_stranger, since_start, wait_for_an_end};
pub use owner::{machine, own_parents, started};
pub use precedence::{go_first, stay_on};

pub use super::changes::{cannot_change, give_to_nobody};
pub use super::reads::Reads;
pub use super::unix::lane::{LaneHandle, prepare, start_lane};
pub use super::unix::supervisor::serve;
