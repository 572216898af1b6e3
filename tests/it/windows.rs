//! `as: windows`: what Windows would not remove or rename is not removed or renamed.

use hostproof::model::{How, Kind, Severity, Verdict};

use crate::context::{Context, errors, of_kind, pid, skip};

/// A project with one check by Windows' rules; `None` where these can't be kept.
fn with(script: &str) -> Option<Context> {
    let context = Context::with("- {id: acts, cwd: sandbox, as: windows, run: [python3, $project/acts.py]}");
    context.file("acts.py", format!("{START}{script}"));
    let probe = Context::new().hp(&["try", "--as", "windows", "--", "true"]);
    if probe.report().findings.is_empty() {
        return Some(context);
    }
    skip("this system can't keep Windows' rules");
    None
}

/// What the scripts do: `sit` starts a child in a directory, `refused` says whether a call fails, and with what.
const START: &str = r"
import errno, os, subprocess, sys, threading, time

def sit(directory):
    return subprocess.Popen(['sleep', '60'], cwd=directory)

def rise(child):
    child.kill()
    child.wait()

def refused(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        return errno.errorcode[error.errno]

os.makedirs('d/e')
";

#[test]
fn a_directory_that_a_process_sits_in_is_not_removed_nor_renamed_nor_replaced() {
    let script = r"
child = sit('d/e')
assert refused(os.rmdir, 'd/e') == 'EBUSY'
assert refused(os.rmdir, os.path.abspath('d/e') + '/') == 'EBUSY'
assert refused(os.rename, 'd/e', 'd/f') == 'EBUSY'
os.mkdir('other')
assert refused(os.rename, 'other', 'd/e') == 'EBUSY'
here = os.open('d', os.O_RDONLY)
os.chdir('/')
assert refused(lambda: os.rmdir('e', dir_fd=here)) == 'EBUSY'
os.chdir(here)
assert refused(os.rename, '../d', '../g') == 'EBUSY', 'this process sits in it'
os.chdir('..')
rise(child)
os.rename('d/e', 'd/f')
os.rmdir('d/f')
";
    let Some(context) = with(script) else { return };
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!((check.id.as_str(), check.variant.as_deref()), ("acts@windows", Some("windows")));
    assert_eq!((check.verdict, errors(check)), (Verdict::Failed, vec!["refused-by-windows"]), "{}", ran.said());
    let refused = of_kind(check, Kind::RefusedByWindows);
    let calls: Vec<_> = refused.iter().map(|finding| finding.call.as_deref().unwrap_or_default()).collect();
    assert_eq!(calls, ["rmdir", "rename", "rename", "rename"], "{}", ran.said());
    assert!(refused[0].message.contains("(rmdir, WinError 32, 3 times)"), "{}", refused[0].message);
    assert!(refused.iter().all(|finding| finding.how == Some(How::Cwd) && pid(finding) > 0), "{}", ran.said());
    assert_eq!(refused[0].path.as_deref(), Some("work/d/e"));
}

#[test]
fn the_same_goes_well_by_the_rules_of_this_system() {
    let script = "child = sit('d/e')\nos.rmdir('d/e')\nrise(child)\n";
    let Some(context) = with(script) else { return };
    let ran = context.hp(&["run", "--as", "native"]);
    let check = ran.exits(0).only();
    assert_eq!((check.id.as_str(), check.variant.as_deref()), ("acts", None));
    // Predicted, from what the run showed; and as a note, since here it went well.
    for finding in of_kind(check, Kind::RefusedByWindows) {
        assert_eq!(finding.severity, Severity::Note, "{}", finding.message);
    }
}

#[test]
fn a_directory_is_not_renamed_while_something_in_it_is_open() {
    let script = r"
file = open('d/e/file', 'w')
assert refused(os.rename, 'd', 'f') == 'EACCES'
file.close()
os.rename('d', 'f')
folder = os.open('f/e', os.O_RDONLY)
os.rename('f', 'd')
child = sit('d/e')
assert refused(os.rename, 'd', 'f') == 'EACCES'
rise(child)
os.rename('d', 'f')
";
    let Some(context) = with(script) else { return };
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    let refused = of_kind(check, Kind::RefusedByWindows);
    let told: Vec<_> = refused.iter().map(|finding| (finding.how, finding.winerror)).collect();
    assert_eq!(told, [(Some(How::Descriptor), Some(5)), (Some(How::Cwd), Some(5))], "{}", ran.said());
    assert_eq!(errors(check), ["refused-by-windows"], "{}", ran.said());
}

#[test]
fn one_thread_that_sits_there_is_enough() {
    let script = r"
import ctypes
CLONE_FS = 0x200
ready, over = threading.Event(), threading.Event()
def leave():
    assert ctypes.CDLL(None).unshare(CLONE_FS) == 0
    os.chdir('d/e')
    ready.set()
    over.wait()
thread = threading.Thread(target=leave)
thread.start()
ready.wait()
said = refused(os.rmdir, 'd/e')
over.set()
thread.join()
assert said == 'EBUSY', said
os.rmdir('d/e')
";
    let Some(context) = with(script) else { return };
    let ran = context.hp(&["run"]);
    let refused = of_kind(ran.exits(1).only(), Kind::RefusedByWindows);
    assert_eq!(refused.iter().map(|finding| finding.how).collect::<Vec<_>>(), [Some(How::ThreadCwd)], "{}", ran.said());
}

#[test]
fn what_nobody_is_in_goes_as_ever() {
    let script = r"
import shutil
for number in range(200):
    os.makedirs('t/a/b')
    open('t/a/file', 'w').close()
    os.rename('t/a/file', 't/a/b/file')
    os.rename('t', 'u')
    shutil.rmtree('u')
assert refused(os.rmdir, 'd') == 'ENOTEMPTY'
assert refused(os.rmdir, 'nothing') == 'ENOENT'
assert refused(os.rename, 'nothing', 'x') == 'ENOENT'
open('file', 'w').close()
assert refused(os.rmdir, 'file') == 'ENOTDIR'
os.symlink('d', 'link')
assert refused(os.rmdir, 'link') == 'ENOTDIR'
os.rename('link', 'other')
child = sit('d')
rise(child)
os.rmdir('d/e')
os.rmdir('d')
";
    let Some(context) = with(script) else { return };
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).only().findings, [], "{}", ran.said());
}

