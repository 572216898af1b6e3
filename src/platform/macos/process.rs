//! What libproc tells of one process.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::clock;
use super::sys::{self, Kind, ProcArgsBuffer, Status, Vnode};
use crate::model::{Hold, How, Process, ProcessRef, Stream};

/// The longest argument list that is kept of a process, in bytes.
const LONGEST_ARGV: usize = 4096;
/// How many mapped files are asked for of one process.
const MOST_MAPPED: usize = 10_000;

/// What is looked for in a process.
pub struct Wanted<'a> {
    /// Folders whose holders are of interest; absolute, without symbolic links.
    pub roots: &'a [PathBuf],
    /// The pipes of interest, by what their writing ends are known by; 0 for none.
    pub pipes: [(u64, Stream); 2],
    /// The first process of the job, which leads its session; `None` if no job is meant.
    pub leader: Option<u32>,
    /// The job's start, in milliseconds after the machine's: what start times are told after.
    pub started_ms: u64,
    /// Whether mapped files are looked at.
    pub mappings: bool,
}

impl<'a> Wanted<'a> {
    /// Holders in these folders, whatever job they belong to; start times are after the machine's.
    pub fn in_roots(roots: &'a [PathBuf], mappings: bool) -> Self {
        Self { roots, pipes: [(0, Stream::Stdout), (0, Stream::Stderr)], leader: None, started_ms: 0, mappings }
    }
}

/// What a process has of what is wanted.
#[derive(Debug, Default)]
pub struct Found {
    pub holds: Vec<Hold>,
    pub pipes: Vec<Stream>,
    /// What could not be read, and why.
    pub unread: Vec<String>,
}

/// Reads all that is wanted of a process. `None` if it is gone.
pub fn read(pid: u32, wanted: &Wanted<'_>, room: &mut ProcArgsBuffer) -> Option<Process> {
    let status = Status::of(pid).ok()?;
    let found = if status.dead { Found::default() } else { find_or_say(pid, wanted, room) };
    let session = sys::seen(pid).ok().and_then(|seen| seen.session);
    Some(Process {
        pid,
        argv: argv(pid, &status, room),
        parents: Vec::new(),
        started_ms: clock::started_ms(pid).map(|ms| ms - wanted.started_ms.cast_signed()),
        own_session: wanted.leader.is_some_and(|leader| session != Some(leader)),
        state: state(pid, &status).map(str::to_owned),
        // The kernel tells nobody but a debugger.
        waiting_on: None,
        holds: found.holds,
        pipes: found.pipes,
        case_hint: variable(pid, "PYTEST_CURRENT_TEST", room),
        unread: found.unread,
    })
}

fn find_or_say(pid: u32, wanted: &Wanted<'_>, room: &mut ProcArgsBuffer) -> Found {
    match find(pid, wanted, room) {
        Ok(found) => found,
        Err(error) if is_gone(&error) => Found::default(),
        Err(error) => Found { unread: vec![format!("what it holds: {error}")], ..Found::default() },
    }
}

/// What a process has of what is wanted.
///
/// # Errors
///
/// `ESRCH` if it is gone or dead, `EPERM` if it may not be looked into.
pub fn find(pid: u32, wanted: &Wanted<'_>, room: &mut ProcArgsBuffer) -> io::Result<Found> {
    let mut found = Found::default();
    folders(pid, wanted, &mut found)?;
    descriptors(pid, wanted, &mut found)?;
    executable(pid, wanted, room, &mut found);
    if wanted.mappings {
        mappings(pid, wanted, &mut found);
    }
    found.holds.sort();
    found.holds.dedup();
    found.pipes.sort();
    Ok(found)
}

fn folders(pid: u32, wanted: &Wanted<'_>, found: &mut Found) -> io::Result<()> {
    match sys::folders(pid) {
        Ok((cwd, root)) => {
            for (vnode, how, name) in [(cwd, How::Cwd, "cwd"), (root, How::Root, "root")] {
                let Some(vnode) = vnode else { continue };
                match hold(&vnode, how, wanted.roots) {
                    Some(hold) => found.holds.push(hold),
                    None if is_nameless(&vnode, wanted.roots) => {
                        found.unread.push(format!("{name}: it was removed, and the system has forgotten its name"));
                    }
                    None => {}
                }
            }
        }
        Err(error) if is_gone(&error) || is_denied(&error) => return Err(error),
        // That of a directory which is gone altogether.
        Err(error) => found.unread.push(format!("cwd: {error}")),
    }
    // Without such threads, which are rare, the list of them is not worth its time.
    if Status::of(pid).is_ok_and(|status| status.thread_folders) {
        match sys::thread_folders(pid) {
            Ok(folders) => {
                let holds = folders.iter().filter_map(|vnode| hold(vnode, How::ThreadCwd, wanted.roots));
                found.holds.extend(holds);
            }
            Err(error) if is_gone(&error) => {}
            Err(error) => found.unread.push(format!("the directories of its threads: {error}")),
        }
    }
    Ok(())
}

