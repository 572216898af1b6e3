//! The same run in a container: what it finds there, what it leaves alone, how it ends, and what is said where it can't be.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hostproof::model::Verdict;
use hostproof::platform;
use rustix::process::Signal;

use crate::context::{Context, Ran, eventually, fifo, signal, skip, variable, works};
use crate::story::{by_rules, culprit_is_named, story};

/// An engine that answers, an image that it has, and a static hostproof, as `.ci/engine` provides them.
pub struct Engine {
    pub program: String,
    pub image: String,
}

/// What engines read of the environment.
const READ: [&str; 6] = [
    "HOSTPROOF_STATIC",
    "CONTAINERS_CONF",
    "CONTAINERS_STORAGE_CONF",
    "DOCKER_HOST",
    "DOCKER_CONFIG",
    "XDG_RUNTIME_DIR",
];

impl Engine {
    /// The one of this machine; says why, if the test must do without.
    pub fn of_this_machine() -> Option<Self> {
        let text = |name| variable(name).and_then(|value| value.into_string().ok());
        let (program, image) = (text("HOSTPROOF_TEST_ENGINE"), text("HOSTPROOF_TEST_IMAGE"));
        let (Some(program), Some(image), Some(_)) = (program, image, text("HOSTPROOF_STATIC")) else {
            skip("no container engine, image and static program are named: . .ci/engine && provide_engine");
            return None;
        };
        if !works(&[&program, "image", "inspect", &image]) {
            skip(&format!("{program} has no image {image}"));
            return None;
        }
        Some(Self { program, image })
    }

    /// A project whose hostproof can reach the engine.
    fn dress(&self, mut context: Context) -> Contained<'_> {
        Self::reach(&mut context);
        Contained { engine: self, context }
    }

    /// Gives hostproof what the engine reads of the environment.
    pub fn reach(context: &mut Context) {
        for name in READ {
            if let Some(value) = variable(name) {
                context.env(name, value);
            }
        }
    }

    /// What the engine prints to a command.
    fn says(&self, arguments: &[&str]) -> String {
        let output = Command::new(&self.program).args(arguments).stdin(Stdio::null()).output().expect("the engine");
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The containers whose label names that process.
    fn containers_of(&self, owner: u32) -> Vec<String> {
        let ids = self.says(&["ps", "--all", "--quiet", "--filter", "label=hostproof.owner"]);
        let format = "{{index .Config.Labels \"hostproof.owner\"}}";
        let of_owner = |id: &&str| {
            // It may be gone by now.
            let output = Command::new(&self.program).args(["inspect", "--format", format, id]).output();
            let label = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
            label.split_whitespace().nth(2) == Some(&owner.to_string())
        };
        ids.split_whitespace().filter(of_owner).map(str::to_owned).collect()
    }
}

/// A project, and hostproof that runs it in a container.
struct Contained<'e> {
    engine: &'e Engine,
    context: Context,
}

impl Contained<'_> {
    fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let mut arguments = vec!["run", "--in", &self.engine.image, "--engine", &self.engine.program];
        arguments.extend(more);
        arguments
    }

    fn run(&self, more: &[&str]) -> Ran {
        self.context.hp(&self.arguments(more))
    }

    /// Starts it, and waits until a check is at work in the container.
    fn at_work(&self, more: &[&str]) -> Child {
        let arguments = self.arguments(&[&["--events"], more].concat());
        let mut command = self.context.command(&arguments);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hostproof");
        let mut events = BufReader::new(child.stdout.take().expect("a stream"));
        let mut line = String::new();
        while !line.contains("\"check-started\"") {
            line.clear();
            assert!(events.read_line(&mut line).expect("events") > 0, "no check has begun");
        }
        // What follows is read by nobody, and fits into the pipe.
        child.stdout = Some(events.into_inner());
        assert_eq!(self.engine.containers_of(child.id()).len(), 1);
        child
    }
}

/// A check that lasts so long, with a child of its own.
const WAITS: &str = "- {id: waits, shell: 'setsid sleep 50 & sleep 50'}";
const LASTS: Duration = Duration::from_secs(50);

