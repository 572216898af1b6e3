//! What a caller means by a path: read from its memory, and opened from where it is.

use std::cell::OnceCell;
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rustix::fs::{Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::program::Place;

/// The longest path that the kernel takes, with its zero.
const LONGEST: usize = 4096;

/// What a path leads to. The last name is not followed if it is a link, as by the calls that remove and rename.
pub struct Reached {
    /// By which name this process gets there.
    way: Vec<u8>,
    /// It itself, opened when it is first needed; `None` inside if it is gone by then.
    fd: OnceCell<Option<OwnedFd>>,
    pub stat: Stat,
}

impl Reached {
    /// Its name, in this process's view.
    pub fn path(&self) -> Option<PathBuf> {
        let pin = || {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = rustix::fs::open(&*self.way, flags, Mode::empty()).ok()?;
            rustix::fs::fstat(&fd).is_ok_and(|stat| self.is(&stat)).then_some(fd)
        };
        std::fs::read_link(link(self.fd.get_or_init(pin).as_ref()?)).ok()
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
        let opened = match self.fd.get() {
            Some(Some(fd)) => rustix::fs::open(link(fd), flags, Mode::empty()),
            _ => rustix::fs::open(&*self.way, flags | OFlags::NOFOLLOW, Mode::empty()),
        };
        let Ok(fd) = opened else { return true };
        // By that name there may be another one by now.
        if !rustix::fs::fstat(&fd).is_ok_and(|stat| self.is(&stat)) {
            return true;
        }
        // SAFETY: the argument is an integer.
        unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) != 0 }
    }

    pub fn is_directory(&self) -> bool {
        rustix::fs::FileType::from_raw_mode(self.stat.st_mode).is_dir()
    }

    /// Whether nothing is in the directory, as far as can be seen.
    pub fn is_empty(&self) -> bool {
        let folder = self.path().and_then(|path| std::fs::read_dir(path).ok());
        folder.is_some_and(|mut entries| entries.next().is_none())
    }

    pub fn is(&self, other: &Stat) -> bool {
        (self.stat.st_dev, self.stat.st_ino) == (other.st_dev, other.st_ino)
    }
}

/// By which name this process gets to what it has open.
fn link(fd: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", fd.as_raw_fd())
}

/// Finds what a thread means by a place. `Ok(None)` if nothing is there, or it may not go there itself.
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
    // A thread may have another root than this process; then its absolute paths begin there, with those of links on the
    // way. All others are found in one step.
    if !absolute && from.len() + path.len() + 2 <= LONGEST {
        let way = [from.as_bytes(), b"/", &*path].concat();
        match rustix::fs::lstat(&*way) {
            Ok(stat) => return Ok(Some(Reached { way, fd: OnceCell::new(), stat })),
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            // It is the thread that can't be looked into, or it is the way.
            Err(_) => {}
        }
    }
    walk(&from, &path, absolute)
}

/// Finds what a path leads to, from a folder on; one that is absolute has its root there.
fn walk(from: &str, path: &[u8], absolute: bool) -> Result<Option<Reached>, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let from = match rustix::fs::open(from, flags | OFlags::DIRECTORY, Mode::empty()) {
        Ok(from) => from,
        // It is about to fail by itself.
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(error) => return Err(error),
    };
    let resolve = if absolute { ResolveFlags::IN_ROOT } else { ResolveFlags::empty() };
    let fd = match rustix::fs::openat2(&from, path, flags | OFlags::NOFOLLOW, Mode::empty(), resolve) {
        Ok(fd) => fd,
        // Not there before Linux 5.6, and forbidden by some engines.
        Err(Errno::NOSYS) => return Err(Errno::NOSYS),
        Err(_) => return Ok(None),
    };
    let stat = rustix::fs::fstat(&fd)?;
    let way = link(&fd).into_bytes();
    Ok(Some(Reached { way, fd: OnceCell::from(Some(fd)), stat }))
}

/// Reads a path that ends with a zero.
pub fn read_path(thread: u32, address: u64) -> Result<Vec<u8>, Errno> {
    let mut path = vec![0; LONGEST];
    let read = read_memory(thread, address, &mut path)?;
    path.truncate(read);
    let end = path.iter().position(|&byte| byte == 0).ok_or(Errno::NAMETOOLONG)?;
    path.truncate(end);
    Ok(path)
}

