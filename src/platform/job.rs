//! What a lane is given, and what it gives back.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::{FileGlob, Published, Touched, Unread};
#[cfg(not(target_os = "linux"))]
use crate::model::FORBIDDEN_COMMANDS;
use crate::model::{
    Exit, Fault, FaultSeen, Forbid, ForbiddenCall, Mark, Process, RefusedCall, Rules, SharedUse, Stream, WindowsRules,
};

/// A command to run under supervision.
#[derive(Debug, Clone)]
pub struct Job {
    /// The program's file, found already.
    pub program: PathBuf,
    /// With the program's name first.
    pub argv: Vec<OsString>,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    pub cwd: PathBuf,
    /// A regular file; empty input when `None`.
    pub stdin: Option<PathBuf>,
    pub timeout: Duration,
    pub grace: Duration,
    /// How much longer than the grace what is meant to outlive it may live. What is alive when the grace is over is looked
    /// at then, and again only at the end.
    pub afterlife: Duration,
    /// Folders whose holders are of interest; absolute, without symbolic links.
    pub roots: Vec<PathBuf>,
    /// An existing folder on a file system that can take output which is too large for memory.
    pub spill: PathBuf,
    /// Files that must appear by rename: each a folder, absolute, and a [`super::FileGlob`] below it.
    pub publishes: Vec<(PathBuf, String)>,
    /// Programs that may not be run.
    pub forbids: Option<Forbids>,
    /// Calls that are made to fail, or to take their time; with absolute paths.
    pub faults: Vec<Fault>,
    /// Places of which it is asked who writes there, in the same form; with what is below a folder that matches.
    pub watches: Vec<(PathBuf, String)>,
    /// Places in which what changes may be everybody's, in the same form, without what is below. If there are any, it is looked
    /// for all else that the job uses and others may use, too.
    pub shared: Vec<(PathBuf, String)>,
    /// By whose rules removals and renames are answered.
    pub rules: Rules,
    /// How those of Windows are kept.
    pub windows: WindowsRules,
    /// What is otherwise about its first process; see [`super::cannot_change`].
    pub change: Option<Change>,
}

/// Programs that a job may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forbids {
    pub programs: Vec<Forbid>,
    /// The folder of their stubs; see [`super::make_stubs`].
    pub stubs: PathBuf,
    /// Folders in which a program of such a name is another one.
    pub own: Vec<PathBuf>,
}

/// What of a job's first process, and of all that it starts, is not as usual.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Change {
    /// It belongs to the user nobody, who has [`super::give_to_nobody`]'s folder.
    Nobody,
    Umask(u32),
    /// Descriptor 0 is closed.
    ClosedInput,
    /// Its outputs are two terminals, the first of which controls its session; its input is another one, at its end, unless
    /// the job has an input.
    Terminal,
    /// It has one processor, with niceness 19.
    OneSlowCore,
    /// A folder, relative to the job's first root, is for it alone an empty file system in memory with so many bytes. If it is
    /// to be full, a file `.full` has them all.
    SmallFileSystem {
        folder: String,
        bytes: u64,
        full: bool,
    },
}

impl Job {
    /// A command that starts in a folder, which is of interest and takes what it writes; without input, environment, grace
    /// or published files, and by the system's own rules.
    #[must_use]
    pub fn new(program: PathBuf, argv: Vec<OsString>, folder: &Path, timeout: Duration) -> Self {
        Self {
            program,
            argv,
            env: Vec::new(),
            cwd: folder.to_owned(),
            stdin: None,
            timeout,
            grace: Duration::ZERO,
            afterlife: Duration::ZERO,
            roots: vec![folder.to_owned()],
            spill: folder.to_owned(),
            publishes: Vec::new(),
            forbids: None,
            faults: Vec::new(),
            watches: Vec::new(),
            shared: Vec::new(),
            rules: Rules::Native,
            windows: WindowsRules::default(),
            change: None,
        }
    }

