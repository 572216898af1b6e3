//! What single system calls say. Some can't be taken back: this is for a process that ends afterwards.

use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use super::super::super::{places, temporary};
use super::super::filter::{self, Asked, Filter, Listener};
use super::super::{facts, holders, procfs, signals, sockets};
use super::foreign;
use crate::model::{Ability, Can, Exit, Platform, WindowsRules, to_see_all};

/// How long all of it may take, in seconds: then the process is ended.
const LIMIT: u32 = 20;

/// The longest name that a unix socket can have, in bytes.
const SOCKET: usize = 107;

/// Tries everything, and writes it to standard output as JSON.
pub fn tell() -> io::Result<()> {
    // SAFETY: it takes an integer. The signal's default, which no Rust program changes, ends the process.
    unsafe { libc::alarm(LIMIT) };
    let base = places::sandbox_base();
    let mut abilities =
        vec![temporary::ability(&base, facts::filesystem(&base).as_deref(), Some(SOCKET)), kernel(), place()];
    abilities.extend(processes());
    abilities.extend([bound_sockets(&base), setuid(), quick_answers(), foreign::ability(&base), leases(&base)]);
    abilities.push(namespaces(&base));
    serde_json::to_writer(io::stdout(), &abilities)?;
    Ok(())
}

fn kernel() -> Ability {
    let uname = rustix::system::uname();
    let release = uname.release().to_string_lossy();
    if filter::is_gvisor() {
        return Ability::partly("kernel", format!("gVisor, which says it is Linux {release}"))
            .helped_by("use a host or an engine with a Linux kernel (`--runtime runc`)");
    }
    let filters = facts::status_field("Seccomp_filters").filter(|number| number != "0");
    let filters = filters.map(|number| format!(", with {number} seccomp filters on this process")).unwrap_or_default();
    Ability::yes("kernel", format!("Linux {release}{filters}"))
}

fn place() -> Ability {
    match facts::container() {
        Some(engine) => Ability::partly("host", format!("this is a container of {engine}, not the host"))
            .helped_by("run hostproof on the machine that will run the hooks"),
        None => Ability::yes("host", "no container that left a mark"),
    }
}

/// Those of this user, which could have a sandbox, and all others.
fn processes() -> [Ability; 2] {
    let (name, others) = ("holds", "other users' processes");
    let pids = match procfs::all() {
        Ok(pids) => pids,
        Err(error) => {
            let why = format!("/proc can't be read: {error}");
            let mount = "mount /proc";
            return [
                Ability::no(name, why.clone()).essential().helped_by(mount),
                Ability::no(others, why).helped_by(mount),
            ];
        }
    };
    let mine = procfs::Credentials::of(std::process::id());
    let closed = |pid: &u32| {
        let error = fs::read_link(format!("/proc/{pid}/cwd")).err();
        error.is_some_and(|error| error.kind() == io::ErrorKind::PermissionDenied) && !holders::is_kernel_thread(*pid)
    };
    let unread: Vec<_> =
        pids.iter().filter(|pid| closed(pid)).filter_map(|pid| holders::unread(*pid, mine.as_ref())).collect();
    let me = mine.map(|mine| mine.uid);
    let own = unread.iter().filter(|unread| Some(unread.uid) == me && !unread.privileged).count();
    let all = pids.len();
    let root = to_see_all(Platform::Linux);
    let holds = match own {
        _ if fs::read_link("/proc/self/exe").is_err() => Ability::no(name, "/proc tells nothing of this very process"),
        0 => Ability::yes(name, "every process that can have a sandbox can be looked into"),
        1 => Ability::partly(name, "one process of this user can't be looked into").helped_by(root),
        own => Ability::partly(name, format!("{own} processes of this user can't be looked into")).helped_by(root),
    };
    let hidden = !Path::new("/proc/1").exists();
    let others = match unread.len() {
        _ if hidden => {
            Ability::no(others, format!("/proc hides them ({}); they can't reach a sandbox", proc_options()))
                .helped_by("mount /proc with hidepid=0 for `hostproof who` to see them")
        }
        0 => Ability::yes(others, format!("each of {all} processes can be looked into")),
        closed => Ability::partly(
            others,
            format!("{closed} of {all} processes can't be looked into; those of others can't reach a sandbox"),
        ),
    };
    // Root may lack a right that the first process has, as in some virtual machines.
    let others = if others.can == Can::Partly && me != Some(0) { others.helped_by(root) } else { others };
    [holds.essential(), others]
}

