//! Lanes, with jobs that are this test program again.

use std::ffi::OsString;
use std::io::{Read, Write};
use std::os::windows::io::AsRawHandle;
use std::os::windows::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use windows_sys::Win32::Foundation::{HANDLE_FLAG_INHERIT, STATUS_ACCESS_VIOLATION, SetHandleInformation};
use windows_sys::Win32::System::Threading::{CREATE_BREAKAWAY_FROM_JOB, CREATE_NEW_PROCESS_GROUP, DETACHED_PROCESS};

use super::super::super::{Ended, Job, Lane, Outcome};
use super::super::start_lane;
use super::super::{lane_folder, process};
use crate::env;
use crate::model::{Exit, How, Rules, Stream, WindowsRules};

/// Tells a job's program what to do.
const ACT: &str = "HOSTPROOF_TEST_ACT";
/// What the `tree` makes in its folder once it stands.
const UNDER_WAY: &str = "under-way";
/// How much output the longest job makes: more than memory, and more than a pipe.
const LARGE: usize = 8 << 20;

/// A job of this program, in the lane's folder.
fn job(lane: &dyn Lane, act: &str) -> Job {
    let program = std::env::current_exe().expect("this program");
    let mut env: Vec<(OsString, OsString)> = env::all().collect();
    env.push((ACT.into(), act.into()));
    Job {
        argv: ["actor", "--exact", "platform::system::tests::lane::actor", "--nocapture"].map(OsString::from).into(),
        program,
        env,
        cwd: lane.folder().to_owned(),
        stdin: None,
        timeout: Duration::from_secs(50),
        grace: Duration::from_secs(50),
        afterlife: Duration::ZERO,
        roots: vec![lane.folder().to_owned()],
        spill: env::temp(),
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

fn run(change: impl FnOnce(&mut Job), act: &str) -> Outcome {
    let mut lane = start_lane().expect("a lane");
    let mut job = job(&*lane, act);
    change(&mut job);
    let outcome = lane.run(&job).expect("an outcome");
    assert_eq!(outcome.not_started, None);
    outcome
}

fn text(outcome: &Outcome, stream: Stream) -> String {
    let captured = outcome.captured(stream);
    let mut text = Vec::new();
    match &captured.file {
        Some(file) => {
            use std::io::Seek;
            let mut file = &**file;
            file.rewind().and_then(|()| file.read_to_end(&mut text)).expect("the file");
        }
        None => text.clone_from(&captured.memory),
    }
    String::from_utf8(text).expect("text")
}

#[test]
fn input_arguments_output_and_status_are_passed_on() {
    let words = ["a b", "", r"trailing\", r#"q"uo\"te"#, "% ^ & | < >", "\u{e9}\u{2192}\u{1f600}", "a\tb"];
    let mut lane = start_lane().expect("a lane");
    let input = lane.folder().join("input");
    std::fs::write(&input, "line\n".repeat(50_000)).expect("a file");
    let mut job = job(&*lane, "answer");
    job.argv.extend(words.map(OsString::from));
    job.stdin = Some(input);
    let outcome = lane.run(&job).expect("an outcome");
    let out = text(&outcome, Stream::Stdout);
    for word in words {
        assert!(out.contains(&format!("{word:?}\n")), "{word:?} in {out}");
    }
    assert!(out.contains("250000 bytes, cwd is the lane's: true"), "{out}");
    assert!(text(&outcome, Stream::Stderr).contains("to stderr"));
    assert_eq!((outcome.ended, outcome.exit), (Ended::ByItself, Some(Exit::Code(7))));
    assert_eq!((outcome.late, outcome.alive, outcome.unnamed, outcome.notes), (vec![], vec![], 0, vec![]));
    assert!(outcome.stdout.end_us.is_some() && outcome.stderr.end_us.is_some());
    // The lane is good for another one, without any input.
    job.stdin = None;
    let outcome = lane.run(&job).expect("an outcome");
    assert!(text(&outcome, Stream::Stdout).contains("0 bytes"));
    let folder = lane.folder().to_owned();
    drop(lane);
    assert!(!folder.exists(), "a lane's folder goes with it");
}

#[test]
fn output_that_is_too_large_for_memory_is_whole_in_a_file() {
    let outcome = run(|_| {}, "much");
    let captured = outcome.captured(Stream::Stdout);
    assert!(captured.file.is_some() && captured.memory.is_empty() && captured.lost.is_none());
    let out = text(&outcome, Stream::Stdout);
    assert_eq!(out.len() as u64, captured.bytes);
    assert_eq!(out.matches('x').count(), LARGE);
}

#[test]
fn a_code_of_the_system_is_kept_bit_by_bit() {
    assert_eq!(run(|_| {}, "crash").exit, Some(Exit::Code(STATUS_ACCESS_VIOLATION)));
}

#[test]
fn a_detached_process_is_read_and_ended_after_the_grace() {
    let outcome = run(|job| job.grace = Duration::from_millis(50), "leak");
    assert_eq!((outcome.ended, outcome.exit), (Ended::ByItself, Some(Exit::Code(0))));
    let [leaked] = &outcome.alive[..] else { panic!("one process: {:?}", outcome.alive) };
    assert!(leaked.argv.iter().any(|word| word.ends_with("actor")), "{leaked:?}");
    assert!(leaked.holds.iter().any(|hold| hold.how == How::Cwd), "{leaked:?}");
    assert_eq!(leaked.pipes, []);
    // Its parent is gone, and known all the same.
    assert!(leaked.parents.first().is_some_and(|parent| parent.argv.first().is_some_and(|word| word == "actor")));
    assert!(leaked.started_ms.is_some_and(|ms| (0..60_000).contains(&ms)), "{leaked:?}");
    let [late] = &outcome.late[..] else { panic!("one process: {:?}", outcome.late) };
    assert_eq!((late.process.pid, late.ended_us), (leaked.pid, None));
    assert_eq!((outcome.unnamed, outcome.survivors.len()), (0, 0));
    assert_eq!(process::read(leaked.pid, &[]), None, "it is gone");
    assert!(outcome.stdout.end_us.is_some(), "its output was not held");
}

#[test]
fn whoever_keeps_the_output_open_is_told() {
    let outcome = run(|job| job.grace = Duration::from_millis(50), "hold");
    let [leaked] = &outcome.alive[..] else { panic!("one process: {:?}", outcome.alive) };
    assert_eq!(leaked.pipes, [Stream::Stdout]);
    assert_eq!(outcome.stdout.end_us, None);
    assert!(outcome.stderr.end_us.is_some());
}

#[test]
fn what_ends_within_the_grace_is_late_and_no_leak() {
    let outcome = run(|_| {}, "late");
    assert_eq!((outcome.ended, outcome.alive.len(), outcome.unnamed), (Ended::ByItself, 0, 0));
    let [late] = &outcome.late[..] else { panic!("one process: {:?}", outcome.late) };
    assert!(late.ended_us.is_some_and(|us| us < 50_000_000), "{late:?}");
}

#[test]
fn the_time_limit_ends_the_whole_tree() {
    let outcome = run(|job| job.timeout = Duration::from_secs(3), "tree");
    assert_eq!((outcome.ended, outcome.exit), (Ended::Timeout, None));
    assert!(outcome.alive.len() >= 2, "{:?}", outcome.alive);
    for process in &outcome.alive {
        assert_eq!(process::read(process.pid, &[]), None);
    }
}

#[test]
fn a_cancelled_lane_ends_its_job_and_starts_no_other() {
    let mut lane = start_lane().expect("a lane");
    let job = job(&*lane, "tree");
    let handle = lane.handle();
    let under_way = lane.folder().join(UNDER_WAY);
    let began = Instant::now();
    let cancel = std::thread::spawn(move || {
        while !under_way.exists() && began.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(5));
        }
        handle.cancel();
    });
    assert_eq!(lane.run(&job).expect("an outcome").ended, Ended::Cancelled);
    cancel.join().expect("cancelled");
    assert_eq!(lane.run(&job).expect("an outcome").ended, Ended::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(40));
}

#[test]
fn a_process_that_asks_to_leave_its_job_stays_and_is_told() {
    let outcome = run(|_| {}, "break-away");
    assert!(text(&outcome, Stream::Stdout).contains("started"), "{}", text(&outcome, Stream::Stdout));
    assert!(outcome.notes.iter().any(|note| note.contains("break away")), "{:?}", outcome.notes);
    // One that outlives its check is a leak like any other.
    let outcome = run(|job| job.grace = Duration::from_millis(50), "break-away-and-stay");
    let [leaked] = &outcome.alive[..] else { panic!("one process: {:?}", outcome.alive) };
    assert_eq!(process::read(leaked.pid, &[]), None, "it is gone");
}

#[test]
fn what_cannot_be_started_says_why() {
    let mut lane = start_lane().expect("a lane");
    let mut not_started = |change: &dyn Fn(&mut Job)| {
        let mut job = job(&*lane, "answer");
        change(&mut job);
        lane.run(&job).expect("an outcome").not_started.expect("a reason")
    };
    let missing = not_started(&|job| job.program = PathBuf::from(r"C:\nowhere\x.exe"));
    assert_eq!(missing.action, "run");
    let nowhere = not_started(&|job| job.cwd = PathBuf::from(r"C:\nowhere"));
    assert_eq!((nowhere.action.as_str(), nowhere.file.as_str()), ("enter", r"C:\nowhere"));
    let no_input = not_started(&|job| job.stdin = Some(PathBuf::from(r"C:\nowhere\in")));
    assert_eq!(no_input.action, "read");
    let batch = not_started(&|job| {
        job.program = PathBuf::from(r"C:\x.bat");
        job.argv = vec!["x".into(), "50%".into()];
    });
    assert_eq!(batch.action, "pass a percent sign to");
}

#[test]
fn batch_files_get_their_words() {
    let mut lane = start_lane().expect("a lane");
    let script = lane.folder().join("a script.cmd");
    std::fs::write(&script, "@echo \"%~1\" \"%~2\" \"%~3\"\r\n@exit /b 3\r\n").expect("a script");
    let mut job = job(&*lane, "");
    job.program = script;
    job.argv = ["x", "a & b", "c d", r"e\"].map(OsString::from).into();
    let outcome = lane.run(&job).expect("an outcome");
    let out = text(&outcome, Stream::Stdout);
    assert!(out.starts_with(r#""a & b" "c d" "e\\""#), "{out} {}", text(&outcome, Stream::Stderr));
    assert_eq!(outcome.exit, Some(Exit::Code(3)));
}

#[test]
fn a_lanes_folder_is_its_users_and_only_one_without_owner_is_swept() {
    let lane = start_lane().expect("a lane");
    let folder = lane.folder().to_owned();
    let base = folder.parent().expect("a folder above");
    let lost = base.join(format!("hp-{}", &super::super::pipes::unforeseeable()[..8]));
    lane_folder::make(&lost).expect("a folder");
    std::fs::write(lost.join("lock"), "").expect("a lock");
    let kept = base.join(format!("hp-{}", &super::super::pipes::unforeseeable()[..8]));
    lane_folder::make(&kept).expect("a folder");
    drop(start_lane().expect("another lane"));
    assert!(folder.exists(), "one that is in use stays");
    assert!(kept.exists(), "one that was kept stays");
    assert!(!lost.exists(), "one whose owner is gone goes");
    std::fs::remove_dir(kept).expect("removed");
}

#[test]
fn a_kept_folder_stays() {
    let lane = start_lane().expect("a lane");
    let folder = lane.folder().to_owned();
    lane.handle().keep_folder();
    drop(lane);
    assert!(folder.exists());
    std::fs::remove_dir_all(folder).expect("removed");
}

/// Keeps a stream from the processes that this one starts: they inherit it whether it is theirs or not.
fn keep(stream: &impl AsRawHandle) {
    // SAFETY: the handle is open.
    assert_ne!(unsafe { SetHandleInformation(stream.as_raw_handle(), HANDLE_FLAG_INHERIT, 0) }, 0);
}

/// Another actor, which does not wait for anybody.
fn another(act: &str, out: Stdio, flags: u32) -> std::process::Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "platform::system::tests::lane::actor", "--nocapture"])
        .env(ACT, act)
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(Stdio::null())
        .creation_flags(flags)
        .spawn()
        .expect("another actor")
}

/// What a job does: nothing when the tests are run.
#[test]
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a test reads it")]
#[expect(clippy::exit, reason = "a test reads the status")]
#[expect(clippy::zombie_processes, reason = "a test is about who outlives this process")]
fn actor() {
    let Some(act) = env::text(ACT) else { return };
    let detached = DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP;
    match act.as_str() {
        "answer" => {
            for word in std::env::args_os() {
                println!("{word:?}");
            }
            let mut input = Vec::new();
            std::io::stdin().read_to_end(&mut input).expect("the input");
            let cwd = std::env::current_dir().expect("a folder");
            let is_lanes = cwd.file_name().is_some_and(|name| name.to_string_lossy().starts_with("hp-"));
            println!("{} bytes, cwd is the lane's: {is_lanes}", input.len());
            eprintln!("to stderr");
            std::process::exit(7);
        }
        "much" => {
            let mut out = std::io::stdout().lock();
            for _ in 0..LARGE / 4096 {
                out.write_all(&[b'x'; 4096]).expect("written");
            }
        }
        "crash" => std::process::exit(STATUS_ACCESS_VIOLATION),
        "leak" => {
            keep(&std::io::stdout());
            keep(&std::io::stderr());
            drop(another("sleep", Stdio::null(), detached));
        }
        "hold" => {
            keep(&std::io::stderr());
            drop(another("sleep", Stdio::null(), detached));
        }
        "late" => drop(another("nap", Stdio::null(), detached)),
        "tree" => {
            drop(another("sleep", Stdio::null(), 0));
            std::fs::write(UNDER_WAY, "").expect("a file in the lane's folder");
            std::thread::sleep(Duration::from_secs(50));
        }
        "break-away" => {
            let mut child = another("nap", Stdio::null(), CREATE_BREAKAWAY_FROM_JOB);
            println!("started");
            child.wait().expect("its end");
        }
        "break-away-and-stay" => drop(another("sleep", Stdio::null(), CREATE_BREAKAWAY_FROM_JOB | detached)),
        "nap" => std::thread::sleep(Duration::from_millis(500)),
        "sleep" => std::thread::sleep(Duration::from_secs(50)),
        other => panic!("nobody knows how to {other}"),
    }
}
