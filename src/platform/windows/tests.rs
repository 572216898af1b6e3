//! Processes that the tests of this folder look at: this test program again, with a word for what to do.

mod lane;

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};

use windows_sys::Win32::Storage::FileSystem::FILE_FLAG_BACKUP_SEMANTICS;
use windows_sys::Win32::System::Memory::{CreateFileMappingW, FILE_MAP_READ, MapViewOfFile, PAGE_READONLY};

use windows_sys::Win32::Foundation::WAIT_OBJECT_0;
use windows_sys::Win32::System::Threading::{
    INFINITE, PROCESS_SYNCHRONIZE, PROCESS_TERMINATE, TerminateProcess, WaitForSingleObject,
};

use crate::env;

/// Tells the child what to do, and with what.
const DO: &str = "HOSTPROOF_TEST_DO";
const WITH: &str = "HOSTPROOF_TEST_WITH";

/// A process that does something until it is dropped.
pub struct Child {
    pub pid: u32,
    /// What it said when it was ready.
    pub said: String,
    child: std::process::Child,
    stdin: Option<ChildStdin>,
}

impl Child {
    /// A child that holds something: `wait`, `open`, `open-folder`, `write`, `map` or `parent`, with what.
    pub fn that(word: &str, with: impl AsRef<OsStr>, change: impl FnOnce(&mut Command)) -> Self {
        Self::of(&std::env::current_exe().expect("this program"), word, with, change)
    }

    /// The same, of a copy of this program.
    pub fn of(program: &Path, word: &str, with: impl AsRef<OsStr>, change: impl FnOnce(&mut Command)) -> Self {
        let mut command = Command::new(program);
        command.args(["--exact", "platform::system::tests::child", "--nocapture"]);
        command.env(DO, word).env(WITH, with.as_ref());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        change(&mut command);
        let mut child = command.spawn().expect("a child");
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        let said = lines.map_while(Result::ok).find_map(|line| Some(line.split_once("ready")?.1.trim().to_owned()));
        let stdin = child.stdin.take();
        Self { pid: child.id(), said: said.expect("a child that gets ready"), child, stdin }
    }

    /// Waits for it to end by itself, while what it started goes on.
    pub fn end_first(&mut self) {
        self.child.wait().expect("its end");
    }

    /// Lets it end, and waits for that.
    pub fn end(&mut self) {
        drop(self.stdin.take());
        self.child.wait().expect("its end");
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.end();
    }
}

/// What the child does: nothing when the tests are run.
#[test]
fn child() {
    let Some(word) = env::text(DO) else { return };
    let with = env::raw(WITH).unwrap_or_default();
    let path = Path::new(&with);
    let mut open = std::fs::OpenOptions::new();
    let mut said = String::new();
    let _held = match word.as_str() {
        "open" => Some(open.read(true).open(path).expect("the file")),
        "open-folder" => Some(open.read(true).custom_flags(FILE_FLAG_BACKUP_SEMANTICS).open(path).expect("the folder")),
        "write" => Some(open.write(true).open(path).expect("the pipe")),
        "map" => {
            map(&std::fs::File::open(path).expect("the file"));
            None
        }
        // Starts another child, which outlives it, and ends.
        "parent" => {
            let child = Command::new(std::env::current_exe().expect("this program"))
                .args(["--exact", "platform::system::tests::child", "--nocapture"])
                .env(DO, "wait")
                .stdout(Stdio::null())
                .spawn()
                .expect("a grandchild");
            said = child.id().to_string();
            tell(&said);
            return;
        }
        _ => None,
    };
    tell(&said);
    // The end of its input is the end of it.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

/// Maps a file for the rest of this process's life.
fn map(file: &std::fs::File) {
    // SAFETY: the handle is open, and nothing is read of what is mapped.
    let view = unsafe {
        let section = CreateFileMappingW(file.as_raw_handle(), std::ptr::null(), PAGE_READONLY, 0, 0, std::ptr::null());
        MapViewOfFile(section, FILE_MAP_READ, 0, 0, 0)
    };
    assert!(!view.Value.is_null(), "{}", std::io::Error::last_os_error());
}

#[expect(clippy::print_stdout, reason = "the test that started this process reads it")]
fn tell(said: &str) {
    println!("ready {said}");
}

/// Ends a process of ours.
pub fn end(pid: u32) {
    let process = super::process::open(pid, PROCESS_TERMINATE | PROCESS_SYNCHRONIZE).expect("a process");
    // SAFETY: the handle is open.
    let ended = unsafe {
        TerminateProcess(process.as_raw_handle(), 1) != 0
            && WaitForSingleObject(process.as_raw_handle(), INFINITE) == WAIT_OBJECT_0
    };
    assert!(ended);
}
