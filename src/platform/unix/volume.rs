//! The file system that a folder is on.

use std::path::Path;

use rustix::fs::{StatVfs, StatVfsMountFlags, statvfs};

/// How large it is, how much of it is free for this user, and whether programs may be started from it.
pub struct Volume {
    pub bytes: u64,
    pub free_bytes: u64,
    pub executable: bool,
}

impl Volume {
    /// That of a folder; `None` if the system does not tell.
    pub fn of(folder: &Path) -> Option<Self> {
        let StatVfs { f_frsize, f_blocks, f_bavail, f_flag, .. } = statvfs(folder).ok()?;
        Some(Self {
            bytes: f_blocks.saturating_mul(f_frsize),
            free_bytes: f_bavail.saturating_mul(f_frsize),
            executable: !f_flag.contains(StatVfsMountFlags::NOEXEC),
        })
    }
}
