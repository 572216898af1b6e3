//! What is remembered from run to run: which checks take longest, and of which projects.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use crate::context::Context;

#[test]
fn what_took_longest_starts_first_where_several_run_at_once() {
    let quick = (0..6).map(|n| format!("- {{id: quick/{n}, shell: 'echo quick/{n} >>order'}}"));
    let mut checks = quick.collect::<Vec<_>>().join("\n");
    checks.push_str("\n- {id: slow, shell: 'echo slow >>order; test -e known || sleep 1.5'}\n");
    let context = Context::with(&checks);
    let place = || {
        let order = context.read("order");
        fs::remove_file(context.project().join("order")).expect("the order");
        order.lines().position(|id| id == "slow").expect("it ran")
    };
    context.hp(&["run", "--jobs", "2"]).exits(0);
    assert!(place() >= 4, "nothing was known of it");
    context.file("known", "");
    let ran = context.hp(&["run", "--jobs", "2"]);
    assert!(place() <= 1, "it was known to be the slowest");
    // The report has them in the order of the manifest.
    assert_eq!(ran.report().checks.last().map(|check| check.id.as_str()), Some("slow"));
    // One after the other, they come as they are written.
    context.hp(&["run", "slow"]).exits(0);
    place();
    context.hp(&["run", "--jobs", "1"]).exits(0);
    assert_eq!(place(), 6);
}

#[test]
fn a_project_that_has_been_gone_for_a_while_is_forgotten() {
    let context = Context::with("- {id: a, shell: 'true'}");
    let folder = context.state().join("hostproof");
    fs::create_dir_all(&folder).expect("the folder");
    let here = context.project().display().to_string();
    let memory = |name: &str, content: &str, days: u64| {
        let path = folder.join(name);
        fs::write(&path, content).expect("a memory");
        let written = SystemTime::now() - Duration::from_secs(days * 24 * 3600);
        File::options().write(true).open(&path).and_then(|file| file.set_modified(written)).expect("its time");
    };
    let of = |project: &str| format!(r#"{{"schema": "hostproof.memory/1", "project": {project:?}, "red": {{}}}}"#);
    memory("gone.json", &of("/no/such/project"), 2);
    memory("gone-today.json", &of("/no/such/project"), 0);
    memory("there.json", &of(&here), 400);
    memory("damaged.json", "{", 400);
    memory("unreachable.json", &of(&format!("{here}/checks.d/checks.yaml/x")), 400);
    memory("other.txt", &of("/no/such/project"), 400);
    context.hp(&["run"]).exits(0);
    let mut left: Vec<String> = fs::read_dir(&folder)
        .expect("the folder")
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.len() < 30)
        .collect();
    left.sort();
    assert_eq!(left, ["damaged.json", "gone-today.json", "other.txt", "there.json", "unreachable.json"]);
}
