//! What the system tells of one process.

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::{Path, PathBuf};

use windows_sys::Wdk::System::Threading::{
    NtQueryInformationProcess, PROCESSINFOCLASS, ProcessBasicInformation, ProcessWow64Information,
};
use windows_sys::Win32::Foundation::{ERROR_ACCESS_DENIED, FILETIME, HANDLE, UNICODE_STRING, WAIT_OBJECT_0};
use windows_sys::Win32::System::Diagnostics::Debug::ReadProcessMemory;
use windows_sys::Win32::System::Threading::{
    GetProcessTimes, OpenProcess, PROCESS_ACCESS_RIGHTS, PROCESS_BASIC_INFORMATION, PROCESS_NAME_WIN32,
    PROCESS_QUERY_INFORMATION, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SYNCHRONIZE, PROCESS_VM_READ,
    QueryFullProcessImageNameW, WaitForSingleObject,
};

use super::command_line;
use super::machine::{Listed, Machine, of_status};
use super::paths::Roots;
use super::{clock, mapped, wide};
use crate::model::{Hold, How, Process, ProcessRef};

/// The longest command line that is kept of a process, in characters.
const LONGEST_LINE: usize = 4096;
/// The largest environment that is read, in bytes.
const LARGEST_ENVIRONMENT: usize = 1 << 20;
/// `ProcessCommandLineInformation`, which needs no right to read memory. Windows 8.1.
const COMMAND_LINE: PROCESSINFOCLASS = 60;

/// Reads a process, with what it holds of the folders by its current directory and its running program. `None` if it has
/// ended. Its start time is in milliseconds after the machine's; its parents are as far up as there are any.
///
/// What may not be looked at is told in `unread`.
#[must_use]
pub fn read(pid: u32, roots: &[PathBuf]) -> Option<Process> {
    let machine = Machine::now().ok()?;
    let seen = Seen::of(machine.get(pid)?)?;
    Some(Process { holds: seen.holds(&Roots::new(roots)), ..seen.told(&machine) })
}

/// Opens a process.
///
/// # Errors
///
/// `InvalidInput` if there is none of that number; what the system says if it may not be opened so.
pub fn open(pid: u32, rights: PROCESS_ACCESS_RIGHTS) -> io::Result<OwnedHandle> {
    // SAFETY: the function takes numbers alone.
    let handle = unsafe { OpenProcess(rights, 0, pid) };
    if handle.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle is new and nobody else's.
    Ok(unsafe { OwnedHandle::from_raw_handle(handle) })
}

/// Whether a process has ended that somebody has a handle of, as this process does now. Needs the right to wait for it.
#[must_use]
pub fn has_ended(process: &OwnedHandle) -> bool {
    // SAFETY: the handle is open.
    unsafe { WaitForSingleObject(process.as_raw_handle(), 0) == WAIT_OBJECT_0 }
}

fn created_of(process: &OwnedHandle) -> Option<u64> {
    let mut times = [FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 }; 4];
    let [created, exited, kernel, user] = &mut times;
    // SAFETY: the handle is open, and the times are written to variables of ours.
    let told = unsafe { GetProcessTimes(process.as_raw_handle(), created, exited, kernel, user) };
    (told != 0).then(|| clock::number(times[0]))
}

/// What was read of a process's own memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parameters {
    pub cwd: String,
    /// The handle by which the process keeps its current directory.
    pub cwd_handle: usize,
    pub command_line: String,
    environment: Vec<u16>,
}

impl Parameters {
    /// A variable that the process has. Names ignore case.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<String> {
        self.environment.split(|&unit| unit == 0).find_map(|variable| {
            let variable = String::from_utf16_lossy(variable);
            let (its, value) = variable.split_once('=')?;
            its.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    }
}

/// A process that was looked into.
#[derive(Debug)]
pub struct Seen<'a> {
    pub listed: &'a Listed,
    /// What was read of its memory, or why it may not be.
    pub parameters: io::Result<Parameters>,
    /// Unless it may not be opened at all.
    process: Option<OwnedHandle>,
    /// Its program's file.
    image: Option<String>,
    line: Option<String>,
}

