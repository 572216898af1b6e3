//! `hostproof init` in real projects, with real self-tests.
//!
//! Only where checks can be run at all.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "also in what the tests share")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Far beyond what a loaded machine needs; a program that waits for a FIFO never ends.
const DEADLINE: Duration = Duration::from_secs(180);

const GREEN: &str = "\
import unittest


class Sweep(unittest.TestCase):
    def test_one(self):
        pass

    def test_two(self):
        pass

    @unittest.skip('needs a board')
    def test_three(self):
        pass


if __name__ == '__main__':
    unittest.main()
";

const RED: &str = "\
import unittest


class Drift(unittest.TestCase):
    def test_fails(self):
        self.assertEqual(1, 2)


if __name__ == '__main__':
    unittest.main()
";

/// The child has no pipe of the test's, stands in a folder that is removed, and ends by itself.
const LEAKY: &str = "\
import subprocess
import tempfile
import unittest


class Launch(unittest.TestCase):
    def test_detaches(self):
        with tempfile.TemporaryDirectory() as root:
            null = subprocess.DEVNULL
            subprocess.Popen(['sleep', '15'], cwd=root, stdin=null, stdout=null, stderr=null, start_new_session=True)


if __name__ == '__main__':
    unittest.main()
";

struct Done {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        for (name, text) in files {
            project.write(name, text);
        }
        project
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn write(&self, name: &str, text: &str) {
        let file = self.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn manifest(&self) -> String {
        fs::read_to_string(self.path().join("checks.d/hostproof.yaml")).unwrap()
    }

    fn hostproof(&self, arguments: &[&str]) -> Done {
        hostproof(self.path(), arguments)
    }
}

/// Output goes to files, since a pipe that nobody reads fills up.
fn hostproof(folder: &Path, arguments: &[&str]) -> Done {
    let outputs = tempfile::tempdir().unwrap();
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| outputs.path().join(name));
    let mut child = Command::new(env!("CARGO_BIN_EXE_hostproof"))
        .args(arguments)
        // Whoever runs the tests is told nothing by the runs in them, and nothing of them is remembered.
        .env_remove("GITHUB_ACTIONS")
        .env("XDG_STATE_HOME", outputs.path())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(fs::File::create(&stdout).unwrap())
        .stderr(fs::File::create(&stderr).unwrap())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if start.elapsed() > DEADLINE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("hostproof {arguments:?} did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let read = |path: &Path| String::from_utf8(fs::read(path).unwrap()).unwrap();
    Done { code: status.code(), stdout: read(&stdout), stderr: read(&stderr) }
}

/// The block of one check, without the blank lines around it.
fn block<'a>(manifest: &'a str, id: &str) -> &'a str {
    let start = manifest.find(&format!("  - id: {id}\n")).unwrap_or_else(|| panic!("no {id} in\n{manifest}"));
    manifest[start..].split("\n\n").next().unwrap_or_default()
}

