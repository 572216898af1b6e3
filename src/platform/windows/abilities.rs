//! What can be seen and done here, found by trying.

use std::os::windows::io::AsRawHandle;
use std::os::windows::process::CommandExt;
use std::process::{Command, Stdio};
use std::ptr::{null, null_mut};

use windows_sys::Win32::Foundation::CloseHandle;
use windows_sys::Win32::System::JobObjects::{
    AssignProcessToJobObject, CreateJobObjectW, IsProcessInJob, TerminateJobObject,
};
use windows_sys::Win32::System::Threading::{CREATE_NO_WINDOW, CREATE_SUSPENDED, GetCurrentProcess};

use super::super::{places, temporary};
use super::{lane, restart, table, users};

use crate::model::Ability;

/// Tries everything. Starts one process, which never runs.
#[must_use]
pub fn abilities() -> Vec<Ability> {
    let base = places::sandbox_base();
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
    let name = "the handle table";
    match table::files() {
        Ok(_) => Ability::yes(name, "it can be read: who has a file or a directory is found by it"),
        Err(error) => Ability::no(name, format!("it can't be read: {error}")),
    }
}

fn restart_manager() -> Ability {
    let name = "the Restart Manager";
    match restart::takes_questions() {
        Ok(()) => Ability::yes(name, "it takes questions about files; of directories it knows nothing"),
        Err(error) => Ability::partly(name, format!("it takes no question: {error}")),
    }
}

/// Whether this process has an administrator's rights.
fn elevated() -> Ability {
    let name = "other users' processes";
    let run = "run it as an administrator for `hostproof who` to see them";
    match users::is_elevated() {
        Some(true) => Ability::yes(name, "hostproof is elevated: but for protected ones they can be looked into"),
        Some(false) => Ability::partly(name, "hostproof is not elevated: those can't be looked into").helped_by(run),
        None => Ability::partly(name, "whether hostproof is elevated is not told"),
    }
}
