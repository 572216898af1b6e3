//! One job while it runs: what happens to it, taken in as it happens, and what was seen of it in the end.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::Signal;

use super::super::job::{look_again, unwatched_executions};
use super::super::unix::capture::Capture;
use super::super::unix::waiting::{micros, timespec};
use super::super::unix::wire::Word;
use super::super::{Ended, Job, LateProcess, Outcome, StartError};
use super::family::{self, Family};
use super::process::{self, Wanted};
use super::sys::{self, ProcArgsBuffer};
use super::{clock, signals, spawn};
use crate::model::{Exit, Judge, PUBLISHED_FILES, Process, Rules, Stream, WINDOWS_RULES};

/// How much output is read at once: what a pipe holds by default.
const BUFFER: usize = 64 * 1024;
/// How often what a job has left is tried to be ended once the harness is gone.
const LAST_TRIES: usize = 12;

/// What one job uses after the other.
pub struct Tools {
    /// Empty input.
    null: File,
    /// What output is read into.
    buffer: Vec<u8>,
    /// What arguments and environments are read into.
    room: ProcArgsBuffer,
    /// The processes of the last job.
    family: Option<Family>,
    roots: Vec<PathBuf>,
}

impl Tools {
    /// Opens them.
    ///
    /// # Errors
    ///
    /// If there is no `/dev/null`.
    pub fn open(_judge: Judge) -> io::Result<Self> {
        Ok(Self {
            null: File::open("/dev/null")?,
            buffer: vec![0; BUFFER],
            room: ProcArgsBuffer::new(),
            family: None,
            roots: Vec::new(),
        })
    }

    /// Ends what is left of the last job.
    pub fn end_rest(&mut self, queue: &OwnedFd) {
        let Some(family) = &mut self.family else { return };
        // Nobody is left to end what this does not.
        let _ = (0..LAST_TRIES).find(|_| family.end(queue, &self.roots, &mut self.room, |_| {}).is_empty());
    }
}

/// A job while it runs.
pub struct Run<'a> {
    started: Instant,
    started_ms: u64,
    leader: u32,
    exit: Option<Exit>,
    /// When the first process ended.
    ended_at: Option<Instant>,
    family: &'a mut Family,
    /// What was alive when the first process ended, by unique numbers.
    late: Vec<(u64, Process)>,
    /// Whether those that outlived the grace were looked at.
    lasting_seen: bool,
    roots: &'a [PathBuf],
    stdout: Capture,
    stderr: Capture,
    buffer: &'a mut [u8],
    room: &'a mut ProcArgsBuffer,
    blind: Vec<String>,
}

impl<'a> Run<'a> {
    /// Starts the job. What its processes do comes to the queue.
    ///
    /// # Errors
    ///
    /// Why it could not be.
    pub fn start(job: &'a Job, tools: &'a mut Tools, queue: &OwnedFd) -> Result<Self, StartError> {
        let Tools { null, buffer, room, family, roots } = tools;
        let failed = |action: &str, file: &std::path::Path, error: &io::Error| StartError {
            action: action.to_owned(),
            file: file.to_string_lossy().into_owned(),
            errno: error.raw_os_error().unwrap_or(libc::EIO),
        };
        let me = std::process::id();
        // Others have the writing end only.
        let number = |pipe: BorrowedFd<'_>| sys::pipe(me, pipe.as_raw_fd()).map(|(_, writing)| writing);
        let pipe = || Capture::new(job.spill.clone(), number).map_err(|e| failed("make a pipe for", &job.program, &e));
        let (stdout, out) = pipe()?;
        let (stderr, err) = pipe()?;
        let stdin = match &job.stdin {
            Some(file) => Some(File::open(file).map_err(|error| failed("read", file, &error))?),
            None => None,
        };
        let mut blind = Vec::new();
        if job.rules == Rules::Windows {
            blind.push(format!("{WINDOWS_RULES}: not enforced: only Linux can refuse a call"));
        }
        if !job.publishes.is_empty() {
            blind.push(format!("{PUBLISHED_FILES}: only Linux can watch how they appear"));
        }
        blind.extend(job.forbids.as_ref().map(|_| unwatched_executions()));
        let started = Instant::now();
        let started_ms = clock::boot_ms();
        let leader = spawn::spawn(job, [stdin.as_ref().unwrap_or(null).as_fd(), out.as_fd(), err.as_fd()])?;
        // It is stopped: whatever it does is seen from the first moment on.
        let watched = sys::seen(leader).and_then(|first| {
            sys::watch(queue, leader)?;
            Ok(first)
        });
        let first = watched.map_err(|error| {
            signals::end(leader);
            failed("watch", &job.program, &error)
        })?;
        roots.clone_from(&job.roots);
        let family = family.insert(Family::of(&first));
        family.look(queue);
        family::send(leader, Signal::CONT);
        Ok(Self {
            started,
            started_ms,
            leader,
            exit: None,
            ended_at: None,
            family,
            late: Vec::new(),
            lasting_seen: false,
            roots: &job.roots,
            stdout,
            stderr,
            buffer,
            room,
            blind,
        })
    }

