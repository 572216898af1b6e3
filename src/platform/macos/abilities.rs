//! What can be seen and done here, found by trying.

use super::super::unix::lane;
use super::super::{places, temporary};
use crate::model::Ability;

/// The longest name that a unix socket can have, in bytes.
const SOCKET: usize = 103;

/// Tries everything.
#[must_use]
pub fn abilities() -> Vec<Ability> {
    vec![supervisor(), queue(), processes(), temporary::ability(&places::sandbox_base(), None, Some(SOCKET))]
}

fn supervisor() -> Ability {
    match lane::prepare().and_then(|()| lane::start_lane()) {
        Ok(_) => Ability::yes("a supervisor", "it can be started").essential(),
        Err(error) => Ability::no("a supervisor", error.to_string()).essential(),
    }
}

/// What tells of processes' ends.
fn queue() -> Ability {
    // SAFETY: it takes nothing; the descriptor is closed at once.
    let made = unsafe {
        let queue = libc::kqueue();
        queue >= 0 && libc::close(queue) == 0
    };
    if made {
        Ability::yes("kqueue", "one can be made: ends of processes are told of").essential()
    } else {
        Ability::no("kqueue", std::io::Error::last_os_error().to_string()).essential()
    }
}

/// The processes whose directories and files libproc tells of.
fn processes() -> Ability {
    let name = "holds";
    // SAFETY: without a buffer the function only counts.
    let number = unsafe { libc::proc_listallpids(std::ptr::null_mut(), 0) };
    let room = usize::try_from(number).unwrap_or(0) + 64;
    let mut pids = vec![0 as libc::pid_t; room];
    let size = libc::c_int::try_from(size_of_val(&*pids)).unwrap_or(0);
    // SAFETY: the buffer is as long as is said.
    let number = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
    if number <= 0 {
        return Ability::no(name, format!("libproc lists no process: {}", std::io::Error::last_os_error())).essential();
    }
    pids.truncate(usize::try_from(number).unwrap_or(0));
    // SAFETY: without a buffer the function only says how long the list of descriptors would be.
    let reads = |pid: &&libc::pid_t| unsafe {
        libc::proc_pidinfo(**pid, libc::PROC_PIDLISTFDS, 0, std::ptr::null_mut(), 0) > 0
    };
    let read = pids.iter().filter(reads).count();
    let all = pids.len();
    if read == all {
        return Ability::yes(name, format!("libproc tells of the files of all {all} processes")).essential();
    }
    let why = format!("libproc tells of the files of {read} of {all} processes; those of others can't reach a sandbox");
    Ability::partly(name, why).essential().helped_by("run as root to look into every process")
}
