//! `hostproof doctor`: what this machine lets hostproof see and do.

use std::process::{Command, Stdio};

use hostproof::model::{Ability, Can, Examination};
use serde_json::Value;

use crate::context::{Context, Ran, skip, works};
use crate::schema::fits;

fn examined(ran: &Ran) -> Examination {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.said()))
}

#[track_caller]
fn ability<'a>(examination: &'a Examination, name: &str) -> &'a Ability {
    let ability = examination.abilities.iter().find(|ability| ability.name == name);
    ability.unwrap_or_else(|| panic!("{name} is not told of: {examination:#?}"))
}

/// hostproof's doctor below a shell script, whose `"$@"` it is.
fn below(context: &Context, command: &[&str], script: &str) -> Ran {
    let mut process = Command::new(command[0]);
    context.dress(&mut process);
    process.args(&command[1..]).args(["sh", "-c", &format!("{script} && exec \"$@\""), "sh"]);
    process.args([env!("CARGO_BIN_EXE_hostproof"), "doctor", "--json"]);
    let ran = context.finish(process.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command"));
    context.assert_nothing_left();
    ran
}

#[test]
fn a_machine_that_runs_these_tests_can_run_checks() {
    let context = Context::new();
    let ran = context.hp(&["doctor", "--json"]);
    let examination = examined(ran.exits(0));
    assert!(examination.ready);
    for name in ["a supervisor", "process tree", "holds", "temporary folder"] {
        let ability = ability(&examination, name);
        assert!(ability.essential && ability.can != Can::No, "{ability:?}");
    }
    for name in ["removals during the run", "bound sockets", "git", "python3", "sh"] {
        assert_eq!(ability(&examination, name).can, Can::Yes, "{:?}", ability(&examination, name));
    }
    for ability in &examination.abilities {
        assert!(!ability.why.is_empty() && !ability.why.contains('\n'), "{ability:?}");
    }
    // One truth: a report's host facts say the same, but for numbers that change.
    let report = context.hp(&["try", "--", "true"]);
    let probes = &report.report().host.probes;
    for seen in examination.abilities.iter().filter(|ability| probes.contains_key(&*ability.name)) {
        assert_eq!(probes[&*seen.name] == "ok", seen.can == Can::Yes, "{seen:?} {}", probes[&*seen.name]);
    }
    assert!(probes.len() >= 12, "{probes:?}");
    assert_eq!(examination.host.probes.keys().collect::<Vec<_>>(), probes.keys().collect::<Vec<_>>());
}

#[test]
fn the_document_is_as_its_schema_says() {
    let context = Context::new();
    let schema: Value = serde_json::from_str(&context.hp(&["schema", "doctor"]).exits(0).stdout).expect("JSON");
    let document: Value = serde_json::from_str(&context.hp(&["doctor", "--json"]).exits(0).stdout).expect("JSON");
    fits(&document, &schema, &schema, "doctor").expect("the document is as the schema says");
    let mut wrong = document.clone();
    wrong["abilities"][0]["can"] = "perhaps".into();
    assert!(fits(&wrong, &schema, &schema, "doctor").is_err());
}

#[test]
fn people_get_a_line_for_each_and_the_counts_last() {
    let context = Context::new();
    let ran = context.hp(&["doctor"]);
    let lines: Vec<&str> = ran.exits(0).stdout.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines[0].starts_with("hostproof "), "{}", ran.said());
    let counted = |word: &str| lines.iter().filter(|line| line.starts_with(&format!(" {word:6}  "))).count();
    let (yes, partly, no) = (counted("yes"), counted("partly"), counted("no"));
    assert!(yes + partly + no >= 20, "{}", ran.said());
    assert_eq!(ran.last_line(), format!("checks can be run here: {yes} yes, {partly} partly, {no} no"));
    let remedies = lines.iter().filter(|line| line.trim_start().starts_with("mend   ")).count();
    assert_eq!(yes + partly + no + remedies + 2, lines.len(), "{}", ran.said());
}

