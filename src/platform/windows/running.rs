//! One job while it runs: what happens to it, taken in as it happens, and what was seen of it in the end.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::windows::io::{AsHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::ERROR_GEN_FAILURE;
use windows_sys::Win32::System::JobObjects::{JOB_OBJECT_LIMIT_BREAKAWAY_OK, JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE};

use super::super::job::{look_again, unwatched_executions};
use super::super::{Ended, Job, LateProcess, Outcome, StartError};
use super::capture::{Capture, Feed};
use super::ending::Ending;
use super::holders::{self, Found, Sought};
use super::job::{JobObject, message};
use super::known::{self, Processes};
use super::port::{Packet, Port};
use super::process::has_ended;
use super::{clock, spawn, table};
use crate::model::{Exit, PUBLISHED_FILES, Process, ProcessRef, Stream};

/// How many packets are taken at once. A check can make them faster than they are taken, and must not keep its own limit
/// from being looked at.
const BATCH: usize = 256;
/// A job's messages may get lost; so once its first process has ended, the list of the others is asked for this often.
const RECOUNT: Duration = Duration::from_millis(250);
/// How long processes that were ended may take to go.
const DEATH: Duration = Duration::from_secs(10);
/// How often those are counted.
const DYING: Duration = Duration::from_millis(20);
/// The exit code of processes that were ended: what Ctrl-C ends a program with.
const ENDED: u32 = 0xC000_013A;

/// What a packet is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
enum About {
    Job = 1,
    Leader,
    Stdin,
    Stdout,
    Stderr,
}

/// The key of a packet that only wakes whoever waits.
pub const WAKE: usize = 0;

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// In a job of the host that allows it, such a process would live on unseen; in one that does not, it would not start.
fn broke_away(process: &ProcessRef) -> String {
    format!(
        "{} was started to break away from its job, and stayed in the check's; where a host's job forbids that, such a \
         start fails with WinError 5",
        process.short()
    )
}

/// A job while it runs.
pub struct Run {
    /// What its packets' keys begin with: those of jobs before it mean nothing.
    generation: usize,
    port: Arc<Port>,
    started: Instant,
    started_ms: u64,
    leader: OwnedHandle,
    _leader_ends: Ending,
    exit: Option<Exit>,
    /// When the first process ended.
    ended_at: Option<Instant>,
    roots: Vec<PathBuf>,
    /// Owns everything of the job; nothing leaves it.
    outer: JobObject,
    /// Lies in it. Whoever asks to leave its job leaves this one.
    inner: JobObject,
    processes: Processes,
    /// Whether nothing of the job is alive.
    empty: bool,
    /// What was alive when the first process ended.
    late: Vec<Process>,
    /// Whether those that outlived the grace were looked at.
    lasting_seen: bool,
    /// The look at what that held.
    late_look: Option<JoinHandle<Found>>,
    stdin: Feed,
    stdout: Capture,
    stderr: Capture,
    blind: Vec<String>,
}

