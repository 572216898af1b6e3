//! Putting the filter on: done by the job's first process itself, between clone and exec.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixDatagram;
use std::ptr;

use super::asked::Asked;
use super::lack::takes_rights_away;
use super::numbering::{ALLOW, RETURN, plain};
use super::program::program;
use super::{claims, faults, gains, writes};

/// A filter that is ready to be put on, and the way by which its listener comes to the supervisor. The child has a
/// descriptor table of its own, which ends with the exec.
pub struct Filter {
    program: Vec<libc::sock_filter>,
    ours: UnixDatagram,
    theirs: UnixDatagram,
}

impl Filter {
    /// Prepares one that asks about all of that.
    ///
    /// # Errors
    ///
    /// Why it can't be put on here.
    pub fn new(asked: &Asked<'_>) -> Result<Self, String> {
        if !cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) {
            return Err(format!("not built for {}", std::env::consts::ARCH));
        }
        // Before, what is asked about could not be let through.
        let uname = rustix::system::uname();
        let release = uname.release().to_string_lossy();
        if version(&release).is_some_and(|version| version < (5, 5)) {
            return Err(format!("it needs Linux 5.5, this is {release}"));
        }
        let (ours, theirs) = UnixDatagram::pair().map_err(|error| error.to_string())?;
        // What was sent is there as soon as the child has executed its program, or never.
        ours.set_nonblocking(true).map_err(|error| error.to_string())?;
        let mut all = if takes_rights_away() || asked.executes() { gains::asked() } else { Vec::new() };
        if !asked.faults.is_empty() {
            all.append(&mut faults::section(&asked.faults));
        }
        if asked.shared {
            all.append(&mut claims::section());
        }
        if asked.published {
            all.append(&mut writes::section());
        }
        match asked.rules {
            Some(rules) => all.append(&mut program(rules.files)),
            None => all.push(plain(RETURN, ALLOW)),
        }
        Ok(Self { program: all, ours, theirs })
    }

    /// What the child needs.
    pub fn for_child(&self) -> (libc::sock_fprog, RawFd) {
        let length = u16::try_from(self.program.len()).expect("a short program");
        // The kernel reads it only.
        let program = libc::sock_fprog { len: length, filter: self.program.as_ptr().cast_mut() };
        (program, self.theirs.as_raw_fd())
    }

    /// Takes the listener that the child has sent.
    ///
    /// # Errors
    ///
    /// If it has sent none.
    pub fn listener(&self) -> io::Result<OwnedFd> {
        let mut byte = 0u8;
        let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        let mut control = Control::new();
        let mut message = control.message(&mut part);
        // SAFETY: the message points to memory that outlives the call, with the sizes that it says.
        let received = unsafe { libc::recvmsg(self.ours.as_raw_fd(), &raw mut message, libc::MSG_CMSG_CLOEXEC) };
        if received < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has filled the message in; a header that is there is whole, and of this type has one
        // descriptor, which is nobody else's.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(&raw const message);
            if header.is_null() || (*header).cmsg_type != libc::SCM_RIGHTS {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Ok(OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned()))
        }
    }
}

/// The first two numbers of a kernel's version.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

/// How long a descriptor is.
const DESCRIPTOR: u32 = 4;

/// Room for one descriptor in a message, aligned as its header wants.
struct Control(MaybeUninit<[u64; 8]>);

impl Control {
    fn new() -> Self {
        Self(MaybeUninit::zeroed())
    }

    fn message(&mut self, part: &mut libc::iovec) -> libc::msghdr {
        // SAFETY: all zero is a message without anything.
        let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
        message.msg_iov = part;
        message.msg_iovlen = 1;
        message.msg_control = self.0.as_mut_ptr().cast();
        // SAFETY: the macro computes.
        message.msg_controllen = unsafe { libc::CMSG_SPACE(DESCRIPTOR) } as _;
        message
    }
}

/// Why the filter is not on.
#[derive(Debug, Clone, Copy)]
pub enum NotOn {
    /// It could not be put on, and the program may run without.
    Refused(i32),
    /// It is on, and nobody can be told: the program may not run.
    Untold(i32),
}

/// Puts the filter on this process and sends the listener. `None` if all went well.
///
/// # Safety
///
/// For a child between clone and exec: makes system calls only, on what [`Filter::for_child`] gave, which must still be
/// there.
pub unsafe fn install(program: &libc::sock_fprog, socket: RawFd) -> Option<NotOn> {
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(0);
    // With the second flag only what ends the caller interrupts it once it is being answered (Linux 5.19).
    let mut flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    let mut may_gain = true;
    let listener = loop {
        // SAFETY: the program outlives the call.
        let fd =
            unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, ptr::from_ref(program)) };
        if let Some(fd) = RawFd::try_from(fd).ok().filter(|fd| *fd >= 0) {
            break fd;
        }
        match errno() {
            libc::EINVAL if flags & libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV != 0 => {
                flags &= !libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
            }
            // Only root may do it and still gain rights by what it executes.
            libc::EACCES if may_gain => {
                may_gain = false;
                // SAFETY: this option takes integers only.
                if unsafe { libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) } != 0 {
                    return Some(NotOn::Refused(errno()));
                }
            }
            error => return Some(NotOn::Refused(error)),
        }
    };
    let mut byte = 0u8;
    let mut part = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
    let mut control = Control::new();
    let message = control.message(&mut part);
    // SAFETY: the control buffer has room for one header with a descriptor, and all that the message points to outlives
    // the call.
    let sent = unsafe {
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(DESCRIPTOR) as _;
        libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(listener);
        libc::sendmsg(socket, &raw const message, 0)
    };
    if sent < 0 { Some(NotOn::Untold(errno())) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_told_by_two_numbers() {
        assert_eq!(version("6.18.44-fc"), Some((6, 18)));
        assert_eq!(version("5.4.0-150-generic"), Some((5, 4)));
        assert_eq!(version("odd"), None);
    }
}
