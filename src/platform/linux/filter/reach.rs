//! What a caller means by a path: read from its memory, and opened from where it is.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::program::Place;

/// What a path leads to. The last name is not followed if it is a link, as by the calls that remove and rename.
pub struct Reached {
    fd: OwnedFd,
    pub stat: Stat,
}

impl Reached {
    /// Its name, in this process's view.
    pub fn path(&self) -> Option<PathBuf> {
        use std::os::fd::AsRawFd;
        std::fs::read_link(format!("/proc/self/fd/{}", self.fd.as_raw_fd())).ok()
    }

    pub fn is_directory(&self) -> bool {
        rustix::fs::FileType::from_raw_mode(self.stat.st_mode).is_dir()
    }

    pub fn is(&self, other: &Stat) -> bool {
        (self.stat.st_dev, self.stat.st_ino) == (other.st_dev, other.st_ino)
    }
}

/// Opens what a thread means by a place. `Ok(None)` if nothing is there, or it may not go there itself.
///
/// # Errors
///
/// What can't be read of the thread.
pub fn reach(thread: u32, place: Place) -> Result<Option<Reached>, Errno> {
    let mut path = read_path(thread, place.path)?;
    // The calls take the name of a directory with slashes behind it, too.
    while path.len() > 1 && path.ends_with(b"/") {
        path.pop();
    }
    if path.is_empty() {
        return Ok(None);
    }
    let absolute = path.starts_with(b"/");
    let from = match place.folder {
        _ if absolute => format!("/proc/{thread}/root"),
        libc::AT_FDCWD => format!("/proc/{thread}/cwd"),
        // A descriptor of the thread's own table, which threads share unless they said otherwise.
        fd => format!("/proc/{thread}/fd/{fd}"),
    };
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let from = match rustix::fs::open(from, flags | OFlags::DIRECTORY, Mode::empty()) {
        Ok(from) => from,
        // It is about to fail by itself.
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(error) => return Err(error),
    };
    // A thread may have another root than this process; then its absolute paths begin there.
    let resolve = if absolute { ResolveFlags::IN_ROOT } else { ResolveFlags::empty() };
    let fd = match rustix::fs::openat2(&from, &*path, flags | OFlags::NOFOLLOW, Mode::empty(), resolve) {
        Ok(fd) => fd,
        // Not there before Linux 5.6, and forbidden by some engines.
        Err(Errno::NOSYS) => return Err(Errno::NOSYS),
        Err(_) => return Ok(None),
    };
    let stat = rustix::fs::fstat(&fd)?;
    Ok(Some(Reached { fd, stat }))
}

/// Reads a path that ends with a zero.
pub fn read_path(thread: u32, address: u64) -> Result<Vec<u8>, Errno> {
    const LONGEST: usize = 4096;
    let said = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let memory = File::open(format!("/proc/{thread}/mem")).map_err(said)?;
    let mut path = vec![0; LONGEST];
    // Less than that may be readable; what is not there is no part of the path.
    let read = memory.read_at(&mut path, address).map_err(said)?;
    path.truncate(read);
    let end = path.iter().position(|&byte| byte == 0).ok_or(Errno::NAMETOOLONG)?;
    path.truncate(end);
    Ok(path)
}
