//! The answers: what Windows would refuse is refused, and written down.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::super::super::{FileGlob, Job};
use super::super::procfs::{self, Wanted};
use super::asked::Asked;
use super::claims;
use super::faults::Faults;
use super::forbidden::Forbidden;
use super::gains;
use super::lack::takes_rights_away;
use super::listener::{Listener, Question};
use super::program::{Call, Kind, Onto};
use super::reach::{Reached, reach};
use super::sitters::{self, Sitter};
use super::writes::{self, About};
use crate::model::{
    Act, Answer, Effect, FaultSeen, ForbiddenCall, Hold, Holder, Judge, Process, Refusal, Refused, RefusedCall, Target,
    WindowsRules,
};

/// How many questions are answered before anything else is looked at.
const BATCH: usize = 64;
/// How many refusals are kept, and how many of what was let through though Windows may refuse it.
const KEPT: usize = 100;
/// How many of them are of files that were read-only, and then not.
const KEPT_MENDED: usize = 4;
/// What looks at strangers may cost in any case, and then as a part of the time since the start: one in so many.
const FREE: Duration = Duration::from_millis(3);
const SHARE: u32 = 100;
/// How long the next question is waited for before anything else is done. Who was let through goes on where this process
/// ran, so that whatever else it does keeps that one waiting.
const NEXT: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000 };

/// What was seen by a filter.
#[derive(Debug, Default)]
pub struct Seen {
    pub refused: Vec<RefusedCall>,
    pub forbidden: Vec<ForbiddenCall>,
    pub faults: Vec<FaultSeen>,
    /// Why not all was seen, or is as it would be without the filter.
    pub blind: Vec<String>,
}

/// Windows' rules over one job, and what else it may not do, or not do well.
pub struct Enforcement<'a> {
    listener: Listener,
    judge: Judge,
    rules: WindowsRules,
    began: Instant,
    /// What looks at strangers have cost.
    spent: Duration,
    /// If it has no rules, all is let through but what may not be run, or is to fail.
    asked: Asked<'a>,
    /// The published files, and what else somebody watches.
    publishes: Vec<FileGlob>,
    /// `None` if every program may be run.
    forbidden: Option<Forbidden<'a>>,
    faults: Faults,
    /// Questions that are to be answered later, and when.
    delayed: Vec<(Instant, Question)>,
    /// Nobody is left who could ask.
    over: bool,
    refused: Vec<RefusedCall>,
    /// Why a call was let through unseen.
    unseen: Option<String>,
    /// Whether programs lose rights by it.
    takes_rights: bool,
    /// The first program that would have gained rights without the filter.
    powerless: Option<PathBuf>,
}

impl<'a> Enforcement<'a> {
    /// By a filter that is on, over a job. If that keeps no rules, questions only come for somebody else.
    pub fn new(listener: OwnedFd, judge: Judge, job: &'a Job, asked: &Asked<'a>) -> Self {
        Self {
            listener: Listener::new(listener),
            judge,
            asked: asked.clone(),
            // Of one that is none is told where they are watched.
            publishes: job
                .publishes
                .iter()
                .filter_map(|(_, glob)| FileGlob::new(glob).ok())
                .chain(job.watched().chain(job.commons()).map(|(_, glob)| glob))
                .collect(),
            rules: job.windows.clone(),
            began: Instant::now(),
            spent: Duration::ZERO,
            forbidden: Forbidden::of(job),
            faults: Faults::of(job),
            delayed: Vec::new(),
            over: false,
            refused: Vec::new(),
            unseen: None,
            takes_rights: takes_rights_away(),
            powerless: gains::starting(&job.program),
        }
    }

