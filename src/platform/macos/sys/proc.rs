//! libproc: what the kernel tells of one process (`bsd/kern/proc_info.c`, `libsyscall/wrappers/libproc/libproc.c`).
//!
//! The numbers that tell processes apart, the short status and the program's path are told of every process; all else
//! only of those of the caller's own effective user, or to root (`proc_security_policy`); otherwise the answer is EPERM.

use std::ffi::{OsStr, c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;

use libc::{proc_bsdinfo, proc_bsdshortinfo, proc_fdinfo, proc_taskinfo, proc_vnodepathinfo};
use rustix::process::{Pid, getsid};

use super::super::super::unix::lineage::Seen;
use super::layout::{Answer, DescriptorAnswer, OpenFile, Pipe, Region, Socket, ThreadFolder, UniqueIds, Vnode, path};

/// Asks for the zombies, too, where the flavour knows that.
const ZOMBIES_TOO: u64 = 1;
/// `SOCKINFO_UN`.
const UNIX_SOCKET: c_int = 3;
/// `PROC_PIDLISTTHREADS`: the numbers that `PROC_PIDTHREADPATHINFO` takes.
const LIST_THREADS: c_int = 6;
/// `PROC_FLAG_INEXIT`: it is past its last instruction.
const EXITING: u32 = 0x4;
/// `PROC_FLAG_THCWD`: a thread has a directory of its own.
const THREAD_FOLDERS: u32 = 0x100;

fn length<T>(count: usize) -> c_int {
    c_int::try_from(count * size_of::<T>()).unwrap_or(c_int::MAX)
}

/// What a call that tells how many bytes it has written has answered. libproc answers 0 for a failure.
fn whole<T>(written: c_int, answer: MaybeUninit<T>) -> io::Result<T> {
    if written == length::<T>(1) {
        // SAFETY: the kernel has written all of it, and any bytes are a value, as the traits promise.
        return Ok(unsafe { answer.assume_init() });
    }
    if written <= 0 { Err(io::Error::last_os_error()) } else { Err(io::ErrorKind::InvalidData.into()) }
}

fn info<T: Answer>(pid: u32, argument: u64) -> io::Result<T> {
    let mut answer = MaybeUninit::<T>::uninit();
    // SAFETY: the buffer is as large as is told, and outlives the call.
    let written = unsafe {
        libc::proc_pidinfo(pid.cast_signed(), T::FLAVOUR, argument, answer.as_mut_ptr().cast(), length::<T>(1))
    };
    whole(written, answer)
}

fn descriptor_info<T: DescriptorAnswer>(pid: u32, descriptor: i32) -> io::Result<T> {
    let mut answer = MaybeUninit::<T>::uninit();
    // SAFETY: as above.
    let written = unsafe {
        libc::proc_pidfdinfo(pid.cast_signed(), descriptor, T::FLAVOUR, answer.as_mut_ptr().cast(), length::<T>(1))
    };
    whole(written, answer)
}

/// Reads a list whose length is only known when it is read: `call` fills a buffer of so many bytes, and tells how many it
/// has written; a buffer that was filled to the end may have been too short.
fn list<T: Copy>(expected: usize, call: impl Fn(*mut c_void, c_int) -> c_int) -> io::Result<Vec<T>> {
    let mut room = expected.max(16);
    loop {
        let mut found: Vec<T> = Vec::with_capacity(room);
        // SAFETY: this thread's own error number. An empty list and a failure both are 0.
        unsafe { *libc::__error() = 0 };
        let written = call(found.as_mut_ptr().cast(), length::<T>(room));
        let count = usize::try_from(written).unwrap_or_default() / size_of::<T>();
        if count == 0 {
            let error = io::Error::last_os_error();
            return if error.raw_os_error() == Some(0) { Ok(found) } else { Err(error) };
        }
        if count < room {
            // SAFETY: so many were written, all of integers.
            unsafe { found.set_len(count) };
            return Ok(found);
        }
        room *= 2;
    }
}

/// Every process, zombies included, but the kernel's own.
///
/// # Errors
///
/// What the system says.
pub fn pids() -> io::Result<Vec<u32>> {
    // SAFETY: without a buffer the call only tells how many there may be.
    let expected = unsafe { libc::proc_listallpids(ptr::null_mut(), 0) };
    let expected = usize::try_from(expected).unwrap_or_default() + 16;
    // SAFETY: `list` passes a buffer of the size that it tells. The call counts in pids.
    let call = |buffer, size| unsafe { libc::proc_listallpids(buffer, size) } * length::<c_int>(1);
    let pids = list::<c_int>(expected, call)?;
    Ok(pids.into_iter().filter_map(|pid| u32::try_from(pid).ok()).filter(|&pid| pid != 0).collect())
}

/// By what a process and its descent are known. Zombies have it, too, and no session.
///
/// # Errors
///
/// `ESRCH` if it is gone.
pub fn seen(pid: u32) -> io::Result<Seen> {
    let ids: UniqueIds = info(pid, ZOMBIES_TOO)?;
    // Any process may ask this of any other (`getsid` of bsd/kern/kern_prot.c).
    let session = Pid::from_raw(pid.cast_signed()).and_then(|pid| getsid(Some(pid)).ok());
    Ok(Seen {
        pid,
        id: ids.id,
        parent_id: ids.parent_id,
        version: ids.version.cast_unsigned(),
        parent_version: ids.parent_version.cast_unsigned(),
        session: session.map(|leader| leader.as_raw_nonzero().get().cast_unsigned()),
    })
}

/// What is told of every process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub parent: u32,
    /// Its effective user.
    pub uid: u32,
    /// The first sixteen bytes of its program's name.
    pub name: String,
    /// Whether it has ended. A process is a zombie only some time after its end was announced (`proc_exit` of
    /// bsd/kern/kern_exit.c: descriptors, announcement, zombie), but marked as exiting before: to wait for the zombie would
    /// be to wait for something that nothing tells. One that hangs in its exit has ended, too, by this.
    pub dead: bool,
    pub stopped: bool,
    /// Whether a thread has a directory of its own.
    pub thread_folders: bool,
}