/// Reads a list of texts that ends with an address of zero; of many only the first, and of a long one its beginning.
pub fn read_words(thread: u32, address: u64, wide: bool) -> Result<Vec<String>, Errno> {
    const MOST: u64 = 64;
    let size: usize = if wide { 8 } else { 4 };
    let mut words = Vec::new();
    for index in 0..MOST {
        let mut bytes = [0; 8];
        let at = address.wrapping_add(index * size as u64);
        if read_memory(thread, at, &mut bytes[..size])? < size {
            break;
        }
        let word = u64::from_le_bytes(bytes);
        if word == 0 {
            break;
        }
        let mut text = vec![0; LONGEST];
        let read = read_memory(thread, word, &mut text)?;
        text.truncate(read);
        let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
        words.push(String::from_utf8_lossy(&text[..end]).into_owned());
    }
    Ok(words)
}

/// Reads what is there of a thread's memory, at most as much as there is room for.
///
/// # Errors
///
/// If it can't be read.
pub fn read_memory(thread: u32, address: u64, into: &mut [u8]) -> Result<usize, Errno> {
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

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::*;

    /// What this process means by a path.
    fn meant(folder: i32, path: &Path) -> Option<Reached> {
        let path = CString::new(path.as_os_str().as_bytes()).expect("a path");
        let thread = std::process::id();
        reach(thread, Place { folder, path: path.as_ptr().addr() as u64 }).expect("this process")
    }

    #[test]
    fn a_path_leads_where_the_call_would_go() {
        let root = tempfile::tempdir().expect("a folder");
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("a/b")).expect("folders");
        std::os::unix::fs::symlink("a", at("link")).expect("a link");
        let folder = fs::File::open(root.path()).expect("the folder");
        let real = fs::canonicalize(at("a/b")).expect("a path");
        let long = format!("{}a/b", "a/../".repeat(810));
        for name in ["a/b", "a/b//", "link/b", "a/../link/b", "./a/b", &long] {
            for (from, path) in [(folder.as_raw_fd(), Path::new(name).to_owned()), (libc::AT_FDCWD, at(name))] {
                let Some(reached) = meant(from, &path) else {
                    assert!(path.as_os_str().len() >= LONGEST, "{}", path.display());
                    continue;
                };
                assert!(reached.is_directory());
                assert_eq!(reached.path().as_ref(), Some(&real), "{}", path.display());
            }
        }
        // A link itself is what is removed, with slashes behind it, too.
        assert!(!meant(folder.as_raw_fd(), Path::new("link/")).expect("the link").is_directory());
        for name in ["none", "a/none", ""] {
            assert!(meant(folder.as_raw_fd(), Path::new(name)).is_none(), "{name}");
        }
        assert!(meant(folder.as_raw_fd(), Path::new("a")).expect("it").stat.st_nlink > 0);
    }

    #[test]
    fn what_got_the_name_since_is_not_what_was_reached() {
        let root = tempfile::tempdir().expect("a folder");
        let (file, folder) = (root.path().join("file"), fs::File::open(root.path()).expect("the folder"));
        fs::write(&file, "one").expect("a file");
        let reached = || meant(folder.as_raw_fd(), Path::new("file")).expect("the file");
        assert!(!reached().may_be_in_use());
        let open = fs::File::open(&file).expect("the file");
        assert!(reached().may_be_in_use());
        drop(open);
        let before = reached();
        fs::rename(&file, root.path().join("other")).expect("another name");
        fs::write(&file, "two").expect("another file");
        assert!(before.may_be_in_use(), "of that one nothing is known any more");
        assert_eq!(before.path(), None);
    }

    #[test]
    fn a_directory_is_empty_or_not() {
        let root = tempfile::tempdir().expect("a folder");
        let reached = || meant(libc::AT_FDCWD, root.path()).expect("the folder");
        assert!(reached().is_empty());
        fs::write(root.path().join("file"), "").expect("a file");
        assert!(!reached().is_empty());
    }
}