    /// What is to be polled.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        (!self.over).then(|| self.listener.fd())
    }

    /// Answers who asks, given what polling has told. Where files are published, `before` is told each time who is about
    /// to go on, and what published file that thread is about to open or to name.
    pub fn serve(&mut self, mut happened: PollFlags, wanted: &Wanted<'_>, mut before: impl FnMut(u32, &About)) {
        let now = Instant::now();
        for (_, question) in self.delayed.extract_if(.., |(at, _)| *at <= now).collect::<Vec<_>>() {
            self.answer(&question, wanted, &mut before);
        }
        for _ in 0..BATCH {
            // Without a question there, to take one would wait for it. Whoever is gone by now has left an empty place.
            if !happened.contains(PollFlags::IN) {
                self.over = happened.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL);
                return;
            }
            if let Some(question) = self.listener.next() {
                let fault = self.faults.asked(&question, &self.listener, wanted);
                match fault.unwrap_or_else(|error| self.unread(&question, error)) {
                    Some(Effect::Errno(errno)) => self.listener.answer(&question, Some(errno.number())),
                    Some(Effect::Delay(time)) => self.delayed.push((Instant::now() + time, question)),
                    None => self.answer(&question, wanted, &mut before),
                }
            }
            let mut fds = [PollFd::from_borrowed_fd(self.listener.fd(), PollFlags::IN)];
            if poll(&mut fds, Some(&NEXT)).is_err() {
                return;
            }
            happened = fds[0].revents();
        }
    }

    /// When the next question that waits is to be answered.
    pub fn due(&self) -> Option<Instant> {
        self.delayed.iter().map(|(at, _)| *at).min().filter(|_| !self.over)
    }

    /// Answers one who asks.
    fn answer(&mut self, question: &Question, wanted: &Wanted<'_>, before: &mut impl FnMut(u32, &About)) {
        if !self.publishes.is_empty() {
            let mut about = writes::about(question, &self.publishes);
            if self.asked.shared {
                about.claims = claims::claimed(question);
            }
            if self.listener.waits(question) {
                before(question.thread, &about);
            }
        }
        let errno = self.errno(question, wanted).unwrap_or_else(|error| self.unread(question, error));
        self.listener.answer(question, errno);
    }

    /// Remembers that a call could not be read; it is let through.
    fn unread<T>(&mut self, question: &Question, error: Errno) -> Option<T> {
        // Who was ended while it was looked at has nothing to be told.
        if self.listener.waits(question) {
            let (what, why) = (self.asked.what(), std::io::Error::from(error));
            self.unseen.get_or_insert_with(|| format!("{what}: a call could not be read: {why}"));
        }
        None
    }

    /// The error that the call is to fail with, if it may not be made, or Windows would refuse it.
    fn errno(&mut self, question: &Question, wanted: &Wanted<'_>) -> Result<Option<i32>, Errno> {
        if let Some(execution) = question.execution {
            if let Some(forbidden) = &mut self.forbidden
                && let Some(errno) = forbidden.asked(question, execution, &self.listener, wanted)?
            {
                return Ok(Some(errno));
            }
            if self.takes_rights
                && let Some(program) = gains::gaining(question.thread, execution.place)?
            {
                self.powerless.get_or_insert(program);
            }
            return Ok(None);
        }
        let Some(call) = question.call.filter(|_| self.asked.rules.is_some()) else { return Ok(None) };
        match call.kind {
            Kind::Rmdir(place) => match reach(question.thread, place)? {
                Some(target) if target.is_directory() => Ok(self.judged(question, call, Act::Remove, &target, wanted)),
                _ => Ok(None),
            },
            Kind::Unlink(place) => match reach(question.thread, place)? {
                Some(target) if target.is_directory() => Ok(self.of_directory(question)),
                Some(target) => Ok(self.judged(question, call, Act::Remove, &target, wanted)),
                None => Ok(None),
            },
            Kind::Rename { from, to, onto } => {
                let Some(source) = reach(question.thread, from)? else { return Ok(None) };
                if let Some(errno) = self.judged(question, call, Act::Rename, &source, wanted) {
                    return Ok(Some(errno));
                }
                let act = match onto {
                    Onto::Nothing => return Ok(None),
                    Onto::Exchanged => Act::Rename,
                    Onto::Replaced if !source.is_directory() && !self.rules.files => return Ok(None),
                    Onto::Replaced => Act::Replace,
                };
                // What is of another kind, or a directory with something in it, takes no replacement anywhere.
                let may_be = |target: &Reached| {
                    act == Act::Rename
                        || target.is_directory() == source.is_directory()
                            && (!target.is_directory() || target.is_empty())
                };
                let target = reach(question.thread, to)?.filter(|target| !target.is(&source.stat) && may_be(target));
                Ok(target.and_then(|target| self.judged(question, call, act, &target, wanted)))
            }
        }
    }

    /// The error of a call for files that is to remove a directory, where that is to be another one than this system's.
    fn of_directory(&self, question: &Question) -> Option<i32> {
        if !self.rules.faithful {
            return None;
        }
        (self.judge.unlink_directory)(&sitters::program(question.thread), &self.rules).map(errno_of)
    }

    fn judged(
        &mut self,
        question: &Question,
        call: Call,
        act: Act,
        target: &Reached,
        wanted: &Wanted<'_>,
    ) -> Option<i32> {
        let kind = if target.is_directory() {
            Target::Directory
        } else if target.is_file() && self.rules.files {
            let read_only = target.is_read_only();
            Target::File { read_only, temporary: read_only && target.is_named_temporary() }
        } else {
            return None;
        };
        let sitters = match kind {
            Target::File { .. } if !target.may_be_in_use() => Vec::new(),
            _ => self.sitters(act, target),
        };
        let by_itself =
            matches!((act, kind), (Act::Replace, Target::Directory) | (_, Target::File { read_only: true, .. }));
        if sitters.is_empty() && !by_itself {
            self.overcome(act, target);
            return None;
        }
        // What lies among the devices is memory that processes share, or a lock of theirs. Windows has no files for these.
        if target.path().is_some_and(|path| path.starts_with("/dev")) {
            return None;
        }
        let programs: Vec<String> = sitters.iter().map(|sitter| sitters::program(sitter.pid)).collect();
        let holders: Vec<Holder<'_>> = sitters
            .iter()
            .zip(&programs)
            .map(|(sitter, program)| Holder {
                how: sitter.how,
                program,
                below: sitter.below.is_some(),
                directory: sitter.directory,
                came: sitter.came,
            })
            .collect();
        let caller = sitters::program(question.thread);
        let answer = (self.judge.judge)(act, &caller, kind, &holders, &self.rules);
        // Only now is it sure that what was read is the caller's own, and not of one that got its number.
        if !self.listener.waits(question) {
            return None;
        }
        let (refusal, errno) = match answer {
            Answer::Allow => {
                self.overcome(act, target);
                return None;
            }
            Answer::Predict(refusal) => {
                self.overcome(act, target);
                (refusal, None)
            }
            Answer::Refuse(refusal) => (refusal, Some(errno_of(refusal.class))),
        };
        let sitter = refusal.holder.and_then(|index| sitters.into_iter().nth(index));
        self.note(question, call, act, target, sitter, (refusal, errno.is_none()), wanted);
        errno
    }

    /// Remembers that what was refused before is done now. Of files that were read-only until then some stand for all:
    /// libraries try, take the attribute away, and try again.
    fn overcome(&mut self, act: Act, target: &Reached) {
        if self.refused.iter().all(|refused| refused.predicted || refused.overcome) {
            return;
        }
        let path = target.path().unwrap_or_default();
        let same = |refused: &RefusedCall| refused.act == act && path.as_os_str() == refused.path.as_str();
        for refused in self.refused.iter_mut().filter(|refused| same(refused)) {
            refused.overcome = true;
        }
        let mut mended = 0;
        self.refused.retain(|refused| {
            mended += usize::from(refused.is_mended());
            !refused.is_mended() || mended <= KEPT_MENDED
        });
    }

    /// Who has it: of the job's own tree always, of all others as long as that costs little. Whoever is missed is seen
    /// when the removal has happened.
    fn sitters(&mut self, act: Act, target: &Reached) -> Vec<Sitter> {
        let renamed = if act == Act::Rename && target.is_directory() { target.path() } else { None };
        let find = |pids: &[u32]| {
            if !target.is_directory() {
                return sitters::users(pids, target);
            }
            let mut found = sitters::sitting(pids, target);
            found.extend(renamed.iter().flat_map(|path| sitters::below(pids, path)));
            found
        };
        let me = std::process::id();
        let tree = sitters::descendants(me);
        let mut found = find(&tree);
        if found.is_empty() && self.spent <= FREE + self.began.elapsed() / SHARE {
            let began = Instant::now();
            let mut strangers = sitters::strangers(&tree);
            // The harness, and whatever serves it, is none of the job's business.
            let harness = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().cast_unsigned());
            strangers.retain(|&pid| pid != me && Some(pid) != harness);
            found = find(&strangers);
            found.retain(|sitter| procfs::stat(sitter.pid).is_ok_and(|stat| Some(stat.parent) != harness));
            self.spent += began.elapsed();
        }
        found
    }

    #[expect(clippy::too_many_arguments, reason = "all that is to be written down")]
    fn note(
        &mut self,
        question: &Question,
        call: Call,
        act: Act,
        target: &Reached,
        sitter: Option<Sitter>,
        (refusal, predicted): (Refusal, bool),
        wanted: &Wanted<'_>,
    ) {
        let path = target.path().unwrap_or_default().to_string_lossy().into_owned();
        let same = |known: &&mut RefusedCall| {
            known.path == path
                && (known.act, known.predicted, known.overcome) == (act, predicted, false)
                && known.holder.as_ref().map(|(process, _)| process.pid) == sitter.as_ref().map(|sitter| sitter.pid)
        };
        if let Some(known) = self.refused.iter_mut().find(same) {
            known.times += 1;
            return;
        }
        if self.refused.iter().filter(|known| known.predicted == predicted).count() >= KEPT {
            return;
        }
        let Some(caller) = read(process_of(question.thread), wanted) else { return };
        let holder = sitter.and_then(|sitter| {
            let lies_at = sitter.below.map_or_else(|| path.clone(), |below| below.to_string_lossy().into_owned());
            let hold = Hold { how: sitter.how, path: lies_at, directory: sitter.directory, deleted: false };
            Some((read(sitter.pid, wanted)?, hold))
        });
        self.refused.push(RefusedCall {
            call: call.name.to_owned(),
            act,
            path,
            directory: target.is_directory(),
            caller,
            holder,
            refusal,
            predicted,
            overcome: false,
            times: 1,
        });
    }

    /// All that was seen.
    pub fn into_seen(self) -> Seen {
        let what = self.asked.what();
        let powerless = self.powerless.map(|program| {
            let program = program.display();
            format!("{what}: {program} could not gain rights: the filter of a user who is not root takes them away")
        });
        Seen {
            refused: self.refused,
            forbidden: self.forbidden.map(Forbidden::into_seen).unwrap_or_default(),
            faults: self.faults.into_seen(),
            blind: self.unseen.into_iter().chain(powerless).collect(),
        }
    }
}

fn errno_of(class: Refused) -> i32 {
    match class {
        Refused::Busy => libc::EBUSY,
        Refused::Denied => libc::EACCES,
        Refused::NotPermitted => libc::EPERM,
    }
}

/// The process that a thread belongs to.
pub fn process_of(thread: u32) -> u32 {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let group = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
    group.and_then(|group| group.trim().parse().ok()).unwrap_or(thread)
}

/// A process with its line of parents, as far as the job goes.
pub fn read(pid: u32, wanted: &Wanted<'_>) -> Option<Process> {
    let mut process = procfs::read(pid, wanted)?;
    let me = std::process::id();
    process.parents = procfs::ancestors(pid).into_iter().take_while(|parent| parent.pid != me).collect();
    Some(process)
}
