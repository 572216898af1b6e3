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
use super::carriers::{boxed, language, loaded, scripts};
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
    /// Those that are scripts, each with its file and the name of its interpreter.
    scripts: Vec<(&'a Forbid, PathBuf, String)>,
    /// Where the job looks for programs.
    folders: Vec<PathBuf>,
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
        let folders = path.map(std::env::split_paths).into_iter().flatten();
        let folders: Vec<PathBuf> = folders.filter(|folder| *folder != forbids.stubs).collect();
        let path = std::env::join_paths(&folders).ok();
        let found = |forbid: &'a Forbid| {
            let file = find_program(forbid.program.as_ref(), path.as_deref(), &job.cwd)?;
            Some((forbid, fs::canonicalize(file).ok()?))
        };
        let found: Vec<_> = forbids.programs.iter().filter_map(found).collect();
        let real = found.iter().filter(|(forbid, file)| file.file_name() == Some(forbid.program.as_ref()));
        let real = real.filter_map(|(forbid, file)| Some((*forbid, file.clone(), fs::metadata(file).ok()?.len())));
        let script = |(forbid, file): &(&'a Forbid, PathBuf)| Some((*forbid, file.clone(), interpreter_name(file)?));
        let (real, scripts) = (real.collect(), found.iter().filter_map(script).collect());
        let folders = folders.iter().filter_map(|folder| fs::canonicalize(job.cwd.join(folder)).ok()).collect();
        Some(Self { forbids, own, real, scripts, folders, calls: Vec::new(), started: Instant::now() })
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
        let argv = read_words(question.thread, execution.argv, execution.wide).unwrap_or_default();
        let Some((forbid, is_stub)) = self.meant(question.thread, execution, &name, &argv) else { return Ok(None) };
        let (program, observe) = (forbid.program.clone(), forbid.observe);
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
    fn meant(&self, thread: u32, execution: Execution, name: &Path, argv: &[String]) -> Option<(&'a Forbid, bool)> {
        let itself = format!("/proc/{thread}/fd/{}", execution.place.folder);
        let called = if name.as_os_str().is_empty() {
            // It is the descriptor itself that is executed.
            fs::read_link(&itself).ok()?
        } else {
            meant(thread, execution.place.folder, name)?
        };
        let stub = called.starts_with(&self.forbids.stubs);
        // What was removed, or never had a name, can still be read there.
        let nameless = if name.as_os_str().is_empty() { PathBuf::from(itself) } else { called.clone() };
        let mut file = fs::canonicalize(&called).or_else(|_| fs::metadata(&nameless).map(|_| nameless)).ok()?;
        if let Some(forbid) = self.named(&called, &file, stub) {
            return Some((forbid, stub));
        }
        if let Some(forbid) = self.carried(thread, &called, &file, argv) {
            return Some((forbid, false));
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

    /// The program that is given to the executed one, for it to run.
    fn carried(&self, thread: u32, called: &Path, file: &Path, argv: &[String]) -> Option<&'a Forbid> {
        let target = |word: &str| {
            let called = meant(thread, libc::AT_FDCWD, Path::new(word))?;
            let file = fs::canonicalize(&called).ok().filter(|file| file.is_file())?;
            Some((called, file))
        };
        [called, file].into_iter().filter_map(|path| path.file_name()?.to_str()).find_map(|name| {
            if let Some(program) = boxed(name, argv) {
                return self.forbids.programs.iter().find(|forbid| forbid.program == program);
            }
            if let Some((called, file)) = loaded(name, argv).and_then(target) {
                return self.named(&called, &file, false);
            }
            let mut its = self.scripts.iter().filter(|(.., by)| language(by) == language(name)).peekable();
            its.peek()?;
            let (_, script) = scripts(name, argv).find_map(target)?;
            its.find(|(_, file, _)| *file == script && !self.is_own(file)).map(|(forbid, ..)| *forbid)
        })
    }

    /// The program that is meant by a path and the file that it leads to.
    fn named(&self, called: &Path, file: &Path, stub: bool) -> Option<&'a Forbid> {
        let by_name = [called, file].into_iter().find_map(|path| {
            let name = path.file_name()?.to_str()?;
            let forbid = self.forbids.programs.iter().find(|forbid| forbid.program == name)?;
            (stub || !self.is_own(path)).then_some(forbid)
        });
        by_name.or_else(|| {
            // Under whatever name the check has it, a copy is the program itself. What is installed under another name is
            // another program, even if it does the same.
            let is_installed = |folder: &Path| self.folders.iter().any(|its| its == folder) && !self.is_own(folder);
            let length = fs::metadata(file).ok().filter(|_| !file.parent().is_some_and(is_installed))?.len();
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
    first_line(file)?.into_iter().next()
}

/// The name of a script's interpreter, behind `env` too; `None` if it is no script.
fn interpreter_name(file: &Path) -> Option<String> {
    let words = first_line(file)?;
    let mut names = words.iter().filter_map(|word| Path::new(word).file_name()?.to_str());
    let name = names.next()?;
    let is_option = |name: &&str| name.starts_with('-') || name.contains('=');
    let name = if name == "env" { names.find(|name| !is_option(name))? } else { name };
    Some(name.to_owned())
}

/// The words of a script's first line, from its interpreter on; `None` if it is no script.
fn first_line(file: &Path) -> Option<Vec<PathBuf>> {
    let mut line = Vec::new();
    File::open(file).ok()?.take(FIRST_LINE).read_to_end(&mut line).ok()?;
    let line = line.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    Some(words.map(|word| PathBuf::from(OsStr::from_bytes(word))).collect())
}

/// Whether two files of one length have the same in them.
fn is_alike(one: &Path, other: &Path) -> bool {
    let bytes = |file: &Path| Some(BufReader::new(File::open(file).ok()?).bytes());
    let (Some(one), Some(other)) = (bytes(one), bytes(other)) else { return false };
    one.zip(other).all(|(a, b)| a.ok().zip(b.ok()).is_some_and(|(a, b)| a == b))
}
