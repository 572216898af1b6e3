//! Every open handle of the machine that is a file, and what is asked about them.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use windows_sys::Win32::Storage::FileSystem::FILE_WRITE_DATA;
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CreateProcessW, PROCESS_INFORMATION, STARTUPINFOW, TerminateProcess,
};

use super::asker::{ASK, Question, Told};
use super::machine::query;
use super::spawn;
use super::wide::wide;

/// How long an asker may say nothing.
const SILENCE: Duration = Duration::from_secs(20);
/// How many askers are tried for one question.
const TRIES: usize = 5;

/// An open handle of some process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handle {
    pub pid: u32,
    pub value: usize,
    access: u32,
    kind: u16,
}

impl Handle {
    /// Whether something can be written by it.
    fn writes(self) -> bool {
        self.access & FILE_WRITE_DATA != 0
    }
}

/// Handles that are files, as the kernel means it: pipes, too.
///
/// # Errors
///
/// What the system says.
pub fn files() -> io::Result<Vec<Handle>> {
    // What a file's handle is called here shows in one of our own.
    let ours = File::open(std::env::current_exe()?)?;
    let mut handles = all()?;
    let value = ours.as_raw_handle() as usize;
    let known = handles.iter().find(|handle| handle.pid == std::process::id() && handle.value == value);
    let kind = known.ok_or_else(|| io::Error::other("the list of open handles does not have our own"))?.kind;
    handles.retain(|handle| handle.kind == kind);
    Ok(handles)
}

/// Every handle of the machine.
fn all() -> io::Result<Vec<Handle>> {
    /// `SystemExtendedHandleInformation`. Since Windows XP.
    const HANDLES: i32 = 64;
    const HEAD: usize = 2 * size_of::<usize>();
    let buffer = query(HANDLES, 1 << 20)?;
    // SAFETY: the buffer lives on, and a slice of bytes may look at any number.
    let bytes = unsafe { std::slice::from_raw_parts(buffer.as_ptr().cast::<u8>(), size_of_val(&buffer[..])) };
    let number = |at: usize, length: usize| {
        let mut whole = [0u8; 8];
        whole[..length].copy_from_slice(&bytes[at..at + length]);
        u64::from_le_bytes(whole)
    };
    let word = size_of::<usize>();
    let count = usize::try_from(number(0, word)).unwrap_or(0);
    // The object, its process and its number, then access (32 bits), a trace (16), the kind (16), attributes and a gap.
    let size = 3 * word + 16;
    let told = (0..count).map(|index| HEAD + index * size).take_while(|at| at + size <= bytes.len());
    Ok(told
        .map(|at| Handle {
            pid: u32::try_from(number(at + word, word)).unwrap_or(u32::MAX),
            value: usize::try_from(number(at + 2 * word, word)).unwrap_or(0),
            access: u32::try_from(number(at + 3 * word, 4)).unwrap_or(0),
            kind: u16::try_from(number(at + 3 * word + 6, 2)).unwrap_or(0),
        })
        .collect())
}

/// What an open file leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leads {
    /// To a file or folder in one of the roots.
    File { path: PathBuf, directory: bool, deleted: bool },
    /// To one of the pipes, by its place among them.
    Pipe(usize),
    /// Nobody knows: no answer came in time, and it may well be one that is sought.
    Unknown,
}

/// What was found out about open files.
#[derive(Debug, Default)]
pub struct Found {
    pub leads: Vec<(Handle, Leads)>,
    /// Processes whose handles nobody may have.
    pub denied: HashSet<u32>,
    /// What could not be asked at all, and why.
    pub blind: Vec<String>,
}

/// Finds out which of the handles lead to these folders and pipes.
///
/// A handle whose kind can't be had in time is a pipe or a device: a disk's own work does not take a second. It is left
/// out, unless a pipe is sought and something can be written by it.
#[must_use]
pub fn ask(mut handles: Vec<Handle>, roots: &[PathBuf], pipes: &[String]) -> Found {
    let mut found = Found::default();
    // Those of one process stand together.
    handles.sort_by_key(|handle| (handle.pid, handle.value));
    let mut asker = lock();
    let mut rest = &handles[..];
    let mut failed = false;
    for _ in 0..TRIES {
        if rest.is_empty() {
            return found;
        }
        let question = Question {
            handles: rest.iter().map(|handle| (handle.pid, handle.value)).collect(),
            roots: roots.to_vec(),
            pipes: pipes.to_vec(),
        };
        let mut stuck = false;
        let mut reached = 0;
        let asked = Asker::get(&mut asker).and_then(|asker| {
            asker.ask(&question, |told| match told {
                Told::File { at, path, directory, deleted } => {
                    found.leads.push((rest[at], Leads::File { path, directory, deleted }));
                }
                Told::Pipe { at, pipe } => found.leads.push((rest[at], Leads::Pipe(pipe))),
                Told::Denied { at, .. } => {
                    found.denied.insert(rest[at].pid);
                }
                Told::Stuck { at, disk } => {
                    stuck = true;
                    let sought = if disk { !roots.is_empty() } else { !pipes.is_empty() && rest[at].writes() };
                    if sought {
                        found.leads.push((rest[at], Leads::Unknown));
                    }
                }
                Told::Going { at } => reached = at.min(rest.len()),
                Told::Ready | Told::Done => {}
            })
        });
        match asked {
            Ok(()) => {
                // Its stuck threads have others' pipes open.
                if stuck {
                    *asker = None;
                }
                return found;
            }
            Err(error) => {
                *asker = None;
                rest = &rest[reached..];
                // One asker may have been ended by anybody; what two have not lived through is left out.
                if reached == 0 && failed {
                    let Some((skipped, behind)) = rest.split_first() else { break };
                    found.blind.push(format!("open file {:#x} of process {}: {error}", skipped.value, skipped.pid));
                    rest = behind;
                }
                failed = true;
            }
        }
    }
    if !rest.is_empty() {
        found.blind.push(format!("{} open files: whoever asks about them does not live", rest.len()));
    }
    found
}