#[test]
fn a_folder_that_takes_no_sandbox_is_told_of_and_ends_in_1() {
    let mut context = Context::new();
    context.env("HOSTPROOF_TMPDIR", "/proc/no-such-folder");
    let ran = context.hp(&["doctor", "--json"]);
    let examination = examined(ran.exits(1));
    assert!(!examination.ready);
    for name in ["temporary folder", "a supervisor"] {
        let ability = ability(&examination, name);
        assert!(ability.forbids_runs() && ability.why.contains("/proc/no-such-folder"), "{ability:?}");
    }
    let told = context.hp(&["doctor"]);
    let end = "no check can be run here, for lack of a supervisor, temporary folder: ";
    assert!(told.exits(1).last_line().starts_with(end), "{}", told.said());
    assert!(told.stdout.contains("mend   let HOSTPROOF_TMPDIR name a folder of yours"), "{}", told.said());
}

#[test]
fn a_long_path_is_told_of() {
    let mut context = Context::new();
    let long = context.base().join("a".repeat(40));
    std::fs::create_dir(&long).expect("a folder");
    context.env("HOSTPROOF_TMPDIR", &long);
    let ran = context.hp_keeping(&["doctor", "--json"]);
    let examination = examined(ran.exits(0));
    let temporary = ability(&examination, "temporary folder");
    assert_eq!(temporary.can, Can::Partly);
    assert!(temporary.why.contains("for the name of a socket"), "{temporary:?}");
    assert_eq!(std::fs::read_dir(&long).expect("the folder").count(), 0);
}

#[test]
fn without_proc_nothing_can_be_run() {
    let command = ["unshare", "--mount", "--user", "--map-root-user"];
    if !works(&[&command[..], &["mount", "-t", "tmpfs", "none", "/proc"]].concat()) {
        return skip("nothing can be mounted in a namespace here");
    }
    let context = Context::new();
    let ran = below(&context, &command, "mount -t tmpfs none /proc");
    let examination = examined(ran.exits(1));
    assert!(ability(&examination, "a supervisor").forbids_runs(), "{}", ran.said());
}

#[test]
fn a_system_that_watches_no_folder_is_told_with_what_would_help() {
    // In a namespace of its own the limit concerns nobody else.
    let command = ["unshare", "--user", "--map-root-user"];
    let limit = "echo 0 > /proc/sys/user/max_inotify_instances";
    if !works(&[&command[..], &["sh", "-c", limit]].concat()) {
        return skip("no user namespace can be made here");
    }
    let context = Context::new();
    let ran = below(&context, &command, limit);
    let examination = examined(ran.exits(0));
    let removals = ability(&examination, "removals during the run");
    assert_eq!(removals.can, Can::No, "{removals:?}");
    assert!(removals.why.starts_with("Too many open files"), "{removals:?}");
    assert!(removals.remedy.as_deref().is_some_and(|remedy| remedy.contains("max_user_instances")), "{removals:?}");
    // From such a namespace not every process can be looked into, but all that can have a sandbox.
    assert_ne!(ability(&examination, "holds").can, Can::No);
}

#[test]
fn processes_that_proc_hides_are_told_of() {
    // Root sees them all the same, so as somebody else, in a namespace with a /proc of its own.
    let command = ["unshare", "--mount"];
    let mount = "mount -t proc -o hidepid=2 proc /proc";
    let as_nobody = "setpriv --reuid=65534 --regid=65534 --clear-groups";
    let hidden = format!("{mount} && {as_nobody} test ! -e /proc/1");
    if !works(&[&command[..], &["sh", "-c", &hidden]].concat()) {
        return skip("/proc can't be mounted with hidepid here");
    }
    let context = Context::new();
    let program = context.file("bin/hostproof", std::fs::read(env!("CARGO_BIN_EXE_hostproof")).expect("hostproof"));
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("chmod");
    for folder in [context.base(), context.project()] {
        std::os::unix::fs::chown(folder, Some(65534), Some(65534)).expect("chown");
    }
    let ran = below(
        &context,
        &command,
        &format!("{mount} && export PATH=/usr/bin:/bin && shift && set -- {as_nobody} {} \"$@\"", program.display()),
    );
    let examination = examined(ran.exits(0));
    let others = ability(&examination, "other users' processes");
    assert_eq!(others.can, Can::No, "{others:?}");
    assert!(others.why.contains("hidepid=invisible") || others.why.contains("hidepid=2"), "{others:?}");
    assert_eq!(ability(&examination, "holds").can, Can::Yes);
}
