//! The harness's side of a lane.

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::system::orphans::{self, Origin};
use super::super::{Captured, Job, Lane, LaneError, Outcome};
use super::wire::{self, Answer, Order};
use super::{lane_folder, waiting};
use crate::error::{Error, Result};
use crate::model::Process;

/// How long a supervisor may stay silent beyond its job's own limits before it counts as stuck: it must have time to
/// end a large tree on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a silent supervisor is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// The pids of all supervisors, and of children that are none of our making. Locked while one is started, so that no look
/// at this process's children mistakes a supervisor for an orphan.
static SUPERVISORS: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

fn supervisors() -> MutexGuard<'static, Option<HashSet<u32>>> {
    SUPERVISORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this process one that lanes can be started from. Once is enough, and more do no harm.
///
/// # Errors
///
/// If the system refuses.
pub fn prepare() -> Result<()> {
    let mut known = supervisors();
    if known.is_none() {
        // Whoever executed this program in its own place left it its children; they are no orphans of ours.
        *known = Some(orphans::prepare()?.into_iter().collect());
    }
    Ok(())
}

/// Starts a supervisor.
///
/// # Errors
///
/// If it can't be started, or can't work here; with the system's reason.
pub fn start_lane() -> Result<Box<dyn Lane>> {
    let failed = |error: &io::Error| Error::Unmeasured(format!("cannot start a supervisor: {error}"));
    let (ours, theirs) = UnixStream::pair().map_err(|error| failed(&error))?;
    let mut command = Command::new(orphans::own_program().map_err(|error| failed(&error))?);
    command
        // What listings show; a supervisor is told from a harness by its subcommand.
        .arg0("hostproof")
        .arg(super::supervisor::SUPERVISE)
        // A process group of its own, so that a Ctrl-C at the terminal reaches only the harness.
        .process_group(0)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null());
    let child = start(&mut command).map_err(|error| failed(&error))?;
    // With it goes the other end of the connection.
    drop(command);
    let mut supervisor = Supervisor {
        pid: child.id(),
        origin: Origin::of(child.id()),
        child: Mutex::new(child),
        socket: ours,
        sending: Mutex::default(),
        folder: PathBuf::new(),
        keep: AtomicBool::new(false),
    };
    match wire::receive::<Answer>(&supervisor.socket) {
        Ok((Answer::Ready(folder), _)) => supervisor.folder = folder,
        Ok((Answer::Unable(reason), _)) => return Err(Error::Unmeasured(format!("cannot supervise here: {reason}"))),
        Ok((Answer::Done(..), _)) => return Err(Error::Unmeasured("the supervisor answers out of turn".to_owned())),
        Err(error) => return Err(failed(&error)),
    }
    Ok(Box::new(UnixLane(Arc::new(supervisor))))
}

/// Starts a child that is no orphan; to be forgotten when it was waited for.
pub fn start(command: &mut Command) -> io::Result<Child> {
    let mut known = supervisors();
    let child = command.spawn()?;
    known.get_or_insert_default().insert(child.id());
    Ok(child)
}

/// A child that was waited for is none any longer.
pub fn forget(pid: u32) {
    if let Some(known) = supervisors().as_mut() {
        known.remove(&pid);
    }
}

/// The supervisors of this process, which no look names.
pub fn own() -> HashSet<u32> {
    supervisors().clone().unwrap_or_default()
}

/// A supervisor and the folder that it answers for. The last handle's end is its end.
#[derive(Clone)]
pub struct LaneHandle(Arc<Supervisor>);

impl LaneHandle {
    /// Ends the lane's current job, and any later one at its start. A lane that is gone needs no end.
    pub fn cancel(&self) {
        self.0.order(&Order::Cancel);
    }

    /// Leaves the lane's folder, with what is in it then, in place when the lane ends.
    pub fn keep_folder(&self) {
        self.0.keep.store(true, Ordering::SeqCst);
        self.0.order(&Order::Keep);
    }
}

struct Supervisor {
    pid: u32,
    /// What its jobs' processes are known by when it is gone.
    origin: Origin,
    child: Mutex<Child>,
    socket: UnixStream,
    /// Held while an order is written: two threads must not mix theirs.
    sending: Mutex<()>,
    folder: PathBuf,
    keep: AtomicBool,
}

