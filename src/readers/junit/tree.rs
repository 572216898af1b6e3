//! The elements of a file, and what they say.

use std::io::BufRead;
use std::sync::LazyLock;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use regex::Regex;

use super::Seen;
use super::text::{Encoding, reference};
use crate::model::{CaseOutcome, Frame};
use crate::readers::cases::{Frames, clip, note, number};
use crate::readers::frames::Finders;
use crate::readers::own_code::own_name;
use crate::readers::{Arrival, Context};
use crate::words::strip_escapes;

/// The deepest nesting that is followed; suites in suites are a few.
const DEEPEST: usize = 100;
/// How much of a failure's text is looked at.
const LONGEST: usize = 64 * 1024;

/// `FILE:LINE: …`, as pytest ends a failure without a traceback.
static PLACE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(\S.*?\.\w+):(\d+)(?::(\d+))?:? ?(.*)$").expect("a constant"));

pub struct Tree<'t, 'c> {
    seen: &'t mut Seen,
    context: &'t Context<'c>,
    encoding: Encoding,
    depth: usize,
    /// Suites that are open, with what their heads tell and what was in them.
    suites: Vec<Suite>,
    case: Option<Case>,
    /// The text of a failure, while it is open.
    failure: Option<Failure>,
    /// The last case, if it passed.
    passed: Option<String>,
    any: bool,
}

/// Numbers that a suite has in its head, and those of what is in it.
#[derive(Debug, Clone, Copy, Default)]
struct Suite {
    tests: Option<u64>,
    failed: Option<u64>,
    cases: u64,
    failures: u64,
}

struct Case {
    name: String,
    outcome: CaseOutcome,
    reason: Option<String>,
    place: Option<Frame>,
    frame: Option<Frame>,
    error: Option<String>,
    /// Whether it tells of what pytest does after a case.
    is_teardown: bool,
    depth: usize,
}

struct Failure {
    depth: usize,
    text: String,
}

impl<'t, 'c> Tree<'t, 'c> {
    pub fn new(seen: &'t mut Seen, context: &'t Context<'c>) -> Self {
        Self {
            seen,
            context,
            encoding: Encoding::Utf8,
            depth: 0,
            suites: Vec::new(),
            case: None,
            failure: None,
            passed: None,
            any: false,
        }
    }

    /// Reads a file to its end.
    ///
    /// # Errors
    ///
    /// Why what follows can't be read.
    pub fn read(mut self, mut bytes: impl BufRead) -> Result<(), String> {
        let start = bytes.fill_buf().map_err(|error| error.to_string())?;
        if start.starts_with(&[0xfe, 0xff])
            || start.starts_with(&[0xff, 0xfe])
            || start.get(..2).is_some_and(|two| two.contains(&0))
        {
            return Err("it is in UTF-16, which is not read".to_owned());
        }
        let mut reader = Reader::from_reader(bytes);
        reader.config_mut().check_end_names = true;
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            let event = match reader.read_event_into(&mut buffer) {
                Ok(event) => event,
                Err(error) => {
                    self.end(true);
                    return Err(format!("no XML that can be read to its end ({error})"));
                }
            };
            match event {
                Event::Decl(declared) => {
                    if let Some(Ok(name)) = declared.encoding() {
                        let name = String::from_utf8_lossy(&name).into_owned();
                        self.encoding = Encoding::named(&name)
                            .ok_or_else(|| clip(&format!("it is in {name}, which is not read")))?;
                    }
                }
                Event::Start(start) => {
                    self.depth += 1;
                    if self.depth > DEEPEST {
                        self.end(true);
                        return Err("it is nested too deep".to_owned());
                    }
                    self.start(&start);
                }
                Event::Empty(start) => {
                    self.depth += 1;
                    self.start(&start);
                    self.stop();
                }
                Event::End(_) => self.stop(),
                Event::Text(text) => {
                    if self.failure.is_some() {
                        let text = self.encoding.text(&text);
                        self.text(&text);
                    }
                }
                Event::CData(text) => {
                    if self.failure.is_some() {
                        let text = self.encoding.text(&text);
                        self.text(&text);
                    }
                }
                Event::GeneralRef(name) => {
                    let sign = reference(&self.encoding.text(&name));
                    if let Some(sign) = sign {
                        self.text(sign.encode_utf8(&mut [0; 4]));
                    }
                }
                Event::Comment(_) | Event::PI(_) | Event::DocType(_) => {}
                Event::Eof => break,
            }
        }
        let whole = self.depth == 0;
        let any = self.any;
        self.end(!whole);
        match (whole, any) {
            (false, _) => Err("it ends in the middle".to_owned()),
            (true, false) => Err("it has no test suite".to_owned()),
            (true, true) => Ok(()),
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(failure) = &mut self.failure
            && failure.text.len() < LONGEST
        {
            failure.text.push_str(text);
        }
    }

