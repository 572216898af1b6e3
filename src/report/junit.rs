//! The report as JUnit's XML.
//!
//! There is no one schema of it. What is written here is valid by both that are in use: Ant's, which most readers were
//! built for, and the one of Jenkins' xUnit plugin. So every suite has an id, a package, a host name, a time stamp without
//! a zone (it is UTC), properties and both outputs, every case a time, and none has a file and a line, which neither
//! schema knows: they are in the text of the failure.
//!
//! - A suite for each check. A case for each that the check's own runner names; the six numbers, nameless cases included,
//!   are properties of the suite, and no case is invented to make sums fit.
//! - An error that no case tells, such as a leak, is a failed case `hostproof: KIND`, the second of a kind one with a 2
//!   behind it. A check without any case has one,
//!   `hostproof: check`, so that it can be seen.
//! - The last suite, `hostproof`, is about the run; its property `counts` is the last line that people read.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Duration;

use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};

use super::against;
use super::terminal::{frame_place, last_line};
use crate::model::{Case, CaseOutcome, CheckReport, Finding, Frame, Kind, Output, Report, Severity, Verdict};

/// Where a host's name is not known.
const HOSTNAME: &str = "localhost";
/// How the names of our own cases begin.
const OURS: &str = "hostproof: ";

/// Writes a report as a JUnit file, with these checks in place of its own, one at a time.
///
/// # Errors
///
/// What the system says, or whoever gives the checks.
pub fn write_junit(
    out: &mut dyn Write,
    report: &Report,
    checks: impl Iterator<Item = io::Result<CheckReport>>,
) -> io::Result<()> {
    let checks = checks.map(|check| check.map(|check| suite(&check)));
    let not_run = report.run.not_run.iter().map(|id| Ok(not_run(report, id)));
    let mut last = None;
    for (index, suite) in checks.chain(not_run).chain([Ok(of_the_run(report))]).enumerate() {
        let mut suite = suite?;
        dress(&mut suite, index, &report.run.started);
        let mut document = quick_junit::Report::new("hostproof");
        document.add_test_suite(suite);
        let text = document.to_string().map_err(io::Error::other)?;
        let (head, suite, end) = parts(&text).ok_or_else(|| io::Error::other("it has no suites"))?;
        if index == 0 {
            // The outermost element has no attributes in Ant's schema, and every reader sums up the suites.
            write!(out, "{head}{BEGIN}>")?;
        }
        out.write_all(suite.as_bytes())?;
        last = Some(end.to_owned());
    }
    out.write_all(last.unwrap_or_default().as_bytes())
}

const BEGIN: &str = "<testsuites";
const END: &str = "</testsuites>";

/// What stands before the suites of a document and their element, what in it, and the rest.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (head, rest) = text.split_once(BEGIN)?;
    // No attribute has one: the only text in them is our name.
    let (_, rest) = rest.split_once('>')?;
    let at = rest.rfind(END)?;
    // The line break before it is the next suite's, or the end's.
    let suites = rest[..at].trim_end_matches(['\n', ' ']);
    Some((head, suites, &rest[suites.len()..]))
}

fn suite(check: &CheckReport) -> TestSuite {
    let mut suite = TestSuite::new(xml(&check.id));
    suite.set_time(Duration::from_millis(check.duration_ms));
    if let Some(started) = &check.started {
        suite.extra.insert("timestamp".into(), without_zone(started).into());
    }
    for (name, value) in properties(check) {
        suite.add_property(Property::new(name, xml(&value)));
    }
    let mut untold: Vec<&Frame> = check.frames.iter().collect();
    let mut cases: Vec<TestCase> = check.cases.list.iter().map(|case| named(check, case, &mut untold)).collect();
    cases.extend(against::findings(check).into_iter().map(|finding| of_finding(&check.id, finding, &mut untold)));
    number(&mut cases);
    let is_red = |case: &TestCase| matches!(case.status, TestCaseStatus::NonSuccess { .. });
    if check.verdict.is_red() && !cases.iter().any(is_red) {
        let reason = check.reason.as_deref().unwrap_or_else(|| check.verdict.name());
        let kind = if check.verdict == Verdict::Broken { NonSuccessKind::Error } else { NonSuccessKind::Failure };
        cases.push(synthetic(&check.id, check.verdict.name(), red(kind, check.verdict.name(), reason, "")));
    } else if cases.is_empty() {
        let status = match check.verdict {
            Verdict::Skipped => skipped(check.reason.as_deref()),
            _ => TestCaseStatus::success(),
        };
        let mut case = synthetic(&check.id, "check", status);
        case.set_time(Duration::from_millis(check.duration_ms));
        cases.push(case);
    }
    suite.add_test_cases(cases);
    let places: Vec<String> = untold.iter().map(|frame| in_text(frame)).collect();
    suite.set_system_out(xml(&output(check, &check.stdout, &places)));
    suite.set_system_err(xml(&output(check, &check.stderr, &[])));
    suite
}