#[test]
fn the_story_is_found_in_a_container_as_on_the_host() {
    let Some(engine) = Engine::of_this_machine() else { return };
    let contained = engine.dress(story("unmended", "[python3, fixtures/sweep/unmended/test_sweep.py]"));
    let ran = by_rules(&contained.context, "unmended", "linux", &contained.arguments(&[]));
    ran.exits(1);
    culprit_is_named(ran.only());
    assert!(ran.stdout.contains(&format!("container {} ({}", engine.image, engine.program)), "{}", ran.said());
    assert!(ran.stdout.contains(&format!("again  hostproof run sweep --in {}", engine.image)), "{}", ran.said());
    let mended = engine.dress(story("mended", "[python3, fixtures/sweep/mended/test_sweep.py]"));
    by_rules(&mended.context, "mended", "linux", &mended.arguments(&[])).exits(0);
}

#[test]
fn windows_rules_hold_in_a_container() {
    let Some(engine) = Engine::of_this_machine() else { return };
    let contained = engine.dress(story("unmended", "[python3, fixtures/sweep/unmended/test_sweep.py]"));
    let ran = by_rules(&contained.context, "unmended", "windows", &contained.arguments(&["--as", "windows"]));
    let [frame, ..] = &ran.only().frames[..] else { panic!("{}", ran.said()) };
    assert_eq!(frame.file, "fixtures/sweep/common/suite.py");
    assert!(ran.stdout.contains("suite.py:") && ran.stdout.contains("| "), "the source line is the host's");
}

#[test]
fn the_report_names_the_container_and_its_facts_are_those_inside() {
    let Some(engine) = Engine::of_this_machine() else { return };
    let contained = engine.dress(Context::with("- {id: a, shell: 'cat /proc/1/comm; cat /proc/net/dev'}"));
    let ran = contained.run(&[]);
    let place = &ran.exits(0).report().place;
    assert_eq!(place.kind, "container");
    assert_eq!(place.engine.as_deref(), Some(&*engine.program));
    assert_eq!(place.image.as_deref(), Some(&*engine.image));
    assert!(place.engine_version.is_some());
    let id = place.image_id.as_deref().expect("an id");
    assert!(id.starts_with("sha256:") && id.len() == 71, "{id}");
    let facts = &ran.report().host;
    assert_eq!(facts.os_version.as_deref(), Some("the image of hostproof's tests"));
    assert!(!facts.probes.is_empty());
    // An init of the engine's is process 1, and no network but the loopback is there.
    let said = &ran.only().stdout.tail;
    assert!(!said.starts_with("hostproof"), "{said}");
    let interfaces: Vec<&str> = said.lines().filter_map(|line| Some(line.split_once(':')?.0.trim())).collect();
    assert_eq!(interfaces, ["lo"], "{said}");
    let bare = contained.run(&["--no-init"]);
    assert!(bare.exits(0).only().stdout.tail.starts_with("hostproof"), "{}", bare.said());
}

#[test]
fn a_copy_is_worked_on_without_what_git_ignores() {
    let Some(engine) = Engine::of_this_machine() else { return };
    let context = Context::new();
    let top = context.project().join("top");
    let git = |folder: &Path, arguments: &[&str]| {
        let mut command = Command::new("git");
        context.dress(&mut command);
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"];
        let done = command.current_dir(folder).args(identity).args(arguments).output().expect("git");
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    };
    let checks = "version: 1\ndefaults: {reader: none}\nchecks:\n- id: files\n  shell: |\n    \
                  ls -A; ls -A ..; cat note; echo changed > note; cat ../.git/HEAD\n";
    context.file("top/project/checks.d/a.yaml", checks);
    context.file("top/project/note", "as it was\n");
    context.file("top/.gitignore", "ignored\n");
    git(&top, &["init", "-q", "-b", "trunk", "."]);
    git(&top, &["add", "."]);
    git(&top, &["commit", "-q", "-m", "all"]);
    git(&top, &["worktree", "add", "-q", "-b", "side", "../side"]);
    for place in ["top", "side"] {
        context.file(&format!("{place}/project/new"), "");
        context.file(&format!("{place}/project/ignored"), "");
    }
    let contained = engine.dress(context);
    for (place, branch) in [("top", "trunk"), ("side", "side")] {
        let manifests = format!("{place}/project/checks.d");
        let ran = contained.run(&["--manifests", &manifests]);
        let said = &ran.exits(0).only().stdout.tail;
        for seen in ["new\n", "note\n", ".git\n", ".gitignore\n", "as it was\n"] {
            assert!(said.contains(seen), "{place}: {seen:?} in {said}");
        }
        assert!(!said.lines().any(|line| line == "ignored"), "{place}: {said}");
        assert!(said.contains(&format!("ref: refs/heads/{branch}\n")), "{said}");
        assert_eq!(contained.context.read(&format!("{place}/project/note")), "as it was\n");
        let source = ran.report().source.start.as_ref().expect("git's facts are the host's");
        assert!(source.dirty && source.commit.is_some());
    }
}

