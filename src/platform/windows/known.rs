//! The processes of a job, known from their start: who is gone by the end can still be named.

use std::collections::HashMap;
use std::os::windows::io::{AsHandle, AsRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::ptr;

use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, ProcessBasicInformation};
use windows_sys::Win32::Foundation::FILETIME;
use windows_sys::Win32::System::Threading::{
    GetExitCodeProcess, GetProcessTimes, PROCESS_BASIC_INFORMATION, PROCESS_NAME_WIN32, PROCESS_QUERY_INFORMATION,
    PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE, QueryFullProcessImageNameW,
};

use super::job::JobObject;
use super::process::{self, has_ended};
use super::{clock, spawn};
use crate::model::{Exit, Process, ProcessRef};

/// How many ended processes are remembered for their names.
const REMEMBERED: usize = 4096;

/// How many of the last are looked at again.
const YOUNG: usize = 64;

/// A process that was seen in the job.
struct Known {
    pid: u32,
    /// In the system's time; 0 if it was gone already.
    created: u64,
    parent: Option<u32>,
    argv: Vec<String>,
    /// While this is open, no other process gets the number. `None` once it has ended.
    handle: Option<OwnedHandle>,
    /// In the system's time.
    ended: Option<u64>,
    /// Whether it is the system's own, which comes and goes with the console of others. `None` until that is known: a
    /// process is told of before it has a program.
    is_console: Option<bool>,
    /// Whether it asked to leave the job.
    broke_away: bool,
}

/// All that were seen.
pub struct Processes {
    roots: Vec<PathBuf>,
    /// In the order of their starts.
    all: Vec<Known>,
    /// The last one of each number.
    by_pid: HashMap<u32, usize>,
    /// The job's start, in milliseconds after the machine's.
    started_ms: u64,
    /// The file of the program that the system runs for every console.
    console_host: PathBuf,
}

impl Processes {
    /// None yet. The start times are told in milliseconds after `started_ms`, which is one after the machine's.
    #[must_use]
    pub fn new(roots: &[PathBuf], started_ms: u64) -> Self {
        Self {
            roots: roots.to_owned(),
            all: Vec::new(),
            by_pid: HashMap::new(),
            started_ms,
            console_host: spawn::system_folder().join("conhost.exe"),
        }
    }

    /// Takes in that a process has started, or is there. `inner` is the job that a process leaves if it asks to leave its
    /// job.
    pub fn start(&mut self, pid: u32, inner: &JobObject) {
        if !self.is_alive(pid) {
            self.forget_some();
            self.by_pid.insert(pid, self.all.len());
            self.all.push(Known::now(pid, inner));
        }
        if let Some(known) = self.by_pid.get(&pid).and_then(|&at| self.all.get_mut(at)) {
            known.learn(&self.console_host);
        }
    }

    /// Looks again at those that had no program when they were told of.
    pub fn learn(&mut self) {
        for known in self.all.iter_mut().rev().take(YOUNG).filter(|known| known.is_console.is_none()) {
            known.learn(&self.console_host);
        }
    }

    /// Takes in that a process has ended.
    pub fn end(&mut self, pid: u32) {
        if let Some(known) = self.by_pid.get(&pid).and_then(|&at| self.all.get_mut(at)) {
            let ended =
                known.handle.take().and_then(|handle| times(&handle)).map_or_else(clock::now, |times| times.ended);
            known.ended.get_or_insert(ended);
        }
    }

    /// When a process that was read ended, in the system's time. `None` if it did not, or nobody saw it.
    #[must_use]
    pub fn ended(&self, process: &Process) -> Option<u64> {
        let is_it = |known: &&Known| known.pid == process.pid && self.started_ms(known) == process.started_ms;
        let known = self.all.iter().rev().find(is_it)?;
        let by_now = || times(known.handle.as_ref().filter(|handle| has_ended(handle))?);
        known.ended.or_else(|| Some(by_now()?.ended))
    }

    fn started_ms(&self, known: &Known) -> Option<i64> {
        (known.created > 0).then(|| clock::boot_ms(known.created).cast_signed() - self.started_ms.cast_signed())
    }

    /// Whether it is the system's own and concerns nobody.
    #[must_use]
    pub fn is_console(&self, pid: u32) -> bool {
        self.get(pid).is_some_and(|known| known.is_console == Some(true))
    }

    fn is_alive(&self, pid: u32) -> bool {
        self.get(pid).and_then(|known| known.handle.as_ref()).is_some_and(|handle| !has_ended(handle))
    }

    fn get(&self, pid: u32) -> Option<&Known> {
        self.all.get(*self.by_pid.get(&pid)?)
    }

    /// A check can start processes without end, and must not fill the memory with them.
    fn forget_some(&mut self) {
        if self.all.len() < 2 * REMEMBERED {
            return;
        }
        let mut spare = self.all.len() - REMEMBERED;
        self.all.retain(|known| {
            let forget = spare > 0 && known.ended.is_some();
            spare -= usize::from(forget);
            !forget
        });
        self.by_pid = self.all.iter().enumerate().map(|(at, known)| (known.pid, at)).collect();
    }

    /// A process that is alive, with its program and current directory if they lie in the roots. `None` if it has ended.
    #[must_use]
    pub fn read(&self, pid: u32) -> Option<Process> {
        Some(self.of_job(process::read(pid, &self.roots)?))
    }

