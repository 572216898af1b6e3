//! What a process waits on.

use std::fs;

/// What a process waits on, read from the system call that it is in. Best effort: `None` if it is not in one, or if the
/// kernel does not tell.
pub fn waiting_on(pid: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/syscall")).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let call: libc::c_long = fields.next()?.parse().ok()?;
    let first = u64::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok()?;
    let descriptor = || {
        let target = fs::read_link(format!("/proc/{pid}/fd/{first}"));
        let target = target.map_or_else(|_| "?".to_owned(), |target| target.to_string_lossy().into_owned());
        match first {
            0 => format!("stdin ({target})"),
            1 => format!("stdout ({target})"),
            2 => format!("stderr ({target})"),
            _ => format!("descriptor {first} ({target})"),
        }
    };
    Some(match call {
        libc::SYS_read | libc::SYS_readv => format!("to read {}", descriptor()),
        libc::SYS_write | libc::SYS_writev => format!("to write {}", descriptor()),
        libc::SYS_wait4 | libc::SYS_waitid => "for a child to end".to_owned(),
        libc::SYS_futex => "for a lock or a thread (futex)".to_owned(),
        libc::SYS_nanosleep | libc::SYS_clock_nanosleep => "for time to pass (sleep)".to_owned(),
        libc::SYS_ppoll | libc::SYS_pselect6 | libc::SYS_epoll_pwait => "for events (poll)".to_owned(),
        libc::SYS_flock => format!("for a lock on {}", descriptor()),
        libc::SYS_fcntl => format!("in fcntl on {}", descriptor()),
        libc::SYS_accept | libc::SYS_accept4 => "for a connection".to_owned(),
        libc::SYS_connect => "to connect".to_owned(),
        libc::SYS_recvfrom | libc::SYS_recvmsg => format!("to receive from {}", descriptor()),
        libc::SYS_openat => "to open a file".to_owned(),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_open => "to open a file".to_owned(),
        #[cfg(target_arch = "x86_64")]
        libc::SYS_poll | libc::SYS_select | libc::SYS_epoll_wait | libc::SYS_pause => "for events (poll)".to_owned(),
        _ => {
            let wchan = fs::read_to_string(format!("/proc/{pid}/wchan")).ok()?;
            if wchan.is_empty() || wchan == "0" {
                return None;
            }
            format!("in the kernel's {wchan}")
        }
    })
}
