//! Windows' rules over real runtimes: each stops where it does on Windows, in its own words, and finishes.

use hostproof::model::{Finding, Kind, Severity};

use crate::context::{Context, errors, of_kind, skip, variable, works};
use crate::windows::with;

/// Runs a script as one check under `windows:faithful`; what it wrote must have the words, and a frame of its must be that
/// of the refusal if there is one in its language.
fn stops(context: &Context, run: &str, says: &str, frame: Option<&str>) {
    context.checks(&format!(
        "- {{id: acts, as: {{windows: {{faithful: true}}}}, home: real, run: {run}, expect: {{stderr: [{{contains: '{says}'}}]}}}}"
    ));
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!(errors(check)[0], "refused-by-windows", "{run}: {}", ran.said());
    let unmet: Vec<_> = of_kind(check, Kind::Unmet).into_iter().filter(|f| f.message.contains("stderr")).collect();
    assert!(unmet.is_empty(), "{run}: {}", ran.said());
    let refused = of_kind(check, Kind::RefusedByWindows)[0];
    assert_eq!(refused.path.as_deref().map(|path| path.rsplit('/').next().unwrap_or(path)), Some("held"), "{run}");
    if let Some(frame) = frame {
        let told = refused.frame.as_ref().map(|frame| format!("{}:{}", frame.file, frame.line));
        assert_eq!(told.as_deref(), Some(frame), "{run}: {}", ran.said());
    }
}

const HELD: &str = r"
import os, subprocess
os.makedirs('held')
child = subprocess.Popen(['sleep', '60'], cwd='held')
try:
    os.rmdir('held')
finally:
    child.kill()
    child.wait()
    os.rename('held', 'kept')
";

#[test]
fn every_python_stops_with_its_own_class() {
    let Some(context) = with(
        "pass
",
    ) else {
        return;
    };
    let home = variable("HOME").unwrap_or_default();
    let folder = std::path::Path::new(&home).join(".pyenv/versions");
    let installed =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path().join("bin/python3"));
    let mut pythons: Vec<String> = installed.map(|path| path.to_string_lossy().into_owned()).collect();
    pythons.push("python3".to_owned());
    for python in pythons.iter().filter(|python| works(&[python, "-c", "pass"])) {
        context.file("held.py", HELD);
        let _ = std::fs::remove_dir_all(context.project().join("kept"));
        stops(&context, &format!("[{python}, held.py]"), "PermissionError: [Errno 13]", Some("held.py:6"));
    }
}

#[test]
fn node_stops_with_its_own_class() {
    if !works(&["node", "--version"]) {
        return skip("there is no node");
    }
    let Some(context) = with(
        "pass
",
    ) else {
        return;
    };
    context.file("held.js", HELD_BY_CHILD_OF_NODE);
    stops(&context, "[node, held.js]", "EBUSY", Some("held.js:7"));
    std::fs::remove_dir(context.project().join("held")).expect("it is there");
    // What Python keeps open, node is not permitted to replace: its word for error 5.
    context.file("held.js", OPEN_IN_PYTHON);
    stops(&context, "[node, held.js]", "EPERM", Some("held.js:8"));
}

const HELD_BY_CHILD_OF_NODE: &str = r"
const fs = require('fs');
fs.mkdirSync('held');
const child = require('child_process').spawn('sleep', ['60'], { cwd: 'held' });
child.on('spawn', () => {
  try {
    fs.rmdirSync('held');
  } finally {
    child.kill();
  }
});
";

const OPEN_IN_PYTHON: &str = r#"
const fs = require('fs');
fs.writeFileSync('held', 'x');
fs.writeFileSync('next', 'x');
const child = require('child_process').spawn('python3', ['-c', 'f = open("held"); print(flush=True); input()']);
child.stdout.once('data', () => {
  try {
    fs.renameSync('next', 'held');
  } finally {
    child.kill();
  }
});
"#;

#[test]
fn cargo_test_stops_where_it_would() {
    if !works(&["cargo", "--version"]) {
        return skip("there is no cargo");
    }
    let Some(context) = with("pass\n") else { return };
    context.file("Cargo.toml", "[package]\nname = \"held\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n");
    context.file("src/lib.rs", HELD_IN_RUST);
    context.checks("- {id: acts, as: windows, timeout: 5m, run: [cargo, test, --offline, --quiet]}");
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    let sure = |finding: &&Finding| finding.severity == Severity::Error;
    let refused: Vec<_> = of_kind(check, Kind::RefusedByWindows).into_iter().filter(sure).collect();
    let [refused] = refused[..] else { panic!("{}", ran.said()) };
    assert_eq!((refused.call.as_deref(), refused.winerror), (Some("rmdir"), Some(32)), "{}", ran.said());
    let frame = refused.frame.as_ref().map(|frame| (frame.file.as_str(), frame.line));
    assert_eq!(frame, Some(("src/lib.rs", 9)), "{}", ran.said());
}

const HELD_IN_RUST: &str = r#"
#[test]
fn held() {
    std::fs::create_dir("held").unwrap();
    let mut child = std::process::Command::new("sleep").arg("60").current_dir("held").spawn().unwrap();
    let removed = std::fs::remove_dir("held");
    child.kill().unwrap();
    child.wait().unwrap();
    removed.unwrap();
}
"#;

#[test]
fn shells_and_git_stop_and_finish() {
    let Some(context) = with("pass\n") else { return };
    for shell in ["bash", "sh"].into_iter().filter(|shell| works(&[shell, "-c", ":"])) {
        context.file("held.sh", format!("{SITTING}rm -r held\n"));
        stops(&context, &format!("[{shell}, held.sh]"), "rm: cannot remove", None);
        std::fs::remove_dir(context.project().join("held")).expect("it is there");
    }
    if !works(&["git", "--version"]) {
        return skip("there is no git");
    }
    context.file("held.sh", format!("git init -q repo\ncd repo\n{SITTING}echo x >held/file\ngit clean -fdq\n"));
    stops(&context, "[sh, held.sh]", "failed to remove", None);
}

/// A script's beginning: a child sits in a directory until the script ends.
const SITTING: &str = r#"set -e
mkdir held
(cd held && exec sleep 60 >/dev/null 2>&1) &
child=$!
trap 'kill $child' EXIT
while [ "$(readlink /proc/$child/cwd)" != "$PWD/held" ]; do :; done
"#;