    /// A process of the job: it has the parents that were seen in the job, gone or not, and started so long after it.
    #[must_use]
    pub fn of_job(&self, process: Process) -> Process {
        let started_ms = process.started_ms.map(|ms| ms - self.started_ms.cast_signed());
        Process { parents: self.parents(process.pid), started_ms, ..process }
    }

    /// A process that has ended, as far as it is known.
    #[must_use]
    pub fn told(&self, pid: u32) -> Option<Process> {
        let known = self.get(pid).filter(|known| !known.argv.is_empty())?;
        let (parents, started_ms) = (self.parents(pid), self.started_ms(known));
        Some(Process { parents, started_ms, ..Process::new(pid, known.argv.clone()) })
    }

    /// From the nearest upwards. A number may have belonged to another process before: a parent is older than its child.
    fn parents(&self, pid: u32) -> Vec<ProcessRef> {
        let mut parents = Vec::new();
        let mut child = self.by_pid.get(&pid).copied();
        while let Some(at) = child {
            let Known { parent, created, .. } = &self.all[at];
            child = self.all[..at].iter().rposition(|known| Some(known.pid) == *parent && known.created <= *created);
            parents.extend(child.map(|at| ProcessRef { pid: self.all[at].pid, argv: self.all[at].argv.clone() }));
        }
        parents
    }

    /// The processes that asked to leave the job. On a host whose own job does not allow that, they would not have started.
    pub fn broke_away(&self) -> impl Iterator<Item = ProcessRef> {
        let told = |known: &Known| ProcessRef { pid: known.pid, argv: known.argv.clone() };
        self.all.iter().filter(|known| known.broke_away && known.is_console != Some(true)).map(told)
    }
}

impl Known {
    fn now(pid: u32, inner: &JobObject) -> Self {
        let mut known = Self {
            pid,
            created: 0,
            parent: None,
            argv: Vec::new(),
            handle: None,
            ended: None,
            is_console: None,
            broke_away: false,
        };
        // Whether it is in a job may only be asked with the larger right, which a process with more rights than this one
        // does not give.
        let open = |rights| process::open(pid, rights | PROCESS_SYNCHRONIZE);
        let handle = open(PROCESS_QUERY_INFORMATION).or_else(|_| open(PROCESS_QUERY_LIMITED_INFORMATION));
        let Ok(handle) = handle else { return known };
        known.created = times(&handle).map_or(0, |times| times.created);
        known.parent = parent(&handle);
        known.broke_away = inner.has(handle.as_handle()) == Some(false);
        known.handle = Some(handle);
        known
    }

    fn learn(&mut self, console_host: &Path) {
        if self.is_console.is_some() {
            return;
        }
        let Some(file) = self.handle.as_ref().and_then(image) else { return };
        let is_console = same_file(&file, console_host);
        if !is_console {
            let Some(process) = process::read(self.pid, &[]) else { return };
            let has_name_alone = process.argv.len() == 1 && process.argv[0].starts_with('[');
            self.argv = process.argv;
            if has_name_alone {
                // It has no arguments yet, or none that may be read.
                return;
            }
        }
        self.is_console = Some(is_console);
    }
}

/// When a process was created, and when it ended if it did, in the system's time.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    pub created: u64,
    pub ended: u64,
}

/// The times of a process.
#[must_use]
pub fn times(process: &OwnedHandle) -> Option<Times> {
    let mut times = [FILETIME::default(); 4];
    let [created, ended, kernel, user] = &mut times;
    // SAFETY: the handle is open, and the times outlive the call.
    let told = unsafe { GetProcessTimes(process.as_raw_handle(), created, ended, kernel, user) };
    (told != 0).then(|| Times { created: clock::number(times[0]), ended: clock::number(times[1]) })
}

/// How a process that has ended did so.
#[must_use]
pub fn exit(process: &OwnedHandle) -> Option<Exit> {
    let mut code = 0;
    // SAFETY: the handle is open, and the code outlives the call.
    let told = unsafe { GetExitCodeProcess(process.as_raw_handle(), &raw mut code) };
    (told != 0).then(|| Exit::Code(code.cast_signed()))
}

/// The number of a process's parent: of the one that started it, be it gone or not.
fn parent(process: &OwnedHandle) -> Option<u32> {
    let mut basic = PROCESS_BASIC_INFORMATION::default();
    // SAFETY: the handle is open, and the structure is the class's.
    let status = unsafe {
        let size = u32::try_from(size_of_val(&basic)).unwrap_or(u32::MAX);
        NtQueryInformationProcess(
            process.as_raw_handle(),
            ProcessBasicInformation,
            (&raw mut basic).cast(),
            size,
            ptr::null_mut(),
        )
    };
    (status >= 0).then_some(basic.InheritedFromUniqueProcessId)?.try_into().ok()
}

/// The file of a process's program.
fn image(process: &OwnedHandle) -> Option<PathBuf> {
    let mut units = vec![0u16; 32 * 1024];
    let mut length = u32::try_from(units.len()).unwrap_or(0);
    // SAFETY: the handle is open, and the buffer has as many units as is said.
    let told = unsafe {
        QueryFullProcessImageNameW(process.as_raw_handle(), PROCESS_NAME_WIN32, units.as_mut_ptr(), &raw mut length)
    };
    (told != 0).then(|| PathBuf::from(String::from_utf16_lossy(&units[..length as usize])))
}

fn same_file(one: &Path, other: &Path) -> bool {
    one.as_os_str().eq_ignore_ascii_case(other.as_os_str())
}