#[test]
fn a_time_limit_holds_inside_and_the_container_is_gone() {
    let Some(engine) = Engine::of_this_machine() else { return };
    let contained = engine.dress(Context::with("- {id: late, timeout: 1s, shell: 'setsid sleep 50 & sleep 50'}"));
    let child =
        contained.context.command(&contained.arguments(&[])).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("hostproof");
    let owner = child.id();
    let ran = contained.context.finish(child);
    assert_eq!(ran.exits(1).only().verdict, Verdict::TimedOut, "{}", ran.said());
    assert!(engine.containers_of(owner).is_empty());
}

#[test]
fn a_killed_harness_leaves_no_container() {
    let Some(engine) = Engine::of_this_machine() else { return };
    for more in [&[][..], &["--no-init"]] {
        let contained = engine.dress(Context::with(WAITS));
        let mut child = contained.at_work(more);
        signal(child.id(), Signal::KILL);
        child.wait().expect("an end");
        // Long before the check would have ended by itself.
        let deadline = Instant::now() + LASTS / 2;
        while !engine.containers_of(child.id()).is_empty() {
            assert!(Instant::now() < deadline, "the container is there still");
        }
        contained.context.eventually_nothing_left();
    }
}

#[test]
fn an_interrupt_ends_what_runs_inside_and_reports_it() {
    let Some(engine) = Engine::of_this_machine() else { return };
    for number in [Signal::INT, Signal::TERM] {
        let contained = engine.dress(Context::with(&format!("{WAITS}\n- {{id: last, shell: 'true'}}")));
        let child = contained.at_work(&["--jobs", "1"]);
        let owner = child.id();
        signal(owner, number);
        let ran = contained.context.finish(child);
        ran.exits(130);
        assert!(ran.report().run.interrupted);
        assert_eq!(ran.check("waits").verdict, Verdict::Broken);
        assert!(engine.containers_of(owner).is_empty());
    }
}

#[test]
fn a_run_whose_container_is_killed_counts_for_nothing() {
    let Some(engine) = Engine::of_this_machine() else { return };
    let contained = engine.dress(Context::with(&format!("- {{id: green, shell: 'true'}}\n{WAITS}")));
    let child = contained.at_work(&["--jobs", "1"]);
    let owner = child.id();
    for container in engine.containers_of(owner) {
        engine.says(&["kill", &container]);
    }
    let ran = contained.context.finish(child);
    ran.exits(3);
    assert!(
        ran.stderr.contains("the container ended before its run was over, so that nothing of it counts"),
        "{}",
        ran.said()
    );
    assert!(!contained.context.report_file().exists());
    assert!(engine.containers_of(owner).is_empty());
}

