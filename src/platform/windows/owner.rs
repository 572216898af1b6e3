//! Which process it is that a number stands for: by the machine and the process's start.

use windows_sys::Win32::System::Threading::{PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE};

use super::{known, process};
use crate::env;
use crate::model::ProcessRef;

/// This machine. A start is told in absolute time, so that a boot needs no name.
#[must_use]
pub fn machine() -> Option<String> {
    env::text("COMPUTERNAME")
}

/// When a process started, in the system's time; `None` if none of that number is alive.
#[must_use]
pub fn started(pid: u32) -> Option<u64> {
    let process = process::open(pid, PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE).ok()?;
    known::times(&process).filter(|_| !process::has_ended(&process)).map(|times| times.created)
}

/// Who started this process: not looked for, since a parent's number may be another's by now.
#[must_use]
pub fn own_parents() -> Vec<ProcessRef> {
    Vec::new()
}
