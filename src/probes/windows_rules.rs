//! What Windows makes of a removal or a rename that Linux would allow: a pure function, and the table that it needs of who
//! opens files how.
//!
//! Windows looks at who has the file: each opening says what others may do meanwhile, and a removal or a rename wants
//! delete access, which all openings must share (Microsoft's page on `CreateFileW`, `dwShareMode`; [MS-FSA], the check of
//! sharing conflicts). What is not known is predicted, never refused.

use crate::model::{Act, Answer, Holder, How, Refusal, Refused, Rule, Target};

/// `ERROR_ACCESS_DENIED`.
const DENIED: u32 = 5;
/// `ERROR_SHARING_VIOLATION`.
const SHARING: u32 = 32;

/// Says what Windows makes of an act by the program `caller` on a target, given who has it. A refusal that is sure comes
/// before one that is not, and of several the one of the first holder.
#[must_use]
pub fn judge(act: Act, caller: &str, target: Target, holders: &[Holder<'_>]) -> Answer {
    let mut predicted = Answer::Allow;
    let of_holders = holders.iter().enumerate().map(|(index, holder)| match target {
        Target::Directory => directory(act, index, holder),
        Target::File { .. } => file(act, index, holder),
    });
    for answer in of_holders.chain([read_only(act, caller, target)]) {
        match answer {
            Answer::Refuse(_) => return answer,
            Answer::Predict(_) if predicted == Answer::Allow => predicted = answer,
            Answer::Predict(_) | Answer::Allow => {}
        }
    }
    predicted
}

fn busy(rule: Rule, holder: usize) -> Refusal {
    Refusal { rule, class: Refused::Busy, winerror: SHARING, holder: Some(holder) }
}

fn denied(rule: Rule, holder: usize) -> Refusal {
    Refusal { rule, class: Refused::Denied, winerror: DENIED, holder: Some(holder) }
}

/// - The current directory: the system keeps a handle on it that shares reading and writing only
///   (`RtlSetCurrentDirectory_U` opens it with `FILE_SHARE_READ | FILE_SHARE_WRITE`). Error 32; Wine says the same, for a
///   removal and a rename, by the process itself and by others. Whether programs of MSYS share theirs for deletion is not
///   known here: no exception is made for them.
/// - A descriptor of a directory, or a chroot, has no counterpart in most runtimes there: predicted.
/// - A rename wants nothing below to be open, however it is shared ([MS-FSA] 2.1.5.15.11: a directory with open files
///   below it, `STATUS_ACCESS_DENIED`). Whether what is merely mapped counts depends on the file system: predicted.
fn directory(act: Act, index: usize, holder: &Holder<'_>) -> Answer {
    if holder.below {
        return match (act, holder.how) {
            (Act::Remove | Act::Replace, _) => Answer::Allow,
            (Act::Rename, How::Cwd | How::ThreadCwd) => Answer::Refuse(denied(Rule::OpenBelow, index)),
            (Act::Rename, How::Descriptor) if !holder.directory => Answer::Refuse(denied(Rule::OpenBelow, index)),
            (Act::Rename, _) => Answer::Predict(denied(Rule::OpenBelow, index)),
        };
    }
    match holder.how {
        How::Cwd | How::ThreadCwd => Answer::Refuse(busy(Rule::CurrentDirectory, index)),
        How::Descriptor | How::Root => Answer::Predict(busy(Rule::OpenDirectory, index)),
        How::Mount | How::Socket | How::Executable | How::Mapping => Answer::Allow,
    }
}

/// - An open file: it depends on who opened it, see [`sharing`]. `DeleteFileW` and `MoveFileExW` say 32 of the file
///   itself; `MoveFileExW` says 5 of a target that it is to replace. Wine says the same.
/// - A target that is open with delete sharing can be replaced by a rename with POSIX semantics only
///   (`FILE_RENAME_POSIX_SEMANTICS`), and which versions of which functions ask for that differs: predicted.
/// - A running program or a mapped file can't be removed or replaced, but renamed (`MmFlushImageSection` fails:
///   `STATUS_CANNOT_DELETE`, error 5). Wine says the same of a running program.
fn file(act: Act, index: usize, holder: &Holder<'_>) -> Answer {
    match holder.how {
        How::Descriptor => {
            let refusal = if act == Act::Replace { denied(Rule::OpenFile, index) } else { busy(Rule::OpenFile, index) };
            match sharing(holder.program) {
                Sharing::Kept => Answer::Refuse(refusal),
                Sharing::Unknown => Answer::Predict(refusal),
                Sharing::Shared if act == Act::Replace => Answer::Predict(denied(Rule::OpenTarget, index)),
                Sharing::Shared => Answer::Allow,
            }
        }
        How::Executable | How::Mapping if act != Act::Rename => Answer::Refuse(denied(Rule::Image, index)),
        _ => Answer::Allow,
    }
}

/// A read-only file: `DeleteFileW` fails with `ERROR_ACCESS_DENIED` (its page, remarks), and `MoveFileExW` replaces none. Some runtimes take
/// the attribute away first, so that their programs see nothing of it: see [`Runtime::removes_read_only`].
fn read_only(act: Act, caller: &str, target: Target) -> Answer {
    if target != (Target::File { read_only: true }) || act == Act::Rename {
        return Answer::Allow;
    }
    let refusal = Refusal { rule: Rule::ReadOnly, class: Refused::Denied, winerror: DENIED, holder: None };
    match Runtime::of(caller).and_then(Runtime::removes_read_only) {
        Some(true) if act == Act::Remove => Answer::Allow,
        Some(false) => Answer::Refuse(refusal),
        _ => Answer::Predict(refusal),
    }
}

/// Whether a program's open files may be removed under it on Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sharing {
    /// It opens with `FILE_SHARE_DELETE`.
    Shared,
    /// It opens without.
    Kept,
    Unknown,
}

