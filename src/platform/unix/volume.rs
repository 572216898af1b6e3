//! The file system that a folder is on.

use std::path::Path;

use rustix::fs::{StatVfs, statvfs};

/// How large it is, how much of it is free for this user, and whether programs may be started from it.
pub struct Volume {
    pub bytes: u64,
    pub free_bytes: u64,
    /// `None` where the system does not tell: macOS's `statvfs` has no such flag.
    pub executable: Option<bool>,
}

impl Volume {
    /// That of a folder; `None` if the system does not tell.
    pub fn of(folder: &Path) -> Option<Self> {
        let told = statvfs(folder).ok()?;
        let StatVfs { f_frsize, f_blocks, f_bavail, .. } = told;
        Some(Self {
            bytes: f_blocks.saturating_mul(f_frsize),
            free_bytes: f_bavail.saturating_mul(f_frsize),
            #[cfg(target_os = "linux")]
            executable: Some(!told.f_flag.contains(rustix::fs::StatVfsMountFlags::NOEXEC)),
            #[cfg(not(target_os = "linux"))]
            executable: None,
        })
    }
}