fn properties(check: &CheckReport) -> Vec<(&'static str, String)> {
    let cases = &check.cases;
    let numbers = [
        ("planned", cases.planned),
        ("ran", cases.ran),
        ("passed", cases.passed),
        ("failed", cases.failed),
        ("skipped", cases.skipped),
        ("unknown", cases.unknown),
    ];
    let texts = [
        ("verdict", Some(check.verdict.name().to_owned())),
        ("reason", check.reason.clone()),
        ("title", check.title.clone()),
        ("origin", check.origin.clone()),
        ("reader", check.reader.clone()),
    ];
    // A number that is not known is left out, never 0.
    let numbers = numbers.into_iter().filter_map(|(name, number)| Some((name, number?.to_string())));
    texts.into_iter().filter_map(|(name, text)| Some((name, text?))).chain(numbers).collect()
}

/// A case that the check's own runner names.
fn named(check: &CheckReport, case: &Case, untold: &mut Vec<&Frame>) -> TestCase {
    let status = match case.outcome {
        CaseOutcome::Passed => TestCaseStatus::success(),
        CaseOutcome::Skipped => skipped(case.reason.as_deref()),
        CaseOutcome::Unknown => red(NonSuccessKind::Error, "never-ran", "never ran, or never ended", ""),
        CaseOutcome::Failed => {
            let failed = check.cases.list.iter().filter(|case| case.outcome == CaseOutcome::Failed).count();
            let frames = take(untold, |frame| match &frame.case {
                Some(name) => *name == case.name,
                None => failed == 1,
            });
            let first = frames.first().and_then(|frame| frame.error.as_deref());
            let text: Vec<String> = frames.iter().map(|frame| in_text(frame)).collect();
            let message = first.or(case.reason.as_deref()).unwrap_or("failed");
            red(NonSuccessKind::Failure, first.map_or("failed", error_type), message, &text.join("\n"))
        }
    };
    let mut result = TestCase::new(xml(&case.name), status);
    result.set_classname(xml(&check.id));
    let time = case.at_ms.zip(case.from_ms).map_or(0, |(at, from)| at.saturating_sub(from));
    result.set_time(Duration::from_millis(time));
    result
}

/// An error that no case tells.
fn of_finding(id: &str, finding: &Finding, untold: &mut Vec<&Frame>) -> TestCase {
    let mut text = against::evidence(finding);
    if finding.kind == Kind::Unmet {
        for frame in take(untold, |_| true) {
            text = format!("{text}\n{}", in_text(frame));
        }
    }
    let slug = finding.kind.slug();
    synthetic(id, slug, red(NonSuccessKind::Failure, slug, &finding.message, &text))
}

/// Gives those of our own that have the same name a number: readers take what has one name for one case.
fn number(cases: &mut [TestCase]) {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for case in cases.iter_mut().filter(|case| case.name.as_str().starts_with(OURS)) {
        let times = seen.entry(case.name.as_str().to_owned()).or_default();
        *times += 1;
        if *times > 1 {
            case.name = format!("{} {times}", case.name.as_str()).into();
        }
    }
}

/// A check that was not reached.
fn not_run(report: &Report, id: &str) -> TestSuite {
    let mut suite = TestSuite::new(xml(id));
    suite.set_time(Duration::ZERO);
    let why = report.run.stopped.map(|stop| format!("not reached: {}", stop.words()));
    suite.add_property(Property::new("verdict", "not-run"));
    suite.add_test_case(synthetic(id, "check", skipped(why.as_deref())));
    suite
}

/// What concerns the run as a whole, and its counts.
fn of_the_run(report: &Report) -> TestSuite {
    let mut suite = TestSuite::new("hostproof");
    suite.set_time(Duration::from_millis(report.run.duration_ms));
    suite.add_property(Property::new("version", xml(&report.tool.version)));
    suite.add_property(Property::new("run", xml(&report.run.id)));
    suite.add_property(Property::new("host", xml(&format!("{} {}", report.host.os, report.host.arch))));
    suite.add_property(Property::new("counts", last_line(&report.totals, report.run.stopped)));
    let errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let mut cases: Vec<TestCase> = errors.map(|finding| of_finding("hostproof", finding, &mut Vec::new())).collect();
    number(&mut cases);
    suite.add_test_cases(cases);
    suite
}

