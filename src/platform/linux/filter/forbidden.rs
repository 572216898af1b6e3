//! Executions of programs that may not be run, whatever path they are called by.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::io::Errno;

use super::super::super::{Forbids, Job};
use super::super::procfs::Wanted;
use super::enforce::{process_of, read};
use super::gains::Execution;
use super::listener::{Listener, Question};
use super::reach::read_words;
use super::writes::{meant, read_name};
use crate::model::{Forbid, ForbiddenCall};

/// How many calls are kept.
const KEPT: usize = 100;

/// The programs that a job may not run, and the calls of them.
pub struct Forbidden<'a> {
    forbids: &'a Forbids,
    /// Without links on the way.
    own: Vec<PathBuf>,
    calls: Vec<ForbiddenCall>,
    started: Instant,
}

impl<'a> Forbidden<'a> {
    /// Of a job that starts now; `None` if it may run everything.
    pub fn of(job: &'a Job) -> Option<Self> {
        let forbids = job.forbids.as_ref()?;
        let own =
            forbids.own.iter().map(|folder| fs::canonicalize(folder).unwrap_or_else(|_| folder.clone())).collect();
        Some(Self { forbids, own, calls: Vec::new(), started: Instant::now() })
    }

    /// The error that an execution fails with, if what is executed may not be. What looks for the name finds a stub, which
    /// is let through, and says so itself.
    ///
    /// # Errors
    ///
    /// What can't be read of the thread.
    pub fn asked(
        &mut self,
        question: &Question,
        execution: Execution,
        listener: &Listener,
        wanted: &Wanted<'_>,
    ) -> Result<Option<i32>, Errno> {
        let name = read_name(question.thread, execution.place)?;
        let Some((forbid, is_stub)) = self.meant(question.thread, execution, &name) else { return Ok(None) };
        let (program, observe) = (forbid.program.clone(), forbid.observe);
        let argv = read_words(question.thread, execution.argv, execution.wide).unwrap_or_default();
        let caller = read(process_of(question.thread), wanted);
        // Only now is it sure that what was read is the caller's own.
        if !listener.waits(question) {
            return Ok(None);
        }
        let errno = (!is_stub && !observe).then_some(libc::EACCES);
        let known = |call: &ForbiddenCall| {
            call.program == program && caller.as_ref().is_some_and(|caller| caller.pid == call.process.pid)
        };
        // A stub that lets it run calls the program itself, and who is refused tries the next folder.
        if !self.calls.iter().any(known)
            && self.calls.len() < KEPT
            && let Some(mut process) = caller
        {
            if !argv.is_empty() {
                process.argv = argv;
            }
            let at_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.calls.push(ForbiddenCall { program, process, at_ms, ran: observe });
        }
        Ok(errno)
    }

    /// The program that is meant, and whether that is its stub; `None` if it may be run.
    fn meant(&self, thread: u32, execution: Execution, name: &Path) -> Option<(&'a Forbid, bool)> {
        let called = if name.as_os_str().is_empty() {
            // It is the descriptor itself that is executed.
            fs::read_link(format!("/proc/{thread}/fd/{}", execution.place.folder)).ok()?
        } else {
            meant(thread, execution.place.folder, name)?
        };
        let file = fs::canonicalize(&called).ok()?;
        let stub = called.starts_with(&self.forbids.stubs);
        let forbid = [&called, &file].into_iter().find_map(|path| {
            let name = path.file_name()?.to_str()?;
            let forbid = self.forbids.programs.iter().find(|forbid| forbid.program == name)?;
            (stub || !self.is_own(path)).then_some(forbid)
        });
        Some((forbid?, stub))
    }

    /// Whether a program is one that stands for another in the check's own test.
    fn is_own(&self, path: &Path) -> bool {
        self.own.iter().any(|folder| path.starts_with(folder))
    }

    /// All calls.
    pub fn into_seen(self) -> Vec<ForbiddenCall> {
        self.calls
    }
}
