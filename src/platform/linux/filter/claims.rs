//! Calls that claim what is there once for everybody: a name in a folder, a port, a key, a lock. Asked about where it is to
//! be known what a job has in common with others, however short it has it, or that it could not get it. All are let through.

use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use libc::sock_filter;
use rustix::fd::RawFd;
use rustix::net::SocketType;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::enforce::process_of;
use super::listener::Question;
use super::numbering::{self, Numbering, numbering};
use super::program::{Kind, Place};
use super::reach::read_memory;
use super::writes::{meant, read_name};
use crate::model::SharedKind;

/// A part of a filter that asks about these calls, and leaves all others to what comes behind it. What opens for writing and
/// what renames is asked about by [`super::writes`].
pub fn section() -> Vec<sock_filter> {
    let asked = |it: &Numbering| {
        let perhaps = [it.mkdir, it.mknod, it.unlink, it.rmdir, it.symlink].into_iter().flatten();
        let others = [it.unlinkat, it.symlinkat, it.bind, it.flock, it.mkdirat, it.mknodat];
        let changes = it.change.iter().chain(it.change_at).copied();
        perhaps.chain(others).chain([it.shmget, it.semget, it.msgget]).chain(changes).collect()
    };
    numbering::section(asked, |_| Vec::new())
}

/// What a call claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// A name that is not there yet.
    Makes(Place),
    /// A file that is there: removed, or changed without being opened.
    Alters(Place),
    /// A name for a socket: the descriptor, and where its address is, with its length.
    Binds { socket: i32, address: u64, length: u64 },
    /// A lock on what has this descriptor.
    Locks(i32),
    /// What of System V's has this key; none has zero.
    Key(Keyed, u32),
}

/// What has a key of System V's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keyed {
    Memory,
    Semaphores,
    Queue,
}

/// What a call claims, if it is one of these.
pub fn claim(arch: u32, number: i32, args: &[u64; 6]) -> Option<Claim> {
    let (it, number) = numbering(arch, number)?;
    let here = |path: usize| Place { folder: libc::AT_FDCWD, path: args[path] };
    let int = |at: usize| Place::at(args, at, at).folder;
    let key = |keyed| {
        let key = int(0).cast_unsigned();
        (key != 0).then_some(Claim::Key(keyed, key))
    };
    match number {
        n if [it.mkdir, it.mknod].contains(&Some(n)) => Some(Claim::Makes(here(0))),
        n if [it.mkdirat, it.mknodat].contains(&n) => Some(Claim::Makes(Place::at(args, 0, 1))),
        n if [it.unlink, it.rmdir].contains(&Some(n)) => Some(Claim::Alters(here(0))),
        n if it.change.contains(&n) => Some(Claim::Alters(here(0))),
        n if it.change_at.contains(&n) => Some(Claim::Alters(Place::at(args, 0, 1))),
        n if n == it.unlinkat => Some(Claim::Alters(Place::at(args, 0, 1))),
        n if [it.symlink, it.link].contains(&Some(n)) => Some(Claim::Makes(here(1))),
        n if n == it.symlinkat => Some(Claim::Makes(Place::at(args, 1, 2))),
        n if n == it.linkat => Some(Claim::Makes(Place::at(args, 2, 3))),
        n if n == it.bind => Some(Claim::Binds { socket: int(0), address: args[1], length: args[2] }),
        n if n == it.flock => Some(Claim::Locks(int(0))),
        n if n == it.shmget => key(Keyed::Memory),
        n if n == it.semget => key(Keyed::Semaphores),
        n if n == it.msgget => key(Keyed::Queue),
        _ => None,
    }
}

