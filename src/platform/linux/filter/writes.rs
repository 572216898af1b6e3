//! Files that are about to be opened for writing, or given another name: asked about so that whoever watches published
//! files is in time, and knows who it was. All are let through.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use libc::sock_filter;
use rustix::io::Errno;

use super::super::super::FileGlob;
use super::listener::Question;
use super::numbering::{self, ASK, HAS, IS, LOAD, Numbering, OPENAT2, RETURN, SECOND, THIRD, numbering, plain, unless};
use super::program::{Kind, Place};
use super::reach::read_path;
use crate::model::SharedKind;

/// Flags of `open` with which something can change; they are the same everywhere.
const CHANGING: u32 = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC).cast_unsigned();

/// A part of a filter that asks about these calls, and leaves all others to what comes behind it.
pub fn section() -> Vec<sock_filter> {
    let always = |numbering: &Numbering| {
        // The flags of `openat2` are in memory, so all of it is asked about.
        let opens = [numbering.creat, Some(OPENAT2), numbering.link, Some(numbering.linkat)].into_iter();
        let renames = [numbering.rename, Some(numbering.renameat), Some(numbering.renameat2)];
        opens.chain(renames).flatten().collect()
    };
    let by_flags = |numbering: &Numbering| {
        let calls = [numbering.open.map(|open| (open, SECOND)), Some((numbering.openat, THIRD))];
        let number = numbering.load();
        let again = u8::try_from(number.len()).expect("a number is short");
        let mut steps = Vec::new();
        for (call, flags) in calls.into_iter().flatten() {
            steps.extend([unless(IS, call, 3 + again), plain(LOAD, flags)]);
            steps.extend([unless(HAS, CHANGING, 1), plain(RETURN, ASK)]);
            steps.extend(&number);
        }
        steps
    };
    numbering::section(always, by_flags)
}

/// A file that is about to be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    pub place: Place,
    /// Whether it may change by that. Of `openat2` that is not known, and so assumed.
    pub changes: bool,
}

/// What a call opens, if it is one of those that open.
pub fn opened(arch: u32, number: i32, args: &[u64; 6]) -> Option<Opening> {
    let (numbering, number) = numbering(arch, number)?;
    let changes = |flags: u64| flags & u64::from(CHANGING) != 0;
    let here = Place { folder: libc::AT_FDCWD, path: args[0] };
    let there = Place::at(args, 0, 1);
    Some(match number {
        number if Some(number) == numbering.open => Opening { place: here, changes: changes(args[1]) },
        number if Some(number) == numbering.creat => Opening { place: here, changes: true },
        number if number == numbering.openat => Opening { place: there, changes: changes(args[2]) },
        OPENAT2 => Opening { place: there, changes: true },
        _ => return None,
    })
}

/// What a thread is about to do to files; with the paths as [`meant`] tells them.
#[derive(Debug, Default)]
pub struct About {
    /// It opens this one, for writing where that can be told.
    pub opens: Option<PathBuf>,
    /// It gives the first another name, the second.
    pub renames: Option<(PathBuf, PathBuf)>,
    /// It uses these, which are there once for everybody; where that is asked.
    pub claims: Vec<(SharedKind, String)>,
}

impl About {
    /// Whether it opens nothing, gives no name and uses nothing else, as far as anybody wants to know.
    pub fn is_nothing(&self) -> bool {
        self.opens.is_none() && self.renames.is_none() && self.claims.is_empty()
    }
}

/// What a question is about, as far as files are concerned that one of the globs may match: most are told from these by
/// their name alone.
pub fn about(question: &Question, globs: &[FileGlob]) -> About {
    let thread = question.thread;
    let read = |place: Place| read_name(thread, place).ok();
    let sought = |place: Place| {
        let path = read(place)?;
        let name = path.file_name()?.to_string_lossy();
        if globs.iter().any(|glob| glob.may_be_named(&name)) { meant(thread, place.folder, &path) } else { None }
    };
    let renames = match question.call.map(|call| call.kind) {
        Some(Kind::Rename { from, to, .. }) => {
            sought(to).and_then(|to| Some((meant(thread, from.folder, &read(from)?)?, to)))
        }
        _ => None,
    };
    let opening = question.opens.filter(|opening| opening.changes);
    About { opens: opening.and_then(|opening| sought(opening.place)), renames, claims: Vec::new() }
}

/// The path that a thread gives for a place, as it has it.
///
/// # Errors
///
/// What can't be read of the thread.
pub fn read_name(thread: u32, place: Place) -> Result<PathBuf, Errno> {
    read_path(thread, place.path).map(|path| PathBuf::from(OsString::from_vec(path)))
}

