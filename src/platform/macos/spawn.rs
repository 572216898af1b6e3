//! Starting a job's first process: in a session of its own, with default signals, nothing inherited but its streams; and
//! stopped, so that it can be watched before it does anything.

use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{Access, AtFlags, CWD, accessat};

use super::super::{Job, StartError};
use super::sys::{Start, start_suspended};

/// Starts the job's program; it runs when it gets SIGCONT. The descriptors must all be above 2.
///
/// # Errors
///
/// Why it could not be started.
pub fn spawn(job: &Job, streams: [BorrowedFd<'_>; 3]) -> Result<u32, StartError> {
    let failed = |action: &str, file: &Path, error: &io::Error| StartError {
        action: action.to_owned(),
        file: file.to_string_lossy().into_owned(),
        errno: error.raw_os_error().unwrap_or(libc::EINVAL),
    };
    let text = |value: &OsStr| {
        let nul = |_| failed("pass a NUL byte to", &job.program, &io::Error::from_raw_os_error(libc::EINVAL));
        CString::new(value.as_bytes()).map_err(nul)
    };
    // A relative program is one below the directory that is entered.
    let program = text(job.cwd.join(&job.program).as_os_str())?;
    let argv: Vec<CString> = job.argv.iter().map(|argument| text(argument)).collect::<Result<_, _>>()?;
    let mut env = Vec::with_capacity(job.env.len());
    for (name, value) in &job.env {
        let mut variable = name.clone();
        variable.push("=");
        variable.push(value);
        env.push(text(&variable)?);
    }
    let cwd = text(job.cwd.as_os_str())?;
    let start = Start { program: &program, argv: &argv, env: &env, cwd: &cwd, streams };
    let started = match start_suspended(&start) {
        // What execvp does with a script that has no shebang.
        Err(error) if error.raw_os_error() == Some(libc::ENOEXEC) => {
            let shell = [c"/bin/sh".to_owned(), program.clone()];
            let argv: Vec<CString> = shell.into_iter().chain(argv.iter().skip(1).cloned()).collect();
            start_suspended(&Start { program: c"/bin/sh", argv: &argv, ..start })
        }
        started => started,
    };
    started.map_err(|error| match accessat(CWD, &job.cwd, Access::EXEC_OK, AtFlags::EACCESS) {
        Err(no_entry) => failed("enter", &job.cwd, &no_entry.into()),
        Ok(()) if !job.cwd.is_dir() => failed("enter", &job.cwd, &io::Error::from_raw_os_error(libc::ENOTDIR)),
        Ok(()) => failed("run", &job.program, &error),
    })
}
