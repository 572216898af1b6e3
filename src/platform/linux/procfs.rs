//! What /proc tells of one process.

use std::fs;
use std::io::{self, BufRead, BufReader, ErrorKind};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::mounts::Views;
use super::sockets::Bound;
use super::sought::{Sought, hold};
use super::{argv, clock, terminal, waits};
use crate::model::{Hold, How, Process, ProcessRef, Stream};

/// What is looked for in a process.
pub struct Wanted<'a> {
    /// Folders whose holders are of interest.
    pub roots: &'a [PathBuf],
    /// The pipes of interest by their inodes, or the terminals by their numbers, and what they are to the job.
    pub pipes: [(u64, Stream); 2],
    /// The first process of the job, which leads its session; `None` if no job is meant.
    pub leader: Option<u32>,
    /// `CLOCK_BOOTTIME` at the job's start, in milliseconds: what start times are told after.
    pub started_ms: u64,
    /// The unix sockets that are bound in the roots.
    pub sockets: &'a Bound,
    /// What the folders are called where other things are mounted.
    pub views: Views,
}

impl<'a> Wanted<'a> {
    /// Holders in these folders, whatever job they belong to; start times are after the machine's.
    pub fn in_roots(roots: &'a [PathBuf], sockets: &'a Bound) -> Self {
        Self {
            roots,
            pipes: [(0, Stream::Stdout), (0, Stream::Stderr)],
            leader: None,
            started_ms: 0,
            sockets,
            views: Views::default(),
        }
    }
}

/// The fields of /proc/PID/stat that are used.
#[derive(Debug, Clone)]
pub struct Stat {
    pub name: String,
    pub state: char,
    pub parent: u32,
    pub session: u32,
    /// Whether it has executed nothing since it was forked.
    pub forked: bool,
    /// In clock ticks after boot.
    pub start: u64,
}

/// The kernel's flag, of include/linux/sched.h, for a process that was forked and has executed nothing yet.
const PF_FORKNOEXEC: u32 = 0x40;

/// Reads /proc/PID/stat.
pub fn stat(pid: u32) -> io::Result<Stat> {
    let bytes = fs::read(format!("/proc/{pid}/stat"))?;
    let text = String::from_utf8_lossy(&bytes);
    parse_stat(&text)
        .ok_or_else(|| io::Error::new(ErrorKind::InvalidData, format!("/proc/{pid}/stat has another form")))
}

fn parse_stat(text: &str) -> Option<Stat> {
    // The name is in brackets and may itself contain brackets and blanks.
    let open = text.find('(')?;
    let close = text.rfind(')')?;
    let mut fields = text.get(close + 1..)?.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    let parent = fields.next()?.parse().ok()?;
    let _group = fields.next()?;
    let session = fields.next()?.parse().ok()?;
    // Fields 9 and 22 of the manual; the state is field 3.
    let flags: u32 = fields.nth(2)?.parse().ok()?;
    let start = fields.nth(12)?.parse().ok()?;
    let forked = flags & PF_FORKNOEXEC != 0;
    Some(Stat { name: text.get(open + 1..close)?.to_owned(), state, parent, session, forked, start })
}

/// Whose a process is, and what it may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Credentials {
    /// The effective user.
    pub uid: u32,
    /// The permitted capabilities, as a set of bits.
    capabilities: u64,
}

impl Credentials {
    /// Those of a process. `None` if it is gone.
    pub fn of(pid: u32) -> Option<Self> {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let uid = field("Uid:")?.split_ascii_whitespace().nth(1)?.parse().ok()?;
        let capabilities = u64::from_str_radix(field("CapPrm:")?.trim(), 16).ok()?;
        Some(Self { uid, capabilities })
    }

    /// Whether it may do something that `other` may not.
    pub fn exceed(&self, other: &Self) -> bool {
        self.capabilities & !other.capabilities != 0
    }
}

/// The line of parents of a process, from the nearest upwards, without process 1.
pub fn ancestors(pid: u32) -> Vec<ProcessRef> {
    const MOST: usize = 16;
    let mut line = Vec::new();
    let mut at = stat(pid).map_or(0, |stat| stat.parent);
    while at > 1 && line.len() < MOST {
        let Ok(stat) = stat(at) else { break };
        line.push(ProcessRef { pid: at, argv: argv::argv(at, &stat.name) });
        at = stat.parent;
    }
    line
}

