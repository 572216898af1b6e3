//! `--junit`: what a CI reads of a run.

use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};

use quick_xml::events::Event;

use crate::context::{Context, fifo, repository, skip, works};

/// An element of a document: its name, its attributes, its text, and what is in it.
#[derive(Debug, Default)]
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
    children: Vec<Element>,
}

impl Element {
    fn get(&self, name: &str) -> &str {
        self.attributes.get(name).unwrap_or_else(|| panic!("{} has no {name}: {:?}", self.name, self.attributes))
    }

    fn all(&self, name: &str) -> Vec<&Self> {
        self.children.iter().filter(|child| child.name == name).collect()
    }

    /// The suite of that name.
    fn suite(&self, name: &str) -> &Self {
        let found = self.children.iter().find(|suite| suite.get("name") == name);
        found.unwrap_or_else(|| panic!("no suite {name}"))
    }

    fn case(&self, name: &str) -> &Self {
        let found = self.all("testcase").into_iter().find(|case| case.get("name") == name);
        found.unwrap_or_else(|| panic!("no case {name} in {:?}", self.children))
    }

    fn property(&self, name: &str) -> Option<&str> {
        let all = self.all("properties")[0].all("property");
        all.into_iter().find(|property| property.get("name") == name).map(|property| property.get("value"))
    }
}

fn parse(text: &str) -> Element {
    let mut reader = quick_xml::Reader::from_str(text);
    let mut open = vec![Element::default()];
    let element = |tag: &quick_xml::events::BytesStart<'_>| Element {
        name: String::from_utf8(tag.name().as_ref().to_vec()).expect("a name"),
        attributes: tag
            .attributes()
            .map(|attribute| {
                let attribute = attribute.expect("an attribute");
                let key = String::from_utf8(attribute.key.as_ref().to_vec()).expect("a name");
                let raw = String::from_utf8(attribute.value.to_vec()).expect("text");
                (key, quick_xml::escape::unescape(&raw).expect("a value").into_owned())
            })
            .collect(),
        ..Element::default()
    };
    let close = |open: &mut Vec<Element>, element: Element| {
        open.last_mut().expect("an element").children.push(element);
    };
    loop {
        match reader.read_event().expect("XML") {
            Event::Start(tag) => open.push(element(&tag)),
            Event::Empty(tag) => close(&mut open, element(&tag)),
            Event::End(_) => {
                let element = open.pop().expect("an element");
                close(&mut open, element);
            }
            Event::Text(text) => {
                let text = String::from_utf8(text.to_vec()).expect("text");
                open.last_mut().expect("an element").text.push_str(&text);
            }
            Event::GeneralRef(reference) => {
                let name = String::from_utf8(reference.to_vec()).expect("a name");
                let text = quick_xml::escape::unescape(&format!("&{name};")).expect("a reference").into_owned();
                open.last_mut().expect("an element").text.push_str(&text);
            }
            Event::Eof => break,
            _ => {}
        }
    }
    open.remove(0).children.remove(0)
}

/// Numbers that are the sums of what is there, in every suite.
fn adds_up(document: &Element) {
    assert_eq!(document.name, "testsuites");
    assert!(document.attributes.is_empty(), "{:?}", document.attributes);
    for suite in &document.children {
        let cases = suite.all("testcase");
        let with = |what: &str| cases.iter().filter(|case| !case.all(what).is_empty()).count().to_string();
        assert_eq!(suite.get("tests"), cases.len().to_string());
        for (number, what) in [("failures", "failure"), ("errors", "error"), ("skipped", "skipped")] {
            assert_eq!(suite.get(number), with(what), "{number} of {}", suite.get("name"));
        }
    }
}

const MODULE: &str = r#"
import unittest

class T(unittest.TestCase):
    def test_good(self): pass
    @unittest.skip("no board")
    def test_left_out(self): pass
    def test_bad(self): raise PermissionError("[Errno 13] <tmp> & \x00\x1b\ufffe\"x\"")

unittest.main(verbosity=2)
"#;

