//! Faults: which calls are asked about for them, and which of these fail or have to wait.

use std::iter;
use std::path::{Path, PathBuf};
use std::time::Instant;

use libc::sock_filter;
use rustix::io::Errno;

use super::super::super::{Job, PathPattern};
use super::super::procfs::Wanted;
use super::enforce::{process_of, read};
use super::listener::{Listener, Question};
use super::numbering::{self, Numbering, OPENAT2, PIDFD_SEND_SIGNAL, numbering};
use super::program::{Kind, Onto, Place};
use super::writes::{meant, read_name};
use crate::model::{Effect, Fault, FaultCall, FaultMade, FaultSeen};

/// A part of a filter that asks about these calls, and leaves all others to what comes behind it. Executions have a part of
/// their own.
pub fn section(calls: &[FaultCall]) -> Vec<sock_filter> {
    let asked = |it: &Numbering| {
        let write: Vec<Option<u32>> = it.write.iter().chain(&it.copy).copied().map(Some).collect();
        let numbers: [(FaultCall, &[Option<u32>]); 6] = [
            (FaultCall::Rename, &[it.rename, Some(it.renameat), Some(it.renameat2)]),
            (FaultCall::Link, &[it.link, Some(it.linkat), it.symlink, Some(it.symlinkat)]),
            (FaultCall::Open, &[it.open, it.creat, Some(it.openat), Some(OPENAT2)]),
            (FaultCall::Unlink, &[it.unlink, Some(it.unlinkat)]),
            (FaultCall::Write, &write),
            (FaultCall::Kill, &[Some(it.kill), Some(it.queue), Some(PIDFD_SEND_SIGNAL)]),
        ];
        // Several faults may be for one call, which is asked about once.
        let meant = numbers.into_iter().filter(|(call, _)| calls.contains(call));
        meant.flat_map(|(_, numbers)| numbers).copied().flatten().collect()
    };
    numbering::section(asked, |_| Vec::new())
}

/// What a call does that no other question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// It makes a name that is a link: to a file that is there, or a symbolic one.
    Link { file: Option<Place>, to: Place },
    /// It writes to this descriptor.
    Write(i32),
    /// It sends a signal to this process; to several if the number is not positive.
    Kill(i32),
    /// It sends a signal to the process that this descriptor stands for.
    KillBy(i32),
}

/// What a call does, if it is one of these.
pub fn doing(arch: u32, number: i32, args: &[u64; 6]) -> Option<Doing> {
    let (numbering, number) = numbering(arch, number)?;
    // Descriptors and processes are ints, as folders are.
    let int = |at: usize| Place::at(args, at, at).folder;
    let here = |path: usize| Place { folder: libc::AT_FDCWD, path: args[path] };
    let first = int(0);
    match number {
        number if Some(number) == numbering.link => Some(Doing::Link { file: Some(here(0)), to: here(1) }),
        number if number == numbering.linkat => {
            Some(Doing::Link { file: Some(Place::at(args, 0, 1)), to: Place::at(args, 2, 3) })
        }
        number if Some(number) == numbering.symlink => Some(Doing::Link { file: None, to: here(1) }),
        number if number == numbering.symlinkat => Some(Doing::Link { file: None, to: Place::at(args, 1, 2) }),
        number if numbering.write.contains(&number) => Some(Doing::Write(first)),
        number if numbering.copy.contains(&number) => Some(Doing::Write(int(2))),
        number if [numbering.kill, numbering.queue].contains(&number) => Some(Doing::Kill(first)),
        PIDFD_SEND_SIGNAL => Some(Doing::KillBy(first)),
        _ => None,
    }
}

/// What a call is about, as far as faults are concerned.
struct Target {
    call: FaultCall,
    /// Any of them may match.
    paths: Vec<PathBuf>,
    /// What it is told as if no path matched.
    what: String,
}

impl Target {
    fn of(call: FaultCall, paths: Vec<PathBuf>) -> Self {
        let what = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        Self { call, paths, what }
    }
}

/// The faults of a job.
pub struct Faults {
    sown: Vec<Sown>,
    started: Instant,
}

/// One of them.
struct Sown {
    fault: Fault,
    /// `None` if every call of its kind is meant.
    pattern: Option<PathPattern>,
    seen: FaultSeen,
}

impl Faults {
    /// Of a job that starts now.
    pub fn of(job: &Job) -> Self {
        let sow = |fault: &Fault| Sown {
            // The manifest has none that is no glob.
            pattern: fault.path.as_ref().and_then(|path| PathPattern::new(path).ok()),
            fault: fault.clone(),
            seen: FaultSeen::default(),
        };
        Self { sown: job.faults.iter().map(sow).collect(), started: Instant::now() }
    }

