//! The life of this program that asks what open handles are: another process, since a question can hang, and since asking
//! leaves its mark on the asker.
//!
//! The name and even the kind of a file that a thread waits for input from, as of a pipe, can't be had until that comes.
//! Nothing takes such a question back but the end of its process. So each thread here asks until it is stuck, then the
//! next one takes over, and all that are stuck wait together.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use windows_sys::Win32::Foundation::{DUPLICATE_SAME_ACCESS, DuplicateHandle, ERROR_INVALID_PARAMETER, HANDLE};
use windows_sys::Win32::Storage::FileSystem::{
    FILE_STANDARD_INFO, FILE_TYPE_DISK, FILE_TYPE_PIPE, FileStandardInfo, GetFileInformationByHandleEx, GetFileType,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, PROCESS_DUP_HANDLE};

use super::names;
use super::paths::Roots;
use super::process::open;

/// The word for this life, in the place of a subcommand.
pub const ASK: &str = "__ask";

/// After so long without an answer, another thread goes on.
const STUCK: Duration = Duration::from_millis(20);
/// How long an answer is waited for. What a disk has to say is there by then, on a loaded machine, too.
const LIMIT: Duration = Duration::from_secs(1);
/// How often it is said that the work goes on.
const BEAT: Duration = Duration::from_millis(200);
/// How many threads may be stuck.
const THREADS: usize = 512;

/// What is to be found out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Processes, and handles of theirs. Those of one process stand together.
    pub handles: Vec<(u32, usize)>,
    /// Folders that are of interest, with all that lies in them.
    pub roots: Vec<PathBuf>,
    /// The kernel's names of pipes that are of interest.
    pub pipes: Vec<String>,
}

/// What was found out. Places are those in the question; a handle that leads to nothing of interest is not told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    /// This process can be asked.
    Ready,
    /// Of a file or folder on a disk, its path as the roots are given.
    File {
        at: usize,
        path: PathBuf,
        directory: bool,
        deleted: bool,
    },
    /// Of a pipe, its place among the pipes.
    Pipe {
        at: usize,
        pipe: usize,
    },
    /// The process lets nobody have its handles, by the system's words.
    Denied {
        at: usize,
        why: String,
    },
    /// No answer came in time. A disk's file has said that it is one by then, and only its name is not known.
    Stuck {
        at: usize,
        disk: bool,
    },
    /// All before this place are done.
    Going {
        at: usize,
    },
    Done,
}

/// Answers questions until nobody can ask any more. The words are the asking process and its ends of two pipes, which are
/// copied: nothing is inherited, so nothing of a check that starts just then is, either.
///
/// # Errors
///
/// If there is nobody who asks, or who listens.
pub fn serve(words: &[OsString]) -> io::Result<()> {
    let number = |at: usize| words.get(at).and_then(|word| word.to_str()?.parse::<usize>().ok());
    let (Some(pid), Some(input), Some(output)) = (number(0), number(1), number(2)) else {
        return Err(io::Error::from_raw_os_error(ERROR_INVALID_PARAMETER.cast_signed()));
    };
    let parent = open(u32::try_from(pid).map_err(io::Error::other)?, PROCESS_DUP_HANDLE)?;
    let input = BufReader::new(File::from(duplicate(&parent, input)?));
    let mut output = File::from(duplicate(&parent, output)?);
    drop(parent);
    super::users::may_look_everywhere();
    tell(&mut output, &Told::Ready)?;
    for line in input.lines() {
        let question: Arc<Question> = Arc::new(serde_json::from_str(&line?)?);
        let roots = names::sought(&question.roots);
        let asked = Arc::clone(&question);
        let ask = move |at: usize, kind: &dyn Fn()| answer(&asked, &roots, at, kind);
        ask_all(question.handles.len(), Arc::new(ask), |told| tell(&mut output, &told))?;
        tell(&mut output, &Told::Done)?;
    }
    Ok(())
}