#[test]
fn what_a_run_that_is_gone_left_behind_is_removed_and_nothing_else() {
    let Some(engine) = Engine::of_this_machine() else { return };
    let machine = platform::machine().expect("this machine");
    let user = platform::user().expect("a user");
    let started = platform::started(std::process::id()).expect("this process");
    // What is to be removed would last longest.
    let start = |machine: &str, user: u32, started: u64, seconds: &str| {
        let label = format!("--label=hostproof.owner={machine} {user} {} {started}", std::process::id());
        engine.says(&["run", "--detach", "--rm", "--network=none", "--init", &label, &engine.image, "sleep", seconds])
    };
    let gone = start(&machine, user, started + 1, "58");
    let kept =
        [start(&machine, user, started, "40"), start("elsewhere", user, 1, "40"), start(&machine, user + 1, 1, "40")];
    let contained = engine.dress(Context::with("- {id: a, shell: 'true'}"));
    let ran = contained.run(&[]);
    let is_there = |id: &String| works(&[&engine.program, "inspect", id]);
    // A run of another test may be about to remove it, and then this one has nothing to tell.
    eventually("what was left is removed", || !is_there(&gone));
    let stay = kept.iter().all(is_there);
    // Asked for by name: podman's own removal of one that ended does not always come.
    for container in &kept {
        eventually("a container is removed", || {
            works(&[&engine.program, "rm", "--force", container]) && !is_there(container)
        });
    }
    assert!(stay, "{}", ran.exits(0).said());
}

#[test]
fn an_image_is_built_first_from_a_file_of_the_project() {
    let Some(engine) = Engine::of_this_machine() else { return };
    let contained = engine.dress(Context::with("- {id: a, inherit: [MADE], shell: 'test \"$MADE\" = here'}"));
    contained.context.file("Dockerfile", format!("FROM {}\nENV MADE=here\n", engine.image));
    let name = format!("localhost/hostproof-test-{}", std::process::id());
    let arguments = ["run", "--in", &name, "--engine", &engine.program, "--build", "Dockerfile"];
    let ran = contained.context.hp(&arguments);
    engine.says(&["rmi", "--force", &name]);
    ran.exits(0);
    let missing = contained.context.hp(&["run", "--in", "x", "--engine", &engine.program, "--build", "none"]);
    assert!(missing.exits(2).stderr.contains("--build names none, which is not a file"), "{}", missing.said());
}

#[test]
fn where_nothing_can_be_written_a_file_system_in_memory_helps() {
    let Some(engine) = Engine::of_this_machine() else { return };
    let mut contained = engine.dress(Context::with("- {id: a, shell: 'echo x > \"$TMPDIR/x\"'}"));
    let read_only = if engine.program == "podman" { "--read-only --read-only-tmpfs=false" } else { "--read-only" };
    let script = format!("case $1 in run) shift; exec \"$REAL\" run {read_only} \"$@\";; esac; exec \"$REAL\" \"$@\"");
    let real = platform::find_program(engine.program.as_ref(), variable("PATH").as_deref(), Path::new("/"))
        .expect("the engine");
    contained.context.env("REAL", &real);
    scripted(&mut contained.context, &engine.program, &script);
    let ran = contained.run(&[]);
    assert!(ran.exits(3).stderr.contains("nothing can be written in /tmp in the container"), "{}", ran.said());
    assert!(ran.stderr.contains("help: --tmpfs /tmp"), "{}", ran.said());
    contained.run(&["--tmpfs", "/tmp"]).exits(0);
}

#[test]
fn a_program_that_is_not_hostproof_is_told_by_the_engines_words() {
    let Some(engine) = Engine::of_this_machine() else { return };
    let contained = engine.dress(Context::with("- {id: a, shell: 'true'}"));
    // Static, and knows no such word.
    let ran = contained.run(&["--binary", "/bin/busybox"]);
    assert!(ran.exits(3).stderr.contains("the container ended before its run was over"), "{}", ran.said());
    assert!(ran.stderr.contains("applet not found"), "{}", ran.said());
    let ran = contained.run(&["--binary", "checks.d/checks.yaml"]);
    assert!(ran.exits(2).stderr.contains("which is no program for Linux"), "{}", ran.said());
    let ran = contained.context.hp(&["run", "--in", "localhost/nobody-has-this:1", "--engine", &engine.program]);
    assert!(ran.exits(2).stderr.contains("has no image localhost/nobody-has-this:1 here"), "{}", ran.said());
    assert!(ran.stderr.contains("hostproof fetches none unasked: --pull does"), "{}", ran.said());
}