/// Whether a process descends from another one.
pub fn descends(pid: u32, from: u32) -> bool {
    // Numbers that are used again could make a ring of what is read one by one.
    const DEEPEST: usize = 10_000;
    let mut at = pid;
    for _ in 0..DEEPEST {
        at = stat(at).map_or(0, |stat| stat.parent);
        if at <= 1 || at == from {
            break;
        }
    }
    at == from
}

/// The direct children of a process, whichever of its threads started or adopted them.
///
/// # Errors
///
/// `NotFound` if the process is gone, or if this kernel has no such file.
pub fn children(pid: u32) -> io::Result<Vec<u32>> {
    let folder = format!("/proc/{pid}/task");
    let mut found = Vec::new();
    let mut take = |bytes: Vec<u8>| {
        let words = bytes.split(u8::is_ascii_whitespace);
        found.extend(words.filter_map(|word| str::from_utf8(word).ok()?.parse::<u32>().ok()));
    };
    if !has_threads(pid)
        && let Ok(bytes) = read_short(format!("{folder}/{pid}/children"))
    {
        take(bytes);
        return Ok(found);
    }
    for task in fs::read_dir(folder)? {
        match read_short(task?.path().join("children")) {
            Ok(bytes) => take(bytes),
            // A thread that ended between the two looks; but a kernel without the file has it for no thread.
            Err(Errno::NOENT | Errno::SRCH) if has_children_files() => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(found)
}

/// Whether a process may have more than one thread: the kernel counts them among the links of their folder, with two of its
/// own.
pub fn has_threads(pid: u32) -> bool {
    rustix::fs::stat(format!("/proc/{pid}/task")).is_ok_and(|stat| stat.st_nlink != 3)
}

/// Reads a file that is mostly short, by as few calls as can be.
fn read_short(path: impl rustix::path::Arg) -> Result<Vec<u8>, Errno> {
    const MOSTLY: usize = 1024;
    let file = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    let mut bytes = Vec::new();
    loop {
        bytes.reserve(MOSTLY);
        if rustix::io::read(&file, rustix::buffer::spare_capacity(&mut bytes))? == 0 {
            return Ok(bytes);
        }
    }
}

fn has_children_files() -> bool {
    Path::new("/proc/thread-self/children").exists()
}

/// Every process that can be seen.
pub fn all() -> io::Result<Vec<u32>> {
    Ok(fs::read_dir("/proc")?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// Reads all that is wanted of a process. `None` if it is gone.
pub fn read(pid: u32, wanted: &Wanted<'_>) -> Option<Process> {
    let stat = stat(pid).ok()?;
    // A process whose first thread has ended looks dead, and is read at another: /proc has them by number, too.
    let living = if stat.state == 'Z' { living_thread(pid) } else { Some((pid, stat.state)) };
    let (id, state) = living.unwrap_or((pid, 'Z'));
    let mut process = Process {
        started_ms: Some(start_ms(&stat) - wanted.started_ms.cast_signed()),
        own_session: wanted.leader.is_some_and(|leader| stat.session != leader),
        state: Some(state_word(state).to_owned()),
        ..Process::new(pid, argv::argv(id, &stat.name))
    };
    if living.is_none() {
        return Some(process);
    }
    process.waiting_on = waits::waiting_on(id);
    let view = wanted.views.of(id, wanted.roots);
    let sought = Sought { roots: wanted.roots, aliases: &view.aliases };
    links(id, &sought, &mut process);
    threads(pid, &sought, &mut process);
    descriptors(id, wanted, &sought, &mut process);
    mappings(id, &sought, &mut process);
    process.holds.extend(view.mounted.iter().map(|point| Hold {
        how: How::Mount,
        directory: point.is_dir(),
        path: point.to_string_lossy().into_owned(),
        deleted: false,
    }));
    process.holds.sort();
    process.holds.dedup();
    process.case_hint = variable(id, b"PYTEST_CURRENT_TEST=");
    Some(process)
}

/// A thread of a process that has not ended, and its state.
pub fn living_thread(pid: u32) -> Option<(u32, char)> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let threads = tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse().ok());
    threads.filter(|&thread| thread != pid).find_map(|thread| {
        let state = stat(thread).ok()?.state;
        (!matches!(state, 'Z' | 'X' | 'x')).then_some((thread, state))
    })
}

fn links(pid: u32, sought: &Sought<'_>, process: &mut Process) {
    for (name, how) in [("cwd", How::Cwd), ("root", How::Root), ("exe", How::Executable)] {
        let link = PathBuf::from(format!("/proc/{pid}/{name}"));
        match fs::read_link(&link) {
            Ok(target) => process.holds.extend(hold(&link, &target, how, sought)),
            // No such link: a process that ended meanwhile, or a kernel thread.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => process.unread.push(format!("{name}: {error}")),
        }
    }
}

/// Threads may have a cwd and a root of their own.
fn threads(pid: u32, sought: &Sought<'_>, process: &mut Process) {
    let Ok(tasks) = fs::read_dir(format!("/proc/{pid}/task")) else { return };
    for task in tasks.flatten().filter(|task| task.file_name() != pid.to_string().as_str()) {
        for (name, how) in [("cwd", How::ThreadCwd), ("root", How::Root)] {
            let link = task.path().join(name);
            let Some(hold) = fs::read_link(&link).ok().and_then(|target| hold(&link, &target, how, sought)) else {
                continue;
            };
            // What it has in common with the process is told already.
            if !process.holds.iter().any(|known| known.path == hold.path && matches!(known.how, How::Cwd | How::Root)) {
                process.holds.push(hold);
            }
        }
    }
}

fn descriptors(pid: u32, wanted: &Wanted<'_>, sought: &Sought<'_>, process: &mut Process) {
    let folder = match fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(folder) => folder,
        Err(error) if error.kind() == ErrorKind::NotFound => return,
        Err(error) => return process.unread.push(format!("descriptors: {error}")),
    };
    for entry in folder.flatten() {
        let link = entry.path();
        let Ok(target) = fs::read_link(&link) else { continue };
        if let Some(number) = stream_number(&target) {
            for (pipe, stream) in wanted.pipes {
                if pipe == number && !process.pipes.contains(&stream) {
                    process.pipes.push(stream);
                }
            }
        } else if let Some((path, deleted)) = socket_inode(&target).and_then(|inode| wanted.sockets.get(&inode)) {
            let path = path.to_string_lossy().into_owned();
            process.holds.push(Hold { how: How::Socket, path, directory: false, deleted: *deleted });
        } else if let Some(hold) = hold(&link, &target, How::Descriptor, sought)
            && !(hold.deleted && was_not_opened_by_name(pid, &entry.file_name()))
        {
            process.holds.push(hold);
        }
    }
    process.pipes.sort();
}

/// Whether nothing with a name was opened: the file was made without one (`O_TMPFILE`), so that the kernel shows it as
/// deleted and nobody removed it, or it is merely referred to (`O_PATH`).
fn was_not_opened_by_name(pid: u32, fd: &std::ffi::OsStr) -> bool {
    // Without the bit that it shares with O_DIRECTORY.
    const TMPFILE: i32 = libc::O_TMPFILE & !libc::O_DIRECTORY;
    open_flags(pid, fd).is_some_and(|flags| flags & (TMPFILE | libc::O_PATH) != 0)
}

/// The flags that a descriptor is open with, `O_CLOEXEC` as it is now. `None` if it is closed.
pub fn open_flags(pid: u32, fd: &std::ffi::OsStr) -> Option<i32> {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{}", fd.display())).ok()?;
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"))?;
    i32::from_str_radix(flags.trim(), 8).ok()
}

fn mappings(pid: u32, sought: &Sought<'_>, process: &mut Process) {
    let file = match fs::File::open(format!("/proc/{pid}/maps")) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return,
        Err(error) => return process.unread.push(format!("mappings: {error}")),
    };
    let mut lines = BufReader::new(file);
    let mut line = Vec::new();
    while lines.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        if let Some(at) = line.iter().position(|&byte| byte == b'/') {
            let name = line[at..].strip_suffix(b"\n").unwrap_or(&line[at..]);
            let target = PathBuf::from(std::ffi::OsString::from_vec(unescaped(name)));
            let inode = line[..at].split(|&byte| byte == b' ').nth(4).map(String::from_utf8_lossy);
            let is = |path: &Path| {
                fs::symlink_metadata(path).is_ok_and(|file| inode.as_deref() == Some(file.ino().to_string().as_str()))
            };
            let mapped = sought.found(&target, is, || true).map(|(path, deleted)| Hold {
                how: How::Mapping,
                path: path.to_string_lossy().into_owned(),
                directory: false,
                deleted,
            });
            // The program itself is mapped, too; it is told once, as what it is.
            let program = |path: &str| process.holds.iter().any(|k| k.how == How::Executable && k.path == path);
            if let Some(mapped) = mapped.filter(|mapped| !program(&mapped.path)) {
                process.holds.push(mapped);
            }
        }
        line.clear();
    }
}

