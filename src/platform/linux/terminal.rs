//! Terminals that nobody sits at (pseudo-terminals): what a job under `Change::Terminal` has in the place of pipes.

use std::os::fd::{AsFd, OwnedFd};

use rustix::io::Errno;
use rustix::pty::{self, OpenptFlags};
use rustix::termios::{self, OptionalActions, OutputModes, SpecialCodeIndex, Winsize};

/// Lines and columns, as the first terminals had them.
const SIZE: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

/// How often a reader finds the input at its end; who asks more often waits, as at a terminal where nobody types.
const ENDS: usize = 64;

/// Numbers of terminals are told from those of pipes by this bit, which no inode of the kernel's own has.
const TERMINAL: u64 = 1 << 63;

/// A terminal's two ends.
pub struct Terminal {
    /// Where what is written comes out, and what is typed goes in.
    pub outer: OwnedFd,
    /// What a program has.
    pub inner: OwnedFd,
    /// By which it is known again in `/proc`; see [`number_of`].
    pub number: u64,
}

impl Terminal {
    /// Makes one whose input is at its end, and which puts nothing before the end of a line.
    pub fn open() -> Result<Self, Errno> {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
        let outer = pty::openpt(flags)?;
        pty::unlockpt(&outer)?;
        let inner = pty::ioctl_tiocgptpeer(&outer, flags)?;
        let name = pty::ptsname(&outer, Vec::new())?;
        let number = name.to_str().ok().and_then(number_of).ok_or(Errno::NODEV)?;
        let mut modes = termios::tcgetattr(&inner)?;
        modes.output_modes.remove(OutputModes::OPOST);
        termios::tcsetattr(&inner, OptionalActions::Now, &modes)?;
        termios::tcsetwinsize(&inner, SIZE)?;
        let end = modes.special_codes[SpecialCodeIndex::VEOF];
        rustix::io::write(outer.as_fd(), &[end; ENDS])?;
        Ok(Self { outer, inner, number })
    }
}

/// The number of the terminal of that name.
pub fn number_of(name: &str) -> Option<u64> {
    let number: u64 = name.strip_prefix("/dev/pts/")?.parse().ok()?;
    Some(number | TERMINAL)
}
