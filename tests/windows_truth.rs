//! Windows' rules beside the truth: what the system said to the same acts (`fixtures/windows_truth`) was written down, and
//! every answer of the rules is compared with it. On Windows, and under Wine, the acts are performed, too.
//!
//! docs/windows-rules.md is the comparison as a table. With `HOSTPROOF_UPDATE_TRUTH` set it is written anew, and under
//! Wine so is what was written down.

#[path = "../fixtures/windows_truth/cases.rs"]
mod cases;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use cases::{By, Case, Has, On, Share, cases};
use hostproof::model::{Act, Answer, Came, Holder, How, Target, WindowsRules};
use hostproof::probes::windows_rules;
use serde::{Deserialize, Serialize};

/// What a system said: to each case the number of the error, or null.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Truth {
    system: String,
    said: BTreeMap<String, Option<u32>>,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn recording() -> PathBuf {
    root().join("fixtures/windows_truth/wine.json")
}

fn recorded() -> Truth {
    serde_json::from_str(&fs::read_to_string(recording()).expect("the recording")).expect("its form")
}

fn is_to_be_updated() -> bool {
    #[expect(clippy::disallowed_methods, reason = "the tests have an environment of their own")]
    std::env::var_os("HOSTPROOF_UPDATE_TRUTH").is_some()
}

/// A runtime that opens files so, as far as their deletion goes.
fn opener(share: Share) -> &'static str {
    if share.bits() & 4 == 0 { "python3" } else { "node" }
}

/// What the rules say.
fn judged(case: Case) -> Answer {
    let directory = case.on == On::Directory;
    let (how, program, below, directory) = match case.has {
        Has::Nobody => return judge(case, &[]),
        Has::Cwd | Has::OwnCwd => (How::Cwd, "python3", false, true),
        Has::Open(share) => (How::Descriptor, opener(share), false, directory),
        Has::Mapped => (How::Mapping, "python3", false, false),
        Has::Running => (How::Executable, "a-program", false, false),
        Has::OpenByRust => (How::Descriptor, "cargo", false, false),
        Has::OpenByPython => (How::Descriptor, "python3", false, false),
        Has::CwdBelow => (How::Cwd, "python3", true, true),
        Has::DirectoryBelow(share) => (How::Descriptor, opener(share), true, true),
        Has::FileBelow(share) => (How::Descriptor, opener(share), true, false),
        Has::MappedBelow => (How::Mapping, "python3", true, false),
        Has::RunningBelow => (How::Executable, "a-program", true, false),
    };
    judge(case, &[Holder { how, program, below, directory, came: Came::Opened }])
}