impl<'a> Seen<'a> {
    /// Looks into a process. `None` if it has ended since it was listed.
    #[must_use]
    pub fn of(listed: &'a Listed) -> Option<Self> {
        const ALL: PROCESS_ACCESS_RIGHTS = PROCESS_QUERY_INFORMATION | PROCESS_VM_READ | PROCESS_SYNCHRONIZE;
        const LITTLE: PROCESS_ACCESS_RIGHTS = PROCESS_QUERY_LIMITED_INFORMATION | PROCESS_SYNCHRONIZE;
        let (process, parameters) = match open(listed.pid, ALL) {
            Ok(process) => {
                let parameters = parameters(&process);
                (process, parameters)
            }
            Err(error) if error.raw_os_error() == Some(ERROR_ACCESS_DENIED.cast_signed()) => {
                match open(listed.pid, LITTLE) {
                    Ok(process) => (process, Err(error)),
                    // The system has it listed, so it is there; nothing more can be said.
                    Err(_) => {
                        return Some(Self { listed, parameters: Err(error), process: None, image: None, line: None });
                    }
                }
            }
            Err(_) => return None,
        };
        if has_ended(&process) || created_of(&process).is_some_and(|created| created != listed.created) {
            return None;
        }
        let line = match &parameters {
            Ok(parameters) => Some(parameters.command_line.clone()),
            Err(_) => told_line(&process),
        };
        Some(Self { listed, parameters, image: image(&process), process: Some(process), line })
    }

    /// Its arguments; its program's name in brackets where they could not be read.
    #[must_use]
    pub fn argv(&self) -> Vec<String> {
        let line = self.line.as_deref().map(|line| line.chars().take(LONGEST_LINE).collect::<String>());
        match line.filter(|line| !line.trim().is_empty()) {
            Some(line) => command_line::split(&line),
            None => vec![format!("[{}]", self.listed.name)],
        }
    }

    /// What it holds by its current directory and its running program.
    #[must_use]
    pub fn holds(&self, roots: &Roots) -> Vec<Hold> {
        let cwd = self.parameters.as_ref().ok().and_then(|parameters| hold(&parameters.cwd, How::Cwd, true, roots));
        let image = self.image.as_ref().and_then(|image| hold(image, How::Executable, false, roots));
        cwd.into_iter().chain(image).collect()
    }

    /// What it holds by files that are mapped into its memory, its program left out.
    #[must_use]
    pub fn mapped(&self, roots: &Roots) -> Vec<Hold> {
        let Some(process) = self.process.as_ref().filter(|_| self.parameters.is_ok()) else { return Vec::new() };
        let program = self.image.as_ref().and_then(|image| roots.place(image));
        let places = mapped::places(process, roots).into_iter().filter(|place| Some(place) != program.as_ref());
        places.map(|place| hold_at(&place, How::Mapping, false)).collect()
    }

    /// The folder, as it was given, whose mark it carries in its environment.
    #[must_use]
    pub fn marked(&self, roots: &Roots) -> Option<PathBuf> {
        roots.named(&self.parameters.as_ref().ok()?.variable("HOSTPROOF_SANDBOX")?)
    }

    /// All that is told of it, but what it holds.
    #[must_use]
    pub fn told(&self, machine: &Machine) -> Process {
        let (state, waiting_on) = self.listed.doing();
        let mut unread = Vec::new();
        if let Err(error) = &self.parameters {
            unread.push(format!("current directory, environment: {error}"));
        }
        Process {
            pid: self.listed.pid,
            argv: self.argv(),
            parents: parents(machine, self.listed.pid),
            started_ms: Some(clock::boot_ms(self.listed.created).cast_signed()),
            own_session: false,
            state,
            waiting_on,
            holds: Vec::new(),
            pipes: Vec::new(),
            case_hint: self.parameters.as_ref().ok().and_then(|parameters| parameters.variable("PYTEST_CURRENT_TEST")),
            unread,
        }
    }
}

/// A hold on a path, if it lies in one of the folders.
#[must_use]
pub fn hold(path: &str, how: How, directory: bool, roots: &Roots) -> Option<Hold> {
    Some(hold_at(&roots.place(path)?, how, directory))
}

fn hold_at(place: &Path, how: How, directory: bool) -> Hold {
    // What is held can't be removed on this system; where it was asked to be, it is until its last handle is closed.
    let deleted = place.try_exists().is_ok_and(|there| !there);
    Hold { how, path: place.to_string_lossy().into_owned(), directory, deleted }
}

