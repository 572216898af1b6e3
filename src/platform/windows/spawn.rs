//! Starting a process: in its jobs before its first instruction, with three handles and no other.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::windows::ffi::OsStrExt;
use std::os::windows::io::{AsRawHandle, BorrowedHandle, FromRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use windows_sys::Win32::Foundation::{
    ERROR_BAD_EXE_FORMAT, ERROR_DIRECTORY, ERROR_INVALID_PARAMETER, HANDLE, HANDLE_FLAG_INHERIT, SetHandleInformation,
};
use windows_sys::Win32::System::SystemInformation::GetSystemDirectoryW;
use windows_sys::Win32::System::Threading::{
    CREATE_NO_WINDOW, CREATE_UNICODE_ENVIRONMENT, CreateProcessW, DeleteProcThreadAttributeList,
    EXTENDED_STARTUPINFO_PRESENT, InitializeProcThreadAttributeList, LPPROC_THREAD_ATTRIBUTE_LIST,
    PROC_THREAD_ATTRIBUTE_HANDLE_LIST, PROC_THREAD_ATTRIBUTE_JOB_LIST, PROCESS_INFORMATION, STARTF_USESTDHANDLES,
    STARTUPINFOEXW, UpdateProcThreadAttribute,
};

use super::super::{Job, StartError};
use super::job::JobObject;
use super::quote::{self, Reader, Unquotable};
use super::wide::wide;

/// A process that was started.
#[derive(Debug)]
pub struct Child {
    pub pid: u32,
    pub process: OwnedHandle,
}

/// What is to be started.
pub struct Start<'a> {
    pub program: &'a Path,
    /// UTF-16 without a NUL.
    pub command_line: Vec<u16>,
    /// The whole environment; this process's own when `None`.
    pub env: Option<&'a [(OsString, OsString)]>,
    pub cwd: &'a Path,
    /// stdin, stdout and stderr.
    pub streams: [BorrowedHandle<'a>; 3],
    /// The outermost first.
    pub jobs: &'a [&'a JobObject],
}