/// A project with a check of every kind.
fn context() -> Context {
    let context = Context::proving(
        r#"
- {id: board, run: [python3, test_board.py], expect: {cases: 5}, title: "the <board>"}
- {id: quiet, run: [python3, test_quiet.py]}
- id: leaks
  reader: none
  grace: 0s
  cwd: sandbox
  shell: |
    sleep 50 &
    until grep -q sleep /proc/$!/comm; do sleep 0.02; done
- {id: silent, shell: 'exit 0'}
- {id: words, reader: none, shell: 'printf "]]>\001\n::error::x ##[error]y\n"; exit 3'}
- {id: gone, run: [./no-such-program]}
- {id: plain, reader: none, shell: 'true'}
- {id: far, shell: 'true', platforms: [windows]}
"#,
    );
    context.file("test_board.py", MODULE);
    context.file(
        "test_quiet.py",
        "import unittest\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n\nunittest.main()\n",
    );
    context
}

#[test]
fn every_check_is_a_suite_and_every_failure_is_told_once() {
    let context = context();
    let ran = context.hp(&["run", "--junit", "junit.xml"]);
    ran.exits(1);
    let document = parse(&context.read("junit.xml"));
    adds_up(&document);
    let names: Vec<&str> = document.children.iter().map(|suite| suite.get("name")).collect();
    assert_eq!(names, ["board", "quiet", "leaks", "silent", "words", "gone", "plain", "far", "hostproof"]);

    let board = document.suite("board");
    assert_eq!(board.get("tests"), "4", "three cases, and that two more never ran");
    for case in board.all("testcase") {
        assert_eq!(case.get("classname"), "board");
    }
    assert!(board.case("__main__.T.test_good").children.is_empty());
    assert_eq!(board.case("__main__.T.test_left_out").all("skipped")[0].get("message"), "no board");
    let failure = board.case("__main__.T.test_bad").all("failure")[0];
    assert_eq!(failure.get("type"), "PermissionError");
    assert!(failure.get("message").starts_with("PermissionError: [Errno 13] <tmp> & "), "{failure:?}");
    assert!(failure.text.starts_with("test_board.py:8 in test_bad\n    PermissionError: "), "{failure:?}");
    // That it ended with status 1 is no failure of its own.
    assert_eq!(board.get("failures"), "2");
    assert_eq!(board.case("hostproof: short-count").all("failure").len(), 1);
    for (name, value) in
        [("planned", "5"), ("ran", "3"), ("passed", "1"), ("failed", "1"), ("skipped", "1"), ("unknown", "2")]
    {
        assert_eq!(board.property(name), Some(value), "{name}");
    }
    assert_eq!((board.property("verdict"), board.property("title")), (Some("failed"), Some("the <board>")));

    // Cases without names are numbers, and none is invented.
    let quiet = document.suite("quiet");
    assert_eq!((quiet.get("tests"), quiet.property("ran"), quiet.property("planned")), ("1", Some("1"), None));
    assert!(quiet.case("hostproof: check").children.is_empty());

    let leaks = document.suite("leaks");
    let held = leaks.case("hostproof: held-directory").all("failure")[0];
    assert_eq!((leaks.get("failures"), held.get("type")), ("3", "held-directory"));
    for evidence in
        ["path: work", ": sleep 50\n", "mend: give the detached child a cwd", "hostproof explain held-directory"]
    {
        assert!(held.text.contains(evidence), "{evidence}: {}", held.text);
    }
    assert_eq!(document.suite("silent").case("hostproof: no-proof").all("failure").len(), 1);
    let words = document.suite("words");
    assert_eq!(words.case("hostproof: unmet").all("failure")[0].get("message"), "exit status 3, expected 0");
    assert_eq!(words.all("system-out")[0].text, "]]>\\x01\n::error::x ##[error]y\n");
    assert_eq!(document.suite("gone").case("hostproof: broken").all("error").len(), 1);
    assert_eq!(document.suite("far").case("hostproof: check").all("skipped")[0].get("message"), "runs on windows only");
    assert_eq!(document.suite("hostproof").property("counts"), Some(ran.last_line()));
}

#[test]
fn a_case_that_never_ran_is_an_error_and_not_told_twice() {
    let context = Context::proving("- {id: tap, run: [python3, test_stops.py]}");
    context.file(
        "test_stops.py",
        "import os, unittest\n\nclass T(unittest.TestCase):\n    def test_a(self): pass\n    def test_b(self): os._exit(1)\n\nunittest.main(verbosity=2)\n",
    );
    let ran = context.hp(&["run", "--junit", "-"]);
    let document = parse(&ran.exits(1).stdout);
    adds_up(&document);
    let suite = document.suite("tap");
    assert_eq!(suite.case("__main__.T.test_b").all("error")[0].get("message"), "never ran, or never ended");
    assert_eq!((suite.get("errors"), suite.property("unknown")), ("1", Some("1")));
    assert!(!suite.all("testcase").iter().any(|case| case.get("name") == "hostproof: short-count"));
    // No case failed, so the status tells something.
    assert_eq!(suite.case("hostproof: unmet").all("failure").len(), 1);
    assert!(ran.stderr.ends_with(&format!("\n{}\n", document.suite("hostproof").property("counts").expect("counts"))));
}