impl Status {
    /// Of a process, zombies included.
    ///
    /// # Errors
    ///
    /// `ESRCH` if it is gone.
    pub fn of(pid: u32) -> io::Result<Self> {
        let short: proc_bsdshortinfo = info(pid, ZOMBIES_TOO)?;
        Ok(Self {
            parent: short.pbsi_ppid,
            uid: short.pbsi_uid,
            name: path(&short.pbsi_comm).to_string_lossy().into_owned(),
            dead: short.pbsi_status == libc::SZOMB || short.pbsi_flags & EXITING != 0,
            stopped: short.pbsi_status == libc::SSTOP,
            thread_folders: short.pbsi_flags & THREAD_FOLDERS != 0,
        })
    }
}

/// Whether one of a process's threads is running; `None` if that is not told.
pub fn is_running(pid: u32) -> Option<bool> {
    info::<proc_taskinfo>(pid, 0).ok().map(|task| task.pti_numrunning > 0)
}

/// When a process started, in microseconds after 1970, by the clock as it was then.
///
/// # Errors
///
/// `ESRCH` if it is gone, `EPERM` if it is another user's.
pub fn started_us(pid: u32) -> io::Result<u64> {
    let told: proc_bsdinfo = info(pid, ZOMBIES_TOO)?;
    Ok(told.pbi_start_tvsec * 1_000_000 + told.pbi_start_tvusec)
}

/// The directory that a process is in, and its root if it was given one.
///
/// # Errors
///
/// `ESRCH` if it is gone or dead, `EPERM` if it is another user's, anything else if one of the two can't be told any more.
pub fn folders(pid: u32) -> io::Result<(Option<Vnode>, Option<Vnode>)> {
    let told: proc_vnodepathinfo = info(pid, 0)?;
    Ok((Vnode::of(&told.pvi_cdir), Vnode::of(&told.pvi_rdir)))
}

