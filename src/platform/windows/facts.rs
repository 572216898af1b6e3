//! What of this machine explains a result.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::Path;
use std::sync::OnceLock;

use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};

use super::wide::wide;
use crate::env;
use crate::model::HostFacts;

/// Wine's version, if that is what stands for the system. Some of what it tells is made up, or is nothing.
#[must_use]
pub fn wine() -> Option<&'static str> {
    static VERSION: OnceLock<Option<&'static str>> = OnceLock::new();
    *VERSION.get_or_init(|| {
        // SAFETY: the names end with a zero, and this module is in every process.
        let function = unsafe {
            let module = GetModuleHandleW(wide("ntdll.dll").as_ptr());
            GetProcAddress(module, c"wine_get_version".as_ptr().cast())
        }?;
        // SAFETY: Wine documents the function so: it takes nothing, and returns text that stays.
        let version = unsafe {
            let function: extern "C" fn() -> *const std::ffi::c_char = std::mem::transmute(function);
            CStr::from_ptr(function())
        };
        version.to_str().ok()
    })
}

/// What std and the environment tell.
#[must_use]
pub fn host_facts(temp: &Path) -> HostFacts {
    HostFacts {
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        locale: env::locale(),
        time_zone: env::text("TZ"),
        temp: temp.display().to_string(),
        processors: std::thread::available_parallelism().ok().map(|count| count.get() as u64),
        limits: BTreeMap::new(),
        ..HostFacts::default()
    }
}
