//! What is said of one package.

use std::collections::HashMap;
use std::mem;
use std::path::Path;
use std::sync::LazyLock;

use regex::Regex;

use super::event::Event;
use crate::model::{Case, CaseOutcome, Frame};
use crate::readers::cases::{CaseList, MOST_CASES, MOST_FRAMES, Outcomes, clip, note};
use crate::readers::frames::{Finder, Goroutines};
use crate::readers::own_code::own_name;
use crate::readers::{Arrival, Context};

static OUTCOME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"--- (PASS|FAIL|SKIP): (\S.*) \(\d+\.\d+s\)$").expect("a constant"));
/// What `t.Log` and its relatives print.
static LOGGED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(?: {4})+(\S.*?\.\w+):(\d+): ?(.*)$").expect("a constant"));
static MEASURED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^(Benchmark\S*?)(?:-\d+)?[ \t]+\d+[ \t]+[\d.]+ ns/op").expect("a constant"));

/// How a package ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Ok,
    NoTests,
    Fail,
    NotBuilt,
    /// It has no tests.
    Empty,
    Covered,
}

/// Whether a line is one of Go's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said {
    Something,
    Nothing,
}

/// What a closed package adds.
pub struct Closed {
    pub outcomes: Outcomes,
    pub nameless: bool,
    pub died: bool,
    pub cases: Vec<Case>,
    pub frames: Vec<Frame>,
    /// The folder of one of its files.
    pub folder: Option<String>,
}

pub struct Package<'a> {
    context: Context<'a>,
    list: CaseList,
    /// Events and `-v` name every case; known once the package says something of one.
    named: Option<bool>,
    /// The bare `PASS` or `FAIL` that ends a package's tests.
    verdict: Option<bool>,
    /// Whose output the next line is.
    subject: Option<String>,
    /// Outcomes behind what a case printed without a line end: before Go 1.20 there is no event for them.
    glued: HashMap<String, (CaseOutcome, Arrival)>,
    /// The last place that each case logged.
    logged: HashMap<String, Logged>,
    /// A logged place whose message stands on the next lines.
    open: Option<String>,
    panics: Goroutines<'a>,
    frames: Vec<Frame>,
    panicked: bool,
    folder: Option<String>,
    seen: bool,
    /// Names alone: `-list` runs nothing.
    listed: bool,
}

struct Logged {
    file: String,
    line: u64,
    message: String,
}

/// The indent, outcome and name in `    --- FAIL: TestX/y (0.00s)`; what stands before may be output without an end.
pub fn outcome_line(text: &str) -> Option<(&str, CaseOutcome, &str)> {
    if !text.ends_with("s)") || !text.contains("--- ") {
        return None;
    }
    let found = OUTCOME.captures(text)?;
    let outcome = match &found[1] {
        "PASS" => CaseOutcome::Passed,
        "SKIP" => CaseOutcome::Skipped,
        _ => CaseOutcome::Failed,
    };
    let (whole, name) = (found.get(0)?, found.get(2)?);
    Some((&text[..whole.start()], outcome, name.as_str()))
}

impl<'a> Package<'a> {
    pub fn new(context: Context<'a>) -> Self {
        Self {
            context,
            list: CaseList::default(),
            named: None,
            verdict: None,
            subject: None,
            glued: HashMap::new(),
            logged: HashMap::new(),
            open: None,
            panics: Goroutines::new(context),
            frames: Vec::new(),
            panicked: false,
            folder: None,
            seen: false,
            listed: false,
        }
    }

    /// Events name every case.
    pub fn is_named(&mut self) {
        self.named = Some(true);
    }

    pub fn seen(&self) -> bool {
        self.seen
    }

    pub fn is_in_panic(&self) -> bool {
        self.panics.is_in_panic()
    }

    /// Whether an `ok` can be this package's: what was printed before it ends with `PASS`.
    pub fn may_be_ok(&self) -> bool {
        !self.seen || self.verdict == Some(true)
    }

