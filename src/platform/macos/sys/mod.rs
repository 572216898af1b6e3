//! The calls that need `unsafe`, made safe: libproc, sysctl, kqueue, `posix_spawn`. What a call means is told where it is
//! wrapped, with the place in Apple's sources (github.com/apple-oss-distributions/xnu, xnu-11417.101.15) that says so.

mod calls;
mod layout;
mod mounts;
mod proc;
mod queue;
mod spawn;
mod sysctl;

pub use calls::{block_signals, case_sensitive, close_all_but};
pub use layout::Vnode;
pub use mounts::mounts;
pub use proc::{
    Kind, Status, bound_to, descriptors, folders, is_running, mapped, open_file, pids, pipe, program, seen, started_us,
    thread_folders,
};
pub use queue::{drain, queue, wait, watch, watch_children, watch_end};
pub use spawn::{Start, start_suspended};
pub use sysctl::{ProcArgsBuffer, boot_us, number, text};