/// What a question's caller is about to use that is there once for everybody, as it is called in this process's view: of
/// paths the file itself, without links on the way to its folder.
pub fn claimed(question: &Question) -> Vec<(SharedKind, String)> {
    let thread = question.thread;
    let path = |place: Place| meant(thread, place.folder, &read_name(thread, place).ok()?);
    let of_path = |path: PathBuf| (SharedKind::Path, path.to_string_lossy().into_owned());
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    let mut claimed = Vec::new();
    // A folder is opened for writing only to make a file in it that has no name.
    let opens = question.opens.filter(|opening| opening.changes).and_then(|opening| path(opening.place));
    claimed.extend(opens.filter(|path| !path.is_dir()).map(of_path));
    if let Some(Kind::Rename { from, to, .. }) = question.call.map(|call| call.kind) {
        claimed.extend([from, to].into_iter().filter_map(path).map(of_path));
    }
    claimed.extend(question.claims.and_then(|claim| match claim {
        // `mkdir -p` tries every folder on the way.
        Claim::Makes(place) => path(place).filter(|path| !is_there(path)).map(of_path),
        Claim::Alters(place) => path(place).filter(is_there).map(of_path),
        Claim::Binds { socket, address, length } => bound(thread, socket, address, length),
        Claim::Locks(file) => {
            let path = std::fs::read_link(format!("/proc/{thread}/fd/{file}")).ok()?;
            Some((SharedKind::Lock, path.to_string_lossy().into_owned()))
        }
        Claim::Key(Keyed::Memory, key) => Some((SharedKind::Memory, format!("with the key {key:#010x}"))),
        Claim::Key(Keyed::Semaphores, key) => Some((SharedKind::Ipc, format!("semaphores with the key {key:#010x}"))),
        Claim::Key(Keyed::Queue, key) => Some((SharedKind::Ipc, format!("message queue with the key {key:#010x}"))),
    }));
    claimed
}

/// What a socket is about to be bound to, unless the system is to choose.
fn bound(thread: u32, socket: RawFd, address: u64, length: u64) -> Option<(SharedKind, String)> {
    // As much as any address has (`struct sockaddr_storage`).
    let mut bytes = vec![0; 128];
    let read = read_memory(thread, address, &mut bytes).ok()?;
    bytes.truncate(read.min(usize::try_from(length).ok()?));
    match Name::of(&bytes)? {
        Name::Address(address) => {
            let kind = if is_datagram(thread, socket) { SharedKind::Udp } else { SharedKind::Tcp };
            Some((kind, address.to_string()))
        }
        Name::Abstract(name) => Some((SharedKind::Socket, name)),
        Name::Path(path) => {
            let path = meant(thread, libc::AT_FDCWD, &path)?;
            Some((SharedKind::Socket, path.to_string_lossy().into_owned()))
        }
    }
}

/// What a socket is called.
#[derive(Debug, PartialEq, Eq)]
enum Name {
    Address(SocketAddr),
    /// As `/proc/net/unix` has it, with `@` for each zero.
    Abstract(String),
    Path(PathBuf),
}

impl Name {
    /// By a `struct sockaddr`. `None` if the system is to choose, or for another family.
    fn of(bytes: &[u8]) -> Option<Self> {
        let (family, rest) = bytes.split_first_chunk()?;
        let address = |at: usize| -> Option<IpAddr> {
            match i32::from(u16::from_ne_bytes(*family)) {
                libc::AF_INET => Some(Ipv4Addr::from(*rest.get(at..)?.first_chunk::<4>()?).into()),
                _ => Some(Ipv6Addr::from(*rest.get(at + 4..)?.first_chunk::<16>()?).into()),
            }
        };
        match i32::from(u16::from_ne_bytes(*family)) {
            libc::AF_INET | libc::AF_INET6 => {
                let port = u16::from_be_bytes(*rest.first_chunk()?);
                (port != 0).then_some(())?;
                Some(Self::Address(SocketAddr::new(address(2)?, port)))
            }
            libc::AF_UNIX => match rest {
                [] => None,
                [0, ..] => {
                    let name: Vec<u8> = rest.iter().map(|&byte| if byte == 0 { b'@' } else { byte }).collect();
                    Some(Self::Abstract(String::from_utf8_lossy(&name).into_owned()))
                }
                path => {
                    let end = path.iter().position(|&byte| byte == 0).unwrap_or(path.len());
                    Some(Self::Path(Path::new(&OsString::from_vec(path[..end].to_vec())).to_owned()))
                }
            },
            _ => None,
        }
    }
}