/// Folders that lead to whoever looks, and where they lead among a thread's own in `/proc`.
const OWN: [(&str, &str); 3] = [("/proc/self", ""), ("/proc/thread-self", ""), ("/dev/fd", "fd")];

/// What a thread means by a path, from one of its folders; in this process's view, with the links on the way to its folder
/// followed. `None` if that can't be read, or if there is no such folder.
pub fn meant(thread: u32, folder: i32, path: &Path) -> Option<PathBuf> {
    let own = OWN.iter().find_map(|(start, its)| Some((its, path.strip_prefix(start).ok()?)));
    if let Some((its, rest)) = own {
        let path = Path::new("/proc").join(thread.to_string()).join(its).join(rest);
        return Some(std::fs::canonicalize(path.parent()?).ok()?.join(path.file_name()?));
    }
    let from = match folder {
        _ if path.is_absolute() => format!("/proc/{thread}/root"),
        libc::AT_FDCWD => format!("/proc/{thread}/cwd"),
        fd => format!("/proc/{thread}/fd/{fd}"),
    };
    let from = std::fs::read_link(from).ok()?;
    let whole = from.join(path.strip_prefix("/").unwrap_or(path));
    Some(std::fs::canonicalize(whole.parent()?).ok()?.join(whole.file_name()?))
}

#[cfg(test)]
mod tests {
    use super::super::numbering::{AARCH64, ALLOW, ARCH, I386, NO_SUCH_CALL, NUMBER, X86_64, interpret};
    use super::*;

    fn run(arch: u32, number: u32, second: u32, third: u32) -> u32 {
        let mut program = section();
        program.push(plain(RETURN, ALLOW));
        interpret(&program, &[(NUMBER, number), (ARCH, arch), (SECOND, second), (THIRD, third)])
    }

    #[test]
    fn what_can_change_a_file_is_asked_about() {
        let create = (libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC).cast_unsigned();
        let read = (libc::O_RDONLY | libc::O_CLOEXEC).cast_unsigned();
        for (arch, number, second, third, answer) in [
            (X86_64, 2, create, 0, ASK),
            (X86_64, 2, read, create, ALLOW),
            (X86_64, 257, 0, create, ASK),
            (X86_64, 257, create, read, ALLOW),
            (X86_64, 257, 0, libc::O_RDWR.cast_unsigned(), ASK),
            (X86_64, 437, 0, 0, ASK),
            (X86_64, 85, 0, 0, ASK),
            (X86_64, 86, 0, 0, ASK),
            (X86_64, 316, 0, 0, ASK),
            (X86_64, 0x4000_0000 + 257, 0, create, ASK),
            (X86_64, 425, 0, 0, NO_SUCH_CALL),
            (X86_64, 0, create, create, ALLOW),
            (I386, 5, create, 0, ASK),
            (I386, 295, 0, read, ALLOW),
            (AARCH64, 56, 0, create, ASK),
            (AARCH64, 56, 0, read, ALLOW),
            (AARCH64, 37, 0, 0, ASK),
            (AARCH64, 2, create, 0, ALLOW),
            (0x1234, 2, create, 0, ALLOW),
        ] {
            assert_eq!(run(arch, number, second, third), answer, "{arch:#x} {number} {second:#o} {third:#o}");
        }
    }

    #[test]
    fn what_is_opened_is_understood() {
        let args = [3, 0x1000, 5, 0, 0, 0];
        let place = |folder, path| Some(Place { folder, path });
        let changing = |arch, number, args: &[u64; 6]| opened(arch, number, args).map(|opening| opening.changes);
        assert_eq!(changing(X86_64, 257, &[3, 0x1000, 0, 0, 0, 0]), Some(false));
        assert_eq!(changing(X86_64, 257, &[3, 0x1000, u64::from(CHANGING), 0, 0, 0]), Some(true));
        let opened = |arch, number, args: &[u64; 6]| opened(arch, number, args).map(|opening| opening.place);
        assert_eq!(opened(X86_64, 257, &args), place(3, 0x1000));
        assert_eq!(opened(AARCH64, 437, &args), place(3, 0x1000));
        assert_eq!(opened(X86_64, 2, &args), place(libc::AT_FDCWD, 3));
        assert_eq!(opened(I386, 8, &args), place(libc::AT_FDCWD, 3));
        assert_eq!(opened(X86_64, 82, &args), None, "a rename opens nothing");
    }
}