/// A case that depends on the umask, and one that depends on nothing.
const DEPENDS: &str = r#"
import os, unittest


class Depends(unittest.TestCase):
    def test_mode(self):
        os.close(os.open(os.environ["TMPDIR"] + "/out", os.O_CREAT | os.O_WRONLY, 0o644))
        self.assertEqual(oct(os.stat(os.environ["TMPDIR"] + "/out").st_mode & 0o777), "0o644")

    def test_same(self):
        pass


unittest.main()
"#;

#[test]
fn parity_names_the_fact_that_parts_the_container_from_this_machine() {
    let Some(engine) = Engine::of_this_machine() else { return };
    let contained = engine.dress(Context::proving("- {id: mode, run: [python3, test_mode.py]}"));
    let context = &contained.context;
    context.file("test_mode.py", DEPENDS);
    let hostproof = context.command(&["run", "--parity", &engine.image, "--engine", &engine.program]);
    let mut command = Command::new("sh");
    context.dress(&mut command);
    command.args(["-c", "umask 077; exec \"$@\"", "sh"]).arg(hostproof.get_program()).args(hostproof.get_args());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
    let ran = context.finish(child);
    context.assert_nothing_left();
    ran.exits(1);
    let labels = format!("0077 in linux, 0022 in {}", engine.program);
    for said in [
        "DIFFERENT mode, first in __main__.Depends.test_mode: red in linux, green in",
        "test_mode.py:8 in test_mode",
        &format!("likely  umask: {labels}"),
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.said());
    }
    // The report of this machine; the container's is beside it.
    assert_eq!(ran.report().place.kind, "host");
    let other = fs::read(context.report_file().with_file_name("report.container.json")).expect("the other report");
    let other: hostproof::model::Report = serde_json::from_slice(&other).expect("a report");
    assert_eq!((other.place.kind.as_str(), other.totals.cases.passed), ("container", 2));
}

#[test]
fn parity_of_what_does_not_depend_on_the_place_is_green() {
    let Some(engine) = Engine::of_this_machine() else { return };
    let contained = engine.dress(Context::proving("- {id: same, run: [python3, test_same.py]}"));
    contained.context.file(
        "test_same.py",
        "import unittest\n\nclass A(unittest.TestCase):\n    def test_a(self): pass\n\nunittest.main()\n",
    );
    let ran = contained.context.hp(&["run", "--parity", &engine.image, "--engine", &engine.program]);
    assert!(ran.exits(0).last_line().starts_with("same: 1 check"), "{}", ran.said());
    let missing =
        contained.context.hp(&["run", "--parity", "localhost/nobody-has-this:1", "--engine", &engine.program]);
    // Nothing is run here for an image that is not to be had.
    assert!(!missing.exits(2).stdout.contains("hostproof"), "{}", missing.said());
}

/// Puts a script in an engine's place, before everything else on the path.
fn scripted(context: &mut Context, engine: &str, script: &str) {
    context.program(&format!("bin/{engine}"), &format!("#!/bin/sh\n{script}\n"));
    let mut path = vec![context.project().join("bin")];
    path.extend(std::env::split_paths(&variable("PATH").expect("a path")));
    let path = std::env::join_paths(path).expect("a path");
    context.env("PATH", path);
}

/// An engine that has one image for an architecture, and runs it with a script.
fn engine_of(architecture: &str, run: &str) -> Context {
    let mut context = Context::with("- {id: a, shell: 'true'}");
    let script = format!(
        r#"case $1 in
version) echo 1.2.3;; --version) echo Docker;; info) echo;; ps) ;;
image) echo '[{{"Id":"sha256:ab","Os":"linux","Architecture":"{architecture}","RepoDigests":[]}}]';;
run) {run};;
*) exit 1;;
esac"#
    );
    scripted(&mut context, "docker", &script);
    context
}

/// What an engine without this machine's architecture is for.
fn here() -> &'static str {
    if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" }
}

