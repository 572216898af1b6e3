//! The clock that processes are said to have started by.

/// `CLOCK_BOOTTIME` in milliseconds: the clock that process start times are told in.
pub fn boot_ms() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    now.tv_sec.unsigned_abs() * 1000 + now.tv_nsec.unsigned_abs() / 1_000_000
}

/// The same at the last clock tick: when a process that starts now is said to have started.
pub fn boot_tick_ms() -> u64 {
    let tick = (1000 / ticks_per_second()).max(1);
    boot_ms() / tick * tick
}

/// How many ticks of that clock a second has.
pub fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second().max(1)
}
