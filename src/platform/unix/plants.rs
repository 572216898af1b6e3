//! What can be planted on Unix, and the process that plants.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::fs::{FlockOperation, fcntl_lock};

use super::super::NO_PROCESS;
use super::super::system::orphans::own_program;
use super::lane;
use crate::model::{LockKind, Plant};

/// Why something can't be planted here; `None` if nothing is known to be in the way.
#[must_use]
pub fn cannot_plant(plant: &Plant) -> Option<String> {
    (*plant == Plant::Unreadable && rustix::process::geteuid().is_root())
        .then(|| "root reads every file; let `faults` make the call `open` fail with EACCES".to_owned())
}

/// Puts something where nothing is. What is returned keeps its lock.
///
/// # Errors
///
/// What the system says; `AlreadyExists` if something is there.
pub fn put(path: &Path, plant: &Plant) -> io::Result<Option<File>> {
    let file = |mode| OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path);
    match plant {
        Plant::Fifo => {
            let path = std::ffi::CString::new(path.as_os_str().as_encoded_bytes())?;
            // SAFETY: the path ends with a NUL.
            if unsafe { libc::mkfifo(path.as_ptr(), 0o666) } == 0 { Ok(None) } else { Err(io::Error::last_os_error()) }
        }
        Plant::Symlink(target) => symlink(target.as_deref().unwrap_or_default(), path).map(|()| None),
        Plant::Directory => fs::create_dir(path).map(|()| None),
        Plant::Unreadable => file(0).map(|_| None),
        Plant::DeadPid => file(0o666)?.write_all(NO_PROCESS.as_bytes()).map(|()| None),
        Plant::File(content) => file(0o666)?.write_all(content.as_bytes()).map(|()| None),
        Plant::HeldLock(kind) => {
            let file = file(0o666)?;
            match kind {
                LockKind::Flock => file.try_lock().map_err(io::Error::from)?,
                // This process has it until it closes the file, by whichever of its descriptors.
                LockKind::Fcntl => fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive)?,
            }
            Ok(Some(file))
        }
    }
}

/// What tells a file, or a link itself, from any other that is there at the same time.
///
/// # Errors
///
/// What the system says; `NotFound` if nothing is there.
pub fn identity(path: &Path) -> io::Result<(u64, u64)> {
    fs::symlink_metadata(path).map(|metadata| (metadata.dev(), metadata.ino()))
}

/// Starts this program as another process, which the terminal's Ctrl-C does not reach, with pipes to and from it; to be
/// forgotten when it was waited for.
///
/// # Errors
///
/// What the system says.
pub fn start_helper(word: &str) -> io::Result<Child> {
    let mut command = Command::new(own_program()?);
    command.arg0("hostproof").arg(word).process_group(0);
    lane::start(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()))
}

/// A helper that was waited for is none any longer.
pub fn forget_helper(pid: u32) {
    lane::forget(pid);
}