/// A name of /proc/PID/maps, which has line breaks as `\012`.
fn unescaped(name: &[u8]) -> Vec<u8> {
    const BREAK: &[u8] = b"\\012";
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some(at) = rest.windows(BREAK.len()).position(|part| part == BREAK) {
        plain.extend_from_slice(&rest[..at]);
        plain.push(b'\n');
        rest = &rest[at + BREAK.len()..];
    }
    plain.extend_from_slice(rest);
    plain
}

/// Whether a process has one of the streams open. `false` also if it can't be read.
pub fn holds_pipe(pid: u32, numbers: &[u64]) -> bool {
    let Ok(folder) = fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    folder
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .any(|target| stream_number(&target).is_some_and(|number| numbers.contains(&number)))
}

/// The inode of a `socket:[…]` link.
pub fn socket_inode(target: &Path) -> Option<u64> {
    target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The inode of a `pipe:[…]` link, or the number of a terminal.
fn stream_number(target: &Path) -> Option<u64> {
    let name = target.to_str()?;
    let pipe = || name.strip_prefix("pipe:[")?.strip_suffix(']')?.parse().ok();
    pipe().or_else(|| terminal::number_of(name))
}

/// The sandbox that a process was started in, by the mark in its environment.
pub fn mark(pid: u32) -> Option<PathBuf> {
    variable(pid, b"HOSTPROOF_SANDBOX=").map(PathBuf::from)
}

/// When a process started, in milliseconds after the machine's start.
pub fn started_ms(pid: u32) -> Option<i64> {
    stat(pid).ok().map(|stat| start_ms(&stat))
}

fn start_ms(stat: &Stat) -> i64 {
    (stat.start * 1000 / clock::ticks_per_second()).cast_signed()
}

/// The value of a variable that the process was started with.
fn variable(pid: u32, prefix: &[u8]) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = environment.split(|&byte| byte == 0).find_map(|variable| variable.strip_prefix(prefix))?;
    Some(String::from_utf8_lossy(value).into_owned())
}

