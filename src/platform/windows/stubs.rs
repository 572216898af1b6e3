//! Stubs on Windows: this program by another name, in a folder that says what it is.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::stub::LIST;

/// Makes a stub for a program.
///
/// # Errors
///
/// What the system says.
pub fn make_stub(folder: &Path, program: &str, own: &Path) -> io::Result<()> {
    let stub = folder.join(format!("{program}.exe"));
    // A link costs nothing, and leads to no other drive.
    fs::hard_link(own, &stub).or_else(|_| fs::copy(own, &stub).map(|_| ()))
}

/// Nothing: the check has this user.
///
/// # Errors
///
/// Never.
pub fn make_open(_folder: &Path, _files: &[&str]) -> io::Result<()> {
    Ok(())
}

/// The stub that this process is, by where its file is, and the arguments of the call; `None` if it is none.
#[must_use]
pub fn stub_of(arguments: Vec<OsString>) -> Option<(PathBuf, Vec<OsString>)> {
    let file = std::env::current_exe().ok()?;
    file.parent()?.join(LIST).is_file().then(|| (file, arguments.into_iter().skip(1).collect()))
}

/// Runs another program in this one's place. A status that is none of a Unix is 255.
///
/// # Errors
///
/// What the system says.
pub fn become_program(command: &mut Command) -> io::Result<u8> {
    let code = command.status()?.code().unwrap_or(255);
    Ok(u8::try_from(code).unwrap_or(255))
}