/// The beginning of a static program for this machine.
fn a_program(context: &Context) -> PathBuf {
    let mut head = vec![0u8; 0x78];
    head[..6].copy_from_slice(b"\x7fELF\x02\x01");
    (head[0x12], head[0x20], head[0x36], head[0x38], head[0x40]) =
        (if here() == "arm64" { 0xb7 } else { 0x3e }, 0x40, 0x38, 1, 1);
    context.file("program", head)
}

#[test]
fn without_an_engine_it_is_said_what_is_missing() {
    let mut context = Context::with("- {id: a, shell: 'true'}");
    context.env("PATH", "/nowhere");
    let ran = context.hp(&["run", "--in", "x"]);
    assert!(ran.exits(3).stderr.contains("no container engine answers"), "{}", ran.said());
    for engine in ["docker", "podman"] {
        assert!(ran.stderr.contains(&format!("{engine}  is not on PATH")), "{}", ran.said());
    }
    assert!(ran.stderr.contains("help: install docker or podman, or start its engine"), "{}", ran.said());
    // A client without a server is none.
    let mut context = Context::with("- {id: a, shell: 'true'}");
    scripted(&mut context, "docker", "echo; echo 'Cannot connect to the Docker daemon' >&2; exit 1");
    let ran = context.hp(&["run", "--in", "x", "--engine", "docker"]);
    assert!(ran.exits(3).stderr.contains("docker  Cannot connect to the Docker daemon"), "{}", ran.said());
    // Nor is one that succeeds and names none.
    scripted(&mut context, "docker", "echo");
    let ran = context.hp(&["run", "--in", "x", "--engine", "docker"]);
    assert!(ran.exits(3).stderr.contains("its client is here, and names no engine"), "{}", ran.said());
}

#[test]
fn an_image_for_another_processor_is_told_before_it_is_started() {
    let context = engine_of("s390x", "echo started > started");
    let binary = a_program(&context);
    let ran = context.hp(&["run", "--in", "x:1", "--binary", binary.to_str().expect("text")]);
    let wanted = format!("which is for {}, and image x:1 for s390x", here());
    assert!(ran.exits(2).stderr.contains(&wanted), "{}", ran.said());
    let pipe = context.project().join("pipe");
    fifo(&pipe);
    let ran = context.hp(&["run", "--in", "x:1", "--binary", pipe.to_str().expect("text")]);
    assert!(ran.exits(2).stderr.contains("pipe, which can't be read"), "nobody waits for it: {}", ran.said());
    let ran = context.hp(&["run", "--in", "x:1"]);
    assert!(ran.exits(2).stderr.contains("wants a static program for linux/s390x"), "{}", ran.said());
    assert!(!context.project().join("started").exists());
}

