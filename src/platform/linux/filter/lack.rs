//! Why Windows' rules are not enforced, in words; and what a filter does to programs that gain rights.

use std::io;

/// What an error says that kept the filter from being put on.
pub fn in_words(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EBUSY) => "another listener is in place (EBUSY)".to_owned(),
        Some(libc::EINVAL) if is_gvisor() => "this is gVisor, which has no user notification (EINVAL)".to_owned(),
        Some(libc::EINVAL) => "this kernel has no user notification (EINVAL)".to_owned(),
        Some(libc::ENOSYS) => "this kernel has no user notification (ENOSYS)".to_owned(),
        Some(libc::EACCES | libc::EPERM) => format!("the system forbids it: {error}"),
        _ => error.to_string(),
    }
}

/// Whether this is gVisor, as far as it says so: in the log that a kernel keeps of its start.
pub fn is_gvisor() -> bool {
    /// `SYSLOG_ACTION_READ_ALL`.
    const READ_ALL: libc::c_int = 3;
    let mut log = vec![0u8; 4096];
    let length = libc::c_int::try_from(log.len()).unwrap_or(0);
    // SAFETY: the buffer is as long as is said.
    let read = unsafe { libc::klogctl(READ_ALL, log.as_mut_ptr().cast(), length) };
    log.truncate(usize::try_from(read).unwrap_or(0));
    String::from_utf8_lossy(&log).contains("Starting gVisor")
}

/// Whether no program gains rights that this process starts, whatever hostproof does.
pub fn gains_nothing() -> bool {
    // SAFETY: this option takes integers only.
    unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 }
}

/// Whether the filter of this process takes that away from programs which gain rights: only who has `CAP_SYS_ADMIN` may
/// put one on without.
pub fn takes_rights_away() -> bool {
    const SYS_ADMIN: u64 = 1 << 21;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    !gains_nothing() && effective & SYS_ADMIN == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{WINDOWS_RULES, remedy};

    #[test]
    fn each_reason_that_has_a_remedy_finds_it() {
        for errno in [libc::EBUSY, libc::EINVAL, libc::ENOSYS, libc::EPERM, libc::EACCES] {
            let why = in_words(&io::Error::from_raw_os_error(errno));
            assert!(remedy(WINDOWS_RULES, &why).is_some(), "{why}");
        }
        assert_eq!(remedy(WINDOWS_RULES, &in_words(&io::Error::from_raw_os_error(libc::ENOMEM))), None);
    }
}
