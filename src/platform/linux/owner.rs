//! Which process it is that a number stands for: by the machine's boot, its process namespace, and the process's start.

use std::fs;

use super::procfs;
use crate::model::ProcessRef;

/// This boot of this machine, and the namespace in which a process has its number here.
#[must_use]
pub fn machine() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{}/{}", boot.trim(), namespace.display()))
}

/// When a process started, in clock ticks after the boot; `None` if none of that number is alive.
#[must_use]
pub fn started(pid: u32) -> Option<u64> {
    procfs::stat(pid).ok().filter(|stat| stat.state != 'Z').map(|stat| stat.start)
}

/// Who started this process, from the nearest upwards.
#[must_use]
pub fn own_parents() -> Vec<ProcessRef> {
    procfs::ancestors(std::process::id())
}