fn sharing(program: &str) -> Sharing {
    match Runtime::of(program) {
        Some(Runtime::Node | Runtime::Rust | Runtime::Msys) => Sharing::Shared,
        Some(Runtime::Python | Runtime::Go | Runtime::Ruby | Runtime::Perl) => Sharing::Kept,
        Some(Runtime::Java | Runtime::Git) | None => Sharing::Unknown,
    }
}

/// What opens and removes files for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runtime {
    /// `CPython`: `open` and `os.open` call the C library's `_wopen` (`Modules/_io/fileio.c`, `Modules/posixmodule.c`), which
    /// shares reading and writing only (`_SH_DENYNO`). `os.remove` is `DeleteFileW` as it is.
    Python,
    /// libuv, src/win/fs.c: `fs__open` shares everything "to match UNIX semantics", unless `UV_FS_O_EXLOCK`; `fs__unlink`
    /// takes a read-only attribute away.
    Node,
    /// `syscall/syscall_windows.go`, `Open`: `FILE_SHARE_READ | FILE_SHARE_WRITE` (golang/go#32088 declined to change that;
    /// only what is opened through an `os.Root` is shared). `os.Remove` takes a read-only attribute away.
    Go,
    /// `library/std/src/sys/fs/windows.rs`, `OpenOptions::new`: all three shared. `remove_file` fails on a read-only file
    /// up to 1.85, and removes it since: so neither is said of it.
    Rust,
    /// java.io shares reading and writing (`io_util_md.c`, `winFileHandleOpen`), java.nio everything
    /// (`WindowsChannelFactory.java`, `shareDelete = true`): it depends on the class.
    Java,
    /// Cygwin's fhandler.cc, `fhandler_base::open`: `FILE_SHARE_VALID_FLAGS`; `unlink_nt` takes a read-only attribute
    /// away. Git Bash's sh, bash and tools are programs of MSYS, which is Cygwin's.
    Msys,
    /// compat/mingw.c: from 2.48 existing files are opened shared (`mingw_open_existing`), new ones and all before are
    /// not. `mingw_unlink` takes a read-only attribute away.
    Git,
    /// win32/win32.c, `rb_w32_wopen`: shared only with `File::SHARE_DELETE`. `wunlink` takes a read-only attribute away.
    Ruby,
    /// win32/win32.c, `win32_open`: the C library's. `win32_unlink` takes a read-only attribute away.
    Perl,
}

impl Runtime {
    /// By the name of the program, with or without a version. What is compiled has a name of its own, and is unknown.
    fn of(program: &str) -> Option<Self> {
        let name = program.strip_suffix(".exe").unwrap_or(program);
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        Some(match name {
            "python" | "pythonw" => Self::Python,
            "node" | "nodejs" => Self::Node,
            "go" | "gofmt" => Self::Go,
            "cargo" | "rustc" | "rustup" | "hostproof" => Self::Rust,
            "java" | "javaw" => Self::Java,
            "sh" | "bash" | "dash" | "busybox" | "cat" | "cp" | "mv" | "rm" | "sleep" | "tail" | "tee" | "sed"
            | "grep" | "awk" | "gawk" | "mawk" | "sort" | "find" | "xargs" | "env" | "flock" => Self::Msys,
            "git" => Self::Git,
            "ruby" => Self::Ruby,
            "perl" => Self::Perl,
            _ => return None,
        })
    }

