//! Files as sub-runners write them, and worse ones.

use std::path::Path;

use super::*;
use crate::model::{CaseOutcome, Counts};

fn read(bytes: &[u8]) -> Reading {
    let context = Context::new(Path::new("/box"), Path::new("/box"));
    junit([JunitFile { name: "r.xml".to_owned(), bytes: Box::new(bytes) }], &context)
}

/// Planned, ran, passed, failed, skipped, unknown.
fn counts(text: &str) -> [Option<u64>; 6] {
    let Counts { planned, ran, passed, failed, skipped, unknown } = read(text.as_bytes()).counts;
    [planned, ran, passed, failed, skipped, unknown]
}

fn frames(text: &str) -> Vec<(String, u64, Option<String>)> {
    read(text.as_bytes()).frames.into_iter().map(|frame| (frame.file, frame.line, frame.error)).collect()
}

const WHOLE: &str = r#"<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" errors="1" failures="1" skipped="1" tests="4" time="0.1">
<testcase classname="tests.test_x" name="test_a" time="0.001"/>
<testcase classname="tests.test_x" name="test_b"><failure message="AssertionError: assert 1 == 2&#10;more">def test_b():
&gt;       assert 1 == 2
E       assert 1 == 2

tests/test_x.py:7: AssertionError</failure></testcase>
<testcase classname="tests.test_x" name="test_c"><skipped type="pytest.skip" message="no net">x</skipped></testcase>
<testcase classname="tests.test_x" name="test_d"><error message="E"><![CDATA[Traceback (most recent call last):
  File "/box/tests/test_x.py", line 11, in test_d
    f()
OSError: <no>]]></error><system-out>x</system-out></testcase>
</testsuite></testsuites>"#;

#[test]
fn a_whole_file() {
    assert_eq!(counts(WHOLE), [None, Some(4), Some(1), Some(2), Some(1), Some(0)]);
    let reading = read(WHOLE.as_bytes());
    let seen: Vec<_> = reading.cases.iter().map(|case| (case.name.as_str(), case.outcome)).collect();
    assert_eq!(seen[1], ("tests.test_x::test_b", CaseOutcome::Failed));
    assert_eq!(reading.cases[2].reason.as_deref(), Some("no net"));
    let message = Some("AssertionError: assert 1 == 2".to_owned());
    assert_eq!(
        frames(WHOLE),
        [("tests/test_x.py".to_owned(), 7, message), ("tests/test_x.py".to_owned(), 11, Some("E".to_owned()))]
    );
    assert_eq!(reading.notes, [""; 0]);
}

#[test]
fn no_prefix_is_greener_and_what_is_missing_is_unknown() {
    for end in 0..WHOLE.len() {
        let reading = read(&WHOLE.as_bytes()[..end]);
        assert!(reading.counts.passed.unwrap_or(0) <= 1, "{end}");
        assert_eq!(reading.counts.unknown, None, "{end}");
        assert_eq!(reading.notes.len(), 1, "{end}");
    }
}

#[test]
fn nested_suites_are_counted_once() {
    let nested = r#"<testsuites tests="3"><testsuite tests="3" failures="1"><testsuite tests="2" failures="1">
        <testcase name="a"/><testcase name="b"><failure/></testcase></testsuite><testcase name="a"/></testsuite></testsuites>"#;
    assert_eq!(counts(nested), [None, Some(3), Some(2), Some(1), Some(0), Some(0)]);
}

#[test]
fn a_suite_that_tells_of_more_is_believed() {
    let short = r#"<testsuite tests="5" failures="1"><testcase name="a"/><testcase name="b"/></testsuite>"#;
    assert_eq!(counts(short), [Some(5), Some(2), Some(1), Some(1), Some(0), Some(3)]);
    let more = r#"<testsuite tests="1"><testcase name="a"/><testcase name="b"/></testsuite>"#;
    assert_eq!(counts(more), [None, Some(2), Some(2), Some(0), Some(0), Some(0)]);
    let odd = r#"<testsuite tests="-1" failures="x"><testcase name="a"/></testsuite>"#;
    assert_eq!(counts(odd), [None, Some(1), Some(1), Some(0), Some(0), Some(0)]);
}