#[test]
fn two_leaks_have_two_names() {
    let context = Context::with(
        r"
- id: leaks
  grace: 0s
  shell: |
    for n in 1 2; do
      (cd / && exec sleep 50) </dev/null >/dev/null 2>&1 &
      until grep -q sleep /proc/$!/comm; do sleep 0.02; done
    done
",
    );
    let ran = context.hp(&["run", "--junit", "-"]);
    let document = parse(&ran.exits(1).stdout);
    adds_up(&document);
    let names: Vec<&str> = document.suite("leaks").all("testcase").iter().map(|case| case.get("name")).collect();
    assert_eq!(names, ["hostproof: leaked-process", "hostproof: leaked-process 2"]);
}

#[test]
fn what_was_not_reached_is_skipped() {
    let context = Context::with("- {id: bad, shell: 'exit 1'}\n- {id: next, shell: 'true'}");
    let ran = context.hp(&["run", "--fail-fast", "--jobs", "1", "--junit", "-"]);
    let document = parse(&ran.exits(1).stdout);
    adds_up(&document);
    let case = document.suite("next").case("hostproof: check");
    assert_eq!(case.all("skipped")[0].get("message"), "not reached: --fail-fast");
}

#[test]
fn the_schemas_in_use_allow_what_is_written() {
    let context = context();
    context.hp(&["run", "--junit", "junit.xml"]).exits(1);
    // None of a failed start, and none at all.
    context.hp(&["run", "plain", "--junit", "plain.xml"]).exits(0);
    context.hp(&["run", "--fail-fast", "--jobs", "1", "--junit", "fast.xml"]).exits(1);
    if !works(&["xmllint", "--version"]) {
        return skip("xmllint is not here to judge JUnit files (libxml2-utils)");
    }
    let schema = repository().join("tests/it/junit.xsd");
    let judged = |file: &str| {
        let mut command = Command::new("xmllint");
        context.dress(&mut command);
        command.args(["--noout", "--nonet", "--schema"]).arg(&schema).arg(file).stderr(Stdio::piped());
        let output = command.output().expect("xmllint");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    for file in ["junit.xml", "plain.xml", "fast.xml"] {
        let (valid, said) = judged(file);
        assert!(valid, "{file}: {said}");
    }
    // The judge can say no.
    context.file("wrong.xml", context.read("plain.xml").replace(" hostname=\"localhost\"", ""));
    assert!(!judged("wrong.xml").0);
}

#[test]
fn where_none_can_go_is_told_before_anything_runs() {
    let context = Context::with("- {id: ran, shell: 'touch ran'}");
    fs::create_dir(context.project().join("folder")).expect("a folder");
    let pipe = context.project().join("pipe");
    fifo(&pipe);
    for (path, words) in [
        ("folder", "the JUnit file can't go to folder: it is a folder"),
        ("pipe", "it is a pipe or a device"),
        ("no/such/junit.xml", "cannot write the JUnit file to no/such/junit.xml"),
    ] {
        let ran = context.hp(&["run", "--junit", path]);
        assert!(ran.exits(2).stderr.contains(words), "{path}: {}", ran.stderr);
        assert!(!context.project().join("ran").exists(), "{path}");
    }
    context.file("old.xml", "<old/>");
    std::os::unix::fs::symlink("old.xml", context.project().join("link.xml")).expect("a link");
    context.hp(&["run", "--junit", "link.xml"]).exits(0);
    assert!(context.read("old.xml").starts_with("<?xml"));
    assert!(fs::symlink_metadata(context.project().join("link.xml")).expect("a link").is_symlink());
    // One that can't be written in the end leaves the report and the counts.
    context.checks("- {id: takes, shell: 'rm -rf out'}");
    fs::create_dir(context.project().join("out")).expect("a folder");
    let ran = context.hp(&["run", "--junit", "out/junit.xml"]);
    assert_eq!(ran.exits(3).last_line(), "1/1 checks");
    assert!(ran.stderr.starts_with("hostproof: cannot write the JUnit file to out/junit.xml: "), "{}", ran.stderr);
    assert_eq!(ran.report().totals.checks.passed, 1);
}