    /// What is to become of a call, if a fault is for it. Every fault that it matches counts it; the first whose turn it is
    /// is made.
    ///
    /// # Errors
    ///
    /// What can't be read of the thread.
    pub fn asked(
        &mut self,
        question: &Question,
        listener: &Listener,
        wanted: &Wanted<'_>,
    ) -> Result<Option<Effect>, Errno> {
        let is_of_kind = |call: FaultCall| self.sown.iter().any(|sown| sown.fault.call == call);
        let Some(target) = target(question, is_of_kind)? else { return Ok(None) };
        // Only now is it sure that what was read is the caller's own.
        if !listener.waits(question) {
            return Ok(None);
        }
        let mut effect = None;
        for sown in self.sown.iter_mut().filter(|sown| sown.fault.call == target.call) {
            let path = sown.pattern.as_ref().map(|pattern| target.paths.iter().find(|path| pattern.is_match(path)));
            let what = match path {
                Some(None) => continue,
                Some(Some(path)) if target.call != FaultCall::Kill => path.display().to_string(),
                Some(Some(_)) | None => target.what.clone(),
            };
            let seen = &mut sown.seen;
            seen.matched += 1;
            if effect.is_none() && sown.fault.nth.is_none_or(|nth| u64::from(nth) == seen.matched) {
                effect = Some(sown.fault.effect);
                seen.made += 1;
                let at_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
                let caller = || read(process_of(question.thread), wanted);
                seen.first.get_or_insert_with(|| FaultMade { what, caller: caller(), at_ms });
            }
        }
        Ok(effect)
    }

    /// What came of each, in the job's order.
    pub fn into_seen(self) -> Vec<FaultSeen> {
        self.sown.into_iter().map(|sown| sown.seen).collect()
    }
}

/// What a call is about, if it is of a kind that is wanted. What is not there can't be removed, renamed, linked or run, a
/// folder is no file that could be removed, and what is there is no new name: such a call fails by itself, and programs make
/// it when they look for something.
fn target(question: &Question, is_wanted: impl Fn(FaultCall) -> bool) -> Result<Option<Target>, Errno> {
    let thread = question.thread;
    let path = |place: Place| Ok(meant(thread, place.folder, &read_name(thread, place)?));
    let is_there = |path: &PathBuf| path.symlink_metadata().is_ok();
    let there = |place: Place| Ok(path(place)?.filter(is_there));
    let of = |call, path: Option<PathBuf>| Ok(path.map(|path| Target::of(call, vec![path])));
    if let Some(execution) = question.execution.filter(|_| is_wanted(FaultCall::Exec)) {
        return of(FaultCall::Exec, there(execution.place)?);
    }
    if let Some(opening) = question.opens.filter(|_| is_wanted(FaultCall::Open)) {
        let Some(named) = path(opening.place)? else { return Ok(None) };
        // A fault may be for a link or for what it leads to.
        let links = iter::successors(Some(named), |link| next(link)).take(LINKS);
        return Ok(Some(Target::of(FaultCall::Open, links.collect())));
    }
    match question.call.map(|call| call.kind) {
        Some(Kind::Rename { from, to, onto }) if is_wanted(FaultCall::Rename) => {
            let may_be_there = onto != Onto::Nothing;
            let both = there(from)?.zip(path(to)?.filter(|to| may_be_there || !is_there(to)));
            return Ok(both.map(|(from, to)| Target::of(FaultCall::Rename, vec![from, to])));
        }
        Some(Kind::Unlink(place)) if is_wanted(FaultCall::Unlink) => {
            return of(FaultCall::Unlink, there(place)?.filter(|path| path.is_symlink() || !path.is_dir()));
        }
        _ => {}
    }
    match question.doing {
        Some(Doing::Link { file, to }) if is_wanted(FaultCall::Link) => {
            let Some(to) = path(to)?.filter(|to| !is_there(to)) else { return Ok(None) };
            let Some(file) = file else { return Ok(Some(Target::of(FaultCall::Link, vec![to]))) };
            Ok(there(file)?.map(|file| Target::of(FaultCall::Link, vec![to, file])))
        }
        Some(Doing::Write(fd)) if is_wanted(FaultCall::Write) => {
            // Pipes and the like have names of another form.
            let file = std::fs::read_link(format!("/proc/{thread}/fd/{fd}")).ok();
            of(FaultCall::Write, file.filter(|file| file.is_absolute()))
        }
        Some(Doing::Kill(pid)) if is_wanted(FaultCall::Kill) => Ok(Some(signalled(pid))),
        Some(Doing::KillBy(fd)) if is_wanted(FaultCall::Kill) => {
            let told = std::fs::read_to_string(format!("/proc/{thread}/fdinfo/{fd}")).unwrap_or_default();
            let pid = told.lines().find_map(|line| line.strip_prefix("Pid:")?.trim().parse().ok());
            Ok(Some(signalled(pid.unwrap_or(0))))
        }
        _ => Ok(None),
    }
}

