//! One job while it runs: what happens to it, taken in as it happens, and what was seen of it in the end.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};

use super::super::job::look_again;
use super::super::unix::capture::Capture;
use super::super::unix::waiting::{micros, timespec};
use super::super::unix::wire::Word;
use super::super::{Ended, Job, LateProcess, Outcome, StartError};
use super::commons::Commons;
use super::filter::{self, Asked, Enforcement, Filter};
use super::mounts::Views;
use super::procfs::{self, Wanted};
use super::publishing::Publishing;
use super::removals::Removals;
use super::signals::{self, Reaped};
use super::sockets::{self, Bound};
use super::streams::Streams;
use super::{spawn, tree};

pub use super::tools::Tools;
use crate::model::{Exit, Process, REMOVALS, Stream};

/// How many dead children are taken at once. A check can make them faster than they are taken, and must not keep its own
/// limit from being looked at.
const BATCH: usize = 256;

/// A job while it runs.
pub struct Run<'a> {
    roots: &'a [PathBuf],
    started: Instant,
    started_ms: u64,
    leader: u32,
    exit: Option<Exit>,
    /// When the first process ended.
    ended_at: Option<Instant>,
    /// Whether nothing of the job is alive.
    empty: bool,
    /// Whether there may be more dead children than were taken.
    unreaped: bool,
    /// What was alive when the first process ended.
    late: Vec<Process>,
    /// Whether those that outlived the grace were looked at.
    lasting_seen: bool,
    /// When which child ended.
    ends: HashMap<u32, Instant>,
    stdout: Capture,
    stderr: Capture,
    buffer: &'a mut [u8],
    /// What is removed in the sandbox while the job runs; `None` if that can't be watched.
    removals: Option<Removals<'a>>,
    /// `None` if the job publishes nothing, or if that can't be watched.
    publishing: Option<Publishing<'a>>,
    /// `None` if nothing is to be asked about, or can be.
    enforcement: Option<Enforcement<'a>>,
    /// Why none of its faults can be made.
    faultless: Option<String>,
    blind: Vec<String>,
    /// The outer end of the terminal that is the input; without it that would hang up.
    _typed: Option<OwnedFd>,
}

impl<'a> Run<'a> {
    /// Starts the job. What its processes do is announced at the supervisor's signals without being asked for.
    ///
    /// # Errors
    ///
    /// Why it could not be.
    pub fn start(job: &'a Job, tools: &'a mut Tools, _signals: &OwnedFd) -> Result<Self, StartError> {
        let Tools { null, buffer, inotify, publishing, budget, judge } = tools;
        let streams = Streams::open(job)?;
        let mut blind = Vec::new();
        let mut removals = match (&*inotify, job.roots.first()) {
            (Ok(inotify), Some(root)) => Some(Removals::watch(inotify, budget, root)),
            (Err(error), Some(_)) => {
                blind.push(format!("{REMOVALS}: {}", io::Error::from(*error)));
                None
            }
            (_, None) => None,
        };
        let mut publishing = Publishing::of(job, publishing, &mut blind);
        let started = Instant::now();
        let started_ms = super::clock::boot_tick_ms();
        // Only to know who writes somewhere, nobody's rights are taken.
        let asking = publishing.is_some() && (!job.publishes.is_empty() || rustix::process::geteuid().is_root());
        let asked = Asked::of(job, asking);
        let mut lack = None;
        let filter = (!asked.is_nothing())
            .then(|| Filter::new(&asked))
            .and_then(|filter| filter.map_err(|why| lack = Some(why)).ok());
        let (leader, filtered) = spawn::spawn(job, streams.given(null), filter.as_ref())?;
        let (stdout, stderr, typed) = streams.kept();
        let listener = filter.and_then(|filter| {
            let taken = filtered.and_then(|()| filter.listener());
            taken.map_err(|error| lack = Some(filter::in_words(&error))).ok()
        });
        let enforcement = listener.map(|listener| Enforcement::new(listener, *judge, job, &asked));
        if asking && enforcement.is_some() {
            publishing.iter_mut().for_each(Publishing::are_asked);
        }
        blind.extend(lack.iter().flat_map(|why| asked.lost(why)));
        if let Some(removals) = removals.as_mut().filter(|_| asked.rules.is_some() && enforcement.is_some()) {
            removals.look_rarely();
        }
        Ok(Self {
            roots: &job.roots,
            started,
            started_ms,
            leader,
            exit: None,
            ended_at: None,
            empty: false,
            unreaped: false,
            late: Vec::new(),
            lasting_seen: false,
            ends: HashMap::new(),
            stdout,
            stderr,
            buffer,
            removals,
            publishing,
            enforcement,
            faultless: lack.filter(|_| !job.faults.is_empty()),
            blind,
            _typed: typed,
        })
    }

    /// When the job's present limit is over, and what that ends.
    pub fn limit(&self, job: &Job) -> (Instant, Ended) {
        job.limit(self.started, self.ended_at)
    }