/// Starts a job's program in these jobs.
///
/// # Errors
///
/// Why it could not be.
pub fn spawn(job: &Job, streams: [BorrowedHandle<'_>; 3], jobs: &[&JobObject]) -> Result<Child, StartError> {
    let failed = |action: &str, file: &Path, errno: i32| StartError {
        action: action.to_owned(),
        file: file.display().to_string(),
        errno,
    };
    let refused =
        |Unquotable { what }| failed(&format!("pass {what} to"), &job.program, ERROR_INVALID_PARAMETER.cast_signed());
    let words: Vec<Vec<u16>> = job.argv.iter().map(|word| word.encode_wide().collect()).collect();
    let (program, command_line) = match Kind::of(&job.program) {
        Kind::Batch => {
            let cmd = system_folder().join("cmd.exe");
            let file = job.program.as_os_str().encode_wide().collect();
            let words: Vec<_> = [file].into_iter().chain(words.into_iter().skip(1)).collect();
            let units: Vec<u16> = cmd.as_os_str().encode_wide().collect();
            (cmd, quote::batch_line(&units, &words).map_err(refused)?)
        }
        Kind::Cmd => (job.program.clone(), quote::command_line(&words, Reader::Cmd).map_err(refused)?),
        Kind::Program => (job.program.clone(), quote::command_line(&words, Reader::Program).map_err(refused)?),
    };
    let start = Start { program: &program, command_line, env: Some(&job.env), cwd: &job.cwd, streams, jobs };
    create(start).map_err(|error| match error.raw_os_error() {
        Some(errno) if errno == ERROR_DIRECTORY.cast_signed() || !job.cwd.is_dir() => failed("enter", &job.cwd, errno),
        Some(errno) if errno == ERROR_BAD_EXE_FORMAT.cast_signed() => {
            failed("run, because it is no program of this system,", &job.program, errno)
        }
        errno => failed("run", &job.program, errno.unwrap_or(ERROR_INVALID_PARAMETER.cast_signed())),
    })
}

/// What a program's file is to the system.
enum Kind {
    Program,
    /// `cmd.exe`, whose scripts are passed as they are.
    Cmd,
    /// A script that `cmd.exe` runs.
    Batch,
}

impl Kind {
    fn of(program: &Path) -> Self {
        let ending = program.extension().and_then(OsStr::to_str).unwrap_or_default();
        if ["bat", "cmd"].iter().any(|batch| ending.eq_ignore_ascii_case(batch)) {
            return Self::Batch;
        }
        let name = program.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if name.eq_ignore_ascii_case("cmd.exe") { Self::Cmd } else { Self::Program }
    }
}

/// The system's own folder: a place that nobody wants to remove.
#[must_use]
pub fn system_folder() -> PathBuf {
    let mut units = [0u16; 261];
    // SAFETY: the buffer has as many units as is said.
    let length = unsafe { GetSystemDirectoryW(units.as_mut_ptr(), 261) } as usize;
    PathBuf::from(String::from_utf16_lossy(&units[..length.min(units.len())]))
}

/// Held while handles are inheritable: another process that starts then must not get them.
static STARTING: Mutex<()> = Mutex::new(());

/// Starts a process. It has a console of its own that nobody sees: what it does to its console, and what happens on the
/// user's, concern nobody else. So a Ctrl-C at the terminal reaches this program alone, a check can send one to its own
/// processes alone, and no program of it can write on the user's terminal or opens a window.
///
/// It leads no process group: such a process would ignore Ctrl-C, and so would all that it starts.
///
/// # Errors
///
/// What the system says.
pub fn create(start: Start<'_>) -> io::Result<Child> {
    let Start { program, mut command_line, env, cwd, streams, jobs } = start;
    command_line.push(0);
    let program = wide(program);
    let cwd = wide(cwd);
    let block = env.map(environment).transpose()?;
    let handles = streams.map(|stream| stream.as_raw_handle());
    let jobs: Vec<HANDLE> = jobs.iter().map(|job| job.raw()).collect();

    let mut attributes = Attributes::new(2)?;
    attributes.set(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, &handles)?;
    if !jobs.is_empty() {
        attributes.set(PROC_THREAD_ATTRIBUTE_JOB_LIST, &jobs)?;
    }
    let mut info = STARTUPINFOEXW::default();
    info.StartupInfo.cb = u32::try_from(size_of::<STARTUPINFOEXW>()).unwrap_or(u32::MAX);
    info.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
    [info.StartupInfo.hStdInput, info.StartupInfo.hStdOutput, info.StartupInfo.hStdError] = handles;
    info.lpAttributeList = attributes.raw();
    let flags = CREATE_NO_WINDOW | CREATE_UNICODE_ENVIRONMENT | EXTENDED_STARTUPINFO_PRESENT;
    let mut child = PROCESS_INFORMATION::default();

    let _alone = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
    for handle in handles {
        inheritable(handle, true)?;
    }
    // SAFETY: every text ends with a NUL, the environment with two; the command line is ours to be written to; handles,
    // jobs and attributes outlive the call.
    let created = unsafe {
        CreateProcessW(
            program.as_ptr(),
            command_line.as_mut_ptr(),
            ptr::null(),
            ptr::null(),
            1,
            flags,
            block.as_ref().map_or(ptr::null(), |block| block.as_ptr().cast()),
            cwd.as_ptr(),
            &raw const info.StartupInfo,
            &raw mut child,
        )
    };
    let error = io::Error::last_os_error();
    for handle in handles {
        inheritable(handle, false)?;
    }
    if created == 0 {
        return Err(error);
    }
    // SAFETY: both handles are new, and nobody else's.
    let (process, _thread) =
        unsafe { (OwnedHandle::from_raw_handle(child.hProcess), OwnedHandle::from_raw_handle(child.hThread)) };
    Ok(Child { pid: child.dwProcessId, process })
}

fn inheritable(handle: HANDLE, inheritable: bool) -> io::Result<()> {
    let flags = if inheritable { HANDLE_FLAG_INHERIT } else { 0 };
    // SAFETY: the handle is open.
    if unsafe { SetHandleInformation(handle, HANDLE_FLAG_INHERIT, flags) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// An environment as the system takes it: sorted by name, whose case does not matter; of two with one name the last holds.
fn environment(variables: &[(OsString, OsString)]) -> io::Result<Vec<u16>> {
    let mut sorted = std::collections::BTreeMap::new();
    for (name, value) in variables {
        sorted.insert(name.to_string_lossy().to_uppercase(), (name, value));
    }
    let mut block = Vec::new();
    for (name, value) in sorted.into_values() {
        let units: Vec<u16> = name.encode_wide().chain(['=' as u16]).chain(value.encode_wide()).collect();
        if units.contains(&0) {
            return Err(io::Error::from_raw_os_error(ERROR_INVALID_PARAMETER.cast_signed()));
        }
        block.extend(units);
        block.push(0);
    }
    // An empty environment has both NULs as well.
    block.extend(std::iter::repeat_n(0, if block.is_empty() { 2 } else { 1 }));
    Ok(block)
}

/// What a process is to have from its start.
struct Attributes(Vec<usize>);

impl Attributes {
    /// Room for so many.
    fn new(count: u32) -> io::Result<Self> {
        let mut size = 0;
        // SAFETY: without a list, the call only tells the size.
        unsafe { InitializeProcThreadAttributeList(ptr::null_mut(), count, 0, &raw mut size) };
        let mut attributes = Self(vec![0; size.div_ceil(size_of::<usize>()).max(1)]);
        // SAFETY: the list has the size that was asked for.
        if unsafe { InitializeProcThreadAttributeList(attributes.raw(), count, 0, &raw mut size) } == 0 {
            // What was not made must not be unmade.
            attributes.0.clear();
            return Err(io::Error::last_os_error());
        }
        Ok(attributes)
    }

    fn raw(&mut self) -> LPPROC_THREAD_ATTRIBUTE_LIST {
        self.0.as_mut_ptr().cast()
    }

    /// The values must outlive the list's use.
    fn set(&mut self, attribute: u32, values: &[HANDLE]) -> io::Result<()> {
        let list = self.raw();
        // SAFETY: the list is made, and has room; the system only notes where the values are.
        let set = unsafe {
            UpdateProcThreadAttribute(
                list,
                0,
                attribute as usize,
                values.as_ptr().cast(),
                size_of_val(values),
                ptr::null_mut(),
                ptr::null(),
            )
        };
        if set == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}

impl Drop for Attributes {
    fn drop(&mut self) {
        if !self.0.is_empty() {
            // SAFETY: the list was made.
            unsafe { DeleteProcThreadAttributeList(self.raw()) };
        }
    }
}