/// Whether a thread's socket is one of UDP; where it can't be looked at, most are not.
fn is_datagram(thread: u32, socket: RawFd) -> bool {
    let process = i32::try_from(process_of(thread)).ok().and_then(Pid::from_raw);
    let opened = process.and_then(|process| pidfd_open(process, PidfdFlags::empty()).ok());
    let socket = opened.and_then(|process| pidfd_getfd(process, socket, PidfdGetfdFlags::empty()).ok());
    socket.and_then(|socket| rustix::net::sockopt::socket_type(socket).ok()) == Some(SocketType::DGRAM)
}

#[cfg(test)]
mod tests {
    use super::super::numbering::{
        AARCH64, ALLOW, ARCH, ASK, I386, NUMBER, NUMBERINGS, RETURN, X86_64, interpret, plain,
    };
    use super::*;

    #[test]
    fn what_is_asked_about_is_what_is_understood() {
        let mut program = section();
        program.push(plain(RETURN, ALLOW));
        let args = [5, 6, 7, 8, 0, 0];
        for numbering in &NUMBERINGS {
            for number in 0..500u32 {
                let asked = interpret(&program, &[(NUMBER, number), (ARCH, numbering.arch)]) == ASK;
                // These are asked about elsewhere.
                let is_link = Some(number) == numbering.link || number == numbering.linkat;
                let understood = claim(numbering.arch, number.cast_signed(), &args).is_some() && !is_link;
                assert_eq!(asked, understood, "{:#x} {number}", numbering.arch);
            }
        }
        let there = |folder, path| Place { folder, path };
        assert_eq!(claim(X86_64, 83, &args), Some(Claim::Makes(there(libc::AT_FDCWD, 5))));
        assert_eq!(claim(X86_64, 266, &args), Some(Claim::Makes(there(6, 7))));
        assert_eq!(claim(AARCH64, 37, &args), Some(Claim::Makes(there(7, 8))));
        assert_eq!(claim(I386, 301, &args), Some(Claim::Alters(there(5, 6))));
        assert_eq!(claim(X86_64, 49, &args), Some(Claim::Binds { socket: 5, address: 6, length: 7 }));
        assert_eq!(claim(X86_64, 29, &args), Some(Claim::Key(Keyed::Memory, 5)));
        assert_eq!(claim(X86_64, 29, &[0; 6]), None, "the system chooses");
    }

    #[test]
    fn names_of_sockets_are_read() {
        let of = |family: i32, rest: &[u8]| {
            let family = u16::try_from(family).expect("a family").to_ne_bytes();
            Name::of(&[&family, rest].concat())
        };
        let address = |text: &str| Some(Name::Address(text.parse().expect("an address")));
        assert_eq!(of(libc::AF_INET, &[0x1f, 0x90, 127, 0, 0, 1, 0, 0]), address("127.0.0.1:8080"));
        assert_eq!(of(libc::AF_INET, &[0, 0, 127, 0, 0, 1, 0, 0]), None, "any port");
        let six = [&[0x1f, 0x90, 9, 9, 9, 9][..], &[0; 15], &[1]].concat();
        assert_eq!(of(libc::AF_INET6, &six), address("[::1]:8080"));
        assert_eq!(of(libc::AF_UNIX, b"\0guard"), Some(Name::Abstract("@guard".into())));
        assert_eq!(of(libc::AF_UNIX, b"/tmp/guard\0xx"), Some(Name::Path("/tmp/guard".into())));
        assert_eq!(of(libc::AF_UNIX, b""), None, "any name");
        assert_eq!(of(libc::AF_NETLINK, &[0; 10]), None);
        assert_eq!(Name::of(&[2]), None);
    }
}
