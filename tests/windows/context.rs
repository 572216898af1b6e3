//! A project, a place of its own for sandboxes, and hostproof run on both.
//!
//! Whatever a test does, nothing may be left when hostproof has ended: no sandbox, and no process of a check.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hostproof::model::{CheckReport, Finding, Kind, Report, Severity};
use hostproof::platform;
use tempfile::TempDir;

/// What takes longer than this, on any machine, has stopped.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A project with manifests, and an empty folder where its sandboxes are made.
pub struct Context {
    project: TempDir,
    base: TempDir,
    reports: TempDir,
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
        let folder = |prefix| tempfile::Builder::new().prefix(prefix).tempdir().expect("a temporary folder");
        Self { project: folder("itp"), base: folder("its"), reports: folder("itr") }
    }

    /// A project with these checks, which need no proof that a test ran.
    pub fn with(checks: &str) -> Self {
        let context = Self::new();
        let checks = checks.trim_matches('\n');
        context.file("checks.d/checks.yaml", format!("version: 1\ndefaults: {{reader: none}}\nchecks:\n{checks}\n"));
        context
    }

    /// A project with these checks, which must prove that a test ran.
    pub fn proving(checks: &str) -> Self {
        let context = Self::new();
        context.file("checks.d/checks.yaml", format!("version: 1\nchecks:\n{}\n", checks.trim_matches('\n')));
        context
    }

    /// Writes a file of the project.
    pub fn file(&self, path: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder in the project");
        fs::write(&path, content).expect("a file in the project");
        path
    }

    /// Copies a folder of this repository into the project.
    pub fn copy(&self, from: &str) {
        copy_tree(&repository().join(from), &self.project().join(from));
    }

    /// The project's folder.
    pub fn project(&self) -> &Path {
        self.project.path()
    }

    /// What a file of the project has now; empty if there is none.
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap_or_default()
    }

    /// Waits until a check has written so many process ids to a file of the project.
    pub fn wait_for_pids(&self, path: &str, number: usize) -> Vec<u32> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let text = self.read(path);
            if text.ends_with('\n') && text.split_whitespace().count() >= number {
                return text.split_whitespace().map(|pid| pid.parse().expect("a pid")).collect();
            }
            assert!(Instant::now() < deadline, "waited in vain for {number} pids in {path}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// hostproof with arguments, in the project. `run` and `try` write a report for [`Self::hp`] to find.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hostproof"));
        command.env("HOSTPROOF_TMPDIR", self.base.path()).env("LOCALAPPDATA", self.reports.path());
        command.env_remove("GITHUB_ACTIONS").current_dir(self.project()).stdin(Stdio::null());
        if matches!(arguments.first(), Some(&("run" | "try"))) {
            command.arg(arguments[0]).arg("--report").arg(self.report_file()).args(&arguments[1..]);
        } else {
            command.args(arguments);
        }
        command
    }

    fn report_file(&self) -> PathBuf {
        self.reports.path().join("report.json")
    }

    /// Runs hostproof, and sees that nothing is left.
    pub fn hp(&self, arguments: &[&str]) -> Ran {
        let output = self.command(arguments).output().expect("hostproof");
        let text = |bytes| String::from_utf8(bytes).expect("hostproof writes UTF-8");
        let report = fs::read(self.report_file()).ok().map(|bytes| {
            fs::remove_file(self.report_file()).expect("the report can be removed");
            self.keep(&bytes);
            serde_json::from_slice(&bytes).expect("a report")
        });
        self.assert_nothing_left();
        Ran { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr), report }
    }

    /// Leaves a report where somebody asked for all of them, to hold them against the schema and other systems'.
    fn keep(&self, report: &[u8]) {
        let Some(folder) = variable("HOSTPROOF_TEST_REPORTS").map(PathBuf::from) else { return };
        let test = std::thread::current().name().unwrap_or("unknown").replace("::", "-");
        fs::write(folder.join(format!("{test}.json")), report).expect("the report is kept");
    }

    /// What lies where sandboxes are made.
    pub fn sandboxes(&self) -> Vec<PathBuf> {
        fs::read_dir(self.base.path()).expect("the base").flatten().map(|entry| entry.path()).collect()
    }

    /// No sandbox of any run of this project may be left.
    #[track_caller]
    pub fn assert_nothing_left(&self) {
        let left = self.sandboxes();
        assert!(left.is_empty(), "sandboxes were left: {left:?}");
    }

    /// The same, for a run whose end nobody waits for.
    #[track_caller]
    pub fn eventually_nothing_left(&self) {
        let deadline = Instant::now() + PATIENCE;
        while !self.sandboxes().is_empty() {
            assert!(Instant::now() < deadline, "sandboxes were left: {:?}", self.sandboxes());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Ran {
    /// The report of the run.
    #[track_caller]
    pub fn report(&self) -> &Report {
        self.report.as_ref().unwrap_or_else(|| panic!("no report was written; {}", self.said()))
    }

    /// The one check of a run of one.
    #[track_caller]
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
    let errors = check.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let mut kinds: Vec<&str> = errors.map(|finding| finding.kind.slug()).collect();
    kinds.dedup();
    kinds
}

/// The findings of a kind in a check.
pub fn of_kind(check: &CheckReport, kind: Kind) -> Vec<&Finding> {
    check.findings.iter().filter(|finding| finding.kind == kind).collect()
}

/// Sees that processes end, or have ended.
#[track_caller]
pub fn assert_ended(pids: &[u32]) {
    assert!(!pids.is_empty(), "no process was told of");
    for &pid in pids {
        let (began, limit) = (Instant::now(), Duration::from_secs(30));
        platform::wait_for_an_end(&[pid], limit);
        assert!(began.elapsed() < limit, "pid {pid} is alive");
    }
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

/// Whether Wine has Windows' place: its own programs lie among the system's.
pub fn is_wine() -> bool {
    Path::new(r"C:\windows\system32\winecfg.exe").exists()
}

/// Whether a test must be skipped, since Wine does not do as Windows does; says so.
pub fn skipped_under_wine(what: &str, why: &str) -> bool {
    if is_wine() {
        writeln!(std::io::stderr(), "skipped under Wine: {what}: {why}").expect("standard error");
    }
    is_wine()
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
        fs::copy(from, to).expect("a file of the repository");
    }
}