#[test]
fn an_exit_status_proves_nothing() {
    for (run, said) in [
        ("cat >/dev/null & exit 0", "docker says nothing"),
        ("echo 'exec /hostproof/hostproof: exec format error'; exit 1", "help: the image is for another processor"),
        ("echo 'no init' >&2; exit 125", "docker says: no init"),
        // A line that nobody keeps.
        ("head -c 20000000 /dev/zero | tr '\\0' x; echo; echo 'the end'; exit 1", "(exit status: 1); docker says: xxx"),
        ("printf '{'; head -c 268435456 /dev/zero", "the container sent a line of 268435457 bytes"),
        // Everything but the end.
        (r#"echo '{"ready":{"version":"0"}}'; exit 0"#, "the container ended before its run was over"),
    ] {
        let context = engine_of(here(), run);
        let binary = a_program(&context);
        let ran = context.hp(&["run", "--in", "x:1", "--binary", binary.to_str().expect("text")]);
        assert!(ran.exits(3).stderr.contains(said), "{run}: {}", ran.said());
        assert!(!context.report_file().exists(), "{run}: {}", ran.said());
    }
}

#[test]
fn without_proc_nothing_is_run() {
    let Some(program) = variable("HOSTPROOF_STATIC") else {
        return skip("no static program is named: . .ci/engine && provide_engine");
    };
    let mut context = engine_of(here(), "exec chroot \"$ROOT\" /hostproof __inside");
    let root = context.project().join("root");
    fs::create_dir(&root).expect("a folder");
    fs::copy(&program, root.join("hostproof")).expect("the program");
    if !works(&["chroot", root.to_str().expect("text"), "/hostproof", "--version"]) {
        return skip("this user may not change the root");
    }
    context.env("ROOT", &root);
    let ran = context.hp(&["run", "--in", "x:1", "--binary", program.to_str().expect("text")]);
    assert!(ran.exits(3).stderr.contains("there is no /proc in the container"), "{}", ran.said());
}

/// A container by docker's command line: podman does what it says, which takes the same words but for some questions. Where
/// docker's own client is here, it is shown every command, and must understand it.
#[test]
fn docker_is_spoken_to_in_its_own_words() {
    let Some(engine) = Engine::of_this_machine() else { return };
    if engine.program != "podman" {
        return; // Then all the other tests do it.
    }
    let mut contained = engine.dress(Context::with("- {id: a, shell: 'true'}\n- {id: b, shell: 'exit 3'}"));
    let script = r#"printf '%s\n' "$#" "$@" >> "$WORDS"
case $1 in
version) exec podman info --format '{{.Version.Version}}';;
--version) echo 'Docker version 28.2.2, build e6534b4';;
info) echo '[name=seccomp,profile=builtin]';;
*) exec podman "$@";;
esac"#;
    let words = contained.context.project().join("words");
    contained.context.env("WORDS", &words);
    scripted(&mut contained.context, "docker", script);
    let file = contained.context.file("Image", format!("FROM {}\n", engine.image));
    let image = &format!("localhost/hostproof-test-docker:{}", std::process::id());
    let run = ["run", "--in", image, "--engine", "docker", "--build", file.to_str().expect("text"), "--tmpfs", "/mnt"];
    let ran = contained.context.hp(&run);
    works(&["podman", "rmi", image]);
    let place = &ran.exits(1).report().place;
    assert_eq!((place.engine.as_deref(), place.image.as_deref()), (Some("docker"), Some(&**image)), "{}", ran.said());
    assert_eq!(ran.check("a").verdict, Verdict::Passed, "{}", ran.said());
    assert_eq!(ran.check("b").verdict, Verdict::Failed, "{}", ran.said());
    let said = fs::read_to_string(&words).expect("what docker was asked");
    let mut lines = said.lines();
    let mut seen = Vec::new();
    while let Some(count) = lines.next() {
        let count = count.parse().expect("a number");
        let argv: Vec<&str> = lines.by_ref().take(count).collect();
        seen.push(argv[0]);
        let mut docker = Command::new("docker");
        // No engine is there, whatever this machine has.
        docker.env("DOCKER_HOST", "unix:///nonexistent").args(&argv).stdin(Stdio::null());
        let Ok(output) = docker.output() else { continue };
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() || error.contains("unix:///nonexistent"), "{argv:?}: {error}");
    }
    for verb in ["version", "ps", "build", "image", "run"] {
        assert!(seen.contains(&verb), "{verb} in {seen:?}");
    }
}

#[test]
fn options_of_a_container_are_refused_where_they_mean_nothing() {
    let context = Context::with("- {id: a, shell: 'true'}");
    for arguments in
        [&["run", "--network"][..], &["run", "--in", "x", "--keep", "failed"], &["run", "--engine", "docker"]]
    {
        context.hp(arguments).exits(2);
    }
    for (arguments, said) in [
        (&["run", "--in", ""][..], "it is empty; name one as the engine does"),
        (&["run", "--parity", " "], "no image has a space in its name"),
        (&["run", "--in=--privileged"], "no image's name begins with a dash"),
        (&["run", "--in", "x", "--tmpfs", "tmp"], "it does not begin with a slash; name a folder of the container"),
        (&["run", "--in", "x", "--tmpfs", "//proc/"], "the engine itself has something there"),
        (&["run", "--in", "x", "--tmpfs", "/"], "that would hide the whole image"),
        (&["run", "--in", "x", "--tmpfs", "/tmp:size=1g"], "no engine takes one with a colon or a comma"),
    ] {
        let ran = context.hp(arguments);
        assert!(ran.exits(2).stderr.contains(said), "{}", ran.said());
    }
}
