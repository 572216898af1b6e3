//! The clock that processes are said to have started by: time since the machine's start.

use std::time::{SystemTime, UNIX_EPOCH};

use super::sys;

/// Milliseconds after the machine's start; 0 if that is not known.
///
/// The kernel notes the time of day at a process's start, and nothing else. So a process that started before the clock was
/// set seems to have started at another time than it did.
pub fn boot_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).map_or(0, after_boot_ms)
}

/// When a process started, in the same. `None` if it is gone or another user's.
pub fn started_ms(pid: u32) -> Option<i64> {
    sys::started_us(pid).ok().map(|started| after_boot_ms(started).cast_signed())
}

fn after_boot_ms(us: u64) -> u64 {
    us.saturating_sub(sys::boot_us().unwrap_or(us)) / 1000
}