    /// When the job's present limit is over, and what that ends.
    pub fn limit(&self, job: &Job) -> (Instant, Ended) {
        job.limit(self.started, self.ended_at)
    }

    /// Looks at what outlived the grace, once it has; says when that is, if it is yet to come.
    pub fn look_at_lasting(&mut self, job: &Job, queue: &OwnedFd) -> Option<Instant> {
        let at = job.look_at_lasting(self.ended_at).filter(|_| !self.lasting_seen)?;
        if at > Instant::now() {
            return Some(at);
        }
        self.lasting_seen = true;
        self.family.look(queue);
        let wanted = self.wanted();
        let now = self.family.read(&wanted, self.room);
        look_again(&mut self.late, now, |(a, _), (b, _)| a == b);
        None
    }

    /// Whether the first process has ended, and nothing is left of the job that could be found.
    pub fn is_over(&self) -> bool {
        self.ended_at.is_some()
            && self.family.is_empty()
            && self.stdout.pipe().is_none()
            && self.stderr.pipe().is_none()
    }

    fn now_us(&self) -> u64 {
        micros(self.started.elapsed())
    }

    /// Waits for whatever happens next, and takes it in.
    pub fn wait(&mut self, queue: &OwnedFd, socket: &UnixStream, limit: Duration) -> Word {
        let streams = [self.stdout.pipe(), self.stderr.pipe()];
        let mut fds = vec![PollFd::new(queue, PollFlags::IN), PollFd::new(socket, PollFlags::IN)];
        fds.extend(streams.iter().flatten().map(|fd: &BorrowedFd<'_>| PollFd::from_borrowed_fd(*fd, PollFlags::IN)));
        if poll(&mut fds, Some(&timespec(limit))).is_err() {
            return Word::Nothing;
        }
        let happened = !fds[0].revents().is_empty();
        let spoken = !fds[1].revents().is_empty();
        drop(fds);
        let now_us = self.now_us();
        self.stdout.take(self.buffer, now_us);
        self.stderr.take(self.buffer, now_us);
        if happened {
            sys::drain(queue);
            self.look(queue);
        }
        if spoken { Word::of(socket) } else { Word::Nothing }
    }

    /// Looks at who is there before the first process is taken: what it has started is known by it.
    fn look(&mut self, queue: &OwnedFd) {
        self.family.look(queue);
        if self.ended_at.is_some() {
            return;
        }
        let Some(exit) = signals::reap(self.leader) else { return };
        self.exit = Some(exit);
        self.ended_at = Some(Instant::now());
        self.family.look_for_marked(queue, self.roots, self.room);
        let wanted = self.wanted();
        self.late = self.family.read(&wanted, self.room);
    }

    fn wanted(&self) -> Wanted<'a> {
        Wanted {
            roots: self.roots,
            pipes: [(self.stdout.number(), Stream::Stdout), (self.stderr.number(), Stream::Stderr)],
            leader: Some(self.leader),
            started_ms: self.started_ms,
            mappings: true,
        }
    }

    /// Reads what is alive, ends it, and tells all that was seen.
    pub fn finish(mut self, ended: Ended, queue: &OwnedFd) -> Outcome {
        // What is dead by now ended in time, and is no leak; what is left after this is one, however soon it ends.
        self.look(queue);
        self.family.look_for_marked(queue, self.roots, self.room);
        // Likewise for the streams: on a busy machine there may have been no time to see their end before.
        let now_us = self.now_us();
        self.stdout.drain(self.buffer, now_us);
        self.stderr.drain(self.buffer, now_us);
        let over = Instant::now();
        let wanted = self.wanted();
        let was_empty = self.family.is_empty();
        let alive = self.family.read(&wanted, self.room);
        let named: HashSet<u64> = alive.iter().map(|(id, _)| *id).collect();
        let mut killed = HashSet::new();
        let left = self.family.end(queue, self.roots, self.room, |seen| {
            killed.insert(seen.id);
        });
        // One that had to be ended is taken like any other, and its exit is not the check's.
        let _ = signals::reap(self.leader);
        let mut unnamed = killed.difference(&named).count() as u64;
        if ended == Ended::ByItself && !was_empty && alive.is_empty() && unnamed == 0 {
            unnamed = 1;
        }
        let survivors = left.into_iter().filter_map(|pid| process::read(pid, &wanted, self.room)).collect();
        let now_us = self.now_us();
        let Self { mut stdout, mut stderr, buffer, room, family, mut blind, .. } = self;
        // What the job wrote before its end is in the pipe; only behind it can an end be seen.
        stdout.drain(buffer, now_us);
        stderr.drain(buffer, now_us);
        let held = stdout.pipe().is_some() || stderr.pipe().is_some();
        let outside = if held { outsiders(&wanted, room, &mut blind) } else { Vec::new() };
        let (mut stdout, mut stderr) = (stdout.into_captured(), stderr.into_captured());
        if !alive.is_empty() || unnamed > 0 {
            // It ended because its holders were ended, not by itself.
            for captured in [&mut stdout, &mut stderr] {
                captured.end_us = captured.end_us.filter(|&end| end < micros(over - self.started));
            }
        }
        blind.extend(family.blind.take());
        let first_end = self.ended_at.unwrap_or(over);
        let late = self.late.into_iter().map(|(id, process)| {
            let end = family.end_of(id).unwrap_or(over);
            let ended_us = (!named.contains(&id)).then(|| micros(end.saturating_duration_since(first_end)));
            LateProcess { process, ended_us }
        });
        Outcome {
            not_started: None,
            ended,
            exit: self.exit,
            duration_us: micros(first_end - self.started),
            late: late.collect(),
            alive: alive.into_iter().map(|(_, process)| process).collect(),
            unnamed,
            survivors,
            outside,
            started_boot_ms: self.started_ms,
            stdout,
            stderr,
            blind,
            // Removals and calls are not watched here; see the module's own words.
            ..Outcome::unseen()
        }
    }
}

/// The processes that have one of the wanted pipes open, now that the job's own are gone.
fn outsiders(wanted: &Wanted<'_>, room: &mut ProcArgsBuffer, blind: &mut Vec<String>) -> Vec<Process> {
    let me = std::process::id();
    let all = match sys::pids() {
        Ok(all) => all,
        Err(error) => {
            blind.push(format!("who holds the check's output: {error}"));
            return Vec::new();
        }
    };
    let ends = wanted.pipes.map(|(end, _)| end);
    let holding = all.into_iter().filter(|&pid| pid != me && process::holds_pipe(pid, ends));
    holding.filter_map(|pid| process::read(pid, wanted, room)).collect()
}
