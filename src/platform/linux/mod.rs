//! Linux: a supervisor process per lane, and /proc.
//!
//! The supervisor is this program's own binary, executed once per lane with a socket to the harness as its standard
//! input. It has one thread and is a child subreaper whose only children are the current job's processes, so that
//! `waitpid` answering `ECHILD` says exactly that nothing of the job is left. The harness is a subreaper, too: it
//! inherits what is left if a job kills its supervisor.

mod bystanders;
mod capture;
mod clock;
mod facts;
mod filter;
mod holders;
mod lane;
mod lane_folder;
mod mapped;
mod mounts;
mod procfs;
mod publishing;
mod removals;
mod running;
mod scan;
mod signals;
mod sockets;
mod sought;
mod spawn;
mod supervisor;
mod tree;
mod waits;
mod wire;

pub use facts::host_facts;
pub use holders::{Watcher, end_stranger, since_start, wait_for_an_end};
pub use lane::{LaneHandle, prepare, start_lane};
pub use supervisor::serve;
