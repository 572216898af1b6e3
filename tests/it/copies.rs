//! `copies` and `run --twice`: a check that passes alone and not beside itself.

use std::net::TcpListener;

use hostproof::model::{Kind, Verdict};

use crate::context::{Context, Ran, errors, of_kind};

/// Takes a thing that is there once, and keeps it until all copies have tried to; alone it lets go at once.
const TAKES: &str = r##"
import fcntl, os, socket, sys, tempfile, time
from multiprocessing import shared_memory

def path(name):
    return os.open(name, os.O_CREAT | os.O_EXCL | os.O_RDWR)

def tcp(port):
    one = socket.socket()
    one.bind(("127.0.0.1", int(port)))
    one.listen()
    return one

def udp(port):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind(("127.0.0.1", int(port)))
    return one

def lock(name):
    one = open(name, "a")
    fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return one

def abstract(name):
    one = socket.socket(socket.AF_UNIX)
    one.bind("\0" + name)
    one.listen()
    return one

def memory(name):
    return shared_memory.SharedMemory(name, create=True, size=64)

def bound(port):
    one = socket.socket()
    one.bind(("127.0.0.1", int(port)))
    return one

def folder(name):
    os.mkdir(name)

def moment(name):
    os.close(path(name))

def segment(key):
    import ctypes
    one = ctypes.CDLL(None).shmget(int(key), 4096, 0o3600)
    if one < 0:
        raise OSError("the segment is there")
    return one

def queue(key):
    import ctypes
    one = ctypes.CDLL(None).msgget(int(key), 0o3600)
    if one < 0:
        raise OSError("the queue is there")
    return one

# Whoever comes last has it as its own.
mine = int((os.environ["HOSTPROOF_CHECK"] + "#0").split("#")[1])

def mode(name):
    os.chmod(name, 0o600 + mine)

def length(name):
    os.truncate(name, mine)

def mtime(name):
    os.utime(name, (mine, mine))

def tmp(name):
    return path(os.path.join(tempfile.gettempdir(), name))

def own(name):
    return tempfile.NamedTemporaryFile(prefix=name)

kind, name = sys.argv[1:]
check = os.environ["HOSTPROOF_CHECK"]
meet = os.path.join(os.environ["MEET"], check.partition("#")[0])
try:
    thing = globals()[kind](name)
except OSError:
    open(os.path.join(meet, check), "w").close()
    raise
open(os.path.join(meet, check), "w").close()
end = time.monotonic() + 60
while "#" in check and len(os.listdir(meet)) < 2 and time.monotonic() < end:
    time.sleep(0.01)
# What is there for a moment only may go unseen.
seen = time.monotonic() + 0.5
while time.monotonic() < seen:
    time.sleep(0.01)
if kind in ("mode", "length", "mtime"):
    it = os.stat(name)
    assert {"mode": it.st_mode & 7, "length": it.st_size, "mtime": it.st_mtime}[kind] == mine, it
if kind == "memory":
    thing.unlink()
if kind == "folder":
    os.rmdir(name)
if kind in ("segment", "queue"):
    import ctypes
    getattr(ctypes.CDLL(None), "shmctl" if kind == "segment" else "msgctl")(thing, 0, None)
if kind in ("path", "tmp", "moment"):
    os.unlink(name if kind != "tmp" else os.path.join(tempfile.gettempdir(), name))
"##;

/// Runs a check that takes such a thing, in copies.
fn take(kind: &str, name: &str, key: &str, more: &[&str]) -> Ran {
    let mut context =
        Context::with(&format!("- {{id: takes, run: [python3, takes.py, {kind}, '{name}'], inherit: [MEET]{key}}}\n"));
    context.file("takes.py", TAKES);
    // Copies that made it themselves would meet in that.
    let meet = tempfile::tempdir().expect("a folder");
    for of in ["takes", "takes[one-tmpdir]"] {
        std::fs::create_dir(meet.path().join(of)).expect("a folder");
    }
    context.env("MEET", meet.path());
    context.hp(&[&["run"], more].concat())
}

/// What is told of the copies that collided, each with its id.
fn collisions(ran: &Ran) -> Vec<(String, String)> {
    let told = |check: &hostproof::model::CheckReport| {
        let found = of_kind(check, Kind::Collision).first().map(|finding| finding.message.clone())?;
        Some((check.id.clone(), found))
    };
    ran.report().checks.iter().filter_map(told).collect()
}

