//! Where Windows' rules can't be kept: that is told, with what would help, and what Windows would have refused is
//! predicted instead.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hostproof::model::{Finding, How, Kind, Severity};

use crate::context::{Context, Ran, as_nobody, by, errors, of_kind, skip, works};

/// A program that puts a filter on itself and executes another under it. The first argument says what the filter does:
/// `listener` has one that never is asked, an error's number is what seccomp(2) answers.
const UNDER: &str = r"
import ctypes, errno, os, platform, struct, sys

SET_MODE_FILTER, NEW_LISTENER, NO_NEW_PRIVS = 1, 8, 38
LOAD, EQUALS, RETURN = 0x20, 0x15, 0x06
ALLOW, NOTIFY, ERRNO = 0x7fff0000, 0x7fc00000, 0x00050000
SECCOMP = {'x86_64': 317, 'aarch64': 277}[platform.machine()]

libc = ctypes.CDLL(None, use_errno=True)
what = sys.argv[1]
number, answer = (99999, NOTIFY) if what == 'listener' else (SECCOMP, ERRNO | int(what))
steps = [(LOAD, 0, 0, 0), (EQUALS, 0, 1, number), (RETURN, 0, 0, answer), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b''.join(struct.pack('HBBI', *step) for step in steps))
program = struct.pack('HxxxxxxP', len(steps), ctypes.addressof(code))
if os.geteuid() != 0:
    assert libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) == 0
fd = libc.syscall(SECCOMP, SET_MODE_FILTER, NEW_LISTENER if what == 'listener' else 0, program)
assert fd >= 0, os.strerror(ctypes.get_errno())
if what == 'listener':
    # Without its descriptor there would be no listener any more.
    os.set_inheritable(fd, True)
os.execv(sys.argv[2], sys.argv[2:])
";

/// A check that removes a directory which its child sits in.
const REMOVES: &str = r"
import os, subprocess, time
os.mkdir('d')
child = subprocess.Popen(['sleep', '60'], cwd='d')
os.rmdir('d')
open(os.environ['HOSTPROOF_PROJECT'] + '/went', 'w').close()
# The child is there until somebody has looked, or the check is over.
time.sleep(0.5)
child.kill()
child.wait()
";

/// A project with such a check, and the program above.
fn project() -> Context {
    let context = Context::with("- {id: removes, cwd: sandbox, as: windows, run: [python3, $project/removes.py]}");
    context.file("removes.py", REMOVES);
    context.file("under.py", UNDER);
    context
}

const HOSTPROOF: &str = env!("CARGO_BIN_EXE_hostproof");

/// Whether a filter of that kind can be put on here.
fn can_be_under(context: &Context, what: &str) -> bool {
    let under = context.project().join("under.py");
    works(&["python3", &under.display().to_string(), what, "/bin/true"])
}

/// The one finding of the run.
#[track_caller]
fn blind(ran: &Ran) -> &Finding {
    let about = |finding: &&Finding| finding.message.starts_with("Windows' rules: ");
    let found: Vec<&Finding> = ran.report().findings.iter().filter(about).collect();
    let [blind] = found[..] else { panic!("{}", ran.said()) };
    assert_eq!(blind.kind, Kind::ProbeBlind);
    blind
}

/// Sees that the check went on as without rules, that its removal was predicted to fail, and that the run says why.
#[track_caller]
fn is_told_and_predicted(context: &Context, command: &[&str], why: &str, helps: &str) {
    let ran = by(context, command, HOSTPROOF, &["run"]);
    let blind = blind(&ran);
    assert_eq!(blind.severity, Severity::Warning);
    let message =
        format!("Windows' rules: not enforced: {why}; what Windows would have refused is predicted (in removes");
    assert!(blind.message.starts_with(&message), "{}", blind.message);
    assert!(blind.remedy.as_deref().is_some_and(|remedy| remedy.contains(helps)), "{:?}", blind.remedy);
    assert!(ran.stdout.contains(helps), "{}", ran.said());
    assert!(context.project().join("went").exists(), "the removal was refused: {}", ran.said());
    let check = ran.only();
    let predicted = of_kind(check, Kind::RefusedByWindows);
    let [predicted] = predicted[..] else { panic!("{}", ran.said()) };
    assert_eq!((predicted.how, predicted.deleted), (Some(How::Cwd), Some(true)), "{}", ran.said());
    assert!(predicted.message.contains("Windows refuses that") && predicted.call.is_none(), "{}", predicted.message);
    // A run that could not be measured where that is asked for.
    let strict = by(context, command, HOSTPROOF, &["run", "--strict"]);
    assert_eq!(self::blind(&strict).severity, Severity::Error);
    let harmless = by(context, command, HOSTPROOF, &["try", "--as", "windows", "--strict", "--", "true"]);
    assert_eq!(errors(harmless.exits(3).only()), [""; 0], "{}", harmless.said());
    // What runs say is what the doctor says.
    let doctor = by(context, command, HOSTPROOF, &["doctor"]);
    let told = format!("no      Windows' rules           not enforced: {why}");
    assert!(doctor.exits(0).stdout.contains(&told) && doctor.stdout.contains(helps), "{}", doctor.said());
    assert!(ran.report().host.probes["Windows' rules"].starts_with(&format!("no: not enforced: {why}")));
}

#[test]
fn a_listener_that_is_there_already() {
    let context = project();
    if !can_be_under(&context, "listener") {
        return skip("no seccomp listener can be had here");
    }
    let command = ["python3", "under.py", "listener"];
    is_told_and_predicted(&context, &command, "another listener is in place (EBUSY)", "outside of what listens");
}