fn tell(output: &mut File, told: &Told) -> io::Result<()> {
    let mut line = serde_json::to_string(told)?;
    line.push('\n');
    output.write_all(line.as_bytes())
}

/// One question, and a word to say in between: that it is a disk's file.
type Ask = dyn Fn(usize, &dyn Fn()) -> Option<Told> + Send + Sync;

/// What a thread says of its work.
enum Word {
    Begins(usize),
    IsOnDisk(usize),
    Ends(usize, Option<Told>),
}

/// Asks all, and tells what is of interest; of those that are stuck, that they are.
fn ask_all(count: usize, ask: Arc<Ask>, mut tell: impl FnMut(Told) -> io::Result<()>) -> io::Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let (sender, words) = channel();
    let start = || start_thread(count, &next, &ask, &sender);
    let mut threads = 1;
    start()?;
    let mut open: HashMap<usize, (Instant, bool)> = HashMap::new();
    let mut ended = 0;
    let mut beat = Instant::now();
    while ended < count {
        match next_word(&words) {
            Some(Word::Begins(at)) => {
                open.insert(at, (Instant::now(), false));
            }
            Some(Word::IsOnDisk(at)) => {
                open.entry(at).and_modify(|(_, disk)| *disk = true);
            }
            Some(Word::Ends(at, told)) => {
                open.remove(&at);
                ended += 1;
                told.map_or(Ok(()), &mut tell)?;
            }
            None if next.load(Ordering::SeqCst) < count && threads < THREADS => {
                threads += 1;
                start()?;
            }
            None if open.values().all(|(since, _)| since.elapsed() >= LIMIT) => break,
            None => {}
        }
        if beat.elapsed() >= BEAT {
            beat = Instant::now();
            let begun = next.load(Ordering::SeqCst).min(count);
            tell(Told::Going { at: open.keys().copied().min().unwrap_or(begun) })?;
        }
    }
    let stuck = open.into_iter().map(|(at, (_, disk))| Told::Stuck { at, disk });
    // Where no thread could be had any more, nobody has asked.
    let unasked = (next.load(Ordering::SeqCst)..count).map(|at| Told::Stuck { at, disk: true });
    stuck.chain(unasked).try_for_each(tell)
}

/// What a thread says next; `None` if none says anything for a while.
fn next_word(words: &Receiver<Word>) -> Option<Word> {
    match words.recv_timeout(STUCK) {
        Ok(word) => Some(word),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
    }
}

fn start_thread(count: usize, next: &Arc<AtomicUsize>, ask: &Arc<Ask>, sender: &Sender<Word>) -> io::Result<()> {
    let (next, ask, sender) = (Arc::clone(next), Arc::clone(ask), sender.clone());
    let work = move || {
        loop {
            let at = next.fetch_add(1, Ordering::SeqCst);
            // Nobody listens any more once all that is left is stuck.
            if at >= count || sender.send(Word::Begins(at)).is_err() {
                return;
            }
            let told = ask(at, &|| _ = sender.send(Word::IsOnDisk(at)));
            _ = sender.send(Word::Ends(at, told));
        }
    };
    Builder::new().spawn(work).map(|_| ())
}

/// What a handle is, if that is of interest.
fn answer(question: &Question, roots: &Roots, at: usize, on_disk: &dyn Fn()) -> Option<Told> {
    let (pid, value) = question.handles[at];
    let process = match open(pid, PROCESS_DUP_HANDLE) {
        Ok(process) => process,
        // It has ended.
        Err(error) if error.raw_os_error() == Some(ERROR_INVALID_PARAMETER.cast_signed()) => return None,
        Err(error) => return Some(Told::Denied { at, why: error.to_string() }),
    };
    // One that was closed since is none any more.
    let handle = duplicate(&process, value).ok()?;
    // SAFETY: the handle is open.
    match unsafe { GetFileType(handle.as_raw_handle()) } {
        FILE_TYPE_DISK if !roots.is_empty() => {
            on_disk();
            let path = roots.place(&names::final_path(handle.as_handle())?)?;
            let (directory, deleted) = standing(&handle);
            Some(Told::File { at, path, directory, deleted })
        }
        FILE_TYPE_PIPE if !question.pipes.is_empty() => {
            let name = names::object_name(handle.as_handle())?;
            let pipe = question.pipes.iter().position(|pipe| pipe.eq_ignore_ascii_case(&name))?;
            Some(Told::Pipe { at, pipe })
        }
        _ => None,
    }
}

