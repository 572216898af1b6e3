//! Whatever a check does to its sandbox, it is gone afterwards, and nothing outside of it is.

use std::fs;

use hostproof::model::{Kind, Verdict};

use crate::context::{Context, errors, of_kind, skip, works};

#[test]
fn no_permission_keeps_a_sandbox() {
    let context = Context::with(
        r#"
- id: modes
  cwd: sandbox
  shell: |
    set -e
    mkdir -p shut/inner/deep readonly "$TMPDIR/none" "$HOME/.cache/x"
    touch shut/inner/deep/file readonly/file "$HOME/.cache/x/y"
    chmod 0400 readonly/file
    chmod 0500 readonly
    chmod 0 shut/inner/deep shut/inner shut "$TMPDIR/none"
    chmod 0 "$HOME/.cache" "$TMPDIR" "$HOME" .
    chmod 0 "$HOSTPROOF_SANDBOX"
"#,
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).only().verdict, Verdict::Passed, "{}", ran.said());
}

#[test]
fn a_check_of_a_user_without_rights_is_cleaned_up_too() {
    // As root nothing is refused; so as somebody else, whose hostproof has no more rights than the check.
    if !rustix::process::geteuid().is_root() || !works(&["setpriv", "--reuid=65534", "--clear-groups", "true"]) {
        return skip("only root can become another user");
    }
    let context = Context::with(
        r#"
- id: modes
  cwd: sandbox
  shell: |
    set -e
    mkdir -p shut/inner readonly
    touch shut/inner/file readonly/file
    chmod 0500 readonly
    chmod 0 shut/inner shut
    chmod 0500 . "$HOSTPROOF_SANDBOX"
"#,
    );
    for folder in [context.base(), context.project()] {
        std::os::unix::fs::chown(folder, Some(65534), Some(65534)).expect("chown");
    }
    let program = context.file("bin/hostproof", fs::read(env!("CARGO_BIN_EXE_hostproof")).expect("hostproof"));
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("chmod");
    let mut command = std::process::Command::new("setpriv");
    context.dress(&mut command);
    // The real home may be closed to others, and with it the programs in it.
    command.env("HOME", "/").env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program).args(["run"]);
    let child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("setpriv");
    let ran = context.finish(child);
    assert_eq!(ran.exits(0).last_line(), "1/1 checks");
    context.assert_nothing_left();
}

#[test]
fn neither_depth_nor_number_nor_kind_keeps_a_sandbox() {
    let context = Context::with(
        r"
- {id: deep, cwd: sandbox, run: [python3, $project/deep.py]}
- {id: many, cwd: sandbox, run: [python3, $project/many.py]}
- {id: kinds, cwd: sandbox, run: [python3, $project/kinds.py]}
",
    );
    context.file(
        "deep.py",
        "import os\nfor _ in range(1000):\n    os.mkdir('a-folder')\n    os.chdir('a-folder')\nopen('file', 'w')\n",
    );
    context.file("many.py", "for number in range(20000):\n    open('file-%d' % number, 'w').close()\n");
    context.file(
        "kinds.py",
        r#"
import os, socket

os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
os.symlink("nowhere", "dangling")
os.symlink(".", "loop")
for name in (b"\xff\xfe", b"new\nline", b" ", b"-rf", b"*", "größe".encode(), b"x" * 255):
    os.mkdir(name)
    open(os.path.join(name, name), "w").close()
os.link("pipe", "hard")
"#,
    );
    let ran = context.hp(&["run", "--jobs", "3"]);
    assert_eq!(ran.exits(0).last_line(), "3/3 checks", "{}", ran.said());
}

#[test]
fn a_link_out_of_the_sandbox_is_not_followed() {
    let context = Context::with(
        r#"
- id: links
  cwd: sandbox
  shell: |
    set -e
    ln -s "$HOSTPROOF_PROJECT/precious" folder
    ln -s "$HOSTPROOF_PROJECT/precious/file" file
    ln -s / everything
    ln "$HOSTPROOF_PROJECT/precious/file" hard || ln -s / hard
    rm -rf "$TMPDIR"
    ln -s "$HOSTPROOF_PROJECT/precious" "$TMPDIR"
    mkdir -p inner/folder
    ln -s ../../../../../.. inner/folder/up
"#,
    );
    context.file("precious/file", "kept\n");
    context.file("precious/inner/other", "kept, too\n");
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).only().verdict, Verdict::Passed, "{}", ran.said());
    assert_eq!(context.read("precious/file") + &context.read("precious/inner/other"), "kept\nkept, too\n");
}

