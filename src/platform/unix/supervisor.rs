//! The supervisor: one process per lane, with one thread, that runs jobs and owns everything that they start.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use super::super::system::running::{Run, Tools};
use super::super::system::signals;
use super::super::{Ended, Job, Outcome};
use super::lane_folder::LaneFolder;
use super::wire::{self, Answer, Order, Word};
use crate::model::Judge;

/// The word that makes this program a supervisor.
pub const SUPERVISE: &str = "__supervise";

/// Does what a word in the place of a subcommand asks for; `None` if it is none of these words. `judge` says what Windows
/// makes of a removal or a rename.
#[must_use]
pub fn serve(word: &OsStr, judge: Judge) -> Option<io::Result<()>> {
    (word == SUPERVISE).then(|| supervise(judge))
}

/// The life of a supervisor process. Its standard input is the socket to the harness; it ends when the socket does.
/// `judge` says what Windows makes of a removal or a rename.
///
/// # Errors
///
/// What keeps it from working at all. The harness is told the same through the socket.
fn supervise(judge: Judge) -> io::Result<()> {
    let socket = take_socket()?;
    match Supervisor::start(&socket, judge) {
        Ok(supervisor) => {
            supervisor.serve(&socket);
            Ok(())
        }
        Err(error) => wire::send(&socket, &Answer::Unable(error.to_string()), &[]),
    }
}

/// Moves the socket away from standard input, and closes whatever else was inherited.
fn take_socket() -> io::Result<UnixStream> {
    let socket = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
    signals::close_all_but(&socket);
    let null = File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok(UnixStream::from(socket))
}

struct Supervisor {
    signals: OwnedFd,
    folder: LaneFolder,
    keep: bool,
    /// The run was ended: this job, and any that was already under way to here.
    cancelled: bool,
    tools: Tools,
}

impl Supervisor {
    fn start(socket: &UnixStream, judge: Judge) -> io::Result<Self> {
        let signals = signals::take_over()?;
        let folder = LaneFolder::create()?;
        let tools = Tools::open(judge)?;
        wire::send(socket, &Answer::Ready(folder.path().to_owned()), &[])?;
        Ok(Self { signals, folder, keep: false, cancelled: false, tools })
    }

    fn serve(mut self, socket: &UnixStream) {
        // A socket that fails is a harness that is gone: either way this is the end.
        while let Ok((order, blob)) = wire::receive::<Order>(socket) {
            match order {
                Order::Run(header) => {
                    let job = wire::unpack(&header, &blob);
                    let Some(mut outcome) = self.run(&job, socket) else { break };
                    let files = [outcome.stdout.file.take(), outcome.stderr.file.take()];
                    let mut blob = std::mem::take(&mut outcome.stdout.memory);
                    let stdout = blob.len();
                    blob.append(&mut outcome.stderr.memory);
                    let sent = wire::send(socket, &Answer::Done(Box::new(outcome), stdout), &blob);
                    let sent = sent.and_then(|()| files.iter().flatten().try_for_each(|f| wire::send_file(socket, f)));
                    if sent.is_err() {
                        break;
                    }
                }
                Order::Cancel => self.cancelled = true,
                Order::Keep => self.keep = true,
            }
        }
        self.tools.end_rest(&self.signals);
        if self.keep {
            self.folder.leave();
        }
    }

    /// Runs a job. `None` if the harness is gone.
    fn run(&mut self, job: &Job, socket: &UnixStream) -> Option<Outcome> {
        let mut run = match Run::start(job, &mut self.tools, &self.signals) {
            Ok(run) => run,
            Err(error) => return Some(Outcome::of_nothing(error)),
        };
        let ended = loop {
            let now = Instant::now();
            let (limit, overdue) = run.limit(job);
            if run.is_over() {
                break Ended::ByItself;
            }
            if self.cancelled {
                break Ended::Cancelled;
            }
            if now >= limit {
                break overdue;
            }
            let next = run.look_at_lasting(job, &self.signals).map_or(limit, |at| limit.min(at));
            match run.wait(&self.signals, socket, next.saturating_duration_since(now)) {
                Word::Nothing => {}
                Word::Cancel => self.cancelled = true,
                Word::Keep => self.keep = true,
                Word::Gone => return None,
            }
        };
        Some(run.finish(ended, &self.signals))
    }
}
