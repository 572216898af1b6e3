//! Where shells are that are not on the path.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::ERROR_SUCCESS;
use windows_sys::Win32::System::Registry::{
    HKEY, HKEY_CURRENT_USER, HKEY_LOCAL_MACHINE, RRF_RT_REG_SZ, RRF_SUBKEY_WOW6464KEY, RegGetValueW,
};

use super::spawn::system_folder;
use super::wide::{self, wide};
use crate::env;

/// Whether a file is the `bash` or `sh` by which another system is started, the Windows Subsystem for Linux: it has other
/// files, other programs, and may not be installed at all.
#[must_use]
pub fn is_of_another_system(file: &Path) -> bool {
    let name = file.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let shell = ["bash", "sh"].iter().any(|shell| name.eq_ignore_ascii_case(shell));
    let is = |folder: &Path, name: &str| folder.file_name().is_some_and(|its| its.eq_ignore_ascii_case(name));
    shell
        && file.parent().is_some_and(|folder| {
            ["System32", "SysWOW64", "Sysnative", "WindowsApps"].iter().any(|name| is(folder, name))
        })
}

/// A shell that is not on the path, by its name. `folders` are those of the path.
#[must_use]
pub fn find(name: &str, folders: impl Iterator<Item = PathBuf>) -> Option<PathBuf> {
    let stem = name.to_ascii_lowercase();
    let stem = stem.strip_suffix(".exe").unwrap_or(&stem);
    let candidates: Vec<PathBuf> = match stem {
        "sh" | "bash" => of_git(folders).map(|git| git.join("bin").join(format!("{stem}.exe"))).collect(),
        "pwsh" => program_folders().map(|folder| folder.join(r"PowerShell\7\pwsh.exe")).collect(),
        "powershell" => vec![system_folder().join(r"WindowsPowerShell\v1.0\powershell.exe")],
        "cmd" => vec![system_folder().join("cmd.exe")],
        _ => return None,
    };
    candidates.into_iter().find(|file| file.is_file())
}

/// Where Git for Windows may be, which brings a shell: around a `git` on the path, where its installer says, and where it
/// is put unless somebody says otherwise. Only `Git\cmd` is on the path unless one asks for more.
fn of_git(folders: impl Iterator<Item = PathBuf>) -> impl Iterator<Item = PathBuf> {
    let on_path: Vec<PathBuf> = folders.filter(|folder| folder.join("git.exe").is_file()).collect();
    // `Git\cmd`, `Git\bin` or `Git\mingw64\bin`.
    let around = on_path
        .into_iter()
        .flat_map(|folder| folder.ancestors().skip(1).take(2).map(Path::to_owned).collect::<Vec<_>>());
    let told = [HKEY_CURRENT_USER, HKEY_LOCAL_MACHINE]
        .into_iter()
        .filter_map(|key| registered(key, r"SOFTWARE\GitForWindows", "InstallPath"));
    let usual = program_folders().map(|folder| folder.join("Git"));
    around.chain(told.map(PathBuf::from)).chain(usual)
}

/// Where programs are installed: for all, and for this user.
fn program_folders() -> impl Iterator<Item = PathBuf> {
    let of = |name: &str| env::raw(name).map(PathBuf::from);
    let user = of("LOCALAPPDATA").map(|folder| folder.join("Programs"));
    [of("ProgramW6432"), of("ProgramFiles"), user].into_iter().flatten()
}

/// A text of the registry.
fn registered(root: HKEY, key: &str, value: &str) -> Option<String> {
    let mut units = [0u16; 1024];
    let mut length = u32::try_from(size_of_val(&units)).ok()?;
    // SAFETY: the names end with a zero, and the buffer has as many bytes as is said.
    let told = unsafe {
        RegGetValueW(
            root,
            wide(key).as_ptr(),
            wide(value).as_ptr(),
            RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY,
            std::ptr::null_mut(),
            units.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    (told == ERROR_SUCCESS).then(|| wide::text(&units))
}
