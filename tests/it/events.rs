//! `--events`: what happens, while it happens.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use hostproof::model::{Event, Report, Stop, Verdict};
use serde_json::Value;

use crate::context::{Context, Ran};
use crate::schema::fits;

fn events(ran: &Ran) -> Vec<Event<'static>> {
    ran.stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

const THREE: &str = "
- {id: good, shell: 'true'}
- {id: bad, shell: 'exit 1'}
- {id: far, shell: 'true', platforms: [windows]}
";

#[test]
fn a_run_is_told_from_its_first_event_to_its_last() {
    let context = Context::with(THREE);
    let ran = context.hp(&["run", "--events", "--jobs", "1"]);
    let events = events(ran.exits(1));
    let Some(Event::RunStarted { schema, id, checks, jobs, .. }) = events.first() else { panic!("{events:?}") };
    assert_eq!((schema.as_ref(), *jobs), ("hostproof.events/1", 1));
    assert_eq!(checks.iter().map(AsRef::as_ref).collect::<Vec<_>>(), ["good", "bad", "far"]);
    assert_eq!(id.as_ref(), ran.report().run.id);
    let Some(Event::RunEnded { totals, exit, counts, stopped, not_run, .. }) = events.last() else {
        panic!("{events:?}")
    };
    assert_eq!(totals.as_ref(), &ran.report().totals);
    assert_eq!((*exit, counts.as_ref(), *stopped, not_run.len()), (1, "1/3 checks, 1 check skipped", None, 0));
    // The same counts are the last that people read, and none of that is on standard output.
    assert!(ran.stderr.ends_with("\n1/3 checks, 1 check skipped\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("RED   bad"), "{}", ran.stderr);
    let mut begun = Vec::new();
    let mut ended = Vec::new();
    for event in &events {
        match event {
            Event::CheckStarted { id, .. } => begun.push(id.to_string()),
            Event::CheckEnded { check } => {
                assert!(check.verdict == Verdict::Skipped || begun.contains(&check.id), "{events:?}");
                assert!(ran.report().checks.contains(check), "the report says something else: {check:?}");
                ended.push(check.id.clone());
            }
            _ => {}
        }
    }
    ended.sort();
    assert_eq!(
        (begun, ended),
        (vec!["good".to_owned(), "bad".to_owned()], vec!["bad".into(), "far".into(), "good".into()])
    );
}

#[test]
fn every_event_is_as_the_schema_says() {
    let context = Context::with(THREE);
    let schema: Value = serde_json::from_str(&context.hp(&["schema", "events"]).exits(0).stdout).expect("JSON");
    let ran = context.hp(&["run", "--events", "--fail-fast"]);
    for line in ran.stdout.lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        fits(&event, &schema, &schema, "event").expect("as the schema says");
        let mut wrong = event.clone();
        wrong["event"] = "sneezed".into();
        assert!(fits(&wrong, &schema, &schema, "event").is_err());
    }
}

#[test]
fn an_event_is_there_when_it_happens() {
    let context = Context::with("- {id: waits, timeout: 50s, shell: 'until test -e go; do sleep 0.02; done'}");
    let mut command = context.command(&["run", "--events"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("hostproof");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || lines.next().expect("an event").expect("a line");
    assert!(next().contains("\"run-started\""));
    let began = next();
    assert!(began.contains("\"check-started\"") && began.contains("\"waits\""), "{began}");
    // The check ends only now.
    context.file("go", "");
    assert!(next().contains("\"check-ended\""));
    assert!(next().contains("\"run-ended\""));
    context.finish(child).exits(0);
    context.assert_nothing_left();
}

#[test]
fn whoever_stops_reading_them_changes_nothing() {
    let context = Context::with(THREE);
    let mut command = context.command(&["run", "--events", "good"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("hostproof");
    drop(child.stdout.take());
    let ran = context.finish(child);
    assert_eq!(ran.exits(0).only().verdict, Verdict::Passed);
    assert!(ran.stderr.ends_with("\n1/1 checks\n") && !ran.stderr.contains("hostproof: "), "{}", ran.stderr);
    context.assert_nothing_left();

    // Events that are lost are another thing.
    let full = fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let mut command = context.command(&["run", "--events", "good"]);
    let ran = context.finish(command.stdout(full).stderr(Stdio::piped()).spawn().expect("hostproof"));
    assert!(ran.exits(3).stderr.contains("hostproof: cannot write the events: No space left"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("\n1/1 checks\n"), "{}", ran.stderr);
}

#[test]
fn a_run_that_stops_says_why_in_its_last_event() {
    let context = Context::with("- {id: bad, shell: 'exit 1'}\n- {id: next, shell: 'true'}");
    let ran = context.hp(&["run", "--events", "--fail-fast", "--jobs", "1"]);
    let events = events(ran.exits(1));
    let Some(Event::RunEnded { stopped, not_run, counts, .. }) = events.last() else { panic!("{events:?}") };
    assert_eq!((*stopped, not_run.as_ref()), (Some(Stop::FailFast), &["next".to_owned()][..]));
    assert_eq!(counts.as_ref(), "0/2 checks, 1 not reached (--fail-fast)");
}

#[test]
fn one_document_at_most_takes_standard_output() {
    let context = Context::with("- {id: ran, shell: 'touch ran'}");
    for arguments in [
        &["run", "--events", "--report", "-"][..],
        &["run", "--events", "--junit", "-"],
        &["run", "--report", "-", "--junit", "-"],
    ] {
        let ran = context.hp(arguments);
        assert!(ran.exits(2).stderr.contains("can't share standard output: name a file"), "{}", ran.stderr);
    }
    let ran = context.hp(&["run", "--report", "a.json", "--junit", "./a.json"]);
    assert!(ran.exits(2).stderr.contains("--report and --junit both name ./a.json"), "{}", ran.stderr);
    assert!(!context.project().join("ran").exists());
    // Beside a file one is well.
    let ran = context.hp(&["run", "--events", "--report", "report.json", "--junit", "junit.xml"]);
    assert_eq!(ran.exits(0).stdout.lines().count(), 4);
    assert!(serde_json::from_str::<Report>(&context.read("report.json")).is_ok());
    assert!(context.read("junit.xml").starts_with("<?xml"));
}
