//! The manifest's text, of what was found and what was seen.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::find::SelfTest;
use super::pair;
use super::yaml::{comment, scalar, words};
use crate::model::{Check, CheckReport, Exit, Finding, Kind, ReaderChoice, Severity, Verdict, Wiring};
use crate::words::duration;

/// What a draft is made of.
#[derive(Debug, Clone, Copy)]
pub struct Draft<'a> {
    /// Each self-test with what was seen of it.
    pub tests: &'a [(SelfTest, CheckReport)],
    pub wired: &'a [Wiring],
    /// What a person should know of the rest.
    pub notes: &'a [String],
}

/// What came of a self-test's one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    Green,
    /// As expected, but it left something behind.
    Left,
    Red,
}

impl Seen {
    /// Of that run.
    pub fn of(report: &CheckReport) -> Self {
        let nothing_ran = report.reader.is_some() && report.cases.ran == Some(0);
        match report.verdict {
            Verdict::Leaked => Self::Left,
            Verdict::Passed | Verdict::Skipped if !nothing_ran => Self::Green,
            _ => Self::Red,
        }
    }
}

const HEADER: &str = "\
# Written by hostproof init: the self-tests that it found, with what it saw when it ran each of them once.
# From here on this file is yours; init writes no other beside it.
#
#   hostproof run             run all checks
#   hostproof lint            look whether this file is right, without running anything
#   hostproof explain KIND    what a finding means, why a host cares, and how to mend it
#   hostproof gate            whether a change may be merged, once this file has a `gate` beside `checks`
";

/// The longest command that is shown of a wired hook.
const LONGEST_COMMAND: usize = 120;

/// Writes the manifest.
pub fn draft(draft: &Draft<'_>) -> String {
    let mut text = HEADER.to_owned();
    let tested: Vec<Vec<usize>> = draft.tests.iter().map(|(test, _)| pair::tested(test, draft.wired)).collect();
    let covered: BTreeSet<usize> = tested.iter().flatten().copied().collect();
    let open: Vec<&Wiring> =
        draft.wired.iter().enumerate().filter(|(index, _)| !covered.contains(index)).map(|(_, wired)| wired).collect();
    if !open.is_empty() {
        text.push_str("#\n# Wired here, and no check runs it yet:\n");
        for wired in open {
            let command: String = wired.command().chars().take(LONGEST_COMMAND).collect();
            let more = if command.len() < wired.command().len() { "…" } else { "" };
            let place = if wired.file == wired.command() { String::new() } else { format!(" ({})", wired.file) };
            line(&mut text, "", &format!("  {}: {command}{more}{place}", wired.occasion()));
        }
    }
    if !draft.notes.is_empty() {
        text.push_str("#\n# Passed over:\n");
        for note in draft.notes {
            line(&mut text, "", &format!("  {note}"));
        }
    }
    text.push_str("version: 1\nchecks:\n");
    for (index, (test, report)) in draft.tests.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        let hooks: Vec<&Wiring> = tested[index].iter().map(|&wired| &draft.wired[wired]).collect();
        check(&mut text, test, report, &hooks);
    }
    text
}

fn check(out: &mut String, test: &SelfTest, report: &CheckReport, hooks: &[&Wiring]) {
    let seen = Seen::of(report);
    let mut key = |key: &str, value: &str| {
        let _ = writeln!(out, "{}{key}: {value}", if key == "id" { "  - " } else { "    " });
    };
    key("id", &scalar(&test.id));
    if let Some(first) = hooks.first() {
        let more = if hooks.len() > 1 { format!(", and {} more", hooks.len() - 1) } else { String::new() };
        key(
            "title",
            &scalar(&comment(&format!("seems to test what {} wires to {}{more}", first.file, first.occasion()))),
        );
    }
    let covers: BTreeSet<&str> =
        hooks.iter().flat_map(|hook| hook.scripts()).map(|script| script.path.as_str()).collect();
    key("run", &words(&test.run));
    let half = Check::DEFAULT_TIMEOUT.as_millis() / 2;
    if seen != Seen::Red && u128::from(report.duration_ms) > half {
        // Twice what it took, in whole minutes.
        let minutes = (report.duration_ms / 30_000 + 1).min(24 * 60);
        key("timeout", &duration(std::time::Duration::from_secs(minutes * 60)));
    }
    let silent = test.reader == ReaderChoice::Auto && seen != Seen::Red && report.reader.is_none();
    if test.reader == ReaderChoice::None || silent {
        key("reader", "none");
    }
    if let Some(ran) = report.cases.ran.filter(|_| seen != Seen::Red) {
        let skipped = report.cases.skipped.filter(|skipped| *skipped > 0);
        let skipped = skipped.map(|skipped| format!(", skipped: {skipped}")).unwrap_or_default();
        key("expect", &format!("{{cases: {ran}{skipped}}}"));
    }
    // By a name alone it is not known, and what is too narrow would keep it from changes that want it.
    if !covers.is_empty() {
        line(
            out,
            "    ",
            "if it tests that, this says so (add what else it depends on: a change of nothing else wants it then):",
        );
        let all: BTreeSet<&str> = covers.into_iter().chain(test.files.iter().map(String::as_str)).collect();
        let all: Vec<String> = all.into_iter().map(scalar).collect();
        let _ = writeln!(out, "    # covers: [{}]", all.join(", "));
    }
    for remark in &test.remarks {
        line(out, "    ", remark);
    }
    if silent {
        silence(out, report);
    }
    if report.verdict == Verdict::Skipped {
        line(out, "    ", report.reason.as_deref().unwrap_or("every case was skipped"));
    }
    match seen {
        Seen::Green => {}
        Seen::Left => proposals(out, report),
        Seen::Red => {
            for said in red(report) {
                line(out, "    ", &said);
            }
            proposals(out, report);
        }
    }
}

