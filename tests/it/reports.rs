//! What a run leaves on purpose: the report, and sandboxes that somebody asked to keep.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::Stdio;

use hostproof::model::{Report, Verdict};

use crate::context::{Context, fifo, repository};

const TWO: &str = "
- {id: good, shell: 'echo fine'}
- {id: bad, shell: 'echo out; echo err >&2; touch made; exit 1', cwd: sandbox}
";

#[test]
fn a_kept_sandbox_has_what_the_check_made_and_its_whole_output() {
    let context = Context::with(TWO);
    let ran = context.hp_keeping(&["run", "--keep", "failed", "--jobs", "1"]);
    ran.exits(1);
    assert_eq!(ran.check("good").kept, None);
    let kept = ran.check("bad").kept.as_deref().map(Path::new).expect("a kept sandbox");
    assert!(kept.starts_with(context.base()) && ran.stdout.contains(&kept.display().to_string()), "{}", ran.stdout);
    assert!(kept.join("work/made").exists() && kept.join("tmp").is_dir() && kept.join("home").is_dir());
    assert_eq!(fs::read_to_string(kept.join("stdout")).expect("the output"), "out\n");
    assert_eq!(fs::read_to_string(kept.join("stderr")).expect("the output"), "err\n");
    assert_eq!(ran.check("bad").stdout.file.as_deref().map(Path::new), Some(&*kept.join("stdout")));
    assert_eq!(
        fs::read_dir(kept.parent().expect("the lane")).expect("a folder").count(),
        1,
        "more was kept than asked for"
    );
    // A later run leaves it alone, and says so of nothing.
    context.hp_keeping(&["run", "good"]).exits(0);
    assert!(kept.join("work/made").exists());
    assert_eq!(context.sandboxes(), [kept.parent().expect("the lane")]);
    assert!(context.processes().is_empty());
}

#[test]
fn every_sandbox_is_kept_when_asked_for() {
    let context = Context::with(TWO);
    let ran = context.hp_keeping(&["run", "--keep", "always"]);
    for id in ["good", "bad"] {
        let kept = ran.check(id).kept.as_deref().expect("a kept sandbox");
        assert!(Path::new(kept).join("stdout").exists(), "{id}");
        assert_eq!(fs::metadata(kept).expect("a folder").mode() & 0o777, 0o700);
    }
}

#[test]
fn nothing_is_kept_unless_asked_for() {
    let context = Context::with(TWO);
    for arguments in [&["run"][..], &["run", "--keep", "never"], &["run", "good", "--keep", "failed"]] {
        let ran = context.hp(arguments);
        assert!(ran.report().checks.iter().all(|check| check.kept.is_none() && check.stdout.file.is_none()));
    }
}

#[test]
fn standard_output_has_the_report_alone() {
    let context = Context::with(TWO);
    let ran = context.hp(&["run", "--report", "-"]);
    let report: Report = serde_json::from_str(&ran.exits(1).stdout).expect("a report and nothing else");
    assert_eq!(report.checks.iter().map(|check| check.verdict).collect::<Vec<_>>(), [Verdict::Passed, Verdict::Failed]);
    assert!(ran.stderr.trim_end().ends_with("1/2 checks"), "{}", ran.stderr);
}

#[test]
fn a_report_replaces_a_file_and_not_a_link() {
    let context = Context::with(TWO);
    let run = |path: &str| context.hp(&["run", "--report", path]);
    run("new.json").exits(1);
    let read = |path: &str| serde_json::from_str::<Report>(&context.read(path));
    assert!(read("new.json").is_ok());
    assert_eq!(fs::metadata(context.project().join("new.json")).expect("a file").permissions().mode() & 0o111, 0);

    context.file("old.json", "{\"old\": true}");
    std::os::unix::fs::symlink("old.json", context.project().join("link.json")).expect("a link");
    run("link.json").exits(1);
    assert!(read("old.json").is_ok());
    assert!(fs::symlink_metadata(context.project().join("link.json")).expect("a link").is_symlink());
    let left: Vec<_> =
        fs::read_dir(context.project()).expect("the project").flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with(".hostproof")), "{left:?}");
}

#[test]
fn where_no_report_can_go_is_told_before_anything_runs() {
    let context = Context::with("- {id: ran, shell: 'touch ran'}");
    fs::create_dir(context.project().join("folder")).expect("a folder");
    let pipe = context.project().join("pipe");
    fifo(&pipe);
    std::os::unix::fs::symlink("nowhere", context.project().join("dangling")).expect("a link");
    for (path, words) in [
        ("folder", "it is a folder"),
        ("pipe", "it is a pipe or a device"),
        ("/dev/null", "it is a pipe or a device"),
        ("no/such/folder/report.json", "cannot write the report to no/such/folder/report.json"),
        ("dangling", "cannot write the report to dangling"),
    ] {
        let ran = context.hp(&["run", "--report", path]);
        assert!(ran.exits(2).stderr.contains(words), "{path}: {}", ran.stderr);
        assert!(!context.project().join("ran").exists(), "{path}");
    }
    assert!(fs::symlink_metadata(&pipe).is_ok());
}