#[test]
fn a_check_runs_once_by_each_of_its_rules() {
    let context = Context::with("- {id: a, as: [native, windows], run: ['true']}\n- {id: b, run: ['true']}");
    let listed = context.hp(&["list"]);
    assert_eq!(listed.exits(0).stdout, "a\na@windows\nb\n");
    let ids = |arguments: &[&str]| {
        let ran = context.hp(arguments);
        ran.exits(0).report().checks.iter().map(|check| check.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["run"]), ["a", "a@windows", "b"]);
    assert_eq!(ids(&["run", "a"]), ["a"]);
    assert_eq!(ids(&["run", "b@windows"]), ["b@windows"], "also of a check that does not say so");
    assert_eq!(ids(&["run", "--as", "windows"]), ["a@windows", "b@windows"]);
    assert_eq!(ids(&["run", "b", "--as", "windows"]), ["b@windows"]);
    context.checks("- {id: a, as: [windows, windows], run: ['true']}");
    let ran = context.hp(&["lint"]);
    assert!(ran.exits(2).stderr.contains("`windows` is there twice"), "{}", ran.stderr);
    context.checks("- {id: a, as: [], run: ['true']}");
    context.hp(&["lint"]).exits(2);
    context.checks("- {id: a, as: window, run: ['true']}");
    let ran = context.hp(&["lint"]);
    assert!(ran.exits(2).stderr.contains("did you mean `windows`?"), "{}", ran.stderr);
}

#[test]
fn where_the_rules_cannot_be_kept_that_is_told_and_prediction_takes_over() {
    // A listener is there already: that of the hostproof around it.
    let Some(context) = with("pass\n") else { return };
    context.file(
        "inner.py",
        "import os, subprocess\nos.mkdir('d')\nchild = subprocess.Popen(['sleep', '60'], cwd='d')\n\
         os.rmdir('d')\nimport time; time.sleep(0.2)\nchild.kill()\nchild.wait()\n",
    );
    context.checks(
        "- {id: outer, shell: '$HOSTPROOF try --as windows --cwd sandbox --report inner.json -- \
                    python3 $PWD/inner.py; true', env: {HOSTPROOF: '[hp]'}, inherit: [HOSTPROOF_TMPDIR]}",
    );
    let manifest = context.read("checks.d/checks.yaml").replace("[hp]", env!("CARGO_BIN_EXE_hostproof"));
    context.manifest("checks.yaml", &manifest);
    context.hp(&["run", "--as", "windows"]);
    let inner: serde_json::Value = serde_json::from_str(&context.read("inner.json")).expect("the inner report");
    let said = inner["findings"][0]["message"].as_str().unwrap_or_default();
    assert!(said.starts_with("Windows' rules: not enforced: another listener is in place (EBUSY); "), "{inner:#}");
}
