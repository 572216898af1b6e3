//! Stubs on Unix: scripts that run this program.

use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The word that makes this program a stub; behind it stands the script's own name.
const STUB: &str = "__forbidden";

/// Makes a stub for a program. The shell is between, since a first line has no room for every path.
///
/// # Errors
///
/// What the system says.
pub fn make_stub(folder: &Path, program: &str, own: &Path) -> io::Result<()> {
    let stub = folder.join(program);
    let own = own.to_string_lossy().replace('\'', "'\\''");
    fs::write(&stub, format!("#!/bin/sh\nexec '{own}' {STUB} \"$0\" \"$@\"\n"))?;
    fs::set_permissions(&stub, Permissions::from_mode(0o755))
}

/// Lets every user who can get there use a folder of stubs, and write to these files of it.
///
/// # Errors
///
/// What the system says.
pub fn make_open(folder: &Path, files: &[&str]) -> io::Result<()> {
    for file in files {
        fs::set_permissions(folder.join(file), Permissions::from_mode(0o666))?;
    }
    fs::set_permissions(folder, Permissions::from_mode(0o755))
}

/// The stub that this process is, by its arguments, and those of the call; `None` if it is none.
#[must_use]
pub fn stub_of(arguments: Vec<OsString>) -> Option<(PathBuf, Vec<OsString>)> {
    let mut arguments = arguments.into_iter().skip(1);
    if arguments.next()? != STUB {
        return None;
    }
    Some((PathBuf::from(arguments.next()?), arguments.collect()))
}

/// Becomes another program. Returns only if that fails.
///
/// # Errors
///
/// What the system says.
pub fn become_program(command: &mut Command) -> io::Result<u8> {
    Err(command.exec())
}
