//! Starting a process: `posix_spawn` with what Apple has added to it (`bsd/sys/spawn.h`, `bsd/kern/kern_exec.c`).

use std::ffi::{CStr, CString, c_char, c_int, c_short};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

/// `POSIX_SPAWN_SETSID` (macOS 10.15).
const SET_SESSION: c_int = 0x0400;

/// What to start.
pub struct Start<'a> {
    /// Absolute.
    pub program: &'a CStr,
    pub argv: &'a [CString],
    pub env: &'a [CString],
    pub cwd: &'a CStr,
    /// Its first three descriptors. They must all be above 2.
    pub streams: [BorrowedFd<'a>; 3],
}

fn check(errno: c_int) -> io::Result<()> {
    if errno == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(errno)) }
}

/// Attributes that are freed.
struct Attributes(libc::posix_spawnattr_t);

impl Attributes {
    fn new() -> io::Result<Self> {
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the call initialises what it is given, if it succeeds.
        unsafe {
            check(libc::posix_spawnattr_init(attributes.as_mut_ptr()))?;
            Ok(Self(attributes.assume_init()))
        }
    }

    /// A session of its own, no descriptor but those that are named, no signal blocked or ignored; not running yet.
    fn fill(&mut self) -> io::Result<()> {
        let flags = SET_SESSION
            | libc::POSIX_SPAWN_SETSIGDEF
            | libc::POSIX_SPAWN_SETSIGMASK
            | libc::POSIX_SPAWN_CLOEXEC_DEFAULT
            | libc::POSIX_SPAWN_START_SUSPENDED;
        let flags = c_short::try_from(flags).map_err(io::Error::other)?;
        let (mut all, mut none) = (MaybeUninit::uninit(), MaybeUninit::uninit());
        // SAFETY: the sets are initialised before they are read; the attributes are.
        unsafe {
            libc::sigfillset(all.as_mut_ptr());
            // These two can't be anything else.
            libc::sigdelset(all.as_mut_ptr(), libc::SIGKILL);
            libc::sigdelset(all.as_mut_ptr(), libc::SIGSTOP);
            libc::sigemptyset(none.as_mut_ptr());
            check(libc::posix_spawnattr_setflags(&raw mut self.0, flags))?;
            check(libc::posix_spawnattr_setsigdefault(&raw mut self.0, all.as_ptr()))?;
            check(libc::posix_spawnattr_setsigmask(&raw mut self.0, none.as_ptr()))
        }
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        // SAFETY: they were initialised, and are used no more.
        unsafe { libc::posix_spawnattr_destroy(&raw mut self.0) };
    }
}

/// File actions that are freed.
struct Actions(libc::posix_spawn_file_actions_t);

impl Actions {
    fn new() -> io::Result<Self> {
        let mut actions = MaybeUninit::uninit();
        // SAFETY: the call initialises what it is given, if it succeeds.
        unsafe {
            check(libc::posix_spawn_file_actions_init(actions.as_mut_ptr()))?;
            Ok(Self(actions.assume_init()))
        }
    }

    fn fill(&mut self, start: &Start<'_>) -> io::Result<()> {
        for (target, stream) in (0..).zip(start.streams) {
            // SAFETY: the actions are initialised; the descriptor is only remembered here.
            check(unsafe { libc::posix_spawn_file_actions_adddup2(&raw mut self.0, stream.as_raw_fd(), target) })?;
        }
        // SAFETY: the actions are initialised; the path is copied.
        check(unsafe { libc::posix_spawn_file_actions_addchdir_np(&raw mut self.0, start.cwd.as_ptr()) })
    }
}

impl Drop for Actions {
    fn drop(&mut self) {
        // SAFETY: they were initialised, and are used no more.
        unsafe { libc::posix_spawn_file_actions_destroy(&raw mut self.0) };
    }
}

/// Starts a process that leads a session and does nothing until it gets SIGCONT.
///
/// # Errors
///
/// Of entering the directory or of running the program: the system does not say which.
pub fn start_suspended(start: &Start<'_>) -> io::Result<u32> {
    let mut attributes = Attributes::new()?;
    attributes.fill()?;
    let mut actions = Actions::new()?;
    actions.fill(start)?;
    let pointers = |strings: &[CString]| -> Vec<*mut c_char> {
        strings.iter().map(|string| string.as_ptr().cast_mut()).chain([ptr::null_mut()]).collect()
    };
    let (argv, env) = (pointers(start.argv), pointers(start.env));
    let mut pid = 0;
    // SAFETY: all strings, and the lists of them, which end with a null, outlive the call, which changes none of them.
    check(unsafe {
        libc::posix_spawn(
            &raw mut pid,
            start.program.as_ptr(),
            &raw const actions.0,
            &raw const attributes.0,
            argv.as_ptr(),
            env.as_ptr(),
        )
    })?;
    u32::try_from(pid).map_err(io::Error::other)
}
