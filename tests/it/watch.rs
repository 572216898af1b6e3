//! `run --watch`: which checks run after which change.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStderr, Stdio};

use rustix::process::Signal;

use crate::context::{Context, signal};

/// Each tells in a file that git ignores that it ran.
const CHECKS: &str = r"
- {id: a, covers: [hooks/a.py], shell: 'echo a >> ran'}
- {id: b, covers: ['hooks/b*'], shell: 'cat tests/b.txt; echo b >> ran'}
- {id: any, shell: 'echo any >> ran'}
";

fn project(checks: &str) -> Context {
    let context = Context::with(checks);
    context.file(".gitignore", "ran\n");
    for name in ["hooks/a.py", "hooks/b.py", "tests/b.txt"] {
        context.file(name, "one\n");
    }
    let mut git = std::process::Command::new("git");
    context.dress(&mut git);
    assert!(git.args(["init", "--quiet"]).status().expect("git").success());
    context
}

/// A run that waits for changes.
struct Watched<'a> {
    context: &'a Context,
    child: Child,
    told: BufReader<ChildStderr>,
}

impl<'a> Watched<'a> {
    fn start(context: &'a Context) -> Self {
        let mut command = context.command(&["run", "--watch", "--jobs", "1"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("hostproof");
        let told = BufReader::new(child.stderr.take().expect("a pipe"));
        Self { context, child, told }
    }

    /// What it tells until it waits, and which checks ran meanwhile.
    #[track_caller]
    fn waits(&mut self) -> (String, String) {
        let mut said = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.told.read_line(&mut line).expect("text"), 0, "it ended, and said {said}");
            if line.starts_with("waiting for a change") {
                let ran = self.context.read("ran");
                self.context.file("ran", "");
                return (said, ran.split_whitespace().collect::<Vec<_>>().join(" "));
            }
            said += &line;
        }
    }

    fn ends(mut self) {
        signal(self.child.id(), Signal::INT);
        assert_eq!(self.child.wait().expect("an end").code(), Some(130));
        self.context.assert_nothing_left();
    }
}

#[test]
fn a_change_runs_what_it_concerns() {
    let context = project(CHECKS);
    let mut watched = Watched::start(&context);
    assert_eq!(watched.waits().1, "a b any");
    for (file, ran) in [
        ("hooks/a.py", "a any"),
        ("hooks/b.py", "b any"),
        // Covered by none; named in the command of one.
        ("tests/b.txt", "b any"),
        // New ones.
        ("hooks/b_new.py", "b any"),
        ("lib/new/c.py", "any"),
    ] {
        context.file(file, "changed\n");
        let (told, then) = watched.waits();
        assert_eq!((then.as_str(), told.trim()), (ran, format!("{file} changed").as_str()));
    }
    std::fs::remove_file(context.project().join("hooks/b_new.py")).expect("a file");
    assert_eq!(watched.waits().1, "b any");
    // Ignored: if it started a run, the next would be told of with it.
    context.file("hooks/a.pyc", "");
    context.file(".gitignore", "ran\n*.pyc\n");
    let told = watched.waits().0;
    assert!(!told.contains(".pyc changed"), "{told}");
    context.file("hooks/b.pyc", "");
    context.file("hooks/a.py", "changed again\n");
    let (told, ran) = watched.waits();
    assert_eq!((told.trim(), ran.as_str()), ("hooks/a.py changed", "a any"));
    watched.ends();
}

#[test]
fn a_changed_manifest_runs_the_checks_that_are_others_now() {
    let context = project(CHECKS);
    let mut watched = Watched::start(&context);
    watched.waits();
    let others = CHECKS.replace("echo b >>", "echo else >>").replace("- {id: any, shell: 'echo any >> ran'}", "");
    context.checks(&others);
    assert_eq!(watched.waits().1, "else");
    context.checks("- {id: a, rnu: [x]}");
    let (told, ran) = watched.waits();
    assert!(told.contains("rnu") && ran.is_empty(), "{told}{ran}");
    context.checks(&format!("{others}- {{id: new, covers: [x], shell: 'echo new >> ran'}}\n"));
    assert_eq!(watched.waits().1, "new");
    watched.ends();
}

#[test]
fn what_a_check_writes_itself_starts_no_run_for_ever() {
    let context = project("- {id: writes, shell: 'echo x >> own.txt; echo writes >> ran'}");
    let mut watched = Watched::start(&context);
    assert_eq!(watched.waits().1, "writes writes");
    // By somebody else it counts.
    context.file("own.txt", "mine\n");
    assert_eq!(watched.waits().1, "writes");
    watched.ends();
}

#[test]
fn a_project_that_git_does_not_know_is_told_of() {
    let context = Context::with(CHECKS);
    let ran = context.hp(&["run", "--watch"]);
    assert!(ran.exits(2).stderr.contains("--watch goes by the files that git lists: "), "{}", ran.said());
}
