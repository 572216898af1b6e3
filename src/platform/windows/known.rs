//! The processes of a job, known from their start: who is gone by the end can still be named.

use std::collections::HashMap;
use std::os::windows::io::{AsHandle, AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::PathBuf;
use std::ptr;
use std::time::Instant;

use windows_sys::Wdk::System::Threading::{NtQueryInformationProcess, ProcessBasicInformation};
use windows_sys::Win32::Foundation::{FILETIME, WAIT_OBJECT_0};
use windows_sys::Win32::System::Threading::{
    GetExitCodeProcess, GetProcessTimes, OpenProcess, PROCESS_BASIC_INFORMATION, PROCESS_NAME_WIN32,
    PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE, QueryFullProcessImageNameW, WaitForSingleObject,
};

use super::job::JobObject;
use super::{clock, process, spawn};
use crate::model::{Exit, Process, ProcessRef};

/// How many ended processes are remembered for their names.
const REMEMBERED: usize = 4096;

/// A process that was seen in the job.
struct Known {
    pid: u32,
    /// In the system's time; 0 if it was gone already.
    created: u64,
    parent: Option<u32>,
    argv: Vec<String>,
    /// While this is open, no other process gets the number. `None` once it has ended.
    handle: Option<OwnedHandle>,
    ended: Option<Instant>,
    /// The system's own, which comes and goes with the console of others.
    is_console: bool,
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
    /// Those that asked to leave the job.
    broke_away: Vec<ProcessRef>,
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
            broke_away: Vec::new(),
        }
    }

    /// Takes in that a process has started. `inner` is the job that a process leaves if it asks to leave its job.
    pub fn start(&mut self, pid: u32, inner: &JobObject) {
        if self.is_alive(pid) {
            return;
        }
        let mut known = Known::now(pid);
        if let Some(handle) = &known.handle {
            known.is_console = image(handle).is_some_and(|file| same_file(&file, &self.console_host));
            if !known.is_console {
                known.argv = process::read(pid, &[]).map(|process| process.argv).unwrap_or_default();
                if !inner.has(handle.as_handle()) {
                    self.broke_away.push(ProcessRef { pid, argv: known.argv.clone() });
                }
            }
        }
        self.forget_some();
        self.by_pid.insert(pid, self.all.len());
        self.all.push(known);
    }

    /// Takes in that a process has ended.
    pub fn end(&mut self, pid: u32, now: Instant) {
        if let Some(known) = self.by_pid.get(&pid).and_then(|&at| self.all.get_mut(at)) {
            known.ended.get_or_insert(now);
            known.handle = None;
        }
    }

    /// When the process that last had this number ended.
    #[must_use]
    pub fn ended(&self, pid: u32) -> Option<Instant> {
        self.get(pid)?.ended
    }

    /// Whether it is the system's own and concerns nobody.
    #[must_use]
    pub fn is_console(&self, pid: u32) -> bool {
        self.get(pid).is_some_and(|known| known.is_console)
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

    /// A process that is alive, with what it holds of the roots, and with those of its parents that were seen in the job.
    /// `None` if it has ended.
    #[must_use]
    pub fn read(&self, pid: u32) -> Option<Process> {
        let mut process = process::read(pid, &self.roots)?;
        process.parents = self.parents(pid);
        process.started_ms = process.started_ms.map(|ms| ms - self.started_ms.cast_signed());
        Some(process)
    }

    /// A process that has ended, as far as it is known.
    #[must_use]
    pub fn told(&self, pid: u32) -> Option<Process> {
        let known = self.get(pid).filter(|known| !known.argv.is_empty())?;
        Some(Process {
            pid,
            argv: known.argv.clone(),
            parents: self.parents(pid),
            started_ms: Some(clock::boot_ms(known.created).cast_signed() - self.started_ms.cast_signed()),
            own_session: false,
            state: None,
            waiting_on: None,
            holds: Vec::new(),
            pipes: Vec::new(),
            case_hint: None,
            unread: Vec::new(),
        })
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
    #[must_use]
    pub fn broke_away(&self) -> &[ProcessRef] {
        &self.broke_away
    }
}

impl Known {
    fn now(pid: u32) -> Self {
        let mut known =
            Self { pid, created: 0, parent: None, argv: Vec::new(), handle: None, ended: None, is_console: false };
        // SAFETY: the call takes numbers alone.
        let handle = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE, 0, pid) };
        if handle.is_null() {
            return known;
        }
        // SAFETY: the handle is new, and nobody else's.
        let handle = unsafe { OwnedHandle::from_raw_handle(handle) };
        known.created = created(&handle).unwrap_or_default();
        known.parent = parent(&handle);
        known.handle = Some(handle);
        known
    }
}

/// When a process was created, in the system's time.
#[must_use]
pub fn created(process: &OwnedHandle) -> Option<u64> {
    let mut times = [FILETIME::default(); 4];
    let [created, exited, kernel, user] = &mut times;
    // SAFETY: the handle is open, and the times outlive the call.
    let told = unsafe { GetProcessTimes(process.as_raw_handle(), created, exited, kernel, user) };
    (told != 0).then(|| clock::number(times[0]))
}

/// Whether a process has ended, and everything that it had is closed.
#[must_use]
pub fn has_ended(process: &OwnedHandle) -> bool {
    // SAFETY: the handle is open.
    unsafe { WaitForSingleObject(process.as_raw_handle(), 0) == WAIT_OBJECT_0 }
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
        let size = size_of_val(&basic) as u32;
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
    let mut length = units.len() as u32;
    // SAFETY: the handle is open, and the buffer has as many units as is said.
    let told = unsafe {
        QueryFullProcessImageNameW(process.as_raw_handle(), PROCESS_NAME_WIN32, units.as_mut_ptr(), &raw mut length)
    };
    (told != 0).then(|| PathBuf::from(String::from_utf16_lossy(&units[..length as usize])))
}

fn same_file(one: &std::path::Path, other: &std::path::Path) -> bool {
    one.as_os_str().eq_ignore_ascii_case(other.as_os_str())
}