/// A handle of this process's own for what another process has open.
fn duplicate(process: &OwnedHandle, value: usize) -> io::Result<OwnedHandle> {
    let mut handle: HANDLE = std::ptr::null_mut();
    // SAFETY: the process's handle is open; the value is looked up in that process, and may be any number.
    let done = unsafe {
        DuplicateHandle(
            process.as_raw_handle(),
            value as HANDLE,
            GetCurrentProcess(),
            &raw mut handle,
            0,
            0,
            DUPLICATE_SAME_ACCESS,
        )
    };
    if done == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new and nobody else's.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Whether an open file is a directory, and whether it goes with its last handle.
fn standing(handle: &OwnedHandle) -> (bool, bool) {
    let mut info = FILE_STANDARD_INFO::default();
    // SAFETY: the handle is open, and the structure is the one that is asked for, with its size.
    let told = unsafe {
        GetFileInformationByHandleEx(
            handle.as_raw_handle(),
            FileStandardInfo,
            (&raw mut info).cast(),
            u32::try_from(size_of_val(&info)).unwrap_or(0),
        )
    };
    (told != 0 && info.Directory, told != 0 && info.DeletePending)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// This program's other life, in a process of its own.
    #[test]
    fn serves() {
        let words: Vec<OsString> = std::env::args_os().collect();
        if let Some(at) = words.iter().position(|word| word == ASK) {
            serve(&words[at + 1..]).expect("somebody who asks");
        }
    }

    fn ask(count: usize, ask: impl Fn(usize, &dyn Fn()) -> Option<Told> + Send + Sync + 'static) -> Vec<Told> {
        let mut all = Vec::new();
        ask_all(count, Arc::new(ask), |told| {
            all.push(told);
            Ok(())
        })
        .expect("threads");
        all.retain(|told| !matches!(told, Told::Going { .. }));
        all.sort_by_key(|told| format!("{told:?}"));
        all
    }

    #[test]
    fn questions_that_hang_are_waited_for_together_and_hold_up_no_others() {
        const HANGING: usize = 20;
        let (keep, hang) = channel::<()>();
        let hang = std::sync::Mutex::new(hang);
        let began = Instant::now();
        let told = ask(2 * HANGING, move |at, on_disk| {
            if at == 0 {
                on_disk();
            }
            if at % 2 == 0 {
                // Until the test is over.
                _ = hang.lock().map(|hang| hang.recv());
            }
            Some(Told::Pipe { at, pipe: 0 })
        });
        let answered = (0..HANGING).map(|at| Told::Pipe { at: 2 * at + 1, pipe: 0 });
        let stuck = (0..HANGING).map(|at| Told::Stuck { at: 2 * at, disk: at == 0 });
        let mut expected: Vec<Told> = answered.chain(stuck).collect();
        expected.sort_by_key(|told| format!("{told:?}"));
        assert_eq!(told, expected);
        let took = began.elapsed();
        assert!(took >= LIMIT && took < LIMIT * u32::try_from(HANGING).expect("a number") / 2, "{took:?}");
        drop(keep);
    }

    #[test]
    fn an_answer_that_comes_late_is_an_answer() {
        let told = ask(3, |at, _| {
            if at == 1 {
                std::thread::sleep(LIMIT / 4);
            }
            Some(Told::Pipe { at, pipe: 0 })
        });
        assert_eq!(told, (0..3).map(|at| Told::Pipe { at, pipe: 0 }).collect::<Vec<_>>());
        assert_eq!(ask(0, |_, _| None), []);
    }
}
