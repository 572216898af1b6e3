//! What can be seen and done here, found by trying.

use std::os::windows::io::AsRawHandle;
use std::os::windows::process::CommandExt;
use std::process::{Command, Stdio};
use std::ptr::{null, null_mut};

use windows_sys::Wdk::System::SystemInformation::{NtQuerySystemInformation, SYSTEM_INFORMATION_CLASS};
use windows_sys::Win32::Foundation::{CloseHandle, HANDLE, STATUS_INFO_LENGTH_MISMATCH};
use windows_sys::Win32::Security::{GetTokenInformation, TOKEN_ELEVATION, TOKEN_QUERY, TokenElevation};
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, IsProcessInJob, TerminateJobObject,
};
use windows_sys::Win32::System::RestartManager::{CCH_RM_SESSION_KEY, RmEndSession, RmStartSession};
use windows_sys::Win32::System::Threading::{CREATE_NO_WINDOW, CREATE_SUSPENDED, GetCurrentProcess, OpenProcessToken};

use super::super::temporary;
use super::lane;
use crate::env;
use crate::model::Ability;

/// Tries everything. Starts one process, which never runs.
#[must_use]
pub fn abilities() -> Vec<Ability> {
    let base = env::sandbox_base();
    vec![supervisor(), jobs(), handles(), restart_manager(), elevated(), temporary::ability(&base, None, None)]
}

fn supervisor() -> Ability {
    match lane::prepare().and_then(|()| lane::start_lane()) {
        Ok(_) => Ability::yes("a supervisor", "it can be started").essential(),
        Err(error) => Ability::no("a supervisor", error.to_string()).essential(),
    }
}

fn last_error() -> String {
    std::io::Error::last_os_error().to_string()
}

/// A job in the job that this process may be in: before Windows 8 there was no such thing.
fn jobs() -> Ability {
    let name = "jobs";
    // What is started suspended has run nothing when it ends with the job.
    let child = Command::new("cmd.exe")
        .creation_flags(CREATE_SUSPENDED | CREATE_NO_WINDOW)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Ability::no(name, format!("nothing could be started for it: {error}")).essential(),
    };
    let mut inside = 0;
    // SAFETY: the handles are this process's own and live until they are closed below; the job has no name.
    let (assigned, why) = unsafe {
        IsProcessInJob(GetCurrentProcess(), null_mut(), &raw mut inside);
        let job = CreateJobObjectW(null(), null());
        let assigned = !job.is_null() && AssignProcessToJobObject(job, child.as_raw_handle()) != 0;
        let why = last_error();
        TerminateJobObject(job, 1);
        CloseHandle(job);
        (assigned, why)
    };
    // One that is in no job is left.
    let _ = child.kill();
    let _ = child.wait();
    if !assigned {
        return Ability::no(name, format!("a process can't be put into one: {why}")).essential();
    }
    let nested = if inside != 0 { "inside of the one that hostproof is in" } else { "hostproof itself is in none" };
    Ability::yes(name, format!("a process is put into one before it runs, and ended with it; {nested}")).essential()
}

/// The table of all handles, by which holders are found.
fn handles() -> Ability {
    /// `SystemExtendedHandleInformation`.
    const HANDLES: SYSTEM_INFORMATION_CLASS = 64;
    let mut entries = [0usize; 8];
    let mut length = 0;
    let size = u32::try_from(size_of_val(&entries)).unwrap_or(0);
    // SAFETY: the buffer is as long as is said, and aligned for the words that are written.
    let status = unsafe { NtQuerySystemInformation(HANDLES, entries.as_mut_ptr().cast(), size, &raw mut length) };
    // The table is longer than that; that it says so is the answer.
    if status >= 0 || status == STATUS_INFO_LENGTH_MISMATCH {
        Ability::yes("the handle table", "it can be read: who has a file or a directory is found by it")
    } else {
        Ability::no("the handle table", format!("it can't be read: NTSTATUS {:#x}", status.cast_unsigned()))
    }
}

fn restart_manager() -> Ability {
    let name = "the Restart Manager";
    let mut session = 0;
    let mut key = [0u16; CCH_RM_SESSION_KEY as usize + 1];
    // SAFETY: the key has the length that the function wants; the session is ended if it began.
    let error = unsafe {
        let error = RmStartSession(&raw mut session, 0, key.as_mut_ptr());
        if error == 0 {
            RmEndSession(session);
        }
        error
    };
    match error {
        0 => Ability::yes(name, "it takes questions about files; of directories it knows nothing"),
        error => Ability::partly(
            name,
            format!("it takes no question: {}", std::io::Error::from_raw_os_error(error.cast_signed())),
        ),
    }
}

/// Whether this process has an administrator's rights.
fn elevated() -> Ability {
    let name = "other users' processes";
    let mut token: HANDLE = null_mut();
    let mut elevation = TOKEN_ELEVATION { TokenIsElevated: 0 };
    let size = u32::try_from(size_of_val(&elevation)).unwrap_or(0);
    let mut length = 0;
    // SAFETY: the token is closed if it was opened, and what is filled in is as long as is said.
    let told = unsafe {
        let told = OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) != 0
            && GetTokenInformation(token, TokenElevation, (&raw mut elevation).cast(), size, &raw mut length) != 0;
        if !token.is_null() {
            CloseHandle(token);
        }
        told
    };
    let run = "run it as an administrator for `hostproof who` to see them";
    match (told, elevation.TokenIsElevated) {
        (true, 0) => Ability::partly(name, "hostproof is not elevated: those can't be looked into").helped_by(run),
        (true, _) => Ability::yes(name, "hostproof is elevated: but for protected ones they can be looked into"),
        (false, _) => Ability::partly(name, format!("whether hostproof is elevated is not told: {}", last_error())),
    }
}
