//! What of this machine explains a result.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::path::Path;
use std::sync::OnceLock;

use windows_sys::Wdk::System::SystemServices::RtlGetVersion;
use windows_sys::Win32::Globalization::{GetACP, GetOEMCP, GetUserDefaultLocaleName};
use windows_sys::Win32::Storage::FileSystem::{GetVolumeInformationW, GetVolumePathNameW};
use windows_sys::Win32::System::LibraryLoader::{GetModuleHandleW, GetProcAddress};
use windows_sys::Win32::System::SystemInformation::OSVERSIONINFOEXW;
use windows_sys::Win32::System::Time::{
    DYNAMIC_TIME_ZONE_INFORMATION, GetDynamicTimeZoneInformation, TIME_ZONE_ID_INVALID,
};

use super::super::{case, session};
use super::machine::Machine;
use super::wide::{self, wide};
use super::{table, users};
use crate::env;
use crate::model::{CodePages, HostFacts};

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

/// Reads what can be read without starting a program. `temp` is a folder where sandboxes are made.
#[must_use]
pub fn host_facts(temp: &Path) -> HostFacts {
    let version = version();
    HostFacts {
        os: "windows".to_owned(),
        os_version: version.as_ref().map(name),
        kernel: version.as_ref().map(number),
        arch: std::env::consts::ARCH.to_owned(),
        elevated: users::is_elevated(),
        locale: locale(),
        code_pages: Some(code_pages()),
        time_zone: env::text("TZ").or_else(time_zone),
        temp: temp.display().to_string(),
        temp_filesystem: filesystem(temp),
        temp_case_sensitive: case::is_sensitive(temp),
        container: container(),
        processors: std::thread::available_parallelism().ok().map(|count| count.get() as u64),
        probes: probes(),
        ..session::facts()
    }
}

/// The system's version. Other functions tell of the one that a program says it was made for.
fn version() -> Option<OSVERSIONINFOEXW> {
    let mut version = OSVERSIONINFOEXW {
        dwOSVersionInfoSize: u32::try_from(size_of::<OSVERSIONINFOEXW>()).unwrap_or(0),
        ..OSVERSIONINFOEXW::default()
    };
    // SAFETY: the function takes either structure, and sees by its size which one it is.
    (unsafe { RtlGetVersion((&raw mut version).cast()) } >= 0).then_some(version)
}

fn number(version: &OSVERSIONINFOEXW) -> String {
    format!("{}.{}.{}", version.dwMajorVersion, version.dwMinorVersion, version.dwBuildNumber)
}

/// As people call it. Its number has stayed at 10 since, so the build tells.
fn name(version: &OSVERSIONINFOEXW) -> String {
    const WORKSTATION: u8 = 1;
    const FIRST_11: u32 = 22000;
    let name = match (version.wProductType, version.dwMajorVersion) {
        (WORKSTATION, 10) if version.dwBuildNumber >= FIRST_11 => "Windows 11".to_owned(),
        (WORKSTATION, major) => format!("Windows {major}"),
        _ => "Windows Server".to_owned(),
    };
    let by = wine().map(|version| format!(", as Wine {version} has it")).unwrap_or_default();
    format!("{name} build {}{by}", version.dwBuildNumber)
}

fn locale() -> Option<String> {
    let mut units = [0u16; 85];
    // SAFETY: the buffer has as many units as is said.
    let length = unsafe { GetUserDefaultLocaleName(units.as_mut_ptr(), i32::try_from(units.len()).unwrap_or(0)) };
    (length > 0).then(|| wide::text(&units))
}

fn code_pages() -> CodePages {
    // SAFETY: the functions take nothing.
    unsafe { CodePages { ansi: GetACP(), oem: GetOEMCP() } }
}

fn time_zone() -> Option<String> {
    let mut zone = DYNAMIC_TIME_ZONE_INFORMATION::default();
    // SAFETY: the structure is ours.
    let told = unsafe { GetDynamicTimeZoneInformation(&raw mut zone) };
    (told != TIME_ZONE_ID_INVALID).then(|| wide::text(&zone.TimeZoneKeyName)).filter(|name| !name.is_empty())
}

/// The name of the file system that a folder is on.
fn filesystem(folder: &Path) -> Option<String> {
    let mut volume = vec![0u16; 32 * 1024];
    let mut name = [0u16; 64];
    let room = |units: &[u16]| u32::try_from(units.len()).unwrap_or(0);
    // SAFETY: the texts end with a zero, the buffers have as many units as is said, and what is not wanted is left out.
    let told = unsafe {
        GetVolumePathNameW(wide(folder).as_ptr(), volume.as_mut_ptr(), room(&volume)) != 0
            && GetVolumeInformationW(
                volume.as_ptr(),
                std::ptr::null_mut(),
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                std::ptr::null_mut(),
                name.as_mut_ptr(),
                room(&name),
            ) != 0
    };
    told.then(|| wide::text(&name))
}

/// Whether this is a container of Windows' own kind, by the users that only those have.
fn container() -> Option<String> {
    let user = env::text("USERNAME")?;
    ["ContainerAdministrator", "ContainerUser"].contains(&user.as_str()).then(|| "windows".to_owned())
}

fn probes() -> BTreeMap<String, String> {
    let told = |result: std::io::Result<()>| result.map_or_else(|error| error.to_string(), |()| "ok".to_owned());
    let mut probes = BTreeMap::from([
        ("process tree".to_owned(), told(Machine::now().map(|_| ()))),
        ("holds".to_owned(), told(table::files().map(|_| ()))),
    ]);
    if wine().is_some() {
        let blind = "Wine has no answer: who may not be looked into is not named".to_owned();
        probes.insert("restart manager".to_owned(), blind);
    }
    probes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_facts_that_explain_a_result_are_there() {
        let facts = host_facts(&env::temp());
        assert!(facts.os_version.as_ref().is_some_and(|name| name.starts_with("Windows")), "{facts:?}");
        assert_eq!(facts.os_version.as_ref().map(|name| name.contains("Wine")), Some(wine().is_some()), "{facts:?}");
        assert!(facts.kernel.as_ref().is_some_and(|number| number.split('.').count() == 3), "{facts:?}");
        for fact in [&facts.locale, &facts.time_zone, &facts.temp_filesystem] {
            assert!(fact.as_ref().is_some_and(|fact| !fact.is_empty()), "{facts:?}");
        }
        assert!(facts.elevated.is_some() && facts.code_pages.is_some_and(|pages| pages.ansi > 0), "{facts:?}");
        assert_eq!(facts.probes["holds"], "ok");
    }

    #[test]
    fn a_version_is_called_as_people_call_it() {
        let named = |kind, major, build| {
            let version = OSVERSIONINFOEXW {
                wProductType: kind,
                dwMajorVersion: major,
                dwBuildNumber: build,
                ..OSVERSIONINFOEXW::default()
            };
            name(&version).split(',').next().unwrap_or_default().to_owned()
        };
        assert_eq!(named(1, 10, 19045), "Windows 10 build 19045");
        assert_eq!(named(1, 10, 26100), "Windows 11 build 26100");
        assert_eq!(named(3, 10, 20348), "Windows Server build 20348");
    }
}
