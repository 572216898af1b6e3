//! macOS.

mod abilities;
mod facts;
mod lane;
mod look;
mod serve;

pub use abilities::abilities;
pub use facts::host_facts;
pub use lane::{LaneHandle, prepare, start_lane};
pub use look::{Watcher, end_stranger, since_start, wait_for_an_end};
pub use serve::serve;
