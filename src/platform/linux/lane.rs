//! The harness's side of a lane.

use std::collections::HashSet;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::super::unix::remove_tree;
use super::super::{Job, Lane, LaneError, Outcome};
use super::procfs::Wanted;
use super::signals;
use super::sockets::Bound;
use super::tree;
use super::wire::{self, Answer, Order};
use crate::error::{Error, Result};
use crate::model::{Process, Stream};

/// How long a supervisor may stay silent beyond its job's own limits before it counts as stuck: it must have time to
/// end a large tree on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long killed orphans may take to go.
const ORPHANS_PATIENCE: Duration = Duration::from_secs(5);

/// The pids of all supervisors. Locked while one is started, so that no look at this process's children mistakes a
/// supervisor for an orphan.
static SUPERVISORS: Mutex<Option<HashSet<u32>>> = Mutex::new(None);

fn supervisors() -> MutexGuard<'static, Option<HashSet<u32>>> {
    SUPERVISORS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes this process one that lanes can be started from. Orphans of a supervisor that died come to it.
///
/// # Errors
///
/// If the system refuses.
pub fn prepare() -> Result<()> {
    signals::become_subreaper().map_err(|error| Error::Unmeasured(format!("cannot adopt orphans: {error}")))
}

/// Starts a supervisor.
///
/// # Errors
///
/// If it can't be started, or can't work here; with the system's reason.
pub fn start_lane() -> Result<Box<dyn Lane>> {
    let failed = |error: &io::Error| Error::Unmeasured(format!("cannot start a supervisor: {error}"));
    let (ours, theirs) = UnixStream::pair().map_err(|error| failed(&error))?;
    let child = {
        let mut known = supervisors();
        // The link stays right when the file was replaced by an update meanwhile.
        let child = Command::new("/proc/self/exe")
            // What listings show; a supervisor is told from a harness by its subcommand.
            .arg0("hostproof")
            .arg(super::super::SUPERVISE)
            // A process group of its own, so that a Ctrl-C at the terminal reaches only the harness.
            .process_group(0)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .spawn()
            .map_err(|error| failed(&error))?;
        known.get_or_insert_default().insert(child.id());
        child
    };
    let mut lane = LinuxLane {
        child,
        status: None,
        socket: Arc::new(ours),
        sending: Arc::default(),
        folder: PathBuf::new(),
        keep: false,
    };
    match wire::receive::<Answer>(&*lane.socket) {
        Ok((Answer::Ready(folder), _)) => lane.folder = folder,
        Ok((Answer::Unable(reason), _)) => return Err(Error::Unmeasured(format!("cannot supervise here: {reason}"))),
        Ok((Answer::Done(..), _)) => return Err(Error::Unmeasured("the supervisor answers out of turn".to_owned())),
        Err(error) => return Err(failed(&error)),
    }
    Ok(Box::new(lane))
}

/// Ends the job of one lane from another thread.
#[derive(Clone)]
pub struct Canceller {
    socket: Arc<UnixStream>,
    sending: Arc<Mutex<()>>,
}

impl Canceller {
    /// Asks for the end. A lane that is gone needs none.
    pub fn cancel(&self) {
        let _turn = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = wire::send(&*self.socket, &Order::Cancel, &[]);
    }
}

struct LinuxLane {
    child: Child,
    /// Set once the supervisor is known to have ended.
    status: Option<ExitStatus>,
    socket: Arc<UnixStream>,
    sending: Arc<Mutex<()>>,
    folder: PathBuf,
    keep: bool,
}

impl Lane for LinuxLane {
    fn folder(&self) -> &Path {
        &self.folder
    }

    fn run(&mut self, job: &Job) -> std::result::Result<Outcome, LaneError> {
        let (header, blob) = wire::pack(job);
        let sent = {
            let _turn = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
            wire::send(&*self.socket, &Order::Run(header), &blob)
        };
        let limit = job.timeout.saturating_add(job.grace).saturating_add(PATIENCE);
        let answer = sent.and_then(|()| {
            self.socket.set_read_timeout(Some(limit))?;
            wire::receive::<Answer>(&*self.socket)
        });
        match answer {
            Ok((Answer::Done(mut outcome, stdout), mut blob)) => {
                outcome.stderr.memory = blob.split_off(stdout.min(blob.len()));
                outcome.stdout.memory = blob;
                Ok(*outcome)
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                let _ = self.child.kill();
                Err(LaneError::Silent { alive: self.clear_up(job) })
            }
            Ok(_) | Err(_) => {
                let alive = self.clear_up(job);
                let how = self.status.map_or_else(|| "no status".to_owned(), |status| status.to_string());
                Err(LaneError::Died { how, alive })
            }
        }
    }

    fn canceller(&self) -> Canceller {
        Canceller { socket: Arc::clone(&self.socket), sending: Arc::clone(&self.sending) }
    }

    fn keep_folder(&mut self) {
        self.keep = true;
        let _turn = self.sending.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = wire::send(&*self.socket, &Order::Keep, &[]);
    }
}

impl LinuxLane {
    /// After the supervisor's end: ends the orphans that came to this process, and removes the folder in its place.
    fn clear_up(&mut self, job: &Job) -> Vec<Process> {
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
        let mut known = supervisors();
        let others = known.get_or_insert_default();
        others.remove(&self.child.id());
        let wanted = Wanted {
            roots: &job.roots,
            pipes: [(0, Stream::Stdout), (0, Stream::Stderr)],
            leader: None,
            started_ms: 0,
            sockets: &Bound::new(),
        };
        let mut alive = tree::read(std::process::id(), &wanted, others);
        for process in &mut alive {
            // When the job started was known to the supervisor only.
            process.started_ms = None;
        }
        end_orphans(others);
        alive
    }
}

/// Ends every child of this process but the supervisors, whose lock the caller holds.
///
/// While lanes are at work, this process starts nothing but supervisors: every other child is an orphan.
fn end_orphans(supervisors: &HashSet<u32>) {
    let deadline = Instant::now() + ORPHANS_PATIENCE;
    while Instant::now() < deadline {
        let children = tree::children(std::process::id());
        let orphans: Vec<u32> = children.into_iter().filter(|pid| !supervisors.contains(pid)).collect();
        if orphans.is_empty() {
            return;
        }
        for &pid in &orphans {
            let _ = signals::kill(pid);
        }
        if !orphans.into_iter().any(signals::reap_one) {
            // None is dead yet, and a process with threads of its own has no safe way to wait for any of many.
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for LinuxLane {
    fn drop(&mut self) {
        // The end of the socket is the order to end.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        if self.status.is_none() {
            self.status = self.child.wait().ok();
        }
        if let Some(known) = supervisors().as_mut() {
            known.remove(&self.child.id());
        }
        let removed_itself = self.status.is_some_and(|status| status.signal().is_none());
        if !removed_itself && !self.keep && !self.folder.as_os_str().is_empty() {
            let _ = remove_tree(&self.folder);
        }
    }
}