fn parents(machine: &Machine, pid: u32) -> Vec<ProcessRef> {
    let told = |listed: &Listed| {
        let argv = Seen::of(listed).map_or_else(|| vec![format!("[{}]", listed.name)], |seen| seen.argv());
        ProcessRef { pid: listed.pid, argv }
    };
    machine.ancestors(pid).map(told).collect()
}

/// The file of a process's program.
fn image(process: &OwnedHandle) -> Option<String> {
    let mut units = vec![0u16; 32 * 1024];
    let mut length = u32::try_from(units.len()).unwrap_or(0);
    // SAFETY: the handle is open, and the buffer has as many units as is said.
    let told = unsafe {
        QueryFullProcessImageNameW(process.as_raw_handle(), PROCESS_NAME_WIN32, units.as_mut_ptr(), &raw mut length)
    };
    (told != 0).then(|| wide::text(&units[..length as usize]))
}

/// The command line of a process whose memory may not be read.
fn told_line(process: &OwnedHandle) -> Option<String> {
    let mut buffer = vec![0u64; 8 * 1024];
    query(process, COMMAND_LINE, &mut buffer).ok()?;
    // SAFETY: the system wrote this structure at the start of the buffer, which is aligned for it and larger.
    let line = unsafe { buffer.as_ptr().cast::<UNICODE_STRING>().read() };
    wide::told_in(&buffer, &line)
}

fn query(process: &OwnedHandle, class: PROCESSINFOCLASS, buffer: &mut [u64]) -> io::Result<()> {
    let length = u32::try_from(size_of_val(buffer)).unwrap_or(u32::MAX);
    // SAFETY: the handle is open, and the buffer has as many bytes as is said.
    let status = unsafe {
        NtQueryInformationProcess(
            process.as_raw_handle(),
            class,
            buffer.as_mut_ptr().cast::<c_void>(),
            length,
            std::ptr::null_mut(),
        )
    };
    if status < 0 { Err(of_status(status)) } else { Ok(()) }
}

/// Where a process has its parameters: in bytes from the start of its environment block (PEB) and of the parameters. Known
/// from Microsoft's public symbols, and the same since Windows Vista.
struct Layout {
    parameters: usize,
    cwd: usize,
    cwd_handle: usize,
    command_line: usize,
    environment: usize,
    environment_size: usize,
    /// How many bytes a pointer has.
    pointer: usize,
}

const OF_64_BITS: Layout = Layout {
    parameters: 0x20,
    cwd: 0x38,
    cwd_handle: 0x48,
    command_line: 0x70,
    environment: 0x80,
    environment_size: 0x3f0,
    pointer: 8,
};

const OF_32_BITS: Layout = Layout {
    parameters: 0x10,
    cwd: 0x24,
    cwd_handle: 0x2c,
    command_line: 0x40,
    environment: 0x48,
    environment_size: 0x290,
    pointer: 4,
};

/// Reads a process's parameters from its memory: those of its 32-bit side if it has one, since only those change with it.
fn parameters(process: &OwnedHandle) -> io::Result<Parameters> {
    let mut narrow = [0u64];
    query(process, ProcessWow64Information, &mut narrow)?;
    let (block, layout) = if narrow[0] != 0 {
        (narrow[0], OF_32_BITS)
    } else if cfg!(target_pointer_width = "64") {
        let mut basic = [0u64; size_of::<PROCESS_BASIC_INFORMATION>().div_ceil(size_of::<u64>())];
        query(process, ProcessBasicInformation, &mut basic)?;
        (basic[1], OF_64_BITS)
    } else {
        return Err(io::Error::other("a 64-bit process can't be read by a 32-bit one"));
    };
    let memory = Memory { process: process.as_raw_handle(), pointer: layout.pointer };
    let base = memory.number(block + layout.parameters as u64, layout.pointer)?;
    let at = |offset: usize| base + offset as u64;
    let size = usize::try_from(memory.number(at(layout.environment_size), layout.pointer)?).unwrap_or(usize::MAX);
    let environment = memory.number(at(layout.environment), layout.pointer)?;
    Ok(Parameters {
        cwd: memory.text(at(layout.cwd))?,
        cwd_handle: usize::try_from(memory.number(at(layout.cwd_handle), layout.pointer)?).unwrap_or(0),
        command_line: memory.text(at(layout.command_line))?,
        environment: memory.units(environment, size.min(LARGEST_ENVIRONMENT))?,
    })
}