#[test]
fn a_sandbox_that_the_check_removed_or_moved_is_no_trouble() {
    let context = Context::with(
        r#"
- {id: removed, shell: 'rm -rf "$HOSTPROOF_SANDBOX"; echo done'}
- {id: emptied, cwd: sandbox, shell: 'rm -rf ../tmp ../home ../work; echo done'}
- {id: replaced, shell: 'rm -rf "$HOSTPROOF_SANDBOX"; ln -s "$HOSTPROOF_PROJECT/precious" "$HOSTPROOF_SANDBOX"'}
"#,
    );
    context.file("precious/file", "kept\n");
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).last_line(), "3/3 checks", "{}", ran.said());
    assert_eq!(context.read("precious/file"), "kept\n");
}

#[test]
fn what_is_mounted_in_a_sandbox_is_told_and_kept() {
    if !works(&["unshare", "--mount", "mount", "--bind", "/tmp", "/mnt"]) {
        return skip("nothing can be mounted here");
    }
    // hostproof is in the namespace of the mount, which ends with it.
    let context = Context::with(
        r#"
- id: mounts
  cwd: sandbox
  shell: |
    mkdir -p a/data
    mount --bind "$HOSTPROOF_PROJECT/precious" a/data
- {id: next, shell: 'true'}
"#,
    );
    context.file("precious/file", "kept\n");
    let hostproof = context.command(&["run", "--jobs", "1"]);
    let mut command = std::process::Command::new("unshare");
    context.dress(&mut command);
    command.arg("--mount").arg(hostproof.get_program()).args(hostproof.get_args());
    let child =
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().expect("unshare");
    let ran = context.finish(child);
    let check = ran.exits(1).check("mounts");
    assert_eq!((check.verdict, errors(check)), (Verdict::Leaked, vec!["residue"]), "{}", ran.said());
    let [residue] = of_kind(check, Kind::Residue)[..] else { panic!("{}", ran.said()) };
    assert!(residue.message.starts_with("work/a/data could not be removed from the sandbox: "), "{}", residue.message);
    assert!(residue.message.contains("mount") || residue.message.contains("busy"), "{}", residue.message);
    assert_eq!(context.read("precious/file"), "kept\n");
    assert_eq!(ran.check("next").verdict, Verdict::Passed);
    assert!(context.processes().is_empty());
}

#[test]
fn paths_in_a_sandbox_are_short_and_its_home_is_not_temporary() {
    let context = Context::with(
        r"
- id: paths
  run: [python3, paths.py]
",
    );
    context.file(
        "paths.py",
        r#"
import os, socket, stat, tempfile

temporary, home, sandbox = (os.environ[name] for name in ("TMPDIR", "HOME", "HOSTPROOF_SANDBOX"))
assert len(temporary) <= 60, temporary
assert not home.startswith(temporary + "/") and not temporary.startswith(home + "/"), (home, temporary)
assert tempfile.gettempdir() == temporary and os.environ["TMP"] == os.environ["TEMP"] == temporary
assert stat.S_IMODE(os.stat(sandbox).st_mode) == 0o700
for name in ("XDG_RUNTIME_DIR", "APPDATA", "LOCALAPPDATA"):
    assert os.environ[name].startswith(sandbox + "/"), name
# Below HOME by themselves, also below one that a self-test makes.
assert not any(name.startswith("XDG_") and name.endswith("_HOME") for name in os.environ)
# As deep as fixtures make them.
folder = tempfile.mkdtemp(prefix="pytest-of-user-")
socket.socket(socket.AF_UNIX).bind(os.path.join(folder, "agent-socket.sock"))
"#,
    );
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(0).only().verdict, Verdict::Passed, "{}", ran.said());
}

#[test]
fn a_base_that_cannot_be_used_is_told() {
    let mut context = Context::with("- {id: a, shell: 'true'}");
    let missing = context.project().join("missing");
    context.env("HOSTPROOF_TMPDIR", &missing);
    let ran = context.hp(&["run"]);
    assert!(ran.exits(2).stderr.contains("missing"), "{}", ran.stderr);
}

#[test]
fn what_a_dead_run_left_is_swept_by_the_next_and_a_living_one_is_not() {
    let context = Context::with("- {id: a, shell: 'true'}");
    let dead = context.base().join("hp-dead00");
    fs::create_dir_all(dead.join("1/work/inner")).expect("folders");
    fs::write(dead.join("lock"), "").expect("a lock");
    let alive = context.base().join("hp-alive0");
    fs::create_dir_all(alive.join("1/work")).expect("folders");
    let lock = fs::File::create(alive.join("lock")).expect("a lock");
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).expect("the lock");
    let other = context.base().join("not-ours");
    fs::create_dir(&other).expect("a folder");
    context.hp_keeping(&["run"]).exits(0);
    assert!(!dead.exists() && alive.join("1/work").exists() && other.exists());
}
