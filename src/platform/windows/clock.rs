//! The clock that processes are said to have started by.
//!
//! Windows tells when a process was created in the system's time: units of 100 ns since 1601, which somebody may set
//! anew. Start times are told in milliseconds after the machine's start, so both are turned into that by one moment, which
//! each process of this program fixes once: what it tells can be compared, whatever happens to the system's time.

use std::sync::LazyLock;
use std::time::Duration;

use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::SystemInformation::{GetSystemTimePreciseAsFileTime, GetTickCount64};

/// How many units of the system's time a millisecond has.
const PER_MS: u64 = 10_000;

/// The machine's start, in the system's time.
static START: LazyLock<u64> = LazyLock::new(|| {
    // SAFETY: the function takes nothing.
    let running = unsafe { GetTickCount64() };
    now().saturating_sub(running * PER_MS)
});

/// The system's time as one number.
#[must_use]
pub fn number(time: FILETIME) -> u64 {
    u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime)
}

/// The system's time now, in units of 100 ns since 1601: the unit of a process's creation time.
#[must_use]
pub fn now() -> u64 {
    let mut time = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    // SAFETY: the call only writes the value that it is given.
    unsafe { GetSystemTimePreciseAsFileTime(&raw mut time) };
    number(time)
}

/// A moment of the system's time, as a process's creation, in milliseconds after the machine's start.
#[must_use]
pub fn boot_ms(time: u64) -> u64 {
    time.saturating_sub(*START) / PER_MS
}

/// The time since the machine started, by the clock that start times are told in.
#[must_use]
pub fn since_start() -> Option<Duration> {
    Some(Duration::from_millis(boot_ms(now())))
}