fn judge(case: Case, holders: &[Holder<'_>]) -> Answer {
    let target = match case.on {
        On::Directory => Target::Directory,
        On::File => Target::File { read_only: false, temporary: false },
        On::ReadOnlyFile => Target::File { read_only: true, temporary: false },
    };
    // CPython calls the system's functions as they are.
    let caller = if case.by == By::Rust { "cargo" } else { "python3" };
    windows_rules::judge(case.act, caller, target, holders, &WindowsRules::default())
}

/// Why the rules say otherwise than Wine does, where they are meant to.
fn explained(case: Case) -> Option<&'static str> {
    let below = matches!(
        case.has,
        Has::CwdBelow | Has::DirectoryBelow(_) | Has::FileBelow(_) | Has::MappedBelow | Has::RunningBelow
    );
    match (case.act, case.on) {
        (Act::Replace, On::Directory) => Some(
            "`MoveFileExW` replaces no directory, held or not (its page: `MOVEFILE_REPLACE_EXISTING` can't be used with \
             directories). The rules are about who has it, and say 32 where somebody sits in it; that it fails by itself \
             where nobody does they leave to the caller.",
        ),
        (Act::Rename, On::Directory) if below => Some(
            "Wine renames by the Unix below it, and does not look below. Windows does: a directory with open files below \
             it is not renamed, `STATUS_ACCESS_DENIED` ([MS-FSA] 2.1.5.15.11).",
        ),
        (Act::Remove, On::File) if case.has == Has::Mapped => Some(
            "Wine removes a mapped file once it is closed. Windows does not: `MmFlushImageSection` fails for one that is \
             mapped, `STATUS_CANNOT_DELETE`.",
        ),
        (Act::Replace, On::ReadOnlyFile) => Some(
            "Wine does not look at the attribute of what is replaced. Windows does: a target that is read-only is not \
             replaced, `STATUS_ACCESS_DENIED` ([MS-FSA] 2.1.5.15.11).",
        ),
        _ => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Compared {
    Agreed,
    /// The rules say that it depends, and what the system said is one of the two.
    Predicted,
    Disagreed,
}

/// The rules' answer beside what a system said.
fn compare(answer: Answer, said: Option<u32>) -> Compared {
    match (answer, said) {
        (Answer::Allow, None) => Compared::Agreed,
        (Answer::Refuse(refusal), Some(number)) if refusal.winerror == number => Compared::Agreed,
        (Answer::Predict(_), None) => Compared::Predicted,
        (Answer::Predict(refusal), Some(number)) if refusal.winerror == number => Compared::Predicted,
        _ => Compared::Disagreed,
    }
}

fn words(answer: Answer) -> String {
    match answer {
        Answer::Allow => "goes well".to_owned(),
        Answer::Refuse(refusal) => format!("{}", refusal.winerror),
        Answer::Predict(refusal) => format!("goes well, or {}", refusal.winerror),
    }
}

fn number(said: Option<u32>) -> String {
    said.map_or_else(|| "goes well".to_owned(), |number| number.to_string())
}

/// The comparison, and the names of the cases that disagree without a reason, or have a reason and agree.
fn compared(truth: &Truth) -> (String, Vec<String>) {
    let mut rows = String::new();
    let mut wrong = Vec::new();
    let mut reasons: Vec<&str> = Vec::new();
    let mut counts = [0; 3];
    for case in cases() {
        let name = case.name();
        let Some(&said) = truth.said.get(&name) else {
            wrong.push(format!("{name}: not in the recording"));
            continue;
        };
        let answer = judged(case);
        let outcome = match (compare(answer, said), explained(case)) {
            (Compared::Agreed, _) => {
                counts[0] += 1;
                "agreed".to_owned()
            }
            (Compared::Predicted, _) => {
                counts[1] += 1;
                "agreed: it depends".to_owned()
            }
            (Compared::Disagreed, Some(reason)) => {
                counts[2] += 1;
                let known = reasons.iter().position(|known| *known == reason).unwrap_or_else(|| {
                    reasons.push(reason);
                    reasons.len() - 1
                });
                format!("explained: {}", known + 1)
            }
            (Compared::Disagreed, None) => {
                wrong.push(format!("{name}: the rules say {}, {} said {}", words(answer), truth.system, number(said)));
                "**disagreed**".to_owned()
            }
        };
        let _ = writeln!(rows, "| {name} | {} | {} | {outcome} |", words(answer), number(said));
    }
    let reasons: Vec<String> =
        reasons.iter().enumerate().map(|(index, reason)| format!("{}. {reason}", index + 1)).collect();
    let page = format!(
        "# Windows' rules beside the truth\n\n\
         What `src/probes/windows_rules.rs` says Windows makes of a removal, a rename or a replacement, beside what \
         {system} said to the\nsame: `fixtures/windows_truth` performs each case, with `DeleteFileW`, `RemoveDirectoryW` \
         and `MoveFileExW`, with Rust's\n`std::fs`, and with CPython's `os`. The numbers are those of `GetLastError`: 5 \
         access denied, 32 sharing violation.\n\n\
         {all} cases: {agreed} agreed, {predicted} agreed that it depends on what the rules can't know, {explained} \
         explained, {wrong} disagreed.\n\n\
         This page is written by `tests/windows_truth.rs`, which fails when a rule changes and it does not.\n\n\
         | case | the rules | {system} | |\n| --- | --- | --- | --- |\n{rows}\n\
         Where the two differ and are meant to:\n\n{reasons}\n",
        system = truth.system,
        reasons = reasons.join("\n"),
        all = cases().len(),
        agreed = counts[0],
        predicted = counts[1],
        explained = counts[2],
        wrong = wrong.len(),
    );
    (page, wrong)
}

#[test]
fn every_rule_agrees_with_what_was_written_down_or_is_explained() {
    let truth = recorded();
    assert_eq!(truth.said.len(), cases().len(), "the recording has other cases");
    let (page, wrong) = compared(&truth);
    println!("{page}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    let path = root().join("docs/windows-rules.md");
    if is_to_be_updated() {
        fs::write(&path, &page).expect("the page");
    }
    let committed = fs::read_to_string(&path).unwrap_or_default().replace("\r\n", "\n");
    assert!(committed == page, "{} is old: set HOSTPROOF_UPDATE_TRUTH and run this test again", path.display());
}

#[test]
fn no_reason_is_left_over() {
    let truth = recorded();
    let mut reasons: Vec<&str> = cases().into_iter().filter_map(explained).collect();
    reasons.dedup();
    for reason in reasons {
        let of_it = cases().into_iter().filter(|case| explained(*case) == Some(reason));
        let differ = |case: Case| compare(judged(case), truth.said[&case.name()]) == Compared::Disagreed;
        assert!(of_it.into_iter().any(differ), "nothing differs any more: {reason}");
    }
}

#[test]
fn the_comparison_can_say_no() {
    let mut truth = recorded();
    let name = "remove a directory, a process's current one";
    let said = truth.said.get_mut(name).expect("the case");
    assert_eq!(*said, Some(32));
    *said = None;
    let (page, wrong) = compared(&truth);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    assert!(wrong[0].starts_with(name) && page.contains("**disagreed**"), "{wrong:?}");
}

/// The acts themselves. Wine says what it said; Windows, what the rules say.
#[test]
#[cfg(windows)]
fn what_the_system_says_is_what_was_written_down() {
    use std::process::{Command, Stdio};

    // cargo builds the examples with the tests, beside the folder that they are in.
    let test = std::env::current_exe().expect("a test has a path");
    let profile = test.ancestors().nth(2).expect("it lies in target/PROFILE/deps");
    // CPython dies under Wine where its streams are no pipes of Windows'.
    let output = |command: &mut Command| {
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a process");
        drop(child.stdin.take());
        child.wait_with_output().expect("its output")
    };
    let python = Command::new("python").arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).status().is_ok();
    let mut command = Command::new(profile.join("examples/windows_truth.exe"));
    if python {
        command.args(["--python", "python"]);
    }
    let ran = output(&mut command);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let mut truth = Truth { system: String::new(), said: BTreeMap::new() };
    for line in String::from_utf8_lossy(&ran.stdout).lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        if let Some(system) = line["system"].as_str() {
            truth.system = system.to_owned();
        } else {
            let number = line["winerror"].as_u64().map(|number| u32::try_from(number).expect("an error's number"));
            truth.said.insert(line["case"].as_str().expect("a case").to_owned(), number);
        }
    }
    let performed: Vec<Case> = cases().into_iter().filter(|case| truth.said.contains_key(&case.name())).collect();
    let left_out = cases().len() - performed.len();
    println!("{}: {} cases performed, {left_out} left out for lack of Python", truth.system, performed.len());
    assert!(left_out == 0 || !python, "some cases were not performed");
    if truth.system == "Windows" {
        let differ = |case: &&Case| compare(judged(**case), truth.said[&case.name()]) == Compared::Disagreed;
        // What fails by itself is no rule's business.
        let wrong: Vec<String> = performed
            .iter()
            .filter(differ)
            .filter(|case| (case.act, case.on) != (Act::Replace, On::Directory))
            .map(|case| format!("{}: {:?}", case.name(), truth.said[&case.name()]))
            .collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        return;
    }
    if is_to_be_updated() {
        assert_eq!(left_out, 0, "all is written down, or nothing");
        let json = serde_json::to_string_pretty(&truth).expect("JSON");
        fs::write(recording(), json + "\n").expect("the recording");
    }
    let recorded = recorded();
    for (name, said) in &truth.said {
        assert_eq!(
            Some(said),
            recorded.said.get(name),
            "{name}: {} says otherwise than {}",
            truth.system,
            recorded.system
        );
    }
}
