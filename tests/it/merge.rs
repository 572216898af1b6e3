//! `run --partition` and `hostproof merge`: a run in parts is the same as one of all.

use std::fs;
use std::path::PathBuf;

use hostproof::model::{Partition, Report, Verdict};

use crate::context::{Context, Ran, repository};

const CHECKS: &str = "
- {id: one, shell: 'exit 0'}
- {id: two, shell: 'exit 1'}
- {id: three, as: [native, windows], shell: 'exit 0'}
- {id: four, shell: 'exit 0'}
- {id: five, shell: 'exit 0', platforms: [windows]}
- {id: six, shell: 'test ! -e red'}
";

/// Runs with these arguments, and writes the report to a file of that name beside the project's other reports.
fn run(context: &Context, name: &str, arguments: &[&str]) -> PathBuf {
    let file = context.state().parent().expect("a folder").join(name);
    let mut command = vec!["run", "--report", file.to_str().expect("text")];
    command.extend(arguments);
    context.hp(&command);
    file
}

fn merge(context: &Context, reports: &[&PathBuf], more: &[&str]) -> (Ran, Option<Report>) {
    let output = context.state().parent().expect("a folder").join("merged.json");
    let mut command = vec!["merge", "--output", output.to_str().expect("text")];
    command.extend(reports.iter().map(|report| report.to_str().expect("text")));
    command.extend(more);
    let ran = context.hp(&command);
    let merged = fs::read(&output).ok().map(|bytes| serde_json::from_slice(&bytes).expect("a report"));
    let _ = fs::remove_file(output);
    (ran, merged)
}

fn read(file: &PathBuf) -> Report {
    serde_json::from_slice(&fs::read(file).expect("a report")).expect("a report")
}

fn outcomes(report: &Report) -> Vec<(String, Verdict)> {
    report.checks.iter().map(|check| (check.id.clone(), check.verdict)).collect()
}

#[test]
fn all_parts_together_are_the_whole() {
    let context = Context::with(CHECKS);
    let whole = read(&run(&context, "whole.json", &[]));
    let parts: Vec<PathBuf> = (1..=3)
        .map(|part| run(&context, &format!("{part}.json"), &["--partition", &format!("hash:{part}/3")]))
        .collect();
    let each: usize = parts.iter().map(|part| read(part).checks.len()).sum();
    assert_eq!((each, whole.checks.len()), (7, 7));
    assert_eq!(read(&parts[1]).run.partition, Some(Partition { part: 2, of: 3 }));
    // In whatever order they are named.
    let (ran, merged) = merge(&context, &[&parts[2], &parts[0], &parts[1]], &[]);
    let merged = merged.expect("a report");
    assert_eq!(ran.exits(1).last_line(), "5/7 checks, 1 check skipped", "{}", ran.said());
    assert!(ran.stdout.starts_with(" RED   two"), "{}", ran.stdout);
    assert_eq!((outcomes(&merged), &merged.totals), (outcomes(&whole), &whole.totals));
    assert_eq!((merged.run.partition, merged.run.not_run.len()), (None, 0));
    assert!(parts.iter().all(|part| merged.run.id.contains(&read(part).run.id)));
    // One that is missing is never taken for green.
    let (ran, merged) = merge(&context, &[&parts[0], &parts[2]], &[]);
    assert!(ran.exits(2).stderr.contains("part 2/3 is missing: name its report, too"), "{}", ran.stderr);
    assert!(merged.is_none());
    let half = run(&context, "half.json", &["--partition", "hash:1/2"]);
    let (ran, _) = merge(&context, &[&parts[0], &half], &[]);
    assert!(ran.exits(2).stderr.contains("all must be parts of the same number"), "{}", ran.stderr);
}

#[test]
fn a_part_without_checks_is_no_failure() {
    let context = Context::with("- {id: one, shell: 'exit 0'}");
    let ran = |part: &str| context.hp(&["run", "--partition", &format!("hash:{part}/2")]);
    let (first, second) = (ran("1"), ran("2"));
    let (full, empty) = if first.report().checks.is_empty() { (second, first) } else { (first, second) };
    assert_eq!(full.exits(0).last_line(), "1/1 checks");
    assert_eq!(empty.exits(0).last_line(), "0/0 checks");
    assert!(empty.stdout.contains("the others have them all"), "{}", empty.stdout);
    let ran = context.hp(&["run", "--partition", "hash:3/2"]);
    assert!(ran.exits(2).stderr.contains("the parts are 1 to 2"), "{}", ran.stderr);
}

#[test]
fn a_check_that_is_there_twice_must_be_the_same_unless_the_last_is_meant() {
    let context = Context::with(CHECKS);
    context.file("red", "");
    let first = run(&context, "first.json", &[]);
    fs::remove_file(context.project().join("red")).expect("a file");
    let again = run(&context, "again.json", &["--failed"]);
    let (ran, _) = merge(&context, &[&first, &again], &[]);
    let said = ran.exits(2).stderr.clone();
    assert!(
        said.contains("six is failed in ") && said.contains("and passed in ") && said.contains("--replace"),
        "{said}"
    );
    let (ran, merged) = merge(&context, &[&first, &again], &["--replace"]);
    let merged = merged.expect("a report");
    assert_eq!(ran.exits(1).last_line(), "5/7 checks, 1 check skipped");
    assert_eq!((merged.totals.checks.planned, merged.totals.checks.failed), (7, 1));
    let (ran, _) = merge(&context, &[&first, &first], &[]);
    assert_eq!(ran.exits(1).last_line(), "4/7 checks, 1 check skipped", "the same twice is the same");
}

