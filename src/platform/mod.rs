//! The contract between hostproof and the system it runs on.
//!
//! The parts above know no `cfg`, and ask for these: a [`Lane`] that runs a job and owns its whole process tree
//! ([`prepare`], [`start_lane`], and [`serve`] for its other end), a [`Watcher`] that looks at every process of the
//! machine ([`end_stranger`], [`wait_for_an_end`], [`since_start`]), [`remove_tree`], [`host_facts`], [`abilities`],
//! [`on_interrupt`], [`machine`] and [`started`] (which process it is that left something behind), [`set_apart`],
//! [`cannot_change`] and [`give_to_nobody`] for jobs in other surroundings, and a few words about files, programs and
//! users. All `unsafe` and all system-dependent code stands below this module.
//!
//! | | Linux | macOS | Windows |
//! | --- | --- | --- | --- |
//! | tree | a single-threaded supervisor per lane, child subreaper | the same supervisor; descent by unique numbers, session, mark | two nested job objects per job: nothing leaves the outer one, who asks to leave its job leaves the inner one and is told |
//! | events | signals, the pipes' ends, inotify, seccomp | a kernel queue on each process | one completion port per lane: the job's messages, confirmed by its list of processes, and the pipes |
//! | holders | /proc | libproc | the table of open handles, each process's own memory, mapped files |
//! | streams | pipes, told by their inode | pipes, told by their numbers | named pipes, told by names that nobody can foresee; input comes through one, too |
//! | the terminal | a session of its own | a session of its own | a console of its own, without a window |
//! | ends with the harness | the supervisor sees its socket close | the same | the job objects end with their only handles; one janitor process sees its pipe end and removes the folders |
//!
//! macOS is type-checked on Debian and tested on the runner; what it can't see is told in its module, `macos`.

#![expect(unsafe_code, reason = "this is the one part that may talk to the system directly")]

mod case;
#[cfg(not(target_os = "linux"))]
mod changes;
mod file_glob;
mod gardener;
mod interrupts;
mod job;
mod path_pattern;
mod places;
mod planting;
mod published;
#[cfg(not(target_os = "linux"))]
mod reads;
mod session;
mod shebang;
mod store;
mod stub;
mod temporary;

#[cfg(target_os = "linux")]
#[path = "linux/mod.rs"]
mod system;

#[cfg(windows)]
#[path = "windows/mod.rs"]
mod system;

#[cfg(target_os = "macos")]
#[path = "macos/mod.rs"]
mod system;

/// What of Windows' side asks the system for nothing is tested everywhere.
#[cfg(all(test, not(windows)))]
mod windows {
    mod command_line;
    mod paths;
    mod quote;
}

#[cfg(unix)]
mod unix;

#[cfg(unix)]
use unix as files;

#[cfg(windows)]
use system as files;

use std::ffi::OsStr;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

pub use file_glob::{FileGlob, Progress};
pub use files::{
    HAS_CODE_PAGES, Place, cannot_plant, copy_link, exit_at_once, expect_children, find_program, interrupt,
    is_executable, is_marked_executable, is_open_to_others, is_own, is_plain_folder, link_folder, list_tree,
    make_executable, make_folder, new_file, of_code_page, on_interrupt, open_regular, passed_over, path_of, real_path,
    remove_tree, run_through, set_apart, user, user_and_group,
};
pub use gardener::Garden;
pub use interrupts::interrupts;
pub use job::{Captured, Change, Ended, Forbids, Job, LaneError, LateProcess, Outcome, StartError};
pub use path_pattern::{PathPattern, as_glob};
pub use places::{LANE, sandbox_base, state_folder};
pub use planting::Seed;
pub use published::{Published, Step, Story, Torn, Touched};
pub use shebang::shebang;
pub use stub::{StubCall, act as act_as_stub, make_stubs, take_calls};
pub use system::{
    LaneHandle, Reads, Watcher, abilities, cannot_change, end_stranger, give_to_nobody, go_first, host_facts, machine,
    prepare, since_start, start_lane, started, stay_on, wait_for_an_end,
};