/// A name that no other test has, nor another copy of this one.
fn unique(word: &str) -> String {
    format!("hostproof-{word}-{}", std::process::id())
}

fn free_port() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("an address").port().to_string()
}

#[test]
fn what_copies_fight_over_is_named() {
    let file = |word: &str| format!("/tmp/{}", unique(word));
    let (path, lock, socket, memory) = (file("path"), file("lock"), unique("socket"), unique("memory"));
    let (tcp, udp) = (free_port(), free_port());
    for (kind, name, words) in [
        ("path", &path, path.clone()),
        ("tcp", &tcp, format!("TCP port 127.0.0.1:{tcp}")),
        ("udp", &udp, format!("UDP port 127.0.0.1:{udp}")),
        ("lock", &lock, format!("a lock on {lock}")),
        ("abstract", &socket, format!("the abstract socket @{socket}")),
        ("memory", &memory, format!("the shared memory /dev/shm/{memory}")),
    ] {
        let ran = take(kind, name, ", copies: 2", &[]);
        let found = collisions(&ran);
        // Whoever comes first has it, in the one TMPDIR as in two.
        assert_eq!(found.len(), 2, "{kind}: {}", ran.said());
        for (id, message) in &found {
            assert!(message.contains(&words), "{kind}: {message}");
            let place = if id.contains("[one-tmpdir]#") { " with one TMPDIR for all" } else { "" };
            assert!(message.starts_with(&format!("passes alone, but not beside itself{place}: ")), "{id}: {message}");
        }
        assert_eq!(ran.exits(1).check("takes").verdict, Verdict::Passed, "{kind}: {}", ran.said());
        assert!(ran.stdout.contains("collision"), "{}", ran.stdout);
    }
    let _ = std::fs::remove_file(lock);
}

/// Who is root is told of each call, and so of what nothing shows later, and of nobody else's.
#[cfg(target_os = "linux")]
#[test]
fn what_is_there_for_a_moment_or_is_never_had_is_named() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root is told of each call");
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let deep = place.path().join("a/b");
    std::fs::create_dir_all(&deep).expect("folders");
    let file = |name: &str| deep.join(name).display().to_string();
    let (folder, moment, port) = (file("folder"), file("moment"), free_port());
    let key = std::process::id() + 0x0100_0000;
    for (kind, name, words) in [
        ("bound", &port, format!("TCP port 127.0.0.1:{port}")),
        ("folder", &folder, folder.clone()),
        ("moment", &moment, moment.clone()),
        ("segment", &key.to_string(), format!("the shared memory with the key {key:#010x}")),
        ("queue", &key.to_string(), format!("the message queue with the key {key:#010x}")),
    ] {
        let ran = take(kind, name, ", copies: 2", &[]);
        let found = collisions(&ran);
        assert_eq!(found.len(), 2, "{kind}: {}", ran.said());
        for (id, message) in &found {
            assert!(message.contains("more than one of its runs used ") && message.contains(&words), "{id}: {message}");
        }
        // The check alone has a note of it, if it is a file.
        let outside = of_kind(ran.check("takes"), Kind::Residue);
        let told = outside.iter().find(|one| one.path.as_deref() == Some(name.as_str())).map(|one| &one.message);
        let is_file = kind == "folder" || kind == "moment";
        let gone =
            format!("{name} was used, and is not there any more: a process of the check did that outside its sandbox");
        assert_eq!(told, Some(&gone).filter(|_| is_file), "{}", ran.said());
    }
}

/// A file is changed without being opened, too.
#[cfg(target_os = "linux")]
#[test]
fn what_is_changed_by_its_name_alone_is_named() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root is told of each call");
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    for kind in ["mode", "length", "mtime"] {
        // Deeper than what is looked into where nothing is told.
        let folder = place.path().join("a").join(kind);
        std::fs::create_dir_all(&folder).expect("folders");
        let file = folder.join("file").display().to_string();
        std::fs::write(&file, "x").expect("a file");
        let ran = take(kind, &file, ", copies: 2", &[]);
        let found = collisions(&ran);
        assert!(!found.is_empty(), "{kind}: {}", ran.said());
        for (id, message) in &found {
            assert!(message.contains("more than one of its runs used ") && message.contains(&file), "{id}: {message}");
        }
        assert_eq!(ran.exits(1).check("takes").verdict, Verdict::Passed, "{kind}: {}", ran.said());
    }
}