    pub fn line(&mut self, text: &str, at: Arrival) -> Said {
        if let Some((word, name)) = marker(text).filter(|_| self.named != Some(false)) {
            self.seen = true;
            self.named = Some(true);
            self.verdict = None;
            self.open = None;
            if word == "RUN" {
                self.begin(name, at);
            }
            self.subject = Some(clip(name));
            return Said::Something;
        }
        if let Some((before, outcome, name)) = outcome_line(text) {
            let begun = self.list.outcome(name).is_some();
            let glued = !before.trim_start().is_empty();
            // With -v every case that ends has begun; what else looks like an end was printed.
            let named = self.named == Some(true);
            if begun || (!named && (!glued || outcome == CaseOutcome::Failed)) {
                self.seen = true;
                self.named = Some(named);
                self.verdict = None;
                self.open = None;
                self.end(name, outcome, at);
                self.subject = Some(clip(name));
                return Said::Something;
            }
            return Said::Nothing;
        }
        if text == "PASS" || text == "FAIL" {
            let said = if self.seen { Said::Something } else { Said::Nothing };
            self.verdict = Some(text == "PASS");
            return said;
        }
        if let Some(found) = text.strip_prefix("Benchmark").and_then(|_| MEASURED.captures(text)) {
            self.seen = true;
            self.list.record(&found[1], CaseOutcome::Passed, None, at);
            return Said::Something;
        }
        self.listed |= !self.seen && is_name(text);
        self.output(text);
        Said::Nothing
    }