/// Another process's memory.
struct Memory {
    process: HANDLE,
    pointer: usize,
}

impl Memory {
    fn bytes(&self, address: u64, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0u8; length];
        let address = usize::try_from(address).map_err(io::Error::other)?;
        let mut read = 0;
        // SAFETY: the buffer has as many bytes as is said; the address is the other process's, where the system checks it.
        let done = unsafe {
            ReadProcessMemory(
                self.process,
                address as *const c_void,
                bytes.as_mut_ptr().cast::<c_void>(),
                length,
                &raw mut read,
            )
        };
        if done == 0 { Err(io::Error::last_os_error()) } else { Ok(bytes) }
    }

    fn number(&self, address: u64, length: usize) -> io::Result<u64> {
        let mut whole = [0u8; 8];
        whole[..length].copy_from_slice(&self.bytes(address, length)?);
        Ok(u64::from_le_bytes(whole))
    }

    fn units(&self, address: u64, length: usize) -> io::Result<Vec<u16>> {
        let bytes = self.bytes(address, length)?;
        Ok(bytes.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect())
    }

    /// A `UNICODE_STRING`: its length in bytes, its room, and a pointer to it.
    fn text(&self, address: u64) -> io::Result<String> {
        let length = usize::try_from(self.number(address, 2)?).unwrap_or(0);
        let at = self.number(address + self.pointer as u64, self.pointer)?;
        Ok(String::from_utf16_lossy(&self.units(at, length)?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Child;
    use super::*;

    #[test]
    fn a_process_is_read_with_its_arguments_and_what_it_holds() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = std::fs::canonicalize(folder.path()).expect("a real path");
        let mut child = Child::that("wait", "", |command| {
            command.current_dir(folder.path()).arg("caf\u{e9} \"x y\" \\").env("PYTEST_CURRENT_TEST", "t.py::a (call)");
        });
        let process = read(child.pid, std::slice::from_ref(&root)).expect("a process");
        assert_eq!(process.argv.last().map(String::as_str), Some("caf\u{e9} \"x y\" \\"), "{process:?}");
        assert_eq!(process.case_hint.as_deref(), Some("t.py::a (call)"));
        assert_eq!(process.parents.first().map(|parent| parent.pid), Some(std::process::id()));
        assert_eq!(process.unread, Vec::<String>::new());
        let cwd = Hold { how: How::Cwd, path: root.to_string_lossy().into_owned(), directory: true, deleted: false };
        assert_eq!(process.holds, [cwd]);
        let ms = |time| clock::boot_ms(time).cast_signed();
        let since = ms(clock::now()) - process.started_ms.expect("a start time");
        assert!((0..60_000).contains(&since), "started {since} ms ago");
        child.end();
        assert_eq!(read(child.pid, &[root]), None);
    }

    #[test]
    fn a_running_program_is_held() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("program.exe");
        std::fs::copy(std::env::current_exe().expect("this program"), &program).expect("a copy");
        let mut child = Child::of(&program, "wait", "", |_| {});
        let process = read(child.pid, &[folder.path().to_owned()]).expect("a process");
        let [hold] = &process.holds[..] else { panic!("one hold: {process:?}") };
        assert_eq!((hold.how, hold.path.as_str()), (How::Executable, program.to_str().expect("a name")));
        child.end();
    }

    #[test]
    fn the_number_of_a_dead_parent_is_nobodys() {
        let mut child = Child::that("parent", "", |_| {});
        let orphan: u32 = child.said.parse().expect("a number");
        let parents = |machine: &Machine| machine.ancestors(orphan).map(|listed| listed.pid).collect::<Vec<_>>();
        let machine = Machine::now().expect("the machine");
        let listed = machine.get(orphan).expect("the orphan").clone();
        assert_eq!(listed.parent, child.pid);
        child.end_first();
        let mut machine = Machine::now().expect("the machine");
        assert_eq!(parents(&machine), Vec::<u32>::new());
        // Whoever gets the number next was created later.
        let later = Listed { pid: child.pid, created: listed.created + 1, ..listed.clone() };
        machine.insert(later);
        assert_eq!(parents(&machine), Vec::<u32>::new());
        let before = Listed { pid: child.pid, created: listed.created, parent: 0, ..listed };
        machine.insert(before);
        assert_eq!(parents(&machine), [child.pid]);
        child.end();
    }
}
