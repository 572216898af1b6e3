//! Removing a tree whatever was done to it, without ever leaving it.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags};
use rustix::io::Errno;

use super::super::{Removal as Removed, Unremovable};

/// Removes a folder and all that is in it. Nothing has to be waited for: who has a file open does not keep it here.
///
/// Symbolic links are removed, never followed, and a mount point is left alone with all that is in it. Folders without
/// permissions get them; the depth of a tree does not matter, since each folder is moved to the top before it is
/// emptied.
///
/// A missing folder is removed already.
#[must_use]
pub fn remove_tree(top: &Path) -> Removed {
    Removed { left: remove(top), waited: None }
}

fn remove(top: &Path) -> Vec<Unremovable> {
    // Opened, a folder that something is mounted on is that thing, and its content is not ours.
    match rustix::fs::rmdir(top) {
        Ok(()) | Err(Errno::NOENT) => return Vec::new(),
        Err(Errno::BUSY) => return vec![Unremovable { path: top.to_owned(), reason: reason(Errno::BUSY) }],
        Err(_) => {}
    }
    let mut removal = match Removal::open(top) {
        Ok(removal) => removal,
        Err(Errno::NOENT) => return Vec::new(),
        Err(Errno::NOTDIR | Errno::LOOP) => {
            return match rustix::fs::unlink(top) {
                Ok(()) | Err(Errno::NOENT) => Vec::new(),
                Err(error) => vec![Unremovable { path: top.to_owned(), reason: reason(error) }],
            };
        }
        Err(error) => return vec![Unremovable { path: top.to_owned(), reason: reason(error) }],
    };
    removal.empty_top();
    if removal.left.is_empty()
        && let Err(error) = rustix::fs::rmdir(top)
        && error != Errno::NOENT
    {
        removal.leave(top.to_owned(), error);
    }
    removal.left
}

/// How many are told.
const TOLD: usize = 10;

struct Removal<'a> {
    top: &'a Path,
    fd: OwnedFd,
    /// Folders that were moved to the top, with the name that each has there, and the path that it had.
    moved: Vec<(CString, PathBuf)>,
    count: u64,
    left: Vec<Unremovable>,
}

impl<'a> Removal<'a> {
    fn open(top: &'a Path) -> Result<Self, Errno> {
        let fd = open_folder(CWD, top.as_os_str())?;
        Ok(Self { top, fd, moved: Vec::new(), count: 0, left: Vec::new() })
    }

    fn leave(&mut self, path: PathBuf, error: Errno) {
        if self.left.len() < TOLD {
            self.left.push(Unremovable { path, reason: reason(error) });
        }
    }

    fn empty_top(&mut self) {
        let Ok(top) = self.fd.try_clone() else { return self.leave(self.top.to_owned(), Errno::MFILE) };
        let path = self.top.to_owned();
        self.empty(&top, &path, true);
        while let Some((name, was)) = self.moved.pop() {
            match open_folder(&top, OsStr::from_bytes(name.as_bytes())) {
                Ok(folder) => {
                    self.empty(&folder, &was, false);
                    drop(folder);
                    match rustix::fs::unlinkat(&top, &*name, AtFlags::REMOVEDIR) {
                        Ok(()) | Err(Errno::NOENT) => {}
                        // Its own content was told already.
                        Err(Errno::NOTEMPTY | Errno::EXIST) if !self.left.is_empty() => {}
                        Err(error) => self.leave(was, error),
                    }
                }
                Err(Errno::NOENT) => {}
                Err(error) => self.leave(was, error),
            }
        }
    }

    /// Unlinks every file of a folder and moves every folder that is not empty to the top.
    fn empty(&mut self, folder: &OwnedFd, path: &Path, is_top: bool) {
        let mut failed = std::collections::HashSet::new();
        // Entries can be missed while others are removed, so read until nothing new comes.
        loop {
            let names = match names(folder) {
                Ok(names) => names,
                Err(error) => return self.leave(path.to_owned(), error),
            };
            let mut progress = false;
            for name in names {
                let is_moved = is_top && self.moved.iter().any(|(moved, _)| *moved == name);
                if is_moved || failed.contains(&name) {
                    continue;
                }
                match self.take_out(folder, &name, path) {
                    Ok(()) => progress = true,
                    Err(error) => {
                        self.leave(path.join(OsStr::from_bytes(name.as_bytes())), error);
                        failed.insert(name);
                    }
                }
            }
            if !progress {
                return;
            }
        }
    }

    fn take_out(&mut self, folder: &OwnedFd, name: &CStr, path: &Path) -> Result<(), Errno> {
        match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            // What Linux and POSIX answer for a folder; EACCES if the folder may not be written.
            Err(Errno::ISDIR | Errno::PERM) => {}
            Err(Errno::ACCESS) => {
                make_writable(folder)?;
                match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => return Ok(()),
                    Err(Errno::ISDIR | Errno::PERM) => {}
                    Err(error) => return Err(error),
                }
            }
            Err(error) => return Err(error),
        }
        match rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            // Not a folder: then the refusal to unlink it was meant.
            Err(Errno::NOTDIR) => return Err(Errno::PERM),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::ACCESS) => {}
            // EBUSY: something is mounted on it. What is in there is not ours.
            Err(error) => return Err(error),
        }
        // A folder that changes its parent must itself be writable.
        let _ = open_folder(folder, OsStr::from_bytes(name.to_bytes()));
        self.count += 1;
        let new = CString::new(format!(".hp-{}-{}", std::process::id(), self.count)).map_err(|_| Errno::INVAL)?;
        rustix::fs::renameat(folder, name, &self.fd, &*new)?;
        self.moved.push((new, path.join(OsStr::from_bytes(name.to_bytes()))));
        Ok(())
    }
}