/// One line of comment.
fn line(text: &mut String, indent: &str, said: &str) {
    let leading = said.len() - said.trim_start().len();
    let _ = writeln!(text, "{indent}# {}{}", &said[..leading], comment(said));
}

/// What holds a test to more than its exit status, when nothing counts its cases.
fn silence(text: &mut String, report: &CheckReport) {
    line(text, "    ", "nothing in its output is a count of cases: the exit status alone decides");
    let last = report.stdout.tail.lines().rev().find(|line| !line.trim().is_empty()).map(str::trim);
    if let Some(last) = last.filter(|last| last.len() <= 80 && comment(last) == **last && !last.contains("\\x")) {
        line(text, "    ", "what it said last would make sure that it came to its end:");
        let _ = writeln!(text, "    # expect: {{stdout: [{{contains: {}}}]}}", scalar(last));
    }
}

/// Why it was red, in a few lines.
fn red(report: &CheckReport) -> Vec<String> {
    let told = report.findings.iter().find(|finding| finding.severity == Severity::Error);
    let told = told.map(|finding| finding.message.clone()).or_else(|| report.reason.clone());
    let mut why = match (report.verdict, report.exit) {
        (Verdict::Failed, Some(Exit::Code(code))) if code != 0 => format!("exit status {code}"),
        (Verdict::Failed, Some(Exit::Signal(signal))) => format!("ended by signal {signal}"),
        (Verdict::Passed | Verdict::Skipped, _) => "no case ran".to_owned(),
        (verdict, _) => told.unwrap_or_else(|| verdict.name().to_owned()),
    };
    let cases = &report.cases;
    if report.verdict == Verdict::Failed
        && let Some(ran) = cases.ran
    {
        let planned = cases.planned.map(|planned| format!(" of {planned}")).unwrap_or_default();
        let _ = write!(why, ", {ran}{planned} cases ran");
        for (number, word) in [(cases.failed, "failed"), (cases.unknown, "without an outcome")] {
            if let Some(number) = number.filter(|number| *number > 0) {
                let _ = write!(why, ", {number} {word}");
            }
        }
    }
    let mut lines = vec![format!("was red when this was written: {why}")];
    if let Some(frame) = report.frames.first() {
        let function = frame.function.as_ref().map(|function| format!(" in {function}")).unwrap_or_default();
        let error = frame.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        lines.push(format!("  first at {}:{}{function}{error}", frame.file, frame.line));
    } else if let Some(last) = [&report.stderr, &report.stdout]
        .into_iter()
        .find_map(|output| output.tail.lines().rev().find(|line| !line.trim().is_empty()))
    {
        lines.push(format!("  it said last: {last}"));
    }
    lines
}

/// An `allow` for what it left behind, in comments that need only their signs taken away.
fn proposals(text: &mut String, report: &CheckReport) {
    let left = |finding: &&Finding| {
        let kind = matches!(finding.kind, Kind::LeakedProcess | Kind::HeldDirectory | Kind::HeldFile | Kind::HeldPipe);
        kind && finding.severity == Severity::Error && finding.process.is_some()
    };
    let left: Vec<&Finding> = report.findings.iter().filter(left).collect();
    if left.is_empty() {
        return;
    }
    line(text, "    ", "left behind when this was written:");
    let mut entries: Vec<String> = Vec::new();
    for finding in left {
        line(text, "    ", &format!("  {}", finding.message));
        let Some(name) = finding.process.as_ref().and_then(|process| name(&process.argv)) else { continue };
        let entry = format!(
            "{{kind: {}, match: {}, because: \"say why this is meant\"}}",
            finding.kind.slug(),
            scalar(&regex::escape(&name))
        );
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    }
    if entries.is_empty() {
        return;
    }
    line(text, "    ", "mend it, or if it is meant, take the comment signs away and say why:");
    text.push_str("    # allow:\n");
    for entry in entries {
        let _ = writeln!(text, "    #   - {entry}");
    }
}

/// What a process is known by: the script of an interpreter, else the program.
fn name(argv: &[String]) -> Option<String> {
    const LONGEST: usize = 40;
    const INTERPRETERS: &[&str] = &["python", "node", "sh", "bash", "dash", "zsh", "ruby", "perl"];
    let base = |word: &str| word.rsplit(['/', '\\']).next().unwrap_or(word).to_owned();
    let program = base(argv.first()?);
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let telling = |word: &str| {
        // A text of many lines is told by its first; spaces at its ends may be anything.
        let first = word.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let first: String = first.chars().take(LONGEST).collect();
        (!first.is_empty()).then_some(first)
    };
    if INTERPRETERS.contains(&stem) {
        let mut words = argv[1..].iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "-c" | "-m" | "-e" => return words.next().and_then(|word| telling(word)).or(Some(program)),
                option if option.starts_with('-') => {}
                script => return telling(&base(script)),
            }
        }
    }
    telling(&program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_known_by_its_script_or_program() {
        for (argv, known) in [
            (&["/usr/bin/sleep", "15"][..], Some("sleep")),
            (&["python3.11", "-u", "/tmp/x/drain.py", "-c"], Some("drain.py")),
            (&["sh", "-c", "\n  sleep 5; echo\n"], Some("sleep 5; echo")),
            (&["python3", "-m", "http.server"], Some("http.server")),
            (&["bash"], Some("bash")),
            (&["[kworker]"], Some("[kworker]")),
            (&[], None),
        ] {
            let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
            assert_eq!(name(&argv).as_deref(), known);
        }
    }
}
