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
use super::program::{AND, ARCH, ASK, IO_URING_SETUP, IS, Kind, LOAD, NO_SUCH_CALL, NUMBER, Place, RETURN};
use super::reach::read_memory;
use super::writes::{meant, read_name};
use crate::model::SharedKind;

/// The numbers of the calls in one of the kernel's numberings.
struct Numbering {
    arch: u32,
    /// Bits that are no part of the number.
    ignored: u32,
    /// `mkdir`, `mknod`.
    makes: [Option<u32>; 2],
    /// `mkdirat`, `mknodat`.
    makes_at: [u32; 2],
    /// `unlink`, `rmdir`.
    removes: [Option<u32>; 2],
    unlinkat: u32,
    symlink: Option<u32>,
    symlinkat: u32,
    /// Asked about by [`super::writes`].
    link: Option<u32>,
    linkat: u32,
    bind: u32,
    flock: u32,
    /// `shmget`, `semget`, `msgget`.
    keys: [u32; 3],
}

/// The same as those of [`super::program`].
const NUMBERINGS: [Numbering; 4] = [
    // x86_64, and x32.
    Numbering {
        arch: 0xC000_003E,
        ignored: 0x4000_0000,
        makes: [Some(83), Some(133)],
        makes_at: [258, 259],
        removes: [Some(87), Some(84)],
        unlinkat: 263,
        symlink: Some(88),
        symlinkat: 266,
        link: Some(86),
        linkat: 265,
        bind: 49,
        flock: 73,
        keys: [29, 64, 68],
    },
    // i386.
    Numbering {
        arch: 0x4000_0003,
        ignored: 0,
        makes: [Some(39), Some(14)],
        makes_at: [296, 297],
        removes: [Some(10), Some(40)],
        unlinkat: 301,
        symlink: Some(83),
        symlinkat: 304,
        link: Some(9),
        linkat: 303,
        bind: 361,
        flock: 143,
        keys: [395, 393, 399],
    },
    // aarch64.
    Numbering {
        arch: 0xC000_00B7,
        ignored: 0,
        makes: [None, None],
        makes_at: [34, 33],
        removes: [None, None],
        unlinkat: 35,
        symlink: None,
        symlinkat: 36,
        link: None,
        linkat: 37,
        bind: 200,
        flock: 32,
        keys: [194, 190, 186],
    },
    // arm.
    Numbering {
        arch: 0x4000_0028,
        ignored: 0,
        makes: [Some(39), Some(14)],
        makes_at: [323, 324],
        removes: [Some(10), Some(40)],
        unlinkat: 328,
        symlink: Some(83),
        symlinkat: 331,
        link: Some(9),
        linkat: 330,
        bind: 282,
        flock: 143,
        keys: [307, 299, 303],
    },
];

/// A part of a filter that asks about these calls, and leaves all others to what comes behind it. What opens for writing and
/// what renames is asked about by [`super::writes`].
pub fn section() -> Vec<sock_filter> {
    let plain = |code, k| sock_filter { code, jt: 0, jf: 0, k };
    // Goes on if so, and otherwise skips that many.
    let unless = |code, k, skip| sock_filter { code, jt: 0, jf: skip, k };
    let mut section = Vec::new();
    for numbering in &NUMBERINGS {
        let mut block = vec![plain(LOAD, NUMBER)];
        if numbering.ignored != 0 {
            block.push(plain(AND, !numbering.ignored));
        }
        let perhaps = [numbering.makes, numbering.removes, [numbering.symlink, None]].into_iter().flatten().flatten();
        let others = [numbering.unlinkat, numbering.symlinkat, numbering.bind, numbering.flock];
        for number in perhaps.chain(others).chain(numbering.makes_at).chain(numbering.keys) {
            block.extend([unless(IS, number, 1), plain(RETURN, ASK)]);
        }
        block.extend([unless(IS, IO_URING_SETUP, 1), plain(RETURN, NO_SUCH_CALL)]);
        let length = u8::try_from(block.len()).expect("a block is short");
        section.extend([plain(LOAD, ARCH), unless(IS, numbering.arch, length)]);
        section.append(&mut block);
    }
    section
}

/// What a call claims.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim {
    /// A name that is not there yet.
    Makes(Place),
    /// A name that is there.
    Removes(Place),
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
    let numbering = NUMBERINGS.iter().find(|numbering| numbering.arch == arch)?;
    let number = number.cast_unsigned() & !numbering.ignored;
    let here = |path: usize| Place { folder: libc::AT_FDCWD, path: args[path] };
    let int = |at: usize| Place::at(args, at, at).folder;
    let key = |keyed| {
        let key = int(0).cast_unsigned();
        (key != 0).then_some(Claim::Key(keyed, key))
    };
    let [shmget, semget, msgget] = numbering.keys;
    match number {
        n if numbering.makes.contains(&Some(n)) => Some(Claim::Makes(here(0))),
        n if numbering.makes_at.contains(&n) => Some(Claim::Makes(Place::at(args, 0, 1))),
        n if numbering.removes.contains(&Some(n)) => Some(Claim::Removes(here(0))),
        n if n == numbering.unlinkat => Some(Claim::Removes(Place::at(args, 0, 1))),
        n if Some(n) == numbering.symlink || Some(n) == numbering.link => Some(Claim::Makes(here(1))),
        n if n == numbering.symlinkat => Some(Claim::Makes(Place::at(args, 1, 2))),
        n if n == numbering.linkat => Some(Claim::Makes(Place::at(args, 2, 3))),
        n if n == numbering.bind => Some(Claim::Binds { socket: int(0), address: args[1], length: args[2] }),
        n if n == numbering.flock => Some(Claim::Locks(int(0))),
        n if n == shmget => key(Keyed::Memory),
        n if n == semget => key(Keyed::Semaphores),
        n if n == msgget => key(Keyed::Queue),
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
        Claim::Removes(place) => path(place).filter(is_there).map(of_path),
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
    use super::super::program::{ALLOW, interpret};
    use super::*;

    const X86_64: u32 = 0xC000_003E;
    const I386: u32 = 0x4000_0003;
    const AARCH64: u32 = 0xC000_00B7;

    #[test]
    fn what_is_asked_about_is_what_is_understood() {
        let mut program = section();
        program.push(sock_filter { code: RETURN, jt: 0, jf: 0, k: ALLOW });
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
        assert_eq!(claim(I386, 301, &args), Some(Claim::Removes(there(5, 6))));
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
