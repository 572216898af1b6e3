//! What `sysctl` tells of the system and of processes.

use std::ffi::{CStr, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;

use super::super::super::unix::procargs::ProcArgs;

/// `ARG_MAX` of bsd/sys/syslimits.h: more is refused.
const ARG_MAX: usize = 1024 * 1024;

fn by_name(name: &CStr, buffer: *mut c_void, length: &mut usize) -> io::Result<()> {
    // SAFETY: the callers pass a buffer that is as large as they tell, or none.
    let done = unsafe { libc::sysctlbyname(name.as_ptr(), buffer, length, ptr::null_mut(), 0) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// A value that is text.
pub fn text(name: &CStr) -> Option<String> {
    let mut length = 0;
    by_name(name, ptr::null_mut(), &mut length).ok()?;
    let mut bytes = vec![0u8; length];
    by_name(name, bytes.as_mut_ptr().cast(), &mut length).ok()?;
    let text = bytes.get(..length)?.split(|&byte| byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// A value that is a whole number.
pub fn number(name: &CStr) -> Option<i32> {
    let mut value: c_int = 0;
    let mut length = size_of::<c_int>();
    by_name(name, (&raw mut value).cast(), &mut length).ok()?;
    (length == size_of::<c_int>()).then_some(value)
}

/// When the machine started, in microseconds after 1970.
///
/// It is asked once: the answer moves with every correction of the clock, and what is reckoned from it must not.
pub fn boot_us() -> Option<u64> {
    static BOOT: OnceLock<Option<u64>> = OnceLock::new();
    *BOOT.get_or_init(|| {
        let mut value = MaybeUninit::<libc::timeval>::zeroed();
        let mut length = size_of::<libc::timeval>();
        by_name(c"kern.boottime", value.as_mut_ptr().cast(), &mut length).ok()?;
        // SAFETY: all zero is a value, and so is what the kernel has written over it.
        let value = unsafe { value.assume_init() };
        let seconds = u64::try_from(value.tv_sec).ok()?;
        Some(seconds * 1_000_000 + u64::try_from(value.tv_usec).ok()?)
    })
}

/// Room for what a process was started with, used for one after the other.
pub struct ProcArgsBuffer(Vec<u8>);

impl ProcArgsBuffer {
    /// Allocates it.
    pub fn new() -> Self {
        Self(vec![0; ARG_MAX])
    }

    /// What a process was started with. `None` if it is gone, dead, or another user's: the system has one error for all.
    pub fn read(&mut self, pid: u32) -> Option<ProcArgs<'_>> {
        let mut name = [libc::CTL_KERN, libc::KERN_PROCARGS2, pid.cast_signed()];
        let mut length = self.0.len();
        // SAFETY: name and buffer are as long as is told, and outlive the call.
        let done = unsafe {
            libc::sysctl(name.as_mut_ptr(), 3, self.0.as_mut_ptr().cast(), &raw mut length, ptr::null_mut(), 0)
        };
        if done == 0 { ProcArgs::parse(self.0.get(..length)?) } else { None }
    }
}