impl Run {
    /// Starts the job. `generation` is another one for each job of a port.
    ///
    /// # Errors
    ///
    /// Why it could not be.
    pub fn start(job: &Job, port: &Arc<Port>, generation: usize) -> Result<Self, StartError> {
        let failed = |action: &str, file: &Path, error: &io::Error| StartError {
            action: action.to_owned(),
            file: file.display().to_string(),
            errno: error.raw_os_error().unwrap_or(ERROR_GEN_FAILURE.cast_signed()),
        };
        let key = |about: About| generation << 3 | about as usize;
        let file = match &job.stdin {
            Some(file) => Some(File::open(file).map_err(|error| failed("read", file, &error))?),
            None => None,
        };
        let no_pipe = |error: io::Error| failed("make a pipe for", &job.program, &error);
        let (stdin, input) = Feed::new(file, port, key(About::Stdin)).map_err(no_pipe)?;
        let capture = |about| Capture::new(job.spill.clone(), port, key(about)).map_err(no_pipe);
        let (stdout, out) = capture(About::Stdout)?;
        let (stderr, err) = capture(About::Stderr)?;
        let no_job = |error: io::Error| failed("make a job object for", &job.program, &error);
        let outer = JobObject::new(JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE).map_err(no_job)?;
        let inner = JobObject::new(JOB_OBJECT_LIMIT_BREAKAWAY_OK).map_err(no_job)?;
        outer.tell(port, key(About::Job)).map_err(no_job)?;

        let started = Instant::now();
        let streams = [input.as_handle(), out.as_handle(), err.as_handle()];
        let child = spawn::spawn(job, streams, &[&outer, &inner])?;
        let leader_ends = Ending::of(&child.process, port, key(About::Leader))
            .map_err(|error| failed("wait for the end of", &job.program, &error))?;
        let started_ms = clock::boot_ms(known::times(&child.process).map_or_else(clock::now, |times| times.created));
        let mut processes = Processes::new(&job.roots, started_ms);
        processes.start(child.pid, &inner);
        Ok(Self {
            generation,
            port: Arc::clone(port),
            started,
            started_ms,
            leader: child.process,
            _leader_ends: leader_ends,
            exit: None,
            ended_at: None,
            roots: job.roots.clone(),
            outer,
            inner,
            processes,
            empty: false,
            late: Vec::new(),
            lasting_seen: false,
            late_look: None,
            stdin,
            stdout,
            stderr,
            blind: Vec::from_iter(
                (!job.publishes.is_empty())
                    .then(|| format!("{PUBLISHED_FILES}: only Linux can watch how they appear"))
                    .into_iter()
                    .chain(job.forbids.as_ref().map(|_| unwatched_executions())),
            ),
        })
    }

    /// When the job's present limit is over, and what that ends.
    pub fn limit(&self, job: &Job) -> (Instant, Ended) {
        job.limit(self.started, self.ended_at)
    }

    /// Looks at what outlived the grace, once it has; says when that is, if it is yet to come.
    pub fn look_at_lasting(&mut self, job: &Job) -> Option<Instant> {
        let at = job.look_at_lasting(self.ended_at).filter(|_| !self.lasting_seen)?;
        if at > Instant::now() {
            return Some(at);
        }
        self.lasting_seen = true;
        self.look_at_late();
        let alive = self.alive();
        let now = self.read(&alive);
        look_again(&mut self.late, now, |a, b| a.pid == b.pid && a.started_ms == b.started_ms);
        None
    }

    /// Whether the first process has ended, and nothing is left of the job.
    pub fn is_over(&self) -> bool {
        self.ended_at.is_some() && self.empty && !self.stdout.is_open() && !self.stderr.is_open()
    }

    fn now_us(&self) -> u64 {
        micros(self.started.elapsed())
    }

    /// Waits for whatever happens next, and takes it in.
    pub fn wait(&mut self, limit: Duration) {
        let limit = if self.ended_at.is_some() && !self.empty { limit.min(RECOUNT) } else { limit };
        let Some(first) = self.port.next(limit) else { return self.count() };
        self.take(first);
        self.take_some();
        self.processes.learn();
        if self.ended_at.is_some() {
            self.count();
        }
    }

    /// Takes in what has happened by now.
    fn take_some(&mut self) {
        for _ in 0..BATCH {
            let Some(packet) = self.port.next(Duration::ZERO) else { break };
            self.take(packet);
        }
    }

    fn take(&mut self, packet: Packet) {
        if packet.key >> 3 != self.generation {
            return;
        }
        let now_us = self.now_us();
        match packet.key & 7 {
            about if about == About::Job as usize => self.take_message(packet),
            about if about == About::Leader as usize => self.leader_ended(),
            about if about == About::Stdin as usize => self.stdin.take(packet),
            about if about == About::Stdout as usize => self.stdout.take(packet, now_us),
            about if about == About::Stderr as usize => self.stderr.take(packet, now_us),
            _ => {}
        }
    }

    fn take_message(&mut self, packet: Packet) {
        match packet.number {
            message::NEW => self.processes.start(packet.pid, &self.inner),
            message::EXIT | message::ABNORMAL_EXIT => self.processes.end(packet.pid),
            _ => {}
        }
    }