    /// The globs of the watched places, and those of what is below a folder that matches one.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells of it"))]
    pub(super) fn watched(&self) -> impl Iterator<Item = (&PathBuf, FileGlob)> {
        self.watches.iter().flat_map(|(folder, glob)| {
            let globs = [glob.clone(), format!("{glob}/**/*")];
            globs.into_iter().filter_map(move |glob| Some((folder, FileGlob::new(&glob).ok()?)))
        })
    }

    /// The globs of the places that may be everybody's.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux tells of it"))]
    pub(super) fn commons(&self) -> impl Iterator<Item = (&PathBuf, FileGlob)> {
        self.shared.iter().filter_map(|(folder, glob)| Some((folder, FileGlob::new(glob).ok()?)))
    }

    /// When the limit is over of a job that started then and whose first process ended then, if it has, and what that
    /// ends: the time limit while the first process runs, then the grace and what is granted beyond it.
    pub(super) fn limit(&self, started: Instant, ended_at: Option<Instant>) -> (Instant, Ended) {
        match ended_at {
            Some(ended) => (ended + self.grace + self.afterlife, Ended::ByItself),
            None => (started + self.timeout, Ended::Timeout),
        }
    }

    /// When those that outlive the grace are to be looked at, of a job whose first process ended then; `None` if none may.
    pub(super) fn look_at_lasting(&self, ended_at: Option<Instant>) -> Option<Instant> {
        ended_at.map(|ended| ended + self.grace).filter(|_| !self.afterlife.is_zero())
    }
}

/// Takes in a second look at the processes that outlived a job's first one: what they hold counts when the grace is over,
/// not in the moment in which they are started. Those that came since are added.
pub(super) fn look_again<T>(late: &mut Vec<T>, now: Vec<T>, is_same: impl Fn(&T, &T) -> bool) {
    for seen in now {
        match late.iter_mut().find(|known| is_same(known, &seen)) {
            Some(known) => *known = seen,
            None => late.push(seen),
        }
    }
}

/// Why a job's first process did not start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartError {
    /// What was tried, as `run` or `enter`.
    pub action: String,
    /// The file that it was tried on.
    pub file: String,
    /// The system's error number.
    pub errno: i32,
}

impl StartError {
    /// The action of a [`Change`].
    pub const CHANGE: &str = "change the surroundings of";
}

/// A captured stream, whole.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Captured {
    /// How many bytes were written.
    pub bytes: u64,
    /// The bytes themselves, unless they are in `file`.
    #[serde(skip)]
    pub memory: Vec<u8>,
    /// The file that has them, without a name, if they are too many for memory.
    #[serde(skip)]
    pub file: Option<Arc<File>>,
    /// Whether there is such a file.
    pub spilled: bool,
    /// When what arrived. Thinned out for a stream that arrives in very many pieces.
    pub marks: Vec<Mark>,
    /// When the stream ended, in microseconds after the start; `None` if somebody still had it open.
    pub end_us: Option<u64>,
    /// Why bytes were lost, if they were (a full disk).
    pub lost: Option<String>,
}

/// A process that was alive when the job's first process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LateProcess {
    pub process: Process,
    /// How long after the first process it ended by itself, in microseconds; `None` if it had to be ended.
    pub ended_us: Option<u64>,
}

/// What ended a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ended {
    /// Its first process did.
    ByItself,
    /// Its time limit.
    Timeout,
    /// [`super::LaneHandle`] was told to cancel it.
    Cancelled,
}

/// Why not every call of a forbidden command is seen where nothing tells of executions.
#[cfg(not(target_os = "linux"))]
pub(super) fn unwatched_executions() -> String {
    format!("{FORBIDDEN_COMMANDS}: only Linux can watch what is executed; only calls that look for the name are seen")
}

