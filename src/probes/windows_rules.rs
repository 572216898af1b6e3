//! What Windows makes of a removal or a rename that Linux would allow: a pure function, and the table that it needs of who
//! opens files how.
//!
//! Windows looks at who has the file: each opening says what others may do meanwhile, and a removal or a rename wants
//! delete access, which all openings must share (Microsoft's page on `CreateFileW`, `dwShareMode`; [MS-FSA], the check of
//! sharing conflicts). What is not known is predicted, never refused.

use crate::model::{Act, Answer, Came, Holder, How, Judge, Refusal, Refused, Rule, Target, WindowsRules};

/// `ERROR_ACCESS_DENIED`.
const DENIED: u32 = 5;
/// `ERROR_SHARING_VIOLATION`.
const SHARING: u32 = 32;

/// What answers calls by this table.
pub const JUDGE: Judge = Judge { judge, unlink_directory };

/// Says what Windows makes of an act by the program `caller` on a target, given who has it. A refusal that is sure comes
/// before one that is not, and of several the one of the first holder.
#[must_use]
pub fn judge(act: Act, caller: &str, target: Target, holders: &[Holder<'_>], rules: &WindowsRules) -> Answer {
    let mut predicted = Answer::Allow;
    let of_holders = holders.iter().enumerate().map(|(index, holder)| match target {
        Target::Directory => directory(act, index, holder),
        Target::File { .. } => file(act, caller, index, holder, rules),
    });
    for answer in of_holders.chain([read_only(act, caller, target), onto_directory(act, caller, target)]) {
        match answer {
            Answer::Refuse(refusal) => {
                return Answer::Refuse(Refusal { class: class(refusal.class, caller, rules), ..refusal });
            }
            Answer::Predict(_) if predicted == Answer::Allow => predicted = answer,
            Answer::Predict(_) | Answer::Allow => {}
        }
    }
    predicted
}

/// How `DeleteFileW` of a directory, which is refused with `ERROR_ACCESS_DENIED`, shows in a program that hands that on.
/// `None` for those that look for a directory first, or try the call for directories next, and for rules that are not
/// faithful.
#[must_use]
pub fn unlink_directory(caller: &str, rules: &WindowsRules) -> Option<Refused> {
    let hands_on = !matches!(Runtime::of(caller), Some(Runtime::Go | Runtime::Java | Runtime::Msys | Runtime::Git));
    (rules.faithful && hands_on).then(|| class(Refused::Denied, caller, rules))
}

/// What becomes of the two errors in the words of a runtime, if the rules are faithful:
///
/// - The C library makes `EACCES` of both (`_dosmaperr`), and so do `CPython` (`PC/errmap.h`), Ruby and Perl (win32/win32.c),
///   and git (compat/mingw.c, `err_win_to_posix`).
/// - libuv makes `EBUSY` and `EPERM` of them (src/win/error.c), Cygwin `EBUSY` and `EACCES` (winsup/cygwin/errno.cc).
/// - Go and Rust know 5 as a missing permission, and 32 as nothing that has a name (`syscall.Errno.Is`; std's
///   `decode_error_kind`); Java likewise (`WindowsException`).
fn class(refused: Refused, caller: &str, rules: &WindowsRules) -> Refused {
    match (Runtime::of(caller), refused) {
        _ if !rules.faithful => refused,
        (Some(Runtime::Node), Refused::Denied) => Refused::NotPermitted,
        (Some(Runtime::Node | Runtime::Go | Runtime::Rust | Runtime::Java | Runtime::Msys), _) => refused,
        _ => Refused::Denied,
    }
}

fn busy(rule: Rule, holder: usize) -> Refusal {
    Refusal { rule, class: Refused::Busy, winerror: SHARING, holder: Some(holder) }
}

fn denied(rule: Rule, holder: usize) -> Refusal {
    Refusal { rule, class: Refused::Denied, winerror: DENIED, holder: Some(holder) }
}

/// - The current directory: the system keeps a handle on it that shares reading and writing only
///   (`RtlSetCurrentDirectory_U` opens it with `FILE_SHARE_READ | FILE_SHARE_WRITE`). Error 32; Wine says the same, for a
///   removal and a rename, by the process itself and by others, and 5 of a target of a rename. Whether programs of MSYS share theirs for deletion is not
///   known here: no exception is made for them.
/// - A descriptor of a directory, or a chroot, has no counterpart in most runtimes there: predicted.
/// - A rename wants nothing below to be open, however it is shared ([MS-FSA] 2.1.5.15.11: a directory with open files
///   below it, `STATUS_ACCESS_DENIED`). Whether what is merely mapped counts depends on the file system: predicted, as
///   is what a forked process has of its parent, and what a process has that Windows would not have.
fn directory(act: Act, index: usize, holder: &Holder<'_>) -> Answer {
    let sure = !matches!(holder.came, Came::Forked | Came::Helper);
    if holder.below {
        return match (act, holder.how) {
            (Act::Remove | Act::Replace, _) => Answer::Allow,
            (Act::Rename, How::Cwd | How::ThreadCwd) if sure => Answer::Refuse(denied(Rule::OpenBelow, index)),
            (Act::Rename, How::Descriptor) if !holder.directory && holder.came != Came::Forked => {
                Answer::Refuse(denied(Rule::OpenBelow, index))
            }
            (Act::Rename, _) => Answer::Predict(denied(Rule::OpenBelow, index)),
        };
    }
    let held = if act == Act::Replace { denied } else { busy };
    match holder.how {
        How::Cwd | How::ThreadCwd if sure => Answer::Refuse(held(Rule::CurrentDirectory, index)),
        How::Cwd | How::ThreadCwd => Answer::Predict(held(Rule::CurrentDirectory, index)),
        How::Descriptor | How::Root => Answer::Predict(held(Rule::OpenDirectory, index)),
        How::Mount | How::Socket | How::Executable | How::Mapping => Answer::Allow,
    }
}

/// - An open file: it depends on who opened it, see [`sharing`]. `DeleteFileW` and `MoveFileExW` say 32 of the file
///   itself; `MoveFileExW` says 5 of a target that it is to replace. Wine says the same. A process's own opening counts as
///   any other.
/// - A target that is open with delete sharing can be replaced by a rename with POSIX semantics only
///   (`FILE_RENAME_POSIX_SEMANTICS`), and which versions of which functions ask for that differs: predicted.
/// - A running program or a mapped file can't be removed or replaced, but renamed (`MmFlushImageSection` fails:
///   `STATUS_CANNOT_DELETE`, error 5; also [MS-FSCC] on `FILE_DISPOSITION_INFORMATION_EX`). Wine says the same of a running
///   program. What maps mere data here need not do so there, but for Python's mmap: predicted. So is what a program of
///   MSYS removes, which may move it away instead (winsup/cygwin/syscalls.cc, `unlink_nt` and `try_to_bin`).
fn file(act: Act, caller: &str, index: usize, holder: &Holder<'_>, rules: &WindowsRules) -> Answer {
    let moves_away = act == Act::Remove && Runtime::of(caller) == Some(Runtime::Msys);
    match holder.how {
        How::Descriptor => {
            let refusal = if act == Act::Replace { denied(Rule::OpenFile, index) } else { busy(Rule::OpenFile, index) };
            match sharing(holder, rules) {
                Sharing::Kept => Answer::Refuse(refusal),
                Sharing::Unknown => Answer::Predict(refusal),
                Sharing::Shared if act == Act::Replace => Answer::Predict(denied(Rule::OpenTarget, index)),
                Sharing::Shared => Answer::Allow,
            }
        }
        How::Executable | How::Mapping if moves_away => Answer::Predict(denied(Rule::Image, index)),
        How::Executable if act != Act::Rename => Answer::Refuse(denied(Rule::Image, index)),
        How::Mapping if act != Act::Rename => {
            let python = Runtime::of(holder.program) == Some(Runtime::Python);
            match holder.came {
                Came::Code => Answer::Refuse(denied(Rule::Image, index)),
                Came::Opened if python => Answer::Refuse(denied(Rule::Image, index)),
                _ => Answer::Predict(denied(Rule::Image, index)),
            }
        }
        _ => Answer::Allow,
    }
}

/// A read-only file: `DeleteFileW` fails with `ERROR_ACCESS_DENIED` (its page, remarks), and `MoveFileExW` replaces none.
/// Some runtimes take the attribute away first, so that their programs see nothing of it: see
/// [`Runtime::removes_read_only`]. Python's `NamedTemporaryFile` is removed by Windows itself when it is closed, whatever
/// its attributes are by then.
fn read_only(act: Act, caller: &str, target: Target) -> Answer {
    let Target::File { read_only: true, temporary } = target else { return Answer::Allow };
    if act == Act::Rename {
        return Answer::Allow;
    }
    let refusal = Refusal { rule: Rule::ReadOnly, class: Refused::Denied, winerror: DENIED, holder: None };
    match Runtime::of(caller).and_then(Runtime::removes_read_only) {
        Some(true) if act == Act::Remove => Answer::Allow,
        Some(false) if !temporary => Answer::Refuse(refusal),
        _ => Answer::Predict(refusal),
    }
}

/// A rename onto a directory: `MoveFileExW` does none, whoever has it (its page: `MOVEFILE_REPLACE_EXISTING` can't be used
/// if either name is a directory's): error 5, and without that flag 183, as of `os.rename` of `CPython`, which is the same
/// call here as `os.replace` (Modules/posixmodule.c, `internal_rename`). Others remove it first, or ask for POSIX
/// semantics, which replace one that is empty: see [`Runtime::replaces_directories`].
fn onto_directory(act: Act, caller: &str, target: Target) -> Answer {
    if (act, target) != (Act::Replace, Target::Directory) {
        return Answer::Allow;
    }
    let refusal = Refusal { rule: Rule::TargetDirectory, class: Refused::Denied, winerror: DENIED, holder: None };
    match Runtime::of(caller).and_then(Runtime::replaces_directories) {
        Some(true) => Answer::Allow,
        Some(false) => Answer::Refuse(refusal),
        None => Answer::Predict(refusal),
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

/// What is known of an open file: by what the rules say of the program that has it, or else by its runtime, as far as that
/// opened it.
///
/// - All runtimes of the table that keep files open what an execution closes, so what survives one may be of a program
///   before: a shell's `> file` is one. Of a program that only the rules know, this says nothing but for its three streams.
/// - Windows has no fork: what a forked process has of its parent, its counterpart there would not have.
/// - Python's tempfile follows no links. On Windows `NamedTemporaryFile` adds `O_TEMPORARY`, with which the C library
///   shares deletion, and `TemporaryFile` is the same, where here it may unlink its open file; `mkstemp` does neither. Which
///   one it was can't be seen (Lib/tempfile.py).
fn sharing(holder: &Holder<'_>, rules: &WindowsRules) -> Sharing {
    let runtime = Runtime::of(holder.program);
    let told = shares_delete(holder.program, rules);
    let shared = told.or_else(|| runtime.and_then(Runtime::shares_delete)).or((rules.strict).then_some(false));
    let sure = match holder.came {
        Came::Opened | Came::Code => true,
        Came::OpenedNoFollow => runtime != Some(Runtime::Python),
        Came::Inheritable => runtime.is_none_or(|runtime| runtime.shares_delete() != Some(false)),
        Came::Stream | Came::Forked | Came::Helper => false,
    };
    match shared {
        Some(true) => Sharing::Shared,
        Some(false) if sure => Sharing::Kept,
        _ => Sharing::Unknown,
    }
}

/// What the rules say of a program: by its name, or else by its name without a version.
fn shares_delete(program: &str, rules: &WindowsRules) -> Option<bool> {
    let plain = |name: &String| without_version(name) == without_version(program);
    let by_name = rules.shares_delete.get(program);
    by_name.or_else(|| rules.shares_delete.iter().find(|(name, _)| plain(name)).map(|(_, shares)| shares)).copied()
}

/// The name of a program without `.exe`, and without a version at its end.
fn without_version(program: &str) -> &str {
    let name = program.strip_suffix(".exe").unwrap_or(program);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-')
}

/// What opens and removes files for a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Runtime {
    /// `CPython`: `open` and `os.open` call the C library's `_wopen` (`Modules/_io/fileio.c`, `_io_FileIO___init___impl`;
    /// `Modules/posixmodule.c`, `os_open_impl`), which shares reading and writing only (`_SH_DENYNO`). `os.remove` is
    /// `DeleteFileW` as it is (`Py_DeleteFileW`).
    Python,
    /// libuv, src/win/fs.c: `fs__open` shares everything, unless `UV_FS_O_EXLOCK`; `fs__unlink_rmdir` ignores a read-only
    /// attribute (`FILE_DISPOSITION_IGNORE_READONLY_ATTRIBUTE`), or takes it away.
    Node,
    /// `syscall/syscall_windows.go`, `Open`: `FILE_SHARE_READ | FILE_SHARE_WRITE`; only what is opened through an `os.Root`
    /// is shared (`internal/syscall/windows/at_windows.go`, `Openat`). `os.Remove` takes a read-only attribute away
    /// (`os/file_windows.go`).
    Go,
    /// `library/std/src/sys/fs/windows.rs`, `OpenOptions::new`: all three shared. `remove_file` fails on a read-only file
    /// up to 1.85, and removes it since: so neither is said of it.
    Rust,
    /// java.io shares reading and writing (`io_util_md.c`, `winFileHandleOpen`), java.nio everything
    /// (`WindowsChannelFactory.java`, `shareDelete = true`): it depends on the class.
    Java,
    /// winsup/cygwin/fhandler/base.cc, `fhandler_base::open`: `FILE_SHARE_VALID_FLAGS`; `unlink_nt` (syscalls.cc) takes a
    /// read-only attribute away. Git Bash's sh, bash and tools are programs of MSYS, which is Cygwin's.
    Msys,
    /// compat/mingw.c: existing files are opened shared where they are not truncated (`mingw_open_existing`), new ones are
    /// not; earlier versions share none. `mingw_unlink` takes a read-only attribute away.
    Git,
    /// win32/win32.c, `rb_w32_wopen`: shared only with `File::SHARE_DELETE`. `wunlink` takes a read-only attribute away.
    Ruby,
    /// win32/win32.c, `win32_open`: the C library's. `win32_unlink` takes a read-only attribute away.
    Perl,
}

impl Runtime {
    /// By the name of the program, with or without a version. What is compiled has a name of its own, and is unknown.
    fn of(program: &str) -> Option<Self> {
        Some(match without_version(program) {
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

    /// Whether what it opens may be removed meanwhile; `None` if that differs.
    fn shares_delete(self) -> Option<bool> {
        match self {
            Self::Node | Self::Rust | Self::Msys => Some(true),
            Self::Python | Self::Go | Self::Ruby | Self::Perl => Some(false),
            Self::Java | Self::Git => None,
        }
    }

    /// Whether its way to rename takes the place of an empty directory; `None` if that is not known, or differs: git did
    /// not, until it asked for POSIX semantics (`mingw_rename`). Programs of MSYS ask for them, or remove what is there
    /// first (winsup/cygwin/syscalls.cc, `rename2`).
    fn replaces_directories(self) -> Option<bool> {
        match self {
            Self::Python => Some(false),
            Self::Msys => Some(true),
            Self::Node | Self::Go | Self::Rust | Self::Java | Self::Git | Self::Ruby | Self::Perl => None,
        }
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
mod tests;