    fn leader_ended(&mut self) {
        if self.ended_at.is_some() || !has_ended(&self.leader) {
            return;
        }
        self.ended_at = Some(Instant::now());
        self.exit = known::exit(&self.leader);
        let alive = self.alive();
        self.late = alive.iter().filter_map(|&pid| self.processes.read(pid)).collect();
        self.empty = alive.is_empty();
        if !self.late.is_empty() {
            // To ask for all open files takes longer than most of these live, and their ends are to be seen meanwhile.
            let (roots, pipes) = (self.roots.clone(), self.pipes());
            let look = move || holders::of_these(&alive, Sought { roots: &roots, pipes: &pipes, mappings: true });
            self.late_look = Builder::new().name("late".to_owned()).spawn(look).ok();
        }
    }

    /// The names of the streams' pipes.
    fn pipes(&self) -> Vec<(String, Stream)> {
        vec![(self.stdout.name().to_owned(), Stream::Stdout), (self.stderr.name().to_owned(), Stream::Stderr)]
    }

    /// Reads processes of the job that are alive, with all that they hold.
    fn read(&mut self, pids: &[u32]) -> Vec<Process> {
        if pids.is_empty() {
            return Vec::new();
        }
        let pipes = self.pipes();
        let found = holders::of_these(pids, Sought { roots: &self.roots, pipes: &pipes, mappings: true });
        self.note(found.blind);
        found.holders.into_iter().map(|holder| self.processes.of_job(holder.process)).collect()
    }

    /// The processes outside the job that have its stdout or stderr open.
    fn outside(&mut self) -> Vec<Process> {
        let pipes = self.pipes();
        let left_out = [Some(std::process::id()), table::asker()].into_iter().flatten().collect();
        let found = holders::of_all(&left_out, Sought { roots: &[], pipes: &pipes, mappings: false });
        self.note(found.blind);
        found.holders.into_iter().map(|holder| self.processes.of_job(holder.process)).collect()
    }

    /// What the processes that outlived the first one held then, as far as they lived long enough to be asked.
    fn look_at_late(&mut self) {
        let Some(found) = self.late_look.take().and_then(|look| look.join().ok()) else { return };
        self.note(found.blind);
        for holder in found.holders {
            let seen = self.processes.of_job(holder.process);
            let is_it = |late: &&mut Process| late.pid == seen.pid && late.started_ms == seen.started_ms;
            if let Some(late) = self.late.iter_mut().find(is_it) {
                late.holds = seen.holds;
                late.pipes = seen.pipes;
            }
        }
    }

    /// What can't be looked at is told once.
    fn note(&mut self, blind: impl IntoIterator<Item = String>) {
        for why in blind {
            if !self.blind.contains(&why) {
                self.blind.push(why);
            }
        }
    }

    /// The processes of the job that are alive, its first one among them; and the hosts of its consoles.
    fn members(&mut self) -> (Vec<u32>, Vec<u32>) {
        match self.outer.pids() {
            Ok(pids) => {
                for &pid in &pids {
                    self.processes.start(pid, &self.inner);
                }
                pids.into_iter().partition(|&pid| !self.processes.is_console(pid))
            }
            Err(error) => {
                self.note([format!("the processes of the check: {error}")]);
                (Vec::new(), Vec::new())
            }
        }
    }

    fn alive(&mut self) -> Vec<u32> {
        self.members().0
    }

    /// Asks who is left.
    fn count(&mut self) {
        self.empty = self.alive().is_empty();
    }

    /// Reads what is alive, with all that it holds; and says which streams nobody but the host of a console has open.
    ///
    /// Windows itself starts those hosts. Under Wine the process does whose console it is: its host inherits its streams,
    /// and has them open for as long as anybody uses the console.
    fn read_last(&mut self, left: &[u32], mut hosts: Vec<u32>) -> (Vec<Process>, Vec<Stream>) {
        if !self.stdout.is_open() && !self.stderr.is_open() {
            hosts.clear();
        }
        let read = self.read(&[left, &hosts].concat());
        let (hosts, alive): (Vec<_>, Vec<_>) = read.into_iter().partition(|process| hosts.contains(&process.pid));
        let is_in = |processes: &[Process], stream| processes.iter().any(|process| process.pipes.contains(&stream));
        // Who was not read, or not wholly, may have any of them.
        let all_are_read =
            left.iter().all(|pid| alive.iter().any(|process| process.pid == *pid && process.unread.is_empty()));
        let of_hosts = |&stream: &Stream| all_are_read && is_in(&hosts, stream) && !is_in(&alive, stream);
        let streams = [Stream::Stdout, Stream::Stderr].into_iter().filter(of_hosts).collect();
        (alive, streams)
    }

