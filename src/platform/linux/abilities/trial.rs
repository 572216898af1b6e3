//! A job that does what checks do wrong, under a supervisor, by Windows' rules.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::super::super::{Ended, Job, Lane, LaneError, Outcome, StartError};
use crate::model::{Ability, How, REMOVALS, Rules, WINDOWS_RULES, WindowsRules};
use crate::platform::unix::lane;

/// The word that makes this program the job.
pub const ACT: &str = "__act";
/// The word that makes it the process that the job leaves behind.
pub const STAY: &str = "__stay";

/// What the job leaves open and removes, and the directory that it sits in.
const FILE: &str = "file";
const DIRECTORY: &str = "directory";

/// How long the job may take, on any machine.
const LIMIT: Duration = Duration::from_secs(20);

/// What the job's own system calls said: an error's number, or `None` where there was none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Said {
    /// To the removal of the directory that it sits in.
    rmdir: Option<i32>,
    /// To the making of a ring for `io_uring`, with nothing to say how: `EFAULT` where there is any.
    io_uring: Option<i32>,
}

/// Runs the job.
pub fn abilities() -> Vec<Ability> {
    let supervised = "a supervisor";
    let no = |why: String| vec![Ability::no(supervised, why).essential()];
    let mut lane = match lane::prepare().and_then(|()| lane::start_lane()) {
        Ok(lane) => lane,
        Err(error) => return no(error.to_string()),
    };
    match run(&mut *lane) {
        Ok(outcome) => {
            if let Some(StartError { action, file, errno }) = &outcome.not_started {
                return no(format!("cannot {action} {file}: {}", io::Error::from_raw_os_error(*errno)));
            }
            let said = serde_json::from_slice(&outcome.stdout.memory).ok();
            let works = Ability::yes(supervised, "it ran a trial job, and has ended all of it").essential();
            let mut abilities = vec![works, tree(&outcome), removals(&outcome), rules(&outcome, said)];
            abilities.extend(said.map(io_uring));
            abilities
        }
        Err(error) => no(error.to_string()),
    }
}

fn run(lane: &mut dyn Lane) -> Result<Outcome, LaneError> {
    let folder = lane.folder().join("trial");
    // If it is not there the job can't be started, which is told.
    let _ = fs::create_dir(&folder);
    let job = Job {
        program: "/proc/self/exe".into(),
        argv: vec!["hostproof".into(), ACT.into()],
        env: Vec::new(),
        cwd: folder.clone(),
        stdin: None,
        timeout: LIMIT,
        grace: Duration::ZERO,
        spill: lane.folder().to_owned(),
        roots: vec![folder],
        publishes: Vec::new(),
        rules: Rules::Windows,
        windows: WindowsRules::default(),
    };
    lane.run(&job)
}

fn tree(outcome: &Outcome) -> Ability {
    let name = "process tree";
    let all = |how: &str| format!("a process that left its parent and its session {how}");
    if outcome.ended != Ended::ByItself || outcome.alive.is_empty() {
        return Ability::no(name, all("was not found")).essential();
    }
    if !Path::new("/proc/thread-self/children").exists() {
        return Ability::partly(name, all("was found, by a look at every process: /proc has no children files"))
            .essential();
    }
    Ability::yes(name, all("was found, with what it held, and ended")).essential()
}

fn removals(outcome: &Outcome) -> Ability {
    let blind = |name: &str| {
        let whys = outcome.blind.iter().filter_map(|why| why.strip_prefix(name)?.strip_prefix(": "));
        whys.map(str::to_owned).next()
    };
    let limit = |name: &str| {
        fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).map_or("?".to_owned(), |text| text.trim().to_owned())
    };
    let limits =
        || format!("{} instances and {} watches for each user", limit("max_user_instances"), limit("max_user_watches"));
    let seen = outcome.removed.iter().flat_map(|process| &process.holds).any(|hold| hold.how == How::Descriptor);
    match blind(REMOVALS) {
        Some(why) => Ability::no(REMOVALS, format!("{why} ({})", limits())),
        None if seen => Ability::yes(REMOVALS, format!("inotify told of one, and its holder was found ({})", limits())),
        None => Ability::no(REMOVALS, "inotify works, and the holder of a removed file was not found".to_owned()),
    }
}

fn rules(outcome: &Outcome, said: Option<Said>) -> Ability {
    let refused = said.is_some_and(|said| said.rmdir == Some(libc::EBUSY)) && !outcome.refused.is_empty();
    let why = outcome.blind.iter().find_map(|why| why.strip_prefix(WINDOWS_RULES)?.strip_prefix(": "));
    match why {
        Some(why) => Ability::no(WINDOWS_RULES, why),
        None if refused => Ability::yes(
            WINDOWS_RULES,
            "the removal of a current directory was refused with the error that Windows gives",
        ),
        None => Ability::no(WINDOWS_RULES, "not enforced: the removal of a current directory was not refused"),
    }
}

fn io_uring(said: Said) -> Ability {
    let name = "calls by io_uring";
    match said.io_uring {
        Some(libc::ENOSYS) => {
            Ability::yes(name, "by Windows' rules programs are told that there is none, and do without")
        }
        Some(libc::EPERM) => Ability::yes(name, "forbidden to everybody here"),
        _ => Ability::partly(name, "by Windows' rules they pass unseen, as the rules are not enforced"),
    }
}

/// The job: in its own folder it leaves a process behind that holds a file, removes that file, and tries to remove the
/// directory that it sits in.
pub fn act() -> io::Result<()> {
    let file = File::create(FILE)?;
    fs::create_dir(DIRECTORY)?;
    // It has the file as its standard input, nothing else of the job's, and a session of its own.
    let mut stays = Command::new("/proc/self/exe");
    stays.arg0("hostproof").arg(STAY).stdin(file).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut stays = stays.spawn()?;
    // It says something when it is there, and its exit is not waited for.
    let mut there = stays.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
    io::Read::read_exact(&mut there, &mut [0])?;
    fs::remove_file(FILE)?;
    std::env::set_current_dir(DIRECTORY)?;
    let errno = |error: io::Error| error.raw_os_error();
    let rmdir = fs::remove_dir(Path::new("..").join(DIRECTORY)).err().and_then(errno);
    // SAFETY: there is nothing at the address that is given, so that no ring can come of it.
    let ring = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, std::ptr::null::<u8>()) };
    let io_uring = if ring < 0 { errno(io::Error::last_os_error()) } else { None };
    serde_json::to_writer(io::stdout(), &Said { rmdir, io_uring })?;
    Ok(())
}

/// What the job leaves behind: it holds what it has until it is ended.
pub fn stay() -> io::Result<()> {
    rustix::process::setsid()?;
    io::stdout().write_all(b".")?;
    io::stdout().flush()?;
    let mut nothing = [];
    // The supervisor ends it. Should there be none, it ends by itself.
    let limit = rustix::event::Timespec { tv_sec: LIMIT.as_secs().cast_signed(), tv_nsec: 0 };
    rustix::event::poll(&mut nothing, Some(&limit))?;
    Ok(())
}