/// Opens a folder for reading, never through a symbolic link, and makes it ours to read and write if it is not.
fn open_folder(at: impl AsFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let fd = match rustix::fs::openat(&at, name, flags | OFlags::RDONLY, Mode::empty()) {
        Ok(fd) => fd,
        Err(Errno::ACCESS) => {
            make_accessible(&at, name)?;
            rustix::fs::openat(&at, name, flags | OFlags::RDONLY, Mode::empty())?
        }
        Err(error) => return Err(error),
    };
    if rustix::fs::fstat(&fd)?.st_mode & 0o700 != 0o700 {
        make_writable(&fd)?;
    }
    Ok(fd)
}

fn make_writable(folder: &OwnedFd) -> Result<(), Errno> {
    rustix::fs::fchmod(folder, Mode::RWXU)
}

/// Gives a folder that can't be opened back its permissions, without following a link that may have taken its place.
#[cfg(target_os = "linux")]
fn make_accessible(at: impl AsFd, name: &OsStr) -> Result<(), Errno> {
    let fd = rustix::fs::openat(at, name, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
    let fd = std::os::fd::AsRawFd::as_raw_fd(&fd);
    rustix::fs::chmod(format!("/proc/self/fd/{fd}"), Mode::RWXU)
}

#[cfg(not(target_os = "linux"))]
fn make_accessible(at: impl AsFd, name: &OsStr) -> Result<(), Errno> {
    rustix::fs::chmodat(at, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)
}

fn names(folder: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

fn reason(error: Errno) -> String {
    match error {
        Errno::BUSY => "something is mounted there".to_owned(),
        Errno::PERM => "it is immutable, append-only, or another user's".to_owned(),
        Errno::ACCESS => "another user's folder does not let us".to_owned(),
        Errno::ROFS => "the file system is read-only".to_owned(),
        other => std::io::Error::from(other).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    use super::*;

    fn folder() -> (tempfile::TempDir, PathBuf) {
        let outer = tempfile::tempdir().expect("a tempdir");
        let top = outer.path().join("top");
        fs::create_dir(&top).expect("a folder");
        (outer, top)
    }

    #[test]
    fn a_symbolic_link_is_removed_and_its_target_stays() {
        let (outer, top) = folder();
        let precious = outer.path().join("precious");
        fs::create_dir(&precious).expect("a folder");
        fs::write(precious.join("file"), "x").expect("a file");
        symlink(&precious, top.join("link")).expect("a link");
        fs::create_dir(top.join("d")).expect("a folder");
        symlink(precious.join("file"), top.join("d/link")).expect("a link");
        assert_eq!(remove_tree(&top).left, []);
        assert!(!top.exists());
        assert!(precious.join("file").exists());
    }

    #[test]
    fn the_top_itself_may_have_become_a_link() {
        let (outer, top) = folder();
        let precious = outer.path().join("precious");
        fs::rename(&top, &precious).expect("moved");
        fs::write(precious.join("file"), "x").expect("a file");
        symlink(&precious, &top).expect("a link");
        assert_eq!(remove_tree(&top).left, []);
        assert!(precious.join("file").exists());
        assert!(fs::symlink_metadata(&top).is_err());
    }

    #[test]
    fn modes_sockets_fifos_and_odd_names_do_not_matter() {
        let (_outer, top) = folder();
        let deep = top.join("a/b");
        fs::create_dir_all(&deep).expect("folders");
        fs::write(deep.join("f"), "x").expect("a file");
        fs::write(deep.join(OsStr::from_bytes(b"\xff\n")), "x").expect("a file");
        let _socket = UnixListener::bind(top.join("s")).expect("a socket");
        let made = std::process::Command::new("mkfifo").arg(top.join("p")).status();
        assert!(made.expect("mkfifo").success());
        fs::set_permissions(&deep, fs::Permissions::from_mode(0o500)).expect("read-only");
        fs::set_permissions(top.join("a"), fs::Permissions::from_mode(0o0)).expect("no permissions");
        assert_eq!(remove_tree(&top).left, []);
        assert!(!top.exists());
    }

    #[test]
    fn a_tree_deeper_than_any_path_is_removed() {
        let (_outer, top) = folder();
        let mut at = open_folder(CWD, top.as_os_str()).expect("open");
        for _ in 0..5000 {
            rustix::fs::mkdirat(&at, "a-name-of-some-length", Mode::RWXU).expect("a folder");
            at = open_folder(&at, OsStr::new("a-name-of-some-length")).expect("open");
        }
        drop(at);
        assert_eq!(remove_tree(&top).left, []);
        assert!(!top.exists());
    }

    #[test]
    fn many_files_in_one_folder_are_removed() {
        let (_outer, top) = folder();
        for index in 0..20_000 {
            fs::write(top.join(format!("file-{index}")), "").expect("a file");
        }
        assert_eq!(remove_tree(&top).left, []);
        assert!(!top.exists());
    }
}
