//! What is otherwise about a job's first process: done by itself, just before it executes the program.

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt, lchown};
use std::path::Path;
use std::{fs, ptr};

use super::super::{Change, Job};

/// The user and the group nobody: what the kernel calls whom it can't name (`/proc/sys/kernel/overflowuid`).
const NOBODY: u32 = 65534;
/// What a full file system has in it.
static PAGE: [u8; 4096] = [0; 4096];

/// Why a job can't be changed so here; `None` if nothing is known to be in the way.
#[must_use]
pub fn cannot_change(change: &Change) -> Option<String> {
    let is_root = rustix::process::geteuid().is_root();
    match change {
        // In a namespace of its own a user has another number, and the same rights.
        Change::Nobody if !is_root => Some("only root can be another user".to_owned()),
        Change::SmallFileSystem { .. } if !is_root => without_namespaces().map(|setting| {
            format!("only root can mount a file system for it alone, and {setting} keeps others from it in a namespace")
        }),
        _ => None,
    }
}

/// The setting that keeps users who are not root from namespaces of their own, where one is known to.
fn without_namespaces() -> Option<&'static str> {
    const SETTINGS: [(&str, &str, &str); 3] = [
        ("/proc/sys/user/max_user_namespaces", "0", "user.max_user_namespaces=0"),
        // Debian's.
        ("/proc/sys/kernel/unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=0"),
        // Ubuntu's, where such a namespace has no rights.
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "kernel.apparmor_restrict_unprivileged_userns=1",
        ),
    ];
    let is = |file: &str, value: &str| fs::read_to_string(file).is_ok_and(|text| text.trim() == value);
    SETTINGS.iter().find(|(file, value, _)| is(file, value)).map(|(.., setting)| *setting)
}

/// Gives a folder, and all that is in it, to the user nobody, who may pass through the folder that it is in.
///
/// # Errors
///
/// What the system says.
pub fn give_to_nobody(folder: &Path) -> io::Result<()> {
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        lchown(&path, Some(NOBODY), Some(NOBODY))?;
        if fs::symlink_metadata(&path)?.is_dir() {
            for entry in fs::read_dir(&path)? {
                open.push(entry?.path());
            }
        }
    }
    let Some(above) = folder.parent() else { return Ok(()) };
    let mode = fs::metadata(above)?.mode();
    fs::set_permissions(above, fs::Permissions::from_mode(mode | 0o011))
}

/// A change, ready to be made by system calls alone.
pub enum Prepared {
    Nobody,
    Umask(u32),
    ClosedInput,
    OneSlowCore,
    Terminal,
    SmallFileSystem { folder: CString, options: CString, filler: Option<CString>, own: Option<OwnNamespace> },
}

/// What a process writes that is to keep its user and its group in a user namespace of its own, in which it may mount.
pub struct OwnNamespace {
    user: CString,
    group: CString,
}

impl OwnNamespace {
    /// For whoever may not mount without one.
    fn needed() -> Option<Self> {
        let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
        let map = |id: u32| CString::new(format!("{id} {id} 1")).ok();
        (!user.is_root()).then(|| Some(Self { user: map(user.as_raw())?, group: map(group.as_raw())? }))?
    }

    /// Says who is who in it.
    ///
    /// # Safety
    ///
    /// As of [`Prepared::make`].
    unsafe fn map(&self) -> Result<(), i32> {
        // SAFETY: the texts outlive the calls.
        unsafe {
            // Who may leave groups could get past what is refused to them.
            write(c"/proc/self/setgroups", c"deny")?;
            write(c"/proc/self/uid_map", &self.user)?;
            write(c"/proc/self/gid_map", &self.group)
        }
    }
}

impl Prepared {
    /// That of a job; `None` if it has none.
    ///
    /// # Errors
    ///
    /// If a path has a NUL byte.
    pub fn of(job: &Job) -> Result<Option<Self>, std::ffi::NulError> {
        let path = |path: &Path| CString::new(path.as_os_str().as_encoded_bytes());
        let prepared = match &job.change {
            None => return Ok(None),
            Some(Change::Nobody) => Self::Nobody,
            Some(Change::Umask(mask)) => Self::Umask(*mask),
            Some(Change::ClosedInput) => Self::ClosedInput,
            Some(Change::OneSlowCore) => Self::OneSlowCore,
            Some(Change::Terminal) => Self::Terminal,
            Some(Change::SmallFileSystem { folder, bytes, full }) => {
                let folder = job.roots.first().map_or_else(|| folder.into(), |root| root.join(folder));
                let filler = full.then(|| path(&folder.join(".full"))).transpose()?;
                let options = CString::new(format!("size={bytes},mode=1777"))?;
                Self::SmallFileSystem { folder: path(&folder)?, options, filler, own: OwnNamespace::needed() }
            }
        };
        Ok(Some(prepared))
    }

