//! What stands in `PATH` before programs that may not be run: it writes down that it was called, and by whom, and runs
//! nothing, or the program itself where that is only to be seen.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::files::{become_program, make_open, make_stub, open_regular, stub_of};
use super::find_program;
use super::system::own_parents;
use crate::model::{Forbid, ProcessRef};

/// What programs may not be run, in a folder of stubs: from its name to whether it is run all the same.
pub(super) const LIST: &str = ".forbidden";
/// What was called.
const CALLS: &str = ".calls";
/// How much of that is read.
const MOST: u64 = 1 << 20;
/// What a shell says of what it may not execute.
const NOT_RUN: u8 = 126;

/// A call that a stub wrote down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StubCall {
    pub program: String,
    pub pid: u32,
    pub argv: Vec<String>,
    /// From the nearest upwards, also beyond the check; empty where the system does not tell.
    pub parents: Vec<ProcessRef>,
    /// In milliseconds after 1970.
    pub at_ms: u64,
    pub ran: bool,
}

/// Makes a folder with a stub for each program. Whoever may be the check's user can call them.
///
/// # Errors
///
/// What the system says.
pub fn make_stubs(folder: &Path, forbids: &[Forbid]) -> io::Result<()> {
    match fs::create_dir(folder) {
        Ok(()) => {}
        // Several jobs of one check share them.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        Err(error) => return Err(error),
    }
    let list: BTreeMap<&str, bool> = forbids.iter().map(|forbid| (forbid.program.as_str(), forbid.observe)).collect();
    fs::write(folder.join(LIST), serde_json::to_vec(&list)?)?;
    fs::write(folder.join(CALLS), "")?;
    let own = std::env::current_exe()?;
    for program in list.keys() {
        make_stub(folder, program, &own)?;
    }
    make_open(folder, &[LIST, CALLS])
}

/// Takes what the stubs of a folder wrote down.
///
/// # Errors
///
/// What became of it, if the check has done something to it.
pub fn take_calls(folder: &Path) -> io::Result<Vec<StubCall>> {
    let file = folder.join(CALLS);
    let mut text = String::new();
    open_regular(&file)?.take(MOST).read_to_string(&mut text)?;
    if !text.is_empty() {
        // What can't be emptied is told twice rather than not at all.
        let _ = OpenOptions::new().write(true).truncate(true).open(&file);
    }
    Ok(text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
}

/// If this process is a stub: does what a stub does, and gives its exit status.
#[must_use]
pub fn act() -> Option<u8> {
    let (file, arguments) = stub_of(std::env::args_os().collect())?;
    Some(call(&file, arguments).unwrap_or(NOT_RUN))
}

fn call(file: &Path, arguments: Vec<OsString>) -> io::Result<u8> {
    let folder = file.parent().unwrap_or(file);
    let program = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let list: BTreeMap<String, bool> = serde_json::from_slice(&fs::read(folder.join(LIST))?)?;
    // A name may have a dot in it.
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let program = if list.contains_key(&name) { name } else { program };
    let observed = list.get(&program).copied().unwrap_or_default();
    let words = arguments.iter().map(|word| word.to_string_lossy().into_owned());
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let call = StubCall {
        argv: [program.clone()].into_iter().chain(words).collect(),
        pid: std::process::id(),
        parents: own_parents(),
        at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
        ran: observed,
        program: program.clone(),
    };
    let line = serde_json::to_string(&call)? + "\n";
    // In one piece: others may write at the same time.
    OpenOptions::new().append(true).open(folder.join(CALLS))?.write_all(line.as_bytes())?;
    if observed {
        let real = behind(folder, &program).ok_or(ErrorKind::NotFound)?;
        return become_program(Command::new(real).args(arguments));
    }
    writeln!(io::stderr(), "hostproof: {program} is forbidden to this check, and was not run")?;
    Ok(NOT_RUN)
}

/// The program of that name that comes next in `PATH`.
fn behind(folder: &Path, program: &str) -> Option<PathBuf> {
    let path = crate::env::raw("PATH")?;
    let is_folder = |entry: &PathBuf| fs::canonicalize(entry).ok() == fs::canonicalize(folder).ok();
    let rest = std::env::join_paths(std::env::split_paths(&path).filter(|entry| !is_folder(entry))).ok()?;
    find_program(program.as_ref(), Some(&rest), &std::env::current_dir().unwrap_or_default())
}
