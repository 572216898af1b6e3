//! Unix sockets that are bound to a path: the kernel's socket diagnosis tells which file each one has, whatever name it
//! was bound by and whether the file is still there.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A socket's inode, as in `socket:[…]`, to the path that it is bound to and whether that was removed.
pub type Bound = HashMap<u64, (PathBuf, bool)>;

/// How many entries of a folder are searched for the file of a socket that was bound by a relative name.
const SEARCHED: usize = 20_000;

/// One bound socket as the kernel tells it.
struct Told {
    inode: u64,
    name: PathBuf,
    file: u64,
    device: u64,
}

/// The sockets bound in one of the folders, but those in `known`.
///
/// # Errors
///
/// If the kernel can't be asked.
pub fn bound(roots: &[PathBuf], known: &HashSet<u64>) -> io::Result<Bound> {
    let devices: HashSet<u64> =
        roots.iter().filter_map(|root| fs::metadata(root).ok()).map(|root| root.dev()).collect();
    let candidates: Vec<Told> =
        ask()?.into_iter().filter(|told| !known.contains(&told.inode) && devices.contains(&told.device)).collect();
    let mut found = Bound::new();
    let mut files: Option<HashMap<u64, PathBuf>> = None;
    for told in candidates {
        let there = |path: &Path| fs::symlink_metadata(path).is_ok_and(|file| file.ino() == told.file);
        if told.name.is_absolute() {
            if roots.iter().any(|root| told.name.starts_with(root)) {
                let deleted = !there(&told.name);
                found.insert(told.inode, (told.name, deleted));
            }
            continue;
        }
        let files = files.get_or_insert_with(|| socket_files(roots));
        if let Some(path) = files.get(&told.file) {
            found.insert(told.inode, (path.clone(), false));
        }
    }
    Ok(found)
}

/// The inodes of all sockets that are bound now.
pub fn all_inodes() -> HashSet<u64> {
    ask().unwrap_or_default().into_iter().map(|told| told.inode).collect()
}

fn socket_files(roots: &[PathBuf]) -> HashMap<u64, PathBuf> {
    let mut files = HashMap::new();
    let mut open = roots.to_vec();
    let mut seen = 0;
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > SEARCHED {
                return files;
            }
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                open.push(entry.path());
            } else if kind.is_socket()
                && let Ok(metadata) = entry.metadata()
            {
                files.insert(metadata.ino(), entry.path());
            }
        }
    }
    files
}

// From linux/sock_diag.h, linux/unix_diag.h and linux/netlink.h.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const UDIAG_SHOW_NAME: u32 = 1;
const UDIAG_SHOW_VFS: u32 = 2;
const UNIX_DIAG_NAME: u16 = 0;
const UNIX_DIAG_VFS: u16 = 1;
const HEADER: usize = 16;
const MESSAGE: usize = 16;

/// Asks for every unix socket of this network namespace that has a file.
fn ask() -> io::Result<Vec<Told>> {
    // SAFETY: plain system call; the descriptor is checked and owned at once.
    let fd = unsafe {
        let fd = libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_SOCK_DIAG);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(fd)
    };
    let family = u8::try_from(libc::AF_UNIX).unwrap_or(1);
    let flags = u16::try_from(libc::NLM_F_REQUEST | libc::NLM_F_DUMP).unwrap_or(0x301);
    let mut request = Vec::with_capacity(HEADER + 24);
    request.extend_from_slice(&40u32.to_ne_bytes());
    request.extend_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    request.extend_from_slice(&flags.to_ne_bytes());
    request.extend_from_slice(&[0; 8]);
    request.extend_from_slice(&[family, 0, 0, 0]);
    request.extend_from_slice(&u32::MAX.to_ne_bytes());
    request.extend_from_slice(&0u32.to_ne_bytes());
    request.extend_from_slice(&(UDIAG_SHOW_NAME | UDIAG_SHOW_VFS).to_ne_bytes());
    request.extend_from_slice(&[0; 8]);
    // SAFETY: the buffer outlives the call.
    let sent = unsafe { libc::send(fd.as_raw_fd(), request.as_ptr().cast(), request.len(), 0) };
    if sent < 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut buffer = vec![0u8; 64 * 1024];
    loop {
        // SAFETY: as above.
        let read = unsafe { libc::recv(fd.as_raw_fd(), buffer.as_mut_ptr().cast(), buffer.len(), 0) };
        let read = usize::try_from(read).map_err(|_| io::Error::last_os_error())?;
        if read == 0 || !messages(&buffer[..read], &mut found)? {
            return Ok(found);
        }
    }
}

/// Takes the sockets out of one datagram. `false` if it was the last.
fn messages(mut bytes: &[u8], found: &mut Vec<Told>) -> io::Result<bool> {
    while let (Some(length), Some(kind)) = (u32_at(bytes, 0), u16_at(bytes, 4)) {
        let length = length as usize;
        if length < HEADER || length > bytes.len() {
            break;
        }
        match i32::from(kind) {
            libc::NLMSG_DONE => return Ok(false),
            libc::NLMSG_ERROR => {
                let code = u32_at(bytes, HEADER).map_or(0, u32::cast_signed);
                return Err(io::Error::from_raw_os_error(-code));
            }
            _ => found.extend(socket(&bytes[HEADER..length])),
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(true)
}

fn socket(message: &[u8]) -> Option<Told> {
    let inode = u64::from(u32_at(message, 4)?);
    let mut name = None;
    let mut file = None;
    let mut rest = message.get(MESSAGE..)?;
    while let (Some(length), Some(kind)) = (u16_at(rest, 0), u16_at(rest, 2)) {
        let length = usize::from(length);
        let value = rest.get(4..length)?;
        match kind {
            UNIX_DIAG_NAME => {
                let end = value.iter().position(|&byte| byte == 0).unwrap_or(value.len());
                name = Some(PathBuf::from(OsStr::from_bytes(&value[..end])));
            }
            UNIX_DIAG_VFS => file = Some((u64::from(u32_at(value, 0)?), u32_at(value, 4)?)),
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    let (file, device) = file?;
    // The kernel's own form: 12 bits of major number, 20 of minor.
    let device = libc::makedev(device >> 20, device & 0xf_ffff);
    Some(Told { inode, name: name?, file, device })
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_bound_socket_has_its_path_also_when_that_was_removed() {
        let folder = tempfile::tempdir().expect("a tempdir");
        let root = fs::canonicalize(folder.path()).expect("a real path");
        let path = root.join("s");
        let _listener = UnixListener::bind(&path).expect("bound");
        let told = |known: &HashSet<u64>| -> Vec<_> {
            bound(std::slice::from_ref(&root), known).expect("an answer").into_values().collect()
        };
        assert_eq!(told(&HashSet::new()), [(path.clone(), false)]);
        assert_eq!(told(&all_inodes()), []);
        fs::remove_file(&path).expect("removed");
        assert_eq!(told(&HashSet::new()), [(path, true)]);
    }
}
