//! A lane's folder: made and removed by the harness; by its janitor if it dies, and by a later run if even that did not.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::ptr;

use windows_sys::Win32::Foundation::{ERROR_SUCCESS, LocalFree};
use windows_sys::Win32::Security::Authorization::{GetNamedSecurityInfoW, SE_FILE_OBJECT};
use windows_sys::Win32::Security::OWNER_SECURITY_INFORMATION;
use windows_sys::Win32::Storage::FileSystem::CreateDirectoryW;

use super::super::{LANE, planting, remove_tree};
use super::paths::real_path;
use super::pipes::unforeseeable;
use super::private::{self, Private};
use super::wide::wide;

/// How much of a name nobody can foresee: paths are to be short.
const NAME: usize = 8;
/// A file that the owner has open and shares with nobody: a folder whose lock can be opened has no owner any more.
const LOCK: &str = "lock";

/// A folder with a short path that only its user can get to.
#[derive(Debug)]
pub struct LaneFolder {
    path: PathBuf,
    /// Held until the folder is removed or left.
    lock: Option<File>,
}

impl LaneFolder {
    /// Makes one where [`super::super::sandbox_base`] says.
    ///
    /// # Errors
    ///
    /// What the system says to making a folder there.
    pub fn create() -> io::Result<Self> {
        let base = super::super::sandbox_base();
        let base = real_path(&base)
            .map_err(|error| io::Error::new(error.kind(), format!("sandboxes go to {}: {error}", base.display())))?;
        if base.to_str().is_none() {
            // What checks are told of their sandbox, and what is told of it, is text.
            return Err(io::Error::other(format!("sandboxes can't go to {}: it is not Unicode", base.display())));
        }
        sweep(&base);
        let failed = |error: &io::Error| {
            io::Error::new(error.kind(), format!("no sandbox can be made in {}: {error}", base.display()))
        };
        for _ in 0..100 {
            let path = base.join(format!("{LANE}{}", &unforeseeable()[..NAME]));
            match make(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(failed(&error)),
            }
            // Another run's sweep may have come between.
            match OpenOptions::new().write(true).create_new(true).share_mode(0).open(path.join(LOCK)) {
                Ok(lock) => return Ok(Self { path, lock: Some(lock) }),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    let _ = fs::remove_dir(&path);
                    return Err(failed(&error));
                }
            }
        }
        Err(failed(&io::Error::other("no free name")))
    }

    /// Absolute, without links, and with no prefix that programs stumble over.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Leaves it where it is, for somebody to look at.
    pub fn leave(mut self) {
        self.lock = None;
        let _ = fs::remove_file(self.path.join(LOCK));
    }

    /// Removes it, whatever is in it. `false` if something resists.
    #[must_use]
    pub fn remove(mut self) -> bool {
        let emptied = empty(&self.path);
        self.lock = None;
        emptied && remove_tree(&self.path).left.is_empty()
    }
}

/// Removes a lane's folder whose owner is gone, the lock last: while something in it resists, the folder stays one that a
/// later run sweeps. `false` if something resists.
#[must_use]
pub fn remove(folder: &Path) -> bool {
    empty(folder) && remove_tree(folder).left.is_empty()
}

/// Removes everything but the lock. What resists was told with the check that left it.
fn empty(folder: &Path) -> bool {
    planting::clear_all(folder);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_name() != LOCK);
    entries.fold(true, |emptied, entry| remove_tree(&entry.path()).left.is_empty() && emptied)
}

/// Removes the folders of this user whose owners are gone.
fn sweep(base: &Path) {
    let (Ok(me), Ok(entries)) = (private::user(), fs::read_dir(base)) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(LANE)) {
        let path = entry.path();
        let is_ours = entry.file_type().is_ok_and(|kind| kind.is_dir()) && owner(&path).is_ok_and(|owner| owner == me);
        // A kept folder has no lock; one that is just being made gets it within moments, and is spared as well.
        if is_ours && OpenOptions::new().write(true).share_mode(0).open(path.join(LOCK)).is_ok() {
            let _ = remove(&path);
        }
    }
}

/// Makes a folder that only its user can get to, and everything in it.
///
/// # Errors
///
/// What the system says.
pub fn make(path: &Path) -> io::Result<()> {
    let attributes = Private::get()?.attributes();
    let path = wide(path);
    // SAFETY: the path ends with a NUL, and the attributes outlive the call.
    if unsafe { CreateDirectoryW(path.as_ptr(), &raw const attributes) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// The owner of a file or folder, as `S-1-…`.
fn owner(path: &Path) -> io::Result<String> {
    let path = wide(path);
    let (mut owner, mut descriptor) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the path ends with a NUL; what is made is ours to free.
    let error = unsafe {
        GetNamedSecurityInfoW(
            path.as_ptr(),
            SE_FILE_OBJECT,
            OWNER_SECURITY_INFORMATION,
            &raw mut owner,
            ptr::null_mut(),
            ptr::null_mut(),
            ptr::null_mut(),
            &raw mut descriptor,
        )
    };
    if error != ERROR_SUCCESS {
        return Err(io::Error::from_raw_os_error(error.cast_signed()));
    }
    let text = private::text(owner);
    // SAFETY: the owner lies in the descriptor, and is not used any more.
    unsafe { LocalFree(descriptor) };
    text
}