    /// Looks at what outlived the grace, once it has; says when that is, if it is yet to come.
    pub fn look_at_lasting(&mut self, job: &Job, _signals: &OwnedFd) -> Option<Instant> {
        let at = job.look_at_lasting(self.ended_at).filter(|_| !self.lasting_seen)?;
        if at > Instant::now() {
            return Some(at);
        }
        self.lasting_seen = true;
        let sockets = self.bound();
        let now = tree::read(std::process::id(), &self.wanted(&sockets), &HashSet::new());
        look_again(&mut self.late, now, |a, b| a.pid == b.pid && a.started_ms == b.started_ms);
        None
    }

    /// Whether the first process has ended, and nothing is left of the job.
    pub fn is_over(&self) -> bool {
        self.ended_at.is_some() && self.empty && self.stdout.pipe().is_none() && self.stderr.pipe().is_none()
    }

    fn now_us(&self) -> u64 {
        micros(self.started.elapsed())
    }

    /// Waits for whatever happens next, and takes it in.
    pub fn wait(&mut self, signals: &OwnedFd, socket: &UnixStream, limit: Duration) -> Word {
        let streams = [self.stdout.pipe(), self.stderr.pipe()];
        let mut fds = vec![PollFd::new(signals, PollFlags::IN), PollFd::new(socket, PollFlags::IN)];
        let removals = self.removals.as_ref().map(Removals::fd);
        let due = self.enforcement.as_ref().and_then(Enforcement::due);
        let commons = self.publishing.as_ref().and_then(|publishing| publishing.commons.as_ref());
        let looks = [self.removals.as_ref().and_then(Removals::look_at), commons.map(Commons::look_at), due];
        let now = Instant::now();
        let limit = looks.into_iter().flatten().fold(limit, |limit, at| limit.min(at.saturating_duration_since(now)));
        let limit = if self.unreaped { Duration::ZERO } else { limit };
        let watched = signals::also(&mut fds, removals);
        let published = signals::also(&mut fds, self.publishing.as_ref().map(Publishing::fd));
        let asking = signals::also(&mut fds, self.enforcement.as_ref().and_then(Enforcement::fd));
        let written_to = fds.len();
        fds.extend(streams.iter().flatten().map(|fd: &BorrowedFd<'_>| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        if poll(&mut fds, Some(&timespec(limit))).is_err() {
            return Word::Nothing;
        }
        let signalled = !fds[0].revents().is_empty();
        let spoken = !fds[1].revents().is_empty();
        let removed = watched.is_some_and(|index| !fds[index].revents().is_empty());
        let asked = asking.map_or(PollFlags::empty(), |index| fds[index].revents());
        let printed = fds[written_to..].iter().any(|fd| !fd.revents().is_empty());
        let written = published.is_some_and(|index| !fds[index].revents().is_empty());
        drop(fds);
        // Whoever writes does not wait.
        if written {
            self.look_at_published();
        }
        self.publishing.iter_mut().flat_map(|publishing| &mut publishing.commons).for_each(Commons::look);
        // Whoever asks waits.
        if (!asked.is_empty() || due.is_some_and(|at| at <= Instant::now()))
            && let Some(mut enforcement) = self.enforcement.take()
        {
            let (mut publishing, sockets) = (self.publishing.take(), Bound::new());
            let wanted = self.wanted(&sockets);
            enforcement.serve(asked, &wanted, |thread, about| {
                if let Some(publishing) = &mut publishing {
                    publishing.asked(thread, about, &wanted);
                }
            });
            (self.enforcement, self.publishing) = (Some(enforcement), publishing);
        }
        if printed {
            let now_us = self.now_us();
            self.stdout.take(self.buffer, now_us);
            self.stderr.take(self.buffer, now_us);
        }
        self.look_at_removals(removed);
        if signalled || self.unreaped {
            signals::drain(signals);
            self.reap();
        }
        if spoken {
            return Word::of(socket);
        }
        Word::Nothing
    }

    /// Takes in removals before any death is, so that a holder that ends next is still there to be seen.
    fn look_at_removals(&mut self, happened: bool) {
        let Some(mut removals) = self.removals.take() else { return };
        if happened {
            removals.take();
        }
        if removals.look_at().is_some_and(|at| at <= Instant::now()) {
            // Sockets are left out: to ask for them costs more than all the rest.
            removals
                .look(self.started_ms, || tree::read(std::process::id(), &self.wanted(&Bound::new()), &HashSet::new()));
        }
        self.removals = Some(removals);
    }

    fn look_at_published(&mut self) {
        if let Some(mut publishing) = self.publishing.take() {
            publishing.take(&self.wanted(&Bound::new()));
            self.publishing = Some(publishing);
        }
    }

    fn reap(&mut self) {
        let was_running = self.ended_at.is_none();
        self.reap_some();
        if was_running && self.ended_at.is_some() && !self.empty {
            let sockets = self.bound();
            self.late = tree::read(std::process::id(), &self.wanted(&sockets), &HashSet::new());
        }
    }

    fn reap_some(&mut self) {
        self.unreaped = true;
        for _ in 0..BATCH {
            match signals::reap() {
                Reaped::Child(pid, exit) => self.note_end(pid, exit),
                none => {
                    self.unreaped = false;
                    self.empty |= none == Reaped::Empty;
                    break;
                }
            }
        }
    }

    fn note_end(&mut self, pid: u32, exit: Exit) {
        let now = Instant::now();
        if pid == self.leader && self.ended_at.is_none() {
            self.exit = Some(exit);
            self.ended_at = Some(now);
        } else if self.ended_at.is_some() {
            self.ends.insert(pid, now);
        }
    }

    fn wanted<'b>(&self, sockets: &'b Bound) -> Wanted<'b>
    where
        'a: 'b,
    {
        Wanted {
            roots: self.roots,
            pipes: [(self.stdout.number(), Stream::Stdout), (self.stderr.number(), Stream::Stderr)],
            leader: Some(self.leader),
            started_ms: self.started_ms,
            sockets,
            views: Views::default(),
        }
    }