#[test]
fn reruns_teardowns_and_attributes() {
    let flaky = r#"<testsuite><testcase name="a"><flakyFailure>x</flakyFailure></testcase>
        <testcase name="b"><failure>x</failure><rerunFailure>y</rerunFailure></testcase></testsuite>"#;
    assert_eq!(counts(flaky), [None, Some(2), Some(1), Some(1), Some(0), Some(0)]);
    let teardown = r#"<testsuite><testcase name="a"/><testcase name="a"><error message="failed on teardown with &quot;x&quot;"/>
        </testcase><testcase name="a"/></testsuite>"#;
    assert_eq!(counts(teardown), [None, Some(2), Some(1), Some(1), Some(0), Some(0)]);
    assert_eq!(read(teardown.as_bytes()).cases.len(), 2);
    let status = r#"<testsuite><testcase name="a" status="notrun"/><testcase name="b" status="failed"/></testsuite>"#;
    assert_eq!(counts(status), [None, Some(2), Some(0), Some(1), Some(1), Some(0)]);
    let place =
        r#"<testsuite><testcase name="a" file="/box/a.js" line="3"><failure message="m"/></testcase></testsuite>"#;
    assert_eq!(frames(place), [("a.js".to_owned(), 3, Some("m".to_owned()))]);
}

#[test]
fn cases_of_one_name_are_so_many_in_whatever_order() {
    for order in ["pass fail", "fail pass", "pass fail pass", "pass pass fail"] {
        let case =
            |word| if word == "fail" { "<testcase name='a'><failure/></testcase>" } else { "<testcase name='a'/>" };
        let suite = format!("<testsuite>{}</testsuite>", order.split(' ').map(case).collect::<String>());
        let all = order.split(' ').count() as u64;
        assert_eq!(counts(&suite), [None, Some(all), Some(all - 1), Some(1), Some(0), Some(0)], "{order}");
        assert_eq!(read(suite.as_bytes()).cases.len() as u64, all, "{order}");
    }
}

#[test]
fn stacks_of_other_languages_are_found() {
    let node = "<testsuite><testcase name=\"a\"><failure message=\"no 3\">TypeError: no 3\n    at inner (/box/my (top) dir/t.cjs:3:22) {\n</failure></testcase></testsuite>";
    assert_eq!(frames(node), [("my (top) dir/t.cjs".to_owned(), 3, Some("no 3".to_owned()))]);
}

#[test]
fn encodings_are_read_or_refused() {
    let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><testsuite><testcase name='caf\xe9'/></testsuite>";
    assert_eq!(read(latin).cases[0].name, "café");
    let utf16: Vec<u8> = "\u{feff}<testsuite/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let other = b"<?xml version='1.0' encoding='EBCDIC'?><testsuite><testcase name='a'/></testsuite>";
    for bytes in [&utf16[..], other] {
        let reading = read(bytes);
        assert_eq!((reading.counts.passed, reading.counts.unknown), (Some(0), None));
        assert!(reading.notes[0].contains("not read"), "{:?}", reading.notes);
    }
}

#[test]
fn bombs_and_other_files_are_no_readings() {
    let bomb = r#"<!DOCTYPE a [<!ENTITY x "&y;&y;"><!ENTITY y "yyyy">]><testsuite><testcase name="&x;"/></testsuite>"#;
    for text in [bomb, "", "{}", "<html><body/></html>", "<testsuite>", "<testsuite></a>", &"<a>".repeat(100_000)] {
        let reading = read(text.as_bytes());
        assert_eq!(reading.counts.unknown, None, "{}", &text[..text.len().min(50)]);
        assert_eq!(reading.notes.len(), 1);
    }
    assert_eq!(read(b"<testsuites/>").counts.ran, Some(0));
    let none = junit([], &Context::new(Path::new("/box"), Path::new("/box")));
    assert_eq!((none.reader, none.counts), (None, Counts::default()));
}