/// What was seen of a job.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outcome {
    /// Set when nothing was started; the rest is then empty.
    pub not_started: Option<StartError>,
    pub ended: Ended,
    /// How the first process ended; `None` if it had to be ended.
    pub exit: Option<Exit>,
    /// From the start to the end of the first process, in microseconds.
    pub duration_us: u64,
    /// The processes that were alive when the first one ended.
    pub late: Vec<LateProcess>,
    /// The processes that were alive after the grace, or at the time limit, as they were just before they were ended.
    pub alive: Vec<Process>,
    /// How many more had to be ended than could be named: they came and went faster than they could be read.
    pub unnamed: u64,
    /// What could not be ended.
    pub survivors: Vec<Process>,
    /// Processes outside the job's tree that have its stdout or stderr open.
    pub outside: Vec<Process>,
    /// Processes, of the tree or not, that held something of the sandbox when it was removed, with what.
    pub removed: Vec<Process>,
    /// Calls that were refused, as Windows would have refused them.
    pub refused: Vec<RefusedCall>,
    /// Calls of programs that may not be run.
    pub forbidden: Vec<ForbiddenCall>,
    /// What came of the job's faults, in their order.
    pub faults: Vec<FaultSeen>,
    /// Why none of them could be made.
    pub faultless: Option<String>,
    /// Files that did not appear by rename, though they are to, and those of which that is not known.
    pub published: Vec<Published>,
    /// What happened to files in the watched places, as far as the system tells; nothing where it does not.
    pub touched: Vec<Touched>,
    /// What it used that others may use, too, if that was asked for.
    pub shared: SharedUse,
    /// Processes outside the tree that could not be looked into when something was removed.
    pub unread: Vec<Unread>,
    /// Whether it is known that nothing in the first root was made, removed, moved or given other permissions.
    pub untouched: bool,
    /// The start in milliseconds after the machine's: what the start times of [`super::Look`] are compared with.
    pub started_boot_ms: u64,
    pub stdout: Captured,
    pub stderr: Captured,
    /// Probes that could not look, each with why.
    pub blind: Vec<String>,
    /// What else is to be said of it, in sentences.
    pub notes: Vec<String>,
}

impl Outcome {
    /// Of a job whose first process did not start.
    #[must_use]
    pub fn of_nothing(error: StartError) -> Self {
        Self { not_started: Some(error), ..Self::unseen() }
    }

    /// Of a job of which nothing was seen.
    #[must_use]
    pub(super) fn unseen() -> Self {
        Self {
            not_started: None,
            ended: Ended::ByItself,
            exit: None,
            duration_us: 0,
            late: Vec::new(),
            alive: Vec::new(),
            unnamed: 0,
            survivors: Vec::new(),
            outside: Vec::new(),
            removed: Vec::new(),
            refused: Vec::new(),
            forbidden: Vec::new(),
            faults: Vec::new(),
            faultless: None,
            published: Vec::new(),
            touched: Vec::new(),
            shared: SharedUse::default(),
            unread: Vec::new(),
            untouched: false,
            started_boot_ms: 0,
            stdout: Captured::default(),
            stderr: Captured::default(),
            blind: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// The captured stream of that name.
    #[must_use]
    pub fn captured(&self, stream: Stream) -> &Captured {
        match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        }
    }
}

/// Why a lane gave no outcome.
#[derive(Debug, thiserror::Error)]
pub enum LaneError {
    /// Its supervisor ended before the job did. `alive` are the processes of the job that were found and ended.
    #[error("the check's supervisor was ended from outside ({how})")]
    Died { how: String, alive: Vec<Process> },
    /// Its supervisor did not answer in time, and was ended.
    #[error("the check's supervisor did not answer, and was ended")]
    Silent { alive: Vec<Process> },
}

impl LaneError {
    /// The processes of the job that were found alive, and ended.
    #[must_use]
    pub fn alive(&self) -> &[Process] {
        match self {
            Self::Died { alive, .. } | Self::Silent { alive } => alive,
        }
    }
}
