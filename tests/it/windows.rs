//! `as: windows`: what Windows would not remove or rename is not removed or renamed.

use hostproof::model::{Exit, Finding, How, Kind, Severity, Verdict};

use crate::context::{Context, errors, of_kind, pid, skip};

/// A project with one check by Windows' rules; `None` where these can't be kept.
pub fn with(script: &str) -> Option<Context> {
    let context = Context::with("- {id: acts, cwd: sandbox, as: windows, run: [python3, $project/acts.py]}");
    context.file("acts.py", format!("{START}{script}"));
    let probe = Context::new().hp(&["try", "--as", "windows", "--", "true"]);
    if probe.report().findings.is_empty() {
        return Some(context);
    }
    skip("this system can't keep Windows' rules");
    None
}

/// What the scripts do: `sit` starts a child in a directory, `refused` says whether a call fails, and with what, `new` makes
/// a file.
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

def new(path):
    with open(path, 'w') as file:
        file.write('x\n')
    return path

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
assert refused(os.rename, 'other', 'd/e') == 'EACCES'
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
os.close(folder)
child = sit('d/e')
assert refused(os.rename, 'd', 'f') == 'EACCES'
rise(child)
os.rename('d', 'f')
";
    let Some(context) = with(script) else { return };
    let ran = context.hp(&["run"]);
    let check = ran.exits(0).only();
    let refused = of_kind(check, Kind::RefusedByWindows);
    let told: Vec<_> = refused.iter().map(|finding| (finding.how, finding.winerror, finding.severity)).collect();
    // All of it goes well in the end, as it would on Windows; what is merely open as a directory is let through.
    let note = Severity::Note;
    let wanted = [
        (Some(How::Descriptor), Some(5), note),
        (Some(How::Descriptor), Some(5), note),
        (Some(How::Cwd), Some(5), note),
    ];
    assert_eq!(told, wanted, "{}", ran.said());
}

#[test]
fn no_directory_is_replaced_by_a_rename() {
    let script = r"
os.mkdir('new')
assert refused(os.rename, 'new', 'd/e') == 'EACCES'
assert refused(os.replace, 'new', 'd/e') == 'EACCES'
os.rmdir('d/e')
os.rename('new', 'd/e')
";
    let Some(context) = with(script) else { return };
    let ran = context.hp(&["run"]);
    let refused = of_kind(ran.exits(1).only(), Kind::RefusedByWindows);
    assert_eq!(refused.len(), 1, "{}", ran.said());
    let told = "work/d/e could not be replaced, as on Windows (rename, WinError 5, 2 times): it is a directory";
    assert_eq!((refused[0].message.as_str(), refused[0].winerror), (told, Some(5)));
    // What others would do is not known, or known to go well.
    let perl = "rename('a', 'b') or die $!";
    for (program, told) in [(["perl", "-e", perl], 1), (["mv", "-T", "a b"], 0)] {
        let words = program.join("' '").replace("a b", "a' 'b");
        let script = format!("mkdir a b; '{words}'; test ! -e a");
        let command = ["try", "--as", "windows", "--cwd", "sandbox", "--", "sh", "-c", &script];
        let ran = context.hp(&command);
        let findings = of_kind(ran.exits(0).only(), Kind::RefusedByWindows);
        assert_eq!(findings.len(), told, "{}", ran.said());
        assert!(findings.iter().all(|finding| finding.severity == Severity::Note), "{}", ran.said());
    }
}