    /// The sockets that are bound in the job's folders. Where the kernel can't be asked, none are told of.
    fn bound(&self) -> Bound {
        sockets::bound(self.roots, &HashSet::new()).unwrap_or_default()
    }

    /// Reads what is alive, ends it, and tells all that was seen.
    pub fn finish(mut self, ended: Ended, signals: &OwnedFd) -> Outcome {
        // What is dead by now ended in time, and is no leak; what is left after this is one, however soon it ends.
        self.reap_some();
        // Likewise for the streams: on a busy machine there may have been no time to see their end before.
        let now_us = self.now_us();
        self.stdout.drain(self.buffer, now_us);
        self.stderr.drain(self.buffer, now_us);
        self.look_at_published();
        let sockets = if self.empty { Bound::new() } else { self.bound() };
        let wanted = self.wanted(&sockets);
        let over = Instant::now();
        let empty_at = self.ends.values().max().copied();
        let mut alive = Vec::new();
        let mut unnamed = 0;
        let mut survivors = Vec::new();
        if !self.empty {
            alive = tree::read(std::process::id(), &wanted, &HashSet::new());
            let mut killed = Vec::new();
            let left = tree::end_all(signals, |pid, exit| {
                // What ended by itself just before is no leak.
                if exit == Exit::Signal(libc::SIGKILL) {
                    killed.push(pid);
                }
            });
            killed.retain(|pid| *pid != self.leader && !alive.iter().any(|process| process.pid == *pid));
            unnamed = killed.len() as u64;
            if ended == Ended::ByItself && alive.is_empty() && unnamed == 0 {
                unnamed = 1;
            }
            survivors = left.into_iter().filter_map(|pid| procfs::read(pid, &wanted)).collect();
        }
        // What the killed had left to write.
        self.look_at_published();
        let now_us = self.now_us();
        let Self {
            mut stdout, mut stderr, buffer, mut removals, publishing, enforcement, faultless, mut blind, ..
        } = self;
        // What the job wrote before its end is in the pipe; only behind it can an end be seen.
        stdout.drain(buffer, now_us);
        stderr.drain(buffer, now_us);
        let held = stdout.pipe().is_some() || stderr.pipe().is_some();
        let outside = if held { tree::outsiders(&wanted, &mut blind) } else { Vec::new() };
        let (mut stdout, mut stderr) = (stdout.into_captured(), stderr.into_captured());
        if !alive.is_empty() || unnamed > 0 {
            // It ended because its holders were ended, not by itself.
            for captured in [&mut stdout, &mut stderr] {
                captured.end_us = captured.end_us.filter(|&end| end < micros(over - self.started));
            }
        }
        let untouched = removals.as_mut().is_some_and(|removals| {
            removals.take();
            if ended != Ended::Cancelled {
                removals.look_last(self.started_ms);
            }
            removals.is_untouched()
        });
        blind.extend(removals.iter().flat_map(Removals::blind));
        let (removed, unread) = removals.map(Removals::into_seen).unwrap_or_default();
        let (published, touched, shared, unwatched) = publishing.map(Publishing::into_seen).unwrap_or_default();
        blind.extend(unwatched);
        let seen = enforcement.map(Enforcement::into_seen).unwrap_or_default();
        blind.extend(seen.blind);
        let first_end = self.ended_at.unwrap_or(over);
        let late = self
            .late
            .into_iter()
            .map(|process| {
                let lives =
                    alive.iter().any(|other| other.pid == process.pid && other.started_ms == process.started_ms);
                // A deep descendant's end is seen at the latest when nothing is left.
                let end = self.ends.get(&process.pid).copied().or(empty_at).unwrap_or(over);
                let ended_us = (!lives).then(|| micros(end.saturating_duration_since(first_end)));
                LateProcess { process, ended_us }
            })
            .collect();
        Outcome {
            not_started: None,
            ended,
            exit: self.exit,
            duration_us: micros(first_end - self.started),
            late,
            alive,
            unnamed,
            survivors,
            outside,
            removed,
            refused: seen.refused,
            forbidden: seen.forbidden,
            faults: seen.faults,
            faultless,
            published,
            touched,
            shared,
            unread,
            untouched,
            started_boot_ms: self.started_ms,
            stdout,
            stderr,
            blind,
            notes: Vec::new(),
        }
    }
}