fn descriptors(pid: u32, wanted: &Wanted<'_>, found: &mut Found) -> io::Result<()> {
    for (descriptor, kind) in sys::descriptors(pid)? {
        // What was closed meanwhile is held no more.
        match kind {
            Kind::File => {
                let vnode = sys::open_file(pid, descriptor).ok().flatten();
                found.holds.extend(vnode.and_then(|vnode| hold(&vnode, How::Descriptor, wanted.roots)));
            }
            Kind::Socket if !wanted.roots.is_empty() => {
                let path = sys::bound_to(pid, descriptor).ok().flatten();
                found.holds.extend(path.and_then(|path| socket(&path, wanted.roots)));
            }
            Kind::Pipe => {
                let Ok((end, _)) = sys::pipe(pid, descriptor) else { continue };
                let stream = wanted.pipes.iter().find(|(number, _)| end != 0 && *number == end);
                if let Some((_, stream)) = stream.filter(|(_, stream)| !found.pipes.contains(stream)) {
                    found.pipes.push(*stream);
                }
            }
            Kind::Socket | Kind::Other => {}
        }
    }
    Ok(())
}

/// Whether a process has the writing end of one of the pipes open. `false` also if it can't be read.
pub fn holds_pipe(pid: u32, ends: [u64; 2]) -> bool {
    let descriptors = sys::descriptors(pid).unwrap_or_default();
    let pipes = descriptors.into_iter().filter(|(_, kind)| *kind == Kind::Pipe);
    pipes.filter_map(|(descriptor, _)| sys::pipe(pid, descriptor).ok()).any(|(end, _)| end != 0 && ends.contains(&end))
}

fn executable(pid: u32, wanted: &Wanted<'_>, room: &mut ProcArgsBuffer, found: &mut Found) {
    let in_roots = |path: &Path| wanted.roots.iter().any(|root| path.starts_with(root));
    let (path, deleted) = match sys::program(pid) {
        Ok(path) => (path, false),
        // Nothing is at its path any more: what is known then is the path by which it was executed.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let Some(path) = room.read(pid).map(|args| args.program.to_owned()) else { return };
            (path, true)
        }
        Err(_) => return,
    };
    if in_roots(&path) {
        let path = path.to_string_lossy().into_owned();
        found.holds.push(Hold { how: How::Executable, path, directory: false, deleted });
    }
}

fn mappings(pid: u32, wanted: &Wanted<'_>, found: &mut Found) {
    let mut address = 0;
    for _ in 0..MOST_MAPPED {
        match sys::mapped(pid, address) {
            Ok(Some((end, vnode))) => {
                let mapped = hold(&vnode, How::Mapping, wanted.roots);
                // The program itself is mapped, too; it is told once, as what it is.
                let program = |path: &str| found.holds.iter().any(|k| k.how == How::Executable && k.path == path);
                if let Some(mapped) = mapped.filter(|mapped| !program(&mapped.path)) {
                    found.holds.push(mapped);
                }
                address = end;
            }
            Ok(None) => return,
            Err(error) if is_gone(&error) => return,
            Err(error) => return found.unread.push(format!("mappings: {error}")),
        }
    }
    found.unread.push(format!("mappings: more than {MOST_MAPPED}"));
}

/// The hold that a file or directory makes, if it lies in one of the folders.
fn hold(vnode: &Vnode, how: How, roots: &[PathBuf]) -> Option<Hold> {
    roots.iter().any(|root| vnode.path.starts_with(root)).then(|| Hold {
        how,
        path: vnode.path.to_string_lossy().into_owned(),
        directory: vnode.directory,
        deleted: !is_at(vnode, &vnode.path),
    })
}

/// Whether a file or directory is at this path. Where that may not be seen, whether it has any name.
fn is_at(vnode: &Vnode, path: &Path) -> bool {
    match fs::symlink_metadata(path) {
        // Device numbers have 32 bits, and a sign in one of the two.
        Ok(there) => there.ino() == vnode.inode && there.dev() & 0xffff_ffff == u64::from(vnode.device),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => vnode.links > 0,
        Err(_) => false,
    }
}

/// Whether this may be something of the folders that was removed, and whose path is not known whole any more.
fn is_nameless(vnode: &Vnode, roots: &[PathBuf]) -> bool {
    let device = |root: &PathBuf| fs::metadata(root).ok().map(|metadata| metadata.dev() & 0xffff_ffff);
    roots.iter().any(|root| device(root) == Some(u64::from(vnode.device)))
        && matches!(fs::symlink_metadata(&vnode.path), Err(error) if error.kind() == io::ErrorKind::NotFound)
}

/// The hold of a unix socket that is bound to this path. By a relative path it is not found: the kernel keeps that as it
/// was given, and not what it was relative to.
fn socket(path: &Path, roots: &[PathBuf]) -> Option<Hold> {
    let folder = fs::canonicalize(path.parent()?).ok()?;
    let real = if path.is_absolute() { folder.join(path.file_name()?) } else { return None };
    roots.iter().any(|root| real.starts_with(root)).then(|| Hold {
        how: How::Socket,
        directory: false,
        deleted: !fs::symlink_metadata(&real).is_ok_and(|there| there.file_type().is_socket()),
        path: real.to_string_lossy().into_owned(),
    })
}