use crate::model::{Judge, Platform};

/// What a pid file of no process has in it: neither Linux nor macOS numbers that high, and Windows' numbers are multiples of 4.
const NO_PROCESS: &str = "2147483647\n";

/// Whether it is seen here what a job uses that others may use, too ([`Job::shared`]).
pub const SEES_SHARED: bool = cfg!(target_os = "linux");

/// Whether `Path` and `PATH` are two variables.
pub const VARIABLES_HAVE_CASE: bool = cfg!(not(windows));

/// One supervisor and the folder that it answers for. Runs one job at a time.
///
/// Dropping a lane, and the last of its handles, ends its supervisor, which first removes the lane's folder unless it
/// was told to keep it.
pub trait Lane: Send {
    /// The lane's own folder, mode 0700, with a short path. It is removed with the lane, whatever ends the lane.
    fn folder(&self) -> &Path;

    /// Runs a job to its end: its first process ended, its grace over or its tree empty, and nothing of it alive.
    ///
    /// # Errors
    ///
    /// [`LaneError`] if the supervisor died or did not answer. Everything of the job was ended all the same; the lane
    /// can't be used again.
    fn run(&mut self, job: &Job) -> Result<Outcome, LaneError>;

    /// What other threads need of the lane. The lane's supervisor and folder stay as long as any handle does.
    fn handle(&self) -> LaneHandle;
}

/// What cannot be removed, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unremovable {
    pub path: std::path::PathBuf,
    /// The system's reason, in words.
    pub reason: String,
}

/// What came of removing a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removal {
    /// What could not be removed; of many, the first few.
    pub left: Vec<Unremovable>,
    /// What somebody had open for a moment, and how long everything of that kind had to be waited for.
    pub waited: Option<(std::path::PathBuf, std::time::Duration)>,
}

/// What a folder has in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// Relative to the folder, with whether it is a folder itself.
    pub entries: Vec<(std::path::PathBuf, bool)>,
    /// Why not all of it is here.
    pub blind: Option<String>,
}

/// A process outside the trees of the checks that has to do with one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stranger {
    /// With what it holds. Its start time is in milliseconds after the machine's start.
    pub process: crate::model::Process,
    /// The sandbox whose mark it carries in its environment: it was started for that check, by whatever way.
    pub marked: Option<std::path::PathBuf>,
}

/// A process that may not be looked into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unread {
    pub pid: u32,
    /// Its effective user.
    pub uid: u32,
    pub argv: Vec<String>,
    /// Whether it may do what this process may not. Such a one is the system's own: no check has started it.
    pub privileged: bool,
}

/// What a look at every process of the machine showed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Look {
    pub strangers: Vec<Stranger>,
    /// Without privileged ones if the look is for a run: with them no look of an ordinary user would ever be whole.
    pub unread: Vec<Unread>,
    /// What is mounted in the folders in this process's own view; empty if the look is for a run, where it shows when the
    /// folder is removed.
    pub mounts: Vec<std::path::PathBuf>,
    /// What could not be looked at at all, and why.
    pub blind: Vec<String>,
}

/// What runs a file that the system does not run by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Through {
    /// The interpreter's file.
    pub file: std::path::PathBuf,
    /// Its name and its options: what stands before the script's own name.
    pub words: Vec<String>,
}

/// Does what a word in the place of a subcommand asks for; `None` if it is none of these words. `judge` says what Windows
/// makes of a removal or a rename.
#[must_use]
pub fn serve(word: &OsStr, judge: Judge) -> Option<io::Result<()>> {
    system::serve(word, judge).or_else(|| gardener::serve(word))
}

/// The system this program was built for.
#[must_use]
pub fn current() -> Platform {
    if cfg!(windows) {
        Platform::Windows
    } else if cfg!(target_os = "macos") {
        Platform::Macos
    } else {
        Platform::Linux
    }
}
