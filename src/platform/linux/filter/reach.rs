//! What a caller means by a path: read from its memory, and opened from where it is.

use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
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
        std::fs::read_link(self.link()).ok()
    }

    fn link(&self) -> String {
        format!("/proc/self/fd/{}", self.fd.as_raw_fd())
    }

    /// Whether it is a file with content, which alone is opened as Windows knows it.
    pub fn is_file(&self) -> bool {
        rustix::fs::FileType::from_raw_mode(self.stat.st_mode).is_file()
    }

    /// Whether its owner may not write to it.
    pub fn is_read_only(&self) -> bool {
        self.stat.st_mode & libc::S_IWUSR == 0
    }

    /// Whether it is named as Python's tempfile names files: `tmp` and eight random letters, digits and underscores. In any
    /// case, since its own tests write both in capitals, too.
    pub fn is_named_temporary(&self) -> bool {
        let path = self.path().unwrap_or_default();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.get(..3).is_some_and(|prefix| prefix.eq_ignore_ascii_case("tmp"))
            && name.get(3..11).is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
    }

    /// Whether anybody may have this file open, run it or have it mapped: a lease to write is given only to who is alone
    /// with a file, and goes with the descriptor. Whoever opens the file meanwhile waits for that.
    ///
    /// It is a quick first question: where it can't be asked, the answer is yes. Who watches the file sees it opened.
    pub fn may_be_in_use(&self) -> bool {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(fd) = rustix::fs::open(self.link(), flags, Mode::empty()) else { return true };
        // SAFETY: the argument is an integer.
        unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) != 0 }
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
    let mut path = vec![0; LONGEST];
    let read = read_memory(thread, address, &mut path)?;
    path.truncate(read);
    let end = path.iter().position(|&byte| byte == 0).ok_or(Errno::NAMETOOLONG)?;
    path.truncate(end);
    Ok(path)
}

/// Reads what is there of a thread's memory, at most as much as there is room for.
fn read_memory(thread: u32, address: u64, into: &mut [u8]) -> Result<usize, Errno> {
    const PAGE: usize = 4096;
    let said = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let start = usize::try_from(address).map_err(|_| Errno::FAULT)?;
    // Each piece is read whole or not at all, and what follows a page may not be there.
    let first = into.len().min(PAGE - start % PAGE);
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let piece = |from: usize, to: usize| libc::iovec {
        iov_base: std::ptr::without_provenance_mut(start.wrapping_add(from)),
        iov_len: to - from,
    };
    let remote = [piece(0, first), piece(first, into.len())];
    // SAFETY: the local piece is `into`, which nobody else uses; the others are addresses in another process.
    let read = unsafe { libc::process_vm_readv(thread.cast_signed(), &raw const local, 1, remote.as_ptr(), 2, 0) };
    if let Ok(read) = usize::try_from(read) {
        return Ok(read);
    }
    // Some engines forbid that call, and not this way.
    let memory = File::open(format!("/proc/{thread}/mem")).map_err(said)?;
    memory.read_at(into, address).map_err(said)
}