/// What both schemas want of every suite.
fn dress(suite: &mut TestSuite, index: usize, started: &str) {
    suite.extra.insert("id".into(), index.to_string().into());
    suite.extra.insert("package".into(), "hostproof".into());
    suite.extra.insert("hostname".into(), HOSTNAME.into());
    suite.extra.entry("timestamp".into()).or_insert_with(|| without_zone(started).into());
    suite.system_out.get_or_insert_with(|| "".into());
    suite.system_err.get_or_insert_with(|| "".into());
}

fn synthetic(id: &str, what: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(format!("{OURS}{what}"), status);
    case.set_classname(xml(id));
    case.set_time(Duration::ZERO);
    case
}

fn red(kind: NonSuccessKind, what: &str, message: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(xml(what)).set_message(xml(message)).set_description(xml(text));
    status
}

fn skipped(why: Option<&str>) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    if let Some(why) = why {
        status.set_message(xml(why));
    }
    status
}

/// Takes those that are so out of the list.
fn take<'a>(frames: &mut Vec<&'a Frame>, is_so: impl Fn(&Frame) -> bool) -> Vec<&'a Frame> {
    frames.extract_if(.., |frame| is_so(frame)).collect()
}

fn in_text(frame: &Frame) -> String {
    let error = frame.error.as_deref().map(|error| format!("\n    {error}")).unwrap_or_default();
    format!("{}{error}", frame_place(frame, &frame.file))
}

/// `PermissionError` of `PermissionError: [Errno 13] …`.
fn error_type(error: &str) -> &str {
    let first = error.split(':').next().unwrap_or_default();
    let is_name = !first.is_empty() && first.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    if is_name { first } else { "failed" }
}

/// What a red check printed, as far as the report has it; of another one nothing.
fn output(check: &CheckReport, output: &Output, places: &[String]) -> String {
    let mut text = places.join("\n");
    if !check.verdict.is_red() || output.tail.is_empty() {
        return text;
    }
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    if output.cut {
        text.push_str(&format!("… the end of {} bytes:\n", output.bytes));
    }
    text + &output.tail
}

/// RFC 3339 in UTC without fraction and zone, which not every schema takes.
fn without_zone(timestamp: &str) -> &str {
    timestamp.split(['.', 'Z']).next().unwrap_or_default()
}

/// Text that XML can hold: each other character is replaced, so that it can be seen that there was one.
fn xml(text: &str) -> String {
    let fits = |c: char| matches!(c, '\t' | '\n' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    text.chars().map(|c| if fits(c) { c } else { '\u{fffd}' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_xml_cannot_hold_is_replaced() {
        assert_eq!(
            xml("a\u{0}b\u{1b}[1m\u{fffe}\r\tü\u{1f980}\n"),
            "a\u{fffd}b\u{fffd}[1m\u{fffd}\u{fffd}\tü\u{1f980}\n"
        );
    }

    #[test]
    fn an_error_s_type_is_its_first_word_if_that_is_a_name() {
        assert_eq!(error_type("subprocess.TimeoutExpired: x"), "subprocess.TimeoutExpired");
        assert_eq!(error_type("it went wrong: x"), "failed");
    }

    #[test]
    fn a_time_stamp_has_no_zone() {
        assert_eq!(without_zone("2026-11-30T06:04:12.123Z"), "2026-11-30T06:04:12");
        assert_eq!(without_zone("2026-11-30T06:04:12Z"), "2026-11-30T06:04:12");
    }

    #[test]
    fn suites_one_by_one_are_the_document_of_all() {
        let suites = ["a", "b <c>", "d"].map(|name| {
            let mut suite = TestSuite::new(name);
            suite.add_test_case(TestCase::new("case", TestCaseStatus::success()));
            suite.set_system_out("last </testsuites>\n");
            suite
        });
        let document = |suites: &[TestSuite]| {
            let mut document = quick_junit::Report::new("hostproof");
            document.add_test_suites(suites.iter().cloned());
            document.to_string().expect("a document")
        };
        let each: Vec<String> = suites.iter().map(|suite| document(std::slice::from_ref(suite))).collect();
        let (whole, each) =
            (document(&suites), each.iter().map(|text| parts(text).expect("suites")).collect::<Vec<_>>());
        let (head, all, end) = parts(&whole).expect("suites");
        assert_eq!(each.iter().map(|(_, suite, _)| *suite).collect::<String>(), all);
        assert!(each.iter().all(|(first, _, last)| (*first, *last) == (head, end)), "{end:?}");
    }
}
