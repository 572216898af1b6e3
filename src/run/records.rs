//! Reports of checks in which little or nothing could be seen, and the small parts of all.

use std::io;
use std::path::Path;

use super::output;
use crate::model::{
    Cases, Check, CheckReport, Exit, Finding, Kind, Output, ProcessTimes, Severity, SharedUse, Verdict,
};
use crate::platform::{Ended, LaneError, Outcome, StartError};
use crate::probes::Places;
use crate::words::signal;

/// A report that says nothing but the verdict and why.
#[must_use]
pub fn empty(check: &Check, verdict: Verdict, reason: Option<String>) -> CheckReport {
    CheckReport {
        id: check.id.clone(),
        variant: check.variant.clone(),
        title: check.title.clone(),
        origin: check.origin.as_ref().map(|origin| format!("{}:{}", origin.file, origin.line)),
        verdict,
        reason,
        argv: Vec::new(),
        cwd: None,
        home: Some(check.home),
        exit: None,
        started: None,
        duration_ms: 0,
        stdout_end_ms: None,
        reader: None,
        cases: Cases::default(),
        frames: Vec::new(),
        findings: Vec::new(),
        processes: Vec::new(),
        stdout: Output::default(),
        stderr: Output::default(),
        kept: None,
        notes: Vec::new(),
        hook: None,
        runs: None,
        shared: SharedUse::default(),
    }
}

/// A check that was not started.
#[must_use]
pub fn not_run(check: &Check, verdict: Verdict, why: String) -> CheckReport {
    let mut report = empty(check, verdict, Some(why));
    if let Some(crate::model::CaseCount::Exactly(planned)) = check.expect.cases {
        report.cases.planned = Some(planned);
    }
    report
}

/// A red check whose report was put aside, and can't be read back.
#[must_use]
pub fn lost_again(check: &Check, error: &io::Error) -> CheckReport {
    not_run(check, Verdict::Broken, format!("it is red, and its report can't be read back: {error}"))
}

/// A check whose supervisor was lost: it is broken, and what was alive is told.
#[must_use]
pub fn lost(check: &Check, argv: Vec<String>, error: &LaneError) -> CheckReport {
    let mut report = not_run(check, Verdict::Broken, error.to_string());
    report.argv = argv;
    report.findings = error
        .alive()
        .iter()
        .map(|process| {
            let message = format!("{} was alive when it was gone", process.short());
            let mut finding = Finding::new(Kind::LeakedProcess, Severity::Error, message);
            finding.process = Some(process.clone());
            finding
        })
        .collect();
    report
}

/// The processes that were alive at the check's end, and when each ended.
#[must_use]
pub fn processes(outcome: &Outcome) -> Vec<ProcessTimes> {
    let mut processes: Vec<ProcessTimes> = outcome
        .late
        .iter()
        .map(|late| ProcessTimes { process: late.process.clone(), ended_ms: late.ended_us.map(|us| us / 1000) })
        .collect();
    for process in &outcome.alive {
        if !processes.iter().any(|known| known.process.pid == process.pid) {
            processes.push(ProcessTimes { process: process.clone(), ended_ms: None });
        }
    }
    processes
}

/// Why a program did not start, with the reasons that the system's own words hide.
#[must_use]
pub fn start_error(error: &StartError) -> String {
    let said = std::io::Error::from_raw_os_error(error.errno);
    let file = std::path::Path::new(&error.file);
    if error.action == "run" && said.kind() == std::io::ErrorKind::NotFound && file.exists() {
        // The system means the interpreter that the script's first line names.
        let interpreter = shebang(file).unwrap_or_else(|| "its interpreter or loader".to_owned());
        return format!("cannot run {}: {interpreter} is not there", error.file);
    }
    if error.action == "run" && said.kind() == std::io::ErrorKind::PermissionDenied {
        return format!("cannot run {}: it is not executable, or its file system forbids it", error.file);
    }
    format!("cannot {} {}: {said}", error.action, error.file)
}

/// The interpreter that a script's first line names, quoted so that a carriage return in it can be seen.
fn shebang(file: &std::path::Path) -> Option<String> {
    use std::io::Read;
    let mut start = Vec::new();
    std::fs::File::open(file).ok()?.take(256).read_to_end(&mut start).ok()?;
    let line = start.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let interpreter = line.trim_matches(' ').split(' ').next()?;
    let ending = if interpreter.ends_with('\r') { " (the script has Windows line ends)" } else { "" };
    Some(format!("its interpreter {interpreter:?}{ending}"))
}

/// An exit in words: `exit status 3`, `ended by signal 11 (SIGSEGV)`.
#[must_use]
pub fn exit_words(exit: Option<Exit>) -> String {
    match exit {
        // Windows' own codes, as of a crash, are known by their bits.
        Some(Exit::Code(code)) if code < 0 => format!("exit status {code:#010X}"),
        Some(Exit::Code(code)) => format!("exit status {code}"),
        Some(Exit::Signal(number)) => format!("ended by {}", signal(number)),
        None => "no exit status was seen".to_owned(),
    }
}

/// Why a command that was run beside the checks was of no use, with its last words; `None` if it ended with 0.
#[must_use]
pub fn problem(outcome: &Outcome) -> Option<String> {
    let problem = match (&outcome.not_started, outcome.ended, outcome.exit) {
        (Some(error), _, _) => start_error(error),
        (None, Ended::Timeout, _) => "it was ended at its time limit".to_owned(),
        (None, Ended::Cancelled, _) => "interrupted".to_owned(),
        (None, Ended::ByItself, Some(Exit::Code(0))) => return None,
        (None, Ended::ByItself, exit) => exit_words(exit),
    };
    Some(format!("{problem}{}", last_line(outcome)))
}

/// The last line that a command printed, as the end of a sentence.
#[must_use]
pub fn last_line(outcome: &Outcome) -> String {
    let said = [&outcome.stderr, &outcome.stdout].map(|captured| output::output(captured, None).tail);
    let last = said.iter().find_map(|text| text.lines().rev().find(|line| !line.trim().is_empty()));
    last.map(|line| format!("; its last line: {line}")).unwrap_or_default()
}

/// The processes that such a command left, which were ended.
pub fn left_alive<'a>(what: &'a str, outcome: &'a Outcome) -> impl Iterator<Item = Finding> + 'a {
    let by_itself = outcome.ended == Ended::ByItself;
    outcome.alive.iter().filter(move |_| by_itself).map(move |process| {
        let message = format!("{what}: {} was alive after it, and was ended", process.short());
        let mut finding = Finding::new(Kind::LeakedProcess, Severity::Warning, message);
        finding.process = Some(process.clone());
        finding.remedy = Some("start what a check needs in the check itself, and end it there".to_owned());
        finding
    })
}

/// Where the check ran; a place in a sandbox that is gone has no name that anybody could use.
#[must_use]
pub fn shown_cwd(places: &Places, kept: bool) -> String {
    match places.cwd.strip_prefix(&places.sandbox) {
        Ok(below) if !kept => Path::new("$sandbox").join(below).display().to_string(),
        _ => places.cwd.display().to_string(),
    }
}
