//! The end of a process, as an event like any other.

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::ptr;
use std::sync::Arc;

use windows_sys::Win32::Foundation::{HANDLE, INVALID_HANDLE_VALUE};
use windows_sys::Win32::System::Threading::{
    INFINITE, RegisterWaitForSingleObject, UnregisterWaitEx, WT_EXECUTEINWAITTHREAD, WT_EXECUTEONLYONCE,
};

use super::port::Port;

/// Has the end of a process told to a port.
pub struct Ending {
    wait: HANDLE,
    context: *mut (Arc<Port>, usize),
}

// SAFETY: what it points to can be used by any thread, and is used by one at a time.
unsafe impl Send for Ending {}

impl Ending {
    /// Of that process, under that key.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn of(process: &OwnedHandle, port: &Arc<Port>, key: usize) -> io::Result<Self> {
        let context = Box::into_raw(Box::new((Arc::clone(port), key)));
        let mut wait = ptr::null_mut();
        // SAFETY: the process's handle is open until the wait is taken back, and so is what the callback is given.
        let registered = unsafe {
            RegisterWaitForSingleObject(
                &raw mut wait,
                process.as_raw_handle(),
                Some(tell),
                context.cast(),
                INFINITE,
                WT_EXECUTEINWAITTHREAD | WT_EXECUTEONLYONCE,
            )
        };
        if registered == 0 {
            let error = io::Error::last_os_error();
            // SAFETY: it was just made, and nobody else has it.
            drop(unsafe { Box::from_raw(context) });
            return Err(error);
        }
        Ok(Self { wait, context })
    }
}

/// Runs on a thread of the system's.
unsafe extern "system" fn tell(context: *mut c_void, _timed_out: bool) {
    // SAFETY: it is what `Ending::of` gave, which is there until the wait is taken back.
    let (port, key) = unsafe { &*context.cast::<(Arc<Port>, usize)>() };
    port.post(*key);
}

impl Drop for Ending {
    fn drop(&mut self) {
        // SAFETY: the wait was registered; the call returns when no callback runs any more, so that nobody uses the
        // context after it.
        unsafe {
            UnregisterWaitEx(self.wait, INVALID_HANDLE_VALUE);
            drop(Box::from_raw(self.context));
        }
    }
}