    /// The namespaces that the process is to be started in.
    #[must_use]
    pub fn namespaces(&self) -> libc::c_int {
        match self {
            Self::SmallFileSystem { own: Some(_), .. } => libc::CLONE_NEWUSER | libc::CLONE_NEWNS,
            Self::SmallFileSystem { own: None, .. } => libc::CLONE_NEWNS,
            _ => 0,
        }
    }

    /// Makes it of the calling process; gives the system's error number if that fails.
    ///
    /// # Safety
    ///
    /// Only for a process that is about to execute a program, and shares nothing but memory with its suspended parent: it
    /// makes system calls and touches no memory but the stack.
    pub unsafe fn make(&self) -> Result<(), i32> {
        // SAFETY: plain system calls on values that outlive them. The identity is changed by the calls themselves: what
        // the C library has for that asks the other threads of its memory, too.
        unsafe {
            match self {
                Self::Nobody => {
                    // What it was given to write to is its own, also by the name /dev/stdout.
                    libc::fchown(1, NOBODY, NOBODY);
                    libc::fchown(2, NOBODY, NOBODY);
                    done(libc::syscall(libc::SYS_setgroups, 0, ptr::null::<libc::gid_t>()))?;
                    done(libc::syscall(libc::SYS_setresgid, NOBODY, NOBODY, NOBODY))?;
                    done(libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY))
                }
                Self::Umask(mask) => {
                    libc::umask(*mask);
                    Ok(())
                }
                Self::ClosedInput => done(libc::close(0).into()),
                Self::OneSlowCore => {
                    let mut allowed: libc::cpu_set_t = std::mem::zeroed();
                    done(libc::sched_getaffinity(0, size_of_val(&allowed), &raw mut allowed).into())?;
                    let limit = 8 * size_of_val(&allowed);
                    let first = (0..limit).find(|&core| libc::CPU_ISSET(core, &allowed)).unwrap_or(0);
                    let mut one: libc::cpu_set_t = std::mem::zeroed();
                    libc::CPU_SET(first, &mut one);
                    done(libc::sched_setaffinity(0, size_of_val(&one), &raw const one).into())?;
                    done(libc::setpriority(libc::PRIO_PROCESS, 0, 19).into())
                }
                // Of a session that has none yet, of which the process is the first.
                Self::Terminal => done(libc::ioctl(1, libc::TIOCSCTTY, 0).into()),
                Self::SmallFileSystem { folder, options, filler, own } => {
                    if let Some(own) = own {
                        own.map()?;
                    }
                    let none = ptr::null::<libc::c_char>();
                    let private = libc::MS_REC | libc::MS_PRIVATE;
                    done(libc::mount(none, c"/".as_ptr(), none, private, ptr::null()).into())?;
                    let tmpfs = c"tmpfs".as_ptr();
                    let flags = libc::MS_NOSUID | libc::MS_NODEV;
                    done(libc::mount(tmpfs, folder.as_ptr(), tmpfs, flags, options.as_ptr().cast()).into())?;
                    filler.as_deref().map_or(Ok(()), |filler| fill(filler))
                }
            }
        }
    }
}

/// Fills the one page that a file system has.
///
/// # Safety
///
/// As of [`Prepared::make`].
unsafe fn fill(file: &CStr) -> Result<(), i32> {
    // SAFETY: as of this function.
    unsafe { write_to(file, libc::O_CREAT | libc::O_EXCL, &PAGE) }
}

/// Writes a text to a file that is there.
///
/// # Safety
///
/// As of [`Prepared::make`].
unsafe fn write(file: &CStr, text: &CStr) -> Result<(), i32> {
    // SAFETY: as of this function.
    unsafe { write_to(file, 0, text.to_bytes()) }
}

/// # Safety
///
/// As of [`Prepared::make`].
unsafe fn write_to(file: &CStr, flags: libc::c_int, bytes: &[u8]) -> Result<(), i32> {
    // SAFETY: the name and the bytes outlive the calls.
    unsafe {
        let descriptor = libc::open(file.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC | flags, 0o400);
        done(descriptor.into())?;
        done(libc::write(descriptor, bytes.as_ptr().cast(), bytes.len()) as libc::c_long)?;
        done(libc::close(descriptor).into())
    }
}

fn done(result: libc::c_long) -> Result<(), i32> {
    if result < 0 { Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL)) } else { Ok(()) }
}
