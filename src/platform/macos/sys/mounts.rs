//! What is mounted.

use std::path::PathBuf;
use std::ptr;

use super::layout::path;

/// A mounted file system.
pub struct Mount {
    pub point: PathBuf,
    /// The name of its type, as `apfs`.
    pub kind: String,
}

/// All that is mounted, as the kernel remembers it, without asking the file systems. Empty if it can't be told.
pub fn mounts() -> Vec<Mount> {
    // SAFETY: without a buffer the call tells how many there are.
    let expected = unsafe { libc::getfsstat(ptr::null_mut(), 0, libc::MNT_NOWAIT) };
    let mut room: Vec<libc::statfs> = Vec::with_capacity(usize::try_from(expected).unwrap_or_default() + 8);
    let bytes = i32::try_from(room.capacity() * size_of::<libc::statfs>()).unwrap_or(i32::MAX);
    // SAFETY: the buffer is as large as is told; so many as are told are written then, all of integers.
    unsafe {
        let count = libc::getfsstat(room.as_mut_ptr(), bytes, libc::MNT_NOWAIT);
        room.set_len(usize::try_from(count).unwrap_or_default());
    }
    let told = room.iter().map(|mount| Mount {
        point: path(&mount.f_mntonname),
        kind: path(&mount.f_fstypename).to_string_lossy().into_owned(),
    });
    told.collect()
}