#[test]
fn a_report_tells_of_run_host_and_source() {
    let context = Context::with(TWO);
    let ran = context.hp(&["run", "bad"]);
    let report = ran.report();
    assert_eq!(report.schema, "hostproof.report/1");
    assert_eq!((report.tool.name.as_str(), report.tool.version.as_str()), ("hostproof", env!("CARGO_PKG_VERSION")));
    assert_eq!(report.run.argv.last().map(String::as_str), Some("bad"));
    assert!(!report.run.interrupted && report.run.started.ends_with('Z'));
    assert_eq!(report.place.kind, "host");
    assert_eq!(
        (report.host.os.as_str(), report.host.temp.as_str()),
        (std::env::consts::OS, context.base().to_str().expect("text"))
    );
    assert!(report.host.kernel.is_some() && report.host.uid.is_some() && report.host.limits.contains_key("nofile"));
    assert_eq!(report.manifests.files, ["checks.d/checks.yaml"]);
    assert_eq!(report.source.start, None);
    let check = ran.only();
    assert_eq!(check.origin.as_deref(), Some("checks.d/checks.yaml:5"));
    assert!(check.cwd.as_deref().is_some_and(|cwd| cwd.ends_with("/work")));
    assert_eq!(check.argv[..2], ["sh", "-c"]);
    // The digest is that of the content.
    let digest = report.manifests.digest.clone();
    assert_eq!(context.hp(&["run", "good"]).report().manifests.digest, digest);
    context.checks(&format!("{TWO}- {{id: third, shell: 'true'}}"));
    assert_ne!(context.hp(&["run", "good"]).report().manifests.digest, digest);
}

#[test]
fn whoever_stops_reading_ends_nothing() {
    let context = Context::with(TWO);
    let mut command = context.command(&["run", "good"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hostproof");
    drop(child.stdout.take());
    let ran = context.finish(child);
    assert_eq!(ran.exits(0).only().verdict, Verdict::Passed);
    assert_eq!(ran.stderr, "");
    context.assert_nothing_left();
}

#[test]
fn try_runs_one_command_without_a_manifest() {
    let context = Context::new();
    context.file("data.json", "{\"a\": 1}\n");
    let ran = context.hp(&["try", "--", "sh", "-c", "echo hello"]);
    assert_eq!(ran.exits(0).last_line(), "1/1 checks");
    assert_eq!((ran.only().id.as_str(), ran.only().stdout.tail.as_str()), ("try", "hello\n"));
    assert_eq!(context.hp(&["try", "--exit", "3", "--", "sh", "-c", "exit 3"]).code, Some(0));
    assert_eq!(context.hp(&["try", "--", "sh", "-c", "exit 3"]).code, Some(1));
    assert_eq!(context.hp(&["try", "--cwd", "sandbox", "--", "sh", "-c", "test -z \"$(ls)\""]).code, Some(0));
    let ran = context.hp(&["try", "--stdin", "data.json", "--", "cat"]);
    assert_eq!(ran.exits(0).only().stdout.tail, "{\"a\": 1}\n");
    let ran = context.hp(&["try", "--timeout", "1s", "--", "sleep", "50"]);
    assert_eq!(ran.exits(1).only().verdict, Verdict::TimedOut);
    let ran = context.hp(&["try", "--grace", "0s", "--", "sh", "-c", "sleep 50 & echo done"]);
    assert_eq!(ran.exits(1).only().verdict, Verdict::Leaked);
    let ran = context.hp(&["try", "--cases", "3", "--", "true"]);
    assert_eq!(ran.exits(1).only().verdict, Verdict::Failed);
    assert_eq!(context.hp(&["try"]).code, Some(2));
    // Options of the command are its own.
    assert_eq!(context.hp(&["try", "--", "sh", "-c", "exit 0", "--report"]).code, Some(0));
}

#[test]
fn a_project_of_any_name_works() {
    let context = Context::new();
    for name in ["with blank", "größe", "quote's", "-dash"] {
        let folder = context.project().join(name);
        fs::create_dir_all(folder.join("checks.d")).expect("folders");
        let text =
            "version: 1\nchecks:\n  - {id: here, reader: none, shell: 'test \"$PWD\" = \"$HOSTPROOF_PROJECT\"'}\n";
        fs::write(folder.join("checks.d/a.yaml"), text).expect("a manifest");
        let mut command = context.command(&["run"]);
        let child = command.current_dir(&folder).stdout(Stdio::piped()).spawn().expect("hostproof");
        let ran = context.finish(child);
        assert_eq!(ran.exits(0).last_line(), "1/1 checks", "{name}");
    }
    assert!(repository().exists());
}

#[test]
fn a_report_that_cannot_be_written_in_the_end_still_leaves_the_counts_last() {
    let context = Context::with("- {id: good, shell: 'rm -rf out'}\n- {id: bad, shell: 'exit 1'}");
    fs::create_dir(context.project().join("out")).expect("a folder");
    let ran = context.hp(&["run", "--report", "out/report.json"]);
    assert_eq!(ran.exits(3).last_line(), "1/2 checks", "{}", ran.said());
    assert!(ran.stdout.contains("RED bad"), "{}", ran.stdout);
    assert!(ran.stderr.starts_with("hostproof: cannot write the report to out/report.json: "), "{}", ran.stderr);

    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let mut command = context.command(&["run", "--report", "-"]);
    let ran = context.finish(command.stdout(full).stderr(Stdio::piped()).spawn().expect("hostproof"));
    assert!(ran.exits(3).stderr.ends_with("\n1/2 checks\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("hostproof: cannot write the report to -: No space left"), "{}", ran.stderr);
}