impl Supervisor {
    fn order(&self, order: &Order) {
        let _turn = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        // A supervisor that is gone shows when its answer is read.
        let _ = wire::send(&self.socket, order, &[]);
    }

    /// Ends the connection, which ends the supervisor, and waits for that.
    fn end(&self) -> Option<ExitStatus> {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        self.child.lock().unwrap_or_else(PoisonError::into_inner).wait().ok()
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        let status = self.end();
        forget(self.pid);
        let ended_by_itself = status.is_some_and(|status| status.signal().is_none());
        if !ended_by_itself && !self.keep.load(Ordering::SeqCst) && !self.folder.as_os_str().is_empty() {
            // Nobody else is left to do it.
            lane_folder::remove(&self.folder);
        }
    }
}

struct UnixLane(Arc<Supervisor>);

impl Lane for UnixLane {
    fn folder(&self) -> &Path {
        &self.0.folder
    }

    fn run(&mut self, job: &Job) -> std::result::Result<Outcome, LaneError> {
        let (header, blob) = wire::pack(job);
        let sent = {
            let _turn = self.0.sending.lock().unwrap_or_else(PoisonError::into_inner);
            wire::send(&self.0.socket, &Order::Run(Box::new(header)), &blob)
        };
        let limit = [job.grace, job.afterlife, PATIENCE].into_iter().fold(job.timeout, Duration::saturating_add);
        let answer = sent.and_then(|()| {
            self.wait_for_answer(limit)?;
            self.0.socket.set_read_timeout(Some(PATIENCE))?;
            wire::receive::<Answer>(&self.0.socket)
        });
        match answer {
            Ok((Answer::Done(mut outcome, stdout), mut blob)) => {
                outcome.stderr.memory = blob.split_off(stdout.min(blob.len()));
                outcome.stdout.memory = blob;
                for captured in [&mut outcome.stdout, &mut outcome.stderr] {
                    self.take_file(captured);
                }
                Ok(*outcome)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                let _ = self.0.child.lock().unwrap_or_else(PoisonError::into_inner).kill();
                self.0.end();
                Err(LaneError::Silent { alive: self.clear_up(job) })
            }
            Ok(_) | Err(_) => {
                let status = self.0.end();
                let how = status.map_or_else(|| "no status".to_owned(), |status| status.to_string());
                Err(LaneError::Died { how, alive: self.clear_up(job) })
            }
        }
    }

    fn handle(&self) -> LaneHandle {
        LaneHandle(Arc::clone(&self.0))
    }
}

impl UnixLane {
    /// Waits until the supervisor begins to answer. A check that stops its supervisor must not make this wait for ever.
    fn wait_for_answer(&self, limit: Duration) -> io::Result<()> {
        let began = Instant::now();
        while !waiting::wait_readable(&self.0.socket, LOOK) {
            if began.elapsed() >= limit {
                return Err(ErrorKind::TimedOut.into());
            }
            let supervisor = self.0.child.lock().unwrap_or_else(PoisonError::into_inner).id();
            // It is a child that was not waited for yet: its number is still its own.
            orphans::wake_if_stopped(supervisor);
        }
        Ok(())
    }

    /// Takes the file that the supervisor has a stream's output in. It has no name.
    fn take_file(&self, captured: &mut Captured) {
        if !captured.spilled {
            return;
        }
        match wire::receive_file(&self.0.socket) {
            Ok(file) => captured.file = Some(Arc::new(file)),
            Err(error) => captured.lost = Some(format!("the file with the output: {error}")),
        }
    }

    /// After the supervisor's end: ends what is left of its job.
    fn clear_up(&self, job: &Job) -> Vec<Process> {
        let mut known = supervisors();
        let others = known.get_or_insert_default();
        others.remove(&self.0.pid);
        let mut alive = self.0.origin.end_rest(job, others);
        for process in &mut alive {
            // When the job started was known to the supervisor only.
            process.started_ms = None;
        }
        alive
    }
}