    pub fn event(&mut self, event: &Event<'_>, at: Arrival) {
        self.seen = true;
        self.named = Some(true);
        let test = event.test.as_deref();
        match (event.action.as_ref(), test) {
            ("run", Some(test)) => self.begin(test, at),
            ("pass" | "bench", Some(test)) => self.end(test, CaseOutcome::Passed, at),
            ("fail", Some(test)) => self.end(test, CaseOutcome::Failed, at),
            ("skip", Some(test)) => self.end(test, CaseOutcome::Skipped, at),
            ("output", _) => {
                let Some(output) = event.output.as_deref() else { return };
                let line = output.strip_suffix('\n').unwrap_or(output);
                self.subject = test.map(clip).or(self.subject.take());
                match line {
                    "PASS" => self.verdict = Some(true),
                    "FAIL" => self.verdict = Some(false),
                    _ if marker(line).is_none() && outcome_line(line).is_none() => self.output(line),
                    _ => {
                        self.open = None;
                        if let Some((before, outcome, name)) = outcome_line(line)
                            && !before.trim_start().is_empty()
                            && test == Some(name)
                            && self.glued.len() < MOST_CASES
                        {
                            self.glued.insert(clip(name), (outcome, at));
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, name: &str, at: Arrival) {
        self.list.record(name, CaseOutcome::Unknown, None, at);
    }

    fn end(&mut self, name: &str, outcome: CaseOutcome, at: Arrival) {
        // Where all that ends has begun, what has not was printed by a case.
        if self.named == Some(true) && self.list.outcome(name).is_none() {
            return;
        }
        let skipped = outcome == CaseOutcome::Skipped;
        let reason = self.logged.get(name).filter(|_| skipped).map(|logged| logged.message.as_str());
        let reason = reason.filter(|reason| !reason.is_empty()).map(str::to_owned);
        self.list.record(name, outcome, reason.as_deref(), at);
    }

    /// What a case printed.
    fn output(&mut self, text: &str) {
        let frame = self.panics.line(text);
        self.panic(frame);
        if self.panics.is_in_panic() {
            self.panicked = true;
            self.open = None;
            return;
        }
        let Some(subject) = &self.subject else { return };
        if let Some(found) = text.strip_prefix("    ").and_then(|_| LOGGED.captures(text)) {
            let Ok(line) = found[2].parse() else { return };
            if self.logged.len() < 2 * MOST_FRAMES || self.logged.contains_key(subject) {
                let logged = Logged { file: clip(&found[1]), line, message: clip(found[3].trim_end()) };
                self.open = logged.message.is_empty().then(|| subject.clone());
                self.logged.insert(subject.clone(), logged);
            }
        } else if let Some(open) = &self.open {
            // Assertion libraries put their message below the place, in columns.
            let text = text.trim();
            if text.starts_with("Error Trace:") || text.is_empty() || is_place(text) {
                return;
            }
            let message = text.strip_prefix("Error:").unwrap_or(text).trim();
            if let Some(logged) = self.logged.get_mut(open).filter(|_| !message.is_empty()) {
                logged.message = clip(message);
            }
            self.open = None;
        }
    }

    fn panic(&mut self, frame: Option<Frame>) {
        let Some(frame) = frame else { return };
        if self.frames.len() == MOST_FRAMES {
            return;
        }
        let test = self.panics.test();
        let subject =
            self.subject.as_deref().filter(|subject| test.is_none_or(|test| subject.split('/').next() == Some(test)));
        let case = subject.or(test).map(str::to_owned);
        self.frames.push(Frame { case, ..frame });
    }

    /// Ends it; what it ended with is `None` if the output broke off.
    pub fn close(mut self, name: Option<&str>, end: Option<End>, notes: &mut Vec<String>) -> Closed {
        let frame = self.panics.finish();
        self.panic(frame);
        let name = name.unwrap_or("a package");
        // A package that came to its end leaves no case without an outcome.
        if self.verdict.is_some() && matches!(end, Some(End::Ok | End::Fail)) {
            for (case, (outcome, at)) in mem::take(&mut self.glued) {
                if self.list.outcome(&case) == Some(CaseOutcome::Unknown) {
                    self.list.record(&case, outcome, None, at);
                }
            }
        }
        let failed = self.list.outcomes().failed;
        let mut died = false;
        let mut nameless = false;
        match end {
            Some(End::Ok) if self.listed && self.named.is_none() => {
                note(notes, "go listed cases and ran none");
            }
            Some(End::Ok) => nameless = self.named != Some(true),
            Some(End::NoTests | End::Empty | End::Covered) => {}
            Some(End::NotBuilt) => {
                note(notes, format!("{} could not be built", clip(name)));
                died = true;
            }
            Some(End::Fail) => {
                nameless = self.named != Some(true);
                match self.verdict {
                    Some(false) if failed > 0 => {}
                    Some(true) => note(notes, format!("{} failed after its tests had passed", clip(name))),
                    Some(false) => note(notes, format!("{} failed, and none of its cases did", clip(name))),
                    None => {
                        died = true;
                        let how = if self.panicked { "panicked" } else { "was ended" };
                        note(notes, format!("{} {how}: what was to follow never ran", clip(name)));
                    }
                }
            }
            // A test program that is run by itself names no package.
            None if self.verdict.is_some() => nameless = self.named != Some(true),
            None => {
                nameless = self.named != Some(true);
                died = true;
                note(notes, format!("the output ends within {}", clip(name)));
            }
        }
        if failed == 0 && matches!(end, Some(End::Fail | End::NotBuilt)) {
            self.list.record(name, CaseOutcome::Failed, None, Arrival::default());
        }
        let logged = mem::take(&mut self.logged);
        let mut frames = mem::take(&mut self.frames);
        for case in self.list.names(CaseOutcome::Failed) {
            if let Some(logged) = logged.get(case)
                && !frames.iter().any(|frame| frame.case.as_deref() == Some(case))
                && frames.len() < MOST_FRAMES
            {
                let file = if logged.file.contains(['/', '\\']) {
                    own_name(&logged.file, &self.context)
                } else {
                    Some(logged.file.clone())
                };
                let Some(file) = file else { continue };
                let error = Some(logged.message.clone()).filter(|message| !message.is_empty());
                frames.push(Frame { error, case: Some(case.to_owned()), ..Frame::new(file, logged.line) });
            }
        }
        // A frame with a folder, of a function of this very package, tells where the package is.
        self.folder = frames.iter().find_map(|frame| {
            let function = frame.function.as_deref()?;
            let (folder, _) = frame.file.rsplit_once('/')?;
            (function.strip_prefix(name)?.starts_with('.')).then(|| folder.to_owned())
        });
        let outcomes = self.list.end_suite();
        let cases = self.list.finish(notes);
        Closed { outcomes, nameless, died, cases, frames, folder: self.folder }
    }
}

/// `=== RUN   TestX`, and whose output follows.
fn marker(text: &str) -> Option<(&str, &str)> {
    let (word, name) = text.strip_prefix("=== ")?.split_once(' ')?;
    let name = name.trim();
    (matches!(word, "RUN" | "PAUSE" | "CONT" | "NAME") && !name.is_empty()).then_some((word, name))
}

/// The name of a case, and nothing else.
fn is_name(text: &str) -> bool {
    ["Test", "Example", "Fuzz", "Benchmark"].iter().any(|start| text.starts_with(start))
        && text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn is_place(text: &str) -> bool {
    text.rsplit_once(':').is_some_and(|(file, line)| {
        Path::new(file).extension().is_some_and(|end| end == "go")
            && !line.is_empty()
            && line.bytes().all(|byte| byte.is_ascii_digit())
    })
}
