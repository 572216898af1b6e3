//! A project, a place of its own for sandboxes, and hostproof run on both.
//!
//! Whatever a test does, nothing may be left when hostproof has ended: no sandbox, no supervisor, no process of a check.
//! [`Context::hp`] looks after every run.
#![cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "some of it serves tests for Linux alone"))]

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hostproof::model::{CheckReport, Finding, Kind, Report, Severity};
use rustix::process::{Pid, geteuid};
use tempfile::TempDir;

pub use crate::processes::{command_line, ends};

/// What takes longer than this, on any machine, has stopped.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// What a test needs of the caller's environment: where programs are.
const KEPT: [&str; 6] = ["PATH", "HOME", "PYENV_ROOT", "PYENV_VERSION", "RUSTUP_HOME", "CARGO_HOME"];

/// A project with manifests, and an empty folder where its sandboxes are made.
pub struct Context {
    project: TempDir,
    base: TempDir,
    reports: TempDir,
    env: BTreeMap<OsString, OsString>,
}

/// What a run of hostproof said.
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    report: Option<Report>,
}

impl Context {
    /// An empty project.
    pub fn new() -> Self {
        // Short, since unix sockets live below them.
        let tmp = fs::canonicalize("/tmp").expect("/tmp");
        let folder = |prefix| tempfile::Builder::new().prefix(prefix).tempdir_in(&tmp).expect("a folder in /tmp");
        let base = folder("its");
        let mut env = BTreeMap::new();
        for name in KEPT {
            if let Some(value) = variable(name) {
                env.insert(name.into(), value);
            }
        }
        env.insert("LANG".into(), "C.UTF-8".into());
        env.insert("HOSTPROOF_TMPDIR".into(), base.path().into());
        let reports = folder("itr");
        // What hostproof remembers of a run is no business of the user who tests it.
        env.insert("XDG_STATE_HOME".into(), reports.path().join("state").into());
        Self { project: folder("itp"), base, reports, env }
    }

    /// A project with these checks, which need no proof that a test ran.
    pub fn with(checks: &str) -> Self {
        let context = Self::new();
        context.checks(checks);
        context
    }

    /// A project with these checks, which must prove that a test ran.
    pub fn proving(checks: &str) -> Self {
        let context = Self::new();
        context.manifest("checks.yaml", &format!("version: 1\nchecks:\n{}\n", checks.trim_matches('\n')));
        context
    }

    /// Writes the checks that need no proof that a test ran.
    pub fn checks(&self, checks: &str) {
        let text = format!("version: 1\ndefaults: {{reader: none}}\nchecks:\n{}\n", checks.trim_matches('\n'));
        self.manifest("checks.yaml", &text);
    }

    /// Writes a whole manifest.
    pub fn manifest(&self, name: &str, text: &str) {
        self.file(&format!("checks.d/{name}"), text);
    }

