//! Executions of programs that may not be run, whatever path they are called by.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rustix::io::Errno;

use super::super::super::{Forbids, Job, find_program};
use super::super::procfs::Wanted;
use super::enforce::{process_of, read};
use super::gains::Execution;
use super::listener::{Listener, Question};
use super::reach::read_words;
use super::writes::{meant, read_name};
use crate::model::{Forbid, ForbiddenCall};

/// How many calls are kept.
const KEPT: usize = 100;
/// How much of a script the kernel reads to find its interpreter, and how many scripts may be interpreters of each other.
const FIRST_LINE: u64 = 256;
const SCRIPTS: usize = 5;

/// The programs that a job may not run, and the calls of them.
pub struct Forbidden<'a> {
    forbids: &'a Forbids,
    /// Without links on the way.
    own: Vec<PathBuf>,
    /// Those that are there, each with its file and the length of that. What goes by many names is none of them.
    real: Vec<(&'a Forbid, PathBuf, u64)>,
    calls: Vec<ForbiddenCall>,
    started: Instant,
}

impl<'a> Forbidden<'a> {
    /// Of a job that starts now; `None` if it may run everything.
    pub fn of(job: &'a Job) -> Option<Self> {
        let forbids = job.forbids.as_ref()?;
        let own =
            forbids.own.iter().map(|folder| fs::canonicalize(folder).unwrap_or_else(|_| folder.clone())).collect();
        let path = job.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path);
        let folders = path.map(std::env::split_paths).into_iter().flatten().filter(|folder| *folder != forbids.stubs);
        let path = std::env::join_paths(folders).ok();
        let real = |forbid: &'a Forbid| {
            let file = fs::canonicalize(find_program(forbid.program.as_ref(), path.as_deref(), &job.cwd)?).ok()?;
            let length = fs::metadata(&file).ok()?.len();
            (file.file_name()? == forbid.program.as_str()).then_some((forbid, file, length))
        };
        let real = forbids.programs.iter().filter_map(real).collect();
        Some(Self { forbids, own, real, calls: Vec::new(), started: Instant::now() })
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
        let stub = called.starts_with(&self.forbids.stubs);
        let mut file = fs::canonicalize(&called).ok()?;
        if let Some(forbid) = self.named(&called, &file, stub) {
            return Some((forbid, stub));
        }
        // The interpreter of a script is executed, too, and nobody is asked again.
        for _ in 0..SCRIPTS {
            let named = interpreter(&file)?;
            file = fs::canonicalize(&named).ok()?;
            if let Some(forbid) = self.named(&named, &file, false) {
                return Some((forbid, false));
            }
        }
        None
    }

    /// The program that is meant by a path and the file that it leads to.
    fn named(&self, called: &Path, file: &Path, stub: bool) -> Option<&'a Forbid> {
        let by_name = [called, file].into_iter().find_map(|path| {
            let name = path.file_name()?.to_str()?;
            let forbid = self.forbids.programs.iter().find(|forbid| forbid.program == name)?;
            (stub || !self.is_own(path)).then_some(forbid)
        });
        by_name.or_else(|| {
            // Under whatever name the check has it, a copy is the program itself.
            let length = fs::metadata(file).ok().filter(|_| self.is_own(file))?.len();
            let copied = self.real.iter().find(|(_, real, its)| *its == length && is_alike(file, real));
            copied.map(|(forbid, ..)| *forbid)
        })
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

/// The file that a script's first line names, as the kernel finds it; `None` if it is no script.
fn interpreter(file: &Path) -> Option<PathBuf> {
    let mut line = Vec::new();
    File::open(file).ok()?.take(FIRST_LINE).read_to_end(&mut line).ok()?;
    let line = line.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let name = line.trim_ascii().split(u8::is_ascii_whitespace).next()?;
    (!name.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(name)))
}

/// Whether two files of one length have the same in them.
fn is_alike(one: &Path, other: &Path) -> bool {
    let bytes = |file: &Path| Some(BufReader::new(File::open(file).ok()?).bytes());
    let (Some(one), Some(other)) = (bytes(one), bytes(other)) else { return false };
    one.zip(other).all(|(a, b)| a.ok().zip(b.ok()).is_some_and(|(a, b)| a == b))
}