/// Its arguments; its name in brackets, as `ps` prints it, if it has none.
fn argv(pid: u32, status: &Status, room: &mut ProcArgsBuffer) -> Vec<String> {
    let told = room.read(pid).map(|args| {
        let mut left = LONGEST_ARGV;
        let kept = args.argv.iter().map_while(|argument| {
            left = left.checked_sub(argument.len() + 1)?;
            Some(String::from_utf8_lossy(argument).into_owned())
        });
        kept.collect::<Vec<_>>()
    });
    // Nothing but empty ones is what a program leaves that has wiped them.
    told.filter(|argv| argv.iter().any(|argument| !argument.is_empty()))
        .unwrap_or_else(|| vec![format!("[{}]", status.name)])
}

/// The arguments of a process that may be gone.
pub fn argv_of(pid: u32, room: &mut ProcArgsBuffer) -> Vec<String> {
    Status::of(pid).map(|status| argv(pid, &status, room)).unwrap_or_default()
}

/// The line of parents of a process, from the nearest upwards, without process 1.
pub fn ancestors(pid: u32, room: &mut ProcArgsBuffer) -> Vec<ProcessRef> {
    const MOST: usize = 16;
    let mut line = Vec::new();
    let mut at = Status::of(pid).map_or(0, |status| status.parent);
    while at > 1 && line.len() < MOST {
        let Ok(status) = Status::of(at) else { break };
        line.push(ProcessRef { pid: at, argv: argv(at, &status, room) });
        at = status.parent;
    }
    line
}

/// The sandbox that a process was started in, by the mark in its environment. `None` also for Apple's own programs, whose
/// environment the system keeps to itself.
pub fn mark(pid: u32, room: &mut ProcArgsBuffer) -> Option<PathBuf> {
    variable(pid, "HOSTPROOF_SANDBOX", room).map(PathBuf::from)
}

fn variable(pid: u32, name: &str, room: &mut ProcArgsBuffer) -> Option<String> {
    let args = room.read(pid)?;
    args.variable(name).map(|value| String::from_utf8_lossy(value).into_owned())
}

fn state(pid: u32, status: &Status) -> Option<&'static str> {
    match status {
        Status { dead: true, .. } => Some("zombie"),
        Status { stopped: true, .. } => Some("stopped"),
        _ => sys::is_running(pid).map(|running| if running { "running" } else { "sleeping" }),
    }
}

/// Whether an error says that the process is gone or dead.
pub fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ESRCH)
}

fn is_denied(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    fn holds(roots: &[PathBuf]) -> Vec<Hold> {
        let wanted = Wanted::in_roots(roots, true);
        find(std::process::id(), &wanted, &mut ProcArgsBuffer::new()).expect("this process").holds
    }

    #[test]
    fn what_this_process_has_open_is_held_and_was_removed_when_it_was() {
        let folder = tempfile::tempdir().expect("a tempdir");
        let root = fs::canonicalize(folder.path()).expect("a real path");
        let roots = [root.clone()];
        assert_eq!(holds(&roots), []);
        let path = root.join("file");
        let _file = fs::File::create(&path).expect("a file");
        let _socket = UnixListener::bind(root.join("s")).expect("bound");
        let found = holds(&roots);
        let told: Vec<_> = found.iter().map(|hold| (hold.how, hold.path.clone(), hold.deleted)).collect();
        let text = |name: &str| root.join(name).to_string_lossy().into_owned();
        assert_eq!(told, [(How::Descriptor, text("file"), false), (How::Socket, text("s"), false)]);
        fs::remove_file(&path).expect("removed");
        let removed = holds(&roots).into_iter().find(|hold| hold.how == How::Descriptor).expect("still open");
        assert!(removed.deleted && removed.path == text("file"), "{removed:?}");
    }

    #[test]
    fn a_child_is_read_with_its_arguments_and_its_cwd() {
        let folder = tempfile::tempdir().expect("a tempdir");
        let root = fs::canonicalize(folder.path()).expect("a real path");
        let mut child = std::process::Command::new("/bin/sleep").arg("50").current_dir(&root).spawn().expect("sleep");
        let roots = [root.clone()];
        let read = read(child.id(), &Wanted::in_roots(&roots, true), &mut ProcArgsBuffer::new());
        let parents = ancestors(child.id(), &mut ProcArgsBuffer::new());
        child.kill().expect("killed");
        child.wait().expect("reaped");
        let read = read.expect("it was there");
        assert_eq!(read.argv, ["/bin/sleep", "50"]);
        assert_eq!(parents.first().map(|parent| parent.pid), Some(std::process::id()));
        assert!(read.unread.is_empty(), "{:?}", read.unread);
        let cwd = Hold { how: How::Cwd, path: root.to_string_lossy().into_owned(), directory: true, deleted: false };
        assert!(read.holds.contains(&cwd), "{:?}", read.holds);
    }
}