#[test]
fn what_fails_by_itself_fails_as_ever() {
    let script = r"
import ctypes
libc = ctypes.CDLL(None, use_errno=True)

def no_replace(old, new):
    if libc.renameat2(-100, os.fsencode(old), -100, os.fsencode(new), 1) != 0:
        raise OSError(ctypes.get_errno(), old)

child = sit('d/e')
new('file')
os.mkdir('other')
assert refused(os.rename, 'file', 'd/e') == 'EISDIR'
assert refused(os.rename, 'other', 'file') == 'ENOTDIR'
assert refused(no_replace, 'other', 'd/e') == 'EEXIST'
assert refused(os.rename, 'other', 'd') == 'ENOTEMPTY'
assert refused(os.rmdir, 'file') == 'ENOTDIR'
assert refused(os.rmdir, 'none') == 'ENOENT'
rise(child)
";
    let Some(context) = with(script) else { return };
    let ran = context.hp(&["run"]);
    assert!(of_kind(ran.exits(0).only(), Kind::RefusedByWindows).is_empty(), "{}", ran.said());
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
    let refused = of_kind(ran.exits(0).only(), Kind::RefusedByWindows);
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
fn a_file_that_is_open_is_not_removed_nor_renamed_nor_replaced() {
    let script = r"
new('file')
file = open('file')
assert refused(os.remove, 'file') == 'EBUSY', 'its own opening counts'
assert refused(os.rename, 'file', 'other') == 'EBUSY'
assert refused(os.replace, new('next'), 'file') == 'EACCES'
here = os.open('.', os.O_RDONLY)
assert refused(lambda: os.unlink('file', dir_fd=here)) == 'EBUSY'
file.close()
os.replace('next', 'file')
reader = subprocess.Popen([sys.executable, '-c', 'import time; f = open(\'file\'); print(flush=True); time.sleep(60)'],
                          stdout=subprocess.PIPE)
reader.stdout.readline()
assert refused(os.unlink, 'file') == 'EBUSY', 'that of another one, too'
rise(reader)
os.chmod('file', 0o444)
assert refused(os.unlink, 'file') == 'EACCES', 'it is read-only'
assert refused(os.replace, new('next'), 'file') == 'EACCES'
os.rename('file', 'read-only')
import shutil
program = shutil.copy(shutil.which('sleep'), 'program')
running = subprocess.Popen(['./program', '60'])
assert refused(os.unlink, 'program') == 'EACCES'
assert refused(os.replace, 'next', 'program') == 'EACCES'
os.rename('program', 'moved')
rise(running)
os.unlink('moved')
";
    let Some(context) = with(script) else { return };
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert_eq!(errors(check), ["refused-by-windows"], "{}", ran.said());
    let told = |finding: &&Finding| (finding.path.clone().unwrap_or_default(), finding.how, finding.winerror);
    let mut refused: Vec<_> = of_kind(check, Kind::RefusedByWindows)
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(told)
        .collect();
    refused.sort();
    let row = |path: &str, how, winerror| (format!("work/{path}"), how, Some(winerror));
    let wanted = [
        row("file", None, 5),
        row("file", None, 5),
        row("file", Some(How::Descriptor), 32),
        row("file", Some(How::Descriptor), 32),
        row("program", Some(How::Executable), 5),
        row("program", Some(How::Executable), 5),
    ];
    assert_eq!(refused, wanted, "{}", ran.said());
    let overcome: Vec<_> = of_kind(check, Kind::RefusedByWindows)
        .into_iter()
        .filter(|f| f.message.contains("and then it could"))
        .collect();
    assert_eq!(overcome.len(), 2, "the first replacement and renaming went well in the end: {}", ran.said());
    assert!(overcome.iter().all(|finding| finding.severity == Severity::Note), "{}", ran.said());
}

/// It gets over it, as libraries do; if it is red then, that may be why.
#[test]
fn a_read_only_file_that_is_made_writable_and_removed_is_told_where_the_check_fails() {
    let script = r"
for number in range(9):
    path = new('file%d' % number)
    os.chmod(path, 0o444)
    assert refused(os.unlink, path) == 'EACCES'
    os.chmod(path, 0o644)
    os.unlink(path)
";
    let Some(context) = with(script) else { return };
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).only().findings, [], "{}", ran.said());

    let Some(context) = with(&format!("{script}\nraise SystemExit(1)\n")) else { return };
    let ran = context.hp(&["run"]);
    let notes = of_kind(ran.exits(1).only(), Kind::RefusedByWindows);
    let told: Vec<_> = notes.iter().map(|note| (note.severity, note.message.as_str())).collect();
    let wanted = "work/file0 could not be removed at first, as on Windows (unlink, WinError 5), and then it could: it was \
                  read-only";
    assert_eq!(told[0], (Severity::Note, wanted), "{}", ran.said());
    assert_eq!(told.len(), 4, "some stand for all: {}", ran.said());
}