    /// Reads what is alive, ends it, and tells all that was seen.
    pub fn finish(mut self, ended: Ended) -> Outcome {
        // What is dead by now ended in time, and is no leak; what is left after this is one, however soon it ends.
        self.take_some();
        let now_us = self.now_us();
        self.stdout.drain(now_us);
        self.stderr.drain(now_us);
        let over = Instant::now();
        let (left, hosts) = self.members();
        let (mut alive, of_hosts) = self.read_last(&left, hosts);
        let (mut more, survivors) = self.end_all(&left);
        // Who ended before it could be read was left all the same: one that starts itself again and ends is never read.
        more.extend(left.iter().filter(|&&pid| alive.iter().all(|process| process.pid != pid)));
        let of_hosts = if more.is_empty() { of_hosts } else { Vec::new() };
        let mut unnamed = 0;
        for pid in more {
            match self.processes.told(pid) {
                Some(process) => alive.push(process),
                None => unnamed += 1,
            }
        }
        let now_us = self.now_us();
        // What the job wrote before its end is in the pipe; only behind it can an end be seen.
        self.stdout.drain(now_us);
        self.stderr.drain(now_us);
        let held = self.stdout.is_open() || self.stderr.is_open();
        let outside = if held { self.outside() } else { Vec::new() };
        self.look_at_late();
        let notes = self.processes.broke_away().map(|process| broke_away(&process)).collect();
        let leader_end = known::times(&self.leader).map(|times| times.ended);
        let Self { stdout, stderr, blind, processes, .. } = self;
        let (mut stdout, mut stderr) = (stdout.into_captured(), stderr.into_captured());
        let first_end = self.ended_at.unwrap_or(over);
        let was_held = !alive.is_empty() || unnamed > 0;
        for (stream, captured) in [(Stream::Stdout, &mut stdout), (Stream::Stderr, &mut stderr)] {
            captured.end_us = captured.end_us.and_then(|end| {
                if of_hosts.contains(&stream) {
                    return Some(end.min(micros(first_end - self.started)));
                }
                // It ended because its holders were ended, not by itself.
                (!was_held || end < micros(over - self.started)).then_some(end)
            });
        }
        let late = self
            .late
            .into_iter()
            .map(|process| {
                let lives =
                    alive.iter().any(|other| other.pid == process.pid && other.started_ms == process.started_ms);
                let end = processes.ended(&process).zip(leader_end);
                let ended_us = (!lives).then(|| {
                    // The system's time is in units of 100 ns.
                    end.map_or_else(|| micros(over - first_end), |(end, leader)| end.saturating_sub(leader) / 10)
                });
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
            started_boot_ms: self.started_ms,
            stdout,
            stderr,
            blind,
            notes,
            ..Outcome::unseen()
        }
    }

    /// Ends everything. Returns those that had to be ended besides the ones that are known, and those that live on.
    fn end_all(&mut self, known: &[u32]) -> (BTreeSet<u32>, Vec<Process>) {
        let mut more = BTreeSet::new();
        let deadline = Instant::now() + DEATH;
        loop {
            self.outer.terminate(ENDED);
            let left = match self.outer.pids() {
                Ok(left) if left.is_empty() => break,
                Ok(left) => left,
                Err(_) => break,
            };
            for &pid in &left {
                self.processes.start(pid, &self.inner);
                if !known.contains(&pid) && !self.processes.is_console(pid) {
                    more.insert(pid);
                }
            }
            if Instant::now() >= deadline {
                let survivors = left.iter().filter_map(|&pid| self.processes.read(pid)).collect();
                return (more, survivors);
            }
            if let Some(packet) = self.port.next(DYING)
                && packet.key >> 3 == self.generation
                && packet.key & 7 == About::Job as usize
            {
                self.take_message(packet);
            }
        }
        (more, Vec::new())
    }
}