    fn start(&mut self, start: &BytesStart<'_>) {
        let attribute = |name: &str| {
            let mut all = start.attributes();
            let found = all.with_checks(false).flatten().find(|it| it.key.local_name().as_ref() == name.as_bytes())?;
            Some(self.encoding.unescaped(&found.value))
        };
        let count = |name: &str| attribute(name).and_then(|text| number(text.trim()));
        match start.local_name().as_ref() {
            b"testsuites" => self.any = true,
            b"testsuite" => {
                self.any = true;
                let failed = count("failures")
                    .or(count("errors"))
                    .map(|_| count("failures").unwrap_or(0) + count("errors").unwrap_or(0));
                let suite = Suite { tests: count("tests"), failed, ..Suite::default() };
                self.suites.push(suite);
                // What a case is in is no case.
                self.passed = None;
            }
            b"testcase" if self.case.is_none() => {
                self.any = true;
                let (name, class) = (attribute("name").unwrap_or_default(), attribute("classname").unwrap_or_default());
                // Node's reporter has but `test` there.
                let plain = class.is_empty() || class == "test" || name.starts_with(&class);
                let name = clip(&if plain { name } else { format!("{class}::{name}") });
                let line = attribute("line").and_then(|line| line.parse().ok());
                let place = attribute("file")
                    .zip(line)
                    .and_then(|(file, line)| Some(Frame::new(clip(&own_name(&file, self.context)?), line)));
                // Some say it in an attribute.
                let outcome = match attribute("status").or_else(|| attribute("result")).as_deref() {
                    Some("failed" | "failure" | "error") => CaseOutcome::Failed,
                    Some("skipped" | "disabled" | "notrun" | "suppressed") => CaseOutcome::Skipped,
                    _ => CaseOutcome::Passed,
                };
                let depth = self.depth;
                self.case = Some(Case {
                    name,
                    outcome,
                    reason: None,
                    place,
                    frame: None,
                    error: None,
                    is_teardown: false,
                    depth,
                });
            }
            kind @ (b"failure" | b"error" | b"skipped") => {
                let message = attribute("message").or_else(|| attribute("type"));
                let message = message.map(|message| first_line(&message)).filter(|message| !message.is_empty());
                let depth = self.depth;
                let Some(case) = self.case.as_mut().filter(|case| case.depth + 1 == depth) else { return };
                if kind == b"skipped" {
                    if case.outcome != CaseOutcome::Failed {
                        case.outcome = CaseOutcome::Skipped;
                        case.reason = message;
                    }
                } else {
                    case.outcome = CaseOutcome::Failed;
                    case.is_teardown |=
                        kind == b"error" && message.as_ref().is_some_and(|told| told.contains("teardown"));
                    case.error = case.error.take().or(message);
                    self.failure = Some(Failure { depth, text: String::new() });
                }
            }
            _ => {}
        }
    }

    fn stop(&mut self) {
        if let Some(failure) = self.failure.take_if(|failure| failure.depth == self.depth) {
            self.look_for_a_frame(&failure.text);
        } else if let Some(case) = self.case.take_if(|case| case.depth == self.depth) {
            self.take(case);
        } else if self.case.is_none() && self.depth <= self.suites.len() + 1 {
            self.close_suite();
        }
        self.depth = self.depth.saturating_sub(1);
    }
}

