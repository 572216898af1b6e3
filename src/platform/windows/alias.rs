//! App Execution Aliases: files without content in a user's folder `WindowsApps`, by which programs of the Store are
//! started. Windows comes with some for programs that are not installed: they open the Store, and run nothing.
//!
//! What they lead to was read off such files; Microsoft documents no more than their tag.

use std::fs::OpenOptions;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::{
    FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_READ_ATTRIBUTES,
};
use windows_sys::Win32::System::IO::DeviceIoControl;

/// `IO_REPARSE_TAG_APPEXECLINK`.
const ALIAS: u32 = 0x8000_001b;
/// `FSCTL_GET_REPARSE_POINT`.
const GET: u32 = 0x0009_00a8;
/// `MAXIMUM_REPARSE_DATA_BUFFER_SIZE`.
const MOST: usize = 16 * 1024;
/// What stands behind an alias for a program that is not installed.
const TO_THE_STORE: &str = "AppInstallerPythonRedirector.exe";

/// What a file in the place of a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alias {
    /// It starts a program.
    OfProgram,
    /// It only opens the Store.
    OfStore,
}

/// Whether a file is an alias, and for what.
#[must_use]
pub fn of(file: &Path) -> Option<Alias> {
    let file = OpenOptions::new()
        .access_mode(FILE_READ_ATTRIBUTES)
        .custom_flags(FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS)
        .open(file)
        .ok()?;
    let mut data = vec![0u8; MOST];
    let mut length = 0;
    // SAFETY: the handle is open, and the buffer has as many bytes as is said.
    let told = unsafe {
        DeviceIoControl(
            file.as_raw_handle(),
            GET,
            std::ptr::null(),
            0,
            data.as_mut_ptr().cast(),
            u32::try_from(data.len()).unwrap_or(0),
            &raw mut length,
            std::ptr::null_mut(),
        )
    };
    if told == 0 {
        return None;
    }
    alias(data.get(..length as usize)?)
}

/// A tag, two lengths and a version come first; then the package, its entry, and the program's file, each with a zero.
fn alias(data: &[u8]) -> Option<Alias> {
    let tag = u32::from_le_bytes(data.get(..4)?.try_into().ok()?);
    if tag != ALIAS {
        return None;
    }
    let units: Vec<u16> = data.get(12..)?.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect();
    let target = String::from_utf16_lossy(units.split(|&unit| unit == 0).nth(2)?);
    Some(if target.to_ascii_lowercase().ends_with(&TO_THE_STORE.to_ascii_lowercase()) {
        Alias::OfStore
    } else {
        Alias::OfProgram
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(target: &str) -> Vec<u8> {
        let text = format!("Package_8wekyb3d8bbwe\0Package_8wekyb3d8bbwe!App\0{target}\00\0");
        let head = [&ALIAS.to_le_bytes()[..], &[0; 4], &3u32.to_le_bytes()].concat();
        head.into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
    }

    #[test]
    fn an_alias_that_only_opens_the_store_is_told_from_one_of_a_program() {
        let folder = r"C:\Program Files\WindowsApps\Package_1_x64__8wekyb3d8bbwe";
        assert_eq!(alias(&data(&format!(r"{folder}\AppInstallerPythonRedirector.exe"))), Some(Alias::OfStore));
        assert_eq!(alias(&data(&format!(r"{folder}\python3.11.exe"))), Some(Alias::OfProgram));
        let mut junction = data("");
        junction[..4].copy_from_slice(&0xA000_0003u32.to_le_bytes());
        assert_eq!(alias(&junction), None);
        assert_eq!(alias(&[]), None);
        assert_eq!(of(Path::new(".")), None);
    }
}