/// The options that /proc is mounted with.
fn proc_options() -> String {
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let options = mounts.lines().rev().find_map(|line| {
        let (mount, system) = line.split_once(" - ")?;
        (mount.split(' ').nth(4)? == "/proc").then(|| system.rsplit(' ').next().map(str::to_owned))?
    });
    options.unwrap_or_else(|| "its mount is not told".to_owned())
}

fn bound_sockets(base: &Path) -> Ability {
    match sockets::bound(&[base.to_owned()], &std::collections::HashSet::new()) {
        Ok(_) => Ability::yes("bound sockets", "the kernel tells of unix sockets and their files"),
        Err(error) => Ability::no("bound sockets", error.to_string()),
    }
}

/// What becomes of programs that gain rights when they are run, such as sudo.
fn setuid() -> Ability {
    let name = "setuid programs";
    if filter::gains_nothing() {
        Ability::partly(name, "they gain no rights in any check: no_new_privs is set on this process already")
            .helped_by("start hostproof from a shell that may gain rights: not below setpriv, systemd's NoNewPrivileges=, or a container with no-new-privileges")
    } else if filter::takes_rights_away() {
        Ability::partly(name, "by Windows' rules they gain no rights: the filter of a user who is not root wants no_new_privs; where one is run that is told")
            .helped_by("run hostproof as root, or judge checks that need them by native rules alone")
    } else {
        Ability::yes(name, "they gain their rights in every check")
    }
}

/// The flag that lets a question's answer come on the processor that asked.
fn quick_answers() -> Ability {
    let name = "quick answers";
    // A thread's filter is its own, and ends with it.
    let quick = std::thread::spawn(|| {
        let rules = WindowsRules::default();
        let asked =
            Asked { rules: Some(&rules), published: false, shared: false, executions: false, faults: Vec::new() };
        let filter = Filter::new(&asked).ok()?;
        let (program, socket) = filter.for_child();
        // SAFETY: it makes system calls only, and what it is given outlives the call. The thread calls nothing afterwards
        // that the filter asks about.
        if unsafe { filter::install(&program, socket) }.is_some() {
            return None;
        }
        Some(Listener::new(filter.listener().ok()?).is_quick())
    });
    match quick.join() {
        Ok(Some(true)) => Ability::yes(name, "Windows' rules cost a fifth of what they would without (Linux 6.6)"),
        Ok(Some(false)) => Ability::partly(name, "Windows' rules cost five times as much a call as with Linux 6.6")
            .helped_by("use Linux 6.6 or newer"),
        _ => Ability::no(name, "nothing is asked, so nothing is answered"),
    }
}

fn leases(base: &Path) -> Ability {
    let name = "file leases";
    let lease = tempfile::tempfile_in(base).and_then(|file| lease(&file));
    match lease {
        Ok(()) => Ability::yes(name, "the temporary folder's file system tells at once whether a file is open"),
        Err(error) => Ability::partly(name, format!("{error}: every process is looked at instead, which is slower")),
    }
}

fn lease(file: &File) -> io::Result<()> {
    // SAFETY: the file is open, and the command takes an integer.
    let taken = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) };
    if taken == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Whether a check can make a user namespace, and mount in it.
fn namespaces(base: &Path) -> Ability {
    let name = "namespaces";
    let flags = libc::CLONE_NEWUSER | libc::CLONE_NEWNS;
    let Ok(base) = std::ffi::CString::new(base.as_os_str().as_bytes()) else { return Ability::no(name, "not tried") };
    // SAFETY: this process has one thread, so that its copy may do what it likes; it only makes system calls on values
    // that both have, and ends.
    let child = unsafe {
        match libc::fork() {
            0 => {
                let mounted = || libc::mount(c"none".as_ptr(), base.as_ptr(), c"tmpfs".as_ptr(), 0, ptr::null()) == 0;
                libc::_exit(match libc::unshare(flags) {
                    0 if mounted() => 0,
                    0 => 1,
                    _ => 2,
                })
            }
            child => child,
        }
    };
    let exit = loop {
        match signals::reap() {
            signals::Reaped::Child(pid, exit) if pid.cast_signed() == child => break exit,
            signals::Reaped::Empty => return Ability::no(name, "no process could be made"),
            _ => std::thread::yield_now(),
        }
    };
    match exit {
        Exit::Code(0) => {
            Ability::yes(name, "a check can make its own, and mount in it; it is looked into all the same")
        }
        Exit::Code(1) => Ability::partly(name, "a check can make its own, and mount nothing in it"),
        _ => Ability::no(name, "a check can make none of its own"),
    }
}