/// The process that asks for this one, if there is one now: no look names it.
#[must_use]
pub fn asker() -> Option<u32> {
    lock().as_ref().map(|asker| asker.pid)
}

fn lock() -> MutexGuard<'static, Option<Asker>> {
    static ASKER: Mutex<Option<Asker>> = Mutex::new(None);
    ASKER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A process that asks. It ends when it is dropped, or when this process does and its input so ends.
struct Asker {
    pid: u32,
    process: OwnedHandle,
    to: PipeWriter,
    from: Receiver<Told>,
}

impl Asker {
    /// The one there is, else a new one.
    fn get(kept: &mut Option<Self>) -> io::Result<&mut Self> {
        let asker = match kept.take() {
            Some(asker) => asker,
            None => Self::start()?,
        };
        Ok(kept.insert(asker))
    }

    fn start() -> io::Result<Self> {
        let (their_input, to) = pipe()?;
        let (from, their_output) = pipe()?;
        let program = std::env::current_exe()?;
        let ends = [their_input.as_raw_handle() as usize, their_output.as_raw_handle() as usize];
        let (pid, process) = start_alone(&program, &words(ends))?;
        let asker = Self { pid, process, to, from: listen(from)? };
        match asker.next()? {
            // It has copies of its ends by now.
            Told::Ready => Ok(asker),
            other => Err(io::Error::other(format!("an asker that begins with {other:?}"))),
        }
    }

    fn next(&self) -> io::Result<Told> {
        self.from.recv_timeout(SILENCE).map_err(|_| io::Error::other("no answer from the process that asks"))
    }

    fn ask(&mut self, question: &Question, mut each: impl FnMut(Told)) -> io::Result<()> {
        let mut line = serde_json::to_string(question)?;
        line.push('\n');
        self.to.write_all(line.as_bytes())?;
        loop {
            match self.next()? {
                Told::Done => return Ok(()),
                told => each(told),
            }
        }
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        // SAFETY: the handle is open. One that has ended needs no end.
        unsafe { TerminateProcess(self.process.as_raw_handle(), 1) };
    }
}

/// The command line behind the program's name: of this program's other life.
fn words(ends: [usize; 2]) -> String {
    let [input, output] = ends;
    // A test program has no other lives but its tests.
    let test = if cfg!(test) { "--exact platform::system::asker::tests::serves --nocapture -- " } else { "" };
    format!("{test}{ASK} {} {input} {output}", std::process::id())
}

/// Hands on what an asker tells; the end of that is its end.
fn listen(from: PipeReader) -> io::Result<Receiver<Told>> {
    let (sender, receiver) = channel();
    Builder::new().spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            // What a test program says of itself is none of it.
            let Ok(told) = serde_json::from_str(&line) else { continue };
            if sender.send(told).is_err() {
                return;
            }
        }
    })?;
    Ok(receiver)
}

/// Starts a program that inherits nothing: a check's own pipes may be open for inheriting just then.
fn start_alone(program: &Path, words: &str) -> io::Result<(u32, OwnedHandle)> {
    let mut line = wide(format!("\"{}\" {words}", program.display()));
    // A place that nobody wants to remove.
    let folder = wide(spawn::system_folder());
    let startup = STARTUPINFOW { cb: u32::try_from(size_of::<STARTUPINFOW>()).unwrap_or(0), ..STARTUPINFOW::default() };
    let mut started = PROCESS_INFORMATION::default();
    // SAFETY: all texts end with a zero and live on; the line may be written to; the structures are as is said.
    let done = unsafe {
        CreateProcessW(
            wide(program).as_ptr(),
            line.as_mut_ptr(),
            std::ptr::null(),
            std::ptr::null(),
            0,
            CREATE_NO_WINDOW,
            std::ptr::null(),
            folder.as_ptr(),
            &raw const startup,
            &raw mut started,
        )
    };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: both handles are new and nobody else's.
    let (process, _thread) =
        unsafe { (OwnedHandle::from_raw_handle(started.hProcess), OwnedHandle::from_raw_handle(started.hThread)) };
    Ok((started.dwProcessId, process))
}
