//! Which process it is that a number stands for: by the machine's boot and the process's start.

use super::process;
use super::sys::{self, ProcArgsBuffer};
use crate::model::ProcessRef;

/// This boot of this machine.
#[must_use]
pub fn machine() -> Option<String> {
    sys::text(c"kern.bootsessionuuid")
}

/// When a process started, in microseconds after 1970; `None` if none of that number is alive.
#[must_use]
pub fn started(pid: u32) -> Option<u64> {
    sys::started_us(pid).ok()
}

/// Who started this process, from the nearest upwards.
#[must_use]
pub fn own_parents() -> Vec<ProcessRef> {
    process::ancestors(std::process::id(), &mut ProcArgsBuffer::new())
}
