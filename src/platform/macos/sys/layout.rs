//! What libproc answers with, laid out as `bsd/sys/proc_info.h` and `bsd/sys/proc_info_private.h` do; the sizes are part
//! of the interface, and checked when this is compiled.

use std::ffi::{OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use libc::{proc_bsdinfo, proc_bsdshortinfo, proc_taskinfo, proc_vnodepathinfo, vinfo_stat, vnode_info_path};

/// What `proc_pidinfo` answers with for one flavour.
///
/// # Safety
///
/// The type must be what the kernel writes for that flavour, and any bytes must be a value of it.
pub unsafe trait Answer: Sized {
    const FLAVOUR: c_int;
}

/// The same for `proc_pidfdinfo`.
///
/// # Safety
///
/// As for [`Answer`].
pub unsafe trait DescriptorAnswer: Sized {
    const FLAVOUR: c_int;
}

/// `struct proc_uniqidentifierinfo`.
#[repr(C)]
pub struct UniqueIds {
    pub program: [u8; 16],
    pub id: u64,
    pub parent_id: u64,
    pub version: i32,
    pub parent_version: i32,
    pub reserved: [u64; 2],
}

/// `struct proc_threadinfo`, with the thread's directory: `struct proc_threadwithpathinfo`.
#[repr(C)]
pub struct ThreadFolder {
    pub times: [u64; 2],
    pub numbers: [i32; 8],
    pub name: [c_char; 64],
    pub folder: vnode_info_path,
}

/// `struct proc_regionwithpathinfo`.
#[repr(C)]
pub struct Region {
    pub protection: [u32; 4],
    pub offset: u64,
    pub numbers: [u32; 14],
    pub address: u64,
    pub size: u64,
    pub file: vnode_info_path,
}

/// `struct proc_fileinfo`.
#[repr(C)]
pub struct FileInfo {
    pub flags: u32,
    pub status: u32,
    pub offset: i64,
    pub kind: i32,
    pub guard: u32,
}

/// `struct vnode_fdinfowithpath`.
#[repr(C)]
pub struct OpenFile {
    pub file: FileInfo,
    pub vnode: vnode_info_path,
}

/// `struct pipe_fdinfo`.
#[repr(C)]
pub struct Pipe {
    pub file: FileInfo,
    pub stat: vinfo_stat,
    /// By what this end is known, the same in every process while the machine runs; 0 for none.
    pub end: u64,
    /// By what the other end is known.
    pub other_end: u64,
    pub status: c_int,
    pub reserved: c_int,
}

/// `struct socket_fdinfo`, with the protocol's part as unix sockets have it, which is the largest.
#[repr(C)]
pub struct Socket {
    pub file: FileInfo,
    pub stat: vinfo_stat,
    pub handles: [u64; 2],
    pub kind: [c_int; 3],
    pub numbers: [i16; 8],
    pub mark: u32,
    pub buffers: [[u32; 6]; 2],
    /// Which protocol's part follows.
    pub protocol: c_int,
    pub reserved: u32,
    pub peer: [u64; 2],
    /// The address that it is bound to: length, family, path.
    pub bound: [u8; 255],
    pub peer_bound: [u8; 255],
}

// SAFETY: `proc_pidinfo` of bsd/kern/proc_info.c writes these types for these flavours; all are made of integers.
unsafe impl Answer for proc_bsdinfo {
    const FLAVOUR: c_int = libc::PROC_PIDTBSDINFO;
}
// SAFETY: as above.
unsafe impl Answer for proc_bsdshortinfo {
    const FLAVOUR: c_int = libc::PROC_PIDT_SHORTBSDINFO;
}
// SAFETY: as above.
unsafe impl Answer for proc_taskinfo {
    const FLAVOUR: c_int = libc::PROC_PIDTASKINFO;
}
// SAFETY: as above.
unsafe impl Answer for proc_vnodepathinfo {
    const FLAVOUR: c_int = libc::PROC_PIDVNODEPATHINFO;
}
// SAFETY: as above; `PROC_PIDTHREADPATHINFO`.
unsafe impl Answer for ThreadFolder {
    const FLAVOUR: c_int = 10;
}
// SAFETY: as above; `PROC_PIDUNIQIDENTIFIERINFO`.
unsafe impl Answer for UniqueIds {
    const FLAVOUR: c_int = 17;
}
// SAFETY: as above; `PROC_PIDREGIONPATHINFO2`.
unsafe impl Answer for Region {
    const FLAVOUR: c_int = 22;
}

// SAFETY: `proc_pidfdinfo` of the same file writes these types for these flavours; all are made of integers.
// `PROC_PIDFDVNODEPATHINFO`.
unsafe impl DescriptorAnswer for OpenFile {
    const FLAVOUR: c_int = 2;
}
// SAFETY: as above; `PROC_PIDFDSOCKETINFO`.
unsafe impl DescriptorAnswer for Socket {
    const FLAVOUR: c_int = 3;
}
// SAFETY: as above; `PROC_PIDFDPIPEINFO`.
unsafe impl DescriptorAnswer for Pipe {
    const FLAVOUR: c_int = 6;
}

const _: () = {
    assert!(size_of::<proc_bsdinfo>() == 136);
    assert!(size_of::<proc_bsdshortinfo>() == 64);
    assert!(size_of::<proc_taskinfo>() == 96);
    assert!(size_of::<vinfo_stat>() == 136);
    assert!(size_of::<vnode_info_path>() == 1176);
    assert!(size_of::<proc_vnodepathinfo>() == 2352);
    assert!(size_of::<libc::proc_fdinfo>() == 8);
    // The kernel's own header asserts this one.
    assert!(size_of::<UniqueIds>() == 56);
    assert!(size_of::<ThreadFolder>() == 1288);
    assert!(size_of::<Region>() == 1272);
    assert!(size_of::<FileInfo>() == 24);
    assert!(size_of::<OpenFile>() == 1200);
    assert!(size_of::<Pipe>() == 184);
    assert!(size_of::<Socket>() == 792);
    assert!(std::mem::offset_of!(Region, address) == 80);
    assert!(std::mem::offset_of!(Pipe, end) == 160);
    assert!(std::mem::offset_of!(Socket, protocol) == 256);
    assert!(std::mem::offset_of!(Socket, bound) == 280);
};

/// A file or directory that a process has to do with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vnode {
    /// Its path, put together from the names that the kernel remembers: it is not what is there now if that was removed
    /// or replaced. Empty, or only the end of a path, if a name was forgotten (`vn_getpath`, whose error is not told).
    pub path: PathBuf,
    pub device: u32,
    pub inode: u64,
    pub directory: bool,
    /// How many names it has.
    pub links: u16,
}

impl Vnode {
    /// `None` for none: a process has no root of its own unless it was given one.
    pub fn of(told: &vnode_info_path) -> Option<Self> {
        let stat = &told.vip_vi.vi_stat;
        if stat.vst_mode == 0 && stat.vst_ino == 0 {
            return None;
        }
        Some(Self {
            path: path(told.vip_path.as_flattened()),
            device: stat.vst_dev,
            inode: stat.vst_ino,
            directory: stat.vst_mode & libc::S_IFMT == libc::S_IFDIR,
            links: stat.vst_nlink,
        })
    }
}

/// A path up to its zero.
pub fn path(chars: &[c_char]) -> PathBuf {
    let bytes: Vec<u8> = chars.iter().map(|char| char.cast_unsigned()).take_while(|&byte| byte != 0).collect();
    Path::new(OsStr::from_bytes(&bytes)).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_at_its_zero() {
        let chars: Vec<c_char> = b"/a\xff\0/b".iter().map(|byte| byte.cast_signed()).collect();
        assert_eq!(path(&chars).as_os_str().as_bytes(), b"/a\xff");
        assert_eq!(path(&[]), PathBuf::new());
    }
}