    /// Writes a file of the project.
    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder in the project");
        fs::write(&path, content).expect("a file in the project");
        path
    }

    /// Wires a shell script as Claude Code's hook for its event Stop.
    pub fn stop_hook(&self, script: &str) {
        self.file(
            ".claude/settings.json",
            r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "sh \"$CLAUDE_PROJECT_DIR\"/stop.sh"}]}]}}"#,
        );
        self.file("stop.sh", script);
    }

    /// Writes a program of the project.
    pub fn program(&self, path: &str, content: &str) -> PathBuf {
        let path = self.file(path, content);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program in the project");
        path
    }

    /// Copies a file or folder of this repository into the project.
    pub fn copy(&self, from: &str) {
        copy_tree(&repository().join(from), &self.project().join(from));
    }

    /// Sets a variable of hostproof's environment.
    pub fn env(&mut self, name: &str, value: impl AsRef<OsStr>) -> &mut Self {
        self.env.insert(name.into(), value.as_ref().to_owned());
        self
    }

    /// The project's folder.
    pub fn project(&self) -> &Path {
        self.project.path()
    }

    /// Where hostproof remembers runs.
    pub fn state(&self) -> PathBuf {
        self.reports.path().join("state")
    }

    /// Where sandboxes are made.
    pub fn base(&self) -> &Path {
        self.base.path()
    }

    /// What a file of the project has now; empty if there is none.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap_or_default()
    }

    /// The process ids in a file of the project.
    pub fn pids(&self, path: &str) -> Vec<u32> {
        self.read(path).split_whitespace().map(|pid| pid.parse().expect("a pid")).collect()
    }

    /// Waits until a check has written so many process ids to a file of the project.
    pub fn wait_for_pids(&self, path: &str, number: usize) -> Vec<u32> {
        eventually(&format!("{number} pids in {path}"), || {
            let text = self.read(path);
            text.ends_with('\n') && text.split_whitespace().count() >= number
        });
        self.pids(path)
    }

    /// Runs hostproof, and sees that nothing is left.
    pub fn hp(&self, arguments: &[&str]) -> Ran {
        let ran = self.hp_keeping(arguments);
        self.assert_nothing_left();
        ran
    }

    /// Runs hostproof where sandboxes are to stay.
    pub fn hp_keeping(&self, arguments: &[&str]) -> Ran {
        let child = self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hostproof");
        self.finish(child)
    }

    /// hostproof with arguments, in the project. `run` and `try` write a report for [`Self::finish`] to find.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hostproof"));
        self.dress(&mut command);
        let reports = matches!(arguments.first(), Some(&("run" | "try" | "teeth"))) && !arguments.contains(&"--report");
        if reports {
            command.arg(arguments[0]).arg("--report").arg(self.report_file()).args(&arguments[1..]);
        } else {
            command.args(arguments);
        }
        command
    }

    /// Gives a command hostproof's environment, folder and input.
    pub fn dress(&self, command: &mut Command) {
        command.env_clear().envs(&self.env).current_dir(self.project()).stdin(Stdio::null());
    }

    /// Where [`Self::command`] lets the report be written.
    pub fn report_file(&self) -> PathBuf {
        self.reports.path().join("report.json")
    }

    /// Waits for hostproof's end, and takes what it said.
    pub fn finish(&self, mut child: Child) -> Ran {
        let out = reader(child.stdout.take());
        let err = reader(child.stderr.take());
        assert!(ends(child.id(), PATIENCE), "hostproof has not ended after {PATIENCE:?}");
        let code = child.wait().expect("an end").code();
        let text = |thread: std::thread::JoinHandle<Vec<u8>>| {
            String::from_utf8(thread.join().expect("a reader")).expect("hostproof writes UTF-8")
        };
        let (stdout, stderr) = (text(out), text(err));
        let report = fs::read(self.report_file()).ok().map(|bytes| {
            fs::remove_file(self.report_file()).expect("the report can be removed");
            serde_json::from_slice(&bytes).expect("a report")
        });
        Ran { code, stdout, stderr, report }
    }

    /// Nothing of any run of this project may be left: no sandbox, no supervisor, no process.
    pub fn assert_nothing_left(&self) {
        let left = self.processes();
        assert!(left.is_empty(), "processes were left: {left:?}");
        let left = self.sandboxes();
        assert!(left.is_empty(), "sandboxes were left: {left:?}");
    }

    /// The same, for a run whose end nobody waits for.
    pub fn eventually_nothing_left(&self) {
        eventually("nothing of the run is left", || self.processes().is_empty() && self.sandboxes().is_empty());
    }

    /// What lies where sandboxes are made.
    pub fn sandboxes(&self) -> Vec<PathBuf> {
        fs::read_dir(self.base()).expect("the base").flatten().map(|entry| entry.path()).collect()
    }

    /// The processes that have this project's mark in their environment.
    pub fn processes(&self) -> Vec<(u32, String)> {
        crate::processes::with_in_environment(self.base().to_str().expect("text"))
    }

    /// The whole of what a person sees, without what differs from run to run.
    pub fn shown(&self, ran: &Ran) -> String {
        let text = format!(
            "exit {}\n--- stdout\n{}--- stderr\n{}",
            ran.code.map_or("by a signal".to_owned(), |code| code.to_string()),
            ran.stdout,
            ran.stderr
        );
        let text = text
            .replace(&self.project().display().to_string(), "[project]")
            .replace(&self.base().display().to_string(), "[base]");
        let filters = [
            (r"hp-[a-z0-9]{6}\b", "[lane]"),
            (r"\bpid \d+", "pid [pid]"),
            (r"hostproof \d+\.\d+\.\d+(-[a-z0-9.]+)?", "hostproof [version]"),
            (r"host (linux|macos) [a-z0-9_]+", "host [system]"),
            (r" +\d+\.\d s\b", "  [time]"),
            (r"\b\d+ ms\b", "[ms] ms"),
            (r"\b(tmp|sweep-)[a-z0-9_]{8}\b", "$1[random]"),
            (r"(?m)[ \t]+$", ""),
        ];
        filters.into_iter().fold(text, |text, (pattern, with)| {
            regex::Regex::new(pattern).expect("a pattern").replace_all(&text, with).into_owned()
        })
    }
}

impl Ran {
    /// The report of the run.
    pub fn report(&self) -> &Report {
        self.report.as_ref().unwrap_or_else(|| panic!("no report was written; {}", self.said()))
    }

    /// One check of it.
    pub fn check(&self, id: &str) -> &CheckReport {
        let check = self.report().checks.iter().find(|check| check.id == id);
        check.unwrap_or_else(|| panic!("{id} is not in the report; {}", self.said()))
    }