#[test]
fn a_green_self_test_is_written_with_its_counts_and_runs_green() {
    let project = Project::new(&[("hooks/test_sweep.py", GREEN), ("hooks/sweep.py", "")]);
    let done = project.hostproof(&["init"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("1 check written to checks.d/hostproof.yaml"), "{}", done.stdout);
    assert!(done.stderr.contains("hooks/test_sweep"), "progress: {}", done.stderr);
    let manifest = project.manifest();
    let check = block(&manifest, "hooks/test_sweep");
    assert!(check.contains("run: [python3, hooks/test_sweep.py]\n"), "{check}");
    assert!(check.contains("expect: {cases: 3, skipped: 1}"), "{check}");
    assert!(!manifest.contains("timeout") && !manifest.contains("allow"), "{manifest}");
    let names: Vec<_> =
        fs::read_dir(project.path().join("checks.d")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["hostproof.yaml"], "no temporary file is left");

    let run = project.hostproof(&["run"]);
    assert_eq!(run.code, Some(0), "{}", run.stdout);
    assert!(run.stdout.contains("3/3 cases, 1/1 checks"), "{}", run.stdout);
}

#[test]
fn what_a_self_test_leaves_behind_is_proposed_and_not_taken() {
    let project = Project::new(&[("hooks/test_launch.py", LEAKY)]);
    let done = project.hostproof(&["init"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("1 green, but left something behind: hooks/test_launch"), "{}", done.stdout);
    let manifest = project.manifest();
    let check = block(&manifest, "hooks/test_launch");
    assert!(check.contains("expect: {cases: 1}"), "{check}");
    assert!(check.contains("\n    # allow:\n    #   - {kind: "), "{check}");
    assert!(check.contains("{kind: leaked-process, match: sleep, because: "), "{check}");
    assert!(check.contains("(sleep 15)"), "the message is there: {check}");
    assert_eq!(project.hostproof(&["run"]).code, Some(1), "nothing is allowed yet");

    // A person takes the signs away.
    let taken = manifest.replace("    # allow:", "    allow:").replace("    #   - {kind", "      - {kind");
    project.write("checks.d/hostproof.yaml", &taken);
    let run = project.hostproof(&["run"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
}

#[test]
fn a_red_self_test_is_written_without_counts_and_with_the_reason() {
    let project = Project::new(&[("hooks/test_drift.py", RED)]);
    let done = project.hostproof(&["init"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("1 red: hooks/test_drift"), "{}", done.stdout);
    let manifest = project.manifest();
    let check = block(&manifest, "hooks/test_drift");
    assert!(!check.contains("expect"), "{check}");
    assert!(check.contains("# was red when this was written: exit status 1, 1 cases ran, 1 failed"), "{check}");
    assert!(check.contains("hooks/test_drift.py:6 in test_fails: AssertionError: 1 != 2"), "{check}");
}

#[test]
fn a_self_test_that_takes_too_long_is_ended_and_red() {
    let project = Project::new(&[("hooks/test_slow.sh", "#!/bin/sh\nexec sleep 20\n")]);
    let done = project.hostproof(&["init", "--timeout", "200ms"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let manifest = project.manifest();
    assert!(block(&manifest, "hooks/test_slow").contains("ended at the time limit of 200ms"), "{manifest}");
}

#[test]
fn an_interrupt_ends_everything_and_nothing_is_written() {
    let project = Project::new(&[("hooks/test_slow.sh", "#!/bin/sh\n: > started\nexec sleep 20\n")]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_hostproof"))
        .arg("init")
        .env_remove("GITHUB_ACTIONS")
        .current_dir(project.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while !project.path().join("started").exists() {
        assert!(start.elapsed() < DEADLINE && child.try_wait().unwrap().is_none(), "it did not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!project.path().join("checks.d").exists());
}

#[test]
fn a_self_test_without_counts_is_held_to_its_exit_status() {
    let project = Project::new(&[("tests/test_a.sh", "#!/bin/sh\necho all went well\n")]);
    assert_eq!(project.hostproof(&["init"]).code, Some(0));
    let manifest = project.manifest();
    let check = block(&manifest, "tests/test_a");
    assert!(check.contains("run: [sh, tests/test_a.sh]\n    reader: none\n"), "{check}");
    let taken = manifest.replace("    # expect:", "    expect:");
    assert!(taken != manifest, "{manifest}");
    project.write("checks.d/hostproof.yaml", &taken);
    let run = project.hostproof(&["run"]);
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
}

#[test]
fn nothing_is_overwritten() {
    let project = Project::new(&[("hooks/test_sweep.py", GREEN), ("checks.d/mine.yml", "not even a manifest")]);
    for arguments in [&["init"][..], &["init", "--dry-run"]] {
        let done = project.hostproof(arguments);
        assert_eq!((done.code, done.stdout.as_str()), (Some(2), ""), "{}", done.stderr);
        assert!(done.stderr.contains("has manifests already (mine.yml)"), "{}", done.stderr);
    }
    assert_eq!(fs::read_dir(project.path().join("checks.d")).unwrap().count(), 1);

    let project = Project::new(&[("hooks/test_sweep.py", GREEN), ("checks.d", "a file")]);
    let done = project.hostproof(&["init"]);
    assert_eq!(done.code, Some(2), "{}", done.stderr);
    assert!(done.stderr.contains("it is not a folder"), "{}", done.stderr);

    // A folder without manifests is no obstacle.
    let project = Project::new(&[("hooks/test_sweep.py", GREEN), ("checks.d/readme.md", "")]);
    assert_eq!(project.hostproof(&["init"]).code, Some(0));
    assert!(project.manifest().contains("cases: 3"));
}

#[test]
fn a_dry_run_shows_the_manifest_and_writes_nothing() {
    let project = Project::new(&[("hooks/test_sweep.py", GREEN)]);
    let done = project.hostproof(&["init", "--dry-run"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    assert!(!project.path().join("checks.d").exists());
    assert!(done.stderr.contains("1 check would be written"), "{}", done.stderr);
    // Standard output is the manifest and nothing else.
    project.write("checks.d/shown.yaml", &done.stdout);
    let lint = project.hostproof(&["lint"]);
    assert_eq!(lint.code, Some(0), "{}", lint.stderr);
    assert!(done.stdout.contains("cases: 3"), "{}", done.stdout);
}

#[test]
fn nothing_found_is_said_with_what_was_looked_for() {
    let project =
        Project::new(&[("readme.md", ""), (".claude/settings.json", r#"{"hooks": {"Stop": [{"command": "x.sh"}]}}"#)]);
    let done = project.hostproof(&["init"]);
    assert_eq!(done.code, Some(3), "{}", done.stderr);
    assert!(done.stdout.contains("no self-tests found") && done.stdout.contains("test_*.py"), "{}", done.stdout);
    assert!(done.stdout.contains("Stop: x.sh"), "{}", done.stdout);
    assert!(!project.path().join("checks.d").exists());
}

#[test]
fn names_of_every_kind_and_files_of_every_kind_do_no_harm() {
    let script = "#!/bin/sh\nexit 0\n";
    let names = [
        "hooks/test it's \"one\".sh",
        "hooks/test_two\nlines.sh",
        "-hooks/test_dash.sh",
        "hooks/test_ünï.sh",
        "hooks/test_$HOME.sh",
    ];
    let project =
        Project::new(&names.map(|name| (if name.starts_with('-') { "-d/hooks/test_dash.sh" } else { name }, script)));
    project.write("hooks/test_latin.py", "");
    fs::write(project.path().join("hooks/test_latin.py"), b"# \xe9\nimport unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\nif __name__ == '__main__':\n    unittest.main()\n").unwrap();
    fs::write(project.path().join("hooks/test_binary.py"), b"\0import unittest").unwrap();
    fs::write(project.path().join(std::ffi::OsStr::from_bytes(b"hooks/test_\xff.sh")), script).unwrap();
    let hooks = project.path().join("hooks");
    for name in ["test_fifo.py", "test_fifo.sh", "hooks.json"] {
        assert!(Command::new("mkfifo").arg(hooks.join(name)).status().unwrap().success());
    }
    fs::create_dir(hooks.join("test_folder.py")).unwrap();
    symlink("test_loop.py", hooks.join("test_loop.py")).unwrap();
    symlink("..", hooks.join("up")).unwrap();
    symlink("/dev/zero", hooks.join("test_zero.py")).unwrap();

    let done = project.hostproof(&["init"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains("6 checks written"), "{}", done.stdout);
    assert!(done.stdout.contains("hooks/hooks.json: it is a FIFO"), "{}", done.stdout);
    let manifest = project.manifest();
    // Python refuses a file in Latin-1 that does not say so; that is its author's affair.
    assert!(block(&manifest, "hooks/test_latin").contains("was red"), "{manifest}");
    assert!(block(&manifest, "d/hooks/test_dash").contains("run: [sh, ./-d/hooks/test_dash.sh]"), "{manifest}");
    let run =
        project.hostproof(&["run", "hooks/test-*", "hooks/test_two*", "hooks/test_-*", "hooks/test_-home", "d/*"]);
    assert_eq!(run.code, Some(0), "{}{}\n{manifest}", run.stdout, run.stderr);
}

#[test]
fn the_project_is_the_repository_and_what_git_ignores_is_not_looked_at() {
    let project = Project::new(&[
        (".gitignore", "/build\n"),
        ("build/hooks/test_made.py", GREEN),
        ("deep/er/readme.md", ""),
        ("hooks/test_sweep.py", GREEN),
    ]);
    let Ok(status) = Command::new("git").args(["init", "--quiet"]).arg(project.path()).status() else { return };
    assert!(status.success());
    let done = hostproof(&project.path().join("deep/er"), &["init"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    assert!(!project.manifest().contains("build"), "{}", project.manifest());

    // A folder of manifests between would hide the new one.
    fs::remove_dir_all(project.path().join("checks.d")).unwrap();
    project.write("deep/checks.d/a.yaml", "");
    assert_eq!(hostproof(&project.path().join("deep/er"), &["init"]).code, Some(2));
}

#[test]
fn wired_hooks_are_named_and_never_run() {
    let command = "touch ran; python3 hooks/sweep.py";
    let settings = format!(
        r#"{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "hooks": [{{"type": "command", "command": "{command}"}}]}}],
            "Stop": [{{"hooks": [{{"type": "command", "command": "touch ran\nhooks/untested.sh: {{[#"}}]}}]}}}}"#
    )
    .replace("ran\nhooks", "ran\\nhooks");
    let project = Project::new(&[
        ("hooks/test_sweep.py", GREEN),
        (".claude/settings.json", &settings),
        (".gemini/settings.json", "{ // not JSON"),
        (".husky/pre-push", "touch ran\n"),
        ("session-boundary.json", r#"{"receiver_checks": [{"name": "all", "command": "touch ran"}]}"#),
    ]);
    let done = project.hostproof(&["init"]);
    assert_eq!(done.code, Some(0), "{}{}", done.stdout, done.stderr);
    let manifest = project.manifest();
    let check = block(&manifest, "hooks/test_sweep");
    assert!(check.contains("title: \"seems to test what .claude/settings.json wires to PreToolUse(Bash)\""), "{check}");
    for named in [
        "# Wired here, and no check runs it yet:",
        "#   Stop: touch ran hooks/untested.sh: {[# (.claude/settings.json)",
        "#   git pre-push: .husky/pre-push",
        "#   receiver check all: touch ran (session-boundary.json)",
        "#   .gemini/settings.json:1: it is no JSON: ",
    ] {
        assert!(manifest.contains(named), "{named}\n{manifest}");
    }
    assert!(!manifest.contains("#   PreToolUse"), "it is tested: {manifest}");
    assert!(!project.path().join("ran").exists());
}