#[test]
fn a_fixed_name_in_tmpdir_shows_with_one_for_all() {
    let ran = take("tmp", "guard.pid", ", copies: 3", &[]);
    let found = collisions(&ran);
    assert_eq!(found.len(), 2, "{}", ran.said());
    assert!(found.iter().all(|(id, _)| id.starts_with("takes[one-tmpdir]#")), "{found:?}");
    assert!(found.iter().all(|(_, message)| message.contains("$TMPDIR/guard.pid")), "{found:?}");
    assert_eq!(ran.exits(1).last_line(), "5/7 checks", "{}", ran.said());
}

#[test]
fn who_lets_the_system_choose_is_alone_in_any_company() {
    let ran = take("own", "guard", "", &["--twice"]);
    assert_eq!(ran.exits(0).last_line(), "5/5 checks", "{}", ran.said());
    let ids: Vec<&str> = ran.report().checks.iter().map(|check| check.id.as_str()).collect();
    assert_eq!(ids, ["takes", "takes#1", "takes#2", "takes[one-tmpdir]#1", "takes[one-tmpdir]#2"]);
}

#[test]
fn copies_run_at_the_same_moment_whatever_the_jobs() {
    // Each waits for the others: one after the other they would never end.
    let mut context = Context::with(
        "- id: all\n  copies: 3\n  timeout: 60s\n  inherit: [MEET]\n  lock: [one]\n  shell: |\n    case $HOSTPROOF_CHECK in *'#'*) ;; *) exit 0 ;; esac\n    \
         touch \"$MEET/$HOSTPROOF_CHECK\"\n    \
         until test $(ls \"$MEET\" | grep -cF \"${HOSTPROOF_CHECK%#*}#\") = 3; do sleep 0.02; done\n",
    );
    let meet = tempfile::tempdir().expect("a folder");
    context.env("MEET", meet.path());
    let ran = context.hp(&["run", "--jobs", "1"]);
    assert_eq!(ran.exits(0).last_line(), "7/7 checks", "{}", ran.said());
}

#[test]
fn of_what_is_red_alone_nothing_is_said() {
    let context = Context::with("- {id: red, shell: 'exit 1', copies: 2}\n");
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).last_line(), "0/5 checks", "{}", ran.said());
    assert_eq!(collisions(&ran), []);
}

#[test]
fn one_that_is_named_brings_the_others_along() {
    let context = Context::with("- {id: a, shell: 'exit 0', copies: 2}\n- {id: b, shell: 'exit 0'}\n");
    let ran = context.hp(&["run", "a#2"]);
    let ids: Vec<&str> = ran.exits(0).report().checks.iter().map(|check| check.id.as_str()).collect();
    assert_eq!(ids, ["a", "a#1", "a#2"]);
}

#[test]
fn copies_repeat_together() {
    // The second time the copies meet, one is red.
    let mut context = Context::with(
        "- id: pair\n  copies: 2\n  repeat: 2\n  inherit: [MEET]\n  shell: |\n    case $HOSTPROOF_CHECK in 'pair#'*) ;; *) exit 0 ;; esac\n    \
         echo x >> \"$MEET/$HOSTPROOF_CHECK\"\n    test \"$HOSTPROOF_CHECK\" = 'pair#1' || exit 0\n    \
         test $(wc -l < \"$MEET/$HOSTPROOF_CHECK\") = 1\n",
    );
    let meet = tempfile::tempdir().expect("a folder");
    context.env("MEET", meet.path());
    let ran = context.hp(&["run"]);
    assert_eq!(ran.exits(1).last_line(), "4/5 checks, 1 flaky", "{}", ran.said());
    let pair = ran.check("pair#1");
    assert_eq!(pair.runs.as_ref().map(|runs| (runs.count, runs.red)), Some((2, 1)));
    assert!(errors(pair).contains(&"collision"), "{}", ran.said());
    assert_eq!(ran.check("pair#2").runs.as_ref().map(|runs| runs.count), Some(2));
}