    /// The one check of a run of one.
    pub fn only(&self) -> &CheckReport {
        assert_eq!(self.report().checks.len(), 1, "{}", self.said());
        &self.report().checks[0]
    }

    /// Sees that hostproof ended with this code.
    #[track_caller]
    pub fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "{}", self.said());
        self
    }

    /// The last line of what it printed.
    pub fn last_line(&self) -> &str {
        self.stdout.trim_end().lines().last().unwrap_or_default()
    }

    /// All that it said, for a message.
    pub fn said(&self) -> String {
        format!("exit {:?}\n{}\n{}", self.code, self.stdout, self.stderr)
    }
}

/// The kinds of a check's errors, each once, in the order in which they are shown.
pub fn errors(check: &CheckReport) -> Vec<&'static str> {
    let mut kinds: Vec<&str> = check
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(|finding| finding.kind.slug())
        .collect();
    kinds.dedup();
    kinds
}

/// The findings of a kind in a check.
pub fn of_kind(check: &CheckReport, kind: Kind) -> Vec<&Finding> {
    check.findings.iter().filter(|finding| finding.kind == kind).collect()
}

/// The process of a finding.
#[track_caller]
pub fn pid(finding: &Finding) -> u32 {
    finding.process.as_ref().unwrap_or_else(|| panic!("no process: {}", finding.message)).pid
}

/// Waits until something is so. Looks again and again; the limit is for what never comes.
#[track_caller]
pub fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Sees that processes end, or have ended.
#[track_caller]
pub fn assert_ended(pids: &[u32]) {
    assert!(!pids.is_empty(), "no process was told of");
    for &pid in pids {
        assert!(ends(pid, Duration::from_secs(30)), "pid {pid} ({}) is alive", command_line(pid));
    }
}

/// Sends a signal to a process that the test knows.
pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = Pid::from_raw(pid.cast_signed()).expect("a pid");
    rustix::process::kill_process(pid, signal).expect("the signal");
}

/// Makes a named pipe.
pub fn fifo(path: &Path) {
    assert!(works(&["mkfifo", path.to_str().expect("text")]), "no pipe {}", path.display());
}

/// This repository.
pub fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A variable of the tests' own environment.
pub fn variable(name: &str) -> Option<OsString> {
    #[expect(clippy::disallowed_methods, reason = "the tests have an environment of their own")]
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Says that a test can't be made here. Where everything must be there, that is a failure.
#[track_caller]
pub fn skip(why: &str) {
    assert!(variable("HOSTPROOF_TEST_REQUIRE_ALL").is_none(), "this must not be skipped: {why}");
    writeln!(std::io::stderr(), "skipped: {why}").expect("standard error");
}

/// Whether a command is there and succeeds.
pub fn works(argv: &[&str]) -> bool {
    let mut command = Command::new(argv[0]);
    command.args(&argv[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn reader(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stream) = stream {
            stream.read_to_end(&mut bytes).expect("hostproof's output");
        }
        bytes
    })
}

fn copy_tree(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).expect("a folder");
        for entry in fs::read_dir(from).expect("a folder of the repository").flatten() {
            if entry.file_name() != "__pycache__" {
                copy_tree(&entry.path(), &to.join(entry.file_name()));
            }
        }
    } else {
        fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
        fs::copy(from, to).expect("a file of the repository");
    }
}

/// Runs hostproof by another command, which gets it and its arguments behind its own.
pub fn by(context: &Context, command: &[&str], program: &str, arguments: &[&str]) -> Ran {
    let mut process = Command::new(command[0]);
    context.dress(&mut process);
    process.args(&command[1..]).arg(program).args(&arguments[..1]);
    if matches!(arguments[0], "run" | "try") {
        process.arg("--report").arg(context.report_file());
    }
    process.args(&arguments[1..]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let ran = context.finish(process.spawn().expect("the command"));
    context.assert_nothing_left();
    ran
}

/// hostproof as a user without rights, in a project of that user's; `None` where that can't be had.
pub fn as_nobody(context: &Context) -> Option<(Vec<&'static str>, String)> {
    let command =
        vec!["env", "HOME=/", "PATH=/usr/bin:/bin", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
    if !geteuid().is_root() || !works(&[&command[..], &["true"]].concat()) {
        return None;
    }
    let reports = context.report_file();
    let reports = reports.parent().expect("a folder");
    for folder in [context.base(), context.project(), reports] {
        chown(folder, Some(65534), Some(65534)).expect("chown");
    }
    let program = context.file("bin/hostproof", fs::read(env!("CARGO_BIN_EXE_hostproof")).expect("hostproof"));
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("chmod");
    Some((command, program.display().to_string()))
}