#[test]
fn what_is_not_sure_is_let_through_and_told() {
    let script = r"
import multiprocessing, signal, tempfile
from multiprocessing import shared_memory
def gone(path):
    assert refused(os.unlink, path) is None, path
descriptor, path = tempfile.mkstemp(dir='.')
gone(path)
os.close(descriptor)
new('forked')
file = open('forked')
child = os.fork()
if child == 0:
    signal.pause()
file.close()
gone('forked')
os.kill(child, signal.SIGKILL)
os.wait()
new('inherited')
python = f'{sys.executable} -c \'import time; print(flush=True); time.sleep(60)\''
child = subprocess.Popen(['sh', '-c', f'exec 3<inherited; exec {python}'], stdout=subprocess.PIPE)
child.stdout.readline()
gone('inherited')
rise(child)
new('shared')
child = subprocess.Popen(['sh', '-c', 'exec 3<shared; echo; read x'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
gone('shared')
rise(child)
os.mkdir('tracked')
os.chdir('tracked')
memory = shared_memory.SharedMemory(create=True, size=8)
os.chdir('..')
from multiprocessing import resource_tracker
tracker = f'/proc/{resource_tracker._resource_tracker._pid}/cmdline'
while b'resource_tracker' not in open(tracker, 'rb').read():
    pass
os.rmdir('tracked')
memory.unlink()
memory.close()
multiprocessing.Lock()
here = os.open('d', os.O_PATH)
file = os.open(new('named'), os.O_PATH)
gone('named')
temporary = tempfile.NamedTemporaryFile(dir='.')
os.chmod(temporary.name, 0o444)
temporary.close()
";
    let Some(context) = with(script) else { return };
    let ran = context.hp(&["run"]);
    let check = ran.exits(0).only();
    let mut noted: Vec<_> = of_kind(check, Kind::RefusedByWindows)
        .iter()
        .map(|finding| (finding.severity, finding.path.as_deref().unwrap_or_default().replace("work/", "")))
        .map(|(severity, path)| (severity, if path.starts_with("tmp") { "tmp".to_owned() } else { path }))
        .collect();
    noted.sort_by(|a, b| a.1.cmp(&b.1));
    let wanted = ["forked", "inherited", "tmp", "tmp", "tracked"].map(|path| (Severity::Note, path.to_owned()));
    assert_eq!(noted, wanted, "{}", ran.said());
}

#[test]
fn a_manifest_says_how_the_rules_are_kept() {
    let script = r"
import shutil
tool = './' + os.path.basename(shutil.copy(shutil.which('tail'), 'tool'))
def removed():
    child = subprocess.Popen([tool, '-f', new('file'), 'd/../file'], stdout=subprocess.PIPE)
    child.stdout.readline()
    answer = refused(os.unlink, 'file')
    rise(child)
    return answer
open_file = open(new('own'))
said = [removed(), refused(os.unlink, 'own'), refused(os.unlink, 'd')]
print(said)
assert ' '.join(str(word) for word in said) == os.environ['WANTED'], said
";
    let Some(context) = with(script) else { return };
    let rows = [
        ("windows", "None EBUSY EISDIR"),
        ("[windows]", "None EBUSY EISDIR"),
        ("{windows: {}}", "None EBUSY EISDIR"),
        ("{windows: {strict: true}}", "EBUSY EBUSY EISDIR"),
        ("{windows: {faithful: true}}", "None EACCES EACCES"),
        ("{windows: {files: false, faithful: true, strict: true}}", "None None EISDIR"),
        ("[{windows: {shares_delete: {tool: false}}}]", "EBUSY EBUSY EISDIR"),
        ("{windows: {strict: true, shares_delete: {tool: true, python3: true}}}", "None None EISDIR"),
    ];
    for (rules, wanted) in rows {
        context.checks(&format!(
            "- {{id: acts, cwd: sandbox, as: {rules}, env: {{WANTED: {wanted}}}, run: [python3, $project/acts.py]}}"
        ));
        let ran = context.hp(&["run"]);
        assert_eq!(ran.only().exit, Some(Exit::Code(0)), "{rules}: {}", ran.said());
    }
    for (said, wanted) in
        [("windows:strict", "EBUSY EBUSY EISDIR"), ("windows:faithful,directories", "None None EISDIR")]
    {
        context.checks(&format!(
            "- {{id: acts, cwd: sandbox, env: {{WANTED: {wanted}}}, run: [python3, $project/acts.py]}}"
        ));
        let ran = context.hp(&["run", "--as", said]);
        assert_eq!(ran.only().exit, Some(Exit::Code(0)), "{said}: {}", ran.said());
    }
}

#[test]
fn what_a_manifest_says_wrong_of_the_rules_is_told() {
    let context = Context::new();
    for (rules, said) in [
        ("{windows: {faithfull: true}}", "did you mean `faithful`?"),
        ("{window: {}}", "did you mean `windows`?"),
        ("{}", "this map does not say whose rules"),
        ("{windows: {strict: maybe}}", "strict: maybe"),
        ("{windows: {shares_delete: {/bin/tool: true}}}", "without a folder"),
        ("[windows, {windows: {}}]", "`windows` is there twice"),
    ] {
        context.checks(&format!("- {{id: a, as: {rules}, run: ['true']}}"));
        let ran = context.hp(&["lint"]);
        assert!(ran.exits(2).stderr.contains(said), "{rules}: {}", ran.stderr);
        assert!(ran.stderr.contains("checks.d/checks.yaml:"), "{rules}: {}", ran.stderr);
    }
    let ran = context.hp(&["run", "--as", "windows:faithfull"]);
    assert!(ran.exits(2).stderr.contains("faithful"), "{}", ran.stderr);
}

#[test]
fn a_file_that_is_replaced_under_its_reader_is_caught_at_the_frame() {
    let script = r"
def publish(path):
    os.replace(new('next'), path)
new('cache')
reader = open('cache')
publish('cache')
# By this system's rules it goes on, and is there to be looked at.
import time
time.sleep(1)
";
    let Some(context) = with(script) else { return };
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    let [refused] = of_kind(check, Kind::RefusedByWindows)[..] else { panic!("{}", ran.said()) };
    assert_eq!((refused.severity, refused.winerror), (Severity::Error, Some(5)), "{}", ran.said());
    assert_eq!(refused.path.as_deref(), Some("work/cache"));
    let frame = refused.frame.as_ref().expect("a frame");
    assert_eq!((frame.file.as_str(), frame.function.as_deref()), ("acts.py", Some("publish")));
    // By this system's rules it is foretold.
    let ran = context.hp(&["run", "--as", "native"]);
    let [noted] = of_kind(ran.exits(0).only(), Kind::RefusedByWindows)[..] else { panic!("{}", ran.said()) };
    assert_eq!((noted.severity, noted.path.as_deref()), (Severity::Note, Some("work/cache")), "{}", noted.message);
}

#[test]
fn io_uring_is_not_there() {
    let script = r"
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
IO_URING_SETUP = 425
assert libc.syscall(IO_URING_SETUP, 1, ctypes.create_string_buffer(256)) == -1
print(errno.errorcode[ctypes.get_errno()])
assert ctypes.get_errno() == errno.ENOSYS
";
    let Some(context) = with(script) else { return };
    context.hp(&["run"]).exits(0);
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
    assert_eq!(ids(&["run", "a"]), ["a", "a@windows"]);
    assert_eq!(ids(&["run", "a@native"]), ["a"]);
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

#[test]
fn what_python_could_not_print_there_is_a_note() {
    let context = Context::with(
        "- {id: marks, as: [native, windows], vary: [code-page], run: [python3, -c, 'print(chr(0x2713))']}",
    );
    let ran = context.hp(&["run"]);
    ran.exits(1);
    let [note] = of_kind(ran.check("marks@windows"), Kind::RefusedByWindows)[..] else { panic!("{}", ran.said()) };
    assert!(note.message.starts_with("stdout has \u{2713} (U+2713), not in cp1252"), "{}", note.message);
    assert_eq!((note.severity, ran.check("marks@windows").verdict), (Severity::Note, Verdict::Passed));
    assert!(of_kind(ran.check("marks"), Kind::RefusedByWindows).is_empty());
    assert_eq!(errors(ran.check("marks[code-page]")), ["depends-on", "unmet"], "{}", ran.said());
}