/// So many symbolic links the kernel follows.
const LINKS: usize = 40;

/// What a symbolic link leads to, there or not.
fn next(link: &Path) -> Option<PathBuf> {
    let whole = link.parent()?.join(std::fs::read_link(link).ok()?);
    Some(std::fs::canonicalize(whole.parent()?).ok()?.join(whole.file_name()?))
}

/// A signal to a process, or to several: of a group the program is that of the process that leads it.
fn signalled(pid: i32) -> Target {
    let (leader, what) = match pid {
        1.. => (Some(pid), format!("a signal to pid {pid}")),
        ..-1 => (pid.checked_neg(), format!("a signal to the process group {}", pid.unsigned_abs())),
        -1 | 0 => (None, "a signal to several processes".to_owned()),
    };
    let program = leader.and_then(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).ok());
    Target { call: FaultCall::Kill, paths: program.into_iter().collect(), what }
}

#[cfg(test)]
mod tests {
    use super::super::numbering::{
        AARCH64, ALLOW, ARCH, ASK, IO_URING_SETUP, NO_SUCH_CALL, NUMBER, RETURN, X86_64, interpret, plain,
    };
    use super::*;

    fn run(calls: &[FaultCall], arch: u32, number: u32) -> u32 {
        let mut program = section(calls);
        program.push(plain(RETURN, ALLOW));
        interpret(&program, &[(NUMBER, number), (ARCH, arch)])
    }

    #[test]
    fn only_what_may_fail_is_asked_about() {
        let all =
            [FaultCall::Rename, FaultCall::Link, FaultCall::Open, FaultCall::Unlink, FaultCall::Write, FaultCall::Kill];
        for (arch, number, call) in [
            (X86_64, 82, FaultCall::Rename),
            (X86_64, 257, FaultCall::Open),
            (X86_64, 0x4000_0000 + 516, FaultCall::Write),
            (X86_64, 1, FaultCall::Write),
            (X86_64, 326, FaultCall::Write),
            (X86_64, 86, FaultCall::Link),
            (AARCH64, 37, FaultCall::Link),
            (X86_64, 62, FaultCall::Kill),
            (X86_64, PIDFD_SEND_SIGNAL, FaultCall::Kill),
            (0x4000_0003, 10, FaultCall::Unlink),
            (AARCH64, 276, FaultCall::Rename),
            (AARCH64, 64, FaultCall::Write),
            (0x4000_0028, 322, FaultCall::Open),
        ] {
            assert_eq!(run(&[call], arch, number), ASK, "{arch:#x} {number}");
            let others: Vec<FaultCall> = all.iter().copied().filter(|other| *other != call).collect();
            assert_eq!(run(&others, arch, number), ALLOW, "{arch:#x} {number}");
        }
        assert_eq!(run(&[], X86_64, IO_URING_SETUP), NO_SUCH_CALL);
    }

    #[test]
    fn what_is_done_is_understood() {
        let args = [7, 15, 0, 0, 0, 0];
        assert_eq!(doing(X86_64, 1, &args), Some(Doing::Write(7)));
        assert_eq!(doing(X86_64, 62, &[u64::from((-1i32).cast_unsigned()), 15, 0, 0, 0, 0]), Some(Doing::Kill(-1)));
        assert_eq!(doing(AARCH64, 424, &args), Some(Doing::KillBy(7)));
        assert_eq!(doing(X86_64, 275, &[5, 0, 7, 0, 64, 0]), Some(Doing::Write(7)));
        assert_eq!(doing(X86_64, 129, &args), Some(Doing::Kill(7)));
        let place = |folder, path| Place { folder, path };
        let named = Doing::Link { file: Some(place(7, 0x10)), to: place(8, 0x20) };
        assert_eq!(doing(AARCH64, 37, &[7, 0x10, 8, 0x20, 0, 0]), Some(named));
        let symbolic = Doing::Link { file: None, to: place(libc::AT_FDCWD, 0x20) };
        assert_eq!(doing(X86_64, 88, &[0x10, 0x20, 0, 0, 0, 0]), Some(symbolic));
        assert_eq!(doing(X86_64, 82, &args), None);
    }
}