    /// Whether its way to remove a file takes the read-only attribute away first; `None` if that differs.
    fn removes_read_only(self) -> Option<bool> {
        match self {
            Self::Python => Some(false),
            Self::Rust | Self::Java => None,
            Self::Node | Self::Go | Self::Msys | Self::Git | Self::Ruby | Self::Perl => Some(true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Target = Target::File { read_only: false };

    fn holder(how: How, program: &str) -> Holder<'_> {
        let directory = matches!(how, How::Cwd | How::ThreadCwd | How::Root);
        Holder { how, program, below: false, directory }
    }

    fn said(act: Act, target: Target, holder: Holder<'_>) -> (&'static str, Option<(Rule, u32)>) {
        match judge(act, "python3", target, &[holder]) {
            Answer::Allow => ("allow", None),
            Answer::Refuse(refusal) => ("refuse", Some((refusal.rule, refusal.winerror))),
            Answer::Predict(refusal) => ("predict", Some((refusal.rule, refusal.winerror))),
        }
    }

    #[test]
    fn directories() {
        use Act::{Remove, Rename, Replace};
        let below = |how, directory| Holder { how, program: "node", below: true, directory };
        let rows = [
            (Remove, holder(How::Cwd, "sleep"), "refuse", Some((Rule::CurrentDirectory, 32))),
            (Rename, holder(How::Cwd, "sleep"), "refuse", Some((Rule::CurrentDirectory, 32))),
            (Replace, holder(How::Cwd, "sleep"), "refuse", Some((Rule::CurrentDirectory, 32))),
            (Remove, holder(How::ThreadCwd, "x"), "refuse", Some((Rule::CurrentDirectory, 32))),
            (Remove, holder(How::Descriptor, "python3"), "predict", Some((Rule::OpenDirectory, 32))),
            (Remove, holder(How::Root, "x"), "predict", Some((Rule::OpenDirectory, 32))),
            (Remove, holder(How::Mount, "x"), "allow", None),
            // Nothing is removed with something in it; that fails by itself.
            (Remove, below(How::Cwd, true), "allow", None),
            (Rename, below(How::Cwd, true), "refuse", Some((Rule::OpenBelow, 5))),
            (Rename, below(How::Descriptor, false), "refuse", Some((Rule::OpenBelow, 5))),
            (Rename, below(How::Descriptor, true), "predict", Some((Rule::OpenBelow, 5))),
            (Rename, below(How::Mapping, false), "predict", Some((Rule::OpenBelow, 5))),
        ];
        for (act, holder, answer, refusal) in rows {
            assert_eq!(said(act, Target::Directory, holder), (answer, refusal), "{act:?} {holder:?}");
        }
    }

    #[test]
    fn files() {
        use Act::{Remove, Rename, Replace};
        let open = |program| holder(How::Descriptor, program);
        let rows = [
            (Remove, open("python3.11"), "refuse", Some((Rule::OpenFile, 32))),
            (Rename, open("python"), "refuse", Some((Rule::OpenFile, 32))),
            (Replace, open("go"), "refuse", Some((Rule::OpenFile, 5))),
            (Remove, open("node"), "allow", None),
            (Remove, open("bash"), "allow", None),
            (Rename, open("rustc"), "allow", None),
            (Replace, open("node"), "predict", Some((Rule::OpenTarget, 5))),
            (Remove, open("java"), "predict", Some((Rule::OpenFile, 32))),
            (Remove, open("git"), "predict", Some((Rule::OpenFile, 32))),
            (Remove, open("something"), "predict", Some((Rule::OpenFile, 32))),
            (Remove, holder(How::Executable, "x"), "refuse", Some((Rule::Image, 5))),
            (Replace, holder(How::Mapping, "x"), "refuse", Some((Rule::Image, 5))),
            (Rename, holder(How::Executable, "x"), "allow", None),
            (Remove, holder(How::Socket, "x"), "allow", None),
        ];
        for (act, holder, answer, refusal) in rows {
            assert_eq!(said(act, FILE, holder), (answer, refusal), "{act:?} {holder:?}");
        }
    }

    #[test]
    fn read_only_files() {
        let target = Target::File { read_only: true };
        let answer = |act, caller| match judge(act, caller, target, &[]) {
            Answer::Allow => "allow",
            Answer::Refuse(_) => "refuse",
            Answer::Predict(_) => "predict",
        };
        assert_eq!(answer(Act::Remove, "python3"), "refuse");
        assert_eq!(answer(Act::Remove, "git"), "allow");
        assert_eq!(answer(Act::Remove, "node"), "allow");
        assert_eq!(answer(Act::Replace, "node"), "predict");
        assert_eq!(answer(Act::Replace, "python3"), "refuse");
        assert_eq!(answer(Act::Remove, "something"), "predict");
        assert_eq!(answer(Act::Remove, "cargo"), "predict");
        assert_eq!(answer(Act::Rename, "python3"), "allow");
        assert_eq!(judge(Act::Remove, "python3", FILE, &[]), Answer::Allow);
    }

    #[test]
    fn a_sure_refusal_comes_before_a_predicted_one() {
        let holders = [holder(How::Descriptor, "x"), holder(How::Cwd, "sleep")];
        let Answer::Refuse(refusal) = judge(Act::Remove, "rm", Target::Directory, &holders) else {
            panic!("the second holder sits in it");
        };
        assert_eq!((refusal.holder, refusal.class), (Some(1), Refused::Busy));
    }

    #[test]
    fn programs_are_known_with_and_without_a_version() {
        for name in ["python", "python3", "python3.13", "python.exe", "python3-"] {
            assert_eq!(Runtime::of(name), Some(Runtime::Python), "{name}");
        }
        assert_eq!(Runtime::of("pythonic"), None);
        assert_eq!(Runtime::of(""), None);
    }
}