fn first_line(text: &str) -> String {
    let text = strip_escapes(text);
    clip(text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default())
}

impl Tree<'_, '_> {
    fn look_for_a_frame(&mut self, text: &str) {
        let Some(case) = &mut self.case else { return };
        if case.frame.is_some() {
            return;
        }
        let text = strip_escapes(text);
        let mut finders = Finders::new(*self.context);
        let mut found = Frames::default();
        let mut place = None;
        for line in text.lines() {
            finders.line(line, &mut found);
            if let Some(parts) = PLACE.captures(line)
                && let (Ok(line), Some(file)) = (parts[2].parse(), own_name(&parts[1], self.context))
            {
                let error = Some(clip(&parts[4])).filter(|error| !error.is_empty());
                place = Some(Frame { error, ..Frame::new(clip(&file), line) });
            }
        }
        finders.finish(&mut found);
        let mut found = found.finish(&mut Vec::new());
        found.truncate(1);
        case.frame = found.pop().or(place);
        if case.error.is_none() {
            case.error = Some(first_line(&text)).filter(|line| !line.is_empty());
        }
    }

    fn take(&mut self, case: Case) {
        let Case { name, outcome, reason, place, frame, error, is_teardown, .. } = case;
        let again = is_teardown && self.passed.as_ref() == Some(&name);
        if !again {
            // Whatever its name is, it is another one.
            self.seen.cases.end_suite();
        }
        self.seen.cases.record(&name, outcome, reason.as_deref(), Arrival::default());
        let outcomes = &mut self.seen.outcomes;
        match outcome {
            CaseOutcome::Passed | CaseOutcome::Unknown => outcomes.passed += 1,
            CaseOutcome::Skipped => outcomes.skipped += 1,
            CaseOutcome::Failed => outcomes.failed += 1,
        }
        if again {
            outcomes.passed -= 1;
        }
        if let Some(suite) = self.suites.last_mut() {
            suite.cases += 1;
            suite.failures += u64::from(outcome == CaseOutcome::Failed);
        }
        self.passed = (outcome == CaseOutcome::Passed).then(|| name.clone());
        if outcome == CaseOutcome::Failed
            && let Some(frame) = frame.or(place)
        {
            let error = error.or(frame.error.clone());
            self.seen.frames.extend(Some(Frame { case: Some(name), error, ..frame }));
        }
    }

    /// A suite ends: what it tells of and does not have is missing.
    fn close_suite(&mut self) {
        let Some(suite) = self.suites.pop() else { return };
        self.seen.cases.end_suite();
        self.passed = None;
        if let Some(tests) = suite.tests.filter(|&tests| tests > suite.cases) {
            let missing = tests - suite.cases;
            self.seen.missing = self.seen.missing.map(|sum| sum + missing);
            note(&mut self.seen.notes, format!("a suite says that it has {tests} cases, and has {}", suite.cases));
        }
        if let Some(failed) = suite.failed.filter(|&failed| failed > suite.failures) {
            let more = (failed - suite.failures).min(self.seen.outcomes.passed.min(suite.cases - suite.failures));
            self.seen.outcomes.passed -= more;
            self.seen.outcomes.failed += more;
            note(
                &mut self.seen.notes,
                format!("a suite says that {failed} of its cases failed, and has {}", suite.failures),
            );
        }
        if let Some(parent) = self.suites.last_mut() {
            parent.cases += suite.cases.max(suite.tests.unwrap_or(0));
            parent.failures += suite.failures.max(suite.failed.unwrap_or(0));
        }
    }

    /// The file is over; whether in the middle.
    fn end(&mut self, cut: bool) {
        if let Some(case) = self.case.take().filter(|_| cut) {
            self.seen.cases.end_suite();
            self.seen.cases.record(&case.name, CaseOutcome::Unknown, None, Arrival::default());
        }
        self.seen.cases.end_suite();
    }
}