fn state_word(state: char) -> &'static str {
    match state {
        'R' => "running",
        'S' => "sleeping",
        'D' => "in an uninterruptible wait",
        'T' => "stopped",
        't' => "stopped by a tracer",
        'Z' => "zombie",
        'X' | 'x' => "dead",
        _ => "idle",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_does_not_shift_the_fields() {
        let text = "42 (a) b (c)) S 7 8 9 0 -1 4194368 0 0 0 0 0 0 0 0 20 0 1 0 12345 1 2\n";
        let stat = parse_stat(text).expect("a stat line");
        assert_eq!((stat.name.as_str(), stat.state, stat.parent), ("a) b (c)", 'S', 7));
        assert_eq!((stat.session, stat.start, stat.forked), (9, 12345, true));
    }

    #[test]
    fn children_are_found_whichever_thread_started_them() {
        let sleeper = || std::process::Command::new("sleep").arg("30").spawn().expect("sleep");
        let mut mine = [sleeper(), std::thread::spawn(sleeper).join().expect("a thread")];
        let pids = mine.each_ref().map(std::process::Child::id);
        // The threads of the other tests, and this one.
        assert!(has_threads(std::process::id()));
        let found = children(std::process::id()).expect("this process");
        // What a thread that ended had started is a child of another one.
        assert!(pids.iter().all(|pid| found.contains(pid)), "{found:?} {pids:?}");
        assert!(!has_threads(pids[0]));
        assert_eq!(children(pids[0]).expect("a process"), Vec::<u32>::new());
        for child in &mut mine {
            child.kill().expect("a child");
            child.wait().expect("a child");
        }
        let gone = children(pids[0]).map_err(|error| error.kind());
        assert_eq!(gone, Err(ErrorKind::NotFound));
    }

    #[test]
    fn line_breaks_in_the_names_of_mappings_are_read_back() {
        assert_eq!(unescaped(b"/a\\012b\\012"), b"/a\nb\n");
        assert_eq!(unescaped(b"/a\\01b"), b"/a\\01b");
    }
}
