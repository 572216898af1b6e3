//! Programs that gain rights when they are run, such as sudo: under the filter of a user who is not root they gain none,
//! since only root may put one on without `no_new_privs`. Where that is so each execution is asked about, so that it can
//! be told; all are let through.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use libc::sock_filter;
use rustix::fs::StatVfsMountFlags;
use rustix::io::Errno;

use super::lack::takes_rights_away;
use super::numbering::{ARCH, ASK, IS, LOAD, NUMBER, RETURN, SIXTH, plain, unless};
use super::program::Place;
use super::reach::reach;

/// A sixth argument of `execve`, which has three: by it the filter lets the job's own start through unasked. Whoever
/// would answer waits for that very call.
const UNASKED: u32 = 0x6870_726e;

/// What the kernel calls a numbering in a notification, bits that are no part of a number, and those of `execve` and
/// `execveat`. As in the filter, all that a processor could run.
const NUMBERINGS: [(u32, u32, u32, u32); 5] = [
    // x86_64, and its x32.
    (0xC000_003E, 0, 59, 322),
    (0xC000_003E, 0x4000_0000, 520, 545),
    // i386.
    (0x4000_0003, 0, 11, 358),
    // aarch64.
    (0xC000_00B7, 0, 221, 281),
    // arm.
    (0x4000_0028, 0, 11, 387),
];

/// What goes before a filter that is to ask about executions, too.
pub fn asked() -> Vec<sock_filter> {
    let mut steps = Vec::new();
    for (arch, bits, execve, execveat) in NUMBERINGS {
        for number in [execve, execveat] {
            steps.extend([
                plain(LOAD, ARCH),
                unless(IS, arch, 5),
                plain(LOAD, NUMBER),
                unless(IS, number | bits, 3),
                plain(LOAD, SIXTH),
                // Skips the answer if so.
                sock_filter { code: IS, jt: 1, jf: 0, k: UNASKED },
                plain(RETURN, ASK),
            ]);
        }
    }
    steps
}

/// A program that is about to be executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Execution {
    /// Its path; an empty one stands for the folder itself.
    pub place: Place,
    /// Where the addresses of its arguments are.
    pub argv: u64,
    /// Whether an address has eight bytes, and not four.
    pub wide: bool,
}

/// What a call executes. `None` if it executes nothing.
pub fn execution(arch: u32, number: i32, args: &[u64; 6]) -> Option<Execution> {
    let number = number.cast_unsigned();
    NUMBERINGS.iter().find_map(|&(its, bits, execve, execveat)| {
        if its == arch && number == execve | bits {
            let place = Place { folder: libc::AT_FDCWD, path: args[0] };
            Some(Execution { place, argv: args[1], wide: is_wide(arch, bits) })
        } else if its == arch && number == execveat | bits {
            Some(Execution { place: Place::at(args, 0, 1), argv: args[2], wide: is_wide(arch, bits) })
        } else {
            None
        }
    })
}

/// Whether addresses have eight bytes in a numbering.
fn is_wide(arch: u32, bits: u32) -> bool {
    /// What the kernel calls numberings of such machines has this.
    const IS_64_BIT: u32 = 0x8000_0000;
    arch & IS_64_BIT != 0 && bits == 0
}

/// Executes a program without asking. Returns only if that failed.
///
/// # Safety
///
/// As `execve`.
pub unsafe fn execute(program: *const libc::c_char, argv: *const *const libc::c_char, env: *const *const libc::c_char) {
    // SAFETY: what the caller promises; the other arguments are integers.
    unsafe { libc::syscall(libc::SYS_execve, program, argv, env, 0usize, 0usize, UNASKED as usize) };
}

/// The program that a job starts with, if it would gain rights without the filter.
pub fn starting(program: &Path) -> Option<PathBuf> {
    if !takes_rights_away() {
        return None;
    }
    fs::canonicalize(program).ok().filter(|program| gains(program))
}

/// The program that a thread is about to execute, if it would gain rights anywhere else.
///
/// # Errors
///
/// What can't be read of the thread.
pub fn gaining(thread: u32, place: Place) -> Result<Option<PathBuf>, Errno> {
    let path = reach(thread, place)?.and_then(|reached| fs::canonicalize(reached.path()?).ok());
    Ok(path.filter(|path| gains(path)))
}

fn gains(path: &Path) -> bool {
    let Ok(metadata) = fs::metadata(path) else { return false };
    let (me, mode) = (rustix::process::geteuid().as_raw(), metadata.mode());
    let by_owner = mode & libc::S_ISUID != 0 && metadata.uid() != me;
    let group = libc::S_ISGID | libc::S_IXGRP;
    let by_group = mode & group == group && metadata.gid() != rustix::process::getegid().as_raw();
    let by_capability =
        || rustix::fs::getxattr(path, "security.capability", &mut [0u8; 64]).is_ok_and(|length| length > 0);
    let has_a_say = || rustix::fs::statvfs(path).is_ok_and(|fs| !fs.f_flag.contains(StatVfsMountFlags::NOSUID));
    metadata.is_file() && (by_owner || by_group || by_capability()) && has_a_say()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_are_known_in_every_numbering() {
        let args = [7, 9, 0, 0, 0, 0];
        let execution = |arch, number, args: &[u64; 6]| execution(arch, number, args).map(|execution| execution.place);
        let here = Some(Place { folder: libc::AT_FDCWD, path: 7 });
        let there = Some(Place { folder: 7, path: 9 });
        assert_eq!(execution(0xC000_003E, 59, &args), here);
        assert_eq!(execution(0xC000_003E, 322, &args), there);
        assert_eq!(execution(0xC000_003E, 0x4000_0208, &args), here);
        assert_eq!(execution(0x4000_0003, 11, &args), here);
        assert_eq!(execution(0xC000_003E, 11, &args), None, "munmap");
        let minus_100 = [u64::from(libc::AT_FDCWD.cast_unsigned()), 9, 0, 0, 0, 0];
        assert_eq!(execution(0xC000_00B7, 281, &minus_100), Some(Place { folder: libc::AT_FDCWD, path: 9 }));
        let whole = |arch, number| super::execution(arch, number, &[7, 9, 11, 0, 0, 0]).map(|it| (it.argv, it.wide));
        assert_eq!(whole(0xC000_003E, 59), Some((9, true)));
        assert_eq!(whole(0xC000_003E, 322), Some((11, true)));
        assert_eq!(whole(0xC000_003E, 0x4000_0208), Some((9, false)), "x32");
        assert_eq!(whole(0x4000_0003, 11), Some((9, false)));
    }

    #[test]
    fn a_program_gains_by_its_bits() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("program");
        fs::write(&file, "").expect("a file");
        let is = |mode| {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("the file's own mode");
            gains(&file)
        };
        // By its owner it gains nothing that this process, its owner, has not.
        assert!(!is(0o755) && !is(0o4755) && !is(0o2755));
    }
}