#[test]
fn what_one_did_not_reach_another_may_have_run() {
    let context = Context::with("- {id: a, shell: 'exit 1'}\n- {id: b, shell: 'exit 0'}\n- {id: c, shell: 'exit 0'}");
    let first = run(&context, "first.json", &["--fail-fast", "--jobs", "1"]);
    let (ran, _) = merge(&context, &[&first], &[]);
    assert_eq!(ran.exits(1).last_line(), "0/3 checks, 2 not reached (--fail-fast)");
    let b = run(&context, "b.json", &["b"]);
    let (ran, merged) = merge(&context, &[&first, &b], &[]);
    assert_eq!(ran.exits(1).last_line(), "1/3 checks, 1 not reached (--fail-fast)");
    assert_eq!(merged.expect("a report").run.not_run, ["c"]);
    let c = run(&context, "c.json", &["c"]);
    let (ran, merged) = merge(&context, &[&first, &b, &c], &[]);
    assert_eq!(ran.exits(1).last_line(), "2/3 checks");
    assert_eq!(merged.expect("a report").run.stopped, None);
}

#[test]
fn what_is_of_another_plan_or_no_report_is_refused() {
    let context = Context::with("- {id: a, shell: 'exit 0'}");
    let first = run(&context, "first.json", &[]);
    context.checks("- {id: a, shell: 'exit 0'}\n- {id: b, shell: 'exit 0'}");
    let second = run(&context, "second.json", &[]);
    let refused = |reports: &[&PathBuf], words: &str| {
        let (ran, merged) = merge(&context, reports, &[]);
        assert!(ran.exits(2).stderr.contains(words) && merged.is_none(), "{words}: {}", ran.stderr);
    };
    refused(&[&first, &second], "are of different manifests, sha256:");
    refused(&[&first, &context.project().join("none.json")], "none.json can't be merged: it can't be opened");
    refused(&[&first, &context.file("junk", "junk")], "junk can't be merged: it is neither a report");
    refused(&[&first, &repository().join("tests/it/junit.xsd")], "junit.xsd can't be merged");
    let other = |change: &dyn Fn(&mut Report)| {
        let mut report = read(&first);
        change(&mut report);
        context.file("other.json", serde_json::to_vec(&report).expect("JSON"))
    };
    refused(&[&first, &other(&|report| report.tool.version = "9.9.9".into())], "were written by different versions");
    refused(&[&first, &other(&|report| report.host.os = "plan9".into())], "are from different systems, linux");
    refused(&[&first, &other(&|report| report.place.kind = "container".into())], "are from different places, host");
    let ran = context.hp(&["merge", first.to_str().expect("text"), "--output", "-"]);
    let merged: Report = serde_json::from_str(&ran.exits(0).stdout).expect("a report");
    assert_eq!(merged.checks, read(&first).checks);
    assert!(ran.stderr.ends_with("1/1 checks\n"), "{}", ran.stderr);
}

#[test]
fn a_matrix_is_divided_and_set_together_again() {
    let values = |name: &str| format!("{name}: [{}]", (0..6).map(|n| n.to_string()).collect::<Vec<_>>().join(", "));
    let context = Context::with(&format!(
        "- id: big\n  matrix: {{{}, {}}}\n  vary: [locale]\n  shell: 'test \"$A\" != 3'\n",
        values("A"),
        values("B")
    ));
    let whole = read(&run(&context, "whole.json", &[]));
    let parts: Vec<PathBuf> = (1..=4)
        .map(|part| run(&context, &format!("{part}.json"), &["--partition", &format!("hash:{part}/4")]))
        .collect();
    let sizes: Vec<usize> = parts.iter().map(|part| read(part).checks.len()).collect();
    assert!(sizes.iter().sum::<usize>() == 37 && sizes.iter().all(|size| *size > 0), "{sizes:?}");
    let (ran, merged) = merge(&context, &parts.iter().collect::<Vec<_>>(), &[]);
    let merged = merged.expect("a report");
    assert_eq!(ran.exits(1).last_line(), "31/37 checks", "{}", ran.said());
    let told = |report: &Report| {
        let mut told: Vec<_> =
            report.checks.iter().map(|check| (check.id.clone(), check.verdict, check.reason.clone())).collect();
        told.sort_by(|one, other| one.0.cmp(&other.0));
        told
    };
    assert_eq!(told(&merged), told(&whole));
    let red = merged.checks.iter().find(|check| check.id == "big[A=3,B=0]").expect("a red one");
    let message = "passes, but not with A=3 (6 combinations that have it are red, and none passes)";
    assert_eq!(red.findings[0].message, message);
    assert_eq!(red.findings.iter().filter(|finding| finding.message.contains("passes, but")).count(), 1);
}