/// The directories that threads of a process have for themselves.
///
/// # Errors
///
/// As [`folders`].
pub fn thread_folders(pid: u32) -> io::Result<Vec<Vnode>> {
    let call = |buffer, size| {
        // SAFETY: `list` passes a buffer of the size that it tells.
        unsafe { libc::proc_pidinfo(pid.cast_signed(), LIST_THREADS, 0, buffer, size) }
    };
    let threads = list::<u64>(64, call)?;
    // A thread that ended meanwhile has none.
    let told = threads.into_iter().filter_map(|thread| info::<ThreadFolder>(pid, thread).ok());
    Ok(told.filter_map(|told| Vnode::of(&told.folder)).collect())
}

/// What a descriptor is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    Socket,
    Pipe,
    Other,
}

/// The descriptors that a process has open.
///
/// # Errors
///
/// As [`folders`].
pub fn descriptors(pid: u32) -> io::Result<Vec<(i32, Kind)>> {
    let call = |buffer, size| {
        // SAFETY: `list` passes a buffer of the size that it tells.
        unsafe { libc::proc_pidinfo(pid.cast_signed(), libc::PROC_PIDLISTFDS, 0, buffer, size) }
    };
    let told = list::<proc_fdinfo>(64, call)?;
    // `PROX_FDTYPE_VNODE` and its like.
    let kind = |number| match number {
        1 => Kind::File,
        2 => Kind::Socket,
        6 => Kind::Pipe,
        _ => Kind::Other,
    };
    Ok(told.into_iter().map(|told| (told.proc_fd, kind(told.proc_fdtype))).collect())
}

/// The file that a descriptor is of.
///
/// # Errors
///
/// `EBADF` if it was closed meanwhile; else as [`folders`].
pub fn open_file(pid: u32, descriptor: i32) -> io::Result<Option<Vnode>> {
    Ok(Vnode::of(&descriptor_info::<OpenFile>(pid, descriptor)?.vnode))
}

/// By what the end of a pipe that a descriptor is of is known, and by what its other end.
///
/// # Errors
///
/// As [`open_file`].
pub fn pipe(pid: u32, descriptor: i32) -> io::Result<(u64, u64)> {
    descriptor_info::<Pipe>(pid, descriptor).map(|pipe| (pipe.end, pipe.other_end))
}

/// The path that a unix socket was bound to, as it was given; `None` if it has none.
///
/// # Errors
///
/// As [`open_file`].
pub fn bound_to(pid: u32, descriptor: i32) -> io::Result<Option<PathBuf>> {
    let socket: Socket = descriptor_info(pid, descriptor)?;
    let path = socket.bound.get(2..usize::from(socket.bound[0])).unwrap_or_default();
    let path = path.split(|&byte| byte == 0).next().unwrap_or_default();
    let named = socket.protocol == UNIX_SOCKET && !path.is_empty();
    Ok(named.then(|| Path::new(OsStr::from_bytes(path)).to_owned()))
}

/// The first file that a process has mapped at this address or above, and the address behind that mapping. Files of the
/// system's shared cache are not among them. `None` if there are no more.
///
/// # Errors
///
/// `ESRCH` if it is gone, `EPERM` if it is another user's.
pub fn mapped(pid: u32, address: u64) -> io::Result<Option<(u64, Vnode)>> {
    match info::<Region>(pid, address) {
        Ok(region) => {
            let end = region.address.checked_add(region.size).filter(|end| *end > address);
            Ok(end.zip(Vnode::of(&region.file)))
        }
        // Also where a file is just being taken away.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The path of the program that a process runs.
///
/// # Errors
///
/// `ENOENT` if nothing is there any more, `ESRCH` if the process is gone.
pub fn program(pid: u32) -> io::Result<PathBuf> {
    // `PROC_PIDPATHINFO_MAXSIZE`.
    let mut buffer: [c_char; 4096] = [0; 4096];
    // SAFETY: the buffer is as large as is told, and outlives the call, which writes a zero behind the path.
    let length = unsafe { libc::proc_pidpath(pid.cast_signed(), buffer.as_mut_ptr().cast(), 4096) };
    if length <= 0 { Err(io::Error::last_os_error()) } else { Ok(path(&buffer)) }
}