#[test]
fn a_kernel_without_user_notification() {
    for (errno, name) in [("38", "ENOSYS"), ("22", "EINVAL")] {
        let context = project();
        if !can_be_under(&context, errno) {
            return skip("no seccomp filter can be put on here");
        }
        let why = format!("this kernel has no user notification ({name})");
        is_told_and_predicted(&context, &["python3", "under.py", errno], &why, "use Linux 5.5 or newer");
    }
}

#[test]
fn a_profile_that_forbids_filters() {
    let context = project();
    if !can_be_under(&context, "1") {
        return skip("no seccomp filter can be put on here");
    }
    let why = "the system forbids it: Operation not permitted (os error 1)";
    is_told_and_predicted(&context, &["python3", "under.py", "1"], why, "seccomp profile");
}

#[test]
fn rules_are_kept_where_no_program_may_gain_rights() {
    let command = ["setpriv", "--no-new-privs"];
    if !works(&[&command[..], &["true"]].concat()) {
        return skip("setpriv is not there");
    }
    let context = project();
    if by(&context, &command, HOSTPROOF, &["doctor"]).stdout.contains("no      Windows' rules") {
        return skip("this system can't keep Windows' rules");
    }
    let ran = by(&context, &command, HOSTPROOF, &["run"]);
    assert_eq!(errors(ran.exits(1).only())[0], "refused-by-windows", "{}", ran.said());
    assert!(!context.project().join("went").exists(), "the removal was let through: {}", ran.said());
    assert_eq!(ran.report().findings, [], "it was set by somebody else: {}", ran.said());
    let setuid = &ran.report().host.probes["setuid programs"];
    assert!(setuid.starts_with("partly: they gain no rights in any check"), "{setuid}");
}

#[test]
fn a_program_that_would_gain_rights_is_told_of_where_it_gains_none() {
    let context = Context::with(
        "- {id: itself, cwd: sandbox, as: [native, windows], run: [$project/bin/gains]}\n\
         - {id: below, cwd: sandbox, as: [native, windows], run: [sh, -c, '\"$0\"; true', $project/bin/gains]}",
    );
    let Some((command, hostproof)) = as_nobody(&context) else { return skip("only root can become another user") };
    // Root's own program, with the bit that lets it run as root: it says who it is.
    let program = context.project().join("bin/gains");
    fs::copy("/usr/bin/id", &program).expect("a copy of id");
    fs::set_permissions(&program, PermissionsExt::from_mode(0o4755)).expect("chmod");
    let ran = by(&context, &command, &hostproof, &["run"]);
    if !ran.check("itself").stdout.tail.contains("euid=0") {
        return skip("programs gain no rights in the temporary folder");
    }
    for check in ["itself@windows", "below@windows"] {
        assert!(!ran.check(check).stdout.tail.contains("euid=0"), "{}", ran.said());
    }
    let blind = blind(&ran);
    let gains = fs::canonicalize(&program).expect("the program");
    let told = format!("Windows' rules: {} could not gain rights: ", gains.display());
    assert!(blind.message.starts_with(&told), "{}", blind.message);
    assert!(blind.message.ends_with("@windows and another check)"), "{}", blind.message);
    assert!(blind.remedy.as_deref().is_some_and(|remedy| remedy.contains("run hostproof as root")));
    by(&context, &command, &hostproof, &["run", "--strict"]).exits(3);
    // Nothing is told of a program that gains none, nor where nothing is taken away.
    let harmless = by(&context, &command, &hostproof, &["try", "--as", "windows", "--strict", "--", "id"]);
    assert_eq!(harmless.exits(0).report().findings, [], "{}", harmless.said());
    let by_root = context.hp(&["run"]);
    assert_eq!(by_root.exits(0).report().findings, [], "{}", by_root.said());
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_program_of_another_numbering_is_refused_what_others_are() {
    let context = project();
    let source = context.file(
        "rmdir.c",
        "static int call(int number, const void *argument) {\n    int said;\n    \
         __asm__ volatile(\"int $0x80\" : \"=a\"(said) : \"a\"(number), \"b\"(argument) : \"memory\");\n    return said;\n}\n\
         void _start(void) { int said = call(40, \"d\"); call(1, (void *)-said); __builtin_trap(); }\n",
    );
    let program = context.project().join("rmdir");
    let flags = ["cc", "-m32", "-O1", "-static", "-nostdlib", "-fno-pie", "-no-pie", "-fno-stack-protector", "-o"];
    let files = [program.display().to_string(), source.display().to_string()];
    if !works(&[&flags[..], &[&files[0], &files[1]]].concat()) {
        return skip("no C compiler that makes 32-bit programs");
    }
    if !works(&["sh", "-c", &format!("cd /; {}; test $? = 2", files[0])]) {
        return skip("this kernel runs no 32-bit programs");
    }
    context.file(
        "removes.py",
        "import os, subprocess\nos.mkdir('d')\nchild = subprocess.Popen(['sleep', '60'], cwd='d')\n\
         said = subprocess.call([os.environ['HOSTPROOF_PROJECT'] + '/rmdir'])\nchild.kill()\nchild.wait()\n\
         print('errno', said)\nsubprocess.call([os.environ['HOSTPROOF_PROJECT'] + '/rmdir'])\nraise SystemExit(1)\n",
    );
    let ran = context.hp(&["run"]);
    let check = ran.exits(1).only();
    assert!(check.stdout.tail.contains("errno 16"), "{}", ran.said());
    let refused = of_kind(check, Kind::RefusedByWindows);
    let [refused] = refused[..] else { panic!("{}", ran.said()) };
    assert_eq!((refused.call.as_deref(), refused.how), (Some("rmdir"), Some(How::Cwd)));
    assert_eq!(ran.report().findings, [], "{}", ran.said());
}
